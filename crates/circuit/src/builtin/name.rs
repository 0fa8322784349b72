//! From names to circuits: entries of the catalogue, their parameters, helpful refusals.

use std::ops::RangeInclusive;

use symbolon_common::escape::Excerpt;

use crate::{Circuit, CircuitError};

/// A message shows at most this many bytes of what a user typed.
const SHOWN: usize = 40;

/// A built-in circuit, or a family of them with parameters.
#[derive(Debug)]
pub struct Entry {
    /// The name, without parameters.
    pub name: &'static str,
    /// How the parameters are written after the name, with their ranges; empty when there are none.
    pub parameters: &'static str,
    /// What it computes, in one line.
    pub description: &'static str,
    /// A name that [`by_name`](super::by_name) builds.
    pub example: &'static str,
    pub(super) form: Form,
}

/// Builds a circuit that has no parameters.
type Build = fn() -> Result<Circuit, CircuitError>;

/// How an entry is parameterised and built.
#[derive(Debug)]
pub(super) enum Form {
    /// `name`.
    Plain(Build),
    /// `name`, or `name:VARIANT` with one of these.
    Variants { default: Build, others: &'static [(&'static str, Build)] },
    /// `name:N`, or `name` alone when there is a default.
    Size {
        range: RangeInclusive<u32>,
        default: Option<u32>,
        build: fn(u32) -> Result<Circuit, CircuitError>,
    },
    /// `name:NxW`: a number and a width, and a limit to their product.
    Grid {
        number: RangeInclusive<u32>,
        width: RangeInclusive<u32>,
        most: u64,
        build: fn(u32, u32) -> Result<Circuit, CircuitError>,
    },
    /// `name:NxW`, or `name:NxW/M` in blocks of M rows, which divides N.
    Blocks {
        number: RangeInclusive<u32>,
        width: RangeInclusive<u32>,
        most: u64,
        whole: fn(u32, u32) -> Result<Circuit, CircuitError>,
        in_blocks: fn(u32, u32, u32) -> Result<Circuit, CircuitError>,
    },
    /// `name:N` or `name:N/T`: a number, optionally in at most `most` parts of size T, which
    /// divides it.
    Parts {
        range: RangeInclusive<u32>,
        whole: fn(u32) -> Result<Circuit, CircuitError>,
        parts: RangeInclusive<u32>,
        most: u32,
        in_parts: fn(u32, u32) -> Result<Circuit, CircuitError>,
    },
}

/// Builds `spec`, an entry's name with parameters.
pub(super) fn build(entries: &[Entry], spec: &str) -> Result<Circuit, CircuitError> {
    let (name, parameters) = match spec.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (spec, None),
    };
    let entry = entries
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| CircuitError::Unknown(no_such(entries, name)))?;
    let refuse = |reason: String| {
        let syntax = format!("{}{}", entry.name, entry.parameters);
        CircuitError::Unknown(format!(
            "built-in circuit `{}`: {reason} (write {syntax}, for example {})",
            Excerpt(spec, SHOWN),
            entry.example
        ))
    };
    match (&entry.form, parameters) {
        (Form::Plain(build), None) => build(),
        (Form::Plain(_), Some(_)) => Err(refuse("takes no parameters".into())),
        (Form::Variants { default, .. }, None) => default(),
        (Form::Variants { others, .. }, Some(text)) => {
            let found = others.iter().find(|(name, _)| *name == text);
            found.ok_or_else(|| refuse(format!("it has no variant `{}`", Excerpt(text, SHOWN))))?.1(
            )
        }
        (Form::Size { default: Some(size), build, .. }, None) => build(*size),
        (_, None) => Err(refuse("needs parameters".into())),
        (Form::Size { range, build, .. }, Some(text)) => {
            build(number(text, range).map_err(refuse)?)
        }
        (Form::Grid { number, width, most, build }, Some(text)) => {
            let [n, w] = grid(text, [number, width], *most).map_err(refuse)?;
            build(n, w)
        }
        (Form::Blocks { number: numbers, width, most, whole, in_blocks }, Some(text)) => {
            let (text, block) = match text.split_once('/') {
                Some((text, block)) => (text, Some(block)),
                None => (text, None),
            };
            let [n, w] = grid(text, [numbers, width], *most).map_err(refuse)?;
            let Some(block) = block else { return whole(n, w) };
            let block = number(block, &(1..=n)).map_err(refuse)?;
            if n % block != 0 {
                return Err(refuse(format!("{block} does not divide {n}")));
            }
            in_blocks(n, w, block)
        }
        (Form::Parts { range, whole, parts, most, in_parts }, Some(text)) => {
            match text.split_once('/') {
                None => whole(number(text, range).map_err(refuse)?),
                Some((n, part)) => {
                    let part = number(part, parts).map_err(refuse)?;
                    let n = number(n, &(0..=u32::MAX)).map_err(refuse)?;
                    if n == 0 || n % part != 0 {
                        return Err(refuse(format!("{part} does not divide {n}")));
                    }
                    if n / part > *most {
                        return Err(refuse(format!("more than {most} parts of {part}")));
                    }
                    in_parts(n, part)
                }
            }
        }
    }
}

