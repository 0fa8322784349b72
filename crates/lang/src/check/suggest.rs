//! Unknown names, and known ones that are like them.

use super::FnCx;
use crate::ast::{self, Name};
use crate::diag::{Code, Diagnostic};

/// Comparing unknown names with known ones takes at most this many steps.
const MAX_SUGGESTED: u64 = 1 << 24;

impl FnCx<'_, '_> {
    /// Reports an unknown name, with the nearest known one.
    pub(super) fn unknown(&mut self, path: &ast::Path, kind: &str) {
        let name: Vec<&str> = path.parts.iter().map(|part| &*part.name).collect();
        let name = name.join("::");
        let mut best: Option<(usize, &Name)> = None;
        let known = self.scope.names().chain(self.cx.program.names(self.module));
        let near = |known: &&Name| known.len().abs_diff(name.len()) <= name.len() / 3;
        for known in known.filter(near) {
            // Nobody reads suggestions for more names than this.
            self.cx.suggested.set(self.cx.suggested.get() + (known.len() * name.len()) as u64);
            if self.cx.suggested.get() > MAX_SUGGESTED {
                break;
            }
            let distance = edit_distance(known, &name);
            // Of several that are as near, the first by the alphabet.
            if distance <= name.len() / 3 && best.is_none_or(|best| (distance, known) < best) {
                best = Some((distance, known));
            }
        }
        let best = best.map(|(_, known)| known.to_string());
        let error = Diagnostic::new(Code::Name, path.span, format!("there is no {kind} `{name}`"));
        let error = match best {
            Some(known) => error.help(format!("did you mean `{known}`?")),
            None => error,
        };
        self.cx.errors.push(error);
    }
}

/// Returns how many letters differ.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != y)).min(row[j].min(row[j + 1]) + 1);
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    row[b.len()]
}
