//! Constants: paths that are some, what their types are, and those of the standard library.
//!
//! A macro does not see the type of a constant, so it is found by inference, and rustc is asked
//! whether it is that. What cannot be decided by use, which of the integers a constant is that is
//! only cast, or whether an index is a member or a number, is left to rustc: see [`Open`].

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

use super::Infer;
use super::signature::last_name;
use crate::diag::lowering as say;
use crate::ir::Scalar;
use crate::lower::hir::{Constant, Expr, Kind, Open, Value};
use crate::lower::lengths;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};
use crate::syntax::tree::{Scope, path_key};

/// An index that is a constant, of which it is not known yet whether it is a member.
#[derive(Clone, Debug)]
pub(super) struct ConstantIndex {
    pub(super) index: Ty,
    pub(super) base: Ty,
    pub(super) position: usize,
    pub(super) axis: Set,
    pub(super) at: Span,
}

/// A constant that is cast, of which it is not known yet what it is.
#[derive(Clone, Debug)]
pub(super) struct ConstantCast {
    from: Ty,
    to: Ty,
}

/// A cell of the type of a constant that nothing determines.
struct OpenCell {
    constant: usize,
    /// The positions in tuples of the part that it is the type of.
    part: Vec<usize>,
    /// Whether that is an array of it.
    is_array: bool,
    var: u32,
}

