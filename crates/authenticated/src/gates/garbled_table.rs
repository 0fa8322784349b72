//! How an evaluator receives garbled gates of any form.

use std::ops::Range;

use symbolon_circuit::Plan;
use symbolon_engine::Network;
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Message, Result};
use zeroize::Zeroize;

use super::{
    masked_gates::{Lane, MaskedGateStream, MaskedGates},
    pipeline,
};

/// The number of gates in a message of garbled gates; the last message of a chunk has fewer. While
/// the evaluator processes one message, the garbler makes the next.
pub(crate) const MESSAGE: usize = 1024;

/// Empties a list, and makes room for `n` elements. If the list must grow, wipes the old memory
/// first.
pub(crate) fn make_room<T>(list: &mut Vec<T>, n: usize)
where
    Vec<T>: Zeroize,
{
    if list.capacity() < n {
        list.zeroize();
        *list = Vec::with_capacity(n);
    }
    list.clear();
}

/// The garbled gates of a chunk, with the evaluator's own part of them.
pub(crate) trait GarbledTable: Default + Send {
    /// What the size depends on besides the number of gates.
    type Shape: Copy + Send + Sync;

    /// The message that contains the gates.
    const MESSAGE: Message;

    /// Empties the table, and makes room for a number of gates.
    fn restart(&mut self, gates: usize, shape: Self::Shape);

    /// Computes this party's part of the gates up to `end` that do not have it yet.
    fn begin(&mut self, gates: &MaskedGates, end: usize, shape: Self::Shape);

    /// Returns the size in bytes of a message of this many gates from the garbler with this index.
    fn message_bytes(gates: usize, garbler: usize, shape: Self::Shape) -> usize;

    /// Adds the data of some gates from the garbler with this index, in whole blocks.
    fn add(
        &mut self,
        channel: &Channel,
        garbler: usize,
        gates: Range<usize>,
        message: &[Block],
        shape: Self::Shape,
    ) -> Result<()>;
}

/// Receives garbled gates.
pub(crate) struct TableReader<T: GarbledTable> {
    pub shape: T::Shape,
    /// Memory for a message.
    message: Vec<Block>,
}

impl<T: GarbledTable> TableReader<T> {
    pub fn new(shape: T::Shape) -> Self {
        TableReader { shape, message: Vec::new() }
    }

    /// Receives all gates of a plan, chunk by chunk.
    pub fn receive_all(
        &mut self,
        masks: &mut dyn MaskedGateStream,
        plan: &Plan,
        net: &mut Network,
    ) -> Result<Vec<T>> {
        let shape = self.shape;
        let mut tables = Vec::new();
        let begin = |gates: &MaskedGates, lane| {
            let mut table = T::default();
            table.restart(gates.len(), shape);
            if lane == Lane::Own {
                table.begin(gates, gates.len(), shape);
            }
            table
        };
        pipeline::run(masks, plan, net, begin, |peers, gates, mut table: T| {
            self.receive_into(&mut table, peers, gates)?;
            tables.push(table);
            Ok(())
        })?;
        Ok(tables)
    }

    /// Receives a chunk in the memory of a used table.
    pub fn receive(
        &mut self,
        table: &mut T,
        channels: &mut [Channel],
        gates: &MaskedGates,
    ) -> Result<()> {
        table.restart(gates.len(), self.shape);
        self.receive_into(table, channels, gates)
    }

    /// Computes this party's part piece by piece, between the messages.
    fn receive_into(
        &mut self,
        table: &mut T,
        channels: &mut [Channel],
        gates: &MaskedGates,
    ) -> Result<()> {
        for (garbler, channel) in channels.iter_mut().enumerate() {
            for first in (0..gates.len()).step_by(MESSAGE) {
                let range = first..(first + MESSAGE).min(gates.len());
                table.begin(gates, range.end, self.shape);
                let bytes = T::message_bytes(range.len(), garbler, self.shape);
                self.message.resize(bytes.div_ceil(16), Block::ZERO);
                let message = &mut Block::as_bytes_mut(&mut self.message)[..bytes];
                channel.recv_into(T::MESSAGE, message)?;
                table.add(channel, garbler, range, &self.message, self.shape)?;
            }
        }
        Ok(())
    }
}
