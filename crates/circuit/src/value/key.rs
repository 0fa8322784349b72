//! Values under a key of a JSON file, chosen like a column of a CSV file: `NAME.json#KEY`.
//!
//! The result is parts of the file's text, so that errors can name lines and nothing secret is
//! copied.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::parse::line_of;
use crate::builtin::distance;

/// What a file has under a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen<'t> {
    /// An object's value.
    One(&'t str),
    /// The value in each object of a list.
    Each(Vec<&'t str>),
}

/// Returns the one value that a JSON text is.
///
/// # Errors
/// A sentence that names the line, and no value.
pub(super) fn document(text: &str) -> Result<&str, String> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| {
        // Only its syntax has been looked at: the reason is one of a few fixed sentences.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        format!("line {}: this is not JSON: {reason}", error.line())
    })?;
    Ok(whole.get())
}

/// Finds `key` in the object, or in the objects of the list, that `text` is. A key that does not
/// exist is split at its dots: `staff.salary` is `salary` within `staff`.
///
/// # Errors
/// A sentence that names the line and the key, and no value.
pub(super) fn chosen<'t>(text: &'t str, key: &str) -> Result<Chosen<'t>, String> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| match text.trim_start() {
        json if json.starts_with(['{', '[']) => format!("line {}: this is not JSON", error.line()),
        _ => "columns are chosen from CSV files and keys from JSON files: NAME.csv#COLUMN, \
              NAME.json#KEY"
            .to_string(),
    })?;
    within(text, whole.get(), key)
}

/// Does the same in a part of a text.
fn within<'t>(text: &'t str, part: &'t str, key: &str) -> Result<Chosen<'t>, String> {
    let at = |part: &str, reason: &str| format!("line {}: {reason}", line_of(text, part));
    if !part.starts_with('[') {
        return member(text, part, key);
    }
    let objects: Vec<&RawValue> =
        serde_json::from_str(part).map_err(|_| at(part, "this is not JSON"))?;
    let value = |object: &&'t RawValue| match member(text, object.get(), key)? {
        Chosen::One(value) => Ok(value),
        Chosen::Each(_) => Err(at(object.get(), "a list within a list of objects")),
    };
    objects.iter().map(value).collect::<Result<_, _>>().map(Chosen::Each)
}

fn member<'t>(text: &'t str, object: &'t str, key: &str) -> Result<Chosen<'t>, String> {
    let at = |reason: String| format!("line {}: {reason}", line_of(text, object));
    // Anything else here is not shown: it may be a value.
    let members: Members<'t> = serde_json::from_str(object)
        .map_err(|_| at(format!("no object that could have the key `{key}`")))?;
    let find = |key: &str| members.find(key).map_err(at);
    if let Some(value) = find(key)? {
        return Ok(Chosen::One(value.get()));
    }
    for (dot, _) in key.match_indices('.') {
        if let Some(outer) = find(&key[..dot])? {
            return within(text, outer.get(), &key[dot + 1..]);
        }
    }
    let near = nearest(key, members.0.iter().map(|member| member.0.as_str()));
    Err(at(format!("there is no key `{key}`{near}")))
}

/// The keys and values of an object, in their order.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Members<'t> {
    /// Returns the value of a key, if there is one.
    ///
    /// # Errors
    /// A sentence if there are several.
    fn find(&self, key: &str) -> Result<Option<&'t RawValue>, String> {
        let mut values = self.0.iter().filter(|member| member.0 == key).map(|member| member.1);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(format!("the key `{key}` is given more than once")),
            (found, None) => Ok(found),
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Object)
    }
}

/// Returns `; did you mean …?` if a known name is similar to the requested one.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let near = known.map(|known| (distance(name, known), known)).min();
    match near.filter(|(distance, known)| *distance <= 2 && *distance < known.len()) {
        Some((_, known)) => format!("; did you mean `{known}`?"),
        None => String::new(),
    }
}
