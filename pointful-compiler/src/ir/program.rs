//! Programs, blocks and statements: what all stages have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::hash::Hash;

use smallvec::SmallVec;

use super::{Elem, Operation, SizeId, Type, ValueSet};

/// A place in the user's source; what it means is known to the driver only. [`SpanId::NONE`] for
/// what the compiler made up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct SpanId(pub u32);

impl SpanId {
    /// No place in the source.
    pub const NONE: SpanId = SpanId(0);
}

/// A value: an index into [`Program::values`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The position in [`Program::values`] and in every side table of values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A stage of the IR.
pub trait Stage: Sized + Clone + PartialEq + Debug + 'static {
    /// The operations that may occur.
    type Op: Clone + Eq + Hash + Debug + Operation<Self>;
    /// What a dimension of a table is.
    type Dim: Copy + Eq + Ord + Hash + Debug;
    /// What the whole program declares beside its values.
    type Decls: Clone + PartialEq + Debug + Default;
    /// The stage's name in filetests.
    const NAME: &'static str;
}

/// What is known of a value. Its definition is the statement, parameter or block parameter that
/// names it.
#[derive(Clone, PartialEq, Debug)]
pub struct Value<D> {
    /// Its type.
    pub ty: Type<D>,
    /// What the source calls it, if it has a name there; for readable output, never for meaning.
    pub name: Option<String>,
    /// Where it comes from.
    pub span: SpanId,
}

/// A size bound at entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Size {
    /// Its name: that of the index set in the signature.
    pub name: String,
}

/// A parameter of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name in textual IR, unique among parameters and sizes.
    pub name: String,
    /// The value it binds.
    pub value: ValueId,
    /// Whether the caller gave the table away, so that it may be updated in place.
    pub owned: bool,
}

/// A whole function.
#[derive(Clone, PartialEq, Debug)]
pub struct Program<S: Stage> {
    /// The function's name.
    pub name: String,
    /// The sizes that extents refer to.
    pub sizes: Vec<Size>,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// All values, by [`ValueId`].
    pub values: Vec<Value<S::Dim>>,
    /// What else the stage declares (Bulk: its axes).
    pub decls: S::Decls,
    /// The body; its results are the function's results. It has no parameters.
    pub body: Block<S>,
}

/// Statements in order, with what they bind at the beginning and give at the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Block<S: Stage> {
    /// Values bound on entry: loop indices, loop states, operands of an operator.
    pub params: Vec<ValueId>,
    /// The statements.
    pub stmts: Vec<Stmt<S>>,
    /// Values handed to whoever runs the block.
    pub results: Vec<ValueId>,
}

/// One operation and the values it binds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stmt<S: Stage> {
    /// What the operation binds, each for the first time.
    pub results: Vec<ValueId>,
    /// The operation.
    pub op: S::Op,
    /// Bulk only: a truth value without which the operation must not be evaluated.
    /// Where it is false the results are unspecified and are not looked at.
    pub guard: Option<ValueId>,
    /// Where it comes from.
    pub span: SpanId,
}

impl<S: Stage> Default for Block<S> {
    fn default() -> Self {
        Self {
            params: Vec::new(),
            stmts: Vec::new(),
            results: Vec::new(),
        }
    }
}

