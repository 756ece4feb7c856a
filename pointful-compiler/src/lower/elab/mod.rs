//! Elaboration: running the root's body at compile time.
//!
//! Every expression of the typed tree becomes a [`Val`]: scalars and tables are values of Point,
//! everything else exists here only. A call runs the callee's body with its own [`Frame`]; so Point
//! has no functions. Variables live in the frame's environment; an assignment replaces what is
//! there, and control flow carries what its blocks replaced.

mod accum;
mod associative;
mod branch;
mod call;
mod chosen;
mod computed;
mod constants;
mod counting;
mod expr;
mod external;
mod filter;
mod forwards;
mod index;
mod interface;
mod jacobian;
mod loops;
mod method;
mod monoid;
mod one_of;
mod one_of_outside;
mod op;
mod pieces;
mod place;
mod print;
mod product;
mod ragged;
mod result;
mod rule;
mod site;
mod sizes;
mod transform;
mod unknown;
mod value;
mod vector;
mod word;

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::Span;

use self::loops::Source;
use self::product::NumberedPart;
use self::ragged::Row;
use self::value::{Frame, Own, Part, Space, Val};
use super::effects::Summaries;
use super::hir::Function;
use super::infer::Shared;
use super::types::{Len, Printer, Set, Ty, enum_len};
use super::{Constant, Lowered};
use crate::diag::{Diagnostic, Diagnostics, lowering as say};
use crate::interface::{Access, Interface};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{
    Block, Elem, Extent, Lit, Program, Scalar, SizeId, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::places::Places;
use crate::syntax::names::function_uses;
use crate::syntax::tree::Linked;

/// Something was reported; the walk ends.
#[derive(Debug)]
struct Stop;

type Run<T> = Result<T, Stop>;

/// A block under construction.
struct Open {
    block: Block<Point>,
    serial: u32,
}

/// The state of the walk.
struct Elab<'a> {
    linked: &'a Linked,
    /// The fields that the root's own text names.
    named_fields: Vec<proc_macro2::Ident>,
    functions: &'a [Function<'a>],
    places: Places,
    summaries: &'a Summaries,
    diags: Diagnostics,
    program: Program<Point>,
    interface: Interface,
    open: Vec<Open>,
    serials: u32,
    /// By value: the serial number of the block that binds it.
    home: Vec<u32>,
    frame: Frame<'a>,
    /// Sizes of nominal sets and of lengths that are constants or const generics.
    named: BTreeMap<usize, SizeId>,
    lengths: Vec<(String, SizeId)>,
    /// Constants that must be the same length.
    equal: &'a [(String, String)],
    /// Constants that are parameters, by how they are reached.
    constants: Vec<(String, ValueId)>,
    /// Integers that are known to be the ordinal of an index.
    ordinals: BTreeMap<ValueId, ValueId>,
    /// `usize` values that are known to be the size of an extent.
    sizes: BTreeMap<ValueId, Extent>,
    /// Sizes of several axes together, as computed last.
    flat: BTreeMap<Vec<Extent>, ValueId>,
    /// Sizes of several axes together that the root is given.
    products: BTreeMap<Vec<Extent>, Extent>,
    /// Tables of parts of members, and the tables that hold the members by number.
    parts: BTreeMap<ValueId, NumberedPart>,
    /// Rows of different lengths that were looked at.
    rows: Vec<Row>,
    /// Where the root is given rows of some lengths: what stands for these lengths, and the first
    /// place.
    ragged: Vec<(Set, Access)>,
    /// The axes of unions, by those of their parts.
    unions: BTreeMap<(Vec<Extent>, Vec<Extent>), Extent>,
    /// Ranges with the same bounds are the same: by function, number, values of the variables that say
    /// what the bounds are, and what the function's sets are.
    ranges: BTreeMap<(usize, Set, Vec<ValueId>, Vec<Extent>), Source>,
    /// Members that a range runs over, as places in it.
    ranked: BTreeMap<Vec<ValueId>, ValueId>,
    /// How many operators of `reduce` and `scan` are around; nothing is accumulated in them.
    operators: usize,
    /// How many derivatives are around, and how many of them go backwards.
    derivatives: usize,
    backwards: usize,
    /// How many loops are around whose iterations do not need each other, of more than a few.
    parallel: usize,
    /// Whether operators of the author's are tried, and whether there are any that can be.
    is_debug_form: bool,
    has_debug_form: bool,
    /// How many expressions are around, those of callers among them.
    levels: usize,
    /// Integer literals.
    literals: BTreeMap<ValueId, i128>,
    /// Differences of numbers without a sign, which may have wrapped.
    differences: ValueSet,
    /// Calls of functions with derivatives of their own, by their first results: the functions'
    /// names.
    ruled: BTreeMap<ValueId, String>,
}

