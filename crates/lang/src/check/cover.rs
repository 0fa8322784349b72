//! Whether patterns cover all values: Maranget's usefulness (Warnings for pattern matching, JFP
//! 2007, section 3), with ranges of integers split where patterns begin and end.

use num_bigint::BigInt;

use super::{Coverage, FnCx};
use crate::diag::Code;
use crate::tir::{Pattern, PatternKind};
use crate::ty::{Shape, Shapes, TyId};

/// The most steps of the search. At the limit it decides from what it has seen.
const MOST_STEPS: u32 = 100_000;

impl FnCx<'_, '_> {
    /// Reports every `match` that leaves values out, every case that nothing reaches, and every
    /// binding that can fail.
    pub(super) fn check_cover(&mut self, types: &[TyId]) {
        for coverage in std::mem::take(&mut self.matches) {
            let Coverage { patterns, ty, span, is_binding } = coverage;
            let mut search = Search { shapes: &self.cx.tir.shapes, steps: 0 };
            let ty = types[ty as usize];
            let mut rows: Vec<Vec<Cell>> = Vec::new();
            let mut unreachable = Vec::new();
            for (pattern, guarded) in &patterns {
                let row = vec![cell(pattern)];
                if !search.useful(&rows, &row, &[ty]) {
                    unreachable.push(pattern.span);
                }
                if !guarded {
                    rows.push(row);
                }
            }
            let open = search.useful(&rows, &[Cell::Any], &[ty]);
            let too_long = search.steps >= MOST_STEPS;
            if too_long {
                self.error(Code::Limit, span, "these patterns take too long to compare");
            } else if open && is_binding {
                let error =
                    self.diagnostic(Code::Pattern, span, "this pattern does not match all values");
                self.cx.errors.push(error.help("use `if let` or `match`"));
            } else if open {
                let error = self.diagnostic(Code::Pattern, span, "this `match` leaves values out");
                self.cx.errors.push(error.help("add the missing cases, or `_ => …`"));
            }
            let told = !too_long && patterns.len() > 1 && !self.allows_unreachable;
            for span in unreachable.into_iter().filter(|_| told) {
                self.error(Code::Lint, span, "the cases before this one take all its values");
            }
        }
    }
}

#[derive(Clone)]
enum Cell {
    Any,
    Range(BigInt, BigInt),
    /// A variant, or the only form of a tuple (0), with its parts.
    Form(usize, Vec<Cell>),
    Or(Vec<Cell>),
}

fn cell(pattern: &Pattern) -> Cell {
    match &pattern.kind {
        PatternKind::Any | PatternKind::Bind(_) => Cell::Any,
        PatternKind::Range(low, high) => Cell::Range(low.clone(), high.clone()),
        PatternKind::Tuple(parts) => Cell::Form(0, parts.iter().map(cell).collect()),
        PatternKind::Variant(variant, parts) => {
            Cell::Form(*variant, parts.iter().map(cell).collect())
        }
        PatternKind::Or(patterns) => Cell::Or(patterns.iter().map(cell).collect()),
    }
}

struct Search<'a> {
    shapes: &'a Shapes,
    steps: u32,
}

