//! Kernels programs built by hand, for tests here and for the compiled corpus.

use crate::ir::stages::cpu::Cpu;
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Lit, Monoid, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// A program under construction, with the blocks that are open.
#[derive(Debug)]
pub struct Build {
    /// What there is of it.
    pub program: Program<Kernels>,
    open: Vec<Block<Kernels>>,
}

/// What a processor does for a program.
pub fn targeted(program: Program<Kernels>) -> Program<Cpu> {
    crate::pipeline::targeted(&mut crate::pipeline::Trace::new(), program)
}

/// The same of a program's text.
#[cfg(test)]
pub(super) fn parsed(text: &str) -> Result<Program<Cpu>, crate::ir::ParseError> {
    crate::ir::parse(text).map(targeted)
}

/// A table type.
pub fn table(scalar: Scalar, dims: &[Extent]) -> Type<Extent> {
    Type::table(Elem::Scalar(scalar), dims.to_vec())
}

/// A table of indices.
pub fn indices(target: Extent, dims: &[Extent]) -> Type<Extent> {
    Type::table(Elem::Index(target), dims.to_vec())
}

impl Build {
    /// An empty program of this name.
    pub fn new(name: &str) -> Self {
        Self {
            program: Program::new(name),
            open: vec![Block::default()],
        }
    }

    /// A new size.
    pub fn size(&mut self, name: &str) -> Extent {
        Extent::Size(self.program.size(name))
    }

    /// A borrowed parameter.
    pub fn param(&mut self, name: &str, ty: Type<Extent>) -> ValueId {
        self.program.param(name, ty, false, SpanId::NONE)
    }

    /// A parameter that is given away.
    pub fn owned(&mut self, name: &str, ty: Type<Extent>) -> ValueId {
        self.program.param(name, ty, true, SpanId::NONE)
    }

    /// A statement that binds nothing.
    pub fn effect(&mut self, op: KernelOp) {
        self.push(Vec::new(), op);
    }

    /// A statement that binds a value.
    pub fn bind(&mut self, ty: Type<Extent>, op: KernelOp) -> ValueId {
        let value = self.program.value(ty, SpanId::NONE);
        self.push(vec![value], op);
        value
    }

    fn push(&mut self, results: Vec<ValueId>, op: KernelOp) {
        let block = self
            .open
            .last_mut()
            .expect("the program's own block is open");
        block.stmts.push(Stmt::new(results, op, SpanId::NONE));
    }

    /// A constant.
    pub fn lit(&mut self, scalar: Scalar, value: f64) -> ValueId {
        self.bind(
            Type::scalar(Elem::Scalar(scalar)),
            KernelOp::Const(Lit::of(scalar, value)),
        )
    }

    /// An `f64` constant.
    pub fn f64(&mut self, value: f64) -> ValueId {
        self.lit(Scalar::F64, value)
    }

    /// The number of an extent.
    pub fn size_of(&mut self, extent: Extent) -> ValueId {
        self.bind(Type::scalar(Elem::USIZE), KernelOp::Size(extent))
    }

    /// A primitive. Panics if it does not take these operands.
    pub fn prim(&mut self, prim: Prim, args: &[ValueId]) -> ValueId {
        let elems = self.program.elems(args);
        let elem = prim
            .result(&elems)
            .unwrap_or_else(|error| panic!("{}", error.0));
        self.bind(Type::scalar(elem), KernelOp::Prim(prim, args.into()))
    }

    /// `x + y`
    pub fn add(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.prim(Prim::Add, &[x, y])
    }

    /// `x * y`
    pub fn mul(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.prim(Prim::Mul, &[x, y])
    }

    /// `x as scalar`
    pub fn cast(&mut self, scalar: Scalar, x: ValueId) -> ValueId {
        self.prim(Prim::Cast(scalar), &[x])
    }

    /// A choice without a branch.
    pub fn select(&mut self, cond: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let elem = self.program.elem(then);
        self.bind(Type::scalar(elem), KernelOp::Select(cond, then, otherwise))
    }

    /// A new buffer.
    pub fn alloc(&mut self, ty: Type<Extent>, fill: Option<f64>) -> ValueId {
        let fill = fill.map(|fill| Lit::of(ty.elem.repr(), fill));
        self.bind(ty, KernelOp::Alloc { fill })
    }

    /// A buffer with the contents of another.
    pub fn copy(&mut self, buffer: ValueId) -> ValueId {
        let ty = self.program.ty(buffer).clone();
        self.bind(ty, KernelOp::Copy(buffer))
    }

    /// An element.
    pub fn load(&mut self, buffer: ValueId, indices: &[ValueId]) -> ValueId {
        let elem = self.program.elem(buffer);
        self.bind(
            Type::scalar(elem),
            KernelOp::Load {
                buffer,
                indices: indices.to_vec(),
            },
        )
    }

    /// Writes an element.
    pub fn store(&mut self, buffer: ValueId, indices: &[ValueId], value: ValueId) {
        self.effect(KernelOp::Store {
            buffer,
            indices: indices.to_vec(),
            value,
        });
    }

    /// A scalar place.
    pub fn var(&mut self, initial: ValueId) -> ValueId {
        let elem = self.program.elem(initial);
        self.bind(Type::scalar(elem), KernelOp::Var(initial))
    }

    /// What a scalar place holds.
    pub fn get(&mut self, place: ValueId) -> ValueId {
        let elem = self.program.elem(place);
        self.bind(Type::scalar(elem), KernelOp::Get(place))
    }

