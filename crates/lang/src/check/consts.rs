//! Constants: checked, and computed by the interpreter.

use std::rc::Rc;

use super::unknown::Param;
use super::{Binding, ConstState, Cx, FnCx, LocalInfo};
use crate::ast::{self, Name};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ids::{ConstId, ModuleId};
use crate::interp::{Interp, Stop};
use crate::source::{Source, Span};
use crate::tir::{MAX_DEPTH, TOO_DEEP};
use crate::ty::Ty;
use crate::value::Value;

/// Returns the literal of a text that is given without quotation marks.
fn plain_text(file: u32, text: &str) -> ast::Expr {
    let span = Span { file, start: 0, end: text.len() as u32 };
    ast::Expr { kind: ast::ExprKind::Text(text.as_bytes().to_vec()), span }
}

/// A name that a constant sees in the surrounding function.
pub(super) struct Seen {
    pub name: Name,
    pub ty: Ty,
    /// `None` if it is not a constant; it then hides a constant of the same name.
    pub value: Option<Rc<Value>>,
}

/// Where a constant is.
pub(super) struct Around {
    pub module: ModuleId,
    pub args: Vec<Param>,
    pub scope: Vec<Seen>,
    /// Whether what does not fit fails.
    pub checked: bool,
}

impl Cx<'_> {
    /// Returns the type and the value of a constant, or `None` after reporting an error.
    pub fn constant(&mut self, place: ConstId, span: Span) -> Option<(Ty, Rc<Value>)> {
        match self.items.consts.get(&place).cloned() {
            Some(ConstState::Known(known)) => return known,
            Some(ConstState::Working) => {
                self.error(Code::Constant, span, "this constant depends on itself");
                return None;
            }
            None => {}
        }
        self.items.consts.insert(place, ConstState::Working);
        let value = self.constant_value(place);
        self.items.consts.insert(place, ConstState::Known(value.clone()));
        value
    }

    fn constant_value(&mut self, place: ConstId) -> Option<(Ty, Rc<Value>)> {
        let def = self.program.consts[place].clone();
        let name = def.decl.name.clone();
        let mut is_text = false;
        let expected = def.decl.ty.as_ref().map(|ty| {
            let mut fn_cx = FnCx::new(self, def.module);
            let ty = fn_cx.own_type(ty);
            fn_cx.settle();
            is_text = fn_cx.text_len(&ty).is_some();
            fn_cx.resolve(&ty)
        });
        let setting = if def.public && def.module == ModuleId::MAIN {
            self.settings.get(&*name.name).cloned()
        } else {
            None
        };
        let parsed;
        let value = match (setting, &def.decl.value) {
            (Some(text), _) => {
                // Places in the value are not places in the file.
                let files = &mut self.program.sources.files;
                let file = files.len() as u32;
                let option = format!("--const {}", name.name);
                files.push(Source::new(option, text.as_str()));
                let mut errors = Diagnostics::default();
                // A shell removes the quotation marks, and a settings file has its own.
                let start = text.trim_start();
                let is_plain = is_text && !start.starts_with('"') && !start.starts_with("b\"");
                parsed = match is_plain {
                    true => Some(plain_text(file, &text)),
                    false => crate::parse::parse_expr(file, &text, &mut errors),
                };
                match &parsed {
                    Some(expr) if errors.errors() == 0 => expr,
                    _ => {
                        let message = format!("`{}` is set to something unreadable", name.name);
                        self.error(Code::Constant, name.span, message);
                        return None;
                    }
                }
            }
            (None, Some(value)) => value,
            (None, None) => {
                let help = format!("set it: --const {}=…", name.name);
                let message = format!("`{}` has no value", name.name);
                self.errors.push(Diagnostic::new(Code::Constant, name.span, message).help(help));
                return None;
            }
        };
        let (module, checked) = (def.module, self.program.is_checked(def.module));
        let around = Around { module, args: Vec::new(), scope: Vec::new(), checked };
        let (ty, value) = self.evaluate(value, expected, around)?;
        Some((ty, Rc::new(value)))
    }

    /// Checks and computes a constant expression.
    pub(super) fn evaluate(
        &mut self,
        expr: &ast::Expr,
        expected: Option<Ty>,
        around: Around,
    ) -> Option<(Ty, Value)> {
        if self.instances.depth >= MAX_DEPTH {
            self.error(Code::Limit, expr.span, "constants call functions more than 256 deep");
            return None;
        }
        self.instances.depth += 1;
        let result = self.evaluate_within(expr, expected, around);
        self.instances.depth -= 1;
        result
    }

    fn evaluate_within(
        &mut self,
        expr: &ast::Expr,
        expected: Option<Ty>,
        around: Around,
    ) -> Option<(Ty, Value)> {
        let Around { module, args, scope, checked } = around;
        let errors = self.errors.errors();
        let mut fn_cx = FnCx::new(self, module);
        fn_cx.checked = checked;
        fn_cx.names.generics = Rc::new(args);
        fn_cx.bind_const_params();
        for Seen { name, ty, value } in scope {
            let binding = match value {
                Some(value) => Binding::Const(ty, value),
                None => {
                    let ty = fn_cx.type_ref(&ty);
                    let (name, span) = (name.clone(), expr.span);
                    let local =
                        LocalInfo { name, span, ty, mutable: false, constant: false, number: None };
                    fn_cx.names.locals.push(local);
                    Binding::Local(fn_cx.names.locals.len() as u32 - 1)
                }
            };
            fn_cx.names.scope.push(name, binding);
        }
        let ty = expected.unwrap_or_else(|| fn_cx.any());
        let body = fn_cx.check(expr, &ty);
        let result = fn_cx.type_ref(&ty);
        fn_cx.finish();
        let ty = fn_cx.resolve(&ty);
        let constant = body.constant;
        let name = "a constant".to_string();
        let instance = fn_cx.into_instance(name, Vec::new(), result, body, expr.span);
        if self.errors.errors() > errors {
            return None;
        }
        if !constant {
            let error = Diagnostic::new(Code::Constant, expr.span, "this is not a constant");
            self.errors.push(error.help(
                "constants are made of literals, `const`s, const parameters and loop variables \
                 over constants",
            ));
            return None;
        }
        // What it calls must be checked first, but nothing else that waits.
        self.ensure(&instance.calls);
        if self.errors.errors() > errors {
            return None;
        }
        let mut interp = Interp::new(&self.tir);
        interp.steps = self.spent.steps;
        let value = interp.run(&instance, Vec::new());
        self.spent.steps = interp.steps;
        match value {
            Ok(value) => Some((ty, value)),
            Err(stop) => {
                let (code, message) = match stop {
                    Stop::Assert(place) => {
                        let text = &self.tir.asserts[place as usize].0;
                        (Code::Constant, format!("the constant fails: {text}"))
                    }
                    Stop::Steps => (Code::Limit, "constants take more than 10^8 steps".into()),
                    Stop::Deep => (Code::Limit, TOO_DEEP.into()),
                    Stop::Index => (Code::Constant, "a constant index is out of range".into()),
                    Stop::Missing => {
                        (Code::Constant, "this constant needs a function that needs it".into())
                    }
                };
                self.error(code, expr.span, message);
                None
            }
        }
    }
}
