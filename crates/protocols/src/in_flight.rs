//! Several evaluations online at a time over one connection.

use std::collections::VecDeque;

use symbolon_transport::{Error, Result, Step};

use crate::{Compiled, InputBits, Network, Online, OutputBits, Prepared};

/// Over as many rounds the starts of evaluations are spread: about as many steps as one has. So
/// some compute while others wait for the link.
const SPREAD: usize = 6;

/// Evaluations of a circuit of which several are online at a time.
///
/// In every round each evaluation that is online takes a step, the oldest first. Then new ones
/// start: at most the sixth part of the limit, rounded up, and no more than the limit allows. So
/// all parties that name the same limit and number of evaluations send and receive in the same
/// order. An evaluation ends with its own checks, and the first error ends all of them.
pub struct InFlight<'a> {
    circuit: &'a Compiled,
    limit: usize,
    online: VecDeque<Box<dyn Online>>,
}

impl<'a> InFlight<'a> {
    /// Evaluations of `circuit`, at most `limit` at a time.
    ///
    /// # Errors
    /// `InvalidInput` when the limit is 0.
    pub fn new(circuit: &'a Compiled, limit: usize) -> Result<InFlight<'a>> {
        match limit {
            0 => Err(Error::invalid_input("at least one evaluation must be online at a time")),
            _ => Ok(InFlight { circuit, limit, online: VecDeque::new() }),
        }
    }

    /// Evaluates `count` times: `next` gives what was prepared and this party's inputs when another
    /// evaluation starts, `each` takes what this party learns of one after the other.
    ///
    /// # Errors
    /// As [`Prepared::start`] and [`Online::step`] have them, and what `next` and `each` fail with.
    pub fn evaluate<I: AsRef<InputBits>>(
        mut self,
        net: &mut Network,
        count: u64,
        mut next: impl FnMut(&mut Network) -> Result<(Box<dyn Prepared>, I)>,
        mut each: impl FnMut(OutputBits) -> Result<()>,
    ) -> Result<()> {
        net.meter.begin_step(Step::Evaluations, count);
        let mut left = count;
        loop {
            self.round(net, &mut each)?;
            let room = self.limit - self.online.len();
            let starts = self.limit.div_ceil(SPREAD).min(room) as u64;
            for _ in 0..starts.min(left) {
                let (prepared, inputs) = next(net)?;
                self.online.push_back(prepared.start(net, self.circuit, inputs.as_ref())?);
                left -= 1;
            }
            if self.online.is_empty() {
                return Ok(());
            }
        }
    }

    /// A step of each evaluation. All have the same number of steps, so that the oldest end first.
    fn round(
        &mut self,
        net: &mut Network,
        each: &mut dyn FnMut(OutputBits) -> Result<()>,
    ) -> Result<()> {
        let mut ended = 0;
        for (place, online) in self.online.iter_mut().enumerate() {
            if let Some(outputs) = online.step(net)? {
                if place != ended {
                    return Err(Error::internal("an evaluation ended before an older one"));
                }
                ended += 1;
                net.meter.advance(Step::Evaluations, 1);
                each(outputs)?;
            }
        }
        self.online.drain(..ended);
        Ok(())
    }
}
