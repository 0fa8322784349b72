//! Results of functions. Functions are pure: the same arguments give the same bits, so what was
//! written out or called need not be again. Functions that call each other twice each would
//! otherwise take 2^n steps for n functions.

use std::collections::HashMap;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::{Done, Machine, calls};
use crate::ids::InstanceId;
use crate::tir::Instance;

/// Calls with more bits of arguments than this are written each time.
pub(super) const MOST_BITS: usize = 1 << 12;

/// At most this many bits of arguments and results are kept.
const MOST_KEPT: usize = 1 << 20;

/// A function, whether the unmarked functions that it calls are written out, and the arguments.
type Key = (InstanceId, bool, Box<[Bit]>);

/// What has been written.
#[derive(Default)]
pub(super) struct Kept {
    /// The results, each with the choices that were known in the function.
    results: HashMap<Key, (Word, u64)>,
    bits: usize,
}

fn bits(args: &[Word]) -> usize {
    args.iter().map(Word::width).sum()
}

impl Machine<'_, '_, '_> {
    /// Calls a function by writing it out here, unless this has been done with these arguments.
    pub(super) fn write_out(
        &mut self,
        place: InstanceId,
        callee: Rc<Instance>,
        args: Vec<Word>,
    ) -> Done<Word> {
        // What can fail notes whether its place is reached.
        if calls::fails(self.lower, place) {
            self.steps_left_for(place, callee.span)?;
            return self.function(callee, args);
        }
        if bits(&args) > MOST_BITS {
            return self.function(callee, args);
        }
        let given = args.clone();
        self.once(place, &args, |this| this.function(callee, given))
    }

    fn call_key(&self, place: InstanceId, args: &[Word]) -> Key {
        (place, self.whole, args.iter().flat_map(|arg| arg.iter().copied()).collect())
    }

    /// Returns whether the function's result for these arguments is there.
    pub(super) fn is_kept(&self, place: InstanceId, args: &[Word]) -> bool {
        self.reuse.kept.results.contains_key(&self.call_key(place, args))
    }

    /// Returns the result of a function that cannot fail: `write` writes it, unless that has been
    /// done with these arguments.
    pub(super) fn once(
        &mut self,
        place: InstanceId,
        args: &[Word],
        write: impl FnOnce(&mut Self) -> Done<Word>,
    ) -> Done<Word> {
        let bits = bits(args);
        if bits > MOST_BITS {
            return write(self);
        }
        let key = self.call_key(place, args);
        if let Some((result, choices)) = self.reuse.kept.results.get(&key) {
            self.counts.choices += choices;
            return Ok(result.clone());
        }
        let choices = self.counts.choices;
        let result = write(self)?;
        let more = bits + result.width() + 64;
        if result.width() <= MOST_BITS {
            if self.reuse.kept.bits + more > MOST_KEPT {
                self.reuse.kept = Kept::default();
            }
            self.reuse.kept.bits += more;
            self.reuse.kept.results.insert(key, (result.clone(), self.counts.choices - choices));
        }
        Ok(result)
    }
}
