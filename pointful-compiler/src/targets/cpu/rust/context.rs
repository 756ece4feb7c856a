//! What all of one function's emission shares: names, and what is known of each value.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use super::expr::Word;
use super::names::Names;
use super::scalar::{self, Length, Operand, Site};
use super::{tokens, work};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par, PlaceKind};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Extent, Lit, Operation, Program, Scalar, SpanId, Stage, ValueId, ValueSet};
use crate::ops::Prim;
use crate::places::Places;

/// Values that are written out wherever they are used instead of being bound.
#[derive(Clone, Copy)]
enum Inline {
    /// A literal.
    Lit(Lit),
    /// The number of an extent.
    Extent(Extent),
}

/// One function under emission.
pub(super) struct Unit<'a> {
    pub(super) program: &'a Program<Cpu>,
    pub(super) names: Names,
    inline: Vec<Option<Inline>>,
    kinds: Vec<PlaceKind>,
    /// Numbers that are so far from an extent.
    counted: BTreeMap<ValueId, (Extent, i64)>,
    /// Parameters that are constants of the module: code names them and is not handed them, so that
    /// rustc knows their values.
    constants: ValueSet,
    /// Private copies that may be notes instead.
    noted: ValueSet,
    /// Buffers that come into being as what a kernel has combined into them.
    becoming: ValueSet,
    /// Short arrays of lanes, of a strip or to be folded.
    of_lanes: ValueSet,
    /// What a point of each kernel costs, by its number.
    work: Vec<TokenStream>,
    /// The operations of the whole program, unless there are none, or its costs are not known.
    pub(super) operations: Option<TokenStream>,
    /// What the functions of the caller's that it calls take and give.
    pub(super) functions: BTreeMap<u8, Called>,
    /// Places in the source, and one of the user's own.
    places: Option<(&'a Places, Span)>,
}

/// A function that the program knows nothing of.
pub(super) struct Called {
    /// What it takes.
    pub(super) params: Vec<Scalar>,
    /// What it gives.
    pub(super) result: Scalar,
    /// Whether any thread may call it.
    pub(super) anywhere: bool,
}

impl<'a> Unit<'a> {
    /// Looks at every definition once.
    #[cfg(test)]
    pub(super) fn of(program: &'a Program<Cpu>) -> Self {
        Self::with_constants(program, ValueSet::new())
    }

    /// A function of which some parameters are constants: see [`is_constant`](Self::is_constant).
    pub(super) fn with_constants(program: &'a Program<Cpu>, constants: ValueSet) -> Self {
        let mut functions = BTreeMap::new();
        called(program, &program.body, &mut functions);
        let count = functions
            .keys()
            .last()
            .map_or(0, |&last| usize::from(last) + 1);
        let mut unit = Self {
            program,
            names: Names::of(program, count, &constants),
            functions,
            inline: vec![None; program.values.len()],
            kinds: vec![PlaceKind::Scalar; program.values.len()],
            counted: BTreeMap::new(),
            noted: ValueSet::new(),
            becoming: ValueSet::new(),
            of_lanes: ValueSet::new(),
            work: Vec::new(),
            operations: None,
            places: None,
            constants,
        };
        for param in &program.params {
            if program.ty(param.value).rank() > 0 {
                unit.kinds[param.value.index()] = PlaceKind::Buffer;
            }
        }
        unit.look_at(&program.body);
        unit
    }

