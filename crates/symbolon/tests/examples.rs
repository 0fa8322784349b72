//! The examples, each run from beginning to end.
#![allow(missing_docs, clippy::print_stdout)]

/// A test that runs an example's `main`, which checks its own results.
macro_rules! example {
    ($name:ident, $path:literal) => {
        #[path = $path]
        #[allow(dead_code)]
        mod $name;

        #[test]
        fn $name() {
            $name::main().unwrap();
        }
    };
}

example!(batch, "../examples/batch.rs");
example!(cheat, "../examples/cheat.rs");
example!(dealer, "../examples/dealer.rs");
example!(night_before, "../examples/night_before.rs");
example!(own_circuit, "../examples/own_circuit.rs");
example!(parties, "../examples/parties.rs");
example!(program, "../examples/program.rs");
example!(reactive, "../examples/reactive.rs");
example!(two_machines, "../examples/two_machines.rs");
