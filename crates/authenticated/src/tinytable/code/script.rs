//! What `--mac code` sends and computes besides: the order of `commit` and `check`.

use symbolon_engine::Rho;
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Unit};

use super::commit::LOOKAHEAD;
use super::layout::{Layout, Tables};
use super::streams::windows;
use crate::tinytable::program::Program;

/// A kibibit of a row of the commitments, made or corrected, and combined.
const COMMITTED: Unit = Unit::new("code commitment, 1 024 bits", 60.0);

/// A kibibit of a row that is computed again and combined online.
const OPENED: Unit = Unit::new("code online, 1 024 bits", 40.0);

/// The kinds of work here.
pub(in crate::tinytable) const UNITS: [Unit; 2] = [COMMITTED, OPENED];

/// What a circuit takes under a code.
pub(in crate::tinytable) struct CodeScript(Layout);

impl CodeScript {
    /// Returns that of this many executions.
    pub fn of(program: &Program, executions: usize, rho: Rho) -> Result<CodeScript> {
        Ok(CodeScript(Layout::best(&Tables::of(program, executions)?, rho)))
    }

    /// Adds the commitments, after the tables.
    pub fn commit(&self, script: &mut Script) {
        let layout = &self.0;
        let [table, mask] = layout.correction_blocks().map(|blocks| 16 * blocks);
        let draws = [
            (layout.rows() + layout.hiding(), table),
            (layout.checks + layout.hiding(), mask),
        ];
        for (rows, bytes) in draws {
            let mut waiting = 0;
            for n in windows(rows) {
                script.send_all((n * bytes) as u64);
                if waiting < LOOKAHEAD {
                    waiting += 1;
                } else {
                    script.receive_all();
                }
            }
            (0..waiting).for_each(|_| script.receive_all());
            let kibibits = rows * layout.code.length() / 1024;
            script.work(COMMITTED, kibibits as f64);
        }
        script.exchange(32);
        script.exchange(layout.proof_bytes() as u64);
    }

    /// Adds the check of the opened bits.
    pub fn check(&self, script: &mut Script) {
        let layout = &self.0;
        script.exchange(32);
        let kibibits = (layout.rows() + layout.checks) * layout.code.length() / 1024;
        script.work(OPENED, kibibits as f64);
        script.exchange(layout.online_bytes() as u64);
    }
}