impl<'a> Infer<'_, 'a> {
    /// A constant, or a part of one.
    pub(super) fn constant(
        &mut self,
        path: &syn::Path,
        fields: Vec<syn::Member>,
        span: Span,
    ) -> Expr {
        let name = path_key(path);
        let known = self
            .constants
            .iter()
            .position(|c| path_key(&c.path) == name && c.fields == fields);
        let id = known.unwrap_or_else(|| {
            let ty = self.unknown(span);
            self.constants.push(Constant {
                path: path.clone(),
                fields,
                base: None,
                ty,
                opens: Vec::new(),
                span,
            });
            self.constants.len() - 1
        });
        let ty = self.constants[id].ty.clone();
        self.made(Kind::Constant(id), ty, span)
    }

    /// A field of a constant whose type is not known: a constant of its own. There were `known`
    /// constants before the expression.
    pub(super) fn constant_part(
        &mut self,
        whole: &Expr,
        member: &syn::Member,
        known: usize,
        span: Span,
    ) -> Expr {
        let Kind::Constant(id) = whole.kind else {
            return self.fail(say::constant_unknown(span));
        };
        let Constant { path, fields, .. } = self.constants[id].clone();
        // The whole is named for this alone.
        self.constants.truncate(known.max(id));
        let fields = [fields, vec![member.clone()]].concat();
        self.constant(&path, fields, span)
    }

    /// Whether a type not known is that of a constant, or of parts or elements of one.
    pub(super) fn is_constant(&self, ty: &Ty) -> bool {
        let ty = self.solver.shallow(ty);
        matches!(ty, Ty::Var(_)) && self.constants.iter().any(|c| self.has_cell(&c.ty, &ty))
    }

    fn has_cell(&self, whole: &Ty, cell: &Ty) -> bool {
        match self.split(whole).1 {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().any(|part| self.has_cell(part, cell))
            }
            whole => whole == *cell,
        }
    }

    /// The cells of the types of constants that nothing determines.
    fn open_cells(&self) -> Vec<OpenCell> {
        let mut found = Vec::new();
        for (k, constant) in self.constants.iter().enumerate() {
            self.add_open_cells((k, &[]), &constant.ty, &mut found);
        }
        found
    }

    fn add_open_cells(
        &self,
        (constant, part): (usize, &[usize]),
        ty: &Ty,
        found: &mut Vec<OpenCell>,
    ) {
        let (groups, cell) = self.split(ty);
        match cell {
            // Fields of structs have types that were written.
            Ty::Tuple(parts) => {
                for (k, ty) in parts.iter().enumerate() {
                    self.add_open_cells((constant, &[part, &[k]].concat()), ty, found);
                }
            }
            Ty::Var(var) => found.push(OpenCell {
                constant,
                part: part.to_vec(),
                is_array: !groups.is_empty(),
                var,
            }),
            _ => {}
        }
    }

    /// Takes what is not known of a constant for an array of something.
    pub(super) fn constant_array(&mut self, ty: &Ty, span: Span) {
        if self.is_open(&self.solver.shallow(ty)) && self.is_constant(ty) {
            let set = self.solver.fresh_set(SetKind::Free, span);
            let element = self.unknown(span);
            let _ = self
                .solver
                .unify(ty, &Ty::Table(vec![set], Box::new(element)));
        }
    }

    /// An operand of an operator. A constant that is not indexed is a number, unless it meets
    /// something that is none.
    pub(super) fn constant_operand(&mut self, ty: &Ty, other: &Ty, comparison: bool) {
        if !self.is_open(&self.solver.shallow(ty)) || !self.is_constant(ty) {
            return;
        }
        let other = self.split(other).1;
        let alike = match other {
            Ty::Member(_) | Ty::Tuple(_) => comparison,
            Ty::Scalar(Scalar::Bool) => true,
            _ => false,
        };
        if alike {
            let _ = self.solver.unify(ty, &other);
        } else {
            self.narrow(ty);
        }
    }

    /// Says that a constant is a number.
    pub(super) fn narrow(&mut self, ty: &Ty) {
        if self.is_constant(ty)
            && let Ty::Var(v) = self.solver.shallow(ty)
        {
            self.solver.narrow(v);
        }
    }

    /// What is known of constants that are indices by now: members are of the axis' set.
    pub(super) fn constant_indices(&mut self) {
        for one in std::mem::take(&mut self.constant_indices) {
            let index = self.solver.shallow(&one.index);
            match index {
                Ty::Var(v) if self.solver.kind(v) == TyKind::Any => self.constant_indices.push(one),
                Ty::Tuple(_) => {
                    let shown = self.show(&index);
                    self.report(say::bad_index(one.at, &shown));
                }
                _ => {
                    self.index_one(&one.base, one.position, &one.axis, &index, one.at);
                }
            }
        }
    }

    /// What constants are that are only indices: numbers, of members perhaps.
    pub(super) fn open_indices(&mut self) {
        let waiting = std::mem::take(&mut self.constant_indices);
        for cell in self.open_cells() {
            let index = Ty::Var(cell.var);
            let axes = waiting
                .iter()
                .filter(|one| self.solver.shallow(&one.index) == index);
            let mut sets: Vec<Set> = axes.map(|one| self.solver.set(&one.axis)).collect();
            sets.dedup();
            let open = match &sets[..] {
                [] => continue,
                [set] if !cell.is_array && may_have_constants(set) => Open::Index(set.clone()),
                // What indexes different sets is a number.
                _ => Open::Integer,
            };
            self.constants[cell.constant].opens.push((cell.part, open));
            let _ = self.solver.unify(&index, &Ty::USIZE);
        }
    }

    /// Keeps in mind what a constant is cast to.
    pub(super) fn constant_cast(&mut self, from: &Ty, to: &Ty) {
        if self.is_constant(from) {
            let (from, to) = (from.clone(), to.clone());
            self.constant_casts.push(ConstantCast { from, to });
        }
    }

    /// The float that a constant is only cast to: `f64`, if there are several.
    fn only_cast_to(&self, constant: u32) -> Option<Ty> {
        let is_it = |cast: &&ConstantCast| self.solver.shallow(&cast.from) == Ty::Var(constant);
        let casts = self.constant_casts.iter().filter(is_it);
        let mut floats: Vec<Ty> = casts.map(|cast| self.solver.shallow(&cast.to)).collect();
        floats.dedup();
        let is_float = |ty: &Ty| match ty {
            Ty::Float(_) => true,
            Ty::Scalar(scalar) => scalar.is_float(),
            _ => false,
        };
        if !floats.iter().all(is_float) {
            return None;
        }
        match &floats[..] {
            [] => None,
            [one] => Some(one.clone()),
            _ => Some(Ty::Scalar(Scalar::F64)),
        }
    }

    /// Takes constants for signed integers, whatever integers they are, whose elements are of a
    /// type that nothing says but of which this is so.
    pub(super) fn open_constants(&mut self, is_open: impl Fn(&Self, u32) -> bool) {
        for cell in self.open_cells() {
            if is_open(self, cell.var) {
                let opens = &mut self.constants[cell.constant].opens;
                opens.push((cell.part, Open::Integer));
                let _ = self
                    .solver
                    .unify(&Ty::Var(cell.var), &Ty::Scalar(Scalar::I64));
            }
        }
    }

    /// Arrays are as long as rustc knows, where nothing else says how long they are.
    pub(super) fn constant_lengths(&mut self) {
        for k in 0..self.constants.len() {
            let constant = self.constants[k].clone();
            self.array_lengths(&constant, &constant.ty);
        }
    }

    fn array_lengths(&mut self, constant: &Constant, ty: &Ty) {
        match self.solver.shallow(ty) {
            Ty::Table(groups, _) => {
                let value = constant.value(&self.tree.scope);
                for (depth, set) in self.solver.atoms(&groups).into_iter().enumerate() {
                    if matches!(set, Set::Var(v) if self.solver.set_kind(v) == SetKind::Free) {
                        let length = lengths::of_axis(&value, depth).to_string();
                        let _ = self.solver.unify_sets(&set, &Set::Fin(Len::Const(length)));
                    }
                }
            }
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    self.array_lengths(&constant.part(k, syn::Member::from(k)), part);
                }
            }
            // Fields of structs have types that were written.
            _ => {}
        }
    }

    /// What is known of the types of constants at the end.
    pub(super) fn finish_constants(&mut self) {
        // What only is cast is any number if it is cast to floats, and else any integer.
        for cell in self.open_cells() {
            if self.solver.kind(cell.var) == TyKind::Any
                && let Some(float) = self.only_cast_to(cell.var)
            {
                let opens = &mut self.constants[cell.constant].opens;
                opens.push((cell.part, Open::Number));
                let _ = self.solver.unify(&Ty::Var(cell.var), &float);
            }
        }
        self.open_constants(|s, var| s.solver.kind(var) == TyKind::Any);
        // What only meets other constants is a float.
        for cell in self.open_cells() {
            let _ = self
                .solver
                .unify(&Ty::Var(cell.var), &Ty::Scalar(Scalar::F64));
        }
        for k in 0..self.constants.len() {
            let constant = self.constants[k].clone();
            if !is_value(&self.solver.ty(&constant.ty)) {
                let shown = self.show(&constant.ty);
                self.report(say::constant_type(constant.span, &shown));
            }
        }
    }
}

