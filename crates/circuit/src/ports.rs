//! Names and types that a user gives to ports, for files that have none.

use crate::{Circuit, CircuitError, Type};

impl Circuit {
    /// Returns the same program with other types for its inputs and outputs, one for each.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when there are not as many types as ports, the width of a type
    /// differs from its port's, or an enumeration has no variants.
    pub fn with_types(
        mut self,
        inputs: Vec<Type>,
        outputs: Vec<Type>,
    ) -> Result<Self, CircuitError> {
        let (ins, outs) = self.ports_mut();
        let given = inputs.into_iter().map(|ty| ("input", ty));
        let given = given.chain(outputs.into_iter().map(|ty| ("output", ty)));
        let ports = ins.iter_mut().map(|port| ("input", &port.name, &mut port.ty));
        let ports = ports.chain(outs.iter_mut().map(|port| ("output", &port.name, &mut port.ty)));
        let mut given = given.peekable();
        for (kind, name, old) in ports {
            let Some((_, ty)) = given.next_if(|(given, _)| *given == kind) else {
                return Err(CircuitError::invalid(format!("there are fewer types than {kind}s")));
            };
            if ty.width() != old.width() {
                return Err(CircuitError::invalid(format!(
                    "{kind} `{name}` has {} bits, {ty} has {}",
                    old.width(),
                    ty.width()
                )));
            }
            crate::validate::check_type(kind, name, &ty)?;
            *old = ty;
        }
        match given.next() {
            Some((kind, _)) => {
                Err(CircuitError::invalid(format!("there are more types than {kind}s")))
            }
            None => Ok(self),
        }
    }

    /// Returns the same program with other names for its inputs and outputs, one for each.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when there are not as many names as ports, one is empty, two
    /// inputs or two outputs have the same one, or the output that reports failed asserts
    /// ([`Circuit::FAILURE`]) would lose its name.
    pub fn with_names(
        mut self,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> Result<Self, CircuitError> {
        for (kind, names, ports) in
            [("input", &inputs, self.inputs().len()), ("output", &outputs, self.outputs().len())]
        {
            if names.len() != ports {
                return Err(CircuitError::invalid(format!(
                    "{} names given for {ports} {kind}s",
                    names.len()
                )));
            }
            crate::validate::check_names(kind, names)?;
        }
        let asserts = !self.failures().is_empty();
        let (ins, outs) = self.ports_mut();
        for (port, name) in outs.iter_mut().zip(outputs) {
            if asserts && (port.name == Circuit::FAILURE) != (name == Circuit::FAILURE) {
                return Err(CircuitError::invalid(format!(
                    "the output `{}` tells of failed asserts and keeps its name",
                    Circuit::FAILURE
                )));
            }
            port.name = name;
        }
        ins.iter_mut().zip(inputs).for_each(|(port, name)| port.name = name);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, builtin};

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn types_and_names_change_and_the_rest_stays() {
        let circuit = builtin::by_name("add:32").unwrap();
        let typed = circuit
            .clone()
            .with_types(vec![Type::words(4, 8), Type::F32], vec![Type::Int(32)])
            .unwrap()
            .with_names(names(&["a", "x"]), names(&["a"]))
            .unwrap();
        let ports: Vec<String> =
            typed.inputs().iter().map(|port| format!("{}: {}", port.name, port.ty)).collect();
        assert_eq!(ports, ["a: [u8; 4]", "x: f32"]);
        assert_eq!(typed.outputs()[0].ty, Type::Int(32));
        assert_eq!(typed.components(), circuit.components());
        assert_ne!(typed.digest(), circuit.digest());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let circuit = || builtin::by_name("add:32").unwrap();
        let u32s = |n| vec![Type::Uint(32); n];
        let types = |inputs, outputs| circuit().with_types(inputs, outputs).unwrap_err();
        let wide = types(vec![Type::Uint(32), Type::words(200, 32)], u32s(1)).to_string();
        assert!(wide.contains("input `y` has 32 bits, [u32; 200] has 6400"), "{wide}");
        assert!(types(u32s(1), u32s(1)).to_string().contains("fewer types than inputs"));
        assert!(types(u32s(3), u32s(1)).to_string().contains("fewer types than outputs"));
        assert!(types(u32s(2), u32s(2)).to_string().contains("more types than outputs"));
        let named = |inputs: &[&str], outputs: &[&str]| {
            circuit().with_names(names(inputs), names(outputs)).unwrap_err().to_string()
        };
        assert!(named(&["a"], &["z"]).contains("1 names given for 2 inputs"));
        assert!(named(&["a", "a"], &["z"]).contains("`a` is empty or repeated"));
        assert!(named(&["a", "b"], &[""]).contains("output name `` is empty"));
        let failure = Failure { text: "t".into(), file: "f".into(), line: 1 };
        let asserts = circuit().with_names(names(&["x", "y"]), names(&["assert"])).unwrap();
        let asserts = asserts.with_failures(vec![failure]);
        let error = asserts.with_names(names(&["x", "y"]), names(&["z"])).unwrap_err().to_string();
        assert!(error.contains("keeps its name"), "{error}");
    }
}
