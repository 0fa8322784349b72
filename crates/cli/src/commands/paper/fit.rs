//! Whether this machine can run a row.

use super::tables::Row;
use crate::measure::machine::Machine;

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
    let gigabytes = |bytes: Option<u64>| bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / 1e9);
    let memory = gigabytes(machine.memory);
    if row.memory > memory {
        let needed = row.memory;
        return Some(format!("It takes about {needed:.0} GB of memory; there are {memory:.0}."));
    }
    let (needed, free) = (row.disk, gigabytes(machine.disk));
    let text = || format!("It takes about {needed:.0} GB of temporary files; {free:.0} are free.");
    (needed > free).then(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::paper::{args::Paper, tables::chosen};

    #[test]
    fn rows_that_do_not_fit_say_why() {
        let papers = chosen(&[Paper::Ywz20, Paper::Duplo17], &[2, 3, 4, 7]).unwrap();
        let gigabytes = |n: u64| Some(n * 1_000_000_000);
        let (memory, disk) = (gigabytes(4), gigabytes(4));
        let small = Machine { cores: 2, memory, disk, ..Machine::here() };
        let (memory, disk) = (gigabytes(400), gigabytes(400));
        let large = Machine { cores: 64, memory, disk, ..Machine::here() };
        let reasons = |machine: &Machine| {
            let tables = papers.iter().flat_map(|paper| &paper.tables.table);
            let rows = tables.flat_map(|table| &table.row);
            rows.filter_map(|row| obstacle(row, std::slice::from_ref(machine))).collect::<Vec<_>>()
        };
        let told = reasons(&small).join("\n");
        for reason in [
            "32 threads for each party, on 2 cores",
            "24 parties, on 2 cores",
            "about 40 GB of memory",
            "GB of temporary files; 4 are",
        ] {
            assert!(told.contains(reason), "{reason}: {told}");
        }
        assert!(!told.contains("16 parties"), "{told}");
        assert_eq!(reasons(&large), [""; 0]);
    }
}
