//! Counts what a party sends, receives and waits for, by phase.
//!
//! All channels of a party share one [`Meter`]. Counting takes a few relaxed atomic additions and
//! no lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::progress::{Observer, Progress, Step, Work};

/// The maximum number of phases in a meter; further ones count as the last.
const MAX_PHASES: usize = 64;

/// The minimum time between two reports about one step.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The denominator of fractions of a unit of work: a chunk may be a fraction of its triples.
const UNIT: u64 = 1 << 16;

/// The phase that is current until [`Meter::set_phase`] is called.
pub const FIRST_PHASE: &str = "setup";

/// Counts bytes, messages, rounds, time and processor time, by phase.
///
/// **Bytes** are headers and payloads as the channel writes them, above TLS and TCP. The overhead
/// of TLS and TCP (22 bytes per 16 KiB for TLS 1.3) and the preamble of a connection are not
/// counted.
///
/// **Rounds.** On one lane, a party's actions in a phase form a sequence of runs: a run of sends, a
/// run of receives, a run of sends, and so on. The lane's rounds are the larger of its number of
/// send runs and its number of receive runs. The phase's rounds are those of the lane with the
/// most, over all lanes and peers, because lanes work side by side. So k request-answer pairs are k
/// rounds for both sides, one message each way is one round, and so is a message in only one
/// direction. A change of phase ends a run.
#[derive(Debug)]
pub struct Meter {
    current: AtomicUsize,
    /// Grows with every change of phase, so that lanes notice when a phase is left and re-entered.
    epoch: AtomicUsize,
    counts: [Counts; MAX_PHASES],
    clock: Mutex<Clock>,
    observer: OnceLock<Observer>,
    steps: [StepCount; Step::COUNT],
}

/// The progress of a step of the current phase.
#[derive(Debug, Default)]
struct StepCount {
    total: AtomicU64,
    /// In fractions of [`UNIT`].
    done: AtomicU64,
    /// The time of the last report, in milliseconds since the meter was created.
    reported: AtomicU64,
}

#[derive(Debug, Default)]
struct Counts {
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    messages_sent: AtomicU64,
    messages_received: AtomicU64,
    rounds: AtomicU64,
}

#[derive(Debug)]
struct Clock {
    begin: Instant,
    /// The phases in the order in which they were first entered.
    phases: Vec<Timed>,
    since: Instant,
    /// The processor time of the process at `since`; zero if the system does not report it.
    cpu_since: Duration,
    /// Whether the first phase was requested by name. If not, it is reported only if used.
    first_named: bool,
}

/// A phase's name and times.
#[derive(Debug)]
struct Timed {
    name: &'static str,
    wall: Duration,
    cpu: Duration,
}

impl Timed {
    fn new(name: &'static str) -> Self {
        Timed { name, wall: Duration::ZERO, cpu: Duration::ZERO }
    }
}

/// Returns the processor time of this process, over all threads, if the system reports it.
fn cpu_time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.try_into().ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// What one phase cost one party. The phases are `setup`, `independent` (where it is apart),
/// `dependent` and `online`, or `setup` and `streamed`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PhaseReport {
    /// The phase's name.
    pub phase: String,
    /// Bytes sent to all peers, headers and payloads, above TLS and TCP.
    pub bytes_sent: u64,
    /// Bytes received from all peers, likewise.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Rounds, as [`Meter`] defines them: a request and its answer are one, and so is one message
    /// each way at once.
    pub rounds: u64,
    /// Wall seconds during which the phase was current.
    pub seconds: f64,
    /// Seconds of processor time that the whole process had while the phase was current, whatever
    /// its threads did: also other parties' work if they are in the same process. Unknown
    /// where the system does not tell it.
    pub cpu_seconds: Option<f64>,
}

