//! Types of the operations that only Gpu has.

use super::imperative::gives_nothing;
use super::{TypeOwn, Types, ensure};
use crate::ir::stages::gpu::{Gpu, Lanes, Launch, Own};
use crate::ir::{Elem, Extent, Program, Type, ValueId};

impl TypeOwn for Gpu {
    fn types_own(program: &Program<Self>, own: &Own) -> Result<Types<Extent>, String> {
        let body = match own {
            Own::Launch(launch) => {
                let Launch {
                    extents,
                    block,
                    team,
                    body,
                    ..
                } = launch;
                indices(program, launch.indices(), extents)?;
                ensure(
                    block.is_multiple_of(32) && (1..=1024).contains(block),
                    "a block has 1 to 32 warps of 32 threads",
                )?;
                ensure(
                    (launch.own().iter()).all(|&own| program.ty(own).rank() > 0),
                    "what a thread has of its own is a buffer",
                )?;
                ensure(
                    team.is_none_or(|team| *program.ty(team) == Type::scalar(Elem::USIZE)),
                    "how many threads a team has is a number",
                )?;
                body
            }
            Own::Lanes(Lanes {
                extents,
                of,
                accs,
                body,
            }) => {
                indices(program, &body.params, extents)?;
                of.map_or(Ok(()), |of| part(program, of))?;
                ensure(
                    accs.iter().all(|&(_, var)| program.ty(var).rank() == 0),
                    "what a team combines is no variable",
                )?;
                body
            }
            Own::Part {
                extents, of, body, ..
            } => {
                indices(program, &body.params, extents)?;
                part(program, *of)?;
                body
            }
        };
        gives_nothing(body)?;
        Ok(Types::new())
    }
}

fn part(program: &Program<Gpu>, of: ValueId) -> Result<(), String> {
    ensure(
        matches!(program.elem(of), Elem::Index(_)) && program.ty(of).rank() == 0,
        "the number of a part is an index",
    )
}

fn indices(program: &Program<Gpu>, indices: &[ValueId], extents: &[Extent]) -> Result<(), String> {
    ensure(
        !extents.is_empty() && indices.len() == extents.len(),
        "there is not one index for each extent",
    )?;
    let mut pairs = indices.iter().zip(extents);
    ensure(
        pairs.all(|(&index, &extent)| *program.ty(index) == Type::scalar(Elem::Index(extent))),
        "an index is not of its axis' extent",
    )
}
