//! Large reusable buffers: zeroed, wiped when dropped; the largest are on huge pages where the
//! system has them.
//!
//! First use of memory costs a fault for each page, so dropped memory is kept for the next buffer
//! of the same size, as long as that takes no more memory than buffers used at some time (`Kept`).
//!
//! Random access to tens of megabytes costs a TLB miss for each access, and under virtualisation
//! several times as much as the work itself. Huge pages make these misses rare, and cost a quarter
//! of what as many small pages cost. But in a virtual machine the host may first have to find
//! memory for a huge page, which takes ten times as long, and a small circuit that touches a part
//! of each buffer does not win that back. So buffers bring in their huge pages one by one, as long
//! as each comes at once (`SLOW`); after one that was slow, small pages follow for a while. The
//! largest buffers, which are used for long, take huge pages in any case.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use bytemuck::Pod;
use memmap2::MmapMut;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The size of a huge page on x86-64.
const HUGE: usize = 2 << 20;

/// From this size on memory comes directly from the system, and is kept for the next buffer. Sizes
/// are rounded up to whole huge pages, so that more buffers have the same size; small pages at the
/// end that nobody touches take no memory.
const MAPPED: usize = 512 << 10;

/// From this size on memory asks for huge pages however long they take
/// (`docs/reference/measurements.md#huge-pages`).
#[cfg(target_os = "linux")]
const ON_HUGE_PAGES: usize = 32 << 20;

/// A huge page that takes longer is one that the host had to find first. The others take a tenth
/// of a millisecond or two.
#[cfg(target_os = "linux")]
const SLOW: Duration = Duration::from_micros(500);

/// How long after a slow huge page buffers take small pages only.
#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_secs(1);

/// The alignment of every buffer, a cache line: an element whose size divides it does not straddle
/// two lines.
const LINE: usize = 64;

enum Memory {
    Small(Vec<Line>),
    /// `None` once the memory was given back.
    Mapped(Option<MmapMut>),
}

/// The maximum number of bytes that are kept.
const MOST_KEPT: usize = 256 << 20;

/// Memory that buffers gave back, and the amount of memory in use.
struct Kept {
    /// Each map, with the number of bytes at its beginning that may not be zero. The latest comes
    /// last.
    maps: Vec<(MmapMut, usize)>,
    bytes: usize,
    /// The number of bytes that buffers use now, and the maximum so far.
    used: usize,
    most_used: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { maps: Vec::new(), bytes: 0, used: 0, most_used: 0 });

impl Kept {
    fn lock() -> MutexGuard<'static, Kept> {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns zeroed memory of this size, if there is any.
    fn take(bytes: usize) -> Option<MmapMut> {
        let mut kept = Kept::lock();
        kept.used += bytes;
        kept.most_used = kept.most_used.max(kept.used);
        let place = kept.maps.iter().rposition(|(map, _)| map.len() == bytes);
        let Some(place) = place else {
            // The total never exceeds what buffers alone used at some time.
            let room = kept.most_used - kept.used;
            kept.shrink(room);
            return None;
        };
        let (mut map, dirty) = kept.maps.remove(place);
        kept.bytes -= bytes;
        drop(kept);
        map[..dirty].fill(0);
        Some(map)
    }

    /// Keeps memory that is zero from byte `dirty` on and holds no secret.
    fn give(map: MmapMut, dirty: usize) {
        let mut kept = Kept::lock();
        kept.used -= map.len();
        kept.bytes += map.len();
        kept.maps.push((map, dirty));
        kept.shrink(MOST_KEPT);
    }

    /// Returns the oldest memory to the system until at most `most` bytes are left.
    fn shrink(&mut self, most: usize) {
        let mut bytes = self.bytes;
        let too_many = self.maps.iter().take_while(|(map, _)| {
            let is_one = bytes > most;
            bytes -= if is_one { map.len() } else { 0 };
            is_one
        });
        let too_many = too_many.count();
        self.maps.drain(..too_many);
        self.bytes = bytes;
    }
}

#[repr(C, align(64))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Line([u8; LINE]);

