//! Choices of random programs: matches of numbers, pairs and texts, and trees of conditions with
//! few values.

use std::fmt::Write;

use super::writer::{Ty, Writer};

/// Types that are matched, each with patterns; the last one is for the rest.
const MATCHED: [(&str, [&str; 3]); 6] = [
    ("u3", ["0..=2", "3 | 5", "7"]),
    ("i4", ["-8..=-3", "0 | 3", "-1"]),
    ("(bool, u3)", ["(true, 0..=4)", "(_, 5)", "(false, 1 | 2)"]),
    ("text<2>", ["\"a\"", "\"\" | \"b\"", "\"aB\""]),
    ("[u3; 2]", ["[0, _]", "[_, 1..=3]", "[4, 4]"]),
    ("Option<u3>", ["None", "Some(0..=3)", "Some(6)"]),
];

fn matched_type(ty: &str) -> Ty {
    let number = Ty::Int(false, 3);
    match ty {
        "i4" => Ty::Int(true, 4),
        "(bool, u3)" => Ty::Tuple(vec![Ty::Bool, number]),
        "text<2>" => Ty::Text(2),
        "[u3; 2]" => Ty::Array(Box::new(number), 2),
        "Option<u3>" => Ty::Option(Box::new(number)),
        _ => number,
    }
}

impl Writer {
    /// Writes what is matched, and patterns, of which some have guards.
    fn subject(&mut self, depth: u32) -> (String, Vec<String>) {
        let (ty, patterns) = MATCHED[self.random.below(MATCHED.len())];
        // A tuple is written as `(bool, u3,)`.
        let value = self.typed(&matched_type(ty), depth);
        let mut arms = Vec::new();
        for pattern in &patterns[..1 + self.random.below(3)] {
            let guard = match self.random.one_in(4) {
                true => format!(" if {}", self.expr(&Ty::Bool, 0)),
                false => String::new(),
            };
            arms.push(format!("{pattern}{guard}"));
        }
        arms.push("_".to_string());
        (value, arms)
    }

    /// Writes a `match` with values.
    pub fn matched(&mut self, ty: &Ty, depth: u32) -> String {
        let (value, arms) = self.subject(depth);
        let arms: Vec<String> =
            arms.iter().map(|arm| format!("{arm} => {}", self.expr(ty, depth))).collect();
        format!("(match {value} {{ {} }})", arms.join(", "))
    }

    /// Writes a `match` whose arms write variables, and leave.
    pub fn match_stmt(&mut self, out: &mut String, depth: u32) {
        let (value, arms) = self.subject(1);
        let _ = writeln!(out, "match {value} {{");
        for arm in arms {
            let _ = writeln!(out, "{arm} => {{");
            if self.random.one_in(3) {
                self.block(out, depth);
            } else {
                self.assign(out);
            }
            self.leave(out);
            let _ = writeln!(out, "}}");
        }
        let _ = writeln!(out, "}}");
    }

    /// Writes a tree of conditions that gives one of three values, each at several places.
    pub fn tree(&mut self, ty: &Ty, depth: u32) -> String {
        let names: Vec<String> = (0..3).map(|_| self.name()).collect();
        let mut text = "{ ".to_string();
        for name in &names {
            let _ = write!(text, "let {name}: {} = {}; ", ty.text(), self.expr(ty, depth));
        }
        let depth = 1 + self.random.below(3);
        self.branch(&names, depth, &mut text);
        text + " }"
    }

    fn branch(&mut self, names: &[String], depth: usize, text: &mut String) {
        let picks: Vec<&String> = (0..3).map(|_| &names[self.random.below(3)]).collect();
        let [a, b, c] = picks[..] else { unreachable!("three are picked") };
        if depth == 0 {
            text.push_str(a);
            return;
        }
        match self.random.below(4) {
            0 => {
                let op = ["<", ">", "<=", ">="][self.random.below(4)];
                let _ = write!(text, "if {a} {op} {b} {{ {a} }} else {{ {b} }}");
            }
            1 => {
                let _ = write!(text, "match q {{ 0 => {a}, 1..=3 => {{ ");
                self.branch(names, depth - 1, text);
                let _ = write!(text, " }} 5 | 7 => {c}, _ => {b} }}");
            }
            _ => {
                let _ = write!(text, "if {} {{ ", self.expr(&Ty::Bool, 1));
                self.branch(names, depth - 1, text);
                if self.random.one_in(2) {
                    let _ = write!(text, " }} else if {} {{ {b}", self.expr(&Ty::Bool, 0));
                }
                text.push_str(" } else { ");
                self.branch(names, depth - 1, text);
                text.push_str(" }");
            }
        }
    }
}
