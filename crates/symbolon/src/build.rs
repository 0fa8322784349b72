//! How this library was built, as far as it decides how fast it is.

use symbolon_primitives::Backend;

/// The name of the SIMD kernels in use, in lower case. They are chosen when the program runs.
pub fn backend() -> String {
    format!("{:?}", Backend::active()).to_lowercase()
}

/// What makes this build slower than it could be on this machine, a sentence each; nothing in a
/// good build. A program may write it to its log.
///
/// ```
/// for sentence in symbolon::slow_build() {
///     eprintln!("warning: {sentence}");
/// }
/// ```
pub fn slow_build() -> Vec<&'static str> {
    let mut found = Vec::new();
    // `build.rs` sets it.
    found.extend(option_env!("SYMBOLON_SLOW_BUILD"));
    let wide = matches!(Backend::active(), Backend::Vaes512);
    if wide && cfg!(not(curve25519_dalek_backend = "avx512")) {
        found.push(
            "symbolon computes base OTs without AVX-512: RUSTFLAGS lack \
             --cfg curve25519_dalek_backend=\"avx512\"",
        );
    }
    found
}
