//! The search through the pieces of a type.

use std::collections::BTreeSet;

use num_bigint::BigInt;

use crate::tir::{Pattern, PatternKind};
use crate::ty::{Shape, Shapes, TyId};

/// Sorting a range counts as this many steps.
const SORTED: usize = 16;

/// What the patterns of a `match` do.
pub(super) struct Found {
    /// Whether some values match none.
    pub(super) leaves_out: bool,
    /// For each case, whether it takes values that no case before it takes.
    pub(super) reached: Vec<bool>,
}

/// Compares cases, each with whether it has a condition, for values of a type. Adds the steps that
/// it takes to `steps`; returns `None` after more than `most`.
pub(super) fn search(
    shapes: &Shapes,
    cases: &[(Pattern, bool)],
    ty: TyId,
    steps: &mut u64,
    most: u64,
) -> Option<Found> {
    let mut search = Search {
        shapes,
        guarded: cases.iter().map(|case| case.1).collect(),
        reached: vec![false; cases.len()],
        unreached: cases.len(),
        leaves_out: false,
        parts: Vec::new(),
        steps: 0,
        most,
    };
    let mut rows = Vec::with_capacity(cases.len());
    for (case, (pattern, _)) in cases.iter().enumerate() {
        let head = search.part(pattern, ty, 0, None);
        rows.push(Row { case, head });
    }
    let done = search.piece(rows);
    *steps += search.steps;
    done.ok()?;
    Some(Found { leaves_out: search.leaves_out, reached: search.reached })
}

/// There were too many steps.
struct TooLong;

type Done = Result<(), TooLong>;

/// A part of the value that a case asks about, and what else it asks.
#[derive(Clone, Copy)]
struct Part<'p> {
    pattern: &'p Pattern,
    ty: TyId,
    /// Parts further to the left in the value are higher.
    height: usize,
    /// The next part, which is lower.
    next: Option<usize>,
}

/// A case in a piece.
#[derive(Clone, Copy)]
struct Row {
    case: usize,
    /// The first part that it asks about; `None` if it takes all values of the piece.
    head: Option<usize>,
}

struct Search<'p> {
    shapes: &'p Shapes,
    guarded: Vec<bool>,
    reached: Vec<bool>,
    unreached: usize,
    leaves_out: bool,
    /// The parts of the cases in the present piece and in those around it.
    parts: Vec<Part<'p>>,
    steps: u64,
    most: u64,
}

impl<'p> Search<'p> {
    fn step(&mut self, count: usize) -> Done {
        self.steps += count as u64;
        if self.steps > self.most { Err(TooLong) } else { Ok(()) }
    }

    /// Adds a part that a pattern asks about before `next`; returns where to begin.
    fn part(
        &mut self,
        pattern: &'p Pattern,
        ty: TyId,
        height: usize,
        next: Option<usize>,
    ) -> Option<usize> {
        if let PatternKind::Any | PatternKind::Bind(_) = pattern.kind {
            return next;
        }
        self.parts.push(Part { pattern, ty, height, next });
        Some(self.parts.len() - 1)
    }

    /// Returns whether a case takes all values of its piece, so that those after it get none.
    fn takes_all(&self, row: Row) -> bool {
        row.head.is_none() && !self.guarded[row.case]
    }

    /// Returns whether nothing more can be learnt from a case: it may be left out everywhere.
    fn is_idle(&self, row: Row) -> bool {
        self.guarded[row.case] && self.reached[row.case]
    }

    fn reach(&mut self, case: usize) {
        self.unreached -= usize::from(!self.reached[case]);
        self.reached[case] = true;
    }

    /// Looks at a piece with the cases that fit some of its values, in their order.
    fn piece(&mut self, rows: Vec<Row>) -> Done {
        let mark = self.parts.len();
        let done = self.pieces_of(rows);
        self.parts.truncate(mark);
        done
    }

