//! A page.
use super::result::BenchJson;
use crate::failure::Outcome;
/// Page.
pub fn page(result: &BenchJson) -> Outcome<String> {
    Ok(result.text())
}
