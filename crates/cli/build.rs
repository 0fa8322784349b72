//! Tells the program which commit it was built from.

use std::process::Command;

fn main() {
    // Containers and packages are built from sources without a repository, and set the commit
    // themselves.
    println!("cargo:rerun-if-env-changed=SYMBOLON_COMMIT");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    let told = std::env::var("SYMBOLON_COMMIT").ok().filter(|commit| is_word(commit));
    println!(
        "cargo:rustc-env=SYMBOLON_COMMIT={}",
        told.or_else(of_git).unwrap_or("unknown".into())
    );
}

fn of_git() -> Option<String> {
    let out = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(out.stdout).ok()?.trim().to_string();
    (out.status.success() && is_word(&commit)).then_some(commit)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