/// A buffer of `len` elements; see the [module](self).
pub struct HugeBuf<T> {
    memory: Memory,
    len: usize,
    /// The maximum number of elements so far.
    most: usize,
    /// Whether the content is not secret, and need not be wiped.
    public: bool,
    elements: std::marker::PhantomData<T>,
}

impl<T: Pod> Default for HugeBuf<T> {
    fn default() -> Self {
        HugeBuf::zeroed(0)
    }
}

impl<T> fmt::Debug for HugeBuf<T> {
    /// Prints only the length, because the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HugeBuf({} elements)", self.len)
    }
}

impl<T: Pod> HugeBuf<T> {
    /// Returns `len` elements of zero bytes.
    ///
    /// # Panics
    /// If the elements would take more bytes than there are addresses, or need a larger alignment
    /// than a cache line.
    pub fn zeroed(len: usize) -> Self {
        assert!(align_of::<T>() <= LINE, "elements that need more than a cache line's alignment");
        let bytes = len.checked_mul(size_of::<T>()).expect("a slab of more bytes than addresses");
        HugeBuf {
            memory: Memory::zeroed(bytes),
            len,
            most: len,
            public: false,
            elements: std::marker::PhantomData,
        }
    }

    /// Returns a buffer for data that are not secret, so it is not wiped.
    ///
    /// # Panics
    /// As [`HugeBuf::zeroed`].
    pub fn public(len: usize) -> Self {
        let mut buffer = HugeBuf::zeroed(len);
        buffer.public = true;
        buffer
    }

    /// Changes the length. Afterwards the elements contain old data or zeros, and the caller must
    /// overwrite them.
    ///
    /// # Panics
    /// As [`HugeBuf::zeroed`].
    pub fn reset(&mut self, len: usize) {
        if len.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > self.memory.bytes().len()) {
            // The old memory is given back before the new is requested.
            let public = self.public;
            *self = HugeBuf::zeroed(0);
            *self = HugeBuf::zeroed(len);
            self.public = public;
        }
        self.len = len;
        self.most = self.most.max(len);
    }
}

impl Memory {
    fn zeroed(bytes: usize) -> Memory {
        let whole = bytes.checked_next_multiple_of(HUGE).filter(|_| bytes >= MAPPED);
        if let Some(whole) = whole {
            if let Some(map) = Kept::take(whole) {
                return Memory::Mapped(Some(map));
            }
            if let Ok(map) = MmapMut::map_anon(whole) {
                // These are hints; if one is refused, the system does it page by page.
                #[cfg(target_os = "linux")]
                let _ = bring_in(&map, bytes);
                return Memory::Mapped(Some(map));
            }
            Kept::lock().used -= whole;
        }
        Memory::Small(vec![Line([0; LINE]); bytes.div_ceil(LINE)])
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Small(lines) => bytemuck::cast_slice(lines),
            Memory::Mapped(map) => map.as_deref().unwrap_or_default(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Small(lines) => bytemuck::cast_slice_mut(lines),
            Memory::Mapped(map) => map.as_deref_mut().unwrap_or_default(),
        }
    }
}

/// Brings in the pages of the first `bytes` of a new map, or asks for huge pages alone if it is
/// large.
#[cfg(target_os = "linux")]
fn bring_in(map: &MmapMut, bytes: usize) -> std::io::Result<()> {
    use memmap2::Advice::{HugePage, NoHugePage, PopulateWrite};

    static SLOW_AT: Mutex<Option<Instant>> = Mutex::new(None);
    let slow_at = || SLOW_AT.lock().unwrap_or_else(PoisonError::into_inner);

    if map.len() >= ON_HUGE_PAGES {
        return map.advise(HugePage);
    }
    let mut done = 0;
    if slow_at().is_none_or(|at| at.elapsed() > PAUSE) && map.advise(HugePage).is_ok() {
        while done < bytes {
            let page = HUGE.min(bytes - done);
            let start = Instant::now();
            map.advise_range(PopulateWrite, done, page)?;
            done += page;
            if start.elapsed() > SLOW {
                *slow_at() = Some(Instant::now());
                map.advise(NoHugePage)?;
                break;
            }
        }
    }
    map.advise_range(PopulateWrite, done, bytes - done)
}

