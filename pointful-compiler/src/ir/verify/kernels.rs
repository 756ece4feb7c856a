//! The invariants of Kernels alone: places, parallel loops, results.

use super::{Verify, VerifyError};
use crate::ir::stages::kernels::{Along, KernelOp, Kernels};
use crate::ir::typing::Typing;
use crate::ir::{Block, Elem, Extent, Monoid, Operation, Program, Stmt, Type, ValueId};

impl Verify for Kernels {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Vec<Type<Extent>>, String> {
        let declared = stmt.results.first().map(|&r| program.ty(r).clone());
        Self::types(program, &stmt.op, declared)
    }

    fn fits(found: &Type<Extent>, expected: &Type<Extent>) -> bool {
        found == expected
    }

    fn dim_extent(_: &Program<Self>, dim: Extent) -> Option<Extent> {
        Some(dim)
    }

    fn extents(_: &Program<Self>, op: &KernelOp) -> Option<Vec<Extent>> {
        Some(match op {
            KernelOp::Size(extent) | KernelOp::For { extent, .. } => vec![*extent],
            KernelOp::Par { extents, .. } => extents.clone(),
            KernelOp::Prim(prim, _) => prim.extent().into_iter().collect(),
            KernelOp::Const(_)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Copy(_)
            | KernelOp::Load { .. }
            | KernelOp::Store { .. }
            | KernelOp::Combine { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::Swap(..)
            | KernelOp::Contract { .. }
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => Vec::new(),
        })
    }

    fn counts(ty: &Type<Extent>) -> bool {
        *ty == Type::scalar(Elem::USIZE)
    }

    fn private(op: &KernelOp) -> Vec<ValueId> {
        match op {
            KernelOp::Par { accs, folds, .. } => {
                let folded = folds.iter().flat_map(|fold| &fold.privates).copied();
                accs.iter().map(|acc| acc.private).chain(folded).collect()
            }
            _ => Vec::new(),
        }
    }

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        let mut places = Places {
            program,
            kinds: vec![Kind::Scalar; program.values.len()],
            outside: vec![true; program.values.len()],
            in_par: false,
            stmt: 0,
        };
        for param in &program.params {
            if program.ty(param.value).rank() > 0 {
                places.kinds[param.value.index()] = Kind::Buffer { own: param.owned };
            }
        }
        places.block(&program.body)?;
        for (k, &result) in program.body.results.iter().enumerate() {
            let given = program.body.results[..k].contains(&result);
            let what = match places.kinds[result.index()] {
                Kind::Scalar => continue,
                Kind::Buffer { own: true } if !given => continue,
                Kind::Buffer { own: true } => "is given away twice",
                Kind::Buffer { own: false } => "is given away and the caller's",
                Kind::Var | Kind::Private(_) => "is given away and no scalar or buffer",
            };
            return Err(VerifyError::about(program, 17, None, result, what));
        }
        Ok(())
    }
}

/// What a value is, beside its type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An immutable scalar.
    Scalar,
    /// A mutable scalar.
    Var,
    /// A buffer: made here or given by the caller, or one that the caller keeps.
    Buffer { own: bool },
    /// A private accumulator.
    Private(Monoid),
}

struct Places<'p> {
    program: &'p Program<Kernels>,
    kinds: Vec<Kind>,
    /// By value: whether it is bound outside of the `par` around.
    outside: Vec<bool>,
    in_par: bool,
    stmt: usize,
}