/// Lowers the last function of the program; `floats` are the types of its generic floats, by
/// position among its generics. It may try its author's operators, see [`associative`].
pub(super) fn program(
    mut shared: Shared<'_>,
    floats: &[Option<Scalar>],
    is_debug_form: bool,
) -> Result<Lowered, Vec<Diagnostic>> {
    let summaries = Summaries::of(&shared.done);
    let places = std::mem::take(&mut shared.places);
    let mut elab = begun(&shared, places, &summaries, floats, is_debug_form);
    let constants = elab.root();
    let Elab {
        diags,
        program,
        interface,
        places,
        has_debug_form,
        ..
    } = elab;
    match constants {
        Ok(constants) => diags.gate(Lowered {
            program,
            interface,
            places,
            constants,
            has_debug_form,
        }),
        Err(Stop) => Err(diags.into_vec()),
    }
}

/// The constants that the last function of the program names.
pub(super) fn constants(
    mut shared: Shared<'_>,
    floats: &[Option<Scalar>],
) -> Result<Vec<Constant>, Vec<Diagnostic>> {
    let summaries = Summaries::of(&shared.done);
    let places = std::mem::take(&mut shared.places);
    let mut elab = begun(&shared, places, &summaries, floats, false);
    let function = &elab.functions[elab.frame.function];
    match elab.root_constants(function) {
        Ok(constants) => elab.diags.gate(constants),
        Err(Stop) => Err(elab.diags.into_vec()),
    }
}

/// Before anything of the last function has been lowered.
fn begun<'a>(
    shared: &'a Shared<'a>,
    places: Places,
    summaries: &'a Summaries,
    floats: &[Option<Scalar>],
    is_debug_form: bool,
) -> Elab<'a> {
    let root = shared.done.len() - 1;
    Elab {
        linked: shared.linked,
        named_fields: function_uses(&shared.linked.root).fields,
        functions: &shared.done,
        places,
        summaries,
        diags: Diagnostics::default(),
        program: Program::new(shared.linked.root.name.to_string()),
        interface: Interface {
            generic_floats: floats.iter().any(Option::is_some),
            ..Interface::default()
        },
        open: Vec::new(),
        serials: 0,
        home: Vec::new(),
        frame: Frame {
            function: root,
            sets: vec![None; shared.done[root].generics.len()],
            floats: floats.to_vec(),
            inner: BTreeMap::new(),
            begins: BTreeMap::new(),
            env: vec![None; shared.done[root].locals.len()],
        },
        named: BTreeMap::new(),
        lengths: Vec::new(),
        equal: &shared.equal,
        constants: Vec::new(),
        ordinals: BTreeMap::new(),
        sizes: BTreeMap::new(),
        flat: BTreeMap::new(),
        products: BTreeMap::new(),
        parts: BTreeMap::new(),
        rows: Vec::new(),
        ragged: Vec::new(),
        unions: BTreeMap::new(),
        ranges: BTreeMap::new(),
        ranked: BTreeMap::new(),
        operators: 0,
        derivatives: 0,
        backwards: 0,
        parallel: 0,
        is_debug_form,
        has_debug_form: false,
        levels: 0,
        literals: BTreeMap::new(),
        differences: ValueSet::new(),
        ruled: BTreeMap::new(),
    }
}

impl<'a> Elab<'a> {
    fn root(&mut self) -> Run<Vec<Constant>> {
        let function = &self.functions[self.frame.function];
        self.begin(&[]);
        self.look_for_returned(function);
        self.signature(function)?;
        self.begin_printing(function);
        let result = self.plain_body(function, SpanId::NONE)?;
        self.results(function, &result)?;
        self.end_printing(function)?;
        self.equal_lengths();
        let open = self.open.pop().ok_or(Stop)?;
        self.program.body = open.block;
        self.root_constants(function)
    }

