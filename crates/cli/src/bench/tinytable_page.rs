//! The report of `bench tinytable`.

use maud::{Markup, html};
use plotters::style::RGBColor;

use super::page::{document, key, lines, overview, svg};
use super::plots::{Axis, Piece, Quantity, bars, css, grouped, phase_colour};
use super::tinytable::{self, Blocks, BlocksJson, Variant};
use crate::failure::Outcome;
use crate::table::{bytes, time};
use crate::tables::TableJson;

/// The ways to run blocks, and whose seconds they are.
type Way = (&'static str, fn(&TableJson) -> &Vec<f64>);
const ALONE: Way = ("alone", |party| &party.sequential);
const FRESH: Way = ("fresh", |party| &party.fresh);
const REUSED: Way = ("reused*", |party| &party.shared);

/// The whole page.
///
/// # Errors
/// An internal failure when a plot cannot be drawn.
pub fn page(result: &BlocksJson) -> Outcome<String> {
    let many = &result.measurements;
    let scaling = scaling(many)?;
    let each: Vec<Markup> = many.iter().map(one).collect::<Outcome<_>>()?;
    let body = html! {
        @if many.len() > 1 {
            h2 { "All measurements" }
            p { "Medians, least and most in brackets, for one block; the slower party's." }
            (overview(&tinytable::overview(many)))
            p { (tinytable::note()) }
        }
        (scaling)
        @for section in &each { (section) }
    };
    Ok(document("symbolon bench tinytable", &result.machine, &body))
}

/// Seconds of a block by threads and by the MACs' length, where there are several.
fn scaling(many: &[Blocks]) -> Outcome<Markup> {
    let mut figures = Vec::new();
    for axis in [Axis::Threads, Axis::MacBits] {
        for ways in [&[ALONE][..], &[FRESH, REUSED]] {
            let points = many.iter().flat_map(|blocks| {
                blocks.variants.iter().flat_map(move |variant| {
                    ways.iter().map(move |(way, of)| {
                        let name = format!("{}, {way}{}", variant.name, others(axis, blocks));
                        (name, place(axis, blocks), variant.seconds(*of))
                    })
                })
            });
            let series = grouped(points);
            if !series.is_empty() {
                figures.push(lines("Time online for a block", axis, Quantity::Time, &series)?);
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
        Axis::MacBits => format!("{} threads", blocks.threads),
        _ => format!("{}-bit MACs", blocks.mac_bits),
    };
    let link = blocks.link.as_ref().map_or(String::new(), |link| format!(", {link}"));
    format!(", {own}{link}, rho {}, {}", blocks.rho, blocks.ot)
}

fn one(blocks: &Blocks) -> Outcome<Markup> {
    let online = |ways: &[Way]| {
        let (names, rows): (Vec<_>, Vec<_>) = blocks
            .variants
            .iter()
            .flat_map(|variant| {
                ways.iter().map(move |(way, of)| {
                    let piece = (0.0, variant.seconds(*of).median, phase_colour("online"));
                    (format!("{}, {way}", variant.name), vec![piece])
                })
            })
            .unzip();
        svg(bars(&names, &rows, &time))
    };
    let (alone, batches) = (online(&[ALONE])?, online(&[FRESH, REUSED])?);
    let preparing = stacked(blocks, &time, |variant| {
        [
            (variant.seconds(|party| &party.independent).median, phase_colour("independent")),
            (variant.seconds(|party| &party.dependent).median, phase_colour("dependent")),
        ]
    })?;
    let traffic = stacked(blocks, &|count| bytes(count.round() as u64), |variant| {
        [
            (variant.most(|party| party.preprocessing_bytes), phase_colour("independent")),
            (variant.most(|party| party.batch_bytes), phase_colour("online")),
        ]
    })?;
    let keys = |first: &str, one: &str, then: &str, two: &str| {
        html! { (key(&css(phase_colour(first)))) (one) (key(&css(phase_colour(then)))) (two) }
    };
    Ok(html! {
        h2 { (blocks.title()) }
        p { (blocks.runs()) "." }
        (overview(&blocks.table()))
        p { (tinytable::note()) }
        figure { figcaption { "Online, one block alone:" } (alone) }
        figure { figcaption { "Online, a block of many:" } (batches) }
        figure {
            figcaption {
                "Time to prepare a block:"
                (keys("independent", "triples and masks", "dependent", "tables from them"))
            }
            (preparing)
        }
        figure {
            figcaption {
                "Bytes sent for a block of a batch by the party that sends most:"
                (keys("independent", "to prepare it", "online", "online"))
            }
            (traffic)
        }
    })
}

/// A bar for each variant, of two pieces behind each other.
fn stacked(
    blocks: &Blocks,
    unit: &dyn Fn(f64) -> String,
    of: impl Fn(&Variant) -> [(f64, RGBColor); 2],
) -> Outcome<Markup> {
    let names: Vec<String> = blocks.variants.iter().map(|v| v.name.to_string()).collect();
    let row = |variant: &Variant| -> Vec<Piece> {
        let [(first, one), (second, two)] = of(variant);
        vec![(0.0, first, one), (first, first + second, two)]
    };
    svg(bars(&names, &blocks.variants.iter().map(row).collect::<Vec<_>>(), unit))
}
