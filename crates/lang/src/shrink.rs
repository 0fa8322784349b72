//! Values for tests: random ones, and the smallest ones with which a test fails.
//!
//! Smaller is nearer to 0, positive before negative, whole before broken, and an earlier variant.

use num_bigint::{BigInt, Sign};

use crate::ty::{Precision, Shape, Shapes, TyId};

/// The bits of some values.
pub(crate) type Bits = Vec<Vec<bool>>;

/// Values of few steps are all tried, at most this many.
const MOST_SMALL: u64 = 1000;

/// Pairs of numbers are made smaller together in values of at most this many numbers.
const MOST_PAIRED: usize = 16;

/// What a number in a value is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Unsigned,
    /// With this many bits after the point.
    Signed(usize),
    Float(Precision),
    /// The number of a variant, of this many; its payload takes this many bits.
    Tag(u64, usize),
}

/// A number in the bits of one of the values.
#[derive(Clone, Copy)]
struct Leaf {
    value: usize,
    start: usize,
    width: usize,
    kind: Kind,
}

/// Finds smaller values with which a test fails, beginning with some. `fails` returns `None` once
/// it has been asked often enough.
pub(crate) fn smallest(
    shapes: &Shapes,
    types: &[TyId],
    bits: &Bits,
    fails: &mut dyn FnMut(&Bits) -> Option<bool>,
) -> Bits {
    if let Some(small) = small(shapes, types, bits, fails) {
        return small;
    }
    let mut bits = bits.clone();
    let mut fails = |bits: &Bits| fails(bits).unwrap_or(false);
    clear(shapes, types, &mut bits, &mut fails);
    loop {
        let single = lower_each(shapes, types, &mut bits, &mut fails);
        if !single && !lower_pairs(shapes, types, &mut bits, &mut fails) {
            return bits;
        }
    }
}