impl Constant {
    /// A part of it, whose type is known with its own: the one at this position.
    pub(in crate::lower) fn part(&self, position: usize, member: syn::Member) -> Self {
        let mut part = self.clone();
        part.fields.push(member);
        let inner = |(way, open): &(Vec<usize>, Open)| {
            let (first, rest) = way.split_first()?;
            (*first == position).then(|| (rest.to_vec(), open.clone()))
        };
        part.opens = self.opens.iter().filter_map(inner).collect();
        part
    }

    /// What its type may be.
    pub(in crate::lower) fn open(&self) -> Open {
        let own = self.opens.iter().find(|(way, _)| way.is_empty());
        own.map_or(Open::No, |(_, open)| open.clone())
    }

    /// Its path with the fields on the way to it, as a scope names it.
    pub(in crate::lower) fn key(&self) -> String {
        let path = path_key(&self.path);
        self.fields.iter().fold(path, |key, field| match field {
            syn::Member::Named(name) => format!("{key}.{name}"),
            syn::Member::Unnamed(index) => format!("{key}.{}", index.index),
        })
    }

    /// An expression for it where it is carried from, for a function with this scope; `None` if it
    /// is named where the root stands.
    pub(in crate::lower) fn carried(&self, scope: &Scope) -> Option<TokenStream> {
        let key = self.key();
        let (_, tokens) = scope.constants.iter().find(|(known, _)| *known == key)?;
        let own = self.path.to_token_stream().to_string();
        (tokens.to_string() != own).then(|| tokens.clone())
    }