impl Places<'_> {
    fn kind(&self, value: ValueId) -> Kind {
        self.kinds[value.index()]
    }

    fn error<T>(&self, invariant: u32, value: ValueId, what: &str) -> Result<T, VerifyError> {
        let at = self.stmt.checked_sub(1);
        Err(VerifyError::about(self.program, invariant, at, value, what))
    }

    fn block(&mut self, block: &Block<Kernels>) -> Result<(), VerifyError> {
        for stmt in &block.stmts {
            self.stmt += 1;
            if let Some(guard) = stmt.guard {
                return self.error(7, guard, "is a guard outside of Bulk");
            }
            self.operands(&stmt.op)?;
            for &result in &stmt.results {
                self.kinds[result.index()] = match stmt.op {
                    KernelOp::Var(_) => Kind::Var,
                    KernelOp::Alloc { .. } | KernelOp::Copy(_) => Kind::Buffer { own: true },
                    _ => Kind::Scalar,
                };
                self.outside[result.index()] = !self.in_par;
            }
            let around = self.in_par;
            if let KernelOp::Par { accs, folds, .. } = &stmt.op {
                if self.in_par {
                    return Err(VerifyError {
                        invariant: 15,
                        stmt: self.stmt.checked_sub(1),
                        message: "a `par` inside a `par`".into(),
                    });
                }
                for acc in accs {
                    self.kinds[acc.private.index()] = Kind::Private(acc.monoid);
                }
                for fold in folds {
                    for (&private, &target) in fold.privates.iter().zip(&fold.targets) {
                        self.kinds[private.index()] = self.kind(target);
                        self.outside[private.index()] = false;
                    }
                }
                self.in_par = true;
            }
            for inner in stmt.op.blocks() {
                self.block(inner)?;
                self.scalars(&inner.results)?;
            }
            self.in_par = around;
        }
        Ok(())
    }

    fn operands(&self, op: &KernelOp) -> Result<(), VerifyError> {
        match op {
            KernelOp::Load { buffer, indices } => {
                self.buffer(*buffer)?;
                self.scalars(indices)
            }
            KernelOp::Copy(buffer) => self.buffer(*buffer),
            KernelOp::Store {
                buffer,
                indices,
                value,
            } => {
                self.owned(*buffer)?;
                self.scalars(indices)?;
                self.scalars(&[*value])
            }
            KernelOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                self.scalars(indices)?;
                self.scalars(&[*value])?;
                match self.kind(*place) {
                    Kind::Private(own) if own == *monoid => Ok(()),
                    Kind::Private(_) => self.error(14, *place, "accumulates by another monoid"),
                    Kind::Var => self.changed(*place),
                    Kind::Buffer { .. } => {
                        self.owned(*place)?;
                        self.changed(*place)
                    }
                    Kind::Scalar => self.error(14, *place, "is no place"),
                }
            }
            KernelOp::Get(place) => self.var(*place),
            KernelOp::Set { place, value } => {
                self.var(*place)?;
                self.scalars(&[*value])?;
                self.changed(*place)
            }
            KernelOp::Swap(a, b) => [a, b].into_iter().try_for_each(|&place| {
                self.owned(place)?;
                self.changed(place)
            }),
            KernelOp::Contract {
                out,
                factors,
                along,
                add,
            } => {
                factors.iter().try_for_each(|&factor| self.buffer(factor))?;
                let indices = along.iter().flatten().filter_map(Along::index);
                self.scalars(&indices.collect::<Vec<_>>())?;
                match self.kind(*out) {
                    Kind::Private(Monoid::Add) if *add => Ok(()),
                    Kind::Private(_) => self.error(14, *out, "accumulates by another monoid"),
                    // As stores do, iterations change elements of their own.
                    Kind::Scalar | Kind::Var | Kind::Buffer { .. } => self.owned(*out),
                }
            }
            KernelOp::Par { .. } => {
                let mut targets = op.operands().into_iter();
                targets.try_for_each(|target| match self.kind(target) {
                    Kind::Var => Ok(()),
                    _ => self.owned(target),
                })
            }
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Var(_)
            | KernelOp::For { .. }
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => self.scalars(&op.operands()),
        }
    }

    fn scalars(&self, values: &[ValueId]) -> Result<(), VerifyError> {
        let place = values.iter().find(|&&v| self.kind(v) != Kind::Scalar);
        match place {
            Some(&place) => self.error(14, place, "is a place and used as a value"),
            None => Ok(()),
        }
    }

    fn var(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Var => Ok(()),
            Kind::Scalar | Kind::Buffer { .. } | Kind::Private(_) => {
                self.error(14, place, "is no `var`")
            }
        }
    }

    fn buffer(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Buffer { .. } => Ok(()),
            Kind::Scalar | Kind::Var | Kind::Private(_) => self.error(14, place, "is no buffer"),
        }
    }

    fn owned(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Buffer { own: false } => self.error(14, place, "is changed and the caller's"),
            Kind::Scalar | Kind::Var | Kind::Private(_) | Kind::Buffer { own: true } => {
                self.buffer(place)
            }
        }
    }

    /// Invariant 16.
    fn changed(&self, place: ValueId) -> Result<(), VerifyError> {
        if self.in_par && self.outside[place.index()] {
            return self.error(16, place, "is changed by all iterations of a `par`");
        }
        Ok(())
    }
}
