//! Types of the operations that only Cpu has.

use super::imperative::{gives_nothing, par};
use super::{TypeOwn, ensure, index_of};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Elem, Extent, Program, Type};

impl TypeOwn for Cpu {
    fn types_own(program: &Program<Self>, own: &Own) -> Result<Vec<Type<Extent>>, String> {
        match own {
            Own::Par(nest) => {
                par(program, nest)?;
                Ok(Vec::new())
            }
            Own::Bound { extent, terms, .. } => {
                let whole = |elem: Elem| match elem {
                    Elem::Scalar(scalar) => scalar.is_int(),
                    Elem::Index(_) | Elem::Bound(_) => true,
                };
                ensure(
                    terms.iter().all(|&(term, _)| {
                        program.ty(term).rank() == 0 && whole(program.elem(term))
                    }),
                    "a term is not an integer",
                )?;
                Ok(vec![Type::scalar(Elem::Bound(*extent))])
            }
            Own::Range { from, to, body } => {
                let Elem::Bound(extent) = program.elem(*from) else {
                    return Err("a range begins at a bound".into());
                };
                ensure(
                    program.ty(*from) == program.ty(*to),
                    "a range ends at a bound of the axis that it begins on",
                )?;
                let [index] = body.params[..] else {
                    return Err("a loop binds one index".into());
                };
                index_of(program, index, extent)?;
                gives_nothing(body)?;
                Ok(Vec::new())
            }
        }
    }
}
