//! What a factor of a product depends on, and the statements that compute it, to be run elsewhere.

use std::collections::BTreeMap;

use super::Writer;
use crate::analysis::effects::{for_each_length, is_pure};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Operation, Program, Stmt, ValueId, ValueSet};

/// A set of the loops that a value depends on, a bit each; [`OPAQUE`] if it cannot be computed
/// elsewhere.
pub(super) type Loops = u8;

/// What cannot be computed elsewhere.
pub(super) const OPAQUE: Loops = 1 << 7;

/// What values inside some loops depend on, and how they are computed.
pub(super) struct Depends<'a> {
    program: &'a Program<Kernels>,
    /// Buffers and `var`s that change where products are added up: what is read of them is opaque.
    changing: &'a ValueSet,
    /// Values bound outside that depend on the first loop.
    outside: &'a ValueSet,
    loops: BTreeMap<ValueId, Loops>,
    /// Statements by what they bind.
    stmts: BTreeMap<ValueId, &'a Stmt<Kernels>>,
}

impl<'a> Depends<'a> {
    pub(super) fn new(
        program: &'a Program<Kernels>,
        changing: &'a ValueSet,
        outside: &'a ValueSet,
    ) -> Self {
        Self {
            program,
            changing,
            outside,
            loops: BTreeMap::new(),
            stmts: BTreeMap::new(),
        }
    }

    /// Says what a value depends on.
    pub(super) fn known(&mut self, value: ValueId, loops: Loops) {
        self.loops.insert(value, loops);
    }

    /// What a value depends on.
    pub(super) fn of(&self, value: ValueId) -> Loops {
        let outside = || Loops::from(self.outside.contains(&value));
        self.loops.get(&value).copied().unwrap_or_else(outside)
    }

    /// Looks at statements, one after the other.
    pub(super) fn look(&mut self, stmts: &'a [Stmt<Kernels>]) {
        for stmt in stmts {
            let mut loops = match is_pure(self.program, stmt) {
                true => 0,
                false => OPAQUE,
            };
            for operand in stmt.op.operands() {
                loops |= self.of(operand);
                if self.changing.contains(&operand) {
                    loops |= OPAQUE;
                }
            }
            for_each_length(self.program, stmt, &mut |length| loops |= self.of(length));
            for &result in &stmt.results {
                self.loops.insert(result, loops);
                self.stmts.insert(result, stmt);
            }
        }
    }

    /// The outermost of what a value is computed of that depends on these loops and on no others.
    pub(super) fn parts(&self, value: ValueId, loops: Loops) -> ValueSet {
        let (mut found, mut seen) = (ValueSet::new(), ValueSet::new());
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            if self.of(value) == loops {
                found.insert(value);
            } else if let Some(stmt) = self.stmt(value) {
                open.extend(stmt.op.operands());
            }
        }
        found
    }

    /// The statement that binds a value here.
    pub(super) fn stmt(&self, value: ValueId) -> Option<&'a Stmt<Kernels>> {
        self.stmts.get(&value).copied()
    }
}

/// A value, and the statements that compute it, by what they bind: copies, so that the program can
/// be changed.
pub(super) struct Slice {
    value: ValueId,
    stmts: BTreeMap<ValueId, Stmt<Kernels>>,
}

impl Slice {
    pub(super) fn of(depends: &Depends<'_>, value: ValueId) -> Self {
        let mut stmts = BTreeMap::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if let (Some(stmt), false) = (depends.stmt(value), stmts.contains_key(&value)) {
                open.extend(stmt.op.operands());
                stmts.insert(value, stmt.clone());
            }
        }
        Self { value, stmts }
    }

    pub(super) fn value(&self) -> ValueId {
        self.value
    }

    pub(super) fn stmts(&self) -> impl Iterator<Item = &Stmt<Kernels>> {
        self.stmts.values()
    }

    /// Computes the value elsewhere, where `names` says what values outside are called and `adapt`
    /// changes what reads of what is elsewhere too.
    pub(super) fn compute(
        &self,
        program: &mut Program<Kernels>,
        mut names: BTreeMap<ValueId, ValueId>,
        out: &mut Writer,
        adapt: &dyn Fn(&mut KernelOp),
    ) -> ValueId {
        self.named(program, &mut names, self.value, out, adapt)
    }

    fn named(
        &self,
        program: &mut Program<Kernels>,
        names: &mut BTreeMap<ValueId, ValueId>,
        value: ValueId,
        out: &mut Writer,
        adapt: &dyn Fn(&mut KernelOp),
    ) -> ValueId {
        if let Some(&name) = names.get(&value) {
            return name;
        }
        let Some(stmt) = self.stmts.get(&value) else {
            return value;
        };
        let mut op = stmt.op.clone();
        op.for_each_operand_mut(&mut |operand| {
            *operand = self.named(program, names, *operand, out, adapt);
        });
        adapt(&mut op);
        let ty = program.ty(value).clone();
        let name = out.bind(program, op, ty, stmt.span);
        names.insert(value, name);
        name
    }
}
