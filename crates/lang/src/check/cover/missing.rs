//! A value that the cases of a `match` leave out, for the message.

use num_bigint::BigInt;

use crate::tir::{Pattern, PatternKind};
use crate::ty::{Shape, Shapes, TyId};

/// The search ends after this many steps: a message can do without a value.
const MAX_STEPS: u32 = 1 << 16;

/// A longer value is not shown.
const MOST_SHOWN: usize = 80;

/// Returns a value, as a pattern, that no case without a condition takes.
pub(super) fn missing(shapes: &Shapes, cases: &[(Pattern, bool)], ty: TyId) -> Option<String> {
    let mut rows = Vec::new();
    for (pattern, _) in cases.iter().filter(|case| !case.1) {
        rows.push(vec![pattern]);
    }
    let mut search = Search { shapes, steps: 0 };
    let mut shown = search.outside(rows, &[ty])?;
    shown.pop().filter(|shown| shown.chars().count() <= MOST_SHOWN)
}

struct Search<'s> {
    shapes: &'s Shapes,
    steps: u32,
}

impl Search<'_> {
    /// Returns values of these types that none of the rows takes, as patterns.
    fn outside(&mut self, rows: Vec<Vec<&Pattern>>, types: &[TyId]) -> Option<Vec<String>> {
        let steps = (1 + rows.len() + types.len()).try_into().unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return None;
        }
        let Some((&ty, rest)) = types.split_first() else {
            return rows.is_empty().then(Vec::new);
        };
        let rows = alternatives(rows);
        let asks = |row: &Vec<&Pattern>| !takes_any(row[0]);
        if !rows.iter().any(asks) {
            let tails = rows.iter().map(|row| row[1..].to_vec()).collect();
            return Some(before("_".to_string(), self.outside(tails, rest)?));
        }
        match self.shapes.shape(ty) {
            Shape::Bool => self.outside_numbers(&rows, rest, (0.into(), 1.into()), true),
            Shape::Int(signed, width) => {
                self.outside_numbers(&rows, rest, super::search::range(*signed, *width), false)
            }
            Shape::Fixed(..) | Shape::Float(_) => None,
            Shape::Tuple(parts) => {
                let mut found = self.opened(&rows, None, parts, rest)?;
                let own: Vec<String> = found.drain(..parts.len()).collect();
                let comma = if own.len() == 1 { "," } else { "" };
                Some(before(format!("({}{comma})", own.join(", ")), found))
            }
            Shape::Array(element, _) => {
                let len = rows.iter().find_map(|row| match &row[0].kind {
                    PatternKind::Tuple(parts) => Some(parts.len()),
                    _ => None,
                })?;
                let mut found = self.opened(&rows, None, &vec![*element; len], rest)?;
                let own: Vec<String> = found.drain(..len).collect();
                Some(before(format!("[{}]", own.join(", ")), found))
            }
            Shape::Struct(name, fields) => {
                let parts: Vec<TyId> = fields.iter().map(|field| field.1).collect();
                let mut found = self.opened(&rows, None, &parts, rest)?;
                let own = fields.iter().zip(found.drain(..parts.len()));
                let own: Vec<String> = own
                    .filter(|(_, value)| value != "_")
                    .map(|((field, _), value)| format!("{field}: {value}, "))
                    .collect();
                Some(before(format!("{name} {{ {}.. }}", own.concat()), found))
            }
            Shape::Enum(name, variants) => {
                for (place, (variant, parts)) in variants.iter().enumerate() {
                    let Some(mut found) = self.opened(&rows, Some(place), parts, rest) else {
                        continue;
                    };
                    let own: Vec<String> = found.drain(..parts.len()).collect();
                    let path = match &**name {
                        "Option" => variant.to_string(),
                        _ => format!("{name}::{variant}"),
                    };
                    let own =
                        if own.is_empty() { path } else { format!("{path}({})", own.join(", ")) };
                    return Some(before(own, found));
                }
                None
            }
        }
    }

    /// Goes on with the parts of the first value, of this variant if it has variants.
    fn opened(
        &mut self,
        rows: &[Vec<&Pattern>],
        variant: Option<usize>,
        parts: &[TyId],
        rest: &[TyId],
    ) -> Option<Vec<String>> {
        let any = Pattern { kind: PatternKind::Any, ty: 0, span: Default::default() };
        let steps = (rows.len() as u32).saturating_mul(1 + parts.len() as u32);
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return None;
        }
        let mut inner = Vec::new();
        for row in rows {
            let mut own: Vec<&Pattern> = match &row[0].kind {
                PatternKind::Tuple(patterns) => patterns.iter().collect(),
                PatternKind::Variant(other, _) if Some(*other) != variant => continue,
                PatternKind::Variant(_, patterns) => patterns.iter().collect(),
                _ => vec![&any; parts.len()],
            };
            own.extend(&row[1..]);
            inner.push(own);
        }
        let types: Vec<TyId> = parts.iter().chain(rest).copied().collect();
        self.outside(inner, &types)
    }

    /// Looks for a number in each range that the rows cut the numbers into.
    fn outside_numbers(
        &mut self,
        rows: &[Vec<&Pattern>],
        rest: &[TyId],
        (low, high): (BigInt, BigInt),
        truth: bool,
    ) -> Option<Vec<String>> {
        let mut cuts = vec![low];
        for row in rows {
            if let PatternKind::Range(from, to) = &row[0].kind {
                cuts.extend([from.clone(), to + 1]);
            }
        }
        cuts.retain(|cut| *cut <= high);
        cuts.sort();
        cuts.dedup();
        for (place, first) in cuts.iter().enumerate() {
            self.steps = self.steps.saturating_add(rows.len() as u32);
            if self.steps > MAX_STEPS {
                return None;
            }
            let last = cuts.get(place + 1).map_or_else(|| high.clone(), |next| next - 1);
            let holds = |row: &&Vec<&Pattern>| match &row[0].kind {
                PatternKind::Range(from, to) => from <= first && first <= to,
                _ => true,
            };
            let tails = rows.iter().filter(holds).map(|row| row[1..].to_vec()).collect();
            let Some(found) = self.outside(tails, rest) else { continue };
            let shown = match truth {
                true if *first == last => (*first == BigInt::from(1)).to_string(),
                true => "_".to_string(),
                false if *first == last => first.to_string(),
                false => format!("{first}..={last}"),
            };
            return Some(before(shown, found));
        }
        None
    }
}

fn takes_any(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Any | PatternKind::Bind(_))
}

/// Makes a row for each alternative of the first pattern of a row.
fn alternatives(rows: Vec<Vec<&Pattern>>) -> Vec<Vec<&Pattern>> {
    let mut all = Vec::new();
    for row in rows {
        add_alternatives(row[0], &row[1..], &mut all);
    }
    all
}

fn add_alternatives<'p>(
    pattern: &'p Pattern,
    rest: &[&'p Pattern],
    all: &mut Vec<Vec<&'p Pattern>>,
) {
    if let PatternKind::Or(patterns) = &pattern.kind {
        patterns.iter().for_each(|pattern| add_alternatives(pattern, rest, all));
        return;
    }
    let mut row = vec![pattern];
    row.extend(rest);
    all.push(row);
}

/// Puts a value before others.
fn before(value: String, mut others: Vec<String>) -> Vec<String> {
    others.insert(0, value);
    others
}
