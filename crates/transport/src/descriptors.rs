//! The limit on open files and connections of this process.

/// Raises this process's limit on file descriptors to at most `wanted`, as far as the system
/// allows, and returns the limit. Returns `None` if it is unlimited or unknown.
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

/// Returns `None`, because this system cannot be asked.
#[cfg(not(target_os = "linux"))]
pub fn descriptor_limit(_wanted: u64) -> Option<u64> {
    None
}
