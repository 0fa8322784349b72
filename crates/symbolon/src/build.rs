//! Properties of this build and this machine that determine its speed.

use symbolon_primitives::Backend;

/// Returns the name of the SIMD kernels in use, in lower case. They are chosen at run time.
pub fn backend() -> String {
    format!("{:?}", Backend::active()).to_lowercase()
}

/// Returns the name of the processor, if the system tells.
pub fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_string())
    })
}

/// Returns what makes this build slower than it could be on this machine, one sentence per reason;
/// empty for a good build. A program may write the sentences to its log.
///
/// ```
/// for sentence in symbolon::slow_build() {
///     eprintln!("warning: {sentence}");
/// }
/// ```
pub fn slow_build() -> Vec<&'static str> {
    let mut found = Vec::new();
    found.extend(symbolon_primitives::SLOW_BUILD);
    let wide = matches!(Backend::active(), Backend::Vaes512);
    if wide && cfg!(not(curve25519_dalek_backend = "avx512")) {
        found.push(
            "symbolon computes base OTs without AVX-512: RUSTFLAGS lack \
             --cfg curve25519_dalek_backend=\"avx512\"",
        );
    }
    found
}
