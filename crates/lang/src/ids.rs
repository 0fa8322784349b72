//! Numbers of what a program consists of, a type for each kind, and tables of them.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A place in a [`Table`].
pub trait Id: Copy {
    /// Returns the number of this place.
    fn of(place: usize) -> Self;

    /// Returns the place.
    fn place(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Id for $name {
            fn of(place: usize) -> Self {
                $name(u32::try_from(place).expect("sources and programs have limits"))
            }

            fn place(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A module of a program.
    ModuleId;
    /// A structure or an enumeration.
    AdtId;
    /// A function.
    FnId;
    /// A constant.
    ConstId;
    /// Another name of a type.
    AliasId;
    /// A function with its arguments.
    InstanceId;
    /// An expression of an instance.
    ExprId;
}

impl ModuleId {
    /// The main file.
    pub const MAIN: ModuleId = ModuleId(0);
    /// What every module knows.
    pub const PRELUDE: ModuleId = ModuleId(1);
}

/// What has ids of one kind, in the order of its places.
#[derive(Debug)]
pub struct Table<I, T> {
    rows: Vec<T>,
    ids: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table { rows: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds one.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::of(self.rows.len() - 1)
    }

    /// Returns the one with this id, if it is there.
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.place())
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the id that the next one will have.
    pub fn next(&self) -> I {
        I::of(self.rows.len())
    }

    /// Returns all ids.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::of)
    }

    /// Returns all.
    pub fn rows(&self) -> impl Iterator<Item = &T> {
        self.rows.iter()
    }

    /// Returns all with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(place, row)| (I::of(place), row))
    }

    /// Removes this one and all after it, and returns them.
    pub fn drain_from(&mut self, first: I) -> impl Iterator<Item = T> {
        self.rows.drain(first.place()..)
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.rows[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.place()]
    }
}
