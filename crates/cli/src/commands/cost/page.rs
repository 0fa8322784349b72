//! The self-contained page of `cost --html`: the source with the gates of each line.

use std::collections::BTreeMap;

use maud::{Markup, html};
use symbolon_lang::cost::LineCost;
use symbolon_lang::source::Sources;

use super::protocol_name;
use super::report::CostJson;
use crate::common::cost_table::bytes;
use crate::common::page::document;

const STYLE: &str = "
body { max-width: 100em }
.source { overflow-x: auto } .source table { font: 13px/1.5 monospace; width: 100%; margin: 0 }
.source td { border: 0; padding: 0 .4em } .source .code { text-align: left; width: 100%; white-space: pre }
.line { color: var(--faint) } .bar { display: inline-block; height: .75em; background: #c33; vertical-align: middle }
.heat1 { background: #fff7e6 } .heat2 { background: #ffe2b8 } .heat3 { background: #ffc085 }
@media (prefers-color-scheme: dark) { .heat1 { background: #2b2415 } .heat2 { background: #46350f } .heat3 { background: #6b4a0c } }
.columns th { white-space: normal; min-width: 4em }
";

/// Returns the whole page.
pub fn page(cost: &CostJson, sources: &Sources) -> String {
    let title = format!("Cost of {}", cost.program);
    let body = html! {
        (summary(cost))
        @for (file, lines) in files(cost) { (source(file, &lines, cost, sources)) }
    };
    document(&title, STYLE, &body)
}

fn summary(cost: &CostJson) -> Markup {
    let report = &cost.report;
    html! {
        p {
            b { (grouped(report.ands)) } " AND gates among " (cost.parties) " parties"
            @if report.lookups > 0 {
                ", and " (grouped(report.lookups)) " look-ups; with gates for these, "
                (grouped(cost.and_without_lookups)) " AND gates"
            }
            "."
            @if report.unused > 0 {
                " The lines ask for " (grouped(report.unused))
                " more, which no output needs or the optimiser saves: those are saved gates."
            }
            " The depth is " (grouped(report.depth.into())) ", and at most "
            (grouped(report.live_wires)) " wires are live at once."
        }
        h2 { "Bytes by protocol" }
        p {
            "All parties together, for one run at ρ = 40, without the set-up"
            @if let Some(first) = cost.bytes.first() { ", with --ot " (first.ot) }
            ". Bytes of triples are those of the function-independent phase, which `duplo` and `dualex` do not have; \
             the rest are those of the function-dependent and the online phase."
        }
        div.wide { table {
            tr { th { "protocol" } th { "bytes in all" } th { "of triples" } th { "of the rest" } }
            @for protocol in &cost.bytes {
                tr {
                    td.name { (protocol_name(protocol)) }
                    td { (bytes(protocol.total())) }
                    td { (bytes(protocol.triple_bytes)) }
                    td { (bytes(protocol.bytes)) }
                }
            }
        } }
        h2 { "Functions" }
        div.wide { table {
            tr { th { "function" } th.name { "where" } th { "AND gates" } th { "share" } th { "look-ups" } }
            @for function in &report.functions {
                tr {
                    td.name { code { (function.name) } }
                    td.name { (function.file) ":" (function.line) }
                    td { (grouped(function.ands)) }
                    td { (percent(function.ands, report.ands)) }
                    td { (grouped(function.lookups)) }
                }
            }
        } }
        @if !report.hints.is_empty() {
            h2 { "Hidden gates" }
            p { "Written out where they are called, these functions take fewer AND gates: mark them " code { "#[inline]" } "." }
            div.wide { table {
                tr { th { "function" } th.name { "where" } th { "AND gates saved" } }
                @for hint in &report.hints {
                    tr {
                        td.name { code { (hint.function) } }
                        td.name { (hint.file) ":" (hint.line) }
                        td { (grouped(hint.saves)) }
                    }
                }
            } }
        }
        h2 { "Components" }
        p {
            "Depth and live wires are one call's; bytes are those of all calls' own gates, without their triples. \
             Glue is XOR gates between calls."
        }
        div.wide { table.columns {
            tr { th { "component" } th { "calls" } th { "AND gates of a call" } th { "look-ups" } th { "depth" } th { "live wires" } th { "port bits" } th { "glue" } @for (protocol, _) in cost.bytes.iter().zip(&cost.component_bytes[0].bytes) { th { "bytes, " (protocol_name(protocol)) } } }
            @for (component, share) in report.components.iter().zip(&cost.component_bytes) {
                tr {
                    td.name { code { (component.name) } }
                    td { (grouped(component.calls)) }
                    td { (grouped(component.ands)) }
                    td { (grouped(component.lookups)) }
                    td { (grouped(component.depth.into())) }
                    td { (grouped(component.live_wires)) }
                    td { (grouped(component.port_bits)) }
                    td { (grouped(component.glue)) }
                    @for share in &share.bytes { td { (bytes(*share)) } }
                }
            }
        } }
    }
}

/// The gates of lines, by their numbers.
type Lines<'a> = BTreeMap<u32, &'a LineCost>;

/// Returns the files with gates, the main one first, and the gates of their lines.
fn files(cost: &CostJson) -> Vec<(&str, Lines<'_>)> {
    let mut files: Vec<(&str, Lines<'_>)> = vec![(&cost.program, BTreeMap::new())];
    for line in &cost.report.lines {
        let known = files.iter().position(|(file, _)| *file == line.file);
        let place = known.unwrap_or_else(|| {
            files.push((&line.file, BTreeMap::new()));
            files.len() - 1
        });
        files[place].1.insert(line.line, line);
    }
    files
}

fn source(file: &str, gates: &Lines<'_>, cost: &CostJson, sources: &Sources) -> Markup {
    let text = sources.files.iter().find(|source| source.name == file);
    let text = text.map_or("", |source| &source.text);
    let all = cost.report.ands;
    let most = cost.report.lines.iter().map(|line| line.ands).max().unwrap_or(0).max(1);
    html! {
        h2 { (file) }
        div.source {
            table {
                @for (number, line) in (1u32..).zip(text.lines()) {
                    @let costs = gates.get(&number);
                    @let ands = costs.map_or(0, |costs| costs.ands);
                    tr class=[heat(ands, all)] {
                        @if ands > 0 {
                            td.name { span.bar style=(format!("width:{}px", ands.saturating_mul(40).div_ceil(most))) {} }
                            td { (grouped(ands)) }
                            td { (percent(ands, all)) }
                        } @else { td {} td {} td {} }
                        td.line { (number) }
                        td.code { (line) }
                        td.name { @if let Some(costs) = costs { (others(costs)) } }
                    }
                }
            }
        }
    }
}

/// Returns what a line has besides AND gates.
fn others(costs: &LineCost) -> String {
    let counts = [
        (costs.asked.saturating_sub(costs.ands), "saved gate"),
        (costs.lookups, "look-up"),
        (costs.calls, "call"),
        (costs.port_bits, "port bit"),
        (costs.glue, "glue gate"),
        (costs.asserts, "assert"),
        (costs.live_wires, "live wire"),
    ];
    let shown = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {name}{plural}", grouped(count))
    });
    let depth = (costs.depth > 0).then(|| format!("depth {}", grouped(costs.depth)));
    depth.into_iter().chain(shown).collect::<Vec<_>>().join(", ").replace(' ', "\u{a0}")
}

/// Returns how strongly a line is highlighted.
fn heat(ands: u64, all: u64) -> Option<&'static str> {
    match ands.saturating_mul(100).checked_div(all)? {
        _ if ands == 0 => None,
        0..=4 => Some("heat1"),
        5..=19 => Some("heat2"),
        _ => Some("heat3"),
    }
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// Returns a number with a narrow space between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}
