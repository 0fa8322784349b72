//! Whether patterns cover all values, and which cases nothing reaches.
//!
//! All cases of a `match` are compared at once (Maranget's matrices: Warnings for pattern matching,
//! JFP 2007, section 3, read as a decision tree). The first part of the value that some case asks
//! about cuts the values into pieces, which are variants, or ranges of integers. Each piece goes on
//! with the cases that fit it, up to the first that takes all its values. A case that comes first
//! in a piece is reached; a piece without cases is left out.

mod missing;
mod search;

use super::{Coverage, FnCx};
use crate::diag::Code;
use crate::ty::TyId;

/// The patterns of a program take at most this many steps to compare, all together: a case that is
/// looked at in a piece is a step.
const MAX_STEPS: u64 = 1 << 24;

impl FnCx<'_, '_> {
    /// Reports every `match` that leaves values out, every case that nothing reaches, and every
    /// binding that can fail.
    pub(super) fn check_cover(&mut self, types: &[TyId]) {
        for coverage in std::mem::take(&mut self.later.matches) {
            let Coverage { patterns, ty, span, is_binding } = coverage;
            let left = MAX_STEPS.saturating_sub(self.cx.spent.compared);
            let found = search::search(
                &self.cx.tir.shapes,
                &patterns,
                types[ty as usize],
                &mut self.cx.spent.compared,
                left,
            );
            let Some(found) = found else {
                let message = "the patterns of this program take more than 2^24 steps to compare";
                let error = self.diagnostic(Code::Limit, span, message);
                self.cx.errors.push(error.help(
                    "ask about fewer parts in one `match`: decide about one part after the other",
                ));
                return;
            };
            if found.leaves_out && is_binding {
                let error =
                    self.diagnostic(Code::Pattern, span, "this pattern does not match all values");
                self.cx.errors.push(error.help("use `if let` or `match`"));
            } else if found.leaves_out {
                let mut message = "this `match` leaves values out".to_string();
                let shapes = &self.cx.tir.shapes;
                if let Some(value) = missing::missing(shapes, &patterns, types[ty as usize]) {
                    message.push_str(&format!(", such as `{value}`"));
                }
                let error = self.diagnostic(Code::Pattern, span, message);
                self.cx.errors.push(error.help("add the missing cases, or `_ => …`"));
            }
            if patterns.len() < 2 || self.allows_unreachable {
                continue;
            }
            for ((pattern, _), _) in patterns.iter().zip(&found.reached).filter(|case| !case.1) {
                let message = "the cases before this one take all its values";
                self.error(Code::Unreachable, pattern.span, message);
            }
        }
    }
}
