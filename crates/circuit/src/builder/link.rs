//! Links components that call each other into a program.

use std::collections::HashMap;

use super::subcircuit::Subcircuit;
use super::sweep::Swept;
use crate::{Component, Program, Table};

/// Returns the program of a main component: all components that it calls, each once, callees first;
/// and all tables, each once.
pub(super) fn link(main: Swept) -> Program {
    let mut linker = Linker::default();
    let Swept { mut component, callees, tables, .. } = main;
    linker.relocate(&mut component, &callees, &tables);
    linker.program.components.push(component);
    linker.program
}

#[derive(Default)]
struct Linker {
    program: Program,
    places: HashMap<usize, u32>,
    tables: HashMap<Table, u32>,
}

impl Linker {
    fn relocate(&mut self, component: &mut Component, callees: &[Subcircuit], tables: &[Table]) {
        let places: Vec<u32> = callees.iter().map(|callee| self.place(callee)).collect();
        for call in &mut component.calls {
            call.component = places[call.component as usize];
        }
        for repeat in &mut component.repeats {
            repeat.component = places[repeat.component as usize];
        }
        let places: Vec<u32> = tables.iter().map(|table| self.table(table)).collect();
        for lookup in &mut component.lookups {
            lookup.table = places[lookup.table as usize];
        }
    }

    fn place(&mut self, subcircuit: &Subcircuit) -> u32 {
        if let Some(&place) = self.places.get(&subcircuit.identity()) {
            return place;
        }
        let definition = &*subcircuit.0;
        let mut component = definition.component.clone();
        self.relocate(&mut component, &definition.callees, &definition.tables);
        let place = self.program.components.len() as u32;
        self.program.components.push(component);
        self.places.insert(subcircuit.identity(), place);
        place
    }

    fn table(&mut self, table: &Table) -> u32 {
        let Linker { program, tables, .. } = self;
        *tables.entry(table.clone()).or_insert_with(|| {
            program.tables.push(table.clone());
            program.tables.len() as u32 - 1
        })
    }
}