impl Meter {
    /// Creates a meter with all counts at zero, in the phase [`FIRST_PHASE`], whose time begins
    /// now.
    pub fn new() -> Arc<Self> {
        Arc::new(Meter {
            current: AtomicUsize::new(0),
            epoch: AtomicUsize::new(0),
            counts: std::array::from_fn(|_| Counts::default()),
            observer: OnceLock::new(),
            steps: Default::default(),
            clock: Mutex::new(Clock {
                begin: Instant::now(),
                phases: vec![Timed::new(FIRST_PHASE)],
                since: Instant::now(),
                cpu_since: cpu_time().unwrap_or_default(),
                first_named: false,
            }),
        })
    }

    /// Makes `name` the current phase: from now on everything is counted there. Re-entering a phase
    /// adds to it.
    pub fn set_phase(&self, name: &'static str) {
        let mut clock = self.clock();
        let now = Instant::now();
        let current = self.current.load(Relaxed);
        let since = std::mem::replace(&mut clock.since, now);
        let cpu_now = cpu_time().unwrap_or_default();
        let cpu_since = std::mem::replace(&mut clock.cpu_since, cpu_now);
        clock.phases[current].wall += now - since;
        clock.phases[current].cpu += cpu_now.saturating_sub(cpu_since);
        let index = match clock.phases.iter().position(|phase| phase.name == name) {
            Some(index) => index,
            None if clock.phases.len() < MAX_PHASES => {
                clock.phases.push(Timed::new(name));
                clock.phases.len() - 1
            }
            None => MAX_PHASES - 1,
        };
        clock.first_named |= index == 0;
        self.current.store(index, Relaxed);
        self.epoch.fetch_add(1, Relaxed);
    }

    /// Returns the cost of every phase so far, in the order in which they were first entered.
    ///
    /// [`FIRST_PHASE`] is omitted if nothing was sent or received in it and it was never requested
    /// by name.
    pub fn report(&self) -> Vec<PhaseReport> {
        let clock = self.clock();
        let current = self.current.load(Relaxed);
        let (running, cpu_now) = (clock.since.elapsed(), cpu_time());
        let mut reports = Vec::with_capacity(clock.phases.len());
        for (index, Timed { name, wall, cpu }) in clock.phases.iter().enumerate() {
            let counts = &self.counts[index];
            let (mut wall, mut cpu) = (*wall, *cpu);
            if index == current {
                wall += running;
                cpu += cpu_now.unwrap_or_default().saturating_sub(clock.cpu_since);
            }
            let report = PhaseReport {
                phase: (*name).to_string(),
                bytes_sent: counts.bytes_sent.load(Relaxed),
                bytes_received: counts.bytes_received.load(Relaxed),
                messages_sent: counts.messages_sent.load(Relaxed),
                messages_received: counts.messages_received.load(Relaxed),
                rounds: counts.rounds.load(Relaxed),
                seconds: wall.as_secs_f64(),
                cpu_seconds: cpu_now.map(|_| cpu.as_secs_f64()),
            };
            let used = report.messages_sent + report.messages_received > 0;
            if index > 0 || used || clock.first_named {
                reports.push(report);
            }
        }
        reports
    }

    /// Reports work to `observer` from now on, unless there is an observer already.
    pub fn set_observer(&self, observer: Observer) {
        // A meter whose channels serve several sessions in turn keeps its observer.
        let _ = self.observer.set(observer);
    }

    /// Returns the observer, if there is one.
    pub fn observer(&self) -> Option<&Observer> {
        self.observer.get()
    }

    /// Begins a step of the current phase with `total` units of work.
    pub fn begin_step(&self, step: Step, total: u64) {
        if self.observer.get().is_none() {
            return;
        }
        let count = &self.steps[step.index()];
        count.total.store(total, Relaxed);
        count.done.store(0, Relaxed);
        self.report_work(step, 0);
    }

    /// Counts `done` units of a step.
    pub fn advance(&self, step: Step, done: u64) {
        self.advance_by_parts(step, done, 1);
    }

