//! How many files and connections the system lets this process have open.

/// How many file descriptors this process may have, after its own limit was raised to at most
/// `wanted` as far as the system allows; `None` where that is unlimited or cannot be asked.
#[cfg(target_os = "linux")]
pub fn descriptor_limit(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let current = current?;
    let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let larger = Rlimit { current: Some(raised), maximum };
    let raises = raised > current && setrlimit(Resource::Nofile, larger).is_ok();
    Some(if raises { raised } else { current })
}

/// The same where it cannot be asked.
#[cfg(not(target_os = "linux"))]
pub fn descriptor_limit(_wanted: u64) -> Option<u64> {
    None
}
