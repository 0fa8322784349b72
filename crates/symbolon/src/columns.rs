//! Arrays of structures by columns, as tables are elsewhere: all values of one field side by side.

use symbolon_circuit::Type;
use symbolon_primitives::BitVec;

/// All values of one field, in the order of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The field.
    pub name: String,
    /// An array of the field's type.
    pub ty: Type,
    /// The wires of this array.
    pub bits: BitVec,
}

/// Returns the names of the fields of an array of structures, each with the type of its column;
/// `None` for other types.
pub fn types(ty: &Type) -> Option<Vec<(String, Type)>> {
    let Type::Array { len, elem } = ty else { return None };
    let Type::Struct { fields, .. } = &**elem else { return None };
    let column = |(name, ty): &(String, Type)| {
        (name.clone(), Type::Array { len: *len, elem: Box::new(ty.clone()) })
    };
    Some(fields.iter().map(column).collect())
}

/// Splits the wires of an array of structures into columns; returns `None` for other types.
///
/// # Panics
/// When there are fewer wires than the type has.
pub fn split(ty: &Type, bits: &BitVec) -> Option<Vec<Column>> {
    let types = types(ty)?;
    let rows = rows(ty);
    let mut columns: Vec<Column> = Vec::with_capacity(types.len());
    for (name, ty) in types {
        let bits = BitVec::with_capacity(ty.width() as usize);
        columns.push(Column { name, ty, bits });
    }
    let mut at = 0;
    for _ in 0..rows {
        for column in &mut columns {
            let width = column.ty.width() as usize / rows;
            copy(bits, at, width, &mut column.bits);
            at += width;
        }
    }
    Some(columns)
}

/// Joins the wires of columns, in the order of the fields, to those of an array of structures.
/// Returns `None` if the type is another one, or if the columns have other widths than its fields.
pub fn join(ty: &Type, columns: &[BitVec]) -> Option<BitVec> {
    let types = types(ty)?;
    let widths = types.iter().map(|(_, ty)| ty.width());
    if !widths.eq(columns.iter().map(|column| column.len() as u64)) {
        return None;
    }
    let rows = rows(ty);
    let mut bits = BitVec::with_capacity(ty.width() as usize);
    for row in 0..rows {
        for column in columns {
            let width = column.len() / rows;
            copy(column, row * width, width, &mut bits);
        }
    }
    Some(bits)
}

fn rows(ty: &Type) -> usize {
    match ty {
        Type::Array { len, .. } => *len as usize,
        _ => 0,
    }
}

/// Appends `width` wires from `at` on.
fn copy(from: &BitVec, at: usize, width: usize, to: &mut BitVec) {
    let words = from.words();
    for start in (at..at + width).step_by(64) {
        let bits = (at + width - start).min(64);
        let (place, shift) = (start / 64, start % 64);
        let mut word = words[place] >> shift;
        if shift + bits > 64 {
            word |= words[place + 1] << (64 - shift);
        }
        to.push_word(word & (u64::MAX >> (64 - bits)), bits);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: u32, widths: &[u32]) -> Type {
        let field = |(place, &width): (usize, &u32)| (format!("f{place}"), Type::Uint(width));
        let fields = widths.iter().enumerate().map(field).collect();
        Type::Array { len: rows, elem: Box::new(Type::Struct { name: "Row".into(), fields }) }
    }

    proptest! {
        #[test]
        fn columns_hold_every_field_and_join_again(
            rows in 0u32..20, widths in prop::collection::vec(1u32..150, 1..5), seed: u64
        ) {
            let ty = table(rows, &widths);
            let mut state = seed | 1;
            let bits: BitVec = (0..ty.width()).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 63 == 1
            }).collect();
            let columns = split(&ty, &bits).unwrap();
            let mut at = 0;
            for row in 0..rows as usize {
                for (column, &width) in columns.iter().zip(&widths) {
                    let width = width as usize;
                    let cell = column.bits.slice(row * width..(row + 1) * width);
                    prop_assert_eq!(cell, bits.slice(at..at + width));
                    at += width;
                }
            }
            let parts: Vec<BitVec> = columns.into_iter().map(|column| column.bits).collect();
            prop_assert_eq!(join(&ty, &parts), Some(bits));
        }
    }

    #[test]
    fn what_is_no_table_of_this_shape_is_refused() {
        let ty = table(2, &[8, 3]);
        let (bytes, threes) = (BitVec::zeros(16), BitVec::zeros(6));
        assert!(join(&ty, &[bytes.clone(), threes.clone()]).is_some());
        assert!(join(&ty, &[threes.clone(), bytes.clone()]).is_none());
        assert!(join(&ty, std::slice::from_ref(&bytes)).is_none());
        assert!(join(&ty, &[bytes.clone(), threes, BitVec::zeros(0)]).is_none());
        assert!(join(&Type::words(2, 11), &[bytes]).is_none());
        assert!(split(&Type::words(2, 11), &BitVec::zeros(22)).is_none());
    }
}
