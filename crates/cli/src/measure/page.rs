//! The report: one self-contained page with plots and tables.

use maud::{Markup, PreEscaped, html};

use super::machine::Machine;
use super::plots::{
    Axis, Drawn, Quantity, Series, compared_bytes, compared_times, timeline, traffic,
};
use super::result::{BenchJson, Measured, PHASES, RATES, Table, phase_table, rate_table};
use crate::common::colours::{css, phase_colour, series_colour};
use crate::common::cost_table::{bytes, time};
use crate::common::error::{CliError, CliResult};
use crate::common::page::document;

pub const STYLE: &str = "
body { max-width: 60em } td:first-child { text-align: left }
figure { margin: 1em 0; overflow-x: auto } figcaption { font-size: .9em; color: var(--faint) }
.warning { color: var(--bad); font-weight: bold }
";

/// Returns the whole page.
///
/// # Errors
/// An internal failure when a plot cannot be drawn.
pub fn page(result: &BenchJson) -> CliResult<String> {
    let mut names: Vec<&str> =
        result.measurements.iter().map(|one| one.workload.as_str()).collect();
    names.dedup();
    let title = format!("symbolon bench {}", names.join(" "));
    Ok(document(&title, STYLE, &body(result)?))
}

/// Returns the page without its title, as a part of another page.
///
/// # Errors
/// Those of [`page`].
pub fn part(result: &BenchJson) -> CliResult<String> {
    let body = body(result)?;
    Ok(html! { style { (PreEscaped(STYLE)) } (body) }.into_string())
}

fn body(result: &BenchJson) -> CliResult<Markup> {
    let scaling = scaling(&result.measurements)?;
    let each: Vec<Markup> = result.measurements.iter().map(one).collect::<CliResult<_>>()?;
    Ok(html! {
        (machine(&result.machine))
        @if let Some(other) = &result.other_machine { (machine(other)) }
        h2 { "All measurements" }
        p { (RATES) }
        (overview(&rate_table(&result.measurements)))
        (compared(&result.measurements)?)
        h2 { "Phases" }
        p { (PHASES) }
        (overview(&phase_table(&result.measurements)))
        (scaling)
        @for section in &each { (section) }
    })
}

pub fn machine(machine: &Machine) -> Markup {
    html! {
        @if machine.debug {
            p.warning { "This program was built for debugging: its times say nothing." }
        }
        table {
            tr { td { "symbolon" } td { (machine.version) ", " (machine.backend) " kernels" } }
            tr { td { "processor" } td {
                (machine.processor.as_deref().unwrap_or("unknown")) ", " (machine.cores) " cores"
            } }
            @if let Some(memory) = machine.memory { tr { td { "memory" } td { (bytes(memory)) } } }
            tr { td { "system" } td { (machine.system) } }
            tr { td { "began" } td { (machine.began) } }
            @if let Some(load) = machine.load {
                tr { td { "load before" } td { (format!("{load:.2}")) } }
            }
        }
    }
}

/// Returns a table whose first row has the headings.
pub fn overview(Table { rows, names }: &Table) -> Markup {
    html! {
        div.wide {
            table {
                @for (number, row) in rows.iter().enumerate() {
                    tr {
                        @for (place, cell) in row.iter().enumerate() {
                            @let class = (place < *names).then_some("name");
                            @if number == 0 { th class=[class] { (cell) } }
                            @else { td class=[class] { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns plots of all measurements beside each other, if there are several.
fn compared(many: &[Measured]) -> CliResult<Markup> {
    if many.len() < 2 {
        return Ok(html! {});
    }
    let mut phases: Vec<&str> = Vec::new();
    for phase in many.iter().flat_map(|measured| &measured.phases) {
        if !phases.contains(&phase.phase.as_str()) {
            phases.push(&phase.phase);
        }
    }
    let keys = html! { @for phase in phases { (key(&css(phase_colour(phase)))) (phase) } };
    Ok(html! {
        figure {
            figcaption { "Time of a run, medians, by phase:" (keys) }
            (svg(compared_times(many))?)
        }
        figure {
            figcaption { "Bytes of a run, the most that a party sent, by phase:" (keys) }
            (svg(compared_bytes(many))?)
        }
    })
}

/// Returns a plot for each axis along which something was measured at several points.
fn scaling(many: &[Measured]) -> CliResult<Markup> {
    let mut figures = Vec::new();
    for axis in Axis::all() {
        for (quantity, what) in [
            (Quantity::Rate, "AND gates or triples a second"),
            (Quantity::Memory, "Memory of the largest process"),
        ] {
            let series = axis.series(quantity, many);
            if series.is_empty() {
                continue;
            }
            figures.push(lines(what, axis, quantity, &series)?);
        }
    }
    Ok(html! {
        @if !figures.is_empty() {
            h2 { "Scaling" }
            @for figure in &figures { (figure) }
        }
    })
}

/// Returns a plot of series along an axis, with a legend.
pub fn lines(what: &str, axis: Axis, quantity: Quantity, series: &[Series]) -> CliResult<Markup> {
    let plot = svg(axis.plot(quantity, series))?;
    Ok(html! {
        figure {
            figcaption {
                (what) " by " (axis.name()) ":"
                @for (number, (name, _)) in series.iter().enumerate() {
                    br;
                    (key(&css(series_colour(number)))) (name)
                }
            }
            (plot)
        }
    })
}

/// Returns a square of a colour.
pub fn key(colour: &str) -> Markup {
    html! { span.key style={ "background:" (colour) } {} }
}

fn one(measured: &Measured) -> CliResult<Markup> {
    let phases = measured.phases.iter().map(|phase| phase.phase.as_str());
    let keys = html! {
        @for phase in phases { (key(&css(phase_colour(phase)))) (phase) }
    };
    let (timeline, traffic) = (svg(timeline(measured))?, svg(traffic(measured))?);
    Ok(html! {
        h2 { (measured.title()) }
        p {
            (measured.runs()) ". " (measured.choice.line().trim()) "."
            @for line in measured.rates().lines() { br; (line) }
        }
        figure {
            figcaption { "When the phases were, in a run that took about the median, after the set-up:" (keys) }
            (timeline)
        }
        figure {
            figcaption { "Bytes sent:" (keys) }
            (traffic)
        }
        (costs(measured))
    })
}

fn costs(measured: &Measured) -> Markup {
    let head = ["party", "phase", "time", "processors", "sent", "received", "messages", "rounds"];
    html! {
        div.wide {
            table {
                tr { @for name in head { th { (name) } } }
                @for party in &measured.costs {
                    @for phase in &party.phases {
                        tr {
                            td { (party.party) " (" (party.role) ")" }
                            td { (phase.phase) }
                            td { (phase.seconds.show(time)) }
                            td { (phase.cpu_seconds.map_or(String::new(), |cpu| cpu.show(time))) }
                            td { (bytes(phase.bytes_sent)) }
                            td { (bytes(phase.bytes_received)) }
                            td { (phase.messages_sent) }
                            td { (phase.rounds) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a plot as part of the page.
///
/// # Errors
/// An internal failure when it cannot be drawn.
pub fn svg(drawn: Drawn) -> CliResult<Markup> {
    drawn
        .map(PreEscaped)
        .map_err(|error| CliError::internal(format!("a plot could not be drawn: {error}")))
}
