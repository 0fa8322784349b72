//! Decides who noticed a cheat, for all tests of cheats alike.
//!
//! Only what an honest party notices counts. A cheater usually runs honest code around its cheat,
//! so its own checks fail too, but a real cheater would ignore them. An honest party that merely
//! loses a connection has noticed nothing.

use symbolon_common::PartyId;

use super::note_caught;
use crate::{Check, Culprit, Error, Result};

/// How an honest party ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It saw an expected check fail, and accuses a cheater, or nobody by name if it cannot know
    /// the culprit.
    Noticed,
    /// It lost a connection, for example because another honest party noticed first and ended.
    LostConnection,
    /// It has its result.
    Finished,
}

/// How all parties of a run with cheaters ended.
pub struct Endings<'a> {
    /// By party: `None` if the party has its result.
    ended: Vec<Option<&'a Error>>,
    cheaters: Vec<PartyId>,
}

impl<'a> Endings<'a> {
    /// Collects the results of all parties, in order, in a run in which `cheaters` cheat.
    pub fn new<T: 'a, P: Copy + Into<PartyId>>(
        ended: impl IntoIterator<Item = &'a Result<T>>,
        cheaters: &[P],
    ) -> Endings<'a> {
        let cheaters = cheaters.iter().map(|&party| party.into()).collect();
        let ended = ended.into_iter().map(|ended| ended.as_ref().err()).collect();
        Endings { ended, cheaters }
    }

    /// Returns the honest parties.
    pub fn honest(&self) -> impl Iterator<Item = PartyId> {
        PartyId::all(self.ended.len()).filter(|party| !self.cheaters.contains(party))
    }

    /// Returns how an honest party ended.
    ///
    /// # Panics
    /// If it accuses another honest party, at any check; if it accuses nobody by name although it
    /// has only one peer; if it names a check that is not in `checks`; or if it ended in any other
    /// error.
    #[track_caller]
    pub fn of(&self, me: impl Into<PartyId>, checks: &[impl CheckName]) -> Outcome {
        let me = me.into();
        match self.ended[usize::from(me)] {
            Some(Error::PeerMisbehaved { culprit, check, .. }) => {
                let doubt = *culprit == Culprit::Unknown && self.ended.len() > 2;
                let cheats = culprit.party().is_some_and(|party| self.cheaters.contains(&party));
                assert!(doubt || cheats, "party {me} accuses {culprit}");
                let checks = names(checks);
                assert!(checks.contains(&check.name()), "party {me}: {check}, not of {checks:?}");
                Outcome::Noticed
            }
            Some(Error::Transport { .. }) => Outcome::LostConnection,
            Some(error) => panic!("party {me}: another error: {error}"),
            None => Outcome::Finished,
        }
    }

    /// Asserts that no honest party has a result, and that at least one of them noticed.
    ///
    /// # Panics
    /// If that is not so.
    #[track_caller]
    pub fn assert_caught(&self, checks: &[impl CheckName]) {
        let mut noticed = 0;
        for party in self.honest() {
            let outcome = self.of(party, checks);
            assert_ne!(outcome, Outcome::Finished, "party {party}: the cheat went unnoticed");
            noticed += usize::from(outcome == Outcome::Noticed);
        }
        assert!(noticed > 0, "no honest party saw {:?} fail: {:?}", names(checks), self.ended);
        note_caught();
    }

    /// Asserts that each of these honest parties noticed by itself.
    ///
    /// # Panics
    /// If one did not.
    #[track_caller]
    pub fn assert_caught_by<P: Into<PartyId>>(
        &self,
        parties: impl IntoIterator<Item = P>,
        checks: &[impl CheckName],
    ) {
        for party in parties.into_iter().map(Into::into) {
            let outcome = self.of(party, checks);
            assert_eq!(outcome, Outcome::Noticed, "party {party}: {:?}", self.ended);
        }
        note_caught();
    }

    /// Asserts that every honest party noticed by itself.
    ///
    /// # Panics
    /// If one did not.
    #[track_caller]
    pub fn assert_caught_by_all(&self, checks: &[impl CheckName]) {
        self.assert_caught_by(self.honest(), checks);
    }
}

/// Asserts that this honest party noticed at this check, and names the cheater.
///
/// # Panics
/// If it did not.
#[track_caller]
pub fn assert_noticed<T>(honest: &Result<T>, cheater: impl Into<PartyId>, at: impl CheckName) {
    match honest {
        Err(Error::PeerMisbehaved { culprit, check, .. }) => {
            assert_eq!((*culprit, check.name()), (Culprit::Party(cheater.into()), at.check_name()));
            note_caught();
        }
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("the cheat went unnoticed"),
    }
}

/// A check, or its name.
pub trait CheckName: Copy {
    /// Returns the name.
    fn check_name(&self) -> &'static str;
}

impl CheckName for Check {
    fn check_name(&self) -> &'static str {
        self.name()
    }
}

impl CheckName for &'static str {
    fn check_name(&self) -> &'static str {
        self
    }
}

fn names(checks: &[impl CheckName]) -> Vec<&'static str> {
    checks.iter().map(CheckName::check_name).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{TransportReason, checks};

    const A_CHECK: Check = checks::FRAMING;

    fn refused(ended: &[Result<()>], cheaters: &[u16], by_all: bool) -> bool {
        let endings = Endings::new(ended, cheaters);
        let check = || match by_all {
            false => endings.assert_caught(&[A_CHECK]),
            true => endings.assert_caught_by_all(&[A_CHECK]),
        };
        catch_unwind(AssertUnwindSafe(check)).is_err()
    }

    const CHEATER: u16 = 2;

    fn noticed(culprit: impl Into<Culprit>) -> Result<()> {
        Err(Error::misbehaved(culprit, A_CHECK))
    }

    fn lost() -> Result<()> {
        Err(Error::transport(1, TransportReason::Closed))
    }

    #[test]
    fn only_what_an_honest_party_notices_counts() {
        for honest in [noticed(CHEATER), noticed(Culprit::Unknown)] {
            assert!(!refused(&[honest.clone(), lost(), Ok(())], &[CHEATER], false));
            assert!(refused(&[honest.clone(), lost(), Ok(())], &[CHEATER], true));
            assert!(!refused(&[honest, noticed(CHEATER), Ok(())], &[CHEATER], true));
        }
        assert!(refused(&[lost(), lost(), noticed(0)], &[CHEATER], false), "the cheater's own");
        assert!(refused(&[lost(), lost(), lost()], &[CHEATER], false), "lost connections");
        assert!(refused(&[noticed(CHEATER), Ok(()), lost()], &[CHEATER], false), "a result");
    }

    #[test]
    fn accusations_must_be_true_and_name_the_check() {
        let another = Err(Error::misbehaved(CHEATER, checks::LINK_PING));
        assert!(refused(&[noticed(1), noticed(CHEATER), Ok(())], &[CHEATER], false));
        assert!(refused(&[another, noticed(CHEATER), Ok(())], &[CHEATER], false));
        assert!(refused(&[Err(Error::internal("a defect")), lost(), Ok(())], &[CHEATER], false));
        // With only one peer there is no doubt about the culprit.
        assert!(refused(&[noticed(Culprit::Unknown), Ok(())], &[1], false));
    }
}
