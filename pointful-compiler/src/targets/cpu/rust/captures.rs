//! Closure conversion: what the body of a kernel, or of a loop of the host that is a function of its
//! own, needs from the host is a struct.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};

use super::context::Unit;
use super::expr::Word;
use super::merging::Copies;
use super::names::ident;
use super::statements::{Body, Storage};
use super::{scalar, tile, tokens};
use crate::ir::stages::cpu::{Cpu, CpuOp, Imperative, Par, PlaceKind, Tile};
use crate::ir::{Block, Extent, Operation, Scalar, SizeId, ValueId, ValueSet};
use crate::ops::Prim;

/// The variable that holds the first element of a buffer that a kernel may read.
pub(super) fn first(unit: &Unit<'_>, buffer: ValueId) -> Ident {
    ident(&format!("{}_first", unit.names.value(buffer)))
}

/// What a body needs from the host.
#[derive(Default)]
pub(super) struct Captures {
    sizes: BTreeSet<SizeId>,
    /// Scalars, and what `var`s hold at launch.
    scalars: ValueSet,
    buffers: BTreeMap<ValueId, Access>,
    /// Functions of the caller's.
    functions: BTreeSet<u8>,
    /// The host's variables that it sets.
    pub(super) set: ValueSet,
    /// What the body binds itself.
    bound: ValueSet,
}

/// What it does to a buffer.
#[derive(Clone, Copy, Default, PartialEq)]
enum Access {
    #[default]
    Read,
    /// It reads a part of it, while others write elsewhere.
    Window,
    Write,
}

/// A field of the struct.
enum Field {
    /// A number.
    Plain(Ident, Scalar),
    /// A function of the caller's.
    Function(u8),
    /// A buffer as a slice.
    Read(ValueId),
    /// Some of a buffer as a slice,
    Window(ValueId),
    /// and where that begins.
    First(ValueId),
    /// A buffer as an output view.
    Written(ValueId),
}

impl Captures {
    /// What a kernel needs.
    pub(super) fn of(unit: &Unit<'_>, par: &Par<Cpu>) -> Self {
        let (mut captures, copies) = (Self::default(), Copies::of(par));
        captures
            .bound
            .extend(copies.all().map(|(_, private, _)| private));
        for (target, ..) in copies.all() {
            // The identity has the extents of the target.
            captures.extents(unit, unit.dims(target));
        }
        // Where a piece lies is told by its range of points; only rows have to know how long they are.
        captures.extents(unit, par.extents.get(1..).unwrap_or_default());
        captures.block(unit, &par.body);
        for fold in copies.folds {
            captures.block(unit, &fold.join);
        }
        captures
    }