/// Tries all values of few steps, those of the fewest first.
fn small(
    shapes: &Shapes,
    types: &[TyId],
    bits: &Bits,
    fails: &mut dyn FnMut(&Bits) -> Option<bool>,
) -> Option<Bits> {
    let zero: Bits = bits.iter().map(|bits| vec![false; bits.len()]).collect();
    let leaves = leaves(shapes, types, &zero);
    let (mut level, mut all) = (1u64, 0);
    for steps in 0u64.. {
        // There are C(leaves + steps - 1, steps) ways to spend the steps.
        let ways = level * (leaves.len() as u64 + steps).saturating_sub(1);
        level = ways.checked_div(steps).unwrap_or(1);
        all += level;
        if all > MOST_SMALL || (steps > 0 && leaves.is_empty()) {
            return None;
        }
        let mut found = None;
        let mut tried = zero.clone();
        spend(&leaves, steps, &mut tried, &mut |bits| match fails(bits) {
            Some(false) => false,
            done => {
                found = done.map(|_| bits.clone());
                true
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Shows all ways to spend some steps on these numbers, until `see` returns that it has enough.
fn spend(leaves: &[Leaf], steps: u64, bits: &mut Bits, see: &mut dyn FnMut(&Bits) -> bool) -> bool {
    let Some((leaf, rest)) = leaves.split_first() else { return steps == 0 && see(bits) };
    let least = if rest.is_empty() { steps } else { 0 };
    for own in (least..=steps).rev() {
        if let Some(number) = leaf.step(own) {
            leaf.set(bits, &number);
            if spend(rest, steps - own, bits, see) {
                return true;
            }
        }
    }
    leaf.set(bits, &BigInt::ZERO);
    false
}

/// Clears runs of numbers, the longest first.
fn clear(shapes: &Shapes, types: &[TyId], bits: &mut Bits, fails: &mut dyn FnMut(&Bits) -> bool) {
    let mut size = leaves(shapes, types, bits).len();
    while size > 0 {
        let mut from = 0;
        loop {
            // A cleared variant may have fewer numbers.
            let leaves = leaves(shapes, types, bits);
            if from >= leaves.len() {
                break;
            }
            let mut tried = bits.clone();
            let run = &leaves[from..leaves.len().min(from + size)];
            run.iter().for_each(|leaf| leaf.set(&mut tried, &BigInt::ZERO));
            if tried != *bits && fails(&tried) {
                *bits = tried;
            }
            from += size;
        }
        size /= 2;
    }
}

/// Makes each number as small as the test still fails; returns whether one became smaller.
fn lower_each(
    shapes: &Shapes,
    types: &[TyId],
    bits: &mut Bits,
    fails: &mut dyn FnMut(&Bits) -> bool,
) -> bool {
    let (mut any, mut place) = (false, 0);
    while let Some(&leaf) = leaves(shapes, types, bits).get(place) {
        let smaller = leaf.smaller(&leaf.get(bits)).into_iter().find_map(|number| {
            let mut tried = bits.clone();
            leaf.set(&mut tried, &number);
            fails(&tried).then_some(tried)
        });
        match smaller {
            Some(smaller) => (*bits, any) = (smaller, true),
            None => place += 1,
        }
    }
    any
}

/// Makes two numbers smaller by the same amount, or equal numbers to the same number; returns
/// whether there were any.
fn lower_pairs(
    shapes: &Shapes,
    types: &[TyId],
    bits: &mut Bits,
    fails: &mut dyn FnMut(&Bits) -> bool,
) -> bool {
    let leaves = leaves(shapes, types, bits);
    if leaves.len() > MOST_PAIRED {
        return false;
    }
    for (place, a) in leaves.iter().enumerate() {
        for b in &leaves[place + 1..] {
            if a.kind != b.kind || matches!(a.kind, Kind::Float(_) | Kind::Tag(..)) {
                continue;
            }
            let (first, second) = (a.get(bits), b.get(bits));
            for smaller in a.smaller(&first) {
                let other = &second - (&first - &smaller);
                if !b.holds(&other) || b.measure(&other) >= b.measure(&second) {
                    continue;
                }
                let mut tried = bits.clone();
                a.set(&mut tried, &smaller);
                b.set(&mut tried, &other);
                if fails(&tried) {
                    *bits = tried;
                    return true;
                }
            }
        }
    }
    false
}

/// Draws values: half of the numbers uniformly, the others small or at the ends of their types.
pub(crate) fn draw(shapes: &Shapes, types: &[TyId], random: &mut dyn FnMut() -> bool) -> Bits {
    let widths = types.iter().map(|&ty| shapes.width(ty) as usize);
    let mut bits: Bits = widths.map(|width| (0..width).map(|_| random()).collect()).collect();
    let mut place = 0;
    while let Some(&leaf) = leaves(shapes, types, &bits).get(place) {
        place += 1;
        if matches!(leaf.kind, Kind::Tag(..)) || random() {
            continue;
        }
        let part = &mut bits[leaf.value][leaf.start..leaf.start + leaf.width];
        if random() {
            // Few bits.
            let mut kept = 0;
            while kept < part.len() && random() {
                kept += 1;
            }
            part[kept..].fill(false);
        } else {
            // All but the highest bit are equal: 0, 1 less than 0, and both ends.
            let (low, high) = (random(), random());
            part.fill(low);
            if let Some(last) = part.last_mut() {
                *last = high;
            }
        }
    }
    bits
}

impl Leaf {
    fn get(&self, bits: &Bits) -> BigInt {
        let part = &bits[self.value][self.start..self.start + self.width];
        let mut bytes = vec![0u8; part.len().div_ceil(8)];
        for (place, _) in part.iter().enumerate().filter(|(_, bit)| **bit) {
            bytes[place / 8] |= 1 << (place % 8);
        }
        let number = BigInt::from_bytes_le(Sign::Plus, &bytes);
        match (self.kind, part.last()) {
            (Kind::Signed(_), Some(true)) => number - (BigInt::from(1) << self.width),
            _ => number,
        }
    }

    fn set(&self, bits: &mut Bits, number: &BigInt) {
        let part = &mut bits[self.value][self.start..];
        for (place, bit) in part[..self.width].iter_mut().enumerate() {
            *bit = number.bit(place as u64);
        }
        if let Kind::Tag(_, payload) = self.kind {
            part[self.width..self.width + payload].fill(false);
        }
    }

    fn holds(&self, number: &BigInt) -> bool {
        match self.kind {
            Kind::Tag(variants, _) => !is_negative(number) && *number < variants.into(),
            Kind::Signed(_) if is_negative(number) => (-number - 1u32).bits() < self.width as u64,
            Kind::Signed(_) => number.bits() < (self.width as u64).max(1),
            _ => !is_negative(number) && number.bits() <= self.width as u64,
        }
    }

    /// Returns the number that is this many steps away from 0, if there is one.
    fn step(&self, steps: u64) -> Option<BigInt> {
        let signed = || match steps % 2 {
            1 => i64::try_from(steps / 2 + 1).ok(),
            _ => i64::try_from(steps / 2).ok().map(|n| -n),
        };
        let number = match self.kind {
            Kind::Unsigned | Kind::Tag(..) => BigInt::from(steps),
            Kind::Signed(frac) => BigInt::from(signed()?) << frac,
            Kind::Float(precision) => pattern(precision, signed()? as f64),
        };
        self.holds(&number).then_some(number)
    }

    /// Returns numbers that are smaller, those that are much smaller first.
    fn smaller(&self, number: &BigInt) -> Vec<BigInt> {
        let mut smaller = vec![BigInt::ZERO];
        match self.kind {
            Kind::Float(precision) => {
                let value = float(precision, number);
                for new in [-value, value.trunc(), value / 2.0, (value / 2.0).trunc(), 1.0] {
                    smaller.push(pattern(precision, new));
                }
            }
            Kind::Unsigned | Kind::Tag(..) | Kind::Signed(_) => {
                let frac = if let Kind::Signed(frac) = self.kind { frac } else { 0 };
                let one = BigInt::from(1) << frac;
                let whole = number / &one;
                smaller.extend([-number, &whole * &one]);
                // Whole numbers stay whole.
                let is_whole = number % &one == BigInt::ZERO;
                let (unit, count) =
                    if is_whole { (one, whole) } else { (1.into(), number.clone()) };
                let mut less = &count / 2;
                while less != BigInt::ZERO {
                    smaller.push((&count - &less) * &unit);
                    less /= 2;
                }
            }
        }
        let own = self.measure(number);
        smaller.retain(|new| self.holds(new) && self.measure(new) < own);
        smaller
    }

    /// Returns what orders numbers by their size.
    fn measure(&self, number: &BigInt) -> (bool, BigInt, bool) {
        match self.kind {
            Kind::Float(precision) => {
                let value = float(precision, number);
                let positive = pattern(precision, value.abs());
                (value.fract() != 0.0, positive, value.is_sign_negative())
            }
            Kind::Signed(frac) => {
                let whole = number % (BigInt::from(1) << frac) == BigInt::ZERO;
                (!whole, number.magnitude().clone().into(), is_negative(number))
            }
            Kind::Unsigned | Kind::Tag(..) => (false, number.clone(), false),
        }
    }
}

fn is_negative(number: &BigInt) -> bool {
    number.sign() == Sign::Minus
}

/// Returns the number that has these bits.
fn float(precision: Precision, bits: &BigInt) -> f64 {
    let bits = u64::try_from(bits).unwrap_or(0);
    match precision {
        Precision::Single => f64::from(f32::from_bits(bits as u32)),
        Precision::Double => f64::from_bits(bits),
    }
}

/// Returns the bits of a number.
fn pattern(precision: Precision, number: f64) -> BigInt {
    match precision {
        Precision::Single => (number as f32).to_bits().into(),
        Precision::Double => number.to_bits().into(),
    }
}

/// Returns the numbers in some values, in order.
fn leaves(shapes: &Shapes, types: &[TyId], bits: &Bits) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for (value, (&ty, bits)) in types.iter().zip(bits).enumerate() {
        add(shapes, ty, (value, bits, 0), &mut leaves);
    }
    leaves
}

/// Adds the numbers of a part of a value, which begins at a bit.
fn add(
    shapes: &Shapes,
    ty: TyId,
    (value, bits, start): (usize, &[bool], usize),
    leaves: &mut Vec<Leaf>,
) {
    let width = shapes.width(ty) as usize;
    let kind = match shapes.shape(ty) {
        Shape::Bool | Shape::Int(false, _) => Kind::Unsigned,
        Shape::Int(true, _) => Kind::Signed(0),
        Shape::Fixed(_, frac) => Kind::Signed(*frac as usize),
        Shape::Float(precision) => Kind::Float(*precision),
        Shape::Array(element, len) => {
            let each = shapes.width(*element) as usize;
            for place in 0..if each == 0 { 0 } else { *len as usize } {
                add(shapes, *element, (value, bits, start + place * each), leaves);
            }
            return;
        }
        Shape::Tuple(_) | Shape::Struct(..) => {
            for place in 0..shapes.parts(ty).len() {
                let (from, part) = shapes.part(ty, place);
                add(shapes, part, (value, bits, start + from), leaves);
            }
            return;
        }
        Shape::Enum(_, variants) => {
            let tag = shapes.tag_bits(ty);
            let kind = Kind::Tag(variants.len() as u64, width - tag);
            leaves.push(Leaf { value, start, width: tag, kind });
            let number = bits[start..start + tag].iter().rev();
            let number = number.fold(0, |number, &bit| 2 * number + usize::from(bit));
            // An invalid variant is read as the first one.
            let variant = if number < variants.len() { number } else { 0 };
            let mut from = start + tag;
            for part in shapes.payload(ty, variant) {
                add(shapes, part, (value, bits, from), leaves);
                from += shapes.width(part) as usize;
            }
            return;
        }
    };
    if width > 0 {
        leaves.push(Leaf { value, start, width, kind });
    }
}
