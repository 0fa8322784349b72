//! Plots of measurements, each as one SVG element.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use symbolon::OptionSpec;
use symbolon::options::Values;

use super::args::TRIPLES;
use super::plan;
use super::result::{self, Measured, link_name, rate};
use super::spread::Spread;
use crate::args::given::protocol_options;
use crate::common::colours::{phase_colour, series_colour};
use crate::common::cost_table::{bytes, time};

/// The result of drawing; drawing in memory does not fail.
pub type Drawn = Result<String, Box<dyn Error>>;

const WIDTH: u32 = 760;
const FONT: (&str, i32) = ("sans-serif", 13);

/// A piece of a bar: where it begins and ends, and its colour.
pub type Piece = (f64, f64, RGBColor);

/// Plots the phases of a run on a time axis, with a bar for every party.
pub fn timeline(measured: &Measured) -> Drawn {
    let of = |spans: &Vec<crate::common::timeline::Span>| {
        let piece = |span: &crate::common::timeline::Span| {
            (span.begin, span.begin + span.seconds, phase_colour(&span.phase))
        };
        spans.iter().map(piece).collect()
    };
    bars(&names(measured), &measured.timeline.iter().map(of).collect::<Vec<_>>(), &time)
}

/// Plots the bytes that the parties sent, with a bar for every party and a piece for every phase.
pub fn traffic(measured: &Measured) -> Drawn {
    let of = |party: &super::result::PartyMeasured| {
        stacked(party.phases.iter().map(|phase| (phase.bytes_sent as f64, phase.phase.as_str())))
    };
    bars(&names(measured), &measured.costs.iter().map(of).collect::<Vec<_>>(), &|count| {
        bytes(count.round() as u64)
    })
}

/// Plots the median times of the phases, with a bar for every measurement.
pub fn compared_times(many: &[Measured]) -> Drawn {
    compared(many, |phase| phase.seconds.median, &time)
}

/// Plots the bytes that a party sent at most, with a bar for every measurement.
pub fn compared_bytes(many: &[Measured]) -> Drawn {
    compared(many, |phase| phase.bytes_sent as f64, &|count| bytes(count.round() as u64))
}

fn compared(
    many: &[Measured],
    length: impl Fn(&result::PhaseOfAll) -> f64,
    unit: &dyn Fn(f64) -> String,
) -> Drawn {
    let names: Vec<String> = many.iter().map(|one| result::short_name(one, many)).collect();
    let rows = many.iter().map(|measured| {
        let lengths = measured.phases.iter().map(|phase| (length(phase), phase.phase.as_str()));
        stacked(lengths)
    });
    bars(&names, &rows.collect::<Vec<_>>(), unit)
}

/// Returns the pieces of a bar, one after the other, from the lengths and names of phases.
fn stacked<'a>(lengths: impl Iterator<Item = (f64, &'a str)>) -> Vec<Piece> {
    let mut end = 0.0;
    let piece = |(length, phase): (f64, &str)| {
        let begin = end;
        end += length;
        (begin, end, phase_colour(phase))
    };
    lengths.map(piece).collect()
}

fn names(measured: &Measured) -> Vec<String> {
    let name = |costs: &super::result::PartyMeasured| format!("{} ({})", costs.party, costs.role);
    measured.costs.iter().map(name).collect()
}

/// Plots bars from the top down, with their names and an axis of this unit.
pub fn bars(names: &[String], rows: &[Vec<Piece>], unit: &dyn Fn(f64) -> String) -> Drawn {
    let end = rows.iter().flatten().map(|(_, end, _)| *end).fold(0.0, f64::max);
    // An axis must have a length.
    let end = if end > 0.0 { end } else { 1.0 };
    let count = rows.len() as i32;
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32;
    drawn(45 + 26 * rows.len() as u32, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(28)
            .y_label_area_size(longest.clamp(14, 48) * 7 + 12)
            .build_cartesian_2d(0.0..end, (0..count - 1).into_segmented())?;
        let label = |place: &SegmentValue<i32>| match place {
            SegmentValue::CenterOf(place) => {
                names.get((count - 1 - place) as usize).cloned().unwrap_or_default()
            }
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .y_labels(rows.len())
            .y_label_formatter(&label)
            .x_labels(8)
            .x_label_formatter(&|value| if *value == 0.0 { "0".to_string() } else { unit(*value) })
            .label_style(FONT)
            .draw()?;
        for (place, pieces) in (0..count).rev().zip(rows) {
            let bar = |(begin, end, colour): &Piece| {
                let corners =
                    [(*begin, SegmentValue::Exact(place)), (*end, SegmentValue::Exact(place + 1))];
                let mut bar = Rectangle::new(corners, colour.filled());
                bar.set_margin(3, 3, 0, 0);
                bar
            };
            chart.draw_series(pieces.iter().map(bar))?;
        }
        Ok(())
    })
}

/// What a scaling plot has on its horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// How many parties.
    Parties,
    /// Threads of each.
    Threads,
    /// AND gates of the circuit, or triples.
    Gates,
    /// An option of a protocol, which takes numbers.
    Option(&'static OptionSpec),
}

/// What it has on its vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Gates or triples a second.
    Rate,
    /// Bytes of memory of the largest process.
    Memory,
}

/// Points that belong together: their name, and their horizontal and vertical positions.
pub type Series = (String, Vec<(f64, Spread)>);

impl Axis {
    /// Returns all.
    pub fn all() -> Vec<Axis> {
        let numbers = protocol_options().filter(|spec| matches!(spec.values, Values::Numbers(_)));
        let own = [Axis::Parties, Axis::Threads, Axis::Gates];
        own.into_iter().chain(numbers.map(Axis::Option)).collect()
    }

