//! Runs the settings and computes the results.

use super::args::{BenchArgs, TRIPLES};
use super::plan::{Setting, Workload};
use super::raw;
use super::remote::Remote;
use super::result::{Measured, PartyMeasured, PhaseMeasured, PhaseOfAll};
use super::session::{Session, session};
use super::spread::Spread;
use symbolon::PhaseReport;
use symbolon::SETUP;
use symbolon::circuit::PartyId;

use crate::args::given::OptionsJson;
use crate::common::error::{CliError, CliResult};
use crate::common::timeline::Span;
use crate::progress;
use crate::results::ChoiceJson;
use crate::results::party::PartyResult;

/// Runs every setting as often as requested; settings whose runs are sessions of their own
/// alternate.
///
/// # Errors
/// Those of `local`.
pub fn measure(
    args: &BenchArgs,
    settings: &[Setting],
    mut remote: Option<&mut Remote>,
) -> CliResult<Vec<Measured>> {
    let mut sessions: Vec<Vec<Session>> = settings.iter().map(|_| Vec::new()).collect();
    let rounds = settings.iter().filter(|s| s.fresh_session).map(|s| s.repeat).max().unwrap_or(1);
    for round in 0..rounds {
        for (place, (setting, sessions)) in settings.iter().zip(&mut sessions).enumerate() {
            if round == 0 || setting.fresh_session {
                progress::measure(place + 1, settings.len(), &setting.title());
                sessions.push(match &mut remote {
                    Some(remote) => remote.session(args, setting)?,
                    None => session(args, setting)?,
                });
            }
        }
    }
    let summed_up = |(setting, all): (&Setting, &Vec<Session>)| summed_up(args, setting, all);
    settings.iter().zip(&sessions).map(summed_up).collect()
}

/// Returns what a phase cost one party in each sample: each session's set-up, or each run's phase.
fn samples<'s>(
    sessions: &'s [Session],
    party: usize,
    phase: &'s str,
) -> impl Iterator<Item = &'s PhaseReport> {
    sessions.iter().flat_map(move |session| {
        let results = &session[party];
        let set_up = results.phases.iter().filter(move |_| phase == SETUP);
        let all = set_up.chain(results.runs.iter().flatten());
        all.filter(move |cost| cost.phase == phase)
    })
}

/// One party's costs of one run, without the set-up.
type Run<'s> = &'s [PhaseReport];

/// Returns every run, by party.
fn runs(sessions: &[Session]) -> Vec<Vec<Run<'_>>> {
    sessions.iter().flat_map(runs_of).collect()
}

fn runs_of(session: &Session) -> Vec<Vec<Run<'_>>> {
    let of = |run: usize| session.iter().map(|results| &results.runs[run][..]).collect();
    (0..count_runs(session)).map(of).collect()
}

fn count_runs(session: &Session) -> usize {
    session.iter().map(|results| results.runs.len()).min().unwrap_or(0)
}

fn seconds(run: Run<'_>) -> f64 {
    run.iter().map(|phase| phase.seconds).sum()
}

fn cpu_seconds(run: &[Run<'_>]) -> Option<f64> {
    run.iter().flat_map(|phases| phases.iter()).map(|phase| phase.cpu_seconds).sum()
}

fn summed_up(args: &BenchArgs, setting: &Setting, sessions: &[Session]) -> CliResult<Measured> {
    let Setting { name, workload, parties, tuning, repeat, fresh_session } = setting;
    let runs = runs(sessions);
    let nothing = || CliError::internal("a measurement without a run");
    let slowest = |run: &Vec<Run<'_>>| run.iter().map(|run| seconds(run)).fold(0.0, f64::max);
    let taken = Spread::of(runs.iter().map(slowest)).ok_or_else(nothing)?;
    let cpu: Option<Vec<f64>> = runs.iter().map(|run| cpu_seconds(run)).collect();
    let (triples, count) = match workload {
        Workload::Triples(_) => (true, sessions[0].first().map_or(0, |first| first.triples)),
        Workload::Circuit(loaded) => (false, loaded.gates * tuning.params.executions),
    };
    let sent = |run: &Vec<Run<'_>>| {
        run.iter().flat_map(|phases| phases.iter()).map(|phase| phase.bytes_sent as f64).sum()
    };
    let sent = Spread::of(runs.iter().map(sent)).ok_or_else(nothing)?.median;
    let links = f64::from(*parties) * f64::from(parties - 1);
    let role = |party| if triples { TRIPLES } else { tuning.params.protocol.role(party) };
    let costs = costs(sessions, *parties, role);
    Ok(Measured {
        workload: name.clone(),
        parties: *parties,
        protocol: (!triples).then(|| tuning.params.protocol.name()),
        rho: tuning.params.rho.bits(),
        choice: chosen(sessions)?,
        options: match workload {
            Workload::Triples(_) => OptionsJson::default(),
            Workload::Circuit(_) => OptionsJson::of(&tuning.params),
        },
        threads: tuning.params.threads,
        transport: args.transport().name(),
        link: tuning.link.as_ref().map(|(text, _)| text.clone()),
        split_phases: args.split_phases,
        batch: tuning.params.executions,
        one_by_one: args.one_by_one,
        repeat: *repeat,
        fresh_session: *fresh_session,
        count,
        seconds: taken,
        per_second: taken.rate(count),
        cpu_seconds: cpu.and_then(Spread::of),
        bytes_each: if count > 0 { sent / count as f64 / links } else { 0.0 },
        peak_memory: sessions.iter().flatten().filter_map(|results| results.peak_memory).max(),
        phases: phases_of_all(sessions, &costs),
        costs,
        timeline: timeline(sessions, taken.median),
        raw: raw::rows(sessions),
    })
}