    /// Counts `parts` of work, `parts_each` of which are one unit of a step. Call it once for each
    /// chunk of work, not for each gate: with an observer it reads the clock.
    pub fn advance_by_parts(&self, step: Step, parts: u64, parts_each: u64) {
        if self.observer.get().is_none() {
            return;
        }
        let count = &self.steps[step.index()];
        let added = parts.saturating_mul(UNIT) / parts_each.max(1);
        let done = count.done.fetch_add(added, Relaxed).saturating_add(added);
        self.report_work(step, (done + UNIT / 2) / UNIT);
    }

    /// Reports the beginning and the end of a step, and its progress at limited intervals.
    fn report_work(&self, step: Step, done: u64) {
        let Some(observer) = self.observer.get() else { return };
        let count = &self.steps[step.index()];
        let total = count.total.load(Relaxed);
        let done = done.min(total);
        let (now, phase) = {
            let clock = self.clock();
            let since_begin = clock.begin.elapsed();
            (since_begin.as_millis() as u64, clock.phases[self.current.load(Relaxed)].name)
        };
        let last = count.reported.load(Relaxed);
        let due = now.saturating_sub(last) >= REPORT_EVERY.as_millis() as u64;
        if !due && done != 0 && done != total {
            return;
        }
        count.reported.store(now, Relaxed);
        let [bytes_sent, bytes_received] = self.bytes();
        observer.tell(&Progress::Work(Work {
            phase,
            step,
            done,
            total,
            bytes_sent,
            bytes_received,
        }));
    }

