//! A pool of components that waits for the next circuit in this process: in memory, or in a file if
//! it is large.

use std::io::{Cursor, Read};
use std::ops::Range;

use symbolon_engine::{
    Compiled, ComponentPlan, ComponentSection, Components, Network, PoolSink, PoolSource, Prepared,
    Preprocessed, RunTerms,
};
use symbolon_primitives::wipe_list;
use symbolon_store::{Scratch, ScratchReader, Secrecy};
use symbolon_transport::{Error, Result};
use zeroize::ZeroizeOnDrop;

use super::pool::Plan;
use super::shelf::{self, Room, file_result};

/// A pool for the next circuit in this process: in memory, or in a file if it is large.
pub(super) struct WaitingPool {
    kinds: Vec<[u8; 32]>,
    place: Place,
}

/// The bytes of a section, which may be secret. They are many, and a `Zeroizing` list of bytes is
/// wiped one by one.
#[derive(Default)]
struct Section(Vec<u8>);

impl Drop for Section {
    fn drop(&mut self) {
        wipe_list(&mut self.0);
    }
}

impl ZeroizeOnDrop for Section {}

impl AsRef<[u8]> for Section {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

enum Place {
    Memory {
        sections: Vec<Section>,
        _room: Room,
    },
    /// The pool is being written: its secret sections, and its public ones.
    File {
        secret: Scratch,
        public: Scratch,
        is_public: Vec<bool>,
    },
    /// The pool is being read, each section once.
    Reading(Vec<Option<ScratchReader>>),
}

/// Room for data that belong to the whole pool.
const HEAD_ROOM: u64 = 1 << 16;

/// The maximum size of a pool in memory; a larger one is in a file, and so is each for which the
/// process has no memory left.
const IN_MEMORY: u64 = 1 << 28;

impl WaitingPool {
    /// Makes room for a pool with these sections.
    ///
    /// # Errors
    /// `Store` if there is no room for a file; `InvalidInput` if no file can be that large.
    pub fn new(components: &Components, sections: &[ComponentSection]) -> Result<WaitingPool> {
        let counts = components.counts();
        let bytes = |section: &ComponentSection| match section.counter {
            Some(counter) => section.bytes.checked_mul(counts[counter]),
            None => Some(HEAD_ROOM),
        };
        let bytes: Option<Vec<u64>> = sections.iter().map(bytes).collect();
        let all = bytes
            .as_ref()
            .and_then(|bytes| bytes.iter().try_fold(0_u64, |sum, &bytes| sum.checked_add(bytes)));
        let (Some(bytes), Some(all)) = (bytes, all) else {
            return Err(Error::invalid_input("the circuit is too large"));
        };
        let room = (all <= IN_MEMORY).then(|| shelf::MEMORY.take(all, shelf::IN_MEMORY)).flatten();
        let place = if let Some(room) = room {
            // Growing memory would leave copies of secrets.
            let empty = |&bytes: &u64| Section(Vec::with_capacity(bytes as usize));
            Place::Memory { sections: bytes.iter().map(empty).collect(), _room: room }
        } else {
            let file = |secrecy| file_result(Scratch::new(sections.len(), secrecy));
            Place::File {
                secret: file(Secrecy::Secret)?,
                public: file(Secrecy::Public)?,
                is_public: sections.iter().map(|section| section.public).collect(),
            }
        };
        Ok(WaitingPool { kinds: components.kinds().map(|(kind, _)| kind).collect(), place })
    }
}

fn no_section() -> Error {
    Error::internal("a section that is not there")
}

impl PoolSink for WaitingPool {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        match &mut self.place {
            Place::Memory { sections, .. } => {
                sections.get_mut(section).ok_or_else(no_section)?.0.extend(bytes);
                Ok(())
            }
            Place::File { secret, public, is_public } => {
                let is_public = is_public.get(section).ok_or_else(no_section)?;
                let file = if *is_public { public } else { secret };
                file_result(file.write(section, bytes))
            }
            Place::Reading(_) => Err(Error::internal("a pool that is read is written to")),
        }
    }
}

impl PoolSource for WaitingPool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        // Sections are read once, so each is dropped after it was opened.
        if let Place::Memory { sections, .. } = &mut self.place {
            let section = sections.get_mut(section).map(std::mem::take).unwrap_or_default();
            let mut all = Cursor::new(section);
            all.set_position(bytes.start);
            return Ok(Box::new(all.take(bytes.end.saturating_sub(bytes.start))));
        }
        self.place = match std::mem::replace(&mut self.place, Place::Reading(Vec::new())) {
            Place::File { secret, public, is_public } => {
                let both =
                    file_result(secret.finish())?.into_iter().zip(file_result(public.finish())?);
                let own = both.zip(is_public);
                let own = own.map(|((secret, public), is)| if is { public } else { secret });
                Place::Reading(own.map(Some).collect())
            }
            other => other,
        };
        let Place::Reading(sections) = &mut self.place else { return Err(no_section()) };
        let section = sections.get_mut(section).and_then(Option::take).ok_or_else(no_section)?;
        if bytes.start != 0 {
            return Err(Error::internal("a range of a pool that waits for one program"));
        }
        Ok(Box::new(section.take(bytes.end)))
    }

    fn waits(&self) -> bool {
        true
    }
}

impl Preprocessed for WaitingPool {
    fn prepare(
        mut self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let kinds = std::mem::take(&mut self.kinds);
        let plan = Plan::of(circuit, RunTerms::of(net), &kinds)?;
        let range: Vec<Range<u64>> = plan.takes().iter().map(|&n| 0..n).collect();
        plan.prepare(net, &range, &mut *self)
    }
}
