//! Fresh seeds for tests, and an environment variable that repeats them.

use std::cell::Cell;
use std::sync::OnceLock;

/// The environment variable that fixes the seed: 32 hexadecimal digits.
const VARIABLE: &str = "SYMBOLON_SEED";

/// Returns the seed of this process plus `number`, which separates the uses within a test. The seed
/// comes from the operating system unless `SYMBOLON_SEED` gives it.
///
/// Each test that calls this prints the seed, so that a failed one shows how to repeat it. Other
/// randomness that a test takes from the operating system is not repeated.
///
/// # Panics
/// If the variable is not a 128-bit hexadecimal number, or the operating system has no randomness.
// The test harness captures the output and shows it if a test fails.
#[allow(clippy::print_stdout)]
pub fn fresh(number: u128) -> u128 {
    thread_local! {
        static PRINTED: Cell<bool> = const { Cell::new(false) };
    }
    static SEED: OnceLock<u128> = OnceLock::new();
    let seed = *SEED.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(text) => u128::from_str_radix(&text, 16).expect("SYMBOLON_SEED is hexadecimal"),
        Err(_) => {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).expect("the operating system's randomness");
            u128::from_le_bytes(bytes)
        }
    });
    if !PRINTED.replace(true) {
        println!("seeds: to repeat this run, {VARIABLE}={seed:032x}");
    }
    seed.wrapping_add(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tell_uses_apart() {
        assert_eq!(fresh(3), fresh(3));
        assert_eq!(fresh(4).wrapping_sub(fresh(3)), 1);
    }
}