impl<S: Stage> Program<S> {
    /// A program with nothing in it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sizes: Vec::new(),
            params: Vec::new(),
            values: Vec::new(),
            decls: S::Decls::default(),
            body: Block::default(),
        }
    }

    /// The program with another body: `rewrite` changes it, and may add values.
    pub(crate) fn rewritten(mut self, rewrite: impl FnOnce(&mut Self, &mut Block<S>)) -> Self {
        let mut body = std::mem::take(&mut self.body);
        rewrite(&mut self, &mut body);
        self.body = body;
        self
    }

    /// A new value of this type. Whoever asks for it also defines it.
    pub fn value(&mut self, ty: Type<S::Dim>, span: SpanId) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("fewer than 2^32 values"));
        self.values.push(Value {
            ty,
            name: None,
            span,
        });
        id
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type<S::Dim> {
        &self.values[value.index()].ty
    }

    /// The element type of a value.
    pub fn elem(&self, value: ValueId) -> Elem {
        self.ty(value).elem
    }

    /// The element types of operands.
    pub(crate) fn elems(&self, values: &[ValueId]) -> SmallVec<[Elem; 4]> {
        values.iter().map(|&value| self.elem(value)).collect()
    }

    /// Those of the values that have derivatives.
    pub fn floats(&self, values: &[ValueId]) -> Vec<ValueId> {
        let float = |value: &ValueId| self.elem(*value).is_float();
        values.iter().copied().filter(float).collect()
    }

    /// A new size.
    pub fn size(&mut self, name: impl Into<String>) -> SizeId {
        let id = SizeId(u32::try_from(self.sizes.len()).expect("fewer than 2^32 sizes"));
        self.sizes.push(Size { name: name.into() });
        id
    }

    /// A new parameter.
    pub fn param(
        &mut self,
        name: impl Into<String>,
        ty: Type<S::Dim>,
        owned: bool,
        span: SpanId,
    ) -> ValueId {
        let name = name.into();
        let value = self.value(ty, span);
        self.values[value.index()].name = Some(name.clone());
        self.params.push(Param { name, value, owned });
        value
    }
}

impl<S: Stage> Block<S> {
    /// Puts statements in front of those of these numbers, and takes those away that are `gone`.
    pub(crate) fn edit(
        &mut self,
        mut before: BTreeMap<usize, Vec<Stmt<S>>>,
        gone: &BTreeSet<usize>,
    ) {
        for (number, stmt) in std::mem::take(&mut self.stmts).into_iter().enumerate() {
            let new = before.remove(&number).unwrap_or_default();
            self.stmts.extend(new);
            if !gone.contains(&number) {
                self.stmts.push(stmt);
            }
        }
    }

    /// Values that the block binds, also in blocks inside.
    pub(crate) fn bound(&self) -> ValueSet {
        fn walk<S: Stage>(block: &Block<S>, bound: &mut ValueSet) {
            bound.extend(&block.params);
            for stmt in &block.stmts {
                bound.extend(&stmt.results);
                for inner in stmt.op.blocks() {
                    walk(inner, bound);
                }
            }
        }
        let mut bound = ValueSet::new();
        walk(self, &mut bound);
        bound
    }

    /// Values that the block reads but does not bind, each once, in order of first use. Extents and
    /// element types are not looked at.
    pub fn free(&self) -> Vec<ValueId> {
        fn walk<S: Stage>(
            block: &Block<S>,
            bound: &mut ValueSet,
            free: &mut Vec<ValueId>,
            seen: &mut ValueSet,
        ) {
            bound.extend(&block.params);
            let mut read = |value: ValueId, bound: &ValueSet| {
                if !bound.contains(&value) && seen.insert(value) {
                    free.push(value);
                }
            };
            for stmt in &block.stmts {
                stmt.op.for_each_operand(&mut |&value| read(value, bound));
                if let Some(guard) = stmt.guard {
                    read(guard, bound);
                }
                bound.extend(&stmt.results);
            }
            for &value in &block.results {
                read(value, bound);
            }
            for stmt in &block.stmts {
                for inner in stmt.op.blocks() {
                    walk(inner, bound, free, seen);
                }
            }
        }
        let mut free = Vec::new();
        walk(self, &mut ValueSet::new(), &mut free, &mut ValueSet::new());
        free
    }
}

impl<S: Stage> Stmt<S> {
    /// A statement without a guard.
    pub fn new(results: Vec<ValueId>, op: S::Op, span: SpanId) -> Self {
        Self {
            results,
            op,
            guard: None,
            span,
        }
    }
}