    fn pieces_of(&mut self, mut rows: Vec<Row>) -> Done {
        loop {
            self.step(1 + rows.len())?;
            if self.is_settled(&mut rows) {
                return Ok(());
            }
            let heads = rows.iter().filter_map(|row| row.head);
            let Some(Part { height, ty, .. }) =
                heads.map(|head| self.parts[head]).max_by_key(|part| part.height)
            else {
                return Ok(());
            };
            self.split_alternatives(&mut rows, height)?;
            match self.shapes.shape(ty) {
                Shape::Bool => return self.numbers(rows, height, (0.into(), 1.into())),
                Shape::Int(signed, width) => {
                    return self.numbers(rows, height, range(*signed, *width));
                }
                // Patterns have its bits as an integer.
                Shape::Fixed(int, frac) => {
                    return self.numbers(rows, height, range(true, int + frac));
                }
                Shape::Enum(_, variants) => return self.variants(rows, height, variants),
                Shape::Tuple(_) | Shape::Struct(..) => {
                    let types = self.shapes.parts(ty);
                    for row in &mut rows {
                        *row = self.opened(*row, height, &types)?;
                    }
                }
                Shape::Array(element, _) => {
                    for row in &mut rows {
                        *row = self.opened_array(*row, height, *element)?;
                    }
                }
                // No pattern asks about these.
                Shape::Float(_) => {
                    for row in &mut rows {
                        *row = self.opened(*row, height, &[])?;
                    }
                }
            }
        }
    }

    /// Notes what is known of a piece without a cut, and drops the cases that do not matter in it;
    /// returns whether that is all.
    fn is_settled(&mut self, rows: &mut Vec<Row>) -> bool {
        rows.retain(|row| !self.is_idle(*row));
        let mut first = 0;
        loop {
            let Some(&row) = rows.get(first) else {
                self.leaves_out = true;
                return true;
            };
            if row.head.is_some() {
                break;
            }
            self.reach(row.case);
            if !self.guarded[row.case] {
                return true;
            }
            first += 1;
        }
        rows.drain(..first);
        if let Some(last) = rows.iter().position(|row| self.takes_all(*row)) {
            rows.truncate(last + 1);
        }
        self.leaves_out && rows.iter().all(|row| self.reached[row.case])
    }

    /// Makes a row for each alternative of patterns at this height.
    fn split_alternatives(&mut self, rows: &mut Vec<Row>, height: usize) -> Done {
        let is_or = |row: &Row| {
            self.at(*row, height)
                .is_some_and(|part| matches!(part.pattern.kind, PatternKind::Or(_)))
        };
        if !rows.iter().any(is_or) {
            return Ok(());
        }
        let mut split = Vec::with_capacity(rows.len());
        for row in rows.drain(..) {
            match self.at(row, height) {
                Some(part) => self.alternatives(part, row.case, &mut split)?,
                None => split.push(row),
            }
        }
        *rows = split;
        Ok(())
    }

    fn alternatives(&mut self, part: Part<'p>, case: usize, rows: &mut Vec<Row>) -> Done {
        let PatternKind::Or(patterns) = &part.pattern.kind else {
            self.step(1)?;
            let head = self.part(part.pattern, part.ty, part.height, part.next);
            rows.push(Row { case, head });
            return Ok(());
        };
        patterns
            .iter()
            .try_for_each(|pattern| self.alternatives(Part { pattern, ..part }, case, rows))
    }

