//! Gives the shared library a SONAME with the number of its interface, so that a program never
//! loads one with another interface.

#[path = "src/abi.rs"]
mod abi;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/abi.rs");
    // Of the systems with ELF, those that the linker's option is known for.
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if ["linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly"].contains(&&*system) {
        let soname = format!("libsymbolon_c.so.{}", abi::SYMBOLON_ABI_VERSION);
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
    }
}
