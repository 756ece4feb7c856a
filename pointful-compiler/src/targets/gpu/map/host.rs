//! What the host does: launches, and whatever asks for no elements.

use smallvec::smallvec;

use super::thread::Thread;
use super::{Map, Missing, Stmts, load, store};
use crate::analysis::accesses::{Accesses, At};
use crate::ir::stages::gpu::{Gpu, GpuOp, Launch, Own};
use crate::ir::stages::imperative::{Along, ImperativeOp};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Lit, Operation, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// How many threads a block has of a nest, and of what is one thread's or needs memory of which the
/// compiler does not know how much it is: so little of it is enough.
pub(super) const BLOCK: u32 = 256;
pub(super) const FEW: u32 = 32;

/// A variable of the host's that a launch looks at, and whether it changes it.
pub(super) struct Captured {
    pub(super) var: ValueId,
    pub(super) changed: bool,
}

/// A kernel that is being written.
pub(super) struct Kernel<'k> {
    pub(super) name: &'k str,
    pub(super) extents: &'k [Extent],
    /// The indices; there are as many as extents.
    pub(super) indices: &'k [ValueId],
    pub(super) captured: Vec<Captured>,
    pub(super) span: SpanId,
}

impl Map {
    /// A block of the host's.
    pub(super) fn host(&mut self, block: Block<Kernels>) -> Result<Block<Gpu>, Missing> {
        let mut out = Stmts::new();
        for stmt in block.stmts {
            self.host_stmt(stmt, &mut out)?;
        }
        Ok(Block {
            params: block.params,
            stmts: out,
            results: block.results,
        })
    }

    fn host_stmt(&mut self, stmt: Stmt<Kernels>, out: &mut Stmts) -> Result<(), Missing> {
        let span = stmt.span;
        let is_one_threads = touches_elements(&stmt) && !is_hosts(&stmt);
        let op = match stmt.op {
            ImperativeOp::Own(par) => return self.par(par, span, out),
            ImperativeOp::Contract { .. } => return self.products(&stmt, out),
            KernelOp::For { .. } | KernelOp::While { .. } | KernelOp::If { .. }
                if is_one_threads =>
            {
                return self.one_thread(stmt, out);
            }
            KernelOp::Store { .. } => return self.one_thread(stmt, out),
            KernelOp::Combine { ref indices, .. } if !indices.is_empty() => {
                return self.one_thread(stmt, out);
            }
            KernelOp::Alloc { fill: Some(fill) } => {
                return self.filled(stmt.results[0], fill, span, out);
            }
            KernelOp::Prim(Prim::Call(_), _) => return Err(Missing::Call),
            op => op.in_stage(|block| self.host(block))?,
        };
        out.push(Stmt::new(stmt.results, op, span));
        Ok(())
    }

    /// A buffer that holds one value everywhere.
    fn filled(
        &mut self,
        buffer: ValueId,
        fill: Lit,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        out.push(Stmt::new(vec![buffer], GpuOp::Alloc { fill: None }, span));
        let Type { elem, dims } = self.program.ty(buffer).clone();
        let indices = self.indices(&dims, span);
        let kernel = Kernel {
            name: "fill",
            extents: &dims,
            indices: &indices,
            captured: Vec::new(),
            span,
        };
        self.launch(kernel, out, |map, _, body| {
            let value = map.lit(body, fill, elem, span);
            body.push(store(buffer, indices.clone(), value, span));
            Ok(())
        })
    }

    /// A statement that touches elements, which one thread does.
    fn one_thread(&mut self, stmt: Stmt<Kernels>, out: &mut Stmts) -> Result<(), Missing> {
        let span = stmt.span;
        let captured = captured(std::slice::from_ref(&stmt));
        let index = [self.value(Elem::Index(Extent::Const(1)), span)];
        let kernel = Kernel {
            name: "",
            extents: &[Extent::Const(1)],
            indices: &index,
            captured,
            span,
        };
        self.launch(kernel, out, |map, thread, body| {
            thread.stmts(map, vec![stmt], body)
        })
    }

    /// Products that a library would multiply.
    fn products(&mut self, stmt: &Stmt<Kernels>, out: &mut Stmts) -> Result<(), Missing> {
        let KernelOp::Contract {
            out: into, along, ..
        } = &stmt.op
        else {
            unreachable!("a contraction")
        };
        let span = stmt.span;
        let dims = self.program.ty(*into).dims.clone();
        let own = along[0].iter().zip(&dims);
        let own = own.filter(|(along, _)| matches!(along, Along::Axis(_)));
        let mut extents: Vec<Extent> = own.map(|(_, &extent)| extent).collect();
        let only_one = extents.is_empty();
        if only_one {
            extents.push(Extent::Const(1));
        }
        let indices = self.indices(&extents, span);
        let kernel = Kernel {
            name: "products",
            extents: &extents,
            indices: &indices,
            captured: Vec::new(),
            span,
        };
        self.launch(kernel, out, |map, thread, body| {
            let own = if only_one { &[] } else { &indices[..] };
            thread.sum_of_products(map, stmt, own, body);
            Ok(())
        })
    }

