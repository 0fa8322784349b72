//! A party that waits for one peer must already have sent the others everything that it owes them.
//! Otherwise the waits would follow one another, and what takes one trip over a long link with two
//! parties would take as many trips as there are peers.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use symbolon_ot::cot;

use super::*;

/// Runs three parties: the last receives all `draws` of the first while the second sends nothing.
/// `draws` gives the number of bits of each draw.
#[track_caller]
fn assert_last_hears_draw<T>(
    draws: &'static [usize],
    f: impl Fn(&mut Preprocessor, &mut Lanes) -> Result<T> + Sync,
) {
    let [first, silent, mut last] =
        parties(3, 1, 91).try_into().unwrap_or_else(|_| unreachable!("three parties"));
    let Party { mut open, mut lanes, .. } = first;
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let result = f(&mut open, &mut lanes).map(drop);
            drop(lanes);
            result
        });
        scope.spawn(move || {
            let from_first = &mut last.lanes[0][0];
            let messages = draws.iter().flat_map(|&n| {
                let u = ("iknp: u", COLUMNS * cot::column_bytes(n));
                [u, ("aBit: digests", 32), ("aBit: check", cot::CHECK_BYTES)]
            });
            let heard =
                messages.fold(true, |heard, (kind, n)| heard && from_first.recv(kind, n).is_ok());
            tell.send(heard).expect("somebody waits for this");
        });
        let heard = told.recv_timeout(Duration::from_secs(20));
        drop(silent);
        assert_eq!(heard, Ok(true));
        assert!(matches!(waits.join().expect("no panic"), Err(Error::Transport { .. })));
    });
}

#[test]
fn shares_are_drawn_with_all_at_once() {
    assert_last_hears_draw(&[100], |open, lanes| open.shares(lanes, 100));
}

#[test]
fn triples_of_one_chunk_are_drawn_with_all_at_once() {
    const BATCH: Batch = Batch { triples: 7, bucket: 3 };
    // The bits of the batch's check come first.
    assert_last_hears_draw(&[8 * 48, 3 * 21], |open, lanes| open.triples(lanes, BATCH));
}