    /// An expression for it where the root stands, of a function with this scope.
    pub(in crate::lower) fn value(&self, scope: &Scope) -> TokenStream {
        self.carried(scope).unwrap_or_else(|| {
            let path = (self.path.to_token_stream(), 0);
            let (base, known) = self.base.clone().unwrap_or(path);
            let fields = &self.fields[known..];
            quote!(#base #(.#fields)*)
        })
    }
}

/// Whether a constant may be a member of the set, as far as it is known: not where the function is
/// generic in it.
fn may_have_constants(set: &Set) -> bool {
    match set {
        Set::Named(_) | Set::Fin(Len::Lit(_) | Len::Const(_)) | Set::Bool | Set::Var(_) => true,
        Set::Product(parts) | Set::Record(_, parts) => parts.iter().all(may_have_constants),
        Set::Either(left, right) => may_have_constants(left) && may_have_constants(right),
        Set::Param(_)
        | Set::Fin(Len::Param(_))
        | Set::Range(_)
        | Set::Ragged(..)
        | Set::Row(..)
        | Set::Error => false,
    }
}

/// Whether a constant may be of a type: a number, a member, an array of numbers, or made of these.
fn is_value(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) | Ty::Error => true,
        Ty::Member(set) => may_have_constants(set),
        Ty::Table(_, element) => {
            matches!(
                &**element,
                Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) | Ty::Error
            )
        }
        Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().all(is_value),
        Ty::Offset(_)
        | Ty::Extent(_)
        | Ty::Function(..)
        | Ty::Accum(_)
        | Ty::Option(_)
        | Ty::Either(_) => false,
    }
}

