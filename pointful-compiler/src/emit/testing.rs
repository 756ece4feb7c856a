//! Programs for the tests of emission, built by hand.

use crate::ir::stages::kernels::{Acc, KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Lit, Monoid, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// A program under construction, with the blocks that are open.
pub(super) struct Build {
    pub(super) program: Program<Kernels>,
    open: Vec<Block<Kernels>>,
}

pub(super) fn f64_of(dims: &[Extent]) -> Type<Extent> {
    Type::table(Elem::F64, dims.to_vec())
}

impl Build {
    pub(super) fn new() -> Self {
        Self {
            program: Program::new("f"),
            open: vec![Block::default()],
        }
    }

    pub(super) fn size(&mut self, name: &str) -> Extent {
        Extent::Size(self.program.size(name))
    }

    pub(super) fn param(&mut self, name: &str, ty: Type<Extent>, owned: bool) -> ValueId {
        self.program.param(name, ty, owned, SpanId::NONE)
    }

    pub(super) fn effect(&mut self, op: KernelOp) {
        self.open
            .last_mut()
            .unwrap()
            .stmts
            .push(Stmt::new(Vec::new(), op, SpanId::NONE));
    }

    pub(super) fn bind(&mut self, ty: Type<Extent>, op: KernelOp) -> ValueId {
        let value = self.program.value(ty, SpanId::NONE);
        self.open
            .last_mut()
            .unwrap()
            .stmts
            .push(Stmt::new(vec![value], op, SpanId::NONE));
        value
    }

    pub(super) fn lit(&mut self, scalar: Scalar, value: f64) -> ValueId {
        self.bind(
            Type::scalar(Elem::Scalar(scalar)),
            KernelOp::Const(Lit::of(scalar, value)),
        )
    }

    pub(super) fn prim(&mut self, prim: Prim, args: &[ValueId]) -> ValueId {
        let elems: Vec<Elem> = args.iter().map(|&arg| self.program.elem(arg)).collect();
        let elem = prim.result(&elems).unwrap();
        self.bind(Type::scalar(elem), KernelOp::Prim(prim, args.to_vec()))
    }

    pub(super) fn load(&mut self, buffer: ValueId, indices: &[ValueId]) -> ValueId {
        let elem = self.program.elem(buffer);
        self.bind(
            Type::scalar(elem),
            KernelOp::Load {
                buffer,
                indices: indices.to_vec(),
            },
        )
    }

    pub(super) fn store(&mut self, buffer: ValueId, indices: &[ValueId], value: ValueId) {
        self.effect(KernelOp::Store {
            buffer,
            indices: indices.to_vec(),
            value,
        });
    }

    pub(super) fn var(&mut self, initial: ValueId) -> ValueId {
        let elem = self.program.elem(initial);
        self.bind(Type::scalar(elem), KernelOp::Var(initial))
    }

    pub(super) fn get(&mut self, place: ValueId) -> ValueId {
        let elem = self.program.elem(place);
        self.bind(Type::scalar(elem), KernelOp::Get(place))
    }

    pub(super) fn combine(
        &mut self,
        monoid: Monoid,
        place: ValueId,
        indices: &[ValueId],
        value: ValueId,
    ) {
        self.effect(KernelOp::Combine {
            monoid,
            place,
            indices: indices.to_vec(),
            value,
        });
    }

    fn block(
        &mut self,
        extents: &[Extent],
        body: impl FnOnce(&mut Self, &[ValueId]),
    ) -> Block<Kernels> {
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
        body(self, &params);
        self.open.pop().unwrap()
    }

    pub(super) fn each(&mut self, extent: Extent, body: impl FnOnce(&mut Self, ValueId)) {
        let body = self.block(&[extent], |build, params| body(build, params[0]));
        self.effect(KernelOp::For {
            extent,
            reverse: false,
            body,
        });
    }

    pub(super) fn par(
        &mut self,
        extents: &[Extent],
        targets: &[(Monoid, ValueId)],
        body: impl FnOnce(&mut Self, &[ValueId], &[ValueId]),
    ) {
        let accs: Vec<Acc> = targets
            .iter()
            .map(|&(monoid, target)| {
                let ty = self.program.ty(target).clone();
                Acc {
                    monoid,
                    target,
                    private: self.program.value(ty, SpanId::NONE),
                }
            })
            .collect();
        let privates: Vec<ValueId> = accs.iter().map(|acc| acc.private).collect();
        let body = self.block(extents, |build, params| body(build, params, &privates));
        self.effect(KernelOp::Par {
            name: "a kernel".to_owned(),
            extents: extents.to_vec(),
            accs,
            body,
        });
    }

    pub(super) fn finish(mut self, results: &[ValueId]) -> Program<Kernels> {
        self.program.body = self.open.pop().unwrap();
        self.program.body.results = results.to_vec();
        self.program
    }
}

/// `y[i] = Σₖ a[i, k] x[k]`.
pub(super) fn matrix_vector() -> Program<Kernels> {
    let mut b = Build::new();
    let (n, k) = (b.size("N"), b.size("K"));
    let a = b.param("a", f64_of(&[n, k]), false);
    let x = b.param("x", f64_of(&[k]), false);
    let y = b.bind(f64_of(&[n]), KernelOp::Alloc { fill: None });
    b.par(&[n], &[], |b, i, _| {
        let zero = b.lit(Scalar::F64, 0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let (left, right) = (b.load(a, &[i[0], k]), b.load(x, &[k]));
            let product = b.prim(Prim::Mul, &[left, right]);
            b.combine(Monoid::Add, sum, &[], product);
        });
        let sum = b.get(sum);
        b.store(y, i, sum);
    });
    b.finish(&[y])
}

/// `c[i, j] = tanh(Σₖ a[i, k] b[k, j])`.
pub(super) fn matrix_product() -> Program<Kernels> {
    let mut b = Build::new();
    let (n, k, m) = (b.size("N"), b.size("K"), b.size("M"));
    let left = b.param("a", f64_of(&[n, k]), false);
    let right = b.param("b", f64_of(&[k, m]), false);
    let c = b.bind(f64_of(&[n, m]), KernelOp::Alloc { fill: None });
    b.par(&[n, m], &[], |b, at, _| {
        let zero = b.lit(Scalar::F64, 0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let (left, right) = (b.load(left, &[at[0], k]), b.load(right, &[k, at[1]]));
            let product = b.prim(Prim::Mul, &[left, right]);
            b.combine(Monoid::Add, sum, &[], product);
        });
        let sum = b.get(sum);
        let tanh = b.prim(Prim::Tanh, &[sum]);
        b.store(c, at, tanh);
    });
    b.finish(&[c])
}