    /// Writes a scalar place.
    pub fn set(&mut self, place: ValueId, value: ValueId) {
        self.effect(KernelOp::Set { place, value });
    }

    /// Combines into a place.
    pub fn combine(&mut self, monoid: Monoid, place: ValueId, indices: &[ValueId], value: ValueId) {
        self.effect(KernelOp::Combine {
            monoid,
            place,
            indices: indices.to_vec(),
            value,
        });
    }

    fn block<R>(
        &mut self,
        extents: &[Extent],
        body: impl FnOnce(&mut Self, &[ValueId]) -> R,
    ) -> (Block<Kernels>, R) {
        let params: Vec<ValueId> = extents
            .iter()
            .map(|&extent| {
                self.program
                    .value(Type::scalar(Elem::Index(extent)), SpanId::NONE)
            })
            .collect();
        self.open.push(Block {
            params: params.clone(),
            ..Block::default()
        });
        let result = body(self, &params);
        (self.open.pop().expect("the block just opened"), result)
    }

    /// A sequential loop.
    pub fn each(&mut self, extent: Extent, body: impl FnOnce(&mut Self, ValueId)) {
        let (body, ()) = self.block(&[extent], |build, params| body(build, params[0]));
        self.effect(KernelOp::For {
            extent,
            reverse: false,
            body: Box::new(body),
        });
    }

    /// A sequential loop from the last index to the first.
    pub fn each_reversed(&mut self, extent: Extent, body: impl FnOnce(&mut Self, ValueId)) {
        let (body, ()) = self.block(&[extent], |build, params| body(build, params[0]));
        self.effect(KernelOp::For {
            extent,
            reverse: true,
            body: Box::new(body),
        });
    }

    /// A kernel. The body gets the indices, and the private copies of the places that it combines
    /// into.
    pub fn par(
        &mut self,
        extents: &[Extent],
        targets: &[(Monoid, ValueId)],
        body: impl FnOnce(&mut Self, &[ValueId], &[ValueId]),
    ) {
        let accs: Vec<Acc> = targets
            .iter()
            .map(|&(monoid, target)| {
                let ty = self.program.ty(target).clone();
                Acc::new(monoid, target, self.program.value(ty, SpanId::NONE))
            })
            .collect();
        let privates: Vec<ValueId> = accs.iter().map(|acc| acc.private).collect();
        let (body, ()) = self.block(extents, |build, params| body(build, params, &privates));
        self.effect(KernelOp::Own(Par {
            number: 0,
            by_columns: false,
            speculates: false,
            name: self.program.name.clone(),
            extents: extents.to_vec(),
            accs,
            folds: Vec::new(),
            body: Box::new(body),
        }));
    }

    /// A branch.
    pub fn branch(
        &mut self,
        cond: ValueId,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (then, ()) = self.block(&[], |build, _| then(build));
        let (otherwise, ()) = self.block(&[], |build, _| otherwise(build));
        self.effect(KernelOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        });
    }

    /// A loop that goes on while the value that `cond` gives is true.
    pub fn repeat(
        &mut self,
        cond: impl FnOnce(&mut Self) -> ValueId,
        body: impl FnOnce(&mut Self),
    ) {
        let (mut cond, go_on) = self.block(&[], |build, _| cond(build));
        cond.results.push(go_on);
        let (body, ()) = self.block(&[], |build, _| body(build));
        self.effect(KernelOp::While {
            cond: Box::new(cond),
            body: Box::new(body),
        });
    }

    /// The finished program.
    pub fn finish(mut self, results: &[ValueId]) -> Program<Kernels> {
        self.program.body = self.open.pop().expect("the program's own block is open");
        self.program.body.results = results.to_vec();
        self.program
    }
}

/// `y[i] = Σₖ a[i, k] x[k]`.
pub fn matrix_vector() -> Program<Kernels> {
    let mut b = Build::new("matrix_vector");
    let (n, k) = (b.size("N"), b.size("K"));
    let a = b.param("a", table(Scalar::F64, &[n, k]));
    let x = b.param("x", table(Scalar::F64, &[k]));
    let y = b.alloc(table(Scalar::F64, &[n]), None);
    b.par(&[n], &[], |b, i, _| {
        let zero = b.f64(0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let (left, right) = (b.load(a, &[i[0], k]), b.load(x, &[k]));
            let product = b.mul(left, right);
            b.combine(Monoid::Add, sum, &[], product);
        });
        let sum = b.get(sum);
        b.store(y, i, sum);
    });
    b.finish(&[y])
}

/// `c[i, j] = tanh(Σₖ a[i, k] b[k, j])`.
pub fn matrix_product() -> Program<Kernels> {
    let mut b = Build::new("matrix_product");
    let (n, k, m) = (b.size("N"), b.size("K"), b.size("M"));
    let left = b.param("a", table(Scalar::F64, &[n, k]));
    let right = b.param("b", table(Scalar::F64, &[k, m]));
    let c = b.alloc(table(Scalar::F64, &[n, m]), None);
    b.par(&[n, m], &[], |b, at, _| {
        let zero = b.f64(0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let (left, right) = (b.load(left, &[at[0], k]), b.load(right, &[k, at[1]]));
            let product = b.mul(left, right);
            b.combine(Monoid::Add, sum, &[], product);
        });
        let sum = b.get(sum);
        let tanh = b.prim(Prim::Tanh, &[sum]);
        b.store(c, at, tanh);
    });
    b.finish(&[c])
}
