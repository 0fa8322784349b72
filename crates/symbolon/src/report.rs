//! What a session cost, by phase.

use symbolon_transport::{Meter, PhaseReport};

/// The phase between connecting and preprocessing: handshake, base OTs, global keys.
pub const SETUP: &str = "setup";
/// Function-independent preprocessing.
pub const INDEPENDENT: &str = "independent";
/// Function-dependent preprocessing.
pub const DEPENDENT: &str = "dependent";
/// Evaluation on the inputs.
pub const ONLINE: &str = "online";
/// All three phases at once, for a circuit that is not kept: see
/// [`Config::segment_gates`](crate::Config::segment_gates).
pub const STREAMED: &str = "streamed";
/// The time between the phases. It belongs to the caller and is never reported.
pub(crate) const IDLE: &str = "idle";

/// What every phase of a session has cost one party so far.
///
/// Bytes are those that this party's protocol sent and received, above TLS and TCP. The wait for
/// the peer to appear and the caller's own time between phases are not counted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// The phases that were entered: [`SETUP`], [`INDEPENDENT`], [`DEPENDENT`], [`ONLINE`],
    /// [`STREAMED`], in this order. A phase that was entered several times is summed up.
    pub phases: Vec<PhaseReport>,
}

impl Report {
    pub(crate) fn of(meter: &Meter) -> Report {
        let order = [SETUP, INDEPENDENT, DEPENDENT, ONLINE, STREAMED];
        let all = meter.report();
        let pick = |name: &&str| all.iter().find(|phase| phase.phase == *name).cloned();
        Report { phases: order.iter().filter_map(pick).collect() }
    }

    /// Returns the phase with this name, if it was entered.
    pub fn phase(&self, name: &str) -> Option<&PhaseReport> {
        self.phases.iter().find(|phase| phase.phase == name)
    }

    /// Adds what another session cost, phase by phase.
    pub fn add(&mut self, other: &Report) {
        for phase in &other.phases {
            let Some(sum) = self.phases.iter_mut().find(|sum| sum.phase == phase.phase) else {
                self.phases.push(phase.clone());
                continue;
            };
            sum.bytes_sent += phase.bytes_sent;
            sum.bytes_received += phase.bytes_received;
            sum.messages_sent += phase.messages_sent;
            sum.messages_received += phase.messages_received;
            sum.rounds += phase.rounds;
            sum.seconds += phase.seconds;
            let cpu = sum.cpu_seconds.zip(phase.cpu_seconds);
            sum.cpu_seconds = cpu.map(|(sum, phase)| sum + phase);
        }
    }

    /// Returns the difference from `earlier`, a report of the same session, without phases in which
    /// nothing happened.
    pub fn since(&self, earlier: &Report) -> Report {
        let mut phases = Vec::new();
        for now in &self.phases {
            let mut difference = now.clone();
            if let Some(before) = earlier.phase(&now.phase) {
                difference.bytes_sent = now.bytes_sent.saturating_sub(before.bytes_sent);
                difference.bytes_received =
                    now.bytes_received.saturating_sub(before.bytes_received);
                difference.messages_sent = now.messages_sent.saturating_sub(before.messages_sent);
                difference.messages_received =
                    now.messages_received.saturating_sub(before.messages_received);
                difference.rounds = now.rounds.saturating_sub(before.rounds);
                difference.seconds -= before.seconds;
                let cpu = now.cpu_seconds.zip(before.cpu_seconds);
                difference.cpu_seconds = cpu.map(|(now, before)| now - before);
                if difference.messages_sent + difference.messages_received == 0
                    && difference.seconds == 0.0
                {
                    continue;
                }
            }
            phases.push(difference);
        }
        Report { phases }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_come_in_order_without_idle_time() {
        let meter = Meter::new();
        for phase in [IDLE, SETUP, IDLE, INDEPENDENT, DEPENDENT, IDLE] {
            meter.set_phase(phase);
        }
        let names: Vec<_> = Report::of(&meter).phases.into_iter().map(|p| p.phase).collect();
        assert_eq!(names, [SETUP, INDEPENDENT, DEPENDENT]);
    }

    #[test]
    fn a_difference_holds_only_what_was_added() {
        let meter = Meter::new();
        meter.set_phase(SETUP);
        meter.set_phase(ONLINE);
        meter.set_phase(IDLE);
        let before = Report::of(&meter);
        meter.set_phase(ONLINE);
        std::thread::sleep(std::time::Duration::from_millis(1));
        meter.set_phase(IDLE);
        let added = Report::of(&meter).since(&before);
        assert_eq!(added.phases.len(), 1);
        assert_eq!(added.phases[0].phase, ONLINE);
        assert!(added.phases[0].seconds >= 0.001);
    }
}
