//! Writes random well-typed programs.

use std::fmt::Write;

/// SplitMix64: programs and inputs, the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Bool,
    Int(bool, u32),
    Fixed(u32, u32),
    Float(u32),
    Tuple(Vec<Ty>),
    Array(Box<Ty>, usize),
    Option(Box<Ty>),
    Text(usize),
    /// `enum E { A, B(u3, bool), C(i9) }`
    Enum,
    /// `struct S { x: u4, y: [i3; 2] }`
    Struct,
}

impl Ty {
    pub fn text(&self) -> String {
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int(signed, width) => format!("{}{width}", if *signed { 'i' } else { 'u' }),
            Ty::Fixed(int, frac) => format!("fixed<{int}, {frac}>"),
            Ty::Float(width) => format!("f{width}"),
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| part.text() + ",").collect();
                format!("({})", parts.join(" "))
            }
            Ty::Array(element, len) => format!("[{}; {len}]", element.text()),
            Ty::Option(some) => format!("Option<{}>", some.text()),
            Ty::Text(len) => format!("text<{len}>"),
            Ty::Enum => "E".into(),
            Ty::Struct => "S".into(),
        }
    }
}

const HEAD: &str = "
enum E { A, B(u3, bool), C(i9) }
struct S { x: u4, y: [i3; 2] }
impl S {
    fn total(self, k: u4) -> u4 { self.x * k + (self.y[0] as u4 ^ self.y[1] as u4) }
    fn moved(self, k: u4) -> S { S { x: self.x + k, y: [self.y[1], self.y[0] - 1] } }
}
#[component]
fn picked(a: u6, b: u6, c: u3) -> (u6, bool) {
    let mut d = a;
    for i in 0..3 { if c >> i & 1 == 1 { d = d * b + i; } }
    (d, d > a)
}
#[component]
fn marked(a: u6, b: u6) -> u6 {
    assert(a != 13, \"thirteen\");
    if a > b { return a * b; }
    a / b
}
#[checked]
fn exact(a: i4, b: u6, c: [fixed<3, 2>; 3]) -> u6 {
    let mut d = c;
    let mut e = b;
    if a > 2 { return (b >> (a as u3)) + (-a + a * 2) as u6; }
    if a > -4 { d[b / 8] = c[(b % 4) as u2] * c[1] - c[0] / c[2]; e -= a as u6; }
    d[a as u2] += c[1];
    e * 2 + (d[0] as i6 + a as i6) as u6
}
fn twice<T>(a: T, b: T) -> (T, T) { if a < b { (b, a) } else { (a, b) } }
";

pub struct Writer {
    pub random: Random,
    /// Names, types, and whether they can be assigned to.
    pub scope: Vec<(String, Ty, bool)>,
    pub names: usize,
    pub loops: u32,
    /// The names of the loops around.
    pub labels: Vec<String>,
    pub result: Ty,
    pub budget: i32,
    /// Whether expressions change variables, fail, and leave loops and the function.
    pub effects: bool,
}

impl Writer {
    pub fn ty(&mut self, depth: u32) -> Ty {
        if self.random.one_in(12) {
            return Ty::Text(1 + self.random.below(3));
        }
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0 => Ty::Bool,
            // Few widths, so that values flow from one place to another.
            1 | 2 => Ty::Int(false, [1, 3, 6, 8][self.random.below(4)]),
            3 => Ty::Int(true, [1, 4, 8][self.random.below(3)]),
            4 => Ty::Fixed(3, 2 * self.random.below(2) as u32),
            5 => Ty::Float([32, 32, 64][self.random.below(3)]),
            6 => {
                let parts = 1 + self.random.below(3);
                Ty::Tuple((0..parts).map(|_| self.ty(depth - 1)).collect())
            }
            7 | 8 => Ty::Array(Box::new(self.ty(depth - 1)), 1 + self.random.below(4)),
            9 => Ty::Option(Box::new(self.ty(depth - 1))),
            10 => Ty::Enum,
            _ => Ty::Struct,
        }
    }

    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Writes a variable or a part of one, of this type.
    pub fn variable(&mut self, ty: &Ty) -> Option<String> {
        let mut found = Vec::new();
        for (name, known, _) in &self.scope {
            if known == ty {
                found.push(name.clone());
            }
            match known {
                Ty::Tuple(parts) => {
                    for (place, part) in parts.iter().enumerate().filter(|(_, part)| *part == ty) {
                        let _ = part;
                        found.push(format!("{name}.{place}"));
                    }
                }
                Ty::Array(element, len) if **element == *ty => {
                    found.push(format!("{name}[{}]", len - 1));
                }
                Ty::Struct if *ty == Ty::Int(false, 4) => found.push(format!("{name}.x")),
                _ => {}
            }
        }
        if found.is_empty() {
            return None;
        }
        let place = self.random.below(found.len());
        Some(found.swap_remove(place))
    }

    pub fn literal(&mut self, ty: &Ty) -> String {
        self.parts(ty, 0)
    }

    /// Writes a literal with parts of this depth.
    fn parts(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Bool => (if self.random.one_in(2) { "true" } else { "false" }).into(),
            Ty::Int(signed, width) => {
                let most = (1u64 << (width - u32::from(*signed))) - 1;
                let value = self.random.next() % (most + 1);
                format!("{value}{}", ty.text())
            }
            Ty::Fixed(int, _) => {
                let value = self.random.below(1 << (int - 1));
                format!("({value} as {})", ty.text())
            }
            Ty::Float(width) => {
                let digits = ["0.0", "1.5", "-0.1", "3e38", "1e-40", "-2e-3", "16777217.0"];
                format!("({}f{width})", digits[self.random.below(digits.len())])
            }
            Ty::Tuple(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.expr(part, depth) + ",").collect();
                format!("({})", parts.join(" "))
            }
            Ty::Array(element, len) => {
                let parts: Vec<String> = (0..*len).map(|_| self.expr(element, depth)).collect();
                format!("[{}]", parts.join(", "))
            }
            Ty::Option(some) => {
                if self.random.one_in(3) {
                    "None".into()
                } else {
                    format!("Some({})", self.expr(some, depth))
                }
            }
            Ty::Text(len) => {
                let mut text: String = ["aB", "", "b", "zzz"][self.random.below(4)].into();
                text.truncate(*len);
                format!("(\"{text}\" as text<{len}>)")
            }
            Ty::Enum => match self.random.below(3) {
                0 => "E::A".into(),
                1 => {
                    let (a, b) =
                        (self.expr(&Ty::Int(false, 3), depth), self.expr(&Ty::Bool, depth));
                    format!("E::B({a}, {b})")
                }
                _ => format!("E::C({})", self.expr(&Ty::Int(true, 9), depth)),
            },
            Ty::Struct => {
                let y = Ty::Array(Box::new(Ty::Int(true, 3)), 2);
                let (x, y) = (self.expr(&Ty::Int(false, 4), depth), self.expr(&y, depth));
                format!("S {{ y: {y}, x: {x} }}")
            }
        }
    }

    pub fn expr(&mut self, ty: &Ty, depth: u32) -> String {
        self.budget -= 1;
        if depth == 0 || self.budget < 0 {
            if let Some(name) = self.variable(ty)
                && !self.random.one_in(4)
            {
                return name;
            }
            return self.literal(ty);
        }
        if self.effects && self.random.one_in(3) {
            return self.effect(ty, depth - 1);
        }
        if self.random.one_in(3) {
            return self.any(ty, depth - 1);
        }
        let depth = depth - 1;
        match ty {
            Ty::Bool => self.truth(depth),
            Ty::Int(signed, _) => self.number(ty, *signed, depth),
            Ty::Fixed(..) => {
                let op = ["+", "-", "*", "/", "%"][self.random.below(5)];
                format!("({} {op} {})", self.expr(ty, depth), self.expr(ty, depth))
            }
            Ty::Float(width) => self.float(ty, *width, depth),
            Ty::Array(element, len) => match self.random.below(3) {
                0 if matches!(**element, Ty::Bool | Ty::Int(..)) => {
                    let op = ["&", "|", "^"][self.random.below(3)];
                    format!("({} {op} {})", self.expr(ty, depth), self.expr(ty, depth))
                }
                1 => {
                    // Nothing leaves a loop from inside an array.
                    let loops = std::mem::take(&mut self.loops);
                    let labels = std::mem::take(&mut self.labels);
                    let (name, inner, over) = self.over(*len, 32);
                    self.scope.push((name.clone(), inner, false));
                    let body = self.expr(element, depth);
                    self.scope.pop();
                    (self.loops, self.labels) = (loops, labels);
                    format!("[{body} for {name} in {over}]")
                }
                _ if self.random.one_in(2) => format!("rev({})", self.expr(ty, depth)),
                _ if *len > 1 => {
                    let last = Ty::Array(element.clone(), 1);
                    let first = Ty::Array(element.clone(), len - 1);
                    let (a, b) = (self.typed(&first, depth), self.expr(&last, depth));
                    format!("({a}).concat({b})")
                }
                _ => format!("({}).rev()", self.typed(ty, depth)),
            },
            Ty::Text(len) => match self.random.below(2) {
                0 => format!("({}).to_ascii_lowercase()", self.typed(ty, depth)),
                _ => {
                    let other = Ty::Text(1 + len % 3);
                    let (value, name) = (self.typed(&other, depth), self.name());
                    format!("{{ let {name}: text<{len}> = ({value}).resize(); {name} }}")
                }
            },
            Ty::Struct if self.random.one_in(2) => {
                let k = self.expr(&Ty::Int(false, 4), depth);
                format!("({}).moved({k})", self.typed(ty, depth))
            }
            Ty::Tuple(parts) if parts.len() == 2 && parts[0] == parts[1] => {
                let part = parts[0].clone();
                format!("twice({}, {})", self.expr(&part, depth), self.expr(&part, depth))
            }
            _ if self.effects => self.parts(ty, depth),
            _ => self.literal(ty),
        }
    }

    /// Writes a form that does more than give a value.
    pub fn effect(&mut self, ty: &Ty, depth: u32) -> String {
        match self.random.below(6) {
            0 => {
                let some = self.typed(&Ty::Option(Box::new(ty.clone())), depth);
                let (name, leave) = (self.name(), self.leaving());
                format!("(match {some} {{ Some({name}) => {name}, None => {leave} }})")
            }
            // These are rare: where one fails, nothing else is seen.
            1 if self.random.one_in(4) => {
                let some = self.typed(&Ty::Option(Box::new(ty.clone())), depth);
                format!("({some}).expect(\"none {}\")", self.names)
            }
            1 | 2 => {
                let array = Ty::Array(Box::new(ty.clone()), 1 + self.random.below(3));
                let array = self.expr(&array, depth);
                let mut index = String::new();
                self.small_stmt(&mut index);
                let last = self.expr(&Ty::Int(false, 3), 0);
                format!("({array})[{{ {index}{last} ^ q }}]")
            }
            3 => self.parts(ty, depth),
            _ => {
                let mut stmts = String::new();
                for _ in 0..1 + self.random.below(2) {
                    self.small_stmt(&mut stmts);
                }
                format!("({{ {stmts}{} }})", self.expr(ty, depth))
            }
        }
    }

    /// Writes a value with an explicit type.
    pub fn typed(&mut self, ty: &Ty, depth: u32) -> String {
        let (value, name) = (self.expr(ty, depth), self.name());
        format!("{{ let {name}: {} = {value}; {name} }}", ty.text())
    }

    /// Writes a statement inside an expression.
    pub fn small_stmt(&mut self, out: &mut String) {
        match self.random.below(7) {
            0..=2 => self.assign(out),
            3 | 4 => {
                let (condition, leave) = (self.expr(&Ty::Bool, 1), self.leaving());
                let _ = writeln!(out, "if {condition} {{ {leave}; }}");
            }
            5 if self.random.one_in(3) => {
                let condition = self.expr(&Ty::Bool, 1);
                let other = self.expr(&Ty::Bool, 1);
                let _ = writeln!(out, "assert({condition} || {other}, \"small {}\");", self.names);
            }
            _ => {
                let rounds = 1 + self.random.below(3);
                let (name, ty, over) = self.over(rounds, 5);
                let _ = writeln!(out, "for {name} in {over} {{");
                self.scope.push((name, ty, false));
                self.loops += 1;
                self.assign(out);
                if self.random.one_in(2) {
                    let (condition, leave) = (self.expr(&Ty::Bool, 0), self.leaving());
                    let _ = writeln!(out, "if {condition} {{ {leave}; }}");
                }
                self.loops -= 1;
                self.scope.pop();
                out.push_str("}\n");
            }
        }
    }

    /// Returns what a loop iterates over, with a name for its elements and their type.
    pub fn over(&mut self, rounds: usize, width: u32) -> (String, Ty, String) {
        let name = self.name();
        if !self.effects || self.random.one_in(2) {
            return (name, Ty::Int(false, width), format!("0u{width}..{rounds}"));
        }
        let ty = self.ty(1);
        let over = self.typed(&Ty::Array(Box::new(ty.clone()), rounds), 2);
        (name, ty, format!("({over})"))
    }

    /// Writes an expression that leaves a loop or the function.
    pub fn leaving(&mut self) -> String {
        let label = match self.labels.len() {
            0 => String::new(),
            labels if self.random.one_in(2) => {
                format!(" {}", self.labels[self.random.below(labels)])
            }
            _ => String::new(),
        };
        match self.random.below(5) {
            0 | 1 if self.loops > 0 => format!("break{label}"),
            2 | 3 if self.loops > 0 => format!("continue{label}"),
            _ => {
                let result = self.result.clone();
                format!("return {}", self.expr(&result, 0))
            }
        }
    }

    /// Writes a form that any type can have.
    fn any(&mut self, ty: &Ty, depth: u32) -> String {
        match self.random.below(8) {
            6 => self.matched(ty, depth),
            7 => self.tree(ty, depth),
            0 => {
                let (c, a, b) =
                    (self.expr(&Ty::Bool, depth), self.expr(ty, depth), self.expr(ty, depth));
                format!("(if {c} {{ {a} }} else {{ {b} }})")
            }
            1 => {
                let some = Ty::Option(Box::new(ty.clone()));
                format!("({}).unwrap_or({})", self.expr(&some, depth), self.expr(ty, depth))
            }
            2 => {
                let len = 1 + self.random.below(5);
                let array = Ty::Array(Box::new(ty.clone()), len);
                let index = self.expr(&Ty::Int(false, 3), depth);
                // Not a constant, which would have to be in range.
                format!("({})[{index} ^ q]", self.expr(&array, depth))
            }
            3 => {
                let value = self.expr(&Ty::Enum, depth);
                let (x, y, z) = (self.name(), self.name(), self.name());
                let a = self.expr(ty, depth);
                self.scope.push((x.clone(), Ty::Int(false, 3), false));
                let b = self.expr(ty, depth);
                self.scope.pop();
                self.scope.push((y.clone(), Ty::Int(true, 9), false));
                let c = self.expr(ty, depth);
                let guard = self.expr(&Ty::Bool, u32::from(self.effects));
                self.scope.pop();
                let d = self.expr(ty, depth);
                format!(
                    "(match {value} {{ E::A => {a}, E::B({x}, true) | E::B({x}, _) => {b}, \
                     E::C({y}) if {guard} => {c}, E::C(-256..=-1) => {d}, {z} => {a} }})"
                )
            }
            4 => {
                let name = self.name();
                let inner = self.ty(1);
                let value = self.expr(&inner, depth);
                self.scope.push((name.clone(), inner.clone(), false));
                let body = self.expr(ty, depth);
                self.scope.pop();
                format!("{{ let {name}: {} = {value}; {body} }}", inner.text())
            }
            5 if self.random.one_in(2) => {
                let (a, b) = (self.typed(ty, depth), self.expr(ty, depth));
                format!("({a}).max({b})")
            }
            _ => format!("min({}, {})", self.expr(ty, depth), self.expr(ty, depth)),
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        match self.random.below(5) {
            4 => {
                let len = 1 + self.random.below(3);
                let text = self.typed(&Ty::Text(len), depth);
                let method =
                    ["starts_with(\"a\")", "contains(\"B\")", "is_empty()"][self.random.below(3)];
                format!("({text}).{method}")
            }
            0 => format!("!{}", self.expr(&Ty::Bool, depth)),
            1 => {
                let op = ["&&", "||", "&", "|", "^"][self.random.below(5)];
                format!("({} {op} {})", self.expr(&Ty::Bool, depth), self.expr(&Ty::Bool, depth))
            }
            _ => {
                let inner = self.ty(2);
                let op = ["==", "!=", "<", "<=", ">", ">="][self.random.below(6)];
                let (a, b) = (self.expr(&inner, depth), self.expr(&inner, depth));
                let name = self.name();
                format!("{{ let {name}: {} = {a}; {name} {op} {b} }}", inner.text())
            }
        }
    }

    fn float(&mut self, ty: &Ty, width: u32, depth: u32) -> String {
        match self.random.below(8) {
            0 => format!("(-{})", self.expr(ty, depth)),
            1 => format!("std::float::sqrt({})", self.expr(ty, depth)),
            4 if self.random.one_in(5) => {
                format!("std::float::fast::sqrt({})", self.expr(ty, depth))
            }
            4 => {
                let op = ["add", "sub", "mul", "div"][self.random.below(4)];
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                format!("std::float::fast::{op}({a}, {b})")
            }
            2 | 3 => {
                let from = match self.random.below(4) {
                    0 => Ty::Bool,
                    1 => Ty::Float(96 - width),
                    2 => Ty::Fixed(3, 2),
                    _ => Ty::Int(self.random.one_in(2), 1 + self.random.below(40) as u32),
                };
                format!("(({}) as {})", self.expr(&from, depth), ty.text())
            }
            _ => {
                let op = ["+", "-", "*", "/"][self.random.below(4)];
                format!("({} {op} {})", self.expr(ty, depth), self.expr(ty, depth))
            }
        }
    }

    /// Writes a call of a method of numbers.
    fn number_method(&mut self, ty: &Ty, depth: u32) -> String {
        if self.random.one_in(10) {
            let c = Ty::Array(Box::new(Ty::Fixed(3, 2)), 3);
            let (a, b) =
                (self.expr(&Ty::Int(true, 4), depth), self.expr(&Ty::Int(false, 6), depth));
            let c = self.expr(&c, depth);
            return format!("(exact({a}, {b}, {c}) as {})", ty.text());
        }
        let a = self.typed(ty, depth);
        let one = ["count_ones", "leading_zeros", "trailing_zeros"];
        let two = ["wrapping_add", "saturating_sub", "saturating_mul", "min", "saturating_add"];
        let maybe = ["checked_add", "checked_sub", "checked_mul", "checked_div"];
        match self.random.below(5) {
            0 => format!("(({a}).{}() as {})", one[self.random.below(3)], ty.text()),
            1 => format!("({a}).{}({})", two[self.random.below(5)], self.expr(ty, depth)),
            2 => {
                let method = maybe[self.random.below(4)];
                let (b, other) = (self.expr(ty, depth), self.expr(ty, depth));
                format!("({a}).{method}({b}).unwrap_or({other})")
            }
            3 => {
                let way = ["left", "right"][self.random.below(2)];
                format!("({a}).rotate_{way}(q as u32)")
            }
            _ => format!("({a}).pow(q as u32)"),
        }
    }

    fn number(&mut self, ty: &Ty, signed: bool, depth: u32) -> String {
        if self.random.one_in(8) {
            return self.number_method(ty, depth);
        }
        match self.random.below(9) {
            8 => match *ty {
                Ty::Int(false, 6) => {
                    // Both calls have the same arguments.
                    let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                    let c = ["q", "3", "0"][self.random.below(3)];
                    let call = format!("picked({a}, {b}, {c})");
                    let other = self.expr(ty, depth);
                    format!("(if {call}.1 {{ {call}.0 }} else {{ {other} }})")
                }
                _ if self.random.one_in(2) => {
                    let k = self.expr(&Ty::Int(false, 4), depth);
                    format!("(({}).total({k}) as {})", self.typed(&Ty::Struct, depth), ty.text())
                }
                _ => {
                    let len = 1 + self.random.below(3);
                    let text = self.typed(&Ty::Text(len), depth);
                    format!("(({text}).len() as {})", ty.text())
                }
            },
            0 => {
                let from = match self.random.below(4) {
                    3 => Ty::Float(if self.random.one_in(2) { 32 } else { 64 }),
                    0 => Ty::Bool,
                    1 => Ty::Fixed(1 + self.random.below(4) as u32, self.random.below(4) as u32),
                    _ => Ty::Int(self.random.one_in(2), 1 + self.random.below(14) as u32),
                };
                format!("(({}) as {})", self.expr(&from, depth), ty.text())
            }
            1 => {
                let op = ["<<", ">>"][self.random.below(2)];
                let by = Ty::Int(false, 1 + self.random.below(5) as u32);
                format!("({} {op} {})", self.expr(ty, depth), self.expr(&by, depth))
            }
            2 if signed => format!("(-{})", self.expr(ty, depth)),
            2 => format!("(!{})", self.expr(ty, depth)),
            // The helper does not call itself.
            3 if *ty == Ty::Int(false, 6)
                && matches!(self.result, Ty::Tuple(_))
                && self.effects
                && self.random.one_in(2) =>
            {
                let some = self.expr(&Ty::Option(Box::new(ty.clone())), depth);
                format!("helper({}, {some}, q)", self.expr(ty, depth))
            }
            3 if *ty == Ty::Int(false, 6) => {
                format!("marked({}, {})", self.expr(ty, depth), self.expr(ty, depth))
            }
            4 => {
                let terms = Ty::Array(Box::new(Ty::Int(false, 5)), 3);
                format!("(sum({}) as {})", self.expr(&terms, depth), ty.text())
            }
            _ => {
                let op = ["+", "-", "*", "/", "%", "&", "|", "^"][self.random.below(8)];
                format!("({} {op} {})", self.expr(ty, depth), self.expr(ty, depth))
            }
        }
    }
}

