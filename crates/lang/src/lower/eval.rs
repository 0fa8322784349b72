//! Expressions.

use std::rc::Rc;

use symbolon_circuit::Table;
use symbolon_circuit::builder::{Bit, Joiner, Word};

use super::components::Finished;
use super::known::reads;
use super::outer::is_outside;
use super::places::constant;
use super::scatter::chain;
use super::state::Frame;
use super::vast::is_vast;
use super::{Done, Failed, Machine, assert_number};
use crate::ast::BinaryOp;
use crate::cost::Totals;
use crate::diag::Code;
use crate::ids::InstanceId;
use crate::interp::{Interp, Stop, decode, encode};
use crate::numbers::{fraction, whole};
use crate::source::Span;
use crate::tir::{Expr, Fits, Intrinsic, Kind, TOO_DEEP};
use crate::ty::{Shape, TyId};
use crate::value::Value;

impl Machine<'_, '_, '_> {
    pub(super) fn constant_word(&self, ty: TyId, value: &Value) -> Word {
        let mut bits = Vec::new();
        encode(&self.lower.tir.shapes, ty, value, &mut bits);
        bits.into_iter().map(Bit::constant).collect()
    }

    pub(super) fn eval(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Word> {
        self.step(expr.span)?;
        self.before_vast(&frame.instance, expr)?;
        let before = self.account(expr.span);
        let value = self.deeper(expr.span, |this| this.eval_at(frame, expr));
        self.account(before);
        let value = value?;
        self.after_vast(&value, expr.span)?;
        // Wires in a row are not copied one by one.
        self.copied(if is_vast(value.width()) { value.listed_bits() } else { value.width() });
        Ok(value)
    }

    fn eval_at(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Word> {
        let ty = frame.instance.types[expr.ty as usize];
        match &expr.kind {
            Kind::Int(value) => {
                let value = whole(self.lower.tir.shapes.shape(ty), value);
                Ok(self.constant_word(ty, &value))
            }
            Kind::Fraction(text) => {
                let value = fraction(self.lower.tir.shapes.shape(ty), text);
                Ok(self.constant_word(ty, &value))
            }
            Kind::Const(value) => Ok(self.constant_word(ty, value)),
            Kind::Local(local) => Ok(Word::clone(&*self.local(frame, *local)?)),
            Kind::Unary(op, operand) => {
                let value = self.eval(frame, operand)?;
                Ok(self.unary(*op, ty, &value))
            }
            Kind::Binary(op, a, b) => {
                let (ty, amount) =
                    (frame.instance.types[a.ty as usize], frame.instance.types[b.ty as usize]);
                let a = self.eval(frame, a)?;
                let b = self.eval(frame, b)?;
                self.binary_room(*op, ty, &a, &b, expr.span)?;
                Ok(self.binary(*op, ty, amount, &a, &b))
            }
            Kind::Cast(value) => {
                let from = frame.instance.types[value.ty as usize];
                let value = self.eval(frame, value)?;
                Ok(self.cast(from, ty, &value))
            }
            Kind::Aggregate(parts) => self.join(frame, parts),
            Kind::Repeat(value) => {
                let value = self.eval(frame, value)?;
                let Shape::Array(_, len) = *self.lower.tir.shapes.shape(ty) else {
                    return Err(Failed);
                };
                self.lower.spent.steps += len;
                Ok((0..len).flat_map(|_| value.iter().copied()).collect())
            }
            Kind::Variant(variant, parts) => {
                let tag = self.lower.tir.shapes.tag_bits(ty);
                let tag = Word::constant(tag, *variant as u128);
                let payload = self.join(frame, parts)?;
                Ok(Word::join([&tag, &payload]).resize(self.width(ty)))
            }
            Kind::Field(value, place) => {
                let outer = frame.instance.types[value.ty as usize];
                let (start, part) = self.lower.tir.shapes.part(outer, *place);
                let width = self.width(part);
                self.eval_slice(frame, value, start, width)
            }
            Kind::Slice(value, from) => {
                let Shape::Array(element, _) = *self.lower.tir.shapes.shape(ty) else {
                    return Err(Failed);
                };
                let start = *from as usize * self.width(element);
                let width = self.width(ty);
                self.eval_slice(frame, value, start, width)
            }
            Kind::Index(value, index) => match self.own_element(frame, expr)? {
                Some(element) => Ok(element),
                None => self.index(frame, value, index, ty),
            },
            Kind::Call(call, args) => self.call(frame, *call, args, expr),
            Kind::Intrinsic(op, args) => self.eval_intrinsic(frame, *op, args, expr),
            _ => self.eval_flow(frame, expr, ty),
        }
    }

    fn eval_intrinsic(
        &mut self,
        frame: &mut Frame,
        op: Intrinsic,
        args: &[Expr],
        expr: &Expr,
    ) -> Done<Word> {
        let ty = frame.instance.types[expr.ty as usize];
        let types: Vec<TyId> =
            args.iter().map(|arg| frame.instance.types[arg.ty as usize]).collect();
        let mut words = Vec::new();
        for arg in args {
            words.push(self.eval(frame, arg)?);
        }
        let bits: u64 = words.iter().map(|word| word.width() as u64).sum();
        let gates = match (op, &words[..]) {
            (Intrinsic::MulWide, [a, b]) => {
                3 * self.gates.product_ands(a, b, a.width() + b.width())
            }
            (Intrinsic::Fits(Fits::Binary(op)), _) if op.multiplies() => {
                bits.saturating_mul(bits).saturating_mul(5)
            }
            (Intrinsic::DivRem, [a, b]) => 4 * self.gates.division_ands(a, b),
            (Intrinsic::Sqrt | Intrinsic::FastSqrt | Intrinsic::Fast(_), _) => {
                bits.saturating_mul(bits) * 3 / 4
            }
            _ => (bits + self.width(ty) as u64).saturating_mul(5),
        };
        let constant =
            words.iter().all(|word| word.listed_bits() == word.width() && constant(word).is_some());
        if expr.constant && !constant {
            // The counter of a repeated loop has to be known here.
            return Err(Failed);
        }
        let part = match (op, types.first().map(|ty| self.lower.tir.shapes.shape(*ty))) {
            (Intrinsic::Sum, Some(Shape::Array(element, _))) => self.width(*element),
            (Intrinsic::Count, _) => 1,
            _ => 0,
        };
        if part > 0
            && let Some(sum) = self.sum_in_blocks(&words[0], part, self.width(ty), expr.span)?
        {
            return Ok(sum);
        }
        self.room(if constant { 0 } else { gates }, expr.span)?;
        Ok(self.intrinsic(op, &types, &words, ty))
    }

    /// Writes choices, blocks, loops, asserts, and expressions that leave a function or a loop.
    fn eval_flow(&mut self, frame: &mut Frame, expr: &Expr, ty: TyId) -> Done<Word> {
        match &expr.kind {
            Kind::If(..) | Kind::Match(..) | Kind::Block(..) | Kind::Comprehension(..) => {
                self.control(frame, expr, ty)
            }
            Kind::Assert(condition, text) => {
                let constant = condition.constant;
                let holds = self.eval(frame, condition)?[0];
                self.assert(frame, holds, *text, constant, expr.span)?;
                Ok(Word::zero(0))
            }
            Kind::Expect(value, text) => {
                let constant = value.constant;
                let value = self.eval(frame, value)?;
                self.assert(frame, value[0], *text, constant, expr.span)?;
                Ok(value.slice(1..value.width()))
            }
            Kind::Return(value) => {
                let value = self.eval(frame, value)?;
                let live = !self.left(frame);
                let before = frame.left.result.take().filter(|_| frame.left.returned != Bit::ZERO);
                frame.left.result = Some(Rc::new(match before {
                    Some(before) => self.choose(live, &value, &before),
                    None => value,
                }));
                frame.left.returned = self.gates.xor_bit(frame.left.returned, live);
                Ok(Word::zero(self.width(ty)))
            }
            Kind::Break => {
                let live = !self.left(frame);
                frame.left.broken = self.gates.xor_bit(frame.left.broken, live);
                Ok(Word::zero(self.width(ty)))
            }
            Kind::Continue => {
                let live = !self.left(frame);
                frame.left.continued = self.gates.xor_bit(frame.left.continued, live);
                Ok(Word::zero(self.width(ty)))
            }
            _ => Err(Failed),
        }
    }

    fn join(&mut self, frame: &mut Frame, parts: &[Expr]) -> Done<Word> {
        let mut joiner = Joiner::default();
        for part in parts {
            joiner.push(&self.eval(frame, part)?);
            self.listable(joiner.listed_bits(), part.span)?;
        }
        Ok(joiner.finish())
    }

    /// Returns some bits of a value; only these bits of a variable are copied.
    fn eval_slice(
        &mut self,
        frame: &mut Frame,
        value: &Expr,
        start: usize,
        width: usize,
    ) -> Done<Word> {
        if let Kind::Local(local) = value.kind {
            return self.local_slice(frame, local, start, width);
        }
        Ok(self.eval(frame, value)?.slice(start..start + width))
    }

    /// Evaluates an array before its index. Returns `None` if no index can change it and only a
    /// part of it may be needed.
    fn before_index(&mut self, frame: &mut Frame, array: &Expr) -> Done<Option<Rc<Word>>> {
        match array.kind {
            Kind::Const(_) => Ok(None),
            // A body does not assign to what it takes from outside.
            Kind::Local(local) if is_outside(frame, local) => Ok(None),
            Kind::Local(local) => Ok(Some(self.local(frame, local)?)),
            _ => Ok(Some(Rc::new(self.eval(frame, array)?))),
        }
    }

    /// Returns an element that each round of a repeated loop has of its own, of an array of one or
    /// more dimensions.
    fn own_element(&mut self, frame: &mut Frame, expr: &Expr) -> Done<Option<Word>> {
        let Some(counter) = frame.outer.as_ref().and_then(|outer| outer.counter) else {
            return Ok(None);
        };
        let (base, indices) = chain(expr);
        if let Kind::Local(local) = base.kind
            && let Some(depth) = self.depth_of(frame, local)
        {
            if indices.len() != depth {
                return Ok(None);
            }
            let element = self.element_of(frame, local, &indices)?;
            return Ok(Some(Word::clone(&*self.local(frame, element)?)));
        }
        let is_from_outside = match base.kind {
            Kind::Local(local) => is_outside(frame, local),
            _ => false,
        };
        let differs = indices.iter().any(|index| reads(index, counter.local));
        if !is_from_outside || !differs || indices.len() < 2 {
            return Ok(None);
        }
        let ty = frame.instance.types[base.ty as usize];
        match self.element_places(frame, ty, &indices)? {
            Some((places, width)) => Ok(Some(self.gathered(frame, base, (places, width))?)),
            None => Ok(None),
        }
    }

    fn index(&mut self, frame: &mut Frame, array: &Expr, index: &Expr, ty: TyId) -> Done<Word> {
        let array_ty = frame.instance.types[array.ty as usize];
        let Shape::Array(_, len) = *self.lower.tir.shapes.shape(array_ty) else {
            return Err(Failed);
        };
        let width = self.width(ty);
        if let Some(element) = self.strided(frame, array, index, len, width)? {
            return Ok(element);
        }
        let before = self.before_index(frame, array)?;
        let word = self.eval(frame, index)?;
        if let Some(at) = constant(&word) {
            if at < u128::from(len) {
                // Only this element of a constant is written.
                if let Kind::Const(value) = &array.kind
                    && let Value::List(parts) = &**value
                    && let Some(part) = parts.get(at as usize)
                {
                    return Ok(self.constant_word(ty, part));
                }
                let start = at as usize * width;
                return match before {
                    Some(array) => Ok(array.slice(start..start + width)),
                    None => self.eval_slice(frame, array, start, width),
                };
            }
            if index.constant {
                return self.lower.beyond_array(at, len, index.span);
            }
            return Ok(Word::zero(width));
        }
        if index.constant {
            // The counter of a repeated loop has to be known here.
            return Err(Failed);
        }
        self.listable(self.width(array_ty), array.span)?;
        let is_table = array.constant && (2..=256).contains(&len) && (1..=64).contains(&width);
        let array = match before {
            Some(array) => array,
            None => Rc::new(self.eval(frame, array)?),
        };
        if is_table && array.iter().all(|bit| bit.as_constant().is_some()) {
            return self.look_up(&array, width, &word, index.span);
        }
        self.select_element(&array, width, len as usize, &word, index.span)
    }

    /// Refuses an operator that would make too many gates. Bits known to be zero make none.
    pub(super) fn binary_room(
        &mut self,
        op: BinaryOp,
        ty: TyId,
        a: &[Bit],
        b: &[Bit],
        span: Span,
    ) -> Done<()> {
        if constant(a).is_some() && constant(b).is_some() {
            return Ok(());
        }
        let frac = match self.lower.tir.shapes.shape(ty) {
            Shape::Fixed(_, frac) => *frac as usize,
            Shape::Float(_) => return self.room(100_000, span),
            _ => 0,
        };
        let wide = a.len() + frac;
        // An AND gate comes with two to five free gates.
        let gates = match op {
            BinaryOp::Mul => self.gates.product_ands(a, b, wide).saturating_mul(3),
            BinaryOp::Div | BinaryOp::Rem => {
                let divisor = b.to_vec().into();
                let divisor: Word = if frac == 0 { divisor } else { divisor.resize_signed(wide) };
                let dividend = Word::zero(wide);
                self.gates.division_ands(&dividend, &divisor).saturating_mul(4)
            }
            BinaryOp::Shl | BinaryOp::Shr => 3 * (wide * b.len().min(20)) as u64,
            _ => 5 * wide as u64,
        };
        self.room(gates, span)
    }

    /// Returns an element of a constant array, by one look-up; zeros beyond the array.
    fn look_up(&mut self, array: &[Bit], width: usize, index: &[Bit], at: Span) -> Done<Word> {
        let len = array.len() / width;
        let inputs = crate::ty::clog2(len as u64) as usize;
        let used = inputs.min(index.len());
        let mut entries: Vec<u64> =
            array.chunks(width).map(|entry| constant(entry).unwrap_or(0) as u64).collect();
        entries.resize(1 << inputs, 0);
        let mut low: Word = index[..used].to_vec().into();
        low = low.resize(inputs);
        let Ok(table) = Table::new(inputs as u32, width as u32, entries) else {
            return self.select_element(array, width, len, index, at);
        };
        let entry = self.gates.lookup(&table, &low);
        let beyond = self.gates.any(&index[used..]);
        Ok(self.gates.and_each(!beyond, &entry))
    }

    fn call(&mut self, frame: &mut Frame, call: usize, args: &[Expr], expr: &Expr) -> Done<Word> {
        let place = frame.instance.calls[call];
        let words = self.arguments(frame, args)?;
        if expr.constant {
            let mut bits = words.iter().flat_map(|word| word.iter());
            if bits.any(|bit| bit.as_constant().is_none()) {
                // The counter of a repeated loop has to be known here.
                return Err(Failed);
            }
            // A call that fails is written out, and fails when it runs.
            if let Some(value) = self.constant_call(place, &words, expr.span)? {
                return Ok(value);
            }
        }
        self.call_with(frame, place, words, expr.span)
    }

    /// Returns the arguments of a call.
    pub(super) fn arguments(&mut self, frame: &mut Frame, args: &[Expr]) -> Done<Vec<Word>> {
        args.iter().map(|arg| self.eval(frame, arg)).collect()
    }

    /// Calls a function with these arguments.
    pub(super) fn call_with(
        &mut self,
        frame: &mut Frame,
        place: InstanceId,
        words: Vec<Word>,
        span: Span,
    ) -> Done<Word> {
        let callee = self.lower.instance(place)?;
        let left = self.left(frame);
        let guarded = left != Bit::ZERO;
        if guarded {
            self.path.push((!left, None));
        }
        let value = match self.lower.called(place, self.whole, &words)? {
            None => self.write_out(place, callee, words)?,
            Some((component, open)) if component.fails => {
                self.call_component(&component, &open, span)?
            }
            Some((component, open)) => {
                self.once(place, &words, |this| this.call_component(&component, &open, span))?
            }
        };
        if guarded {
            self.path.pop();
        }
        Ok(value)
    }

    /// Calls a component with the arguments that its inputs are.
    fn call_component(&mut self, component: &Finished, words: &[Word], span: Span) -> Done<Word> {
        if let Some(never) = component.never
            && self.is_certain()
        {
            self.never_holds(never)?;
        }
        let before = self.account(span);
        let port_bits = component.body.port_bits();
        self.book(span, Totals { calls: 1, port_bits, ..Totals::default() });
        let value = if !component.fails {
            let words: Vec<&Word> = words.iter().collect();
            self.gates.call_words(&component.body, &words).pop().ok_or(Failed)?
        } else {
            let alive = self.alive();
            let alive: Word = self.gates.and_bit(alive, !self.failure.failed).into();
            let words: Vec<&Word> = words.iter().chain([&alive]).collect();
            let mut results = self.gates.call_words(&component.body, &words);
            self.counts.failing_calls += 1;
            // A failure of the callee counts only if nothing has failed before.
            let (code, failed) = (results.pop(), results.pop());
            if let (Some(code), Some(failed)) = (code, failed) {
                self.failure.failed = self.gates.xor_bit(self.failure.failed, failed[0]);
                self.failure.code = self.gates.xor(&self.failure.code, &code);
            }
            results.pop().ok_or(Failed)?
        };
        self.account(before);
        Ok(value)
    }

    /// Computes a call whose arguments are constants, instead of writing it.
    fn constant_call(
        &mut self,
        place: InstanceId,
        words: &[Word],
        span: Span,
    ) -> Done<Option<Word>> {
        let callee = self.lower.instance(place)?;
        let tir = self.lower.tir;
        let mut values = Vec::new();
        for (&param, word) in callee.params.iter().zip(words) {
            let bits: Vec<bool> = word.iter().map(|bit| *bit == Bit::ONE).collect();
            values.push(decode(&tir.shapes, super::local_type(&callee, param), &bits));
        }
        let mut interp = Interp::new(tir);
        interp.steps = self.lower.spent.steps.min(interp.limit);
        interp.limit = super::MAX_STEPS;
        let done = interp.run(&callee, values);
        self.lower.spent.steps = self.lower.spent.steps.max(interp.steps);
        match done {
            Ok(value) => {
                let ty = callee.types[callee.result as usize];
                Ok(Some(self.constant_word(ty, &value)))
            }
            Err(Stop::Assert(_)) => Ok(None),
            Err(Stop::Index) => {
                self.lower.error(Code::Constant, span, "a constant index is out of range")
            }
            Err(Stop::Steps) => {
                self.lower.error(Code::Limit, span, "constants take too many steps")
            }
            Err(Stop::Deep) => self.lower.error(Code::Limit, span, TOO_DEEP),
            Err(Stop::Missing) => Err(Failed),
        }
    }

    /// Notes a failure if the surrounding choices are taken and nothing failed before.
    fn assert(
        &mut self,
        frame: &Frame,
        holds: Bit,
        text: u32,
        constant: bool,
        span: Span,
    ) -> Done<()> {
        if holds == Bit::ONE {
            return Ok(());
        }
        let left = self.left(frame);
        if holds == Bit::ZERO && constant && left == Bit::ZERO && self.is_certain() {
            self.never_holds((text, span))?;
        }
        if constant && holds != Bit::ZERO {
            // The counter of a repeated loop has to be known here.
            return Err(Failed);
        }
        self.book(span, Totals { asserts: 1, ..Totals::default() });
        let mut fails = !holds;
        let alive = self.alive();
        fails = self.gates.and_bit(fails, alive);
        fails = self.gates.and_bit(fails, !left);
        fails = self.gates.and_bit(fails, !self.failure.failed);
        self.failure.failed = self.gates.xor_bit(self.failure.failed, fails);
        let number = assert_number(text);
        for place in 0..self.failure.code.width() {
            if number >> place & 1 == 1 {
                self.failure.code[place] = self.gates.xor_bit(self.failure.code[place], fails);
            }
        }
        Ok(())
    }
}
