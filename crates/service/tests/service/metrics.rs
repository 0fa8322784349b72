//! `/metrics` as a strict reader of OpenMetrics text takes it.

use std::collections::{BTreeMap, BTreeSet};

use symbolon::Protocol;

use crate::common::*;

/// The samples of a text, by name and labels.
type Samples = BTreeMap<(String, String), f64>;

fn is_name(text: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit())
}

/// Returns the labels in a fixed order, and what follows them.
fn labels(text: &str) -> Result<(String, &str), String> {
    let Some(mut rest) = text.strip_prefix('{') else { return Ok((String::new(), text)) };
    let mut all = BTreeMap::new();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            let list: Vec<String> =
                all.iter().map(|(name, value)| format!("{name}={value}")).collect();
            return Ok((list.join(","), after));
        }
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        let name = name.strip_prefix(',').unwrap_or(name);
        if !is_name(name) {
            return Err(format!("`{name}` is no name of a label"));
        }
        let (mut value, mut chars) = (String::new(), after.char_indices());
        rest = loop {
            match chars.next().ok_or("a value without an end")? {
                (place, '"') => break &after[place + 1..],
                (_, '\\') => match chars.next() {
                    Some((_, c @ ('\\' | '"'))) => value.push(c),
                    Some((_, 'n')) => value.push('\n'),
                    _ => return Err("an unknown escape".to_string()),
                },
                (_, c) => value.push(c),
            }
        };
        if all.insert(name, value).is_some() {
            return Err(format!("the label `{name}` twice"));
        }
    }
}

/// Reads a text: each family is described before its samples, which are together and have the
/// suffixes of its type; no sample comes twice; the end is marked.
fn read(text: &str) -> Result<Samples, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("no end")?;
    let (mut samples, mut families) = (Samples::new(), BTreeSet::new());
    let mut family: Option<(String, String)> = None;
    for line in body.lines() {
        let wrong = |what: &str| format!("{what}: {line}");
        if let Some(described) = line.strip_prefix("# ") {
            let mut words = described.splitn(3, ' ');
            let (kind, name) = (words.next(), words.next().ok_or_else(|| wrong("no name"))?);
            let rest = words.next().ok_or_else(|| wrong("no description"))?;
            let known = family.as_ref().is_some_and(|(known, _)| known == name);
            if !known {
                if !is_name(name) || !families.insert(name.to_string()) {
                    return Err(wrong("a name that is none, or a family twice"));
                }
                family = Some((name.to_string(), String::new()));
            }
            match (kind, &mut family) {
                (Some("HELP" | "UNIT"), _) => {}
                (Some("TYPE"), Some((_, of))) if of.is_empty() => *of = rest.to_string(),
                _ => return Err(wrong("no description")),
            }
            continue;
        }
        let (name, of) = family.as_ref().ok_or_else(|| wrong("a sample without a family"))?;
        let end = line.find(['{', ' ']).ok_or_else(|| wrong("no value"))?;
        let suffix = line[..end].strip_prefix(name.as_str());
        let suffixes: &[&str] = match of.as_str() {
            "counter" => &["_total", "_created"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_count", "_sum", "_created"],
            _ => return Err(wrong("an unknown type")),
        };
        if !suffix.is_some_and(|suffix| suffixes.contains(&suffix)) {
            return Err(wrong("a sample of another family"));
        }
        let (labels, value) = labels(&line[end..]).map_err(|what| wrong(&what))?;
        let value = value.strip_prefix(' ').ok_or_else(|| wrong("no value"))?;
        let value: f64 = value.parse().map_err(|_| wrong("no number"))?;
        if value < 0.0 && of != "gauge" {
            return Err(wrong("a negative number"));
        }
        if samples.insert((line[..end].to_string(), labels), value).is_some() {
            return Err(wrong("a sample twice"));
        }
    }
    Ok(samples)
}

#[test]
fn metrics_are_open_metrics() {
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
    (0..3).for_each(|i| assert_eq!(sum(&nodes, &format!("c{i}"), [i, 1]), i + 1));
    stocked(&nodes);
    let samples = read(&nodes[0].metrics()).unwrap();
    let get = |name: &str, labels: &str| {
        samples.get(&(format!("symbolon_{name}"), labels.to_string())).copied()
    };
    assert_eq!(get("calls_total", "function=add,result=done"), Some(3.0));
    assert_eq!(get("connected", "party=1"), Some(1.0));
    assert_eq!(get("call_seconds_count", "function=add"), Some(3.0));
    // A histogram counts up to its last bucket, which has everything.
    let bucket = |(name, labels): &(String, String)| {
        (name == "symbolon_call_seconds_bucket").then(|| {
            let le = labels.split(',').find_map(|label| label.strip_prefix("le=")).unwrap();
            le.parse::<f64>().unwrap()
        })
    };
    let mut buckets: Vec<(f64, f64)> =
        samples.iter().filter_map(|(key, count)| Some((bucket(key)?, *count))).collect();
    buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert!(buckets.windows(2).all(|two| two[0].1 <= two[1].1), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, 3.0)));
}

#[test]
fn the_reader_is_strict() {
    let good = "# HELP a b.\n# TYPE a counter\na_total{x=\"1\"} 2\n# EOF\n";
    assert!(read(good).is_ok());
    for (from, to) in [
        ("# EOF\n", ""),
        ("a_total{", "a{"),
        ("a_total{", "b_total{"),
        ("\"1\"", "\"1"),
        ("\"1\"", "\"\\1\""),
        ("} 2", "} two"),
        ("} 2", "} -2"),
        ("} 2", "}2"),
        ("counter", "counters"),
        ("a_total{x=\"1\"} 2\n", "a_total{x=\"1\"} 2\na_total{x=\"1\"} 2\n"),
        ("x=\"1\"", "x=\"1\",x=\"2\""),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        assert!(read(&text).is_err(), "{text}");
    }
}
