//! What `--mac code` sends and computes besides: the order of `commit` and `check`.

use symbolon_engine::Rho;
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Unit};

use super::commit::LOOKAHEAD;
use super::layout::{Layout, Tables};
use super::streams::windows;
use crate::tinytable::program::Program;

/// About how many AND gates online take as long as 1 024 bits of a row: to make, correct and
/// combine, and to compute again and combine online, as measured on Zen 3 with batches of AES-128.
/// No other session has this work, so it has no unit of its own, which a calibration would have to
/// measure.
const COMMITTED: f64 = 170.0;
const OPENED: f64 = 45.0;

/// What a circuit takes under a code.
pub(in crate::tinytable) struct CodeScript(Layout);

impl CodeScript {
    /// Returns that of this many executions.
    pub fn of(program: &Program, executions: usize, rho: Rho) -> Result<CodeScript> {
        Ok(CodeScript(Layout::best(&Tables::of(program, executions)?, rho)))
    }

    /// Adds the commitments, after the tables; `gate` is the work of an AND gate online.
    pub fn commit(&self, script: &mut Script, gate: Unit) {
        let layout = &self.0;
        let [table, mask] = layout.correction_blocks().map(|blocks| 16 * blocks);
        let draws =
            [(layout.rows() + layout.hiding(), table), (layout.checks + layout.hiding(), mask)];
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
            script.work(gate, COMMITTED * kibibits as f64);
        }
        script.exchange(32);
        script.exchange(layout.proof_bytes() as u64);
    }

    /// Adds the check of the opened bits; `gate` is as before.
    pub fn check(&self, script: &mut Script, gate: Unit) {
        let layout = &self.0;
        script.exchange(32);
        let kibibits = (layout.rows() + layout.checks) * layout.code.length() / 1024;
        script.work(gate, OPENED * kibibits as f64);
        script.exchange(layout.online_bytes() as u64);
    }
}
