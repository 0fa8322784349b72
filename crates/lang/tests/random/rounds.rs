//! Writes random loops whose rounds read and write elements of arrays at places that the counter
//! decides: their own, the next one's, the same, or whatever the program says.

use super::writer::Random;

/// The arrays have this many elements.
const LEN: u64 = 8;

struct Rounds {
    random: Random,
    /// The counters of the loops around.
    counters: Vec<&'static str>,
}

impl Rounds {
    fn below(&mut self, n: u64) -> u64 {
        self.random.next() % n
    }

    fn pick(&mut self, texts: &[&str]) -> String {
        texts[self.below(texts.len() as u64) as usize].to_string()
    }

    /// Writes a constant that is a place in the arrays.
    fn place(&mut self) -> String {
        let which = self.below(self.counters.len() as u64) as usize;
        let counter = self.counters[which];
        let by = self.below(4);
        match self.below(10) {
            0..=2 => format!("({counter} + {by}) % {LEN}"),
            3 => format!("(2 * {counter} + {by}) % {LEN}"),
            4 => format!("{counter} / 2"),
            5 => format!("({LEN} - 1 - {counter} % {LEN})"),
            6 => format!("({counter} ^ 1) % {LEN}"),
            7 => format!("{by}"),
            8 => format!("({counter} & {by})"),
            _ => format!("({counter} * 5 >> 1) % {LEN}"),
        }
    }

    fn element(&mut self) -> String {
        let (array, place) = (self.pick(&["x", "x", "y", "b", "z", "w"]), self.place());
        match &*array {
            "z" => format!("z[{place}]{}", self.pick(&[".0", ".1"])),
            "w" => format!("w[{place} / 2][{place} % 2]"),
            _ => format!("{array}[{place}]"),
        }
    }

    fn number(&mut self, depth: u64) -> String {
        if depth == 0 {
            return match self.below(7) {
                0..=3 => self.element(),
                4 => "s".into(),
                5 => format!("{}u6", self.below(64)),
                _ => "q".into(),
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(7) {
            // The same in every round, or with a constant.
            5 => format!("part({}, q)", self.pick(&["q", "3", "s"])),
            6 => format!("part({a}, {})", self.pick(&["q", "5", "s"])),
            0 => format!("({a} + {b})"),
            1 => format!("({a} ^ {b})"),
            2 => format!("min({a}, {b})"),
            3 => format!("(if {a} < {b} {{ {a} }} else {{ q }})"),
            _ => a,
        }
    }

    fn stmts(&mut self, depth: u64, out: &mut String) {
        for _ in 0..1 + self.below(3) {
            self.stmt(depth, out);
        }
    }

    fn stmt(&mut self, depth: u64, out: &mut String) {
        let value = self.number(1);
        let place = self.place();
        match self.below(if depth == 0 { 9 } else { 13 }) {
            6 => {
                let array = self.pick(&["x", "y"]);
                let op = self.pick(&["=", "+=", "^="]);
                *out += &format!("{array}[({value}) as u4] {op} {};\n", self.number(0));
            }
            7 => *out += &format!("w[{place} / 2][{place} % 2] += {value};\n"),
            8 if self.below(3) == 0 => *out += "if s == 11 { break; }\n",
            8 => *out += &format!("w[{place} / 2] = [{value}, s];\n"),
            0 => *out += &format!("x[{place}] = {value};\n"),
            1 => *out += &format!("y[{place}] += {value};\n"),
            2 => *out += &format!("z[{place}].{} = {value};\n", self.below(2)),
            3 => *out += &format!("s = {value};\n"),
            4 => *out += &format!("x[{place}] ^= {value};\n"),
            5 if self.below(6) == 0 => {
                *out += &format!("assert({value} != 63, \"{place}\");\n");
            }
            5 => *out += "if s == 9 { continue; }\n",
            9 => {
                let (a, b) = (self.number(0), self.number(0));
                *out += &format!("if {a} < {b} {{\n");
                self.stmts(depth - 1, out);
                *out += "}\n";
            }
            10 => {
                let counter = self.counters[0];
                let by = 1 + self.below(5);
                let test = self.pick(&[
                    "COUNTER < BY",
                    "COUNTER % 2 == 0",
                    "COUNTER != BY",
                    "COUNTER + BY < 8",
                ]);
                let test = test.replace("COUNTER", counter).replace("BY", &by.to_string());
                *out += &format!("if {test} {{\n");
                self.stmts(depth - 1, out);
                *out += "} else {\n";
                self.stmts(depth - 1, out);
                *out += "}\n";
            }
            11 if self.counters.len() == 1 => {
                let most = 1 + self.below(3);
                *out += &format!("for j in 0..{most} {{\n");
                self.counters.push("j");
                self.stmts(depth - 1, out);
                self.counters.pop();
                *out += "}\n";
            }
            _ => {
                let other = self.place();
                *out += &format!(
                    "if x[{other}] < x[{place}] {{ let t = x[{place}]; x[{place}] = x[{other}]; \
                     x[{other}] = t; }}\n"
                );
            }
        }
    }
}

/// Writes a program.
pub fn program(seed: u64) -> String {
    let mut rounds = Rounds { random: Random(seed), counters: vec!["i"] };
    let y = rounds.pick(&["[0u6; 8]", "b", "[q; 8]"]);
    let s = rounds.pick(&["0u6", "q"]);
    let mut text = format!(
        "#[component]
fn part(a: u6, b: u6) -> u6 {{ if a < b {{ a * b }} else {{ a + 1 }} }}
fn main(a: [u6; {LEN}] from 0, b: [u6; {LEN}] from 1, q: u6 from 1)
    -> (r: ([u6; {LEN}], [u6; {LEN}], [(u6, u6); {LEN}], u6, [u6; {LEN}], [[u6; 2]; 4]) to all) {{
    let mut x = a; let mut y = {y}; let mut s = {s};
    let mut z = [(e, 1u6) for e in b];
    let mut w = [[e, q] for e in a[2..6]];
"
    );
    for _ in 0..1 + rounds.below(2) {
        let (low, count) = (rounds.below(3), 2 + rounds.below(7));
        let over = format!("{low}..{}", low + count);
        let over = if rounds.below(4) == 0 { format!("rev({over})") } else { over };
        text += &format!("for i in {over} {{\n");
        rounds.stmts(2, &mut text);
        text += "}\n";
    }
    let list = rounds.number(2);
    text + &format!("let l = [{list} for i in 0..{LEN}];\n(x, y, z, s, l, w)\n}}\n")
}