    fn look_at(&mut self, block: &Block<Cpu>) {
        let program = self.program;
        for stmt in &block.stmts {
            match &stmt.op {
                CpuOp::Const(lit) => self.inline[stmt.results[0].index()] = Some(Inline::Lit(*lit)),
                CpuOp::Size(extent) => {
                    self.inline[stmt.results[0].index()] = Some(Inline::Extent(*extent))
                }
                CpuOp::Alloc { .. } | CpuOp::Copy(_) => {
                    self.kinds[stmt.results[0].index()] = PlaceKind::Buffer;
                }
                CpuOp::Var(_) => self.kinds[stmt.results[0].index()] = PlaceKind::Var,
                CpuOp::Own(Own::Par(par)) => {
                    let Par { accs, folds, .. } = par;
                    for acc in accs {
                        if acc.notes {
                            self.noted.insert(acc.private);
                        }
                        if acc.becomes {
                            self.becoming.insert(acc.target);
                        }
                        self.kinds[acc.private.index()] = self.kinds[acc.target.index()];
                    }
                    for fold in folds {
                        for (private, target) in fold.privates.iter().zip(&fold.targets) {
                            self.kinds[private.index()] = self.kinds[target.index()];
                        }
                    }
                }
                CpuOp::Own(Own::Fold { lanes, .. }) => {
                    self.of_lanes.insert(*lanes);
                }
                CpuOp::Own(Own::ArgFold { lanes, .. }) => self.of_lanes.extend(lanes),
                CpuOp::Own(Own::Strips { width, body, .. }) => {
                    let arrays = body.stmts.iter().flat_map(|stmt| &stmt.results);
                    let of_lanes = [Extent::Const(*width)];
                    let arrays = arrays.filter(|&&array| program.ty(array).dims == of_lanes);
                    self.of_lanes.extend(arrays);
                }
                CpuOp::Prim(prim, args) => self.count(*prim, args, stmt.results[0]),
                CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::Swap(..)
                | CpuOp::Contract { .. }
                | CpuOp::For { .. }
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. }
                | CpuOp::Own(_) => {}
            }
            for inner in stmt.op.blocks() {
                self.look_at(inner);
            }
        }
    }

    /// Whether a value is the float zero.
    pub(super) fn is_zero(&self, value: ValueId) -> bool {
        match self.inline[value.index()] {
            Some(Inline::Lit(lit)) => matches!(lit, Lit::F32(0) | Lit::F64(0)),
            _ => false,
        }
    }

    /// Whether a buffer is a short array of lanes.
    pub(super) fn is_of_lanes(&self, buffer: ValueId) -> bool {
        self.of_lanes.contains(&buffer)
    }

    /// The same program where the costs of these points, from which it has come, are known.
    pub(super) fn costs_as(mut self, kernels: &Program<Kernels>) -> Self {
        self.work = work::of_kernels(&self, kernels);
        self.operations = work::of_program(&self, kernels);
        self
    }

    /// The same program where these places of it are known.
    pub(super) fn panics_at(mut self, places: &'a Places, user: Span) -> Self {
        self.places = Some((places, user));
        self
    }

    /// What panics at a place.
    pub(super) fn site(&self, place: SpanId) -> Site<'_> {
        match self.places {
            Some((places, user)) => self::site(places, user, place),
            None => Site {
                span: Span::mixed_site(),
                words: None,
            },
        }
    }

    /// What a point of a kernel costs.
    pub(super) fn work(&self, kernel: &Par<Cpu>) -> TokenStream {
        let known = self.work.get(kernel.number);
        known.cloned().unwrap_or_else(|| tokens!(1u64))
    }

    /// The type of what holds a function of the caller's.
    pub(super) fn function_type(&self, function: u8, lifetime: &TokenStream) -> TokenStream {
        let Some(called) = self.functions.get(&function) else {
            return tokens!(());
        };
        let params = called.params.iter().map(|&param| scalar::ty(param));
        let result = scalar::ty(called.result);
        let called_as = tokens!(dyn ::core::ops::Fn(#(#params),*) -> #result);
        match called.anywhere {
            true => tokens!(&#lifetime (#called_as + ::core::marker::Sync + #lifetime)),
            false => tokens!(Opaque<#lifetime, #called_as + #lifetime>),
        }
    }

    /// Whether all threads may call all functions that the program calls.
    pub(super) fn runs_anywhere(&self) -> bool {
        self.functions.values().all(|called| called.anywhere)
    }

    /// What a value is.
    pub(super) fn kind(&self, value: ValueId) -> PlaceKind {
        self.kinds[value.index()]
    }

    /// Whether a buffer comes into being as what a kernel has combined into it.
    pub(super) fn becomes(&self, buffer: ValueId) -> bool {
        self.becoming.contains(&buffer)
    }

    /// Whether a private copy is one that points only combine into, at computed places.
    pub(super) fn is_noted(&self, private: ValueId) -> bool {
        self.noted.contains(&private)
    }

    /// Whether a parameter is a constant of the module.
    pub(super) fn is_constant(&self, value: ValueId) -> bool {
        self.constants.contains(&value)
    }

    /// The machine type of a value or of a place's elements.
    pub(super) fn scalar(&self, value: ValueId) -> Scalar {
        self.program.elem(value).repr()
    }

    /// The Rust type of a value or of a place's elements.
    pub(super) fn ty(&self, value: ValueId) -> Word {
        scalar::ty(self.scalar(value))
    }

    /// The extents of a buffer's axes.
    pub(super) fn dims(&self, buffer: ValueId) -> &'a [Extent] {
        &self.program.ty(buffer).dims
    }

    /// The extent whose number a value is, if it is one that is written out.
    pub(super) fn as_extent(&self, value: ValueId) -> Option<Extent> {
        match self.inline[value.index()]? {
            Inline::Extent(extent) => Some(extent),
            Inline::Lit(Lit::Int(Scalar::Usize, number)) => Some(Extent::Const(number as u64)),
            Inline::Lit(_) => None,
        }
    }

    /// Notes what is so far from an extent. No extent is so large that a number near it would be
    /// out of range.
    fn count(&mut self, prim: Prim, args: &[ValueId], result: ValueId) {
        let sign = match prim {
            Prim::Cast(Scalar::I64 | Scalar::Usize) => 0,
            Prim::Add => 1,
            Prim::Sub => -1,
            _ => return,
        };
        let near = match (self.counted_from(args[0]), args.get(1)) {
            (Some(near), None) => Some(near),
            (Some((extent, far)), Some(&by)) => self
                .integer(by)
                .and_then(|by| Some((extent, far.checked_add(by.checked_mul(sign)?)?))),
            (None, _) => None,
        };
        if let Some(near) = near {
            self.counted.insert(result, near);
        }
    }

    /// The extent that a number is near, and how far it is from that.
    pub(super) fn counted_from(&self, value: ValueId) -> Option<(Extent, i64)> {
        match self.inline[value.index()] {
            Some(Inline::Extent(extent)) => Some((self.resolve(extent), 0)),
            Some(Inline::Lit(_)) => None,
            None => self.counted.get(&value).copied(),
        }
    }

    /// The number that a value is, if it is a whole one that is written out.
    pub(super) fn integer(&self, value: ValueId) -> Option<i64> {
        match self.inline[value.index()]? {
            Inline::Lit(Lit::Int(_, number)) => i64::try_from(number).ok(),
            Inline::Lit(_) | Inline::Extent(_) => None,
        }
    }

    /// Whether a value is bound to a variable, rather than written out where it is used.
    pub(super) fn is_bound(&self, value: ValueId) -> bool {
        self.inline[value.index()].is_none()
    }

    /// A scalar where it is used.
    pub(super) fn value(&self, value: ValueId) -> Word {
        match self.inline[value.index()] {
            Some(Inline::Lit(lit)) => scalar::literal(lit),
            Some(Inline::Extent(extent)) => self.extent(extent),
            None => self.names.value(value).clone().into(),
        }
    }

    /// A scalar as an operand of a primitive.
    pub(super) fn operand(&self, value: ValueId) -> Operand {
        Operand {
            tokens: self.value(value),
            elem: self.program.elem(value),
        }
    }

    /// An extent that does not name another one: follows values that are extents or literals.
    pub(super) fn resolve(&self, extent: Extent) -> Extent {
        match extent {
            Extent::Value(value) => match self.as_extent(value) {
                Some(inner) => self.resolve(inner),
                None => extent,
            },
            Extent::Const(_) | Extent::Size(_) => extent,
        }
    }

    /// The number of an extent, as a `usize`.
    pub(super) fn extent(&self, extent: Extent) -> Word {
        match self.resolve(extent) {
            Extent::Const(number) => usize_literal(number),
            Extent::Size(size) => self.names.size(size).clone().into(),
            Extent::Value(value) => self.names.value(value).clone().into(),
        }
    }

    /// The number of an extent, and what messages call the set.
    pub(super) fn length(&self, extent: Extent) -> Length {
        Length {
            tokens: self.extent(extent),
            what: called_in_messages(self.program, self.resolve(extent)),
        }
    }

    /// The product of extents; `usize::MAX` if it is larger than that.
    pub(super) fn product(&self, extents: &[Extent]) -> TokenStream {
        match self.const_product(extents) {
            Some(number) => usize_literal(number).into_token_stream(),
            None => {
                let mut factors = extents.iter().map(|&extent| self.extent(extent));
                let first = factors.next().unwrap_or_else(|| usize_literal(1));
                tokens!(#first #(.saturating_mul(#factors))*)
            }
        }
    }

    /// The product of extents that are all constant.
    pub(super) fn const_product(&self, extents: &[Extent]) -> Option<u64> {
        extents
            .iter()
            .try_fold(1_u64, |product, &extent| match self.resolve(extent) {
                Extent::Const(number) => product.checked_mul(number),
                Extent::Size(_) | Extent::Value(_) => None,
            })
    }

    /// The row-major position of an element.
    pub(super) fn position(&self, buffer: ValueId, indices: &[ValueId]) -> TokenStream {
        let mut factors = self.dims(buffer).iter().zip(indices);
        let Some((_, &first)) = factors.next() else {
            return usize_literal(0).into_token_stream();
        };
        let mut position = self.value(first).into_token_stream();
        let mut nested = false;
        for (&extent, &index) in factors {
            let (extent, index) = (self.extent(extent), self.value(index));
            position = if nested {
                tokens!((#position) * #extent + #index)
            } else {
                tokens!(#position * #extent + #index)
            };
            nested = true;
        }
        position
    }
}

/// Finds the functions of the caller's that are called.
fn called(program: &Program<Cpu>, block: &Block<Cpu>, functions: &mut BTreeMap<u8, Called>) {
    for stmt in &block.stmts {
        if let CpuOp::Prim(Prim::Call(call), args) = &stmt.op {
            let params = args.iter().map(|&arg| program.elem(arg).repr());
            let called = Called {
                params: params.collect(),
                result: call.result,
                anywhere: call.anywhere,
            };
            functions.insert(call.function, called);
        }
        for inner in stmt.op.blocks() {
            called(program, inner, functions);
        }
    }
}

/// What messages call the set of an extent.
pub(crate) fn called_in_messages<S: Stage>(program: &Program<S>, extent: Extent) -> String {
    match extent {
        Extent::Size(size) => format!("`{}`", program.sizes[size.0 as usize].name),
        Extent::Value(value) => match &program.values[value.index()].name {
            Some(name) => format!("`0..{name}`"),
            None => "a range".to_owned(),
        },
        Extent::Const(_) => "a set".to_owned(),
    }
}

/// What panics at a place of the source, if that is known.
pub(crate) fn site<'p>(places: &'p Places, user: Span, place: SpanId) -> Site<'p> {
    match places.known(place) {
        Some(span) => Site {
            span: span.resolved_at(user),
            words: places.words(place),
        },
        None => Site {
            span: Span::mixed_site(),
            words: None,
        },
    }
}

/// A `usize`.
pub(crate) fn usize_literal(number: u64) -> Word {
    scalar::literal(Lit::Int(Scalar::Usize, number.into()))
}
