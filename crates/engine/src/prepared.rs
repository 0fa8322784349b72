//! Storage of a circuit that was prepared for one evaluation, outside of the process that prepared
//! it.
//!
//! ```text
//! magic, protocol, form, party, parties, ρ,
//! circuit's digest, batch                    compared with what is expected
//! the protocol's own                         lengths follow from the above
//! ```
//!
//! The session id of the preparation keys the hashes of a garbled circuit, so the evaluator keeps
//! that id. Everything else that a session id enters (commitments, coins, echoes) uses the fresh id
//! of the session in which the circuit is evaluated.
//!
//! Timing: material | lengths and stamps decide, here and in `pool` and `codec`; an input mask's
//! byte above 1 is refused

use std::io::{Read, Write};

use symbolon_transport::{Error, Result};

use crate::{
    Compiled, GateForm, LoadTerms, Network, Prepared, ProtocolSpec, RunTerms,
    codec::{Reader, Writer, damaged},
    poison,
};

const MAGIC: &[u8; 16] = b"symbolon ready 4";

impl ProtocolSpec {
    /// Writes a circuit that was prepared in the session of `net` to `out`; see [`Prepared::save`].
    ///
    /// # Errors
    /// `Store` if `out` fails.
    pub fn save_prepared(
        &self,
        net: &Network,
        circuit: &Compiled,
        prepared: Box<dyn Prepared>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let terms = net.load_terms();
        let stamp = stamp(self, terms, circuit, (net.form, self.stamped_options(terms.run)?));
        Writer(&mut *out).bytes(&stamp)?;
        prepared.save(out)
    }

    /// Reads back a prepared circuit, in the form in which it was prepared.
    ///
    /// # Errors
    /// `Store` if the bytes are not a circuit prepared for this party among these parties, this ρ
    /// and this circuit; `InvalidInput` as [`set_up`](ProtocolSpec::set_up).
    pub fn load_prepared(
        &self,
        net: &Network,
        circuit: &Compiled,
        from: &mut dyn Read,
    ) -> Result<Box<dyn Prepared>> {
        self.load_stored(net.load_terms(), circuit, from)
    }

    /// The same, outside of a session.
    ///
    /// # Errors
    /// As [`load_prepared`](ProtocolSpec::load_prepared).
    pub fn load_stored(
        &self,
        terms: LoadTerms<'_>,
        circuit: &Compiled,
        from: &mut dyn Read,
    ) -> Result<Box<dyn Prepared>> {
        let mut from = Reader(from);
        let found = from.array::<STAMP>()?;
        let options = self.stamped_options(terms.run)?;
        let fits = |form: &&GateForm| found == stamp(self, terms, circuit, (**form, options));
        let form = self.forms().iter().find(fits);
        let form = *form.ok_or_else(|| {
            if found[..16] == *MAGIC {
                damaged("it is another party's, or for another circuit or protocol")
            } else {
                damaged("it is not a prepared circuit of this version")
            }
        })?;
        if terms.me.number() >= terms.parties {
            return Err(Error::invalid_input(format!("there is no party {}", terms.me)));
        }
        let loaded = (self.load)(terms, form, circuit, from.part())?;
        from.end()?;
        Ok(poison::poisonable_prepared(loaded))
    }

    /// Returns what the options of a session are in a stamp.
    fn stamped_options(&self, run: RunTerms<'_>) -> Result<u32> {
        let stamp = self.stored.as_ref().and_then(|stored| stored.stamp);
        stamp.map_or(Ok(USUAL), |stamp| stamp(run.options, run.rho))
    }
}

/// Returns what a stored circuit begins with, in a form with this number for the options.
fn stamp(
    spec: &ProtocolSpec,
    LoadTerms { me, parties, run }: LoadTerms<'_>,
    circuit: &Compiled,
    (form, options): (GateForm, u32),
) -> [u8; STAMP] {
    let mut stamp = [0; STAMP];
    stamp[..16].copy_from_slice(MAGIC);
    stamp[16] = spec.code;
    stamp[17] = match form {
        GateForm::FourRow => 1,
        GateForm::HalfGates => 2,
        GateForm::Tables => 3,
    };
    stamp[18..20].copy_from_slice(&me.to_le_bytes());
    stamp[20..22].copy_from_slice(&parties.to_le_bytes());
    stamp[22..26].copy_from_slice(&run.rho.bits().to_le_bytes());
    stamp[26..58].copy_from_slice(&circuit.digest());
    stamp[58..66].copy_from_slice(&(run.executions as u64).to_le_bytes());
    stamp[66..70].copy_from_slice(&options.to_le_bytes());
    stamp
}

const STAMP: usize = 70;

/// The number that the options of most protocols have in a stamp.
const USUAL: u32 = 128;
