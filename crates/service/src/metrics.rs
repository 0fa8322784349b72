//! What a node counts, as OpenMetrics text. Names of functions and parties are the only labels.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use symbolon::stored::FilledStock;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OfFunction {
    pub(crate) function: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OfCall {
    pub(crate) function: String,
    pub(crate) result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OfUpdate {
    pub(crate) result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OfParty {
    pub(crate) party: u16,
}

pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) calls: Family<OfCall, Counter>,
    pub(crate) seconds: Family<OfFunction, Histogram>,
    pub(crate) prepared: Family<OfFunction, Gauge>,
    pub(crate) made: Family<OfFunction, Counter>,
    pub(crate) kept: Family<OfFunction, Counter>,
    pub(crate) voided: Family<OfFunction, Counter>,
    pub(crate) sessions: Family<OfFunction, Gauge>,
    pub(crate) waiting: Family<OfFunction, Gauge>,
    pub(crate) connected: Family<OfParty, Gauge>,
    pub(crate) failed: Family<OfFunction, Counter>,
    pub(crate) updates: Family<OfUpdate, Counter>,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 16))
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("symbolon");
        let new: fn() -> Histogram = seconds;
        let metrics = Metrics {
            calls: Family::default(),
            seconds: Family::new_with_constructor(new),
            prepared: Family::default(),
            made: Family::default(),
            kept: Family::default(),
            voided: Family::default(),
            sessions: Family::default(),
            waiting: Family::default(),
            connected: Family::default(),
            failed: Family::default(),
            updates: Family::default(),
            registry: Registry::default(),
        };
        registry.register("calls", "Calls that ended, by result", metrics.calls.clone());
        let help = "Time from the inputs of this party to the answer, in seconds";
        registry.register("call_seconds", help, metrics.seconds.clone());
        registry.register("prepared", "Prepared executions", metrics.prepared.clone());
        registry.register("made", "Executions that were prepared", metrics.made.clone());
        let help = "Executions that were in the store before a session began";
        registry.register("kept", help, metrics.kept.clone());
        let help = "Executions in the store that not all parties had, and are void";
        registry.register("voided", help, metrics.voided.clone());
        registry.register("sessions", "Open sessions", metrics.sessions.clone());
        registry.register("waiting", "Calls that wait", metrics.waiting.clone());
        let help = "Whether a peer is connected, 1 or 0";
        registry.register("connected", help, metrics.connected.clone());
        registry.register("failed_sessions", "Sessions that failed", metrics.failed.clone());
        let help = "Times that the settings were read again, by result";
        registry.register("updates", help, metrics.updates.clone());
        Metrics { registry, ..metrics }
    }

    pub(crate) fn filled(&self, function: String, filled: &FilledStock) {
        let of = OfFunction { function };
        let FilledStock { kept, made, voided } = *filled;
        for (counter, count) in [(&self.made, made), (&self.kept, kept), (&self.voided, voided)] {
            counter.get_or_create(&of).inc_by(count as u64);
        }
    }

    /// Forgets what a function that is gone has at present.
    pub(crate) fn forget(&self, function: &str) {
        let of = OfFunction { function: function.to_string() };
        for gauge in [&self.prepared, &self.sessions, &self.waiting] {
            gauge.remove(&of);
        }
    }

    pub(crate) fn ended(&self, function: &str, result: &'static str, after: Duration) {
        let of_call = OfCall { function: function.to_string(), result };
        self.calls.get_or_create(&of_call).inc();
        if result == "done" {
            let of_function = OfFunction { function: function.to_string() };
            self.seconds.get_or_create(&of_function).observe(after.as_secs_f64());
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