impl<T> Drop for HugeBuf<T> {
    fn drop(&mut self) {
        let used = self.most * size_of::<T>();
        if !self.public {
            // The wipe uses large words, because the compiler must not merge these stores.
            let used = &mut self.memory.bytes_mut()[..used];
            let (before, words, after) = bytemuck::pod_align_to_mut::<u8, u128>(used);
            before.zeroize();
            words.zeroize();
            after.zeroize();
        }
        if let Memory::Mapped(map) = &mut self.memory
            && let Some(map) = map.take()
        {
            Kept::give(map, if self.public { used } else { 0 });
        }
    }
}

impl<T> ZeroizeOnDrop for HugeBuf<T> {}

impl<T: Pod> Deref for HugeBuf<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory.bytes()[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for HugeBuf<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory.bytes_mut()[..self.len * size_of::<T>()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    #[test]
    fn is_zero_at_first_and_holds_what_is_written() {
        for len in
            [0, 1, 3, 4, MAPPED / 16 - 1, MAPPED / 16, HUGE / 16 - 1, HUGE / 16, HUGE / 16 + 5]
        {
            let mut slab = HugeBuf::<Block>::zeroed(len);
            assert_eq!(slab.len(), len);
            assert!(slab.iter().all(|&block| block == Block::ZERO));
            for (i, block) in slab.iter_mut().enumerate() {
                *block = Block(i as u128 + 1);
            }
            assert!(slab.iter().enumerate().all(|(i, &block)| block == Block(i as u128 + 1)));
            assert_eq!(slab.as_ptr() as usize % LINE, 0, "{len} blocks");
        }
    }

    #[test]
    fn keeps_its_memory_while_it_is_enough() {
        let mut slab = HugeBuf::<[u64; 3]>::zeroed(200_000);
        let start = slab.as_ptr();
        slab[7] = [1, 2, 3];
        for len in [8, 0, 200_000] {
            slab.reset(len);
            assert_eq!((slab.len(), slab.as_ptr()), (len, start));
        }
        assert_eq!(slab[7], [1, 2, 3]);
        slab.reset(300_000);
        assert!(slab.iter().all(|&element| element == [0; 3]), "new memory is zero");
    }

    /// Memory from another buffer is zero, and the limit holds.
    #[test]
    fn memory_that_is_used_again_is_zero() {
        // No other test uses this size.
        let len = (7 * HUGE + 5) / 16;
        for round in 0..4 {
            let mut secret = HugeBuf::<Block>::zeroed(len);
            let mut public = HugeBuf::<Block>::public(len);
            for buffer in [&mut secret, &mut public] {
                assert!(buffer.iter().all(|&block| block == Block::ZERO), "round {round}");
                buffer.fill(Block(round + 1));
            }
        }
        let kept = Kept::lock();
        assert!(kept.bytes <= MOST_KEPT);
        assert_eq!(kept.bytes, kept.maps.iter().map(|(map, _)| map.len()).sum::<usize>());
    }

    #[test]
    fn no_more_is_kept_than_was_used_at_some_time() {
        let map = |bytes: usize| MmapMut::map_anon(bytes).unwrap();
        let mut kept = Kept { maps: Vec::new(), bytes: 0, used: 0, most_used: 0 };
        for pages in [1, 2, 3, 4] {
            kept.maps.push((map(pages * HUGE), 0));
            kept.bytes += pages * HUGE;
        }
        kept.shrink(10 * HUGE);
        assert_eq!(kept.maps.len(), 4);
        // The oldest memory goes first.
        kept.shrink(8 * HUGE);
        assert_eq!((kept.maps.len(), kept.bytes), (2, 7 * HUGE));
        kept.shrink(0);
        assert_eq!((kept.maps.len(), kept.bytes), (0, 0));
    }

    #[test]
    #[should_panic(expected = "more bytes than addresses")]
    fn refuses_what_cannot_be() {
        let _ = HugeBuf::<Block>::zeroed(usize::MAX);
    }

    #[test]
    fn debug_hides_the_elements() {
        assert_eq!(format!("{:?}", HugeBuf::<Block>::zeroed(2)), "HugeBuf(2 elements)");
    }
}
