//! Several evaluations online at a time over one connection.

use std::collections::VecDeque;

use symbolon_transport::{Error, Result, Step};

use crate::{Compiled, InputBits, Network, Online, OutputBits, Prepared};

/// The number of rounds over which the starts of evaluations are spread: about as many as one
/// evaluation has steps. So some evaluations compute while others wait for the link.
const SPREAD: usize = 6;

/// Evaluations of a circuit, several of which are online at a time.
///
/// In every round each online evaluation takes a step, the oldest first. Then new ones start: at
/// most a sixth of the limit, rounded up, and no more than the limit allows. So all parties that
/// choose the same limit and number of evaluations send and receive in the same order. An
/// evaluation ends with its own checks, and the first error ends all of them.
pub struct InFlight<'a> {
    circuit: &'a Compiled,
    limit: usize,
    online: VecDeque<Box<dyn Online>>,
}

impl<'a> InFlight<'a> {
    /// Plans evaluations of `circuit`, at most `limit` online at a time.
    ///
    /// # Errors
    /// `InvalidInput` if the limit is 0.
    pub fn new(circuit: &'a Compiled, limit: usize) -> Result<InFlight<'a>> {
        match limit {
            0 => Err(Error::invalid_input("at least one evaluation must be online at a time")),
            _ => Ok(InFlight { circuit, limit, online: VecDeque::new() }),
        }
    }

    /// Evaluates `count` times: `next` yields the prepared circuit and this party's inputs when
    /// another evaluation starts, and `each` receives this party's outputs in order.
    ///
    /// # Errors
    /// As [`Prepared::start`] and [`Online::step`], and any error of `next` and `each`.
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

    /// Runs a step of each evaluation. All have the same number of steps, so the oldest end first.
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
