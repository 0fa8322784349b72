//! The reference: computes with numbers what `lower` writes as gates, and shares no operation with
//! it. It also evaluates constants.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::{BigInt, Sign};

use crate::ast::{BinaryOp, UnaryOp};
use crate::bind::bind;
use crate::numbers::{self, fraction, whole};
use crate::tir::{
    Expr, Fits, Instance, Intrinsic, Kind, MAX_DEEP, MAX_DEPTH, Over, Pattern, Place, Step, Stmt,
    Tir, TyRef,
};
use crate::ty::{Shape, Shapes, TyId, clog2};
use crate::value::Value;
use crate::walk::assigns;

/// Why a computation ended without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This assert failed.
    Assert(u32),
    /// It took more steps than allowed.
    Steps,
    /// Its calls and expressions nest too deep.
    Deep,
    /// A constant index is out of range.
    Index,
    /// A function is not checked yet.
    Missing,
}

enum Exit {
    Stop(Stop),
    Return(Value),
    Break,
    Continue,
}

impl From<Stop> for Exit {
    fn from(stop: Stop) -> Exit {
        Exit::Stop(stop)
    }
}

type Done<T> = Result<T, Exit>;

/// Constants take at most this many steps.
pub const MAX_STEPS: u64 = 100_000_000;

/// The interpreter.
pub struct Interp<'a> {
    tir: &'a Tir,
    /// Steps taken so far.
    pub steps: u64,
    /// Steps that may be taken.
    pub limit: u64,
    depth: u32,
    /// How many expressions are being computed, one within the other.
    deep: u32,
}

struct Frame<'f> {
    instance: &'f Instance,
    locals: Vec<Value>,
}

