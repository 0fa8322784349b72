//! AND triples alone, for measuring their rate and cost.

use symbolon_preprocessing::{self as preprocessing, Preprocessor};
use symbolon_protocols::GateForm;
use symbolon_transport::{Error, PartyId, Result, SessionId, Step};

use crate::autotune::{Choice, Preferences};
use crate::config::Config;
use crate::params::Job;
use crate::report::{INDEPENDENT, Report};
use crate::session::{Begun, begin, counted, give_up};

/// The maximum number of triples in one request.
pub const MAX_TRIPLES: u64 = 1 << 40;

/// The party whose global key balances the others', like the evaluator's in the protocols.
const BALANCING: PartyId = PartyId::new(0);

/// The result of [`make_triples`].
#[derive(Clone, Debug, PartialEq)]
pub struct TripleRun {
    /// The number of triples made: at least as many as requested.
    pub made: u64,
    /// The choice of OT extension; the form does not matter.
    pub choice: Choice,
    /// What the set-up and the triples (phase [`INDEPENDENT`]) cost this party.
    pub report: Report,
}

/// Makes at least `count` authenticated AND triples among all parties and drops each batch once it
/// is made, so that memory does not grow with their number. All parties must request the same
/// number.
///
/// The parties, ρ and threads come from `config`. Its other parameters have no effect, but all
/// parties must choose the same, as in every session.
///
/// # Errors
/// `InvalidInput` if `config` cannot work or `count` is not between 1 and [`MAX_TRIPLES`];
/// otherwise as [`Session::connect`](crate::Session::connect).
pub fn make_triples(config: Config, count: u64) -> Result<TripleRun> {
    config.check_alone()?;
    let wanted = usize::try_from(count).ok().filter(|_| (1..=MAX_TRIPLES).contains(&count));
    let wanted = wanted.ok_or_else(|| {
        Error::invalid_input(format!("{count} triples: 1 to {MAX_TRIPLES} can be made"))
    })?;
    if config.terms().params.dealer.is_some() {
        return Err(Error::invalid_input("triples alone are not made by a dealer"));
    }
    // Nothing is garbled, so no form justifies a measurement.
    let unasked = Preferences { form: Some(GateForm::default()), ot: None };
    let begun = begin(config, Job::Triples(count), (count, unasked), |network, _| {
        let session = SessionId(network.session);
        let config = preprocessing::Config {
            rho: network.rho.bits(),
            evaluator: BALANCING,
            ot_extension: network.ot,
        };
        Preprocessor::set_up(network.makers(), &session, config)
    })?;
    let Begun { mut network, choice, made: mut open } = begun;
    let made = counted(&mut network, INDEPENDENT, |network| {
        let mut made = 0;
        network.meter.begin_step(Step::Triples, count);
        for batch in open.plan(wanted) {
            let triples = open.triples(network.makers(), batch)?;
            made += triples.len() as u64;
            open.recycle(triples);
        }
        Ok(made)
    });
    match made {
        Ok(made) => Ok(TripleRun { made, choice, report: Report::of(&network.meter) }),
        Err(error) => {
            give_up(&mut network, &error);
            Err(error)
        }
    }
}