    // ---- reporting ----

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Run<T> {
        self.diags.push(diagnostic);
        Err(Stop)
    }

    fn at(&self, span: SpanId) -> Span {
        self.places.get(span)
    }

    /// An invariant of inference that does not hold: a bug, told as such rather than by a panic.
    fn bug<T>(&mut self, span: SpanId, what: &str) -> Run<T> {
        let span = self.at(span);
        self.fail(Diagnostic::new(
            span,
            format!("pointful has a bug here: {what}"),
        ))
    }

    // ---- types and sets ----

    /// The type of an expression of the current function.
    fn ty(&self, ty: &Ty) -> Ty {
        self.functions[self.frame.function].solver.ty(ty)
    }

    /// The groups of axes and the cell of a type.
    fn split(&self, ty: &Ty) -> (Vec<Set>, Ty) {
        match self.ty(ty) {
            Ty::Table(groups, cell) => (groups, *cell),
            other => (Vec::new(), other),
        }
    }

    fn printer(&self) -> Printer<'_> {
        Printer {
            linked: self.linked,
            generics: &self.functions[self.frame.function].generics,
            solver: &self.functions[self.frame.function].solver,
            shows_ranges: true,
        }
    }

    /// The machine type of a scalar type.
    fn scalar(&mut self, ty: &Ty, span: SpanId) -> Run<Scalar> {
        match self.ty(ty) {
            Ty::Scalar(s) => Ok(s),
            Ty::Float(k) => match self.frame.floats[k] {
                Some(s) => Ok(s),
                None => self.bug(span, "a generic float is not known"),
            },
            _ => self.bug(span, "a scalar was expected"),
        }
    }

    /// The axes of a set.
    fn space(&mut self, set: &Set, span: SpanId) -> Run<Space> {
        let set = self.functions[self.frame.function].solver.set(set);
        match &set {
            Set::Param(k) | Set::Fin(Len::Param(k)) => match &self.frame.sets[*k] {
                Some(space) => Ok(space.clone()),
                None => {
                    let name = self.printer().set(&set);
                    let span = self.at(span);
                    self.fail(say::undetermined_extent(span, &name))
                }
            },
            Set::Named(id) => {
                if let Some(n) = enum_len(self.linked, *id) {
                    return Ok(Space::Axis(Extent::Const(n as u64)));
                }
                match self.named.get(id) {
                    Some(size) => Ok(Space::Axis(Extent::Size(*size))),
                    None => {
                        let name = self.printer().set(&set);
                        let span = self.at(span);
                        self.fail(say::undetermined_extent(span, &name))
                    }
                }
            }
            Set::Fin(Len::Lit(n)) => Ok(Space::Axis(Extent::Const(*n))),
            Set::Fin(Len::Const(name)) => Ok(Space::Axis(self.length(name))),
            Set::Product(parts) | Set::Record(_, parts) => {
                let parts: Run<Vec<Space>> = parts.iter().map(|p| self.space(p, span)).collect();
                Ok(Space::Product(parts?))
            }
            Set::Bool => Ok(Space::Bool),
            Set::Either(a, b) => {
                let (a, b) = (self.space(a, span)?, self.space(b, span)?);
                let extent = self.union(&a.axes(), &b.axes(), span)?;
                Ok(Space::Either(Box::new(a), Box::new(b), extent))
            }
            Set::Ragged(_, lengths) => match self.space(lengths, span)? {
                Space::Rows(rows) => Ok(Space::Axis(rows.values)),
                _ => self.bug(span, "rows of no lengths"),
            },
            Set::Row(lengths, row) => self.row_space(lengths, *row, span),
            Set::Var(_) | Set::Range(_) => match self.frame.inner.get(&set) {
                Some(space) => Ok(space.clone()),
                None => {
                    let span = self.at(span);
                    self.fail(say::undetermined_set(span))
                }
            },
            Set::Error => self.bug(span, "an error was not reported"),
        }
    }

    /// The axes of all groups.
    fn axes(&mut self, groups: &[Set], span: SpanId) -> Run<Vec<Extent>> {
        let mut axes = Vec::new();
        for group in groups {
            axes.extend(self.space(group, span)?.axes());
        }
        Ok(axes)
    }

    // ---- statements ----

    fn begin(&mut self, params: &[ValueId]) {
        self.serials += 1;
        for param in params {
            self.settle_home(*param, self.serials);
        }
        self.open.push(Open {
            block: Block {
                params: params.to_vec(),
                ..Block::default()
            },
            serial: self.serials,
        });
    }

    fn settle_home(&mut self, value: ValueId, serial: u32) {
        let at = value.index();
        if self.home.len() <= at {
            self.home.resize(at + 1, 0);
        }
        self.home[at] = serial;
    }

    /// Ends a block. What it gives must not have an axis whose length is known inside only, nor be
    /// a member of such a set.
    fn end(
        &mut self,
        results: Vec<ValueId>,
        escape: impl Fn(Span) -> Diagnostic,
        span: SpanId,
    ) -> Run<Block<Point>> {
        let mut open = self.open.pop().ok_or(Stop)?;
        let escapes =
            |this: &Self, extent: Extent| matches!(extent, Extent::Value(v) if !this.in_scope(v));
        for result in &results {
            // The expression that made the result, if it has a place.
            let made = self.program.values[result.index()].span;
            let place = if made == SpanId::NONE { span } else { made };
            let ty = self.program.ty(*result);
            if ty.dims.iter().any(|&dim| escapes(self, dim)) {
                let place = self.at(place);
                return self.fail(escape(place));
            }
            if matches!(ty.elem, Elem::Index(extent) if escapes(self, extent)) {
                let place = self.at(place);
                return self.fail(say::escaping_member(place));
            }
        }
        open.block.results = results;
        Ok(open.block)
    }

    fn in_scope(&self, value: ValueId) -> bool {
        let home = self.home.get(value.index()).copied().unwrap_or(0);
        // Parameters of the program are bound by no block.
        home == 0 || self.open.iter().any(|o| o.serial == home)
    }

    fn serial(&self) -> u32 {
        self.open.last().map_or(0, |o| o.serial)
    }

    /// A new value that the current block binds.
    fn fresh(&mut self, ty: Type<Extent>, span: SpanId) -> ValueId {
        let value = self.program.value(ty, span);
        let serial = self.serial();
        self.settle_home(value, serial);
        value
    }

    fn emit(&mut self, results: Vec<ValueId>, op: PointOp, span: SpanId) {
        if let Some(open) = self.open.last_mut() {
            open.block.stmts.push(Stmt::new(results, op, span));
        }
    }

    fn op(&mut self, op: PointOp, ty: Type<Extent>, span: SpanId) -> ValueId {
        let value = self.fresh(ty, span);
        self.emit(vec![value], op, span);
        value
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], span: SpanId) -> Run<ValueId> {
        let elems: Vec<Elem> = args.iter().map(|a| self.program.elem(*a)).collect();
        match prim.result(&elems) {
            Ok(elem) => {
                let value = self.op(PointOp::Prim(prim, args.into()), Type::scalar(elem), span);
                if prim == Prim::Sub && elem == Elem::USIZE {
                    self.differences.insert(value);
                }
                Ok(value)
            }
            Err(error) => self.bug(span, &error.0),
        }
    }

    fn lit(&mut self, lit: Lit, span: SpanId) -> ValueId {
        let value = self.op(
            PointOp::Const(lit),
            Type::scalar(Elem::Scalar(lit.scalar())),
            span,
        );
        if let Lit::Int(_, n) = lit {
            self.literals.insert(value, n);
        }
        value
    }

    fn usize(&mut self, n: u64, span: SpanId) -> ValueId {
        self.lit(Lit::Int(Scalar::Usize, i128::from(n)), span)
    }

    /// `as` of a scalar or index; nothing if it is of that type already.
    fn cast(&mut self, value: ValueId, to: Scalar, span: SpanId) -> Run<ValueId> {
        if self.program.elem(value) == Elem::Scalar(to) {
            return Ok(value);
        }
        if let Some(n) = self.literals.get(&value).copied()
            && (0..=i128::from(i32::MAX)).contains(&n)
            && to.is_int()
            && to != Scalar::U8
        {
            return Ok(self.lit(Lit::Int(to, n), span));
        }
        self.prim(Prim::Cast(to), &[value], span)
    }

    /// How large an extent is, as a `usize`.
    fn size(&mut self, extent: Extent, span: SpanId) -> ValueId {
        match extent {
            Extent::Const(n) => self.usize(n, span),
            Extent::Value(value) => value,
            Extent::Size(_) => {
                let value = self.op(PointOp::Size(extent), Type::scalar(Elem::USIZE), span);
                self.sizes.insert(value, extent);
                value
            }
        }
    }

    /// How many members a set has, as a `usize`.
    fn total(&mut self, axes: &[Extent], span: SpanId) -> Run<ValueId> {
        let mut total = None;
        for axis in axes {
            let size = self.size(*axis, span);
            total = Some(match total {
                None => size,
                Some(before) => self.prim(Prim::Mul, &[before, size], span)?,
            });
        }
        Ok(match total {
            Some(total) => total,
            None => self.usize(1, span),
        })
    }

    /// Does something in the outermost block in which all these extents are known, so that what it
    /// makes of them is known there too: a table of its size may leave the loops in between.
    fn where_known<T>(
        &mut self,
        extents: &[Extent],
        what: impl FnOnce(&mut Self) -> Run<T>,
    ) -> Run<T> {
        let homes = extents.iter().filter_map(|extent| match extent {
            Extent::Value(value) => self.home.get(value.index()).copied(),
            Extent::Const(_) | Extent::Size(_) => None,
        });
        self.within(homes.max().unwrap_or(0), what)
    }

    /// Does something in the outermost block that is not outside of the one with this serial number.
    fn within<T>(&mut self, inmost: u32, what: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let known = self.open.iter().position(|open| open.serial >= inmost);
        let inner = self
            .open
            .split_off(known.map_or(self.open.len(), |at| at + 1));
        let done = what(self);
        self.open.extend(inner);
        done
    }

    /// An extent of that many members.
    fn extent_of(&self, size: ValueId) -> Extent {
        if let Some(extent) = self.sizes.get(&size) {
            return *extent;
        }
        match self.literals.get(&size).map(|n| u64::try_from(*n)) {
            Some(Ok(n)) => Extent::Const(n),
            _ => Extent::Value(size),
        }
    }

    /// The axis of a union: as the signature has it, or the sum of both sizes.
    fn union(&mut self, a: &[Extent], b: &[Extent], span: SpanId) -> Run<Extent> {
        let key = (a.to_vec(), b.to_vec());
        match self.unions.get(&key) {
            Some(Extent::Value(v)) if !self.in_scope(*v) => {}
            Some(extent) => return Ok(*extent),
            None => {}
        }
        let a = self.flat_extent(a, span)?;
        let b = self.flat_extent(b, span)?;
        let extent = match (a, b) {
            (Extent::Const(a), Extent::Const(b)) => Extent::Const(a + b),
            _ => Extent::Value(self.where_known(&[a, b], |this| {
                let (a, b) = (this.size(a, span), this.size(b, span));
                this.prim(Prim::Add, &[a, b], span)
            })?),
        };
        self.unions.insert(key, extent);
        Ok(extent)
    }

    /// Axes that the compiler flattens into one.
    fn flat_extent(&mut self, axes: &[Extent], span: SpanId) -> Run<Extent> {
        if let [one] = axes {
            return Ok(*one);
        }
        if let Some(sizes) = axes
            .iter()
            .map(|a| match a {
                Extent::Const(n) => Some(*n),
                Extent::Size(_) | Extent::Value(_) => None,
            })
            .collect::<Option<Vec<u64>>>()
        {
            return Ok(Extent::Const(sizes.iter().product()));
        }
        if let Some(known) = self.products.get(axes) {
            return Ok(*known);
        }
        if let Some(total) = self.flat.get(axes).copied()
            && self.in_scope(total)
        {
            return Ok(self.extent_of(total));
        }
        let total = self.where_known(axes, |this| this.total(axes, span))?;
        self.flat.insert(axes.to_vec(), total);
        Ok(self.extent_of(total))
    }

    // ---- values ----

    /// The values of Point in a value, in order.
    fn leaves(&mut self, val: &Val<'a>, span: SpanId) -> Run<Vec<ValueId>> {
        let mut out = Vec::new();
        self.collect(val, &mut out, span)?;
        Ok(out)
    }

    fn collect(&mut self, val: &Val<'a>, out: &mut Vec<ValueId>, span: SpanId) -> Run<()> {
        match val {
            Val::Leaf(value) => out.push(*value),
            Val::Tuple(parts) => {
                for part in parts {
                    self.collect(part, out, span)?;
                }
            }
            Val::Extent(_) => {}
            Val::Part(part) => self.collect(&part.val, out, span)?,
            Val::Own(own) => self.collect(&own.val, out, span)?,
            Val::Closure(_)
            | Val::Unknown(_)
            | Val::Function(_)
            | Val::Functions(_)
            | Val::Choice(_)
            | Val::Chosen(_)
            | Val::Transformed(_)
            | Val::Linear(_) => {
                let span = self.at(span);
                return self.fail(say::stored_function(span));
            }
            Val::Option(_) => return self.bug(span, "an `Option` was not stored"),
            Val::Accum(_) | Val::Slice(_) | Val::Spent => {
                let span = self.at(span);
                return self.fail(say::accum_read(span));
            }
        }
        Ok(())
    }

    /// The same value with other leaves.
    fn rebuild(&self, shape: &Val<'a>, leaves: &mut impl Iterator<Item = ValueId>) -> Val<'a> {
        match shape {
            Val::Leaf(old) => Val::Leaf(leaves.next().unwrap_or(*old)),
            Val::Tuple(parts) => {
                Val::Tuple(parts.iter().map(|p| self.rebuild(p, leaves)).collect())
            }
            Val::Part(part) => Val::Part(Rc::new(Part {
                val: self.rebuild(&part.val, leaves),
                ..(**part).clone()
            })),
            Val::Own(own) => Val::Own(Rc::new(Own {
                val: self.rebuild(&own.val, leaves),
                untouched: false,
                ..(**own).clone()
            })),
            other => other.clone(),
        }
    }

    fn leaf(&mut self, val: &Val<'a>, span: SpanId) -> Run<ValueId> {
        let leaves = self.leaves(val, span)?;
        match leaves.as_slice() {
            [one] => Ok(*one),
            _ => self.bug(span, "one value was expected"),
        }
    }

    /// An element or sub-table of every leaf.
    fn select(&mut self, val: &Val<'a>, indices: &[ValueId], span: SpanId) -> Run<Val<'a>> {
        if indices.is_empty() {
            return Ok(val.clone());
        }
        if let Val::Part(part) = val {
            let rest = indices.get(part.axes..).unwrap_or_default();
            return self.select(&part.val, rest, span);
        }
        if let Val::Choice(choice) = val {
            let mut choice = (**choice).clone();
            choice.indices.extend_from_slice(indices);
            return Ok(Val::Choice(Rc::new(choice)));
        }
        if let Val::Chosen(chosen) = val {
            let mut chosen = (**chosen).clone();
            chosen.indices.extend_from_slice(indices);
            return Ok(Val::Chosen(Rc::new(chosen)));
        }
        if let Val::Functions(functions) = val {
            return self.select_function(functions, indices, span);
        }
        if let Val::Own(own) = val {
            return Ok(Val::Own(Rc::new(Own {
                val: self.select(&own.val, indices, span)?,
                identity: self.select(&own.identity, indices, span)?,
                ..(**own).clone()
            })));
        }
        let mut out = Vec::new();
        for leaf in self.leaves(val, span)? {
            out.push(self.select_leaf(leaf, indices, span));
        }
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    fn select_leaf(&mut self, table: ValueId, indices: &[ValueId], span: SpanId) -> ValueId {
        if indices.is_empty() {
            return table;
        }
        if let Some(part) = self.numbered_part(table, indices, span) {
            return part;
        }
        let ty = self.program.ty(table).clone();
        let rest = ty.dims.get(indices.len()..).unwrap_or_default().to_vec();
        let op = PointOp::Index {
            table,
            indices: indices.to_vec(),
        };
        self.op(op, Type::table(ty.elem, rest), span)
    }
}