    /// Returns what a case asks about the part at this height.
    fn at(&self, row: Row, height: usize) -> Option<Part<'p>> {
        row.head.map(|head| self.parts[head]).filter(|part| part.height == height)
    }

    /// Replaces the part at this height by its own parts, of these types.
    fn opened(&mut self, row: Row, height: usize, types: &[TyId]) -> Result<Row, TooLong> {
        let Some(part) = self.at(row, height) else { return Ok(row) };
        let mut head = part.next;
        if let PatternKind::Tuple(patterns) | PatternKind::Variant(_, patterns) = &part.pattern.kind
        {
            self.step(patterns.len())?;
            let parts = patterns.iter().zip(types).rev().enumerate();
            for (above, (pattern, &ty)) in parts {
                head = self.part(pattern, ty, height + above, head);
            }
        }
        Ok(Row { head, ..row })
    }

    /// Does the same for an array.
    fn opened_array(&mut self, row: Row, height: usize, element: TyId) -> Result<Row, TooLong> {
        let parts = match self.at(row, height).map(|part| &part.pattern.kind) {
            Some(PatternKind::Tuple(parts)) => parts.len(),
            _ => 0,
        };
        self.step(parts)?;
        self.opened(row, height, &vec![element; parts])
    }

    /// Looks at each variant that a case names, and at all others together.
    fn variants(
        &mut self,
        rows: Vec<Row>,
        height: usize,
        variants: &[(crate::ast::Name, Vec<TyId>)],
    ) -> Done {
        let (mut named, mut others) = (Vec::new(), Vec::new());
        for (place, row) in rows.iter().enumerate() {
            match self.at(*row, height).map(|part| &part.pattern.kind) {
                Some(PatternKind::Variant(variant, _)) => named.push((*variant, place)),
                _ => others.push(place),
            }
        }
        named.sort_unstable();
        let mut count = 0;
        for same in named.chunk_by(|a, b| a.0 == b.0) {
            let Some((_, types)) = variants.get(same[0].0) else { continue };
            count += 1;
            let mark = self.parts.len();
            let mut fitting = Vec::new();
            let places = Merged::new(same.iter().map(|one| one.1), others.iter().copied());
            for place in places {
                let row = self.opened(rows[place], height, types)?;
                self.step(1)?;
                fitting.push(row);
                if self.takes_all(row) {
                    break;
                }
            }
            let done = self.piece(fitting);
            self.parts.truncate(mark);
            done?;
            if self.unreached == 0 && self.leaves_out {
                return Ok(());
            }
        }
        if count < variants.len() {
            let rest: Vec<Row> = others.into_iter().map(|place| rows[place]).collect();
            self.piece(rest)?;
        }
        Ok(())
    }

    /// Looks at each range that the cases cut these numbers into; the ranges that no case names
    /// count as one.
    fn numbers(&mut self, rows: Vec<Row>, height: usize, (low, high): (BigInt, BigInt)) -> Done {
        let mut named = Vec::new();
        let mut others = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            match self.at(*row, height).map(|part| &part.pattern.kind) {
                Some(PatternKind::Range(from, to)) => {
                    let (from, to) = (from.max(&low), to.min(&high));
                    if from <= to {
                        named.push((from.clone(), to + 1, place));
                    }
                }
                _ => others.push(place),
            }
        }
        // They are sorted, which takes longer than to look at a case.
        self.step(SORTED * named.len())?;
        let mut cuts: Vec<&BigInt> = named.iter().flat_map(|(from, to, _)| [from, to]).collect();
        let end = high + 1;
        cuts.extend([&low, &end]);
        cuts.sort_unstable();
        cuts.dedup();
        let rank = |number: &BigInt| cuts.partition_point(|cut| *cut < number);
        let mut changes: Vec<(usize, bool, usize)> = Vec::with_capacity(2 * named.len());
        for (from, to, place) in &named {
            changes.push((rank(from), true, *place));
            changes.push((rank(to), false, *place));
        }
        changes.sort_unstable();
        let ranges = cuts.len() - 1;
        let mut changes = changes.into_iter().peekable();
        // The cases that name the present range.
        let mut here: BTreeSet<usize> = BTreeSet::new();
        let mut is_rest_done = false;
        for range in 0..ranges {
            while let Some((_, begins, place)) = changes.next_if(|change| change.0 == range) {
                if begins {
                    here.insert(place);
                } else {
                    here.remove(&place);
                }
            }
            if here.is_empty() && std::mem::replace(&mut is_rest_done, true) {
                continue;
            }
            let mut fitting = Vec::new();
            let mut idle = 0;
            for place in Merged::new(here.iter().copied(), others.iter().copied()) {
                self.step(1)?;
                let mut row = rows[place];
                if self.is_idle(row) {
                    idle += 1;
                    continue;
                }
                if let Some(part) = self.at(row, height) {
                    row.head = part.next;
                }
                fitting.push(row);
                if self.takes_all(row) {
                    break;
                }
            }
            self.piece(fitting)?;
            if self.unreached == 0 && self.leaves_out {
                return Ok(());
            }
            // Cases with a condition that are reached would be passed over again and again.
            if idle > 16 {
                here.retain(|&place| !self.is_idle(rows[place]));
                others.retain(|&place| !self.is_idle(rows[place]));
            }
        }
        Ok(())
    }
}

