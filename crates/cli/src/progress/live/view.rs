//! How the page looks.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use symbolon::circuit::PartyId;

use super::super::board::Place;
use super::state::{Live, Party, Phase, live};
use crate::common::colours::{css, phase_colour};
use crate::common::cost_table::{bytes, clock, time};
use crate::common::page::STYLE;
use crate::results::PartyJson;
use std::time::{Duration, Instant};

const LOOKS: &str = "
body { max-width: 60em } .state { font-weight: bold } .failed { color: var(--bad) }
.party { margin: 1.6em 0 } .bars { display: grid; grid-template-columns: max-content 1fr; gap: .3em .8em; align-items: center;
  margin: .4em 0; font-size: .9em }
.bar, .phases { height: .8em; background: var(--empty); position: relative }
.bar div { height: 100%; background: #1f77b4 } .phases div { height: 100%; position: absolute; min-width: 2px }
.party table { table-layout: fixed; width: 100%; min-width: 24em; margin: .4em 0 } .party td:first-child { text-align: left }
.log { font: 13px/1.5 monospace; white-space: pre-wrap; overflow-wrap: anywhere }
#gone { display: none; color: var(--bad) }
";

/// Fetches what is new. After the end there is nothing new.
const SCRIPT: &str = "
const main = document.getElementById('now'), gone = document.getElementById('gone');
async function look() {
  try {
    const answer = await fetch('now' + location.search, { cache: 'no-store' });
    if (!answer.ok) throw answer.status;
    const text = await answer.text();
    if (main.innerHTML !== text) main.innerHTML = text;
    gone.style.display = 'none';
    if (document.getElementById('ended')) return;
  } catch { gone.style.display = 'block'; }
  setTimeout(look, 1000);
}
setTimeout(look, 1000);
";

/// Returns the whole page, with a script of this nonce.
pub fn page(nonce: &str) -> String {
    let name = live().map_or(String::new(), |live| live.name.clone());
    let title = format!("symbolon {name}");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(LOOKS)) }
            }
            body {
                h1 { (title) }
                p #gone { "The command does not answer: it has ended, or the connection is lost." }
                main #now { (PreEscaped(now())) }
                noscript { p { "Reload this page to see the progress." } }
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Returns the part that changes.
pub fn now() -> String {
    let Some(mut live) = live() else { return String::new() };
    live.looked = Some(Instant::now());
    live.seen |= live.end.is_some();
    body(&live).into_string()
}

fn body(live: &Live) -> Markup {
    let now = live.end.as_ref().map_or(live.seconds(), |(at, _)| *at);
    let elapsed = clock(Duration::from_secs_f64(now));
    html! {
        @match &live.end {
            None if live.parties.is_empty() => p { span.state { (live.doing) } ", for " (elapsed) "." }
            None => p { span.state { "Working" } ", for " (elapsed) "." }
            Some((_, None)) => p #ended { span.state { "Finished" } " after " (elapsed) "." }
            Some((_, Some(why))) => p #ended .failed {
                span.state { "Failed" } " after " (elapsed) ": " (why)
            }
        }
        @if let Some(title) = &live.title { p { "Measurement " (title) } }
        @if !live.parties.is_empty() {
            h2 { "Parties" }
            (keys(live))
            @let begin = begin(live);
            @for ((party, place), (_, done)) in live.board.parties().iter().zip(&live.parties) {
                (self::party(*party, place, done, begin, now, live.end.is_some()))
            }
        }
        @if let (Some(report), Some(_)) = (&live.report, &live.end) {
            h2 { "Report" }
            (PreEscaped(report))
        }
        h2 { "Log" }
        div.log {
            @for (at, line) in live.log.iter().rev() {
                div { (clock(Duration::from_secs_f64(*at))) "  " (line) }
            }
        }
    }
}

/// Returns when the first phase that is shown began.
fn begin(live: &Live) -> f64 {
    let phases = live.parties.iter().flat_map(|(_, party)| &party.phases);
    phases.map(|phase| phase.begin).fold(f64::MAX, f64::min)
}

fn keys(live: &Live) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for phase in live.parties.iter().flat_map(|(_, party)| &party.phases) {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    html! {
        @for name in names {
            span.key style=(format!("background:{}", css(phase_colour(name)))) {} (name)
        }
    }
}

fn party(
    number: PartyId,
    place: &Place,
    done: &Party,
    begin: f64,
    now: f64,
    ended: bool,
) -> Markup {
    let (finished, total) = place.fraction().unwrap_or((0, 1));
    let percent = 100.0 * finished as f64 / total.max(1) as f64;
    let span = (now - begin).max(1e-6);
    let piece = |phase: &Phase| {
        let end = phase.end.unwrap_or(now);
        let left = 100.0 * (phase.begin - begin) / span;
        let width = 100.0 * (end - phase.begin).max(0.0) / span;
        let colour = css(phase_colour(&phase.name));
        format!("left:{left:.2}%;width:{width:.2}%;background:{colour}")
    };
    html! {
        div.party {
            b { "Party " (number) } @if !ended { ": " (place.text()) }
            div.bars {
                @if !ended {
                    span { "this step" }
                    div.bar { div style=(format!("width:{percent:.1}%")) {} }
                }
                span { "phases so far" }
                div.phases { @for phase in &done.phases { div title=(phase.name) style=(piece(phase)) {} } }
            }
            div.wide { table {
                tr { th { "phase" } th { "time" } th { "sent" } th { "received" } }
                @for phase in &done.phases {
                    tr {
                        td { (phase.name) }
                        td { (time(phase.end.unwrap_or(now) - phase.begin)) }
                        @for count in phase.bytes() { td { (counted(phase, count)) } }
                    }
                }
            } }
        }
    }
}

/// Formats bytes. For a phase that has not ended, they are known only if its steps report them.
fn counted(phase: &Phase, count: u64) -> String {
    if count == 0 && phase.end.is_none() { "–".to_string() } else { bytes(count) }
}

/// Returns what phases cost.
pub fn costs(parties: &[PartyJson], choice: &str) -> Markup {
    let head = ["party", "phase", "sent", "received", "messages", "rounds", "time"];
    html! {
        p { (choice.trim()) }
        div.wide { table {
            tr { @for name in head { th { (name) } } }
            @for party in parties {
                @for phase in &party.phases {
                    tr {
                        td { (party.party) " (" (party.role) ")" }
                        td { (phase.phase) }
                        td { (bytes(phase.bytes_sent)) }
                        td { (bytes(phase.bytes_received)) }
                        td { (phase.messages_sent) }
                        td { (phase.rounds) }
                        td { (time(phase.seconds)) }
                    }
                }
            }
        } }
    }
}
