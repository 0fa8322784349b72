//! What was made ahead of time, as Python has it.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use symbolon::Report;
use symbolon::store::{Entry, ItemId, ItemKind, ItemState};
use symbolon::stored::{GATES_PER_CHUNK, PreparedItems};

use crate::outputs::phases;

/// What was prepared.
pub(crate) fn prepared<'py>(py: Python<'py>, made: &PreparedItems) -> PyResult<Bound<'py, PyDict>> {
    let dict = filled(py, &made.items, &made.report)?;
    dict.set_item("from_pools", made.from_pools)?;
    dict.set_item("dealt", made.dealt)?;
    Ok(dict)
}

/// What was entered into the stores.
pub(crate) fn filled<'py>(
    py: Python<'py>,
    items: &[ItemId],
    report: &Report,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("items", items.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    dict.set_item("report", phases(py, report)?)?;
    Ok(dict)
}

/// What a store has.
pub(crate) fn entries<'py>(
    py: Python<'py>,
    entries: &[Entry],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    entries.iter().map(|one| entry(py, one)).collect()
}

fn entry<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let (meta, dict) = (&entry.meta, PyDict::new(py));
    let (state, reason) = match &entry.state {
        ItemState::Available => ("available", None),
        ItemState::Used => ("used", None),
        ItemState::Void(reason) => ("void", Some(reason)),
    };
    let left = |place: usize| match entry.state {
        ItemState::Available => meta.counts[place].saturating_sub(entry.next[place]),
        _ => 0,
    };
    let is_of_gates = meta.kind == ItemKind::Pool && meta.components.is_empty();
    let (runs, gates, bits) = match (meta.kind, is_of_gates) {
        (ItemKind::Prepared, _) => (left(0), 0, 0),
        (ItemKind::Pool, false) => (0, 0, 0),
        (ItemKind::Pool, true) => {
            let bits = (1..meta.counts.len()).map(left).min();
            (0, left(0) * GATES_PER_CHUNK as u64, bits.unwrap_or(0))
        }
    };
    let kind = if meta.kind == ItemKind::Pool { "pool" } else { "prepared" };
    dict.set_item("item", entry.id.to_string())?;
    dict.set_item("kind", kind)?;
    dict.set_item("protocol", &meta.protocol)?;
    dict.set_item("rho", meta.rho)?;
    dict.set_item("dealer", &meta.dealer)?;
    dict.set_item("circuit", meta.circuit.map(hex::encode))?;
    dict.set_item("name", &meta.name)?;
    dict.set_item("state", state)?;
    dict.set_item("reason", reason)?;
    dict.set_item("runs", runs)?;
    dict.set_item("and_gates", gates)?;
    dict.set_item("input_bits", bits)?;
    dict.set_item("bytes", if state == "used" { 0 } else { entry.bytes })?;
    dict.set_item("created", entry.created)?;
    Ok(dict)
}
