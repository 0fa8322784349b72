//! Circuit files: Bristol Fashion, and the older Bristol format.
//!
//! Both are text: a header, then one gate per line. In both, the first wires are the inputs and the
//! last ones the outputs. Blank lines, and lines that begin with `//` or `#`, are skipped.
//!
//! ```text
//! Bristol Fashion                        old Bristol
//! gates wires                            gates wires
//! inputs  width … width                  width-of-input-0  width-of-input-1  width-of-output
//! outputs width … width
//!
//! 2 1 a b out XOR|AND                    2 1 a b out XOR|AND
//! 1 1 a out INV|EQW                      1 1 a out INV
//! 1 1 0|1 out EQ
//! 2k k a… b… out… MAND
//! ```
//!
//! # Look-ups
//! A file with look-up gates is Bristol Fashion with two more kinds of lines, this project's own.
//! Tables are declared between the outputs' widths and the first gate, one per line, and do not
//! count as gates in the header. They are numbered from 0 in this order.
//!
//! ```text
//! table  = TABLE k m entry … entry      1 ≤ k ≤ 8, 1 ≤ m ≤ 64, 2^k entries
//! entry  = a hexadecimal number below 2^m
//! lookup = k m in … in out … out LUT:n  n is the number of a table of k inputs and m outputs
//! ```
//!
//! The k wires `in` are the bits of an entry's index, the m wires `out` become the bits of that
//! entry, least significant first. An XOR and an AND of two bits, side by side:
//!
//! ```text
//! 1 4
//! 1 2
//! 1 2
//! TABLE 2 2 0 1 1 2
//!
//! 2 2 0 1 2 3 LUT:0
//! ```
//!
//! # Names
//! [`read`] tells the formats apart by the third line, and accepts a few more gates that are found
//! in the wild (NAND, NOR, OR, XNOR, NOT), all in upper or lower case. Files carry no names, types
//! or owners: inputs become `in0`, `in1`, … and outputs `out0`, …, unsigned integers of their
//! widths; input 0 belongs to party 0, all others to party 1, and every party learns the outputs.
//! [`Circuit::with_owners`](crate::Circuit::with_owners) and
//! [`Circuit::with_receivers`](crate::Circuit::with_receivers) change that.

mod read;
mod tables;
pub(crate) mod text;
mod write;

pub use read::read;
pub use write::{write_fashion, write_old};

/// Which of the two formats a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Bristol Fashion: any number of inputs and outputs, constants, and look-ups.
    Fashion,
    /// The older format: at most two inputs, one output, no constants.
    Old,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Fashion => "Bristol Fashion",
            Format::Old => "old Bristol",
        })
    }
}

#[cfg(test)]
mod tests;