/// Returns the least and the greatest integer of a type.
pub(super) fn range(signed: bool, width: u32) -> (BigInt, BigInt) {
    let top = (BigInt::from(1) << width) - 1;
    let low = match width.checked_sub(1) {
        Some(below) if signed => -(BigInt::from(1) << below),
        _ => BigInt::ZERO,
    };
    let high = top + &low;
    (low, high)
}

/// Two ascending lists of places as one.
struct Merged<A: Iterator<Item = usize>, B: Iterator<Item = usize>> {
    a: std::iter::Peekable<A>,
    b: std::iter::Peekable<B>,
}

impl<A: Iterator<Item = usize>, B: Iterator<Item = usize>> Merged<A, B> {
    fn new(a: A, b: B) -> Self {
        Merged { a: a.peekable(), b: b.peekable() }
    }
}

impl<A: Iterator<Item = usize>, B: Iterator<Item = usize>> Iterator for Merged<A, B> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match (self.a.peek(), self.b.peek()) {
            (Some(a), Some(b)) if b < a => self.b.next(),
            (None, _) => self.b.next(),
            _ => self.a.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::Id;
    use crate::source::Span;
    use crate::ty::{Len, Ty};

    fn pattern(kind: PatternKind) -> Pattern {
        Pattern { kind, ty: 0, span: Span::default() }
    }

    /// The types of the test: `u2`, `bool`, an enumeration of `A`, `B(u2)` and `C(bool, u2)`, and a
    /// tuple of all.
    fn types() -> (Shapes, TyId) {
        let mut shapes = Shapes::default();
        let small = Ty::Int(false, Len::Known(2));
        let number = shapes.add(small.clone(), Shape::Int(false, 2)).unwrap();
        let truth = shapes.add(Ty::Bool, Shape::Bool).unwrap();
        let variants = vec![
            ("A".into(), vec![]),
            ("B".into(), vec![number]),
            ("C".into(), vec![truth, number]),
        ];
        let choice = Ty::Adt(Id::of(0), Vec::new());
        let made = shapes.add(choice.clone(), Shape::Enum("E".into(), variants)).unwrap();
        let all = Ty::Tuple(vec![small, Ty::Bool, choice]);
        let all = shapes.add(all, Shape::Tuple(vec![number, truth, made])).unwrap();
        (shapes, all)
    }

    #[derive(Debug, Clone, PartialEq)]
    enum Known {
        Number(u8),
        Parts(usize, Vec<Known>),
    }

    /// All values of the tuple.
    fn values() -> Vec<Known> {
        let numbers = || (0..4).map(Known::Number);
        let truths = || (0..2).map(Known::Number);
        let mut choices = vec![Known::Parts(0, vec![])];
        choices.extend(numbers().map(|n| Known::Parts(1, vec![n])));
        for truth in truths() {
            choices.extend(numbers().map(|n| Known::Parts(2, vec![truth.clone(), n])));
        }
        let mut all = Vec::new();
        for n in numbers() {
            for t in truths() {
                for c in &choices {
                    all.push(Known::Parts(0, vec![n.clone(), t.clone(), c.clone()]));
                }
            }
        }
        all
    }

    fn fits(pattern: &Pattern, value: &Known) -> bool {
        match (&pattern.kind, value) {
            (PatternKind::Any | PatternKind::Bind(_), _) => true,
            (PatternKind::Range(from, to), Known::Number(n)) => {
                *from <= BigInt::from(*n) && BigInt::from(*n) <= *to
            }
            (PatternKind::Tuple(parts), Known::Parts(_, values)) => {
                parts.iter().zip(values).all(|(part, value)| fits(part, value))
            }
            (PatternKind::Variant(wanted, parts), Known::Parts(variant, values)) => {
                wanted == variant && parts.iter().zip(values).all(|(part, v)| fits(part, v))
            }
            (PatternKind::Or(patterns), value) => patterns.iter().any(|one| fits(one, value)),
            _ => false,
        }
    }

    fn wild() -> BoxedStrategy<Pattern> {
        Just(pattern(PatternKind::Any)).boxed()
    }

    fn or(one: BoxedStrategy<Pattern>) -> BoxedStrategy<Pattern> {
        let some = proptest::collection::vec(one.clone(), 2..4);
        prop_oneof![4 => one, 1 => some.prop_map(|all| pattern(PatternKind::Or(all)))].boxed()
    }

