//! Windows: what is too large for one cut-and-choose takes several, one after another.
//!
//! A bucket may get any copies of a cut-and-choose, so the commitments to all copies are in memory
//! until the buckets are filled. A cut-and-choose of more than [`most`](Games::most) commitments is
//! therefore divided into windows of about the same size, so that memory depends on the window and
//! not on the whole. The games of all windows share 2^-ρ, and a kind of component has buckets of
//! the same size in all windows.

use symbolon_circuit::components::Kind;
use symbolon_engine::{Compiled, Components, RunTerms};
use symbolon_transport::{Error, Result};

use super::layout::Layout;
use super::options;
use super::params::{BucketSizes, Games, Params};
use super::program::{Program, Task};
use super::stock;

/// A division into windows.
#[derive(Debug)]
pub(super) struct Windows {
    /// How many windows there are.
    number: usize,
    games: Games,
    /// The sizes of the largest window, which is the first one.
    params: Params,
    /// How many commitments the largest window takes.
    pub commitments: usize,
}

/// Returns how many of `all` objects are in window `window` of `number`. The first window has the
/// most.
fn share(all: u64, window: usize, number: usize) -> u64 {
    all / number as u64 + u64::from((window as u64) < all % number as u64)
}

/// The most batches that are prepared together. More would hardly be cheaper.
const MOST_TOGETHER: usize = 1 << 10;

/// Estimates for how many preparations of the program of a circuit one cut-and-choose has room,
/// from one to `most`. If they turn out to be too many, they take more windows.
///
/// # Errors
/// `InvalidInput` when the protocol cannot run this circuit.
pub(super) fn preparations_together(
    circuit: &Compiled,
    terms: RunTerms<'_>,
    most: usize,
) -> Result<usize> {
    let games = Games::new(terms.rho.bits());
    let mut fit = most.clamp(1, MOST_TOGETHER);
    // The choice of components depends on the number of preparations, so it is made again for the
    // number that was found.
    for _ in 0..2 {
        let program = loop {
            let (executions, components) = (terms.executions, options::components(terms.options));
            let task = Task { executions, preparations: fit, games, components, linked: &[] };
            match Program::new(circuit.circuit(), task) {
                // Many preparations may have too many wires.
                Err(_) if fit > 1 => fit /= 2,
                program => break program?,
            }
        };
        let found = largest_that_fits(&program, fit, games);
        if found == fit {
            break;
        }
        fit = found;
    }
    Ok(fit)
}

/// Returns the largest number of preparations, from one to `most`, for which one cut-and-choose has
/// room.
fn largest_that_fits(program: &Program, most: usize, games: Games) -> usize {
    let fits = |preparations| {
        let sizes = sizes(program, preparations, games);
        sizes.is_ok_and(|(_, commitments)| commitments <= games.most)
    };
    // More preparations take more commitments, except where their buckets become smaller.
    let (mut fit, mut too_many) = (1, most + 1);
    while too_many - fit > 1 {
        let middle = fit + (too_many - fit) / 2;
        if fits(middle) { fit = middle } else { too_many = middle }
    }
    fit
}

/// Returns the sizes of one cut-and-choose for some preparations of a program, and its commitments.
fn sizes(program: &Program, preparations: usize, games: Games) -> Result<(Params, usize)> {
    let params = Params::new(&program.graph, preparations, program.authenticated(), games)?;
    let total = Layout::new((program, preparations), &params, games.rho, 0).total;
    Ok((params, total))
}

impl Windows {
    /// Divides all preparations of a program into windows. Each preparation is in one window.
    ///
    /// # Errors
    /// `InvalidInput` when a window takes too many copies.
    pub fn of_program(program: &Program, games: Games) -> Result<Windows> {
        Windows::divide(program.preparations as u64, games, |number, games| {
            sizes(program, share(program.preparations as u64, 0, number) as usize, games)
        })
    }

    /// Divides a pool into windows.
    ///
    /// # Errors
    /// As [`of_program`](Windows::of_program), and when the pool is too large.
    pub fn of_pool(components: &Components, games: Games) -> Result<Windows> {
        let most = components.counts().into_iter().max().unwrap_or(1);
        Windows::divide(most, games, |number, games| {
            sizes(&Program::of_pool(&share_of(components, 0, number))?, 1, games)
        })
    }

    /// Finds the smallest number of windows, at most `most`, such that none has too many
    /// commitments. `first` returns the sizes and the number of commitments of the first window,
    /// given how many windows there are.
    fn divide(
        most: u64,
        games: Games,
        first: impl Fn(usize, Games) -> Result<(Params, usize)>,
    ) -> Result<Windows> {
        let too_many = || Error::invalid_input("too many components at a time");
        let most = usize::try_from(most.max(1)).map_err(|_| too_many())?;
        let mut number = 1;
        loop {
            let games = games.shared_by(number)?;
            let (params, commitments) = first(number, games)?;
            if commitments <= games.most || number == most {
                return Ok(Windows { number, games, params, commitments });
            }
            let needed = (number as u128 * commitments as u128).div_ceil(games.most as u128);
            number = usize::try_from(needed).unwrap_or(most).clamp(number + 1, most);
        }
    }