    /// Returns the bytes sent and received in the current phase, including its earlier periods.
    pub fn bytes(&self) -> [u64; 2] {
        let count = &self.counts[self.current.load(Relaxed)];
        [count.bytes_sent.load(Relaxed), count.bytes_received.load(Relaxed)]
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Run {
    #[default]
    None,
    Sends,
    Receives,
}

/// One lane's view of its party's meter, which tracks the lane's runs.
#[derive(Debug)]
pub(crate) struct LaneMeter {
    meter: Arc<Meter>,
    epoch: usize,
    phase: usize,
    run: Run,
    /// The number of send runs and receive runs so far, by phase index.
    runs: Vec<[u64; 2]>,
}

impl LaneMeter {
    pub(crate) fn new(meter: Arc<Meter>) -> Self {
        let epoch = meter.epoch.load(Relaxed);
        let phase = meter.current.load(Relaxed);
        LaneMeter { meter, epoch, phase, run: Run::None, runs: Vec::new() }
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.enter(Run::Sends);
        let counts = &self.meter.counts[self.phase];
        counts.bytes_sent.fetch_add(bytes as u64, Relaxed);
        counts.messages_sent.fetch_add(1, Relaxed);
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.enter(Run::Receives);
        let counts = &self.meter.counts[self.phase];
        counts.bytes_received.fetch_add(bytes as u64, Relaxed);
        counts.messages_received.fetch_add(1, Relaxed);
    }

    fn enter(&mut self, run: Run) {
        let epoch = self.meter.epoch.load(Relaxed);
        if epoch != self.epoch {
            self.epoch = epoch;
            self.phase = self.meter.current.load(Relaxed);
            self.run = Run::None;
        }
        if self.run == run {
            return;
        }
        self.run = run;
        if self.runs.len() <= self.phase {
            self.runs.resize(self.phase + 1, [0; 2]);
        }
        let runs = &mut self.runs[self.phase];
        runs[usize::from(run == Run::Receives)] += 1;
        let rounds = runs[0].max(runs[1]);
        self.meter.counts[self.phase].rounds.fetch_max(rounds, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(meter: &Meter, phase: &str) -> u64 {
        meter.report().into_iter().find(|r| r.phase == phase).map_or(0, |r| r.rounds)
    }

    #[test]
    fn rounds_of_ping_pong_are_the_same_for_both_sides() {
        for (first_sends, meter) in [(true, Meter::new()), (false, Meter::new())] {
            meter.set_phase("online");
            let mut lane = LaneMeter::new(meter.clone());
            for _ in 0..5 {
                for sends in [first_sends, !first_sends] {
                    // Several messages in a row are one run.
                    for _ in 0..3 {
                        if sends { lane.sent(10) } else { lane.received(20) }
                    }
                }
            }
            assert_eq!(rounds(&meter, "online"), 5);
            let report = meter.report();
            assert_eq!(report.len(), 1, "the unused first phase is left out");
            assert_eq!((report[0].bytes_sent, report[0].messages_sent), (150, 15));
            assert_eq!((report[0].bytes_received, report[0].messages_received), (300, 15));
        }
    }

    #[test]
    fn one_message_either_way_is_one_round() {
        let meter = Meter::new();
        let mut lane = LaneMeter::new(meter.clone());
        lane.sent(1);
        assert_eq!(rounds(&meter, FIRST_PHASE), 1);
        lane.received(1);
        assert_eq!(rounds(&meter, FIRST_PHASE), 1);
        meter.set_phase("next");
        lane.received(1);
        assert_eq!(rounds(&meter, "next"), 1);
    }

    #[test]
    fn lanes_count_side_by_side_and_phases_add_up() {
        let meter = Meter::new();
        let mut lanes = [LaneMeter::new(meter.clone()), LaneMeter::new(meter.clone())];
        for visit in 1..=3 {
            meter.set_phase("a");
            for lane in &mut lanes {
                lane.sent(1);
                lane.received(1);
            }
            assert_eq!(rounds(&meter, "a"), visit);
            meter.set_phase("b");
        }
        let names: Vec<_> = meter.report().into_iter().map(|r| r.phase).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn work_is_counted_by_step_and_reported_at_its_ends() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let meter = Meter::new();
        // Nobody listens yet.
        meter.begin_step(Step::Gates, 5);
        let hear = heard.clone();
        meter.set_observer(Observer::new(move |progress| {
            let Progress::Work(work) = progress else { panic!("{progress:?}") };
            hear.lock().unwrap().push((work.phase, work.step, work.done, work.total));
        }));
        meter.set_phase("dependent");
        meter.begin_step(Step::Triples, 10);
        // Nine parts, three to a triple, then the rest of the batch.
        for _ in 0..3 {
            meter.advance_by_parts(Step::Triples, 3, 3);
        }
        meter.advance_by_parts(Step::Triples, 28, 3);
        meter.advance(Step::Gates, 5);
        let heard = heard.lock().unwrap();
        let triples = |done| ("dependent", Step::Triples, done, 10);
        assert_eq!(heard.first(), Some(&triples(0)));
        assert!(heard.contains(&triples(10)), "{heard:?}");
        assert!(heard.len() < 6, "reports are limited: {heard:?}");
    }

    #[test]
    fn too_many_phases_are_folded_not_lost() {
        let meter = Meter::new();
        let mut lane = LaneMeter::new(meter.clone());
        for i in 0..100 {
            meter.set_phase(Box::leak(format!("phase {i}").into_boxed_str()));
            lane.sent(1);
        }
        let report = meter.report();
        assert_eq!(report.len(), MAX_PHASES - 1);
        assert_eq!(report.iter().map(|r| r.messages_sent).sum::<u64>(), 100);
    }

    #[test]
    fn time_belongs_to_the_current_phase() {
        let meter = Meter::new();
        meter.set_phase("idle");
        meter.set_phase("busy");
        std::thread::sleep(Duration::from_millis(5));
        meter.set_phase("idle");
        let report = meter.report();
        assert!(report[1].phase == "busy" && report[1].seconds >= 0.005);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_is_what_was_worked() {
        let meter = Meter::new();
        meter.set_phase("working");
        let start = cpu_time().unwrap();
        let mut x = 1u64;
        while cpu_time().unwrap() - start < Duration::from_millis(5) {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        meter.set_phase("idle");
        let cpu = |phase: usize| meter.report()[phase].cpu_seconds.unwrap();
        assert!(cpu(0) >= 0.005);
        let before = cpu(0);
        meter.set_phase("working");
        assert!(cpu(0) >= before && cpu(0) < before + 60.0);
    }
}
