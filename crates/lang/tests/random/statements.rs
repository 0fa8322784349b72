//! Statements of random programs.

use std::fmt::Write;

use super::writer::{Ty, Writer};

impl Writer {
    /// Writes a function with effects of its own.
    pub fn helper(&mut self, out: &mut String) {
        let ty = Ty::Int(false, 6);
        (self.result, self.budget) = (ty.clone(), 100);
        self.scope.push(("a".into(), ty.clone(), false));
        self.scope.push(("b".into(), Ty::Option(Box::new(ty.clone())), false));
        let mark = if self.random.one_in(2) { "#[component]\n" } else { "" };
        let _ = writeln!(out, "{mark}fn helper(a: u6, b: Option<u6>, q: u3) -> u6 {{");
        let _ = writeln!(out, "let mut c = a;");
        self.scope.push(("c".into(), ty.clone(), true));
        for _ in 0..2 {
            self.small_stmt(out);
            self.stmt(out, 1);
        }
        let _ = writeln!(out, "{}\n}}", self.expr(&ty, 1));
        self.scope.clear();
        self.budget = 400;
    }

    pub fn block(&mut self, out: &mut String, depth: u32) {
        let mark = self.scope.len();
        for _ in 0..1 + self.random.below(4) {
            self.stmt(out, depth);
        }
        self.scope.truncate(mark);
    }

    pub fn stmt(&mut self, out: &mut String, depth: u32) {
        if self.budget < 0 {
            return;
        }
        if self.random.one_in(8) {
            return self.parts_stmt(out);
        }
        if depth > 0 && self.random.one_in(10) {
            return self.match_stmt(out, depth - 1);
        }
        match self.random.below(if depth == 0 { 5 } else { 9 }) {
            // Asserts are rare: where one fails, nothing else is seen.
            4 if self.random.one_in(4) => {
                let condition = self.expr(&Ty::Bool, 2);
                let other = self.expr(&Ty::Bool, 1);
                let text = self.names;
                let _ = writeln!(out, "assert({condition} || {other}, \"text {text}\");");
            }
            0 | 1 | 4 => {
                let (name, ty) = (self.name(), self.ty(2));
                let value = self.expr(&ty, 2);
                let _ = writeln!(out, "let mut {name}: {} = {value};", ty.text());
                self.scope.push((name, ty, true));
            }
            2 | 3 => self.assign(out),
            5 | 6 => {
                let condition = self.expr(&Ty::Bool, 2);
                let _ = writeln!(out, "if {condition} {{");
                self.block(out, depth - 1);
                self.leave(out);
                if self.random.one_in(2) {
                    out.push_str("} else {\n");
                    self.block(out, depth - 1);
                }
                out.push_str("}\n");
            }
            _ => {
                let rounds = 1 + self.random.below(3);
                let (name, ty, over) = self.over(rounds, 5);
                let label = format!("'{}", self.name());
                let _ = writeln!(out, "{label}: for {name} in {over} {{");
                self.scope.push((name, ty, false));
                self.labels.push(label);
                self.loops += 1;
                self.block(out, depth - 1);
                self.leave(out);
                self.loops -= 1;
                self.labels.pop();
                self.scope.pop();
                out.push_str("}\n");
            }
        }
    }

    /// Writes a binding by a pattern, or an assignment to two variables.
    fn parts_stmt(&mut self, out: &mut String) {
        let ty = self.ty(1);
        match self.random.below(3) {
            0 => {
                let some = self.typed(&Ty::Option(Box::new(ty.clone())), 1);
                let leave = self.leaving();
                let name = self.name();
                let _ = writeln!(out, "let Some(mut {name}) = {some} else {{ {leave}; }};");
                self.scope.push((name, ty, true));
            }
            1 => {
                let array = self.typed(&Ty::Array(Box::new(ty.clone()), 3), 1);
                let (a, b) = (self.name(), self.name());
                let _ = writeln!(out, "let [{a}, .., {b}] = {array};");
                self.scope.extend([(a, ty.clone(), false), (b, ty, false)]);
            }
            _ => {
                let mutable: Vec<(String, Ty)> = self
                    .scope
                    .iter()
                    .filter(|known| known.2)
                    .map(|known| (known.0.clone(), known.1.clone()))
                    .collect();
                if mutable.is_empty() {
                    return;
                }
                let (a, x) = mutable[self.random.below(mutable.len())].clone();
                let (b, y) = mutable[self.random.below(mutable.len())].clone();
                let _ = writeln!(
                    out,
                    "({a}, {b}, _) = ({}, {}, q);",
                    self.expr(&x, 2),
                    self.expr(&y, 2)
                );
            }
        }
    }

    pub fn assign(&mut self, out: &mut String) {
        let known: Vec<(String, Ty)> = self
            .scope
            .iter()
            .filter(|(_, _, mutable)| *mutable)
            .map(|(name, ty, _)| (name.clone(), ty.clone()))
            .collect();
        if known.is_empty() {
            return;
        }
        let (mut place, mut ty) = known[self.random.below(known.len())].clone();
        loop {
            match ty.clone() {
                Ty::Array(element, _) if self.random.one_in(2) => {
                    let index = self.expr(&Ty::Int(false, 3), 1);
                    place = format!("{place}[{index} ^ q]");
                    ty = *element;
                }
                Ty::Tuple(parts) if self.random.one_in(2) => {
                    let part = self.random.below(parts.len());
                    place = format!("{place}.{part}");
                    ty = parts[part].clone();
                }
                _ => break,
            }
        }
        let op = match ty {
            Ty::Int(..) => ["=", "+=", "-=", "*=", "^="][self.random.below(5)],
            _ => "=",
        };
        let value = self.expr(&ty, 2);
        let _ = writeln!(out, "{place} {op} {value};");
    }

    pub fn leave(&mut self, out: &mut String) {
        if self.loops > 0 && self.random.one_in(3) {
            let leave = self.leaving();
            let _ = writeln!(out, "{leave};");
        } else if self.random.one_in(6) {
            let result = self.result.clone();
            let value = self.expr(&result, 1);
            let _ = writeln!(out, "return {value};");
        }
    }
}