/// A path that can only be a constant of some module: the last name is written in capitals.
pub(super) fn looks_like_constant(path: &syn::Path) -> bool {
    let name = last_name(path);
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// A constant of the standard library.
#[derive(Clone, Copy)]
pub(super) enum StdConstant {
    /// Of `std::f64::consts` and its twin.
    Float(f64),
    /// An associated constant of a number type.
    PerType(&'static str),
}

/// The constant of the standard library that a path means. Names that a user may well give to
/// something else, such as `E`, count only after `consts::`.
pub(super) fn standard_constant(name: &str) -> Option<StdConstant> {
    let mut segments = name.rsplit("::");
    let last = segments.next()?;
    let owner = segments.next();
    match owner {
        None if last == "E" => None,
        None | Some("consts") => CONSTS
            .iter()
            .find(|(n, _)| *n == last)
            .map(|(_, x)| StdConstant::Float(*x)),
        Some(ty) if crate::ir::Scalar::from_name(ty).is_some() => PER_TYPE
            .iter()
            .chain(&LIMITS)
            .find(|n| **n == last)
            .map(|n| StdConstant::PerType(n)),
        Some(_) => None,
    }
}

/// Those of `std::f64::consts`.
const CONSTS: [(&str, f64); 19] = {
    use std::f64::consts as c;
    [
        ("PI", c::PI),
        ("TAU", c::TAU),
        ("E", c::E),
        ("SQRT_2", c::SQRT_2),
        ("LN_2", c::LN_2),
        ("LN_10", c::LN_10),
        ("LOG2_E", c::LOG2_E),
        ("LOG10_E", c::LOG10_E),
        ("LOG2_10", c::LOG2_10),
        ("LOG10_2", c::LOG10_2),
        ("FRAC_1_PI", c::FRAC_1_PI),
        ("FRAC_2_PI", c::FRAC_2_PI),
        ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
        ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
        ("FRAC_PI_2", c::FRAC_PI_2),
        ("FRAC_PI_3", c::FRAC_PI_3),
        ("FRAC_PI_4", c::FRAC_PI_4),
        ("FRAC_PI_6", c::FRAC_PI_6),
        ("FRAC_PI_8", c::FRAC_PI_8),
    ]
};

/// Those of number types, which are of the type itself.
const PER_TYPE: [&str; 7] = [
    "INFINITY",
    "NEG_INFINITY",
    "NAN",
    "EPSILON",
    "MAX",
    "MIN",
    "MIN_POSITIVE",
];

/// Those that say how a float is made, which are integers.
const LIMITS: [&str; 7] = [
    "DIGITS",
    "MANTISSA_DIGITS",
    "RADIX",
    "MAX_EXP",
    "MIN_EXP",
    "MAX_10_EXP",
    "MIN_10_EXP",
];

/// Those that only a generic float has.
const UNITS: [&str; 2] = ["ZERO", "ONE"];

/// A constant of a float type by its name, as `T::EPSILON` names it.
pub(super) fn constant_of_float(name: &str) -> Option<&'static str> {
    let consts = CONSTS.iter().map(|(name, _)| name);
    let mut all = UNITS.iter().chain(&PER_TYPE).chain(&LIMITS).chain(consts);
    all.find(|known| **known == name).copied()
}

/// The type of a constant of a float type.
pub(super) fn type_of_constant(name: &str, float: Ty) -> Ty {
    match name {
        "DIGITS" | "MANTISSA_DIGITS" | "RADIX" => Ty::Scalar(Scalar::U32),
        name if LIMITS.contains(&name) => Ty::Scalar(Scalar::I32),
        _ => float,
    }
}

/// What `T::EPSILON` is where `T` is this float.
pub(in crate::lower) fn float_constant(float: Scalar, name: &str) -> Option<Value> {
    let single = float == Scalar::F32;
    match name {
        "ZERO" => Some(Value::Float(0.0)),
        "ONE" => Some(Value::Float(1.0)),
        _ => match CONSTS.iter().find(|(known, _)| *known == name) {
            Some((_, x)) if single => Some(Value::Float(f64::from(*x as f32))),
            Some((_, x)) => Some(Value::Float(*x)),
            None => type_constant(float, name),
        },
    }
}

/// `f64::EPSILON`, `i32::MAX` and so on.
pub(super) fn type_constant(scalar: crate::ir::Scalar, name: &str) -> Option<Value> {
    use crate::ir::{Lit, Monoid, Scalar};
    if scalar == Scalar::Bool {
        return None;
    }
    if scalar.is_int() {
        let monoid = match name {
            "MAX" => Monoid::Min,
            "MIN" => Monoid::Max,
            _ => return None,
        };
        return match monoid.identity(scalar) {
            Lit::Int(_, value) => Some(Value::Int(value)),
            Lit::F32(_) | Lit::F64(_) | Lit::Bool(_) => None,
        };
    }
    let single = scalar == Scalar::F32;
    let pick =
        |wide: f64, narrow: f32| Some(Value::Float(if single { f64::from(narrow) } else { wide }));
    let count = |wide: i128, narrow: i128| Some(Value::Int(if single { narrow } else { wide }));
    match name {
        "INFINITY" => pick(f64::INFINITY, f32::INFINITY),
        "NEG_INFINITY" => pick(f64::NEG_INFINITY, f32::NEG_INFINITY),
        "NAN" => pick(f64::NAN, f32::NAN),
        "EPSILON" => pick(f64::EPSILON, f32::EPSILON),
        "MAX" => pick(f64::MAX, f32::MAX),
        "MIN" => pick(f64::MIN, f32::MIN),
        "MIN_POSITIVE" => pick(f64::MIN_POSITIVE, f32::MIN_POSITIVE),
        "DIGITS" => count(f64::DIGITS.into(), f32::DIGITS.into()),
        "MANTISSA_DIGITS" => count(f64::MANTISSA_DIGITS.into(), f32::MANTISSA_DIGITS.into()),
        "RADIX" => count(f64::RADIX.into(), f32::RADIX.into()),
        "MAX_EXP" => count(f64::MAX_EXP.into(), f32::MAX_EXP.into()),
        "MIN_EXP" => count(f64::MIN_EXP.into(), f32::MIN_EXP.into()),
        "MAX_10_EXP" => count(f64::MAX_10_EXP.into(), f32::MAX_10_EXP.into()),
        "MIN_10_EXP" => count(f64::MIN_10_EXP.into(), f32::MIN_10_EXP.into()),
        _ => None,
    }
}