    /// Returns its label.
    pub fn name(self) -> String {
        match self {
            Axis::Parties => "parties".to_string(),
            Axis::Threads => "threads of each party".to_string(),
            Axis::Gates => "AND gates or triples in a run".to_string(),
            Axis::Option(spec) => spec.key(),
        }
    }

    fn of(self, measured: &Measured) -> f64 {
        match self {
            Axis::Parties => f64::from(measured.parties),
            Axis::Threads => measured.threads as f64,
            Axis::Gates => measured.count as f64,
            Axis::Option(spec) => {
                let number = measured.options.get(spec).and_then(|option| option.value.number());
                number.unwrap_or(0) as f64
            }
        }
    }

    /// Returns all other parameters of a measurement.
    fn others(self, measured: &Measured) -> String {
        let Measured { parties, threads, workload, protocol, link, rho, .. } = measured;
        let mut parts = match (self, protocol) {
            // Sizes of one circuit, such as add:8 and add:32; unlike circuits have no line.
            (Axis::Gates, Some(_)) => vec![family(workload).to_string()],
            (Axis::Gates, None) => vec![TRIPLES.to_string()],
            _ => vec![workload.clone()],
        };
        parts.extend(protocol.map(str::to_string));
        if self != Axis::Parties {
            parts.push(format!("{parties} parties"));
        }
        if self != Axis::Threads {
            parts.push(plan::threads(*threads));
        }
        parts.push(link_name(link.as_deref()));
        parts.push(format!("rho {rho}"));
        let own = if let Axis::Option(spec) = self { Some(spec) } else { None };
        parts.extend(measured.options.unusual(own));
        parts.extend(measured.choice.asked());
        parts.join(", ")
    }

    /// Returns every series along this axis with at least two points.
    pub fn series(self, quantity: Quantity, many: &[Measured]) -> Vec<Series> {
        grouped(many.iter().filter_map(|measured| {
            let height = match quantity {
                Quantity::Rate => measured.per_second,
                Quantity::Memory => Spread::of(measured.peak_memory.map(|peak| peak as f64))?,
            };
            Some((self.others(measured), self.of(measured), height))
        }))
    }

    /// Plots a line for every series, through the medians, with bars from the least to the most.
    pub fn plot(self, quantity: Quantity, series: &[Series]) -> Drawn {
        let places = || series.iter().flat_map(|(_, points)| points);
        let from = places().map(|(x, _)| *x).fold(f64::MAX, f64::min);
        let to = places().map(|(x, _)| *x).fold(0.0, f64::max);
        let top = places().map(|(_, y)| y.most).fold(0.0, f64::max) * 1.05;
        let top = if top > 0.0 { top } else { 1.0 };
        drawn(280, |root| match self {
            // Sizes grow by factors, and none is zero: the scale is logarithmic.
            Axis::Gates => {
                let range = (from.max(1.0) * 0.8..to.max(2.0) * 1.25).log_scale();
                self.lines(root, range, top, quantity, series)
            }
            Axis::Option(_) => self.lines(root, from - 8.0..to + 8.0, top, quantity, series),
            _ => self.lines(root, from - 0.2..to + 0.2, top, quantity, series),
        })
    }

    fn lines<X>(
        self,
        root: &Canvas<'_>,
        range: X,
        top: f64,
        quantity: Quantity,
        series: &[Series],
    ) -> Result<(), Box<dyn Error>>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(root)
            .margin(6)
            .margin_right(24)
            .x_label_area_size(42)
            .y_label_area_size(80)
            .build_cartesian_2d(range, 0.0..top)?;
        let whole = |value: &f64| {
            let near = (value - value.round()).abs() < 1e-6;
            if near { rate(*value) } else { String::new() }
        };
        let height = |value: &f64| match quantity {
            Quantity::Rate => rate(*value),
            Quantity::Memory => bytes(value.round() as u64),
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(self.name())
            .x_label_formatter(&whole)
            .y_label_formatter(&height)
            .y_labels(6)
            .label_style(FONT)
            .draw()?;
        for (number, (_, points)) in series.iter().enumerate() {
            let colour = series_colour(number);
            let middle = points.iter().map(|(x, y)| (*x, y.median));
            chart.draw_series(LineSeries::new(middle.clone(), colour.stroke_width(2)))?;
            chart.draw_series(middle.map(|point| Circle::new(point, 3, colour.filled())))?;
            chart.draw_series(points.iter().map(|(x, y)| {
                ErrorBar::new_vertical(*x, y.least, y.median, y.most, colour.filled(), 8)
            }))?;
        }
        Ok(())
    }
}

/// Returns a circuit's name without its size.
fn family(workload: &str) -> &str {
    workload.split_once(':').map_or(workload, |(name, _)| name)
}

/// Groups points by name into series in ascending order, without series of a single position.
pub fn grouped(points: impl IntoIterator<Item = (String, f64, Spread)>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (name, place, height) in points {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push((place, height)),
            None => all.push((name, vec![(place, height)])),
        }
    }
    for (_, points) in &mut all {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let spans = |(_, points): &Series| points.first().map(|p| p.0) < points.last().map(|p| p.0);
    all.retain(spans);
    all
}

type Canvas<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// Draws on a canvas of this height, without a background: the page has one.
fn drawn(height: u32, draw: impl FnOnce(&Canvas<'_>) -> Result<(), Box<dyn Error>>) -> Drawn {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&root)?;
        root.present()?;
    }
    Ok(svg)
}