/// Parses `NxW`, whose product is limited.
fn grid(
    text: &str,
    [numbers, widths]: [&RangeInclusive<u32>; 2],
    most: u64,
) -> Result<[u32; 2], String> {
    let (n, w) = text.split_once('x').ok_or("needs two numbers")?;
    let (n, w) = (number(n, numbers)?, number(w, widths)?);
    if u64::from(n) * u64::from(w) > most {
        return Err(format!("{n} times {w} is more than {most}"));
    }
    Ok([n, w])
}

/// Parses a decimal number in the range, or a power such as `2^20`.
fn number(text: &str, range: &RangeInclusive<u32>) -> Result<u32, String> {
    let (base, exponent) = text.split_once('^').unwrap_or((text, "1"));
    if ![base, exponent].iter().all(|part| is_decimal(part)) {
        return Err(format!("`{}` is not a number", Excerpt(text, SHOWN)));
    }
    let value = base.parse().ok().zip(exponent.parse().ok());
    let value = value.and_then(|(base, exponent): (u32, u32)| base.checked_pow(exponent));
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        format!("{} is not within {} to {}", Excerpt(text, SHOWN), range.start(), range.end())
    })
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn no_such(entries: &[Entry], name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = entries
        .iter()
        .map(|entry| (distance(&lower, entry.name), entry.name))
        .filter(|(distance, known)| {
            *distance <= 2 && *distance < known.len()
                || lower.len() >= 3 && (known.starts_with(&lower) || lower.starts_with(known))
        })
        .collect();
    near.sort_unstable();
    // The name is not repeated: it may be a secret that was typed in the wrong place.
    if near.is_empty() {
        let all: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        return format!("no built-in circuit has this name; there are {}", all.join(", "));
    }
    let near: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    format!("no built-in circuit has this name; did you mean {}?", near.join(" or "))
}

