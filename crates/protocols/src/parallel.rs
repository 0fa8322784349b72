//! Work on threads that hold secrets.

/// Computes `work` of 0 .. n with `threads` threads; the results are in order.
pub(crate) fn in_parallel<T: Send>(
    threads: usize,
    n: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 || n <= 1 {
        return (0..n).map(work).collect();
    }
    let share = n.div_ceil(threads.min(n));
    let work = &work;
    std::thread::scope(|scope| {
        let start = |thread: usize| {
            let part = thread * share..((thread + 1) * share).min(n);
            scope.spawn(move || {
                symbolon_primitives::stack::wiped(|| part.map(work).collect::<Vec<T>>())
            })
        };
        let threads: Vec<_> = (0..n.div_ceil(share)).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<T>>| match thread.join() {
            Ok(part) => part,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    })
}
