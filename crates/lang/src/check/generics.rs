//! The arguments of generic functions and types: const parameters and bounds.

use std::rc::Rc;

use crate::ast::{self, GenericKind};
use crate::diag::Code;
use crate::source::Span;
use crate::ty::{Arg, Len, Ty};
use crate::value::Value;

use super::unknown::Param;
use super::{Binding, FnCx, infer};

impl FnCx<'_, '_> {
    /// Adds const parameters to the scope as its first constants.
    pub(super) fn bind_const_params(&mut self) {
        for param in self.names.generics.clone().iter() {
            let Arg::Const(Len::Known(value)) = param.arg else { continue };
            let value = match &param.ty {
                Ty::Bool => Value::Bool(value != 0),
                _ => Value::Int(value.into()),
            };
            let binding = Binding::Const(param.ty.clone(), Rc::new(value));
            self.names.scope.push(param.name.clone(), binding);
        }
        self.names.param_bindings = self.names.scope.len();
    }

    /// Reports const parameters of types that they cannot have, and arguments that do not fit: at
    /// this place, or where the parameter is declared.
    pub(super) fn check_const_params(
        &mut self,
        generics: &[ast::Generic],
        params: &[Param],
        place: Option<Span>,
    ) {
        for (generic, param) in generics.iter().zip(params) {
            let Arg::Const(Len::Known(value)) = param.arg else { continue };
            let ty = self.resolve(&param.ty);
            let most = match &ty {
                Ty::Bool => 1,
                Ty::Int(false, Len::Known(width)) if *width < 64 => (1 << width) - 1,
                Ty::Int(false, _) | Ty::Error => continue,
                _ => {
                    let message = "a const parameter is `bool` or an unsigned integer";
                    self.error(Code::Type, generic.name.span, message);
                    continue;
                }
            };
            if value > most {
                let shown = self.show(&ty);
                let message =
                    format!("`{}` is {value}, which does not fit in `{shown}`", param.name);
                self.error(Code::Constant, place.unwrap_or(generic.name.span), message);
            }
        }
    }

    pub(super) fn check_bounds(&mut self, generics: &[ast::Generic], args: &[Arg], span: Span) {
        for (generic, arg) in generics.iter().zip(args) {
            let (GenericKind::Type(Some(bound)), Arg::Ty(ty)) = (&generic.kind, arg) else {
                continue;
            };
            let fits = match &*bound.name {
                "Num" => infer::is_number(ty),
                "Float" => matches!(ty, Ty::Float(_)),
                "Int" => matches!(ty, Ty::Int(..)),
                _ => {
                    let message = "a bound is `Num`, `Int` or `Float`";
                    self.error(Code::Name, bound.span, message);
                    continue;
                }
            };
            if !fits && *ty != Ty::Error {
                let shown = self.show(ty);
                let message = format!("`{shown}` is not a `{}`", bound.name);
                self.error(Code::Type, span, message);
            }
        }
    }
}
