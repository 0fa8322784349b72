//! Names for instructions, by which kernels for registers of several widths are one text.

/// Declares functions of registers: the features that each needs, its name and arguments, and the
/// instructions that it stands for.
macro_rules! instructions {
    ($($features:literal $vis:vis $name:ident($($arg:ident),*): $register:ty = $value:expr;)*) => {
        $(
            #[inline]
            #[target_feature(enable = $features)]
            $vis fn $name($($arg: $register),*) -> $register {
                $value
            }
        )*
    };
}

pub(super) use instructions;
