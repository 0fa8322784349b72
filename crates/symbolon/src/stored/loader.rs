//! What loads executions from a store beside a session's calls.
//!
//! A batch of executions is marked as used in one commit, and then read one by one. The session
//! takes each as soon as it is there, so a call that needs one waits for one at most.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use symbolon_protocols::{Compiled, LoadTerms, Options, Prepared, Protocol, RunTerms};
use symbolon_store::{GroupId, ItemId, Store, StoreError};
use symbolon_transport::{Error, NoThread, PartyId, Result};

use super::{DAMAGED, failed, remove};

/// An execution that is marked as used, and is in memory.
pub(super) struct Loaded {
    pub item: ItemId,
    pub group: GroupId,
    pub prepared: Box<dyn Prepared>,
}

/// What a loader needs of a session.
pub(super) struct Source {
    pub store: Store,
    pub circuit: Arc<Compiled>,
    pub protocol: Protocol,
    pub me: PartyId,
    pub parties: u16,
    pub run: RunTerms<'static>,
    pub options: Options,
}

type Items = Vec<(ItemId, GroupId)>;

/// A thread that loads. It ends when this value is dropped, after the item that it is reading.
pub(super) struct Loader {
    /// `None` only while it is dropped.
    orders: Option<mpsc::Sender<Items>>,
    loaded: mpsc::Receiver<Result<Loaded>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    /// Starts the thread.
    ///
    /// # Errors
    /// `System` if the system gives no thread.
    pub fn start(source: Source) -> Result<Loader> {
        let (orders, ordered) = mpsc::channel::<Items>();
        let (send, loaded) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let work = move || {
            for items in ordered {
                if let Err(error) = source.load(items, &over, &send) {
                    let _ = send.send(Err(source.void_damaged(error)));
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("symbolon-loader".to_string()).spawn(work);
        let thread = Some(thread.map_err(NoThread)?);
        Ok(Loader { orders: Some(orders), loaded, is_over, thread })
    }

    /// Asks for these executions.
    pub fn order(&self, items: Items) {
        // A thread that has ended left its error for `next`.
        let _ = self.orders.as_ref().map(|orders| orders.send(items));
    }

    /// Returns the next execution, if it is there already.
    ///
    /// # Errors
    /// `Store` if an item is damaged, which is void afterwards, or nothing can be marked.
    pub fn arrived(&self) -> Result<Option<Loaded>> {
        match self.loaded.try_recv() {
            Ok(loaded) => loaded.map(Some),
            Err(mpsc::TryRecvError::Empty) => Ok(None),
            Err(mpsc::TryRecvError::Disconnected) => Err(ended()),
        }
    }

    /// Waits for the next execution.
    ///
    /// # Errors
    /// As [`Loader::arrived`].
    pub fn next(&self) -> Result<Loaded> {
        self.loaded.recv().unwrap_or_else(|_| Err(ended()))
    }
}

fn ended() -> Error {
    Error::internal("the thread that loads executions has ended")
}

impl Drop for Loader {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.orders = None;
        // The session's locks outlast everything that the thread does to its items.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Source {
    fn load(
        &self,
        items: Items,
        is_over: &AtomicBool,
        send: &mpsc::Sender<Result<Loaded>>,
    ) -> Result<()> {
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        let run = RunTerms { options: &self.options, ..self.run };
        let terms = LoadTerms { me: self.me, parties: self.parties, run };
        let ids: Vec<ItemId> = items.iter().map(|(id, _)| *id).collect();
        let taken = self.store.take_all_prepared(&ids).map_err(failed)?;
        for (taken, (item, group)) in taken.into_iter().zip(items) {
            if is_over.load(Ordering::Relaxed) {
                remove(taken);
                continue;
            }
            // The reader holds one frame at a time, and wipes it.
            let mut section = taken.read(0, taken.bytes(0)).map_err(failed)?;
            let prepared = self.protocol.load_stored(terms, &self.circuit, &mut section)?;
            drop(section);
            // Only a session that is gone does not receive it.
            let _ = send.send(Ok(Loaded { item, group, prepared }));
            remove(taken);
        }
        Ok(())
    }

    /// Makes all damaged items of the store void if one was the error: each of them would end a
    /// session. Returns the error to report.
    fn void_damaged(&self, error: Error) -> Error {
        if StoreError::damaged_item(&error).is_none() {
            return error;
        }
        self.try_void_damaged().err().unwrap_or(error)
    }

    fn try_void_damaged(&self) -> Result<()> {
        let checked = self.store.verify(|_| ()).map_err(failed)?;
        let damaged = |(_, checked): (ItemId, symbolon_store::Result<()>)| {
            checked.err().and_then(|error| StoreError::damaged_item(&error))
        };
        let damaged: Vec<ItemId> = checked.into_iter().filter_map(damaged).collect();
        self.store.void(&damaged, DAMAGED).map_err(failed)
    }
}