    /// Returns what one preparation takes, if it alone has too many commitments: it is then made
    /// like a pool, in windows of its components. Returns `None` otherwise, and also if the
    /// preparation would find other components in that pool. `names` are the components that were
    /// asked for.
    ///
    /// # Errors
    /// `InvalidInput` when the preparation has more components than a pool can have.
    pub fn as_pool(&self, program: &Program, names: &[String]) -> Result<Option<Components>> {
        if self.commitments <= self.games.most {
            return Ok(None);
        }
        let kinds: Vec<[u8; 32]> = program.graph.kinds.iter().map(Kind::digest).collect();
        // A program finds its components in a pool by their kinds. It would find others if one that
        // is written out is the same as one that is garbled.
        let found = Program::of_kinds(&program.circuit, program.executions, &kinds, names);
        if found.is_ok_and(|found| found.single_fingerprint() == program.single_fingerprint()) {
            return stock::needed(program, 1).map(Some);
        }
        Ok(None)
    }

    /// Returns ρ.
    pub fn rho(&self) -> u32 {
        self.games.rho
    }

    /// Returns how many windows there are.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the sizes of the largest window.
    pub fn largest(&self) -> &Params {
        &self.params
    }

    /// Returns the bucket sizes, which are the same in all windows.
    pub fn buckets(&self) -> BucketSizes {
        self.params.buckets()
    }

    /// Returns the number of preparations and the sizes of each window, in order.
    ///
    /// # Errors
    /// As [`of_program`](Windows::of_program).
    pub fn preparations(&self, program: &Program) -> impl Iterator<Item = Result<(usize, Params)>> {
        (0..self.number).map(|window| {
            let preparations = share(program.preparations as u64, window, self.number) as usize;
            Ok((preparations, self.sized(program, preparations)?))
        })
    }

    /// Returns the windows of a pool as programs, with their sizes, in order.
    ///
    /// # Errors
    /// As [`of_pool`](Windows::of_pool).
    pub fn programs(
        &self,
        components: &Components,
    ) -> impl Iterator<Item = Result<(Program, Params)>> {
        (0..self.number).map(|window| {
            let program = Program::of_pool(&share_of(components, window, self.number))?;
            let params = self.sized(&program, 1)?;
            Ok((program, params))
        })
    }

    fn sized(&self, program: &Program, preparations: usize) -> Result<Params> {
        self.params.smaller(&program.graph, preparations, program.authenticated(), self.games)
    }
}

/// Returns what is in window `window` of `number`.
fn share_of(components: &Components, window: usize, number: usize) -> Components {
    components.map(|count| share(count, window, number))
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builtin;
    use symbolon_cutchoose::{Game, Goal};

    use super::*;

    /// The windows together have everything, each is small enough, and all games together are lost
    /// with probability at most 2^-ρ.
    #[test]
    fn windows_share_everything_and_are_safe() {
        for (most, number) in [(1 << 22, 1), (1 << 19, 3), (1 << 17, 20)] {
            let games = Games { most, ..Games::new(40) };
            let task =
                Task { executions: 1, preparations: 150, games, components: &[], linked: &[] };
            let program = Program::new(&builtin::by_name("aes128").unwrap(), task).unwrap();
            let windows = Windows::of_program(&program, games).unwrap();
            assert!(windows.number() >= number && windows.commitments <= most);
            let each: Vec<_> = windows.preparations(&program).map(Result::unwrap).collect();
            assert_eq!(each.iter().map(|(preparations, _)| preparations).sum::<usize>(), 150);
            for (preparations, params) in each {
                assert_eq!(params.buckets(), windows.buckets());
                assert_eq!(params.kinds[0].buckets, preparations as u64);
                let all = 2 * windows.number() as u64;
                for (goal, sizes) in
                    [(Goal::OneGood, params.kinds[0]), (Goal::MajorityGood, params.authenticators)]
                {
                    let game = Game::new(goal, sizes.buckets, 40).unwrap().among(all).unwrap();
                    let fewest = game.fewest_objects(sizes.bucket).unwrap().unwrap();
                    assert!(fewest.objects <= sizes.objects);
                }
            }
        }
    }

    #[test]
    fn shares_differ_by_one_at_most() {
        for all in [0, 1, 7, 8, 100] {
            for number in 1..10 {
                let each: Vec<u64> = (0..number).map(|window| share(all, window, number)).collect();
                assert_eq!(each.iter().sum::<u64>(), all);
                assert!(each[0] - each[number - 1] <= 1 && each.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
