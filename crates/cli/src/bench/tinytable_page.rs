//! The report of `bench tinytable`.

use maud::{Markup, html};
use plotters::style::RGBColor;
use symbolon::measure::TableTimes;

use super::page::{STYLE, key, lines, machine, overview, svg};
use super::plots::{Axis, Piece, Quantity, bars, css, grouped, phase_colour};
use super::result::{link_name, threads};
use super::tinytable_result::{self, Blocks, BlocksJson, Variant};
use crate::cost_table::{bytes, time};
use crate::error::CliResult;
use crate::page::document;

/// The ways to run blocks, and whose seconds they are; they are far apart, and are drawn apart.
type Way = (&'static str, fn(&TableTimes) -> &Vec<f64>);
const WAYS: [Way; 3] = [
    ("one block alone", |party| &party.sequential),
    ("of many, on fresh material", |party| &party.fresh),
    ("of many, material reused*", |party| &party.shared),
];

/// The whole page.
///
/// # Errors
/// An internal failure when a plot cannot be drawn.
pub fn page(result: &BlocksJson) -> CliResult<String> {
    let many = &result.measurements;
    let scaling = scaling(many)?;
    let each: Vec<Markup> = many.iter().map(one).collect::<CliResult<_>>()?;
    let body = html! {
        (machine(&result.machine))
        @if many.len() > 1 {
            h2 { "All measurements" }
            p { "Medians, least and most in brackets, for one block; the slower party's." }
            (overview(&tinytable_result::overview(many)))
            p { (tinytable_result::note()) }
        }
        (scaling)
        @for section in &each { (section) }
    };
    Ok(document("symbolon bench tinytable", STYLE, &body))
}

/// Seconds of a block by threads and by the MACs' length, where there are several.
fn scaling(many: &[Blocks]) -> CliResult<Markup> {
    let mut figures = Vec::new();
    for axis in [Axis::Threads, Axis::MacBits] {
        for (way, of) in WAYS {
            let points = many.iter().flat_map(|blocks| {
                blocks.variants.iter().map(move |variant| {
                    let name = format!("{}{}", variant.name, others(axis, blocks));
                    (name, place(axis, blocks), variant.seconds(of))
                })
            });
            let series = grouped(points);
            if !series.is_empty() {
                let what = format!("Time online, {way},");
                figures.push(lines(&what, axis, Quantity::Time, &series)?);
            }
        }
    }
    Ok(html! {
        @if !figures.is_empty() {
            h2 { "Scaling" }
            @for figure in &figures { (figure) }
        }
    })
}

fn place(axis: Axis, blocks: &Blocks) -> f64 {
    match axis {
        Axis::MacBits => f64::from(blocks.mac_bits),
        _ => blocks.threads as f64,
    }
}

/// Everything else that a measurement is of.
fn others(axis: Axis, blocks: &Blocks) -> String {
    let own = match axis {
        Axis::MacBits => threads(blocks.threads),
        _ => format!("{}-bit MACs", blocks.mac_bits),
    };
    let link = link_name(blocks.link.as_deref());
    format!(", {own}, {link}, rho {}, {}", blocks.rho, blocks.ot)
}

fn one(blocks: &Blocks) -> CliResult<Markup> {
    let size = |count: f64| bytes(count.round() as u64);
    let online = phase_colour("online");
    let mut figures = Vec::new();
    for (way, of) in WAYS {
        let plot = stacked(blocks, &time, |variant| vec![(variant.seconds(of).median, online)])?;
        figures.push((html! { "Time online, " (way) ":" }, plot));
    }
    let (triples, tables) = (phase_colour("independent"), phase_colour("dependent"));
    let preparing = stacked(blocks, &time, |variant| {
        vec![
            (variant.seconds(|party| &party.independent).median, triples),
            (variant.seconds(|party| &party.dependent).median, tables),
        ]
    })?;
    let caption = html! {
        "Time to prepare a block:"
        (key(&css(triples))) "triples and masks" (key(&css(tables))) "tables from them"
    };
    figures.push((caption, preparing));
    type Bytes = fn(&TableTimes) -> f64;
    let traffic: [(_, Bytes, _); 2] = [
        ("to prepare it", |party| party.preprocessing_bytes, triples),
        ("online", |party| party.batch_bytes, online),
    ];
    for (what, of, colour) in traffic {
        let plot = stacked(blocks, &size, |variant| vec![(variant.most(of), colour)])?;
        figures.push((html! { "Sent for a block of many " (what) ":" }, plot));
    }
    Ok(html! {
        h2 { (blocks.title()) }
        p { (blocks.runs()) "." }
        (overview(&blocks.table()))
        p { (tinytable_result::note()) }
        @for (caption, plot) in &figures {
            figure { figcaption { (caption) } (plot) }
        }
    })
}

/// A bar for each variant, of pieces behind each other, each as long as it says.
fn stacked(
    blocks: &Blocks,
    unit: &dyn Fn(f64) -> String,
    of: impl Fn(&Variant) -> Vec<(f64, RGBColor)>,
) -> CliResult<Markup> {
    let names: Vec<String> = blocks.variants.iter().map(|v| v.name.to_string()).collect();
    let row = |variant: &Variant| -> Vec<Piece> {
        let mut end = 0.0;
        let piece = |(length, colour)| {
            end += length;
            (end - length, end, colour)
        };
        of(variant).into_iter().map(piece).collect()
    };
    svg(bars(&names, &blocks.variants.iter().map(row).collect::<Vec<_>>(), unit))
}