/// Writes a program with a `main`; with `effects`, expressions assign, fail and leave, too.
pub fn program(seed: u64, effects: bool) -> String {
    let random = Random(seed);
    let mut writer = Writer {
        random,
        scope: Vec::new(),
        names: 0,
        loops: 0,
        labels: Vec::new(),
        result: Ty::Bool,
        budget: 400,
        effects,
    };
    let checked = if writer.random.one_in(12) { "#![checked]" } else { "" };
    let mut text = format!("{checked}{HEAD}");
    if effects {
        writer.helper(&mut text);
    }
    let inputs: Vec<Ty> = (0..3).map(|_| writer.ty(2)).collect();
    // Most of what is computed reaches the result.
    let parts =
        [Ty::Bool, Ty::Int(false, 6), Ty::Int(false, 8), Ty::Int(true, 4), Ty::Int(true, 8)];
    let mut parts = parts.to_vec();
    parts.push(Ty::Fixed(3, 2));
    parts.push(Ty::Float(32));
    parts.push(writer.ty(2));
    writer.result = Ty::Tuple(parts);
    let mut params = Vec::new();
    for (place, ty) in inputs.into_iter().enumerate() {
        params.push(format!("p{place}: {} from {}", ty.text(), place % 2));
        writer.scope.push((format!("p{place}"), ty, false));
    }
    params.push("q: u3 from 1".to_string());
    let result = writer.result.clone();
    let _ = writeln!(text, "fn main({}) -> (r: {} to all) {{", params.join(", "), result.text());
    for _ in 0..8 {
        writer.stmt(&mut text, 2);
    }
    writer.budget = 100;
    let Ty::Tuple(parts) = &result else { unreachable!("it is a tuple") };
    let tail: Vec<String> = parts.iter().map(|part| writer.expr(part, 2) + ",").collect();
    let tail = format!("({})", tail.join(" "));
    let _ = writeln!(text, "{tail}\n}}");
    text
}