/// Returns what was chosen from the link, if all sessions chose the same, with the speed of the
/// link in the first session.
fn chosen(sessions: &[Session]) -> CliResult<ChoiceJson> {
    let mut choices = sessions.iter().map(|session| crate::parties::agreement::chosen(session));
    let mut choice = choices.next().transpose()?.unwrap_or_default();
    for other in choices {
        let other = other?;
        let both = |one: &str, other: &str| format!("{one} or {other}");
        if !choice.ot.split(" or ").any(|ot| ot == other.ot) {
            choice.ot = both(&choice.ot, &other.ot);
        }
        if let (Some(form), Some(another)) = (&choice.form, &other.form)
            && !form.split(" or ").any(|form| form == another)
        {
            choice.form = Some(both(form, another));
        }
    }
    Ok(choice)
}

/// Returns the names of the phases that any party entered, in order.
fn names(sessions: &[Session]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for phase in sessions.iter().flatten().flat_map(|results| &results.phases) {
        if !names.contains(&phase.phase.as_str()) {
            names.push(&phase.phase);
        }
    }
    names
}

fn costs(
    sessions: &[Session],
    parties: u16,
    role: impl Fn(PartyId) -> &'static str,
) -> Vec<PartyMeasured> {
    let names = names(sessions);
    let phase = |party: usize, name: &str| {
        let all = || samples(sessions, party, name);
        let cpu: Option<Vec<f64>> = all().map(|cost| cost.cpu_seconds).collect();
        let middle = |count: fn(&PhaseReport) -> u64| {
            let counts = Spread::of(all().map(|cost| count(cost) as f64));
            counts.map_or(0, |counts| counts.median.round() as u64)
        };
        Some(PhaseMeasured {
            phase: name.to_string(),
            seconds: Spread::of(all().map(|cost| cost.seconds))?,
            cpu_seconds: cpu.and_then(Spread::of),
            bytes_sent: middle(|cost| cost.bytes_sent),
            bytes_received: middle(|cost| cost.bytes_received),
            messages_sent: middle(|cost| cost.messages_sent),
            messages_received: middle(|cost| cost.messages_received),
            rounds: middle(|cost| cost.rounds),
        })
    };
    let party = |party: PartyId| PartyMeasured {
        party,
        role: role(party),
        phases: names.iter().filter_map(|name| phase(usize::from(party), name)).collect(),
    };
    PartyId::all(parties).map(party).collect()
}

/// Returns, for each phase, the time that it took all parties in each sample, their processor time,
/// and the most that any party sent.
fn phases_of_all(sessions: &[Session], costs: &[PartyMeasured]) -> Vec<PhaseOfAll> {
    let of_all = |name: &&str| {
        let by_party: Vec<Vec<&PhaseReport>> =
            (0..costs.len()).map(|party| samples(sessions, party, name).collect()).collect();
        let most = by_party.iter().map(Vec::len).max().unwrap_or(0);
        let at = |sample: usize| by_party.iter().filter_map(move |party| party.get(sample));
        let cpu = |sample| at(sample).map(|cost| cost.cpu_seconds).sum::<Option<f64>>();
        let cpu: Option<Vec<f64>> = (0..most).map(cpu).collect();
        let elapsed = sessions.iter().flat_map(|session| {
            let runs = if *name == SETUP { 1 } else { count_runs(session) };
            (0..runs).filter_map(|run| elapsed(session, run, name))
        });
        let phases = costs.iter().flat_map(|party| &party.phases);
        let phases = || phases.clone().filter(|phase| phase.phase == **name);
        Some(PhaseOfAll {
            phase: name.to_string(),
            seconds: Spread::of(elapsed)?,
            cpu_seconds: cpu.and_then(Spread::of),
            bytes_sent: phases().map(|phase| phase.bytes_sent).max()?,
            rounds: phases().map(|phase| phase.rounds).max()?,
        })
    };
    names(sessions).iter().filter_map(of_all).collect()
}