impl<'a> Interp<'a> {
    /// Creates an interpreter of a program.
    pub fn new(tir: &'a Tir) -> Self {
        Interp { tir, steps: 0, limit: MAX_STEPS, depth: 0, deep: 0 }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// [`Stop`], when it ends without a value.
    pub fn run(&mut self, instance: &Instance, args: Vec<Value>) -> Result<Value, Stop> {
        let mut frame = Frame { instance, locals: vec![Value::Bool(false); instance.locals.len()] };
        for (&param, arg) in instance.params.iter().zip(args) {
            frame.locals[param as usize] = arg;
        }
        self.depth += 1;
        if self.depth > 4 * MAX_DEPTH {
            return Err(Stop::Deep);
        }
        let done = self.eval(&mut frame, &instance.body);
        self.depth -= 1;
        match done {
            Ok(value) | Err(Exit::Return(value)) => Ok(value),
            Err(Exit::Stop(stop)) => Err(stop),
            Err(Exit::Break | Exit::Continue) => Err(Stop::Missing),
        }
    }

    fn ty(&self, frame: &Frame<'_>, ty: TyRef) -> TyId {
        frame.instance.types[ty as usize]
    }

    fn shape(&self, frame: &Frame<'_>, ty: TyRef) -> &'a Shape {
        self.tir.shapes.shape(self.ty(frame, ty))
    }

    fn step(&mut self, count: u64) -> Done<()> {
        self.steps += count;
        if self.steps > self.limit { Err(Stop::Steps.into()) } else { Ok(()) }
    }

    /// Counts the work of an operator on wide numbers of this type, which grows with their words,
    /// or with pairs of them.
    fn wide(&mut self, ty: TyId, pairs: bool) -> Done<()> {
        let words = self.tir.shapes.width(ty) / 64;
        let work = if pairs { words * words } else { words };
        self.step(work / 16)
    }

    fn eval(&mut self, frame: &mut Frame<'_>, expr: &Expr) -> Done<Value> {
        self.step(1)?;
        if self.deep >= MAX_DEEP {
            return Err(Stop::Deep.into());
        }
        self.deep += 1;
        let value = self.eval_at(frame, expr);
        self.deep -= 1;
        value
    }

    fn eval_at(&mut self, frame: &mut Frame<'_>, expr: &Expr) -> Done<Value> {
        match &expr.kind {
            Kind::Int(value) => Ok(whole(self.shape(frame, expr.ty), value)),
            Kind::Fraction(text) => Ok(fraction(self.shape(frame, expr.ty), text)),
            Kind::Const(value) => {
                self.step(value.size() - 1)?;
                Ok(Value::clone(value))
            }
            Kind::Local(local) => {
                self.step(frame.locals[*local as usize].size())?;
                Ok(frame.locals[*local as usize].clone())
            }
            Kind::Unary(op, operand) => {
                let value = self.eval(frame, operand)?;
                self.wide(self.ty(frame, expr.ty), false)?;
                Ok(unary(&self.tir.shapes, self.ty(frame, expr.ty), *op, value))
            }
            Kind::Binary(op, a, b) => {
                let ty = self.ty(frame, a.ty);
                let a = self.eval(frame, a)?;
                let amount = self.ty(frame, b.ty);
                let b = self.eval(frame, b)?;
                self.wide(ty, op.multiplies())?;
                Ok(binary(&self.tir.shapes, ty, amount, *op, a, b))
            }
            Kind::Cast(value) => {
                let from = self.shape(frame, value.ty);
                let to = self.shape(frame, expr.ty);
                let value = self.eval(frame, value)?;
                self.wide(self.ty(frame, expr.ty), false)?;
                Ok(cast(from, to, value))
            }
            Kind::Aggregate(parts) => Ok(Value::List(self.all(frame, parts)?)),
            Kind::Repeat(value) => {
                let value = self.eval(frame, value)?;
                let Shape::Array(_, len) = self.shape(frame, expr.ty) else {
                    return Err(Stop::Missing.into());
                };
                self.step(len.saturating_mul(8 * value.size()))?;
                Ok(Value::List(vec![value; *len as usize]))
            }
            Kind::Variant(variant, parts) => Ok(Value::Variant(*variant, self.all(frame, parts)?)),
            Kind::Field(value, place) => match self.eval(frame, value)? {
                Value::List(mut parts) => Ok(parts.swap_remove(*place)),
                _ => Err(Stop::Missing.into()),
            },
            Kind::Index(value, index) => self.index(frame, value, index, expr.ty),
            Kind::Slice(value, from) => {
                let Shape::Array(_, len) = *self.shape(frame, expr.ty) else {
                    return Err(Stop::Missing.into());
                };
                match self.eval(frame, value)? {
                    Value::List(parts) => parts
                        .get(*from as usize..(*from + len) as usize)
                        .map(|parts| Value::List(parts.to_vec()))
                        .ok_or(Exit::Stop(Stop::Index)),
                    _ => Err(Stop::Missing.into()),
                }
            }
            Kind::Call(call, args) => {
                let args = self.all(frame, args)?;
                let place = frame.instance.calls[*call];
                let callee = self.tir.instances.get(place).cloned().flatten();
                let callee: Rc<Instance> = callee.ok_or(Stop::Missing)?;
                Ok(self.run(&callee, args)?)
            }
            Kind::Intrinsic(op, args) => {
                let types: Vec<TyId> = args.iter().map(|arg| self.ty(frame, arg.ty)).collect();
                let args = self.all(frame, args)?;
                self.step(1 + 8 * self.tir.shapes.width(self.ty(frame, expr.ty)))?;
                if let Intrinsic::Fits(fits) = op {
                    self.wide(types[0], matches!(fits, Fits::Binary(op) if op.multiplies()))?;
                    let fits = numbers::fits(&self.tir.shapes, *fits, &types, &args);
                    return Ok(Value::Bool(fits));
                }
                Ok(intrinsic(&self.tir.shapes, *op, &types, args, self.ty(frame, expr.ty)))
            }
            _ => self.eval_flow(frame, expr),
        }
    }

    /// Evaluates choices, blocks, loops, and expressions that leave them.
    fn eval_flow(&mut self, frame: &mut Frame<'_>, expr: &Expr) -> Done<Value> {
        match &expr.kind {
            Kind::If(condition, then, otherwise) => {
                if self.eval(frame, condition)? == Value::Bool(true) {
                    self.eval(frame, then)
                } else if let Some(otherwise) = otherwise {
                    self.eval(frame, otherwise)
                } else {
                    Ok(Value::List(Vec::new()))
                }
            }
            Kind::Match(value, arms) => {
                let value = self.eval(frame, value)?;
                for arm in arms {
                    if !self.binds(frame, &arm.pattern, &value)? {
                        continue;
                    }
                    let taken = match &arm.guard {
                        Some(guard) => self.eval(frame, guard)? == Value::Bool(true),
                        None => true,
                    };
                    if taken {
                        return self.eval(frame, &arm.body);
                    }
                }
                Err(Stop::Missing.into())
            }
            Kind::Block(stmts, tail) => {
                for stmt in stmts {
                    self.stmt(frame, stmt)?;
                }
                match tail {
                    Some(tail) => self.eval(frame, tail),
                    None => Ok(Value::List(Vec::new())),
                }
            }
            Kind::Comprehension(pattern, over, body) => {
                let mut values = Vec::new();
                for element in self.elements(frame, over)? {
                    self.binds(frame, pattern, &element?)?;
                    values.push(self.eval(frame, body)?);
                }
                Ok(Value::List(values))
            }
            Kind::Assert(condition, text) => match self.eval(frame, condition)? {
                Value::Bool(true) => Ok(Value::List(Vec::new())),
                _ => Err(Stop::Assert(*text).into()),
            },
            Kind::Expect(value, text) => match self.eval(frame, value)? {
                Value::Variant(1, mut payload) => payload.pop().ok_or(Exit::Stop(Stop::Missing)),
                _ => Err(Stop::Assert(*text).into()),
            },
            Kind::Return(value) => {
                let value = self.eval(frame, value)?;
                Err(Exit::Return(value))
            }
            Kind::Break => Err(Exit::Break),
            Kind::Continue => Err(Exit::Continue),
            _ => Err(Stop::Missing.into()),
        }
    }

    /// Returns whether a value matches a pattern, and binds the pattern's names.
    fn binds(&mut self, frame: &mut Frame<'_>, pattern: &Pattern, value: &Value) -> Done<bool> {
        let mut work = 0;
        let fits = bind(&mut frame.locals, pattern, value, &mut work);
        // Comparing takes less time than other steps.
        self.step(work / 8)?;
        Ok(fits)
    }

    fn all(&mut self, frame: &mut Frame<'_>, exprs: &[Expr]) -> Done<Vec<Value>> {
        exprs.iter().map(|expr| self.eval(frame, expr)).collect()
    }

    fn index(
        &mut self,
        frame: &mut Frame<'_>,
        value: &Expr,
        index: &Expr,
        ty: TyRef,
    ) -> Done<Value> {
        let zero = self.ty(frame, ty);
        let pick = |parts: &[Value], at: Value, shapes: &Shapes| match at.place() {
            Some(at) if at < parts.len() => Ok(parts[at].clone()),
            _ if index.constant => Err(Exit::Stop(Stop::Index)),
            _ => Ok(zero_value(shapes, zero)),
        };
        // A variable is not copied whole for one of its elements, unless the index may change it.
        if let Kind::Local(local) = value.kind
            && !assigns(index)
        {
            let at = self.eval(frame, index)?;
            return match &frame.locals[local as usize] {
                Value::List(parts) => pick(parts, at, &self.tir.shapes),
                _ => Err(Stop::Missing.into()),
            };
        }
        if let Kind::Const(known) = &value.kind {
            let at = self.eval(frame, index)?;
            return match &**known {
                Value::List(parts) => pick(parts, at, &self.tir.shapes),
                _ => Err(Stop::Missing.into()),
            };
        }
        let array = self.eval(frame, value)?;
        let at = self.eval(frame, index)?;
        match &array {
            Value::List(parts) => pick(parts, at, &self.tir.shapes),
            _ => Err(Stop::Missing.into()),
        }
    }

    /// Returns the elements that a loop iterates over.
    fn elements(
        &mut self,
        frame: &mut Frame<'_>,
        over: &Over,
    ) -> Done<Box<dyn Iterator<Item = Done<Value>>>> {
        match over {
            Over::Range(low, high, inclusive) => {
                let low = self.eval(frame, low)?;
                let high = self.eval(frame, high)?;
                let (Value::Int(low), Value::Int(high)) = (low, high) else {
                    return Err(Stop::Missing.into());
                };
                let high = if *inclusive { high + 1 } else { high };
                let next = move |n: &BigInt| (n + 1 < high).then(|| n + 1);
                let first = next(&(low - 1));
                let numbers = std::iter::successors(first, next);
                Ok(Box::new(numbers.map(|n| Ok(Value::Int(n)))))
            }
            Over::Array(array) => match self.eval(frame, array)? {
                Value::List(parts) => Ok(Box::new(parts.into_iter().map(Ok))),
                _ => Err(Stop::Missing.into()),
            },
            Over::Rounds(_) => Err(Stop::Missing.into()),
        }
    }

    fn stmt(&mut self, frame: &mut Frame<'_>, stmt: &Stmt) -> Done<()> {
        match stmt {
            Stmt::Let(pattern, value) => {
                let value = self.eval(frame, value)?;
                self.binds(frame, pattern, &value)?;
                Ok(())
            }
            Stmt::Expr(value) => self.eval(frame, value).map(drop),
            Stmt::Assign(place, op, value) => self.assign(frame, place, *op, value),
            Stmt::For(pattern, over, body, _) => {
                if let Over::Rounds(rounds) = &**over {
                    for body in rounds {
                        match self.eval(frame, body) {
                            Ok(_) | Err(Exit::Continue) => {}
                            Err(Exit::Break) => break,
                            Err(other) => return Err(other),
                        }
                    }
                    return Ok(());
                }
                for element in self.elements(frame, over)? {
                    self.step(1)?;
                    self.binds(frame, pattern, &element?)?;
                    match self.eval(frame, body) {
                        Ok(_) | Err(Exit::Continue) => {}
                        Err(Exit::Break) => break,
                        Err(other) => return Err(other),
                    }
                }
                Ok(())
            }
        }
    }

    fn assign(
        &mut self,
        frame: &mut Frame<'_>,
        target: &Place,
        op: Option<BinaryOp>,
        value: &Expr,
    ) -> Done<()> {
        let mut ty = self.ty(frame, frame.instance.locals[target.local as usize].1);
        let mut path = Vec::new();
        for (step, step_ty) in &target.path {
            path.push(match step {
                Step::Field(field) => (Some(*field), false),
                Step::Index(index) => {
                    let at = self.eval(frame, index)?;
                    (at.place(), index.constant)
                }
            });
            ty = self.ty(frame, *step_ty);
        }
        let amount = self.ty(frame, value.ty);
        let value = self.eval(frame, value)?;
        if let Some(op) = op {
            self.wide(ty, op.multiplies())?;
        }
        let mut part = &mut frame.locals[target.local as usize];
        for (at, constant) in path {
            let Value::List(parts) = part else { return Err(Stop::Missing.into()) };
            match at.and_then(|at| parts.get_mut(at)) {
                Some(inner) => part = inner,
                None if constant => return Err(Stop::Index.into()),
                None => return Ok(()),
            }
        }
        *part = match op {
            Some(op) => {
                let old = std::mem::replace(part, Value::Bool(false));
                binary(&self.tir.shapes, ty, amount, op, old, value)
            }
            None => value,
        };
        Ok(())
    }
}

/// Reduces a number modulo 2^width into the range of its type.
fn wrap(value: BigInt, signed: bool, width: u32) -> BigInt {
    let modulus = BigInt::from(1) << width;
    let mut value = value % &modulus;
    if value.sign() == Sign::Minus {
        value += &modulus;
    }
    if signed && width > 0 && value.bit(u64::from(width) - 1) { value - modulus } else { value }
}

fn wrapped(shape: &Shape, value: BigInt) -> Value {
    Value::Int(match shape {
        Shape::Int(signed, width) => wrap(value, *signed, *width),
        Shape::Fixed(int, frac) => wrap(value, true, int + frac),
        _ => value,
    })
}

fn unary(shapes: &Shapes, ty: TyId, op: UnaryOp, value: Value) -> Value {
    match (op, shapes.shape(ty), value) {
        (UnaryOp::Neg, shape, Value::Int(value)) => wrapped(shape, -value),
        (UnaryOp::Neg, Shape::Float(precision), Value::Float(bits)) => {
            Value::Float(bits ^ 1 << (precision.bits() - 1))
        }
        (UnaryOp::Not, shape, Value::Int(value)) => wrapped(shape, -value - 1),
        (UnaryOp::Not, _, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::Not, Shape::Array(element, _), Value::List(parts)) => {
            Value::List(parts.into_iter().map(|part| unary(shapes, *element, op, part)).collect())
        }
        (_, _, value) => value,
    }
}

fn binary(shapes: &Shapes, ty: TyId, amount: TyId, op: BinaryOp, a: Value, b: Value) -> Value {
    use BinaryOp::*;
    let order = || numbers::order(shapes, ty, &a, &b);
    match op {
        Eq => return Value::Bool(order() == Some(Ordering::Equal)),
        Ne => return Value::Bool(order() != Some(Ordering::Equal)),
        Lt => return Value::Bool(order().is_some_and(Ordering::is_lt)),
        Le => return Value::Bool(order().is_some_and(Ordering::is_le)),
        Gt => return Value::Bool(order().is_some_and(Ordering::is_gt)),
        Ge => return Value::Bool(order().is_some_and(Ordering::is_ge)),
        _ => {}
    }
    let shape = shapes.shape(ty);
    if let (Value::Float(a), Value::Float(b), Shape::Float(precision)) = (&a, &b, shape) {
        return Value::Float(numbers::compute(*precision, op, *a, *b));
    }
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Value::Bool(match op {
            And => a & b,
            Or => a | b,
            _ => a ^ b,
        }),
        (Value::List(a), Value::List(b)) => {
            let Shape::Array(element, _) = shape else { return Value::List(a) };
            let parts = a.into_iter().zip(b);
            Value::List(parts.map(|(a, b)| binary(shapes, *element, *element, op, a, b)).collect())
        }
        (Value::Int(a), Value::Int(b)) => {
            let frac = if let Shape::Fixed(_, frac) = shape { *frac } else { 0 };
            wrapped(
                shape,
                match op {
                    Add => a + b,
                    Sub => a - b,
                    Mul => (a * b) >> frac,
                    Div => numbers::divide(&(a << frac), &b).0,
                    Rem => numbers::divide(&a, &b).1,
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    _ => return shift(shapes, shape, amount, op, a, b),
                },
            )
        }
        (a, _) => a,
    }
}

fn shift(
    shapes: &Shapes,
    shape: &Shape,
    amount: TyId,
    op: BinaryOp,
    value: BigInt,
    by: BigInt,
) -> Value {
    let Shape::Int(_, width) = shape else { return Value::Int(value) };
    // The amount is read as an unsigned number.
    let by = match shapes.shape(amount) {
        Shape::Int(_, width) => wrap(by, false, *width),
        _ => by,
    };
    let by = u32::try_from(by).unwrap_or(u32::MAX).min(*width);
    let shifted = if op == BinaryOp::Shl { value << by } else { value >> by };
    wrapped(shape, shifted)
}

fn cast(from: &Shape, to: &Shape, value: Value) -> Value {
    if let Some(value) = numbers::cast(from, to, &value) {
        return value;
    }
    let (value, from_frac) = match (value, from) {
        (Value::Bool(value), _) if *to == Shape::Bool => return Value::Bool(value),
        (Value::Bool(value), _) => (BigInt::from(u8::from(value)), 0),
        (Value::Int(value), Shape::Fixed(_, frac)) => (value, *frac),
        (Value::Int(value), _) => (value, 0),
        (other, _) => return other,
    };
    let to_frac = if let Shape::Fixed(_, frac) = to { *frac } else { 0 };
    wrapped(to, (value << to_frac) >> from_frac)
}

/// Returns the value of zero bits.
pub fn zero_value(shapes: &Shapes, ty: TyId) -> Value {
    match shapes.shape(ty) {
        Shape::Bool => Value::Bool(false),
        Shape::Int(..) | Shape::Fixed(..) => Value::Int(BigInt::ZERO),
        Shape::Float(_) => Value::Float(0),
        Shape::Tuple(_) | Shape::Struct(..) => {
            Value::List(shapes.parts(ty).iter().map(|part| zero_value(shapes, *part)).collect())
        }
        Shape::Array(element, len) => {
            Value::List(vec![zero_value(shapes, *element); *len as usize])
        }
        Shape::Enum(..) => {
            let payload = shapes.payload(ty, 0);
            Value::Variant(0, payload.iter().map(|part| zero_value(shapes, *part)).collect())
        }
    }
}

/// Appends the bits of a value, the lowest wire first.
pub fn encode(shapes: &Shapes, ty: TyId, value: &Value, bits: &mut Vec<bool>) {
    let end = bits.len() + shapes.width(ty) as usize;
    match (shapes.shape(ty), value) {
        (Shape::Bool, Value::Bool(value)) => bits.push(*value),
        (Shape::Int(..) | Shape::Fixed(..), Value::Int(value)) => {
            let width = shapes.width(ty) as u32;
            let value = wrap(value.clone(), false, width);
            bits.extend((0..u64::from(width)).map(|place| value.bit(place)));
        }
        (Shape::Float(precision), Value::Float(value)) => {
            bits.extend((0..precision.bits()).map(|place| value >> place & 1 == 1));
        }
        (Shape::Tuple(_) | Shape::Struct(..), Value::List(values)) => {
            let parts = shapes.parts(ty);
            parts.iter().zip(values).for_each(|(ty, value)| encode(shapes, *ty, value, bits));
        }
        (Shape::Array(element, _), Value::List(values)) => {
            values.iter().for_each(|value| encode(shapes, *element, value, bits));
        }
        (Shape::Enum(..), Value::Variant(variant, values)) => {
            bits.extend((0..shapes.tag_bits(ty)).map(|place| variant >> place & 1 == 1));
            let parts = shapes.payload(ty, *variant);
            parts.iter().zip(values).for_each(|(ty, value)| encode(shapes, *ty, value, bits));
        }
        _ => {}
    }
    bits.resize(end, false);
}

/// Returns the value of bits. An invalid variant is read as the first one.
///
/// # Panics
/// When there are fewer bits than the type has.
pub fn decode(shapes: &Shapes, ty: TyId, bits: &[bool]) -> Value {
    let take = |parts: &[TyId], mut bits: &[bool]| {
        let mut values = Vec::with_capacity(parts.len());
        for &part in parts {
            let (own, rest) = bits.split_at(shapes.width(part) as usize);
            values.push(decode(shapes, part, own));
            bits = rest;
        }
        values
    };
    match shapes.shape(ty) {
        Shape::Bool => Value::Bool(bits[0]),
        Shape::Int(..) | Shape::Fixed(..) => {
            let width = shapes.width(ty) as usize;
            let mut bytes = vec![0u8; width.div_ceil(8)];
            for (place, _) in bits[..width].iter().enumerate().filter(|(_, bit)| **bit) {
                bytes[place / 8] |= 1 << (place % 8);
            }
            wrapped(shapes.shape(ty), BigInt::from_bytes_le(Sign::Plus, &bytes))
        }
        Shape::Float(precision) => {
            let bits = bits[..precision.bits() as usize].iter().rev();
            Value::Float(bits.fold(0, |number, &bit| number << 1 | u64::from(bit)))
        }
        Shape::Tuple(_) | Shape::Struct(..) => Value::List(take(&shapes.parts(ty), bits)),
        Shape::Array(element, len) => Value::List(take(&vec![*element; *len as usize], bits)),
        Shape::Enum(_, variants) => {
            let (tag, payload) = bits.split_at(shapes.tag_bits(ty));
            let tag = tag.iter().rev().fold(0, |tag, &bit| 2 * tag + usize::from(bit));
            let tag = if tag < variants.len() { tag } else { 0 };
            Value::Variant(tag, take(&variants[tag].1, payload))
        }
    }
}

fn intrinsic(
    shapes: &Shapes,
    op: Intrinsic,
    types: &[TyId],
    args: Vec<Value>,
    result: TyId,
) -> Value {
    let shape = shapes.shape(result);
    let numbers: Vec<&BigInt> = args
        .iter()
        .filter_map(|arg| if let Value::Int(value) = arg { Some(value) } else { None })
        .collect();
    match (op, &args[..], &numbers[..]) {
        (Intrinsic::ToBits, [value], _) => {
            let mut bits = Vec::new();
            encode(shapes, types[0], value, &mut bits);
            Value::List(bits.into_iter().map(Value::Bool).collect())
        }
        (Intrinsic::FromBits, [Value::List(bits)], _) => {
            let bits: Vec<bool> = bits.iter().map(|bit| *bit == Value::Bool(true)).collect();
            decode(shapes, result, &bits)
        }
        (Intrinsic::MayHold, [condition], _) => condition.clone(),
        (Intrinsic::Sum, [Value::List(values)], _) => {
            let add = |sum: BigInt, value: &Value| match value {
                Value::Int(value) => sum + value,
                _ => sum,
            };
            wrapped(shape, values.iter().fold(BigInt::ZERO, add))
        }
        (Intrinsic::Count, [Value::List(values)], _) => {
            let count = values.iter().filter(|value| **value == Value::Bool(true)).count();
            wrapped(shape, count.into())
        }
        (Intrinsic::MulWide, _, [a, b]) => wrapped(shape, *a * *b),
        (Intrinsic::DivRem, _, [a, b]) => {
            let (quotient, remainder) = numbers::divide(a, b);
            let shape = shapes.shape(types[0]);
            Value::List(vec![wrapped(shape, quotient), wrapped(shape, remainder)])
        }
        (Intrinsic::Clog2, _, [n]) => {
            Value::Int(u64::try_from(*n).map_or(0, |n| u64::from(clog2(n))).into())
        }
        (Intrinsic::Sqrt, [Value::Float(a)], _) => Value::Float(numbers::sqrt(shape, *a)),
        (Intrinsic::Fast(op), [Value::Float(a), Value::Float(b)], _) => {
            Value::Float(numbers::compute_fast(shape, op, *a, *b))
        }
        (Intrinsic::FastSqrt, [Value::Float(a)], _) => Value::Float(numbers::sqrt_fast(shape, *a)),
        (Intrinsic::Sqrt, _, [number]) => wrapped(shape, number.sqrt()),
        (Intrinsic::Before, [a, b], _) => {
            Value::Bool(numbers::total_order(shapes, types[0], a, b).is_lt())
        }
        (Intrinsic::AbsDiff, _, [a, b]) => Value::Int(if a > b { *a - *b } else { *b - *a }),
        _ => zero_value(shapes, result),
    }
}
