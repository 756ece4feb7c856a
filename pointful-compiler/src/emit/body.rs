//! Statements that run one after the other, of the host or of one iteration of a kernel.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use smallvec::SmallVec;

use super::angles::{self, Angles};
use super::copies::{self, Copies};
use super::edges::Known;
use super::expr::{Expr, Word, append, bind, choose, set};
use super::names::ident;
use super::steps::Part;
use super::unit::{Unit, usize_literal};
use super::{edges, kernel, lanes, scalar, short_rows, steps, strips, tokens, transpose};
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, Par, PlaceKind};
use crate::ir::{Block, Extent, Lit, Monoid, Operation, Stmt, ValueId, ValueSet};

/// How the code being emitted reaches a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Storage {
    /// `&[T]`: it is only read.
    Slice,
    /// `&[T]`: what a kernel may read of it, from some element on.
    Window,
    /// `Out<T>`: the view of a kernel that writes it.
    View,
    /// `OutBuf<T>`: it is owned here.
    Owned,
    /// `[T; N]` on the stack: private to an iteration, and small.
    Array,
}

/// Arrays of up to this many bytes live on the stack.
const STACK_BYTES: u64 = 1024;

/// What a loop goes through.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Run {
    /// Independent points that are one row of several.
    Row,
    /// Independent points.
    Points,
    /// What may have to come one after the other.
    InOrder,
}

/// The emission of one function body.
pub(super) struct Body<'u> {
    pub(super) unit: &'u Unit<'u>,
    storage: BTreeMap<ValueId, Storage>,
    /// Buffers whose memory was made before the outermost loop around their `alloc`.
    hoisted: ValueSet,
    /// Scalar places that are addressed as `place_lanes[lane]` at the moment.
    pub(super) in_lanes: ValueSet,
    /// Buffers that each point of a strip has for itself, and how many points that are: addressed
    /// as `buffer_lanes` at the moment.
    pub(super) in_strips: BTreeMap<ValueId, u64>,
    /// Buffers that come into being as what a kernel has combined into them.
    combined: ValueSet,
    /// What is known of positions where code is being emitted.
    known: Known,
    /// Whether this is near an end of an axis.
    at_edge: bool,
    /// How many points of the kernel advance together, if it is worth cutting the work so.
    pub(super) together: Option<u64>,
    /// Whether a loop is open, so that no more buffers are moved before it.
    in_loop: bool,
    /// Whether this is one iteration of a kernel: small buffers may live on the stack, because
    /// nobody else needs a view of them, and nothing is given to other threads.
    in_kernel: bool,
    /// Whether reductions are split into lanes.
    splits_reductions: bool,
    /// Whether branches are computed by all lanes, and how many of them there have been.
    is_flat: bool,
    branches: u32,
    /// Whether a lane takes part in the branches that are open.
    mask: Option<Ident>,
    /// How functions of angles are called.
    pub(super) angles: Angles,
    /// The kernels launched, as items. Empty in a kernel.
    pub(super) kernels: Vec<TokenStream>,
}

impl<'u> Body<'u> {
    /// A body that reaches these buffers from outside.
    pub(super) fn new(
        unit: &'u Unit<'u>,
        storage: BTreeMap<ValueId, Storage>,
        in_kernel: bool,
    ) -> Self {
        Self {
            unit,
            storage,
            hoisted: ValueSet::new(),
            in_lanes: ValueSet::new(),
            in_strips: BTreeMap::new(),
            combined: ValueSet::new(),
            known: Known::default(),
            at_edge: false,
            together: None,
            in_loop: false,
            in_kernel,
            splits_reductions: true,
            is_flat: false,
            branches: 0,
            mask: None,
            angles: Angles::Any,
            kernels: Vec::new(),
        }
    }

    /// Whether a buffer is still to come into being, as what a kernel has combined into it: the
    /// first time that it is asked.
    pub(super) fn becomes(&mut self, buffer: ValueId) -> bool {
        self.combined.remove(&buffer)
    }

    /// Whether an index is made of a position known to be in range here.
    pub(super) fn is_interior(&self, index: ValueId) -> bool {
        self.known.positions.contains(&index)
    }