/// Returns how long a phase of a run took: from the time when the last party ended the previous
/// phase, or the first one began, until the last party ended this one. A party that is done enters
/// the next phase while its peers still work; its own time there would count their work twice.
fn elapsed(session: &Session, run: usize, phase: &str) -> Option<f64> {
    let in_run =
        |span: &&Span| span.run as usize == run && (span.phase == SETUP) == (phase == SETUP);
    let spans = || session.iter().flat_map(|results| results.spans.iter().filter(in_run));
    let last_end = |phase: &str| {
        let ends = spans().filter(|span| span.phase == phase).map(|span| span.begin + span.seconds);
        ends.reduce(f64::max)
    };
    let end = last_end(phase)?;
    let ends_before = spans().filter_map(|span| last_end(&span.phase)).filter(|&at| at < end);
    let begin = ends_before.reduce(f64::max);
    let begin = begin.or_else(|| spans().map(|span| span.begin).reduce(f64::min))?;
    Some(end - begin)
}

/// Returns, by party, when the phases of a run of about median time took place, in seconds since
/// the first one began. The set-up of its session is moved to just before it, if it is not there
/// already.
fn timeline(sessions: &[Session], median: f64) -> Vec<Vec<Span>> {
    let all =
        sessions.iter().flat_map(|session| (0..count_runs(session)).map(move |run| (session, run)));
    let distance = |&(session, run): &(&Session, usize)| {
        let slowest = session.iter().map(|results| seconds(&results.runs[run])).fold(0.0, f64::max);
        (slowest - median).abs()
    };
    let Some((session, run)) = all.min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Vec::new();
    };
    let is_set_up = |span: &&Span| span.phase == SETUP;
    let in_run = |span: &&Span| !is_set_up(span) && span.run as usize == run;
    let spans = || session.iter().flat_map(|results| &results.spans);
    let ready = spans().filter(is_set_up).map(|span| span.begin + span.seconds);
    let started = spans().filter(in_run).map(|span| span.begin).fold(f64::MAX, f64::min);
    let late = if run == 0 { 0.0 } else { started - ready.fold(0.0, f64::max) };
    let moved = |span: &Span| Span { begin: span.begin + late, ..span.clone() };
    let party = |results: &PartyResult| {
        let set_up = results.spans.iter().filter(is_set_up).map(moved);
        set_up.chain(results.spans.iter().filter(in_run).cloned()).collect()
    };
    let mut timeline: Vec<Vec<Span>> = session.iter().map(party).collect();
    let first = timeline.iter().flatten().map(|span| span.begin).fold(f64::MAX, f64::min);
    timeline.iter_mut().flatten().for_each(|span| span.begin -= first);
    timeline
}

#[cfg(test)]
mod tests {
    use symbolon::ONLINE;

    use super::*;

    #[test]
    fn no_time_belongs_to_two_phases() {
        let span = |(phase, begin, end): (&str, f64, f64)| Span {
            run: 0,
            phase: phase.to_string(),
            begin,
            seconds: end - begin,
        };
        let results = |spans: &[(&str, f64, f64)]| PartyResult {
            spans: spans.iter().copied().map(span).collect(),
            ..PartyResult::empty()
        };
        // The garbler has sent everything at 4, and waits online.
        let garbler = results(&[(SETUP, 0.0, 1.0), ("dependent", 1.0, 4.0), (ONLINE, 4.0, 10.0)]);
        let evaluator = results(&[(SETUP, 0.5, 1.5), ("dependent", 1.5, 9.0), (ONLINE, 9.0, 9.75)]);
        let session = vec![garbler, evaluator];
        let phases = [SETUP, "dependent", ONLINE, "independent"];
        let elapsed = phases.map(|phase| elapsed(&session, 0, phase));
        assert_eq!(elapsed, [Some(1.5), Some(8.0), Some(1.0), None]);
    }
}