impl Search<'_> {
    /// Returns whether some values match `row` and none of `rows`.
    fn useful(&mut self, rows: &[Vec<Cell>], row: &[Cell], types: &[TyId]) -> bool {
        self.steps += 1;
        if self.steps >= MOST_STEPS {
            return false;
        }
        let Some((first, rest)) = row.split_first() else { return rows.is_empty() };
        if let Cell::Or(cells) = first {
            return cells.clone().into_iter().any(|cell| {
                let row: Vec<Cell> = std::iter::once(cell).chain(rest.iter().cloned()).collect();
                self.useful(rows, &row, types)
            });
        }
        let rows: Vec<Vec<Cell>> = rows.iter().flat_map(|row| split_or(row)).collect();
        match self.shapes.shape(types[0]).clone() {
            Shape::Bool => self.numbers(&rows, row, types, 0.into(), 1.into()),
            Shape::Int(signed, width) => self.integers(&rows, row, types, signed, width),
            // Patterns have its bits as an integer.
            Shape::Fixed(int, frac) => self.integers(&rows, row, types, true, int + frac),
            Shape::Enum(_, variants) => {
                let wanted: Vec<usize> = match first {
                    Cell::Form(variant, _) => vec![*variant],
                    _ => (0..variants.len()).collect(),
                };
                wanted.into_iter().any(|v| self.form(&rows, row, types, v, &variants[v].1))
            }
            Shape::Tuple(_) | Shape::Struct(..) => {
                let parts = self.shapes.parts(types[0]);
                self.form(&rows, row, types, 0, &parts)
            }
            Shape::Array(..) | Shape::Float(_) => {
                let rows: Vec<Vec<Cell>> = rows.iter().map(|row| row[1..].to_vec()).collect();
                self.useful(&rows, rest, &types[1..])
            }
        }
    }

    /// Answers [`Self::useful`] for values of one form.
    fn form(
        &mut self,
        rows: &[Vec<Cell>],
        row: &[Cell],
        types: &[TyId],
        form: usize,
        parts: &[TyId],
    ) -> bool {
        let open = |row: &[Cell]| -> Option<Vec<Cell>> {
            let inner = match &row[0] {
                Cell::Form(f, inner) if *f == form => inner.clone(),
                Cell::Any => vec![Cell::Any; parts.len()],
                _ => return None,
            };
            Some(inner.into_iter().chain(row[1..].iter().cloned()).collect())
        };
        let rows: Vec<Vec<Cell>> = rows.iter().filter_map(|row| open(row)).collect();
        let Some(row) = open(row) else { return false };
        let types: Vec<TyId> = parts.iter().chain(&types[1..]).copied().collect();
        self.useful(&rows, &row, &types)
    }

    /// Answers [`Self::useful`] for integers of this width.
    fn integers(
        &mut self,
        rows: &[Vec<Cell>],
        row: &[Cell],
        types: &[TyId],
        signed: bool,
        width: u32,
    ) -> bool {
        let top = (BigInt::from(1) << width) - 1;
        let low = match width.checked_sub(1) {
            Some(below) if signed => -(BigInt::from(1) << below),
            _ => BigInt::ZERO,
        };
        let high: BigInt = top + &low;
        self.numbers(rows, row, types, low, high)
    }

    /// Answers [`Self::useful`] for each range that the patterns cut the numbers into.
    fn numbers(
        &mut self,
        rows: &[Vec<Cell>],
        row: &[Cell],
        types: &[TyId],
        low: BigInt,
        high: BigInt,
    ) -> bool {
        let (low, high) = match &row[0] {
            Cell::Range(from, to) => (from.clone().max(low), to.clone().min(high)),
            _ => (low, high),
        };
        let mut starts = vec![low.clone()];
        for row in rows {
            if let Cell::Range(from, to) = &row[0] {
                starts.push(from.clone());
                starts.push(to + 1);
            }
        }
        starts.retain(|start| *start >= low && *start <= high);
        starts.sort();
        starts.dedup();
        starts.into_iter().any(|number| {
            let fits = |row: &&Vec<Cell>| match &row[0] {
                Cell::Range(from, to) => *from <= number && number <= *to,
                _ => true,
            };
            let rows: Vec<Vec<Cell>> =
                rows.iter().filter(fits).map(|row| row[1..].to_vec()).collect();
            self.useful(&rows, &row[1..], &types[1..])
        })
    }
}

fn split_or(row: &[Cell]) -> Vec<Vec<Cell>> {
    match &row[0] {
        Cell::Or(cells) => cells
            .iter()
            .flat_map(|cell| {
                let row: Vec<Cell> =
                    std::iter::once(cell.clone()).chain(row[1..].iter().cloned()).collect();
                split_or(&row)
            })
            .collect(),
        _ => vec![row.to_vec()],
    }
}