    /// Adds what a block needs.
    pub(super) fn block(&mut self, unit: &Unit<'_>, block: &Block<Cpu>) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            let written = match &stmt.op {
                CpuOp::Store { buffer: place, .. } | CpuOp::Combine { place, .. } => {
                    vec![*place]
                }
                CpuOp::Swap(a, b) => vec![*a, *b],
                CpuOp::Contract {
                    out, factors, mask, ..
                } => {
                    // The library is told how long each axis is.
                    let mask = mask.as_ref().map(|mask| &mask.buffer);
                    for &array in factors.iter().chain([out]).chain(mask) {
                        self.extents(unit, unit.dims(array));
                    }
                    vec![*out]
                }
                CpuOp::Alloc { .. } | CpuOp::Copy(_) => {
                    self.extents(unit, unit.dims(stmt.results[0]));
                    Vec::new()
                }
                CpuOp::Prim(
                    Prim::Check(extent)
                    | Prim::Wrap(extent)
                    | Prim::ClampTo(extent)
                    | Prim::Mirror(extent)
                    | Prim::InRange(extent),
                    _,
                )
                | CpuOp::For { extent, .. } => {
                    self.extents(unit, &[*extent]);
                    Vec::new()
                }
                CpuOp::Prim(Prim::Call(called), _) => {
                    self.functions.insert(called.function);
                    Vec::new()
                }
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. } => Vec::new(),
                CpuOp::Own(own) => {
                    self.extents(unit, Cpu::extents(own));
                    Vec::new()
                }
            };
            for operand in stmt.op.operands() {
                self.value(unit, operand, written.contains(&operand));
            }
            if let CpuOp::Set { place, .. } | CpuOp::Combine { place, .. } = &stmt.op
                && unit.kind(*place) == PlaceKind::Var
                && !self.bound.contains(place)
            {
                self.set.insert(*place);
            }
            self.bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                self.block(unit, inner);
            }
        }
        for &result in &block.results {
            self.value(unit, result, false);
        }
    }

    fn value(&mut self, unit: &Unit<'_>, value: ValueId, written: bool) {
        if unit.is_constant(value) {
            self.bound.insert(value);
        }
        match unit.kind(value) {
            PlaceKind::Buffer => {
                // A position does not depend on how long the first axis is.
                self.extents(unit, unit.dims(value).get(1..).unwrap_or_default());
                if !self.bound.contains(&value) {
                    let access = self.buffers.entry(value).or_default();
                    if written {
                        *access = Access::Write;
                    }
                }
            }
            PlaceKind::Var | PlaceKind::Scalar => match unit.as_extent(value) {
                Some(extent) => self.extents(unit, &[extent]),
                None if unit.is_bound(value) && !self.bound.contains(&value) => {
                    self.scalars.insert(value);
                }
                None => {}
            },
        }
    }

    fn extents(&mut self, unit: &Unit<'_>, extents: &[Extent]) {
        for &extent in extents {
            match unit.resolve(extent) {
                Extent::Const(_) => {}
                Extent::Size(size) => {
                    self.sizes.insert(size);
                }
                Extent::Value(value) => {
                    if !self.bound.contains(&value) && !unit.is_constant(value) {
                        self.scalars.insert(value);
                    }
                }
            }
        }
    }

    /// How the buffers are reached.
    pub(super) fn storage(&self) -> BTreeMap<ValueId, Storage> {
        let how = |access| match access {
            Access::Read => Storage::Slice,
            Access::Window => Storage::Window,
            Access::Write => Storage::View,
        };
        let buffers = self.buffers.iter();
        buffers
            .map(|(&buffer, &access)| (buffer, how(access)))
            .collect()
    }

    fn fields(&self, unit: &Unit<'_>) -> Vec<Field> {
        let sizes = self
            .sizes
            .iter()
            .map(|&size| Field::Plain(unit.names.size(size).clone(), Scalar::Usize));
        let scalars = self
            .scalars
            .iter()
            .map(|value| Field::Plain(unit.names.value(value).clone(), unit.scalar(value)));
        let buffers = self
            .buffers
            .iter()
            .flat_map(|(&buffer, access)| match access {
                Access::Read => vec![Field::Read(buffer)],
                Access::Window => vec![Field::Window(buffer), Field::First(buffer)],
                Access::Write => vec![Field::Written(buffer)],
            });
        let functions = self.functions.iter().map(|&at| Field::Function(at));
        sizes
            .chain(scalars)
            .chain(functions)
            .chain(buffers)
            .collect()
    }

    /// From now on what is read of buffers that a tile writes is a part of them.
    pub(super) fn window(&mut self, tile: &Tile) {
        for (buffer, access) in &mut self.buffers {
            if *access == Access::Read && tile.written(*buffer).is_some() {
                *access = Access::Window;
            }
        }
    }

    /// One of this struct of what the host has, which reads of some buffers only near rows.
    pub(super) fn instance(
        &self,
        host: &Body<'_>,
        kernel: &Ident,
        in_rows: Option<&Tile>,
    ) -> TokenStream {
        let unit = host.unit;
        let fields = self.fields(unit).into_iter().map(|field| match field {
            Field::Plain(name, _) => tokens!(#name),
            Field::Function(at) => {
                let name = unit.names.function(at);
                tokens!(#name)
            }
            Field::Read(buffer) => {
                let name = unit.names.value(buffer);
                let slice = host.slice(buffer);
                tokens!(#name: #slice)
            }
            Field::Window(buffer) => {
                let name = unit.names.value(buffer);
                let window = in_rows.and_then(|tile| {
                    let axis = tile.written(buffer)?;
                    Some(tile::window(unit, tile, buffer, axis))
                });
                tokens!(#name: #window)
            }
            Field::First(buffer) => {
                let name = first(unit, buffer);
                let first = in_rows.and_then(|tile| {
                    let axis = tile.written(buffer)?;
                    Some(tile::first(unit, tile, buffer, axis))
                });
                tokens!(#name: #first)
            }
            Field::Written(buffer) => {
                let name = unit.names.value(buffer);
                let view = host.out(buffer);
                tokens!(#name: #view)
            }
        });
        tokens!(#kernel { #(#fields),* })
    }

    /// The struct of this name.
    pub(super) fn environment(&self, unit: &Unit<'_>, kernel: &Ident) -> Environment {
        let fields = self.fields(unit);
        let names: Vec<Ident> = fields
            .iter()
            .map(|field| match field {
                Field::Plain(name, _) => name.clone(),
                Field::Function(at) => unit.names.function(*at).clone(),
                Field::Read(buffer) | Field::Window(buffer) | Field::Written(buffer) => {
                    unit.names.value(*buffer).clone()
                }
                Field::First(buffer) => first(unit, *buffer),
            })
            .collect();
        let types = |lifetime: TokenStream| -> Vec<Word> {
            fields
                .iter()
                .map(|field| match field {
                    Field::Plain(_, element) => scalar::ty(*element),
                    Field::Function(at) if lifetime.is_empty() => {
                        Word::More(unit.function_type(*at, &tokens!('_)))
                    }
                    Field::Function(at) => Word::More(unit.function_type(*at, &lifetime)),
                    Field::Read(buffer) | Field::Window(buffer) => {
                        let ty = unit.ty(*buffer);
                        Word::More(tokens!(&#lifetime [#ty]))
                    }
                    Field::First(_) => scalar::ty(Scalar::Usize),
                    Field::Written(buffer) => {
                        let ty = unit.ty(*buffer);
                        Word::More(tokens!(Out<#ty>))
                    }
                })
                .collect()
        };
        let field_types = types(tokens!('a));
        let borrows = fields.iter().any(|field| {
            matches!(
                field,
                Field::Read(_) | Field::Window(_) | Field::Function(_)
            )
        });
        let (generics, elided) = if borrows {
            (tokens!(<'a>), tokens!(<'_>))
        } else {
            Default::default()
        };
        let unpack = if names.is_empty() {
            TokenStream::new()
        } else {
            tokens!(let Self { #(#names),* } = *self;)
        };
        Environment {
            declared: tokens!(struct #kernel #generics { #(#names: #field_types),* }),
            params: types(TokenStream::new()),
            names,
            unpack,
            elided,
        }
    }
}

/// A struct of what is captured.
pub(super) struct Environment {
    pub(super) names: Vec<Ident>,
    /// The types of parameters of these names.
    pub(super) params: Vec<Word>,
    /// Has all of `self` under these names.
    pub(super) unpack: TokenStream,
    /// Its declaration.
    pub(super) declared: TokenStream,
    /// Its lifetimes, where they are not named.
    pub(super) elided: TokenStream,
}
