//! Inference of unknown types and constants.

use num_bigint::BigInt;

use super::FnCx;
use crate::diag::Code;
use crate::source::Span;
use crate::ty::{Arg, Len, Precision, Ty};

use super::types::Mini;
use super::unknown::{Check, Pending, VarKind};

/// Working with the types of all functions takes at most this many steps: some seconds.
const MAX_WORK: u64 = 1 << 23;

impl FnCx<'_, '_> {
    pub(super) fn fresh(&mut self, kind: VarKind) -> Ty {
        self.infer.vars.push((None, kind));
        Ty::Var(self.infer.vars.len() as u32 - 1)
    }

    pub(super) fn any(&mut self) -> Ty {
        self.fresh(VarKind::Any)
    }

    pub(super) fn fresh_len(&mut self) -> u32 {
        self.infer.lens.push(None);
        self.infer.lens.len() as u32 - 1
    }

    /// Returns the type with its outermost level resolved as far as it is known.
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        let known = self.follow(ty);
        self.count(known.parts());
        known.clone()
    }

    /// Does the same without a copy.
    fn follow<'t>(&'t self, mut ty: &'t Ty) -> &'t Ty {
        while let Ty::Var(var) = ty {
            match &self.infer.vars[*var as usize].0 {
                Some(known) => ty = known,
                None => break,
            }
        }
        ty
    }

    pub(super) fn len(&self, mut len: Len) -> Len {
        while let Len::Var(var) = len {
            match self.infer.lens[var as usize] {
                Some(known) => len = known,
                None => break,
            }
        }
        len
    }

    /// Counts a step; returns false once the types have taken too many.
    /// Parts that types share count each time.
    fn tick(&self) -> bool {
        self.count(1);
        self.may_work()
    }

    pub(super) fn count(&self, steps: u64) {
        self.cx.spent.work.set(self.cx.spent.work.get() + steps);
    }

    pub(super) fn may_work(&self) -> bool {
        self.cx.spent.work.get() < MAX_WORK
    }

    /// Returns the type with everything known filled in.
    pub(super) fn resolve(&self, ty: &Ty) -> Ty {
        if !self.tick() {
            return Ty::Error;
        }
        match self.follow(ty) {
            Ty::Int(signed, width) => Ty::Int(*signed, self.len(*width)),
            Ty::Fixed(int, frac) => Ty::Fixed(self.len(*int), self.len(*frac)),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.resolve(part)).collect()),
            Ty::Array(element, len) => Ty::Array(Box::new(self.resolve(element)), self.len(*len)),
            Ty::Adt(adt, args) => Ty::Adt(*adt, args.iter().map(|a| self.resolve_arg(a)).collect()),
            other => other.clone(),
        }
    }

    pub(super) fn resolve_arg(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Ty(ty) => Arg::Ty(self.resolve(ty)),
            Arg::Const(len) => Arg::Const(self.len(*len)),
        }
    }

    fn occurs(&self, var: u32, ty: &Ty) -> bool {
        if !self.tick() {
            return true;
        }
        match self.follow(ty) {
            Ty::Var(other) => var == *other,
            Ty::Tuple(parts) => parts.iter().any(|part| self.occurs(var, part)),
            Ty::Array(element, _) => self.occurs(var, element),
            Ty::Adt(_, args) => args.iter().any(|arg| match arg {
                Arg::Ty(ty) => self.occurs(var, ty),
                Arg::Const(_) => false,
            }),
            _ => false,
        }
    }

    pub(super) fn unify_len(&mut self, a: Len, b: Len) -> bool {
        match (self.len(a), self.len(b)) {
            (Len::Known(a), Len::Known(b)) => a == b,
            (Len::Var(a), Len::Var(b)) if a == b => true,
            (Len::Var(var), known) | (known, Len::Var(var)) => {
                self.infer.lens[var as usize] = Some(known);
                true
            }
        }
    }

    /// Unifies two types; returns whether that is possible.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        if !self.tick() {
            return true;
        }
        match (self.shallow(a), self.shallow(b)) {
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Var(a), Ty::Var(b)) if a == b => true,
            (Ty::Var(a), Ty::Var(b)) => {
                let (ka, kb) = (self.infer.vars[a as usize].1, self.infer.vars[b as usize].1);
                let (from, to) = if kb == VarKind::Any { (b, a) } else { (a, b) };
                if ka == VarKind::Fraction {
                    self.infer.vars[to as usize].1 = VarKind::Fraction;
                }
                self.infer.vars[from as usize].0 = Some(Ty::Var(to));
                true
            }
            (Ty::Var(var), ty) | (ty, Ty::Var(var)) => {
                let fits = match self.infer.vars[var as usize].1 {
                    VarKind::Any => !self.occurs(var, &ty),
                    VarKind::Int => matches!(ty, Ty::Int(..) | Ty::Fixed(..) | Ty::Float(_)),
                    VarKind::Fraction => matches!(ty, Ty::Fixed(..) | Ty::Float(_)),
                };
                if fits {
                    self.infer.vars[var as usize].0 = Some(ty);
                }
                fits
            }
            (Ty::Bool, Ty::Bool) => true,
            (Ty::Float(a), Ty::Float(b)) => a == b,
            (Ty::Int(s, a), Ty::Int(t, b)) => s == t && self.unify_len(a, b),
            (Ty::Fixed(i, f), Ty::Fixed(j, g)) => self.unify_len(i, j) && self.unify_len(f, g),
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.unify(a, b))
            }
            (Ty::Array(a, n), Ty::Array(b, m)) => self.unify_len(n, m) && self.unify(&a, &b),
            (Ty::Adt(a, x), Ty::Adt(b, y)) => {
                a == b
                    && x.iter().zip(&y).all(|(x, y)| match (x, y) {
                        (Arg::Ty(x), Arg::Ty(y)) => self.unify(x, y),
                        (Arg::Const(x), Arg::Const(y)) => self.unify_len(*x, *y),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Unifies `found` with `expected`, or reports that they differ.
    pub(super) fn demand(&mut self, expected: &Ty, found: &Ty, span: Span) {
        if self.unify(expected, found) {
            return;
        }
        self.settle();
        let (wanted, is) = (self.show(expected), self.show(found));
        let message = format!("expected `{wanted}`, found `{is}`");
        let numbers = |ty: &Ty| matches!(ty, Ty::Int(..) | Ty::Fixed(..) | Ty::Float(_) | Ty::Bool);
        let both = numbers(&self.shallow(expected)) && numbers(&self.shallow(found));
        let cast = both && !matches!(self.shallow(expected), Ty::Bool);
        let error = self.diagnostic(Code::Type, span, message);
        let error = match (self.shallow(expected), self.shallow(found)) {
            _ if cast => error.help(format!("convert it: `as {wanted}`")),
            (Ty::Bool, Ty::Int(..)) => error.help("compare it: `x != 0`"),
            (Ty::Tuple(parts), _) if parts.is_empty() => error.help(format!(
                "end the statement with `;`, or say what the function returns: `-> {is}`, for an \
                 entry `-> (r: {is} to all)`"
            )),
            (_, Ty::Tuple(parts)) if parts.is_empty() => {
                error.help("write the value: the last expression of a block has no `;` after it")
            }
            _ => error,
        };
        self.cx.errors.push(error);
    }

    /// Works out what has become known.
    pub(super) fn settle(&mut self) {
        loop {
            let mut progress = false;
            self.count(self.infer.pending.len() as u64);
            if !self.may_work() {
                return;
            }
            for pending in std::mem::take(&mut self.infer.pending) {
                if self.settle_one(&pending) {
                    progress = true;
                } else {
                    self.infer.pending.push(pending);
                }
            }
            if !progress {
                return;
            }
        }
    }

    fn settle_one(&mut self, pending: &Pending) -> bool {
        match pending {
            Pending::Len(expr, env, var, wanted) => match self.measure(expr, env, wanted) {
                Mini::Wait => false,
                Mini::Value(value) => {
                    self.found_len(*var, u64::try_from(value).unwrap_or(0), expr.span);
                    true
                }
                Mini::Truth(value) => {
                    self.found_len(*var, value.into(), expr.span);
                    true
                }
                Mini::No => {
                    let errors = self.cx.errors.errors();
                    let value = self.const_number(expr, env, wanted);
                    if self.cx.errors.errors() > errors {
                        // What stands for a wrong constant contradicts nothing.
                        self.unify_len(Len::Var(*var), Len::Known(value));
                    } else {
                        self.found_len(*var, value, expr.span);
                    }
                    true
                }
            },
            Pending::Unsigned(of, var) => match self.resolve(of) {
                Ty::Int(_, width) => {
                    let ty = Ty::Int(false, width);
                    if !self.unify(&Ty::Var(*var), &ty) {
                        let (wanted, is) = (self.show(&Ty::Var(*var)), self.show(&ty));
                        let message = format!("expected `{wanted}`, found `{is}`");
                        self.error(Code::Type, self.place, message);
                    }
                    true
                }
                Ty::Var(_) => false,
                _ => {
                    self.unify(&Ty::Var(*var), &Ty::Error);
                    true
                }
            },
        }
    }

    /// Fills in a constant that has been computed, or reports that it is already another.
    fn found_len(&mut self, var: u32, known: u64, span: Span) {
        if !self.unify_len(Len::Var(var), Len::Known(known)) {
            let other = if let Len::Known(n) = self.len(Len::Var(var)) { n } else { 0 };
            let message = format!("this is {known}, where {other} is expected");
            self.error(Code::Type, span, message);
        }
    }

    /// Gives each unknown that is left its default, and reports those without one.
    pub(super) fn finish(&mut self) {
        self.settle();
        for var in 0..self.infer.vars.len() {
            if self.infer.vars[var].0.is_none() && self.infer.vars[var].1 == VarKind::Int {
                self.infer.vars[var].0 = Some(Ty::size());
                self.settle();
            }
        }
        self.settle();
        for ty in std::mem::take(&mut self.infer.diverging) {
            if let Ty::Var(var) = self.shallow(&ty) {
                self.infer.vars[var as usize].0 = Some(Ty::unit());
            }
        }
    }

    /// Checks the conditions on types that are known by now.
    pub(super) fn run_checks(&mut self) {
        let checks = std::mem::take(&mut self.later.checks);
        let mut checks = checks.iter().peekable();
        while let Some((check, ty, span)) = checks.next() {
            let (ty, span) = (self.resolve(ty), *span);
            // Directly under a minus: the negation is checked next and ends where the literal does.
            let negated = checks.peek().is_some_and(|(next, _, around)| {
                matches!(next, Check::Signed) && (around.file, around.end) == (span.file, span.end)
            });
            if ty == Ty::Error {
                continue;
            }
            let (fits, expected) = match check {
                Check::Num => (is_number(&ty), "a number"),
                Check::Remainder => {
                    (matches!(ty, Ty::Int(..) | Ty::Fixed(..)), "an integer or a `fixed`")
                }
                Check::Int => (matches!(ty, Ty::Int(..)), "an integer"),
                Check::Signed => {
                    let signed = matches!(ty, Ty::Int(true, _) | Ty::Fixed(..) | Ty::Float(_));
                    (signed, "a signed number")
                }
                Check::Bits => (is_bits(&ty), "`bool`, an integer or an array of these"),
                Check::Cast(to) => {
                    let to = self.resolve(to);
                    let from = ty == Ty::Bool || is_number(&ty);
                    let fits = from && (is_number(&to) || to == Ty::Error);
                    let fits = fits || (ty == Ty::Bool && to == Ty::Bool);
                    (fits, "a `bool` or a number, converted to a number")
                }
                Check::Slice(end) => {
                    self.check_slice(*end, &ty, span);
                    continue;
                }
                Check::Fraction(text) => {
                    self.check_fraction(text, &ty, negated, span);
                    continue;
                }
                Check::Literal(value) => {
                    // Directly under a cast, which is checked next and begins where the literal
                    // does.
                    let cast = checks.peek().and_then(|(next, _, around)| match next {
                        Check::Cast(to)
                            if (around.file, around.start) == (span.file, span.start) =>
                        {
                            Some(self.resolve(to))
                        }
                        _ => None,
                    });
                    self.check_literal(value, &ty, cast, negated, span);
                    continue;
                }
            };
            if !fits {
                let shown = self.show(&ty);
                let message = format!("expected {expected}, found `{shown}`");
                let error = self.diagnostic(Code::Type, span, message);
                self.cx.errors.push(match (check, &ty) {
                    (Check::Num, Ty::Array(..)) => error.help("join arrays with `a.concat(b)`"),
                    (Check::Signed, Ty::Int(false, _)) => {
                        let signed = shown.replacen('u', "i", 1);
                        error.help(format!("write `0 - x`, which wraps, or `-(x as {signed})`"))
                    }
                    _ => error,
                });
            }
        }
    }

    fn check_slice(&mut self, end: u64, ty: &Ty, span: Span) {
        if let Ty::Array(_, Len::Known(len)) = *ty
            && end > len
        {
            let message = format!("the slice ends at {end}, the array at {len}");
            self.error(Code::Constant, span, message);
        }
    }

    fn check_fraction(&mut self, text: &str, ty: &Ty, negated: bool, span: Span) {
        if let Ty::Float(precision) = *ty {
            let infinite = match precision {
                Precision::Single => text.parse::<f32>().is_ok_and(f32::is_infinite),
                Precision::Double => text.parse::<f64>().is_ok_and(f64::is_infinite),
            };
            if infinite {
                self.error(Code::Constant, span, "this number is too large");
            }
            return;
        }
        let Ty::Fixed(Len::Known(int), Len::Known(frac)) = *ty else {
            if !matches!(ty, Ty::Var(_)) {
                let shown = self.show(ty);
                let message = format!("expected `{shown}`, found a fraction");
                self.error(Code::Type, span, message);
            }
            return;
        };
        match crate::numbers::scaled(text, frac as u32) {
            None => self.error(Code::Constant, span, "this number is too large or too small"),
            Some(value) if !fits(&value, true, int + frac, negated) => {
                let shown = self.show(ty);
                let message = format!("this number does not fit in `{shown}`");
                self.error(Code::Constant, span, message);
            }
            Some(_) => {}
        }
    }

    /// Checks that a literal fits in its type; `cast` is what it is converted to.
    fn check_literal(
        &mut self,
        value: &BigInt,
        ty: &Ty,
        cast: Option<Ty>,
        negated: bool,
        span: Span,
    ) {
        let (signed, width) = match ty {
            Ty::Int(signed, Len::Known(width)) => (*signed, *width),
            Ty::Fixed(Len::Known(int), _) => (true, *int),
            Ty::Float(_) => return self.check_fraction(&value.to_string(), ty, negated, span),
            _ => return,
        };
        if fits(value, signed, width, negated) {
            return;
        }
        let message = format!("this number does not fit in `{}`", self.show(ty));
        let error = self.diagnostic(Code::Constant, span, message);
        let typed = match &cast {
            Some(Ty::Int(signed, Len::Known(width))) => fits(value, *signed, *width, false),
            // All these are below the largest `f32`.
            Some(Ty::Float(_)) => value.bits() < 128,
            _ => false,
        };
        let error = match cast {
            Some(to) if typed => error.help(format!("write `{value}{}`", self.show(&to))),
            _ => error.help(range(signed, width)),
        };
        self.cx.errors.push(error);
    }

    /// Returns a type as a user writes it; `_` for what is not known.
    pub(super) fn show(&self, ty: &Ty) -> String {
        self.cx.show(&self.resolve(ty), &|var| match self.infer.vars[var as usize].1 {
            VarKind::Any => "_",
            VarKind::Int => "an integer",
            VarKind::Fraction => "a fraction",
        })
    }
}

/// Returns whether a literal fits in this many bits.
fn fits(value: &BigInt, signed: bool, width: u64, negated: bool) -> bool {
    // There is one more negative number than positive ones.
    let least = negated
        && signed
        && value.bits() == width
        && value.trailing_zeros().is_some_and(|zeros| Some(zeros) == width.checked_sub(1));
    value.bits() <= width.saturating_sub(u64::from(signed)) || least
}

/// Returns whether `+` takes values of a type.
pub(super) fn is_number(ty: &Ty) -> bool {
    matches!(ty, Ty::Int(..) | Ty::Fixed(..) | Ty::Float(_))
}

fn is_bits(ty: &Ty) -> bool {
    match ty {
        Ty::Bool | Ty::Int(..) | Ty::Error => true,
        Ty::Array(element, _) => is_bits(element),
        _ => false,
    }
}

/// Says which integers a type of this width has.
fn range(signed: bool, width: u64) -> String {
    let power = |bits: u64| match bits {
        ..=64 => (1u128 << bits).to_string(),
        _ => format!("2^{bits}"),
    };
    let last = |bits: u64| match bits {
        ..=64 => ((1u128 << bits) - 1).to_string(),
        _ => format!("2^{bits} - 1"),
    };
    match (signed, width) {
        (true, 1..) => format!("it has the numbers -{} to {}", power(width - 1), last(width - 1)),
        _ => format!("it has the numbers 0 to {}", last(width)),
    }
}
