//! Links components that call each other into a program.

use std::collections::HashMap;
use std::sync::Arc;

use super::subcircuit::{Definition, Subcircuit};
use super::sweep::Swept;
use crate::{Component, Program, Table};

/// Returns the program of a main component: all components that it calls, each once, callees first;
/// and all tables, each once. Components that nothing else holds are moved, not copied.
pub(super) fn link(main: Swept) -> Program {
    let mut linker = Linker::default();
    let Swept { mut component, callees, tables, .. } = main;
    linker.number(&callees, &tables);
    linker.relocate(&mut component, &callees, &tables);
    drop(callees);
    let mut components = vec![component];
    // Callers come after what they call, so that a component is the last to hold what it calls.
    while let Some(subcircuit) = linker.found.pop() {
        let (mut component, callees, tables) = match Arc::try_unwrap(subcircuit.0) {
            Ok(Definition { component, callees, tables, .. }) => (component, callees, tables),
            Err(shared) => {
                (shared.component.clone(), shared.callees.clone(), shared.tables.clone())
            }
        };
        linker.relocate(&mut component, &callees, &tables);
        components.push(component);
    }
    components.reverse();
    Program { components, tables: linker.tables }
}

#[derive(Default)]
struct Linker {
    /// The components that are called, callees first, and the place of each by its identity.
    found: Vec<Subcircuit>,
    places: HashMap<usize, u32>,
    tables: Vec<Table>,
    table_places: HashMap<Table, u32>,
}

impl Linker {
    /// Finds what a component calls, and where it looks up.
    fn number(&mut self, callees: &[Subcircuit], tables: &[Table]) {
        for callee in callees {
            if self.places.contains_key(&callee.identity()) {
                continue;
            }
            self.number(&callee.0.callees, &callee.0.tables);
            self.places.insert(callee.identity(), self.found.len() as u32);
            self.found.push(callee.clone());
        }
        for table in tables {
            if !self.table_places.contains_key(table) {
                self.table_places.insert(table.clone(), self.tables.len() as u32);
                self.tables.push(table.clone());
            }
        }
    }

    /// Changes the numbers of what a component calls, and of its tables, to those of the program.
    fn relocate(&self, component: &mut Component, callees: &[Subcircuit], tables: &[Table]) {
        let places: Vec<u32> =
            callees.iter().map(|callee| self.places[&callee.identity()]).collect();
        for call in &mut component.calls {
            call.component = places[call.component as usize];
        }
        for repeat in &mut component.repeats {
            repeat.component = places[repeat.component as usize];
        }
        let places: Vec<u32> = tables.iter().map(|table| self.table_places[table]).collect();
        for lookup in &mut component.lookups {
            lookup.table = places[lookup.table as usize];
        }
    }
}
