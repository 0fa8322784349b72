//! Names and types that a user gives to the ports of a circuit whose file has none.

use std::collections::BTreeMap;

use symbolon::circuit::{Circuit, Type};

use crate::common::error::{CliError, CliResult};
use crate::common::words::assignment;

/// New types and names for ports, by the circuit's own names; later ones win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Port and type, as `[u32; 200]`.
    pub types: Vec<(String, String)>,
    /// Port and new name.
    pub names: Vec<(String, String)>,
}

/// Reads `PORT=TYPE`.
///
/// # Errors
/// A sentence that says what was expected.
pub fn port_type(text: &str) -> Result<(String, String), String> {
    let (port, ty) = assignment(text)?;
    ty.parse::<Type>().map_err(|error| error.to_string())?;
    Ok((port, ty))
}

/// Reads `PORT=NAME`.
///
/// # Errors
/// A sentence that says what was expected.
pub fn port_name(text: &str) -> Result<(String, String), String> {
    let (port, name) = assignment(text)?;
    match name.trim() {
        "" => Err("expected PORT=NAME, and the name is empty".to_string()),
        name => Ok((port, name.to_string())),
    }
}

impl Labels {
    /// Joins the labels of a settings file with those of flags.
    ///
    /// # Errors
    /// A usage failure that names the key.
    pub fn join(
        types: BTreeMap<String, String>,
        names: BTreeMap<String, String>,
        flags: Labels,
    ) -> CliResult<Labels> {
        for (port, ty) in &types {
            ty.parse::<Type>()
                .map_err(|error| CliError::usage(format!("[types] {port}: {error}")))?;
        }
        if let Some((port, _)) = names.iter().find(|(_, name)| name.trim().is_empty()) {
            return Err(CliError::usage(format!("[names] {port}: the name is empty")));
        }
        Ok(Labels {
            types: types.into_iter().chain(flags.types).collect(),
            names: names.into_iter().chain(flags.names).collect(),
        })
    }

    /// Applies these types and names. All of them refer to ports by the names in `circuit`.
    ///
    /// # Errors
    /// A usage failure when there is no such port, an input and an output have the name, a type has
    /// another width than its port, or two inputs or two outputs get the same name.
    pub fn apply(&self, circuit: Circuit) -> CliResult<Circuit> {
        if *self == Labels::default() {
            return Ok(circuit);
        }
        let mut types: [Vec<Type>; 2] = [
            circuit.inputs().iter().map(|port| port.ty.clone()).collect(),
            circuit.outputs().iter().map(|port| port.ty.clone()).collect(),
        ];
        let mut names: [Vec<String>; 2] = [
            circuit.inputs().iter().map(|port| port.name.clone()).collect(),
            circuit.outputs().iter().map(|port| port.name.clone()).collect(),
        ];
        let known = names.clone();
        for (port, ty) in &self.types {
            let (kind, place) = find(&known, port)?;
            types[kind][place] = ty
                .parse()
                .map_err(|error| CliError::usage(format!("the type of `{port}`: {error}")))?;
        }
        for (port, name) in &self.names {
            let (kind, place) = find(&known, port)?;
            names[kind][place] = name.trim().to_string();
        }
        let ([in_types, out_types], [in_names, out_names]) = (types, names);
        Ok(circuit.with_types(in_types, out_types)?.with_names(in_names, out_names)?)
    }
}

/// Returns whether a port is an input (0) or an output (1), and its place.
fn find(known: &[Vec<String>; 2], port: &str) -> CliResult<(usize, usize)> {
    let place = |kind: usize| known[kind].iter().position(|name| name == port);
    match (place(0), place(1)) {
        (Some(place), None) => Ok((0, place)),
        (None, Some(place)) => Ok((1, place)),
        (Some(_), Some(_)) => Err(CliError::usage(format!(
            "both an input and an output are called `{port}`: --type and --name cannot tell them \
             apart"
        ))),
        (None, None) => {
            let all: Vec<String> = known.iter().flatten().map(|name| format!("`{name}`")).collect();
            Err(CliError::usage(
                "--type or --name gives a port that the circuit does not have by this name",
            )
            .with_hint(format!("its inputs and outputs are {}", all.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use symbolon::circuit::builtin;

    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(port, text)| (port.to_string(), text.to_string())).collect()
    }

    fn labelled(types: &[(&str, &str)], names: &[(&str, &str)]) -> CliResult<Circuit> {
        let labels = Labels { types: pairs(types), names: pairs(names) };
        labels.apply(builtin::by_name("add:32").unwrap())
    }

    #[test]
    fn ports_are_named_as_the_file_names_them() {
        let types = [("x", "bool"), ("x", "[u8; 4]"), ("sum", "i32")];
        let circuit = labelled(&types, &[("x", "y"), ("y", "x")]).unwrap();
        let inputs: Vec<_> =
            circuit.inputs().iter().map(|port| (&port.name[..], port.ty.to_string())).collect();
        assert_eq!(inputs, [("y", "[u8; 4]".to_string()), ("x", "u32".to_string())]);
        assert_eq!(circuit.outputs()[0].ty, Type::Int(32));
    }

    #[test]
    fn what_does_not_fit_is_a_usage_failure() {
        let message = |types, names| labelled(types, names).unwrap_err().message;
        assert!(message(&[("x", "[u32; 200]")], &[]).contains("has 32 bits, [u32; 200] has 6400"));
        assert!(message(&[("z", "bool")], &[]).contains("does not have by this name"));
        assert!(message(&[], &[("x", "y")]).contains("repeated"));
        let hint = labelled(&[], &[("7", "y")]).unwrap_err().hint.unwrap();
        assert_eq!(hint, "its inputs and outputs are `x`, `y`, `sum`");
        let same = builtin::by_name("add:32").unwrap();
        let same = Labels { types: vec![], names: pairs(&[("sum", "x")]) }.apply(same).unwrap();
        let both = Labels { types: pairs(&[("x", "bool")]), names: vec![] }.apply(same);
        assert!(both.unwrap_err().message.contains("both an input and an output"));
    }

    #[test]
    fn flags_are_checked_before_the_circuit_is_read() {
        assert_eq!(port_type("in0=[u8; 4]"), Ok(("in0".into(), "[u8; 4]".into())));
        assert!(port_type("in0=word").unwrap_err().contains("[u32; 200]"));
        assert!(port_type("in0").is_err());
        assert!(port_name("in0= ").is_err());
        let file = |types: &str| {
            let types = BTreeMap::from([("in0".to_string(), types.to_string())]);
            let flags = Labels { types: Vec::new(), names: pairs(&[("a", "b")]) };
            Labels::join(types, BTreeMap::new(), flags)
        };
        assert_eq!(file("f32").unwrap().names, pairs(&[("a", "b")]));
        assert!(file("float").unwrap_err().message.contains("[types] in0"));
    }
}