    /// New indices, one an extent.
    pub(super) fn indices(&mut self, extents: &[Extent], span: SpanId) -> Vec<ValueId> {
        let index = |&extent: &Extent| self.value(Elem::Index(extent), span);
        extents.iter().map(index).collect()
    }

    /// A launch, and what the host does for it before and after. What it changes of the host's
    /// variables one thread alone changes.
    pub(super) fn launch(
        &mut self,
        kernel: Kernel<'_>,
        out: &mut Stmts,
        body: impl FnOnce(&mut Self, &mut Thread, &mut Stmts) -> Result<(), Missing>,
    ) -> Result<(), Missing> {
        let span = kernel.span;
        let mut thread = Thread::default();
        thread.binds(kernel.indices);
        let mut stmts = Stmts::new();
        let mut changed = Vec::new();
        for Captured {
            var,
            changed: changes,
        } in kernel.captured
        {
            let elem = self.program.elem(var);
            let first = self.bind(out, GpuOp::Get(var), elem, span);
            let copy = self.bind(&mut stmts, GpuOp::Var(first), elem, span);
            thread.rename(var, copy);
            if changes {
                let ty = Type::table(elem, vec![Extent::Const(1)]);
                changed.push((var, copy, self.buffer(out, ty, span)));
            }
        }
        body(self, &mut thread, &mut stmts)?;
        for &(var, copy, cell) in &changed {
            let value = self.bind(&mut stmts, GpuOp::Get(copy), self.program.elem(var), span);
            stmts.push(store(cell, kernel.indices.to_vec(), value, span));
        }
        let (own, unknown) = thread.own();
        let has_unknown = !unknown.arrays.is_empty();
        let block = match kernel.extents {
            [Extent::Const(1)] => FEW,
            _ if has_unknown => FEW,
            _ => BLOCK,
        };
        let mut launch = Launch {
            name: kernel.name.to_owned(),
            trial: false,
            block,
            team: None,
            extents: kernel.extents.to_vec(),
            body: Box::new(Block {
                params: [kernel.indices, &own].concat(),
                stmts,
                results: Vec::new(),
            }),
        };
        if has_unknown {
            self.find_out(&unknown, &mut launch, span, out)?;
        } else {
            self.by_teams(&mut launch, span, out);
        }
        let launch = GpuOp::Own(Own::Launch(launch));
        out.push(Stmt::new(Vec::new(), launch, span));
        for (var, _, cell) in changed {
            let value = self.only(out, cell, span);
            let set = GpuOp::Set { place: var, value };
            out.push(Stmt::new(Vec::new(), set, span));
        }
        Ok(())
    }

    /// The element of a buffer of one, on the host.
    pub(super) fn only(&mut self, out: &mut Stmts, cell: ValueId, span: SpanId) -> ValueId {
        let zero = self.number(out, 0, span);
        let one = Extent::Const(1);
        let trusted = GpuOp::Prim(Prim::Trust(one), smallvec![zero]);
        let index = self.bind(out, trusted, Elem::Index(one), span);
        let elem = self.program.elem(cell);
        self.bind(out, load(cell, vec![index]), elem, span)
    }
}

/// The variables from outside that statements touch.
pub(super) fn captured(stmts: &[Stmt<Kernels>]) -> Vec<Captured> {
    let accesses = Accesses::of(stmts);
    let changed = accesses.changed();
    let mut captured: Vec<Captured> = Vec::new();
    for access in accesses.outside() {
        let is_new = captured.iter().all(|known| known.var != access.place);
        if access.at == At::Variable && is_new {
            captured.push(Captured {
                var: access.place,
                changed: changed.contains(&access.place),
            });
        }
    }
    captured
}

/// Whether a statement touches an element, at any depth but in kernels.
fn touches_elements(stmt: &Stmt<Kernels>) -> bool {
    match &stmt.op {
        KernelOp::Load { .. } | KernelOp::Store { .. } => true,
        KernelOp::Combine { indices, .. } => !indices.is_empty(),
        KernelOp::Own(_) => false,
        op => inside(op).any(touches_elements),
    }
}

/// Whether a statement is the host's, or has such in it: a kernel, or whole buffers.
fn is_hosts(stmt: &Stmt<Kernels>) -> bool {
    match &stmt.op {
        KernelOp::Own(_)
        | KernelOp::Contract { .. }
        | KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Swap(..) => true,
        op => inside(op).any(is_hosts),
    }
}

fn inside(op: &KernelOp) -> impl Iterator<Item = &Stmt<Kernels>> {
    op.blocks().into_iter().flat_map(|block| &block.stmts)
}
