//! Whether this machine can run a row.

use super::tables::Row;
use crate::bench::machine::Machine;

/// The most parties for each core: with more, a run measures the scheduler.
const PARTIES_PER_CORE: usize = 8;

/// Returns why one of the machines cannot run the row, or `None` if all can.
pub fn obstacle(row: &Row, machines: &[Machine]) -> Option<String> {
    machines.iter().find_map(|machine| obstacle_of(row, machine))
}

fn obstacle_of(row: &Row, machine: &Machine) -> Option<String> {
    let cores = machine.cores;
    if row.threads > cores {
        return Some(format!("{} threads for each party, on {cores} cores.", row.threads));
    }
    if row.parties > PARTIES_PER_CORE * cores {
        return Some(format!("{} parties, on {cores} cores.", row.parties));
    }
    let memory = machine.memory.map_or(f64::INFINITY, |bytes| bytes as f64 / 1e9);
    (row.memory > memory)
        .then(|| format!("It takes about {:.0} GB of memory; there are {memory:.0}.", row.memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{args::Paper, tables::chosen};

    #[test]
    fn rows_that_do_not_fit_say_why() {
        let papers = chosen(&[Paper::Ywz20], &[3, 4, 7]).unwrap();
        let small = Machine { cores: 2, memory: Some(4_000_000_000), ..Machine::here() };
        let large = Machine { cores: 64, memory: Some(400_000_000_000), ..Machine::here() };
        let reasons = |machine: &Machine| {
            let rows = papers[0].tables.table.iter().flat_map(|table| &table.row);
            rows.filter_map(|row| obstacle(row, std::slice::from_ref(machine))).collect::<Vec<_>>()
        };
        let told = reasons(&small).join("\n");
        for reason in
            ["32 threads for each party, on 2 cores", "24 parties, on 2 cores", "about 20 GB"]
        {
            assert!(told.contains(reason), "{reason}: {told}");
        }
        assert!(!told.contains("16 parties"), "{told}");
        assert_eq!(reasons(&large), [""; 0]);
    }
}
