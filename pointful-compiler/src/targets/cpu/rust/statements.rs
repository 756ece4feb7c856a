//! Statements that run one after the other, of the host or of one iteration of a kernel.

use std::collections::BTreeMap;

use proc_macro2::{Literal, Span, TokenStream};
use quote::ToTokens;
use smallvec::SmallVec;

use super::angles::{self, Angles};
use super::context::{Unit, usize_literal};
use super::expr::{Expr, append, bind, choose, set};
use super::names::ident;
use super::{captures, kernels, multiversion, scalar, tile, tokens, transpose};
use crate::analysis::angles::has_near;
use crate::ir::stages::cpu::{Along, Cpu, CpuOp, Mask, Own, PlaceKind};
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

/// The emission of one function body.
pub(super) struct Body<'u> {
    pub(super) unit: &'u Unit<'u>,
    storage: BTreeMap<ValueId, Storage>,
    /// Buffers whose memory was made before the outermost loop around their `alloc`.
    hoisted: ValueSet,
    /// Buffers that the caller may get.
    pub(super) escaping: ValueSet,
    /// Whether what is emitted is done for a strip, and not by one of its lanes.
    of_strip: bool,
    /// Whether it is what a lane does.
    of_lane: bool,
    /// Whether a loop is open, so that no more buffers are moved before it.
    in_loop: bool,
    /// Whether this is one iteration of a kernel: small buffers may live on the stack, because
    /// nobody else needs a view of them, and nothing is given to other threads.
    in_kernel: bool,
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
            escaping: ValueSet::new(),
            of_strip: false,
            of_lane: false,
            in_loop: false,
            in_kernel,
            angles: Angles::Any,
            kernels: Vec::new(),
        }
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

    /// How a buffer is reached.
    pub(super) fn storage(&self, buffer: ValueId) -> Storage {
        if self.unit.is_constant(buffer) {
            return Storage::Slice;
        }
        self.storage[&buffer]
    }

    /// The statements of a block.
    pub(super) fn block(&mut self, block: &Block<Cpu>) -> TokenStream {
        self.block_of(&block.stmts.iter().collect::<Vec<_>>())
    }

    /// Some statements of a block.
    pub(super) fn block_of(&mut self, stmts: &[&Stmt<Cpu>]) -> TokenStream {
        let mut emitted = TokenStream::new();
        for stmt in stmts {
            self.stmt(stmt, &mut emitted);
        }
        emitted
    }

    /// Writes what most statements are token by token.
    fn stmt(&mut self, stmt: &Stmt<Cpu>, emitted: &mut TokenStream) {
        let unit = self.unit;
        let name = || unit.names.value(stmt.results[0]);
        let tokens = match &stmt.op {
            // Written out where they are used.
            CpuOp::Const(_) | CpuOp::Size(_) => return,
            CpuOp::Prim(prim, args) => {
                let name = name();
                let operands: SmallVec<[_; 4]> =
                    args.iter().map(|&arg| unit.operand(arg)).collect();
                let prim = *prim;
                let near = self.angles == Angles::Near && has_near(prim, operands[0].elem);
                let value = if near {
                    Expr::Tokens(angles::call(prim, &operands[0].tokens))
                } else {
                    scalar::prim(
                        prim,
                        &operands,
                        |extent| unit.length(extent),
                        |function| unit.names.function(function).to_token_stream(),
                        || unit.site(stmt.span),
                    )
                };
                return bind(emitted, name, &value);
            }
            CpuOp::Load { buffer, indices } => {
                let value = self.read(*buffer, &unit.position(*buffer, indices));
                return bind(emitted, name(), &value);
            }
            CpuOp::Get(place) => return bind(emitted, name(), unit.names.value(*place)),
            CpuOp::Set { place, value } => {
                return set(emitted, unit.names.value(*place), &unit.value(*value));
            }
            CpuOp::If {
                cond,
                then,
                otherwise,
            } => {
                let then = self.block(then);
                let otherwise = Some(self.block(otherwise));
                let otherwise = otherwise.filter(|otherwise| !otherwise.is_empty());
                return choose(emitted, &unit.value(*cond), then, otherwise);
            }
            // To an optimiser several choices by one condition are one branch, and lanes with
            // branches are no vectors.
            CpuOp::Select(cond, then, otherwise) if self.of_lane && unit.is_zero(*otherwise) => {
                let (name, cond, then) = (name(), unit.value(*cond), unit.value(*then));
                tokens!(let #name = masked(#then, #cond);)
            }
            CpuOp::Select(cond, then, otherwise) if self.of_lane && unit.is_zero(*then) => {
                let (name, cond, otherwise) = (name(), unit.value(*cond), unit.value(*otherwise));
                tokens!(let #name = masked(#otherwise, !#cond);)
            }
            CpuOp::Select(cond, then, otherwise) => {
                let name = name();
                let (cond, then, otherwise) =
                    (unit.value(*cond), unit.value(*then), unit.value(*otherwise));
                tokens!(let #name = if #cond { #then } else { #otherwise };)
            }
            CpuOp::Alloc { .. } if unit.becomes(stmt.results[0]) => {
                self.storage.insert(stmt.results[0], Storage::Owned);
                TokenStream::new()
            }
            CpuOp::Alloc { fill } => {
                let stack = if self.hoisted.contains(&stmt.results[0]) {
                    None
                } else {
                    self.array_length(stmt.results[0], STACK_BYTES)
                };
                if let Some(length) = stack {
                    self.storage.insert(stmt.results[0], Storage::Array);
                    let zero = Lit::of(unit.scalar(stmt.results[0]), 0.0);
                    let (name, fill) = (name(), scalar::literal(fill.unwrap_or(zero)));
                    let length = usize_literal(length);
                    tokens!(let mut #name = [#fill; #length];)
                } else {
                    let declared = self.alloc_here(stmt.results[0]);
                    let filled = fill.map(|fill| self.fill(stmt.results[0], fill));
                    tokens!(#declared #filled)
                }
            }
            // What looks at the copy has it in memory, and what looks at the array need not: an optimiser that saw that they are
            // the same would have both there.
            CpuOp::Copy(source)
                if self.of_strip && self.storage.get(source) == Some(&Storage::Array) =>
            {
                self.storage.insert(stmt.results[0], Storage::Array);
                let (name, source) = (name(), unit.names.value(*source));
                tokens!(let mut #name = ::core::hint::black_box(#source);)
            }
            CpuOp::Copy(source) => {
                let declared = self.alloc_here(stmt.results[0]);
                let copied = self.each_element(stmt.results[0], &self.read(*source, &tokens!(at)));
                tokens!(#declared #copied)
            }
            CpuOp::Store {
                buffer,
                indices,
                value,
            } => self.write(
                *buffer,
                &unit.position(*buffer, indices),
                &unit.value(*value),
            ),
            CpuOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => self.combine(*monoid, *place, indices, &unit.value(*value)),
            CpuOp::Var(initial) => {
                let (name, ty, initial) = (name(), unit.ty(stmt.results[0]), unit.value(*initial));
                tokens!(let mut #name: #ty = #initial;)
            }
            CpuOp::Swap(a, b) => {
                let (a, b) = (unit.names.value(*a), unit.names.value(*b));
                tokens!(::core::mem::swap(&mut #a, &mut #b);)
            }
            CpuOp::Contract {
                out,
                factors: [left, right],
                along,
                add,
                absorb,
                mask,
            } => {
                let arrays = [out, left, right].into_iter().zip(along);
                let dims = arrays.map(|(array, along)| self.contracted(*array, along, 0));
                if let Some(Mask { buffer, along }) = mask {
                    let contract = match self.in_kernel {
                        false => tokens!(contract_where),
                        true => tokens!(contract_where_here),
                    };
                    let of_mask = self.contracted(*buffer, along, 0);
                    let [left, right, mask] =
                        [*left, *right, *buffer].map(|array| self.slice(array));
                    let out = self.out(*out);
                    return append(
                        emitted,
                        tokens!(#contract(#out, #left, #right, #mask, [#(#dims,)* #of_mask]);),
                    );
                }
                let contract = match (self.in_kernel, absorb) {
                    (false, false) => tokens!(contract),
                    (true, false) => tokens!(contract_here),
                    (false, true) => tokens!(contract_absorb),
                    (true, true) => tokens!(contract_absorb_here),
                };
                let [left, right] = [*left, *right].map(|factor| self.slice(factor));
                let out = self.out(*out);
                tokens!(#contract(#out, #left, #right, [#(#dims),*], #add);)
            }
            CpuOp::For {
                extent,
                reverse,
                body,
            } => self.in_outermost_loop(&[body], |emit| emit.repeated(*extent, *reverse, body)),
            CpuOp::Own(own) => self.own(own, &stmt.results),
            CpuOp::Assert {
                cond,
                message,
                shown,
            } => {
                let cond = unit.value(*cond);
                let message = message.to_string();
                let shown = shown.iter().map(|&value| unit.value(value));
                let message = tokens!(::core::format_args!(#message #(, #shown)*));
                let fails = unit.site(stmt.span).call(&tokens!(Failed), "here", message);
                tokens!(if !#cond { #fails })
            }
            CpuOp::While { cond, body } => self.in_outermost_loop(&[cond, body], |emit| {
                let test = emit.block(cond);
                let go_on = unit.value(cond.results[0]);
                let inner = emit.step(body);
                tokens!(loop { #test if !#go_on { break; } #inner })
            }),
        };
        append(emitted, tokens);
    }

    /// A loop.
    fn repeated(&mut self, extent: Extent, reverse: bool, body: &Block<Cpu>) -> TokenStream {
        let unit = self.unit;
        let (stop, index) = (unit.extent(extent), body.params[0]);
        if reverse {
            let (index, inner) = (unit.names.value(index), self.step(body));
            return tokens!(for #index in ::core::iter::Iterator::rev(0..#stop) { #inner });
        }
        self.counted(index, body, &tokens!(0usize), &stop)
    }

    /// An iteration of a loop. That of a strip is vectors already: where it could, an optimiser
    /// would rather make vectors of iterations, with gathers; it does not look beyond `black_box`.
    fn step(&mut self, body: &Block<Cpu>) -> TokenStream {
        let inner = self.block(body);
        match self.of_strip {
            true => tokens!(#inner ::core::hint::black_box(());),
            false => inner,
        }
    }

    /// An operation that other stages have not.
    fn own(&mut self, own: &Own, results: &[ValueId]) -> TokenStream {
        let unit = self.unit;
        match own {
            Own::Par(par) => kernels::launch(self, par),
            Own::Tile(steps) => tile::emit(self, steps),
            Own::Transpose { extents, body } => transpose::emit(self, *extents, body),
            Own::Multiversion(body) => multiversion::emit(self, body),
            Own::Bound {
                extent,
                number,
                terms,
            } => {
                let (name, bound) = (
                    unit.names.value(results[0]),
                    bound(unit, *extent, *number, terms),
                );
                tokens!(let #name = #bound;)
            }
            Own::Range { from, to, body, .. } => {
                let [start, stop] = [from, to].map(|&bound| unit.value(bound));
                self.counted(body.params[0], body, &start, &stop)
            }
            Own::Strips {
                width,
                overlapping,
                from,
                to,
                body,
                ..
            } => {
                let [strip, next] =
                    [body.params[0], results[0]].map(|value| unit.names.value(value));
                let [start, stop] = [from, to].map(|&bound| unit.value(bound));
                let declared = self.hoist_from_strips(body, *width);
                let width = usize_literal(*width);
                let around = std::mem::replace(&mut self.of_strip, true);
                let inner = self.block(body);
                self.of_strip = around;
                let (go_on, back) = if *overlapping {
                    (tokens!(#next < #stop), tokens!(min(#next, #stop - #width)))
                } else {
                    (tokens!(#stop - #next >= #width), tokens!(#next))
                };
                // A loop may end before it begins.
                tokens! {
                    let mut #next = #start;
                    if #stop.saturating_sub(#next) >= #width {
                        #declared
                        while #go_on {
                            let #strip = #back;
                            #inner
                            #next = #strip + #width;
                        }
                    }
                }
            }
            Own::Lanes { strip, body, .. } => {
                let [lane, index, strip] =
                    [body.params[0], body.params[1], *strip].map(|value| unit.names.value(value));
                let count = unit
                    .program
                    .elem(body.params[0])
                    .extent()
                    .unwrap_or(Extent::Const(0));
                let count = unit.extent(count);
                (self.of_strip, self.of_lane) = (false, true);
                let inner = self.block(body);
                (self.of_strip, self.of_lane) = (true, false);
                tokens! {
                    for #lane in 0..#count {
                        let #index = #strip + #lane;
                        #inner
                    }
                }
            }
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                let operator = scalar::operator(*monoid, unit.scalar(*place));
                let lanes = unit.names.value(*lanes);
                self.combine(
                    *monoid,
                    *place,
                    &[],
                    &tokens!(fold_lanes(#lanes, #operator)),
                )
            }
            Own::ArgCombine {
                monoid,
                best,
                at,
                lane,
                value,
                place,
            } => {
                let (elem, position) = (unit.scalar(*best), unit.position(*best, &[*lane]));
                let [so_far, there] = [*best, *at].map(|array| self.read(array, &position));
                let [value, place] = [*value, *place].map(|value| unit.value(value));
                let better = scalar::better(*monoid, elem, &value, &so_far);
                let best = self.write(
                    *best,
                    &position,
                    &tokens!(if taken { #value } else { #so_far }),
                );
                let at = self.write(
                    *at,
                    &position,
                    &tokens!(if taken { #place } else { #there }),
                );
                tokens!(let taken = #better; #best #at)
            }
            Own::ArgFold {
                monoid,
                best,
                at,
                lanes,
            } => {
                let elem = unit.scalar(*best);
                let [best_lanes, at_lanes] = lanes.map(|lanes| unit.names.value(lanes));
                let [best, at] = [*best, *at].map(|place| unit.names.value(place));
                let better = scalar::better(*monoid, elem, &tokens!(x), &tokens!(y));
                let found = scalar::better(*monoid, elem, &tokens!(found), best);
                tokens! {
                    let (found, place) = first_extremum(#best_lanes, #at_lanes, |x, y| #better);
                    if #found {
                        #best = found;
                        #at = place;
                    }
                }
            }
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

    /// A loop that counts upwards.
    pub(super) fn counted(
        &mut self,
        index: ValueId,
        body: &Block<Cpu>,
        start: &impl ToTokens,
        stop: &impl ToTokens,
    ) -> TokenStream {
        let (index, inner) = (self.unit.names.value(index), self.step(body));
        tokens!(for #index in #start..#stop { #inner })
    }

    /// Emits a loop; if it is an outermost one, the buffers allocated within it are made before it,
    /// once.
    ///
    /// What such a buffer holds at its `alloc` is undefined, so it may as well be what the
    /// iteration before left there.
    fn in_outermost_loop(
        &mut self,
        blocks: &[&Block<Cpu>],
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
    /// Not those whose extents are computed within, and not those of kernels launched or of strips
    /// within.
    pub(super) fn hoist(&mut self, blocks: &[&Block<Cpu>]) -> TokenStream {
        let mut found = Found::default();
        for block in blocks {
            found.look(block);
        }
        self.in_loop = true;
        self.declare(&found, STACK_BYTES)
    }

    /// Declares, in front of strips, what all of them use one after the other. What is made anew for
    /// each strip is an array of lanes, so that nothing is handed from one to the next.
    fn hoist_from_strips(&mut self, body: &Block<Cpu>, width: u64) -> TokenStream {
        let mut found = Found::default();
        found.look(body);
        let lanes = Extent::Const(width);
        let buffers = &mut found.buffers;
        buffers.retain(|&buffer| self.unit.dims(buffer) != [lanes]);
        self.declare(&found, STACK_BYTES.saturating_mul(width))
    }

    /// Declares buffers of known extents; on the stack those of up to so many bytes.
    fn declare(&mut self, found: &Found, stack_bytes: u64) -> TokenStream {
        let mut declared = TokenStream::new();
        for &buffer in &found.buffers {
            // Declared where they are filled.
            if self.unit.is_of_lanes(buffer) {
                continue;
            }
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
                .array_length(buffer, stack_bytes)
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
        declared
    }

    /// The number of elements of a buffer that may live on the stack, as it has no more bytes.
    fn array_length(&self, buffer: ValueId, stack_bytes: u64) -> Option<u64> {
        if !self.in_kernel && !self.unit.is_of_lanes(buffer) {
            return None;
        }
        let length = self.unit.const_product(self.unit.dims(buffer))?;
        let bytes = length.checked_mul(self.unit.scalar(buffer).bytes())?;
        (bytes <= stack_bytes).then_some(length)
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
        if self.escaping.contains(&buffer) {
            tokens!(let mut #name = OutBuf::<#ty>::for_vec(#length);)
        } else {
            tokens!(let mut #name = OutBuf::<#ty>::new(#length);)
        }
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

    /// The element of a buffer at a position.
    pub(super) fn read(&self, buffer: ValueId, position: &TokenStream) -> TokenStream {
        let name = self.unit.names.value(buffer);
        match self.storage(buffer) {
            Storage::Slice => tokens!(get(#name, #position)),
            Storage::Window => {
                let first = captures::first(self.unit, buffer);
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
        let name = self.unit.names.value(buffer);
        match self.storage(buffer) {
            Storage::Slice | Storage::Window => {
                unreachable!("a buffer that is written is not a slice")
            }
            Storage::View => tokens!(#name.write(#position, #value);),
            Storage::Owned => tokens!(#name.out().write(#position, #value);),
            Storage::Array => tokens!(*#name.get_unchecked_mut(#position) = #value;),
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
            PlaceKind::Buffer if self.unit.is_noted(place) => {
                let position = self.unit.position(place, indices);
                let (name, operator) = (
                    self.unit.names.value(place),
                    scalar::operator(monoid, element),
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
                let place = self.unit.names.value(place);
                scalar::combine_into(monoid, element, place, value)
            }
        }
    }
}

/// What is allocated in blocks, at any depth but not in kernels and strips.
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
    fn look(&mut self, block: &Block<Cpu>) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.bound.extend(&stmt.results);
            match &stmt.op {
                CpuOp::Alloc { .. } | CpuOp::Copy(_) => self.buffers.push(stmt.results[0]),
                CpuOp::Swap(a, b) => self.in_memory.extend([*a, *b]),
                CpuOp::Contract {
                    out, factors, mask, ..
                } => {
                    self.in_memory.extend(factors.iter().copied().chain([*out]));
                    self.in_memory.extend(mask.as_ref().map(|mask| mask.buffer));
                }
                CpuOp::Own(Own::Par(_)) => continue,
                CpuOp::Own(_) => {}
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::For { .. }
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. } => {}
            }
            let before = self.buffers.len();
            for inner in stmt.op.blocks() {
                self.look(inner);
            }
            if let CpuOp::Own(Own::Strips { .. }) = &stmt.op {
                self.buffers.truncate(before);
            }
        }
    }
}

/// The bound that is nearest to a sum.
fn bound(unit: &Unit<'_>, extent: Extent, number: i64, terms: &[(ValueId, bool)]) -> TokenStream {
    let length = unit.extent(extent);
    let is_length = |&(term, minus): &(ValueId, bool)| {
        !minus && unit.as_extent(term).map(|term| unit.resolve(term)) == Some(unit.resolve(extent))
    };
    let usize_of = |number: i64| usize_literal(number.unsigned_abs());
    match terms {
        [] if number <= 0 => usize_literal(0).into_token_stream(),
        [] => {
            let number = usize_of(number);
            tokens!(min(#number, #length))
        }
        [term] if is_length(term) && number >= 0 => length.into_token_stream(),
        [term] if is_length(term) => {
            let number = usize_of(number);
            tokens!(#length.saturating_sub(#number))
        }
        _ => {
            let mut number = Literal::i128_suffixed(i128::from(number));
            number.set_span(Span::mixed_site());
            let terms = terms.iter().map(|&(term, minus)| {
                let term = unit.value(term);
                match minus {
                    true => tokens!(-(#term as i128)),
                    false => tokens!(+(#term as i128)),
                }
            });
            tokens!(min(#length, nearest(#number #(#terms)*)))
        }
    }
}

/// The name of a kernel.
pub(super) fn kernel_name(number: usize) -> proc_macro2::Ident {
    ident(&format!("K{number}"))
}
