//! One party of a run between machines: who it is, and what it is told besides the result.

use symbolon::Report;
use symbolon::circuit::PartyId;
use symbolon::stored::Agreement;

use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::parties::connect;
use crate::progress;
use crate::results::{PartyJson, costs};
use crate::settings::Settings;

/// Returns the parameters and this party's number.
///
/// # Errors
/// A usage failure that says what is missing.
pub fn who(settings: &Settings) -> CliResult<(Tuning, PartyId)> {
    let parties = connect::count(settings)?;
    let tuning = Tuning::new(&settings.tuning, parties)?;
    let last = parties - 1;
    let numbers = if parties == 2 { "0 or 1".to_string() } else { format!("0 to {last}") };
    let party = settings
        .party
        .ok_or_else(|| CliError::usage(format!("which party is this? Say --party {numbers}")))?;
    if party.number() > last {
        return Err(CliError::usage(format!("there is no party {party}: say --party {numbers}")));
    }
    Ok((tuning, party))
}

/// Prints a note if the stores do not hold the same.
pub fn tell_agreement(agreement: &Agreement) {
    if agreement.is_complete() {
        return;
    }
    let Agreement { common, only_here, only_elsewhere, uneven } = agreement;
    tell(&format!(
        "warning: the parties' stores differ: {common} items in all, {only_here} only here and \
         {only_elsewhere} only elsewhere, which were left alone; {uneven} that some have used further \
         than others, where what anybody has used was skipped\n"
    ));
}

/// Returns what it cost the parties.
pub fn party_costs(tuning: &Tuning, reports: &[(PartyId, &Report)]) -> Vec<PartyJson> {
    let one = |&(party, report): &(PartyId, &Report)| {
        let role = tuning.params.protocol.role(party).to_string();
        PartyJson { party, role, phases: report.phases.clone() }
    };
    reports.iter().map(one).collect()
}

/// Prints what it cost the parties, if costs are shown.
pub fn tell_costs(tuning: &Tuning, reports: &[(PartyId, &Report)]) {
    let parties = party_costs(tuning, reports);
    progress::live::report(&parties, "");
    if progress::shows_costs() {
        tell(&format!("\n{}", costs(&parties)));
    }
}
