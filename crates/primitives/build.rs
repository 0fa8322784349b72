//! Warns users whose settings make the library slow: the kernels are in this crate.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The profile of this package, and thus usually of its dependencies: a workspace that embeds it
    // has its own.
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    if ["2", "3"].contains(&level.as_str()) {
        return;
    }
    let warning = format!(
        "symbolon's kernels are built with opt-level {level}, which makes it many times slower: set \
         opt-level = 3 for [profile.dev.package.\"*\"] in Cargo.toml"
    );
    println!("cargo::rustc-env=SYMBOLON_SLOW_BUILD={warning}");
    println!("cargo::warning={warning}");
}
