//! What one call of a function costs, whether or not it becomes a component.

use symbolon_circuit::builder::{Bit, Builder, Word};
use symbolon_circuit::{Circuit, Receivers, Type};

use super::{Done, Lower, Machine, calls, local_type, port_type};
use crate::diag::{Code, Diagnostics};
use crate::ids::InstanceId;
use crate::tir::Tir;

/// Writes one call of an instance as a circuit of its own. Returns `None` if the function has no
/// result and cannot fail, and so has no gates.
///
/// # Errors
/// The errors are in `errors`.
pub fn one_call(
    tir: &Tir,
    place: InstanceId,
    errors: &mut Diagnostics,
) -> Result<Option<Circuit>, super::Failed> {
    let mut lower = Lower::new(tir, errors, place);
    write(&mut lower, place)
}

fn write(lower: &mut Lower<'_>, place: InstanceId) -> Done<Option<Circuit>> {
    let instance = lower.instance(place)?;
    let fails = calls::fails(lower, place);
    let shapes = &lower.tir.shapes;
    let mut builder = Builder::new(instance.name.clone());
    let mut args = Vec::new();
    for (number, &param) in instance.params.iter().enumerate() {
        let ty = local_type(&instance, param);
        args.push(match shapes.width(ty) {
            0 => Word::zero(0),
            _ => builder.input(format!("p{number}"), port_type(shapes, ty), 0),
        });
    }
    let alive = if fails { builder.input("alive", Type::Bool, 0)[0] } else { Bit::ONE };
    let result_type = port_type(shapes, instance.types[instance.result as usize]);
    let mut machine = Machine::new(lower, &mut builder, instance.component);
    machine.path.push((alive, Some(alive)));
    let span = instance.span;
    let result = machine.function(instance, args)?;
    let (failed, code, _) = machine.into_parts();
    if result.width() == 0 && !fails {
        return Ok(None);
    }
    if result.width() > 0 {
        builder.output("result", &result, result_type, Receivers::All);
    }
    if fails {
        builder.output("failed", &Word::from(vec![failed]), Type::Bool, Receivers::All);
        if code.width() > 0 {
            let ty = Type::Uint(code.width() as u32);
            builder.output("code", &code, ty, Receivers::All);
        }
    }
    match builder.finish_within(&mut lower.spent.effort) {
        Ok(circuit) => Ok(Some(circuit)),
        Err(error) => lower.error(Code::Limit, span, error.to_string()),
    }
}