/// Returns how many insertions, removals and replacements of characters turn one name into the
/// other; only the start of long texts is compared.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use crate::builder::and_count;
    use crate::builtin::{by_name, catalogue};
    use crate::{CircuitError, Plan};

    use super::*;

    fn refusal(name: &str) -> String {
        match by_name(name) {
            Err(CircuitError::Unknown(message)) => message,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn every_example_builds_under_its_name() {
        for entry in catalogue() {
            let circuit = by_name(entry.example).unwrap();
            assert!(entry.example.starts_with(entry.name));
            assert!(circuit.name().starts_with(entry.name), "{}", entry.example);
            assert!(and_count(&circuit) > 0);
        }
    }

    #[test]
    fn refusals_say_what_would_do() {
        assert!(refusal("aes123").contains("`aes128`"));
        assert!(refusal("AES128").contains("`aes128`"));
        assert!(refusal("").contains("there are aes128, "));
        assert!(!refusal("\u{1b}[2J").contains('\u{1b}'));
        assert!(refusal(&"z".repeat(1 << 20)).len() < 1000);
        assert!(refusal("aes192:7").contains("takes no parameters"));
        assert!(refusal("aes128:7").contains("it has no variant `7` (write aes128 or aes128:V"));
        assert!(refusal("aes128:").contains("it has no variant ``"));
        assert!(refusal("sort").contains("needs parameters"));
        assert!(refusal("sort:16").contains("needs two numbers"));
        assert!(refusal("sort:1x8").contains("1 is not within 2 to 65536"));
        assert!(refusal("sort:65536x33").contains("65536 times 33 is more than 2097152"));
        let numbers =
            ",0,-1,+1, 1,1e3,0x10,99999999999999999999,^,2^,^2,2^+1,2^2^1,2^32,3^4294967296,0^1";
        for number in numbers.split(',') {
            for name in ["add", "hamming", "random", "cbcmac"] {
                assert!(refusal(&format!("{name}:{number}")).contains("for example"));
            }
        }
        assert!(refusal("random:10/3").contains("3 does not divide 10"));
        assert!(refusal("random:10/0").contains("0 is not within 1 to"));
        assert!(refusal("matmul:4x8/3").contains("3 does not divide 4"));
        assert!(refusal("matmul:4x8/8").contains("8 is not within 1 to 4"));
        assert!(refusal("matmul:4/2").contains("needs two numbers"));
        assert!(refusal("random:0/1").contains("1 does not divide 0"));
        assert!(refusal("random:4000000000/1").contains("more than 1048576 parts of 1"));
    }

    #[test]
    fn a_power_is_its_number() {
        for (power, number) in [
            ("random:2^9/2^4", "random:512/16"),
            ("sort:2^2x2^3", "sort:4x8"),
            ("add:7^1", "add:7"),
        ] {
            let circuit = by_name(power).unwrap();
            assert_eq!(circuit.name(), by_name(number).unwrap().name());
            assert_eq!(circuit, by_name(number).unwrap());
        }
    }

    #[test]
    fn variants_carry_their_names() {
        for name in ["aes128", "aes128:sbox", "aes128:expanded", "aes128:sbox-expanded"] {
            assert_eq!(by_name(name).unwrap().name(), name);
        }
    }

    #[test]
    fn a_default_stands_for_its_parameter() {
        let plain = by_name("millionaires").unwrap();
        assert_eq!(plain, by_name("millionaires:64").unwrap());
        assert_eq!(by_name("millionaires:8").unwrap().inputs()[1].ty.width(), 8);
    }

    /// Checks what the bounds of parameters promise: the circuit can be built.
    #[test]
    #[ignore = "takes a minute and gigabytes"]
    fn the_largest_parameters_can_be_built() {
        for entry in catalogue() {
            let names = match &entry.form {
                Form::Plain(_) => Vec::new(),
                Form::Variants { others, .. } => {
                    others.iter().map(|(variant, _)| format!("{}:{variant}", entry.name)).collect()
                }
                Form::Size { range, .. } => vec![format!("{}:{}", entry.name, range.end())],
                Form::Grid { number, width, most, .. }
                | Form::Blocks { number, width, most, .. } => {
                    let fits = |other: u32| (most / u64::from(other)) as u32;
                    vec![
                        format!("{}:{}x{}", entry.name, number.end(), fits(*number.end())),
                        format!("{}:{}x{}", entry.name, fits(*width.end()), width.end()),
                    ]
                }
                Form::Parts { range, parts, most, .. } => vec![
                    format!("{}:{}/1", entry.name, most),
                    format!("{}:{}", entry.name, range.end()),
                    format!("{}:{}/{}", entry.name, u32::MAX / 2 + 1, parts.end()),
                ],
            };
            for name in names {
                let circuit = by_name(&name).unwrap();
                assert!(Plan::new(&circuit).and_count() > 0, "{name}");
            }
        }
    }

    #[test]
    fn distances_are_edit_distances() {
        for (a, b, expected) in [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)] {
            assert_eq!(distance(a, b), expected);
            assert_eq!(distance(b, a), expected);
        }
    }
}