    fn number(top: u8) -> BoxedStrategy<Pattern> {
        let range = (0..=top, 0..=top)
            .prop_map(|(a, b)| pattern(PatternKind::Range(a.min(b).into(), a.max(b).into())));
        or(prop_oneof![1 => wild(), 2 => range].boxed())
    }

    fn choice() -> BoxedStrategy<Pattern> {
        let a = Just(pattern(PatternKind::Variant(0, vec![]))).boxed();
        let b = number(3).prop_map(|n| pattern(PatternKind::Variant(1, vec![n])));
        let c =
            (number(1), number(3)).prop_map(|(t, n)| pattern(PatternKind::Variant(2, vec![t, n])));
        or(prop_oneof![wild(), a, b, c].boxed())
    }

    fn whole() -> BoxedStrategy<Pattern> {
        let tuple = (number(3), number(1), choice())
            .prop_map(|(n, t, c)| pattern(PatternKind::Tuple(vec![n, t, c])));
        or(prop_oneof![1 => wild(), 12 => tuple].boxed())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The search says what all values, tried one by one, say.
        #[test]
        fn agrees_with_trying_all_values(
            cases in proptest::collection::vec((whole(), any::<bool>()), 0..12),
        ) {
            let (shapes, ty) = types();
            let found = search(&shapes, &cases, ty, &mut 0, u64::MAX).unwrap();
            let mut reached = vec![false; cases.len()];
            let mut leaves_out = false;
            for value in values() {
                let mut open = true;
                for ((pattern, guarded), reached) in cases.iter().zip(&mut reached) {
                    if open && fits(pattern, &value) {
                        *reached = true;
                        open = *guarded;
                    }
                }
                leaves_out |= open;
            }
            prop_assert_eq!(found.leaves_out, leaves_out);
            prop_assert_eq!(found.reached, reached);
        }
    }

    /// Returns the steps that cases take.
    fn steps(cases: &[(Pattern, bool)], shapes: &Shapes, ty: TyId) -> u64 {
        let mut steps = 0;
        assert!(search(shapes, cases, ty, &mut steps, u64::MAX).is_some());
        steps
    }

    fn between(from: u32, to: u32) -> Pattern {
        pattern(PatternKind::Range(from.into(), to.into()))
    }

    #[test]
    fn takes_steps_in_proportion_to_the_cases() {
        let mut shapes = Shapes::default();
        let written = Ty::size();
        let number = shapes.add(written.clone(), Shape::Int(false, 32)).unwrap();
        let pair = Ty::Tuple(vec![written.clone(), written]);
        let pair = shapes.add(pair, Shape::Tuple(vec![number, number])).unwrap();
        let any = || pattern(PatternKind::Any);
        let tuple = |a, b| pattern(PatternKind::Tuple(vec![a, b]));
        let n = 4000u32;
        type Make<'a> = &'a dyn Fn(u32) -> (Pattern, bool);
        let shapes_of_cases: [(&str, TyId, Make<'_>); 7] = [
            ("literals", number, &|i| (between(i * 7919, i * 7919), false)),
            ("literals with conditions", number, &|i| (between(i, i), true)),
            ("only conditions", number, &|_| (any(), true)),
            ("conditions and literals", number, &|i| match i % 2 {
                0 => (any(), true),
                _ => (between(i, i), false),
            }),
            ("nested ranges", number, &|i| (between(n - i, n + i), false)),
            ("pairs", pair, &|i| (tuple(between(i, i), between(7 * i, 7 * i)), false)),
            ("the second of pairs", pair, &|i| (tuple(any(), between(i, i)), false)),
        ];
        for (name, ty, case) in shapes_of_cases {
            let mut cases: Vec<_> = (0..n).map(case).collect();
            cases.push((any(), false));
            let taken = steps(&cases, &shapes, ty);
            assert!(taken < 100 * u64::from(n), "{name}: {taken} steps");
        }
        let alternatives = (0..n).map(|i| between(3 * i, 3 * i + 1)).collect();
        let cases = [(pattern(PatternKind::Or(alternatives)), false), (any(), false)];
        assert!(steps(&cases, &shapes, number) < 100 * u64::from(n));
    }
}
