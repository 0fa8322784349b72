//! The store as its users see it, after crashes, damage and attacks. One program, because each
//! takes seconds to link.
#![allow(missing_docs)]

#[cfg(unix)]
mod access;
mod collect;
mod common;
mod crashes;
mod damage;
mod encrypt;
mod items;
mod places;
#[cfg(unix)]
mod putback;

/// Not a test of its own: the children of other tests run it.
#[test]
fn child() {
    let Some((task, path)) = common::task() else { return };
    match task.as_str() {
        "collect and say so" => collect::child(&path),
        "look" => places::child(&path),
        #[cfg(unix)]
        "put back" => putback::child(&path),
        "take" => damage::child(&path),
        task => crashes::child(task, &path),
    }
}
