//! The invariants of imperative stages: places, parallel loops, results.

use crate::ir::typing::Types;
use std::cell::OnceCell;

use super::{Verify, VerifyError};
use crate::analysis::numbers::Numbers;
use crate::ir::print::Print;
use crate::ir::stages::imperative::{Along, Imperative, ImperativeOp, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::typing::{TypeOwn, Typing};
use crate::ir::{Block, Elem, Extent, Monoid, Operation, Program, Stmt, Type, ValueId};

/// An imperative stage whose own operations are verified.
pub trait VerifyOwn: TypeOwn + Print {
    /// Checks the operands of an operation of its own.
    fn operands_own(places: &Places<'_, Self>, own: &Self::Own) -> Result<(), VerifyError>;

    /// Notes what the block of an operation of its own binds beside scalars.
    fn enter_own(_: &mut Places<'_, Self>, _: &Self::Own) {}

    /// Checks what an operation of its own asks of the statements in front of it.
    fn follows_own(
        _: &Places<'_, Self>,
        _: &[Stmt<Self>],
        _: &Self::Own,
    ) -> Result<(), VerifyError> {
        Ok(())
    }

    /// Checks what only the stage asks of the block of an operation of its own.
    fn leave_own(_: &Places<'_, Self>, _: &Self::Own) -> Result<(), VerifyError> {
        Ok(())
    }

    /// Checks what only the stage asks of a statement, of the host or in a kernel.
    fn stmt_own(_: &Places<'_, Self>, _: &Stmt<Self>) -> Result<(), VerifyError> {
        Ok(())
    }
}

impl VerifyOwn for Kernels {
    fn operands_own(places: &Places<'_, Self>, par: &Par) -> Result<(), VerifyError> {
        places.targets(par)
    }
}

impl<S: VerifyOwn> Verify for S {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Types<Extent>, String> {
        let declared = stmt.results.first().map(|&r| program.ty(r).clone());
        Self::types(program, &stmt.op, declared)
    }

    fn fits(found: &Type<Extent>, expected: &Type<Extent>) -> bool {
        found == expected
    }

    fn dim_extent(_: &Program<Self>, dim: Extent) -> Option<Extent> {
        Some(dim)
    }

    fn extents(_: &Program<Self>, op: &ImperativeOp<S>) -> Option<Vec<Extent>> {
        Some(match op {
            ImperativeOp::Size(extent) | ImperativeOp::For { extent, .. } => vec![*extent],
            ImperativeOp::Prim(prim, _) => prim.extent().into_iter().collect(),
            ImperativeOp::Const(_)
            | ImperativeOp::Select(..)
            | ImperativeOp::Alloc { .. }
            | ImperativeOp::Copy(_)
            | ImperativeOp::Load { .. }
            | ImperativeOp::Store { .. }
            | ImperativeOp::Combine { .. }
            | ImperativeOp::Var(_)
            | ImperativeOp::Get(_)
            | ImperativeOp::Set { .. }
            | ImperativeOp::Swap(..)
            | ImperativeOp::Contract { .. }
            | ImperativeOp::Assert { .. }
            | ImperativeOp::While { .. }
            | ImperativeOp::If { .. } => Vec::new(),
            ImperativeOp::Own(own) => <S as Imperative>::extents(own).to_vec(),
        })
    }

    fn counts(ty: &Type<Extent>) -> bool {
        *ty == Type::scalar(Elem::USIZE)
    }

    fn private(op: &ImperativeOp<S>) -> Vec<ValueId> {
        match op {
            ImperativeOp::Own(own) => {
                S::par(own).map_or_else(Vec::new, |par| par.privates().collect())
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
            numbers: OnceCell::new(),
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
                Kind::Var | Kind::Private(_) | Kind::Strip(_) => {
                    "is given away and no scalar or buffer"
                }
            };
            return Err(VerifyError::about(program, 17, None, result, what));
        }
        Ok(())
    }
}

/// What a value is, beside its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An immutable scalar.
    Scalar,
    /// A mutable scalar.
    Var,
    /// A buffer: made here or given by the caller, or one that the caller keeps.
    Buffer { own: bool },
    /// A private accumulator.
    Private(Monoid),
    /// So many neighbours.
    Strip(u64),
}

/// What values are while the invariants of places are checked.
#[derive(Debug)]
pub struct Places<'p, S: Imperative> {
    pub(super) program: &'p Program<S>,
    kinds: Vec<Kind>,
    /// By value: whether it is bound outside of the `par` around.
    outside: Vec<bool>,
    in_par: bool,
    stmt: usize,
    /// Found when they are first asked for.
    numbers: OnceCell<Numbers>,
}

impl<S: VerifyOwn> Places<'_, S> {
    /// What numbers of the program are known.
    pub(super) fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| Numbers::of(&self.program.body))
    }

    pub(super) fn kind(&self, value: ValueId) -> Kind {
        self.kinds[value.index()]
    }

    /// Whether what is looked at is in a kernel.
    pub(super) fn in_kernel(&self) -> bool {
        self.in_par
    }

    /// Whether a value is bound outside of the kernel that is looked at.
    pub(super) fn is_outside(&self, value: ValueId) -> bool {
        self.in_par && self.outside[value.index()]
    }

    /// From now on what is looked at is in a kernel, each point of which has these buffers.
    pub(super) fn enter_kernel(&mut self, own: &[ValueId]) {
        self.in_par = true;
        for &buffer in own {
            self.note(buffer, Kind::Buffer { own: true });
            self.outside[buffer.index()] = false;
        }
    }

    /// Notes what a value is.
    pub(super) fn note(&mut self, value: ValueId, kind: Kind) {
        self.kinds[value.index()] = kind;
    }

    pub(super) fn error<T>(
        &self,
        invariant: u32,
        value: ValueId,
        what: &str,
    ) -> Result<T, VerifyError> {
        let at = self.stmt.checked_sub(1);
        Err(VerifyError::about(self.program, invariant, at, value, what))
    }

    /// An error about the statement as a whole.
    pub(super) fn fails<T>(&self, invariant: u32, what: &str) -> Result<T, VerifyError> {
        Err(VerifyError {
            invariant,
            stmt: self.stmt.checked_sub(1),
            message: what.to_owned(),
        })
    }

    fn block(&mut self, block: &Block<S>) -> Result<(), VerifyError> {
        for (k, stmt) in block.stmts.iter().enumerate() {
            self.stmt += 1;
            let number = self.stmt;
            if let Some(guard) = stmt.guard {
                return self.error(7, guard, "is a guard outside of Bulk");
            }
            self.operands(&stmt.op)?;
            S::stmt_own(self, stmt)?;
            if let ImperativeOp::Own(own) = &stmt.op {
                S::follows_own(self, &block.stmts[..k], own)?;
            }
            for &result in &stmt.results {
                self.kinds[result.index()] = match stmt.op {
                    ImperativeOp::Var(_) => Kind::Var,
                    ImperativeOp::Alloc { .. } | ImperativeOp::Copy(_) => {
                        Kind::Buffer { own: true }
                    }
                    _ => Kind::Scalar,
                };
                self.outside[result.index()] = !self.in_par;
            }
            let around = self.in_par;
            if let ImperativeOp::Own(own) = &stmt.op
                && let Some(Par { accs, folds, .. }) = S::par(own)
            {
                if self.in_par {
                    return self.fails(15, "a `par` inside a `par`");
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
            if let ImperativeOp::Own(own) = &stmt.op {
                S::enter_own(self, own);
            }
            for inner in stmt.op.blocks() {
                self.block(inner)?;
                self.scalars(&inner.results)?;
            }
            if let ImperativeOp::Own(own) = &stmt.op {
                let inside = std::mem::replace(&mut self.stmt, number);
                S::leave_own(self, own)?;
                self.stmt = inside;
            }
            self.in_par = around;
        }
        Ok(())
    }

    fn operands(&self, op: &ImperativeOp<S>) -> Result<(), VerifyError> {
        match op {
            ImperativeOp::Load { buffer, indices } => {
                self.buffer(*buffer)?;
                self.scalars(indices)
            }
            ImperativeOp::Copy(buffer) => self.buffer(*buffer),
            ImperativeOp::Store {
                buffer,
                indices,
                value,
            } => {
                self.owned(*buffer)?;
                self.scalars(indices)?;
                self.scalars(&[*value])
            }
            ImperativeOp::Combine {
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
                    Kind::Scalar | Kind::Strip(_) => self.error(14, *place, "is no place"),
                }
            }
            ImperativeOp::Get(place) => self.var(*place),
            ImperativeOp::Set { place, value } => {
                self.var(*place)?;
                self.scalars(&[*value])?;
                self.changed(*place)
            }
            ImperativeOp::Swap(a, b) => [a, b].into_iter().try_for_each(|&place| {
                self.owned(place)?;
                self.changed(place)
            }),
            ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
                absorb: _,
                mask,
            } => {
                let mask = mask.as_ref();
                let read = factors.iter().chain(mask.map(|mask| &mask.buffer));
                read.into_iter().try_for_each(|&array| self.buffer(array))?;
                let along = along.iter().chain(mask.map(|mask| &mask.along));
                let indices = along.flatten().filter_map(Along::index);
                self.scalars(&indices.collect::<Vec<_>>())?;
                match self.kind(*out) {
                    Kind::Private(Monoid::Add) if *add => Ok(()),
                    Kind::Private(_) => self.error(14, *out, "accumulates by another monoid"),
                    // As stores do, iterations change elements of their own.
                    Kind::Scalar | Kind::Var | Kind::Buffer { .. } | Kind::Strip(_) => {
                        self.owned(*out)
                    }
                }
            }
            ImperativeOp::Own(own) => S::operands_own(self, own),
            ImperativeOp::Const(_)
            | ImperativeOp::Size(_)
            | ImperativeOp::Prim(..)
            | ImperativeOp::Select(..)
            | ImperativeOp::Alloc { .. }
            | ImperativeOp::Var(_)
            | ImperativeOp::For { .. }
            | ImperativeOp::Assert { .. }
            | ImperativeOp::While { .. }
            | ImperativeOp::If { .. } => self.scalars(&op.operands()),
        }
    }

    /// What the copies of a parallel nest are merged into.
    pub(super) fn targets(&self, par: &Par<S>) -> Result<(), VerifyError> {
        let mut targets = par.operands().into_iter();
        targets.try_for_each(|target| match self.kind(target) {
            Kind::Var => Ok(()),
            _ => self.owned(target),
        })
    }

    pub(super) fn scalars(&self, values: &[ValueId]) -> Result<(), VerifyError> {
        let place = values.iter().find(|&&v| self.kind(v) != Kind::Scalar);
        match place {
            Some(&place) => self.error(14, place, "is a place and used as a value"),
            None => Ok(()),
        }
    }

    pub(super) fn var(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Var => Ok(()),
            Kind::Scalar | Kind::Buffer { .. } | Kind::Private(_) | Kind::Strip(_) => {
                self.error(14, place, "is no `var`")
            }
        }
    }

    pub(super) fn buffer(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Buffer { .. } => Ok(()),
            Kind::Scalar | Kind::Var | Kind::Private(_) | Kind::Strip(_) => {
                self.error(14, place, "is no buffer")
            }
        }
    }

    pub(super) fn owned(&self, place: ValueId) -> Result<(), VerifyError> {
        match self.kind(place) {
            Kind::Buffer { own: false } => self.error(14, place, "is changed and the caller's"),
            Kind::Scalar
            | Kind::Var
            | Kind::Private(_)
            | Kind::Strip(_)
            | Kind::Buffer { own: true } => self.buffer(place),
        }
    }

    /// Invariant 16.
    pub(super) fn changed(&self, place: ValueId) -> Result<(), VerifyError> {
        if self.in_par && self.outside[place.index()] {
            return self.error(16, place, "is changed by all iterations of a `par`");
        }
        Ok(())
    }
}