    /// From now on these buffers are reached by views of their names. Gives how they were.
    pub(super) fn by_views<'b>(
        &mut self,
        buffers: impl Iterator<Item = &'b ValueId>,
    ) -> BTreeMap<ValueId, Storage> {
        let before = self.storage.clone();
        let views = buffers.map(|&buffer| (buffer, Storage::View));
        self.storage.extend(views);
        before
    }

    /// From now on buffers are reached so.
    pub(super) fn reach_as(&mut self, storage: BTreeMap<ValueId, Storage>) {
        self.storage = storage;
    }

    /// Whether a truth value is known here.
    pub(super) fn is_decided(&self, value: ValueId) -> bool {
        self.decided(value).is_some()
    }

    /// Which it is.
    pub(super) fn decided(&self, value: ValueId) -> Option<bool> {
        self.known.decided.get(&value).copied()
    }

    /// How a buffer is reached.
    pub(super) fn storage(&self, buffer: ValueId) -> Storage {
        if self.unit.is_constant(buffer) {
            return Storage::Slice;
        }
        self.storage[&buffer]
    }

    /// The statements of a block.
    pub(super) fn block(&mut self, block: &Block<Kernels>) -> TokenStream {
        self.block_of(&block.stmts.iter().collect::<Vec<_>>())
    }

    /// Some statements of a block.
    pub(super) fn block_of(&mut self, stmts: &[&Stmt<Kernels>]) -> TokenStream {
        let mut emitted = TokenStream::new();
        if self.in_kernel {
            for stmt in stmts {
                self.stmt(stmt, &mut emitted);
            }
            return emitted;
        }
        let parts = steps::parts(self.unit, stmts);
        if !self.in_loop {
            self.combined.extend(&copies::tables(self.unit, &parts));
        }
        for part in parts {
            match part {
                Part::One(stmt) => self.stmt(stmt, &mut emitted),
                Part::Several(plan) => append(&mut emitted, steps::emit_once(self, &plan)),
            }
        }
        emitted
    }

    /// Statements of which all lanes compute both sides of branches, and take what their conditions
    /// say.
    pub(super) fn flat(&mut self, stmts: &[&Stmt<Kernels>]) -> TokenStream {
        let before = std::mem::replace(&mut self.is_flat, true);
        let emitted = self.block_of(stmts);
        self.is_flat = before;
        emitted
    }

    /// A branch, computed by all lanes.
    fn in_all_lanes(
        &mut self,
        cond: ValueId,
        then: &Block<Kernels>,
        otherwise: &Block<Kernels>,
    ) -> TokenStream {
        let cond = self.unit.value(cond);
        let around = self.mask.clone();
        let mut emitted = TokenStream::new();
        for (branch, taken) in [(then, tokens!(#cond)), (otherwise, tokens!(!#cond))] {
            let mask = ident(&format!("taken{}_", self.branches));
            self.branches += 1;
            let taken = around
                .as_ref()
                .map_or(taken.clone(), |around| tokens!(#around & #taken));
            self.mask = Some(mask.clone());
            let inner = self.block(branch);
            if !inner.is_empty() {
                append(&mut emitted, tokens!(let #mask = #taken; #inner));
            }
        }
        self.mask = around;
        emitted
    }

    fn stmt(&mut self, stmt: &Stmt<Kernels>, emitted: &mut TokenStream) {
        if let Some(mask) = self.mask.clone()
            && let KernelOp::Set { place, .. } | KernelOp::Combine { place, .. } = &stmt.op
        {
            let mut plain = TokenStream::new();
            self.plain(stmt, &mut plain);
            append(emitted, self.if_taken(&mask, *place, &plain));
        } else {
            self.plain(stmt, emitted);
        }
    }

    /// What changes a place, done by all lanes and kept by those that take part.
    pub(super) fn if_taken(
        &self,
        mask: &Ident,
        place: ValueId,
        plain: &TokenStream,
    ) -> TokenStream {
        let place = self.place(place);
        tokens! {
            let before_ = #place;
            #plain
            #place = if #mask { #place } else { before_ };
        }
    }

    /// Writes what most statements are token by token.
    fn plain(&mut self, stmt: &Stmt<Kernels>, emitted: &mut TokenStream) {
        let unit = self.unit;
        let name = || unit.names.value(stmt.results[0]);
        let tokens = match &stmt.op {
            // Written out where they are used.
            KernelOp::Const(_) | KernelOp::Size(_) => return,
            KernelOp::Prim(prim, args) => {
                let name = name();
                if let Some(truth) = self.known.decided.get(&stmt.results[0]) {
                    return bind(emitted, name, truth);
                }
                let operands: SmallVec<[_; 4]> =
                    args.iter().map(|&arg| unit.operand(arg)).collect();
                let prim = if self.known.positions.contains(&stmt.results[0]) {
                    scalar::in_range(*prim)
                } else {
                    *prim
                };
                let near = self.angles == Angles::Near && angles::has_near(prim, operands[0].elem);
                let value = if near {
                    Expr::Tokens(angles::call(prim, &operands[0].tokens))
                } else {
                    scalar::prim(
                        prim,
                        &operands,
                        |extent| unit.length(extent),
                        |function| unit.names.function(function).to_token_stream(),
                    )
                };
                return bind(emitted, name, &value);
            }
            KernelOp::Load { buffer, indices } => {
                let value = self.read(*buffer, &unit.position(*buffer, indices));
                return bind(emitted, name(), &value);
            }
            KernelOp::Get(place) => return bind(emitted, name(), &self.place(*place)),
            KernelOp::Set { place, value } => {
                return set(emitted, &self.place(*place), &unit.value(*value));
            }
            KernelOp::If {
                cond,
                then,
                otherwise,
            } if self.is_flat => self.in_all_lanes(*cond, then, otherwise),
            KernelOp::If {
                cond,
                then,
                otherwise,
            } => {
                let then = self.block(then);
                let otherwise = Some(self.block(otherwise));
                let otherwise = otherwise.filter(|otherwise| !otherwise.is_empty());
                return choose(emitted, &unit.value(*cond), then, otherwise);
            }
            KernelOp::Select(cond, then, otherwise) => {
                let name = name();
                let (cond, then, otherwise) =
                    (unit.value(*cond), unit.value(*then), unit.value(*otherwise));
                tokens!(let #name = if #cond { #then } else { #otherwise };)
            }
            KernelOp::Alloc { .. } if self.combined.contains(&stmt.results[0]) => {
                self.storage.insert(stmt.results[0], Storage::Owned);
                TokenStream::new()
            }
            KernelOp::Alloc { fill } => {
                let declared = self.alloc_here(stmt.results[0]);
                let filled = fill.map(|fill| self.fill(stmt.results[0], fill));
                tokens!(#declared #filled)
            }
            KernelOp::Copy(source) => {
                let declared = self.alloc_here(stmt.results[0]);
                let copied = self.each_element(stmt.results[0], &self.read(*source, &tokens!(at)));
                tokens!(#declared #copied)
            }
            KernelOp::Store {
                buffer,
                indices,
                value,
            } => self.write(
                *buffer,
                &unit.position(*buffer, indices),
                &unit.value(*value),
            ),
            KernelOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => self.combine(*monoid, *place, indices, &unit.value(*value)),
            KernelOp::Var(initial) => {
                let (name, ty, initial) = (name(), unit.ty(stmt.results[0]), unit.value(*initial));
                if self.in_lanes.contains(&stmt.results[0]) {
                    let place = self.place(stmt.results[0]);
                    tokens!(#place = #initial;)
                } else {
                    tokens!(let mut #name: #ty = #initial;)
                }
            }
            KernelOp::Swap(a, b) => {
                let (a, b) = (unit.names.value(*a), unit.names.value(*b));
                tokens!(::core::mem::swap(&mut #a, &mut #b);)
            }
            KernelOp::Contract {
                out,
                factors: [left, right],
                along,
                add,
            } => {
                let arrays = [out, left, right].into_iter().zip(along);
                let dims = arrays.map(|(array, along)| self.contracted(*array, along, 0));
                let contract = if self.in_kernel {
                    tokens!(contract_here)
                } else {
                    tokens!(contract)
                };
                let [left, right] = [*left, *right].map(|factor| self.slice(factor));
                let out = self.out(*out);
                tokens!(#contract(#out, #left, #right, [#(#dims),*], #add);)
            }
            KernelOp::For {
                extent,
                reverse,
                body,
            } => self.in_outermost_loop(&[body], |emit| emit.repeated(*extent, *reverse, body)),
            KernelOp::Own(Par {
                name,
                extents,
                accs,
                folds,
                body,
            }) => kernel::launch(self, name, extents, Copies { accs, folds }, body),
            KernelOp::Assert {
                cond,
                message,
                shown,
            } => {
                let cond = unit.value(*cond);
                let message = message.to_string();
                let shown = shown.iter().map(|&value| unit.value(value));
                // Beyond rustc's own editions: `assert!` did not always take a lone text for a format string.
                tokens!(::core::assert!(#cond, "{}", ::core::format_args!(#message #(, #shown)*));)
            }
            KernelOp::While { cond, body } => self.in_outermost_loop(&[cond, body], |emit| {
                let test = emit.block(cond);
                let go_on = unit.value(cond.results[0]);
                let inner = emit.block(body);
                tokens!(loop { #test if !#go_on { break; } #inner })
            }),
        };
        append(emitted, tokens);
    }

    /// A loop.
    fn repeated(&mut self, extent: Extent, reverse: bool, body: &Block<Kernels>) -> TokenStream {
        let unit = self.unit;
        let (stop, index) = (unit.extent(extent), body.params[0]);
        if !self.in_kernel {
            if let Some(plan) = steps::plan(unit, body) {
                return steps::emit(self, &plan, index, extent, reverse);
            }
        } else if let Some((checks, body)) = kernel::checks_first(body) {
            let checks = self.block(&checks);
            let inner = self.repeated(extent, reverse, &body);
            return tokens!(if #stop > 0usize { #checks #inner });
        }
        if let Some(nest) = transpose::plan(self, body) {
            return transpose::emit(self, &nest, index, extent);
        }
        if reverse {
            let (index, inner) = (unit.names.value(index), self.block(body));
            return tokens!(for #index in ::core::iter::Iterator::rev(0..#stop) { #inner });
        }
        let run = if self.in_kernel && strips::independent(body) {
            Run::Points
        } else {
            Run::InOrder
        };
        let (start, stop) = (tokens!(0usize), stop.into_token_stream());
        if self.in_kernel && edges::is_cut(body) {
            self.points(index, body, extent, &start, &stop, run)
        } else {
            self.run(index, body, extent, &start, &stop, run)
        }
    }

    /// What a contraction goes through of the axes of one array, but for the first ones.
    pub(super) fn contracted(
        &self,
        array: ValueId,
        along: &[Along],
        skipped: usize,
    ) -> TokenStream {
        let unit = self.unit;
        let dims = along.iter().zip(unit.dims(array)).skip(skipped);
        let dims = dims.map(|(along, &extent)| {
            let length = unit.extent(extent);
            match along {
                Along::Axis(axis) => tokens!((#length, Along::Axis(#axis))),
                Along::At(index) => {
                    let index = unit.value(*index);
                    tokens!((#length, Along::At(#index)))
                }
            }
        });
        tokens!(&[#(#dims),*])
    }

    /// Emits something where more is known of points.
    pub(super) fn knowing<T>(
        &mut self,
        interior: &edges::Inner,
        emit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let around = self.known.clone();
        self.known.positions.extend(&interior.known.positions);
        self.known.decided.extend(&interior.known.decided);
        let emitted = emit(self);
        self.known = around;
        emitted
    }

    /// Emits something near an end of an axis, where loops are not cut.
    pub(super) fn near_end<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.at_edge, true);
        let emitted = emit(self);
        self.at_edge = before;
        emitted
    }

    /// A loop, cut where neighbours begin and end.
    pub(super) fn points(
        &mut self,
        index: ValueId,
        body: &Block<Kernels>,
        extent: Extent,
        start: &TokenStream,
        stop: &TokenStream,
        run: Run,
    ) -> TokenStream {
        let unit = self.unit;
        // Near an end of an axis around there is little to do. Loops of few iterations are cut near their ends only.
        let far = run == Run::Row || !matches!(unit.resolve(extent), Extent::Const(_));
        let plan = if self.at_edge {
            None
        } else {
            edges::plan(unit, index, body, extent, &self.known, far)
        };
        let Some(plan) = plan else {
            if self.known.decided.is_empty() {
                return self.run(index, body, extent, start, stop, run);
            }
            let body = edges::pruned(body, &self.known.decided);
            return self.run(index, &body, extent, start, stop, run);
        };
        edges::emit(
            unit,
            &plan,
            index,
            extent,
            (start, stop),
            |part, start, stop| {
                let around = self.known.clone();
                if let edges::Part::Interior(decided) | edges::Part::Edge(decided) = part {
                    self.known.decided.extend(decided);
                }
                let body = edges::pruned(body, &self.known.decided);
                let emitted = match part {
                    edges::Part::Interior(_) => {
                        self.known.positions.extend(plan.positions.iter());
                        self.run(index, &body, extent, start, stop, run)
                    }
                    edges::Part::Edge(_) => {
                        let name = unit.names.value(index);
                        let inner =
                            self.near_end(|emit| emit.without_lanes(|emit| emit.block(&body)));
                        tokens!(for #name in #start..#stop { #inner })
                    }
                    edges::Part::Outside => {
                        self.near_end(|emit| emit.run(index, &body, extent, start, stop, run))
                    }
                };
                self.known = around;
                emitted
            },
        )
    }

    /// A loop, in strips if that pays.
    fn run(
        &mut self,
        index: ValueId,
        body: &Block<Kernels>,
        extent: Extent,
        start: &TokenStream,
        stop: &TokenStream,
        run: Run,
    ) -> TokenStream {
        let mut choice = None;
        let strips = (run != Run::InOrder)
            .then(|| strips::plan(self.unit, index, body, &self.known.positions, self.angles))
            .flatten()
            .filter(|plan| plan.fits(self.unit.resolve(extent)));
        if let Some(plan) = strips {
            let strips = strips::emit(self, &plan, index, body, start, stop);
            match plan.condition(self.unit) {
                Some(condition) => choice = Some((condition, strips)),
                None => return strips,
            }
        }
        let row =
            (run == Run::Row).then(|| short_rows::emit(self, index, body, extent, start, stop));
        let row = row
            .flatten()
            .unwrap_or_else(|| self.counted(index, body, extent, start, stop));
        match choice {
            Some((condition, strips)) => tokens!(if #condition { #strips } else { #row }),
            None => row,
        }
    }

    /// Emits something in which reductions are not split into lanes.
    pub(super) fn without_lanes<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.splits_reductions, false);
        let emitted = emit(self);
        self.splits_reductions = before;
        emitted
    }

    /// A loop that counts upwards, in lanes if that pays.
    pub(super) fn counted(
        &mut self,
        index: ValueId,
        body: &Block<Kernels>,
        extent: Extent,
        start: &TokenStream,
        stop: &TokenStream,
    ) -> TokenStream {
        let name = self.unit.names.value(index);
        let extent = self.unit.resolve(extent);
        let plan = lanes::plan(self.unit, body, extent, &self.known.positions, self.angles);
        match plan.filter(|_| self.splits_reductions) {
            Some(plan) => lanes::emit(self, &plan, name, body, start, stop),
            None => {
                let inner = self.block(body);
                tokens!(for #name in #start..#stop { #inner })
            }
        }
    }

    /// Emits a loop; if it is an outermost one, the buffers allocated within it are made before it,
    /// once.
    ///
    /// What such a buffer holds at its `alloc` is undefined, so it may as well be what the
    /// iteration before left there.
    fn in_outermost_loop(
        &mut self,
        blocks: &[&Block<Kernels>],
        emit: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        if self.in_loop {
            return emit(self);
        }
        let declared = self.hoist(blocks);
        let inner = emit(self);
        self.in_loop = false;
        tokens!(#declared #inner)
    }

    /// Opens an outermost loop: declares the buffers that are allocated in its blocks, at any
    /// depth.
    ///
    /// Not those whose extents are computed within, and not those of kernels launched within.
    pub(super) fn hoist(&mut self, blocks: &[&Block<Kernels>]) -> TokenStream {
        let mut found = Found::default();
        for block in blocks {
            found.look(block);
        }
        let mut declared = TokenStream::new();
        for &buffer in &found.buffers {
            let known =
                self.unit
                    .dims(buffer)
                    .iter()
                    .all(|&extent| match self.unit.resolve(extent) {
                        Extent::Const(_) | Extent::Size(_) => true,
                        Extent::Value(value) => !found.bound.contains(&value),
                    });
            if !known {
                continue;
            }
            let array = self
                .array_length(buffer)
                .filter(|_| !found.in_memory.contains(&buffer));
            append(
                &mut declared,
                match array {
                    Some(length) => {
                        self.storage.insert(buffer, Storage::Array);
                        let zero = scalar::literal(Lit::of(self.unit.scalar(buffer), 0.0));
                        let (name, length) = (self.unit.names.value(buffer), usize_literal(length));
                        tokens!(let mut #name = [#zero; #length];)
                    }
                    None => self.alloc(buffer),
                },
            );
            self.hoisted.insert(buffer);
        }
        self.in_loop = true;
        declared
    }

    /// The number of elements of a buffer that may live on the stack.
    fn array_length(&self, buffer: ValueId) -> Option<u64> {
        if !self.in_kernel {
            return None;
        }
        let length = self.unit.const_product(self.unit.dims(buffer))?;
        let bytes = length.checked_mul(self.unit.scalar(buffer).bytes())?;
        (bytes <= STACK_BYTES).then_some(length)
    }

    /// The declaration of a buffer where it is allocated, unless it stands before the loop.
    fn alloc_here(&mut self, buffer: ValueId) -> TokenStream {
        if self.hoisted.contains(&buffer) {
            TokenStream::new()
        } else {
            self.alloc(buffer)
        }
    }

    fn alloc(&mut self, buffer: ValueId) -> TokenStream {
        self.storage.insert(buffer, Storage::Owned);
        let (name, ty) = (self.unit.names.value(buffer), self.unit.ty(buffer));
        let length = self.unit.product(self.unit.dims(buffer));
        tokens!(let mut #name = OutBuf::<#ty>::new(#length);)
    }

    fn fill(&self, buffer: ValueId, value: Lit) -> TokenStream {
        self.each_element(buffer, &scalar::literal(value))
    }

    /// Writes `value`, which may depend on `at`, to each element of a buffer.
    fn each_element(&self, buffer: ValueId, value: &impl ToTokens) -> TokenStream {
        let length = self.unit.product(self.unit.dims(buffer));
        let write = self.write(buffer, &tokens!(at), value);
        tokens!(for at in 0..#length { #write })
    }

    /// A buffer that has been written, as a slice.
    pub(super) fn slice(&self, buffer: ValueId) -> TokenStream {
        let name = self.unit.names.value(buffer);
        match self.storage(buffer) {
            Storage::Slice | Storage::View => tokens!(#name),
            Storage::Owned | Storage::Array => tokens!(#name.written()),
            Storage::Window => unreachable!("a part of a buffer is read element by element"),
        }
    }

    /// A buffer that is written, as a view.
    pub(super) fn out(&self, buffer: ValueId) -> TokenStream {
        let name = self.unit.names.value(buffer);
        match self.storage(buffer) {
            Storage::Slice | Storage::Window => {
                unreachable!("a buffer that is written is not a slice")
            }
            Storage::View => tokens!(#name),
            Storage::Owned => tokens!(#name.out()),
            Storage::Array => unreachable!("what a library writes is not an array"),
        }
    }

    /// Where a buffer begins.
    pub(super) fn pointer(&mut self, buffer: ValueId) -> TokenStream {
        let name = self.unit.names.value(buffer);
        match self.storage(buffer) {
            Storage::Slice | Storage::Window => tokens!(#name.as_ptr()),
            Storage::View => tokens!(#name.start()),
            Storage::Owned => tokens!(#name.out().start()),
            Storage::Array => tokens!(#name.as_mut_ptr()),
        }
    }

    /// What holds the element of a buffer at a position, and where.
    fn element(&self, buffer: ValueId, position: &TokenStream) -> (Ident, Storage, TokenStream) {
        match self.in_strips.get(&buffer) {
            None => {
                let name = self.unit.names.value(buffer).clone();
                (name, self.storage(buffer), position.clone())
            }
            Some(&width) => {
                let storage = match self.array_of(buffer) {
                    Some(_) => Storage::Array,
                    None => Storage::Owned,
                };
                let (name, width) = (lanes::name(self.unit, buffer), usize_literal(width));
                (name, storage, tokens!((#position) * #width + lane))
            }
        }
    }

    /// The number of elements of a buffer that lives on the stack, in front of the points.
    pub(super) fn array_of(&self, buffer: ValueId) -> Option<u64> {
        let is_array = self.storage.get(&buffer) == Some(&Storage::Array);
        self.array_length(buffer).filter(|_| is_array)
    }

    /// The element of a buffer at a position.
    pub(super) fn read(&self, buffer: ValueId, position: &TokenStream) -> TokenStream {
        let (name, storage, position) = self.element(buffer, position);
        match storage {
            Storage::Slice => tokens!(get(#name, #position)),
            Storage::Window => {
                let first = kernel::first(self.unit, buffer);
                tokens!(get(#name, #position - #first))
            }
            Storage::View => tokens!(#name.read(#position)),
            // Steps of a loop of the host read it in a closure, which owns nothing.
            Storage::Owned if !self.in_kernel => tokens!(get(#name.written(), #position)),
            Storage::Owned => tokens!(#name.out().read(#position)),
            Storage::Array => tokens!((*#name.get_unchecked(#position))),
        }
    }

    /// Writes an element of a buffer.
    pub(super) fn write(
        &self,
        buffer: ValueId,
        position: &TokenStream,
        value: &impl ToTokens,
    ) -> TokenStream {
        let (name, storage, position) = self.element(buffer, position);
        match storage {
            Storage::Slice | Storage::Window => {
                unreachable!("a buffer that is written is not a slice")
            }
            Storage::View => tokens!(#name.write(#position, #value);),
            Storage::Owned => tokens!(#name.out().write(#position, #value);),
            Storage::Array => tokens!(*#name.get_unchecked_mut(#position) = #value;),
        }
    }

    /// A `var`, or the current lane of one.
    pub(super) fn place(&self, place: ValueId) -> Word {
        if self.in_lanes.contains(&place) {
            let lanes = lanes::name(self.unit, place);
            Word::More(tokens!(#lanes[lane]))
        } else {
            self.unit.names.value(place).clone().into()
        }
    }

    /// Combines a value into a place.
    pub(super) fn combine(
        &self,
        monoid: Monoid,
        place: ValueId,
        indices: &[ValueId],
        value: &impl ToTokens,
    ) -> TokenStream {
        let element = self.unit.scalar(place);
        match self.unit.kind(place) {
            PlaceKind::Buffer if self.unit.is_scattered(place) => {
                let position = self.unit.position(place, indices);
                let (name, operator) = (
                    self.unit.names.value(place),
                    lanes::operator(monoid, element),
                );
                tokens!(#name.combine(#position, #value, #operator);)
            }
            PlaceKind::Buffer => {
                let position = self.unit.position(place, indices);
                let at = tokens!(at);
                let combined = scalar::combine(monoid, element, &self.read(place, &at), value);
                let write = self.write(place, &at, &combined);
                tokens!({ let at = #position; #write })
            }
            PlaceKind::Var | PlaceKind::Scalar => {
                let place = self.place(place);
                scalar::combine_into(monoid, element, &place, value)
            }
        }
    }
}

/// What is allocated in blocks, at any depth but not in kernels.
#[derive(Default)]
struct Found {
    /// Allocated buffers, in order.
    buffers: Vec<ValueId>,
    /// Everything bound, on which an extent may depend.
    bound: ValueSet,
    /// Buffers that are no arrays: their memory is exchanged, or a library reads or writes it.
    in_memory: ValueSet,
}

impl Found {
    fn look(&mut self, block: &Block<Kernels>) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.bound.extend(&stmt.results);
            match &stmt.op {
                KernelOp::Alloc { .. } | KernelOp::Copy(_) => self.buffers.push(stmt.results[0]),
                KernelOp::Swap(a, b) => self.in_memory.extend([*a, *b]),
                KernelOp::Contract {
                    out,
                    factors: [left, right],
                    ..
                } => self.in_memory.extend([*out, *left, *right]),
                KernelOp::Own(Par { .. }) => continue,
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Load { .. }
                | KernelOp::Store { .. }
                | KernelOp::Combine { .. }
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::For { .. }
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => {}
            }
            for inner in stmt.op.blocks() {
                self.look(inner);
            }
        }
    }
}

/// The name of a kernel.
pub(super) fn kernel_name(number: usize) -> proc_macro2::Ident {
    ident(&format!("K{number}"))
}
