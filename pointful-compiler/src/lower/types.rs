//! Types and index sets of expressions, as terms with variables.
//!
//! A table keeps how its axes are grouped, because a reduction takes the outermost group:
//! `for (i, j) in _` makes one group of two axes, two nested `for`s make two groups of one. For
//! everything else `Table<(A, B), T>` and a table of tables are the same.

use super::solve::{SetKind, Solver, TyKind};
use crate::ir::Scalar;
use crate::syntax::tree::{Linked, TypeDefKind};

/// The type of an expression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Ty {
    /// Not known yet.
    Var(u32),
    /// A machine scalar.
    Scalar(Scalar),
    /// The generic float at this position of the function's generics.
    Float(usize),
    /// A member of an index set. A member of a product is a tuple of members, one of `bool` is a
    /// `bool`.
    Member(Set),
    /// `i + 1`: a position relative to a member, perhaps outside of the set.
    Offset(Set),
    /// Groups of axes, outermost first, and what is held.
    Table(Vec<Set>, Box<Ty>),
    /// `(A, B)`, `()`
    Tuple(Vec<Ty>),
    /// The struct at this position of the linked types, with the types of its fields.
    Struct(usize, Vec<Ty>),
    /// The size of a set.
    Extent(Set),
    /// A function or closure.
    Function(Vec<Ty>, Box<Ty>),
    /// An accumulator of values of this type.
    Accum(Box<Ty>),
    /// `Option<T>`, what `t.get(i)` gives.
    Option(Box<Ty>),
    /// `Either<A, B>` of values that are not both members: what is on the left, what on the right.
    Either(Box<[Ty; 2]>),
    /// Something that was reported already; equal to everything.
    Error,
}

/// An index set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Set {
    /// Not known yet, or an occurrence of `Dyn`.
    Var(u32),
    /// The generic at this position of the function's generics.
    Param(usize),
    /// The derived set at this position of the linked types: nominal or an enum.
    Named(usize),
    /// A derived product with the sets of its fields.
    Record(usize, Vec<Set>),
    /// `Fin<N>`
    Fin(Len),
    /// `(A, B)`; `()` is the product of nothing and has one member.
    Product(Vec<Set>),
    /// `Either<A, B>`
    Either(Box<Set>, Box<Set>),
    /// `bool`
    Bool,
    /// What one particular range in the function runs over.
    Range(u32),
    /// The values of all rows of `Ragged<I, T>`: the set that has a row for each member, and what
    /// stands for the lengths of rows, a variable.
    Ragged(Box<Set>, Box<Set>),
    /// The places in the row at a member: the lengths of rows, and the variable that is the member.
    Row(Box<Set>, u32),
    /// Something that was reported already.
    Error,
}

/// A length that rustc knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Len {
    /// `3`
    Lit(u64),
    /// The const generic at this position of the function's generics.
    Param(usize),
    /// A constant, by an expression for it that is valid where the root stands: what names it in
    /// one function may mean another one elsewhere.
    Const(String),
}

impl Ty {
    /// `()`
    pub(super) const UNIT: Ty = Ty::Tuple(Vec::new());
    /// `bool`
    pub(super) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
    /// `usize`
    pub(super) const USIZE: Ty = Ty::Scalar(Scalar::Usize);

    /// A table, merged with the element's own axes if it is a table itself.
    pub(super) fn table(mut groups: Vec<Set>, elem: Ty) -> Ty {
        match elem {
            Ty::Table(inner, elem) => {
                groups.extend(inner);
                Ty::Table(groups, elem)
            }
            elem if groups.is_empty() => elem,
            elem => Ty::Table(groups, Box::new(elem)),
        }
    }
}

impl Set {
    /// `()`
    pub(super) const UNIT: Set = Set::Product(Vec::new());

    /// The set's components, through nested tuples.
    pub(super) fn atoms(&self) -> Vec<Set> {
        match self {
            Set::Product(parts) => parts.iter().flat_map(Set::atoms).collect(),
            other => vec![other.clone()],
        }
    }

    /// The set of these components: the component itself if it is one.
    pub(super) fn product(mut parts: Vec<Set>) -> Set {
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Set::Product(parts)
        }
    }
}

/// The components of all groups.
pub(super) fn atoms(groups: &[Set]) -> Vec<Set> {
    groups.iter().flat_map(Set::atoms).collect()
}

/// Puts new groups around what is left of `groups` after `taken` axes were selected.
pub(super) fn drop_atoms(groups: &[Set], mut taken: usize) -> Vec<Set> {
    let mut rest = Vec::new();
    for group in groups {
        let parts = group.atoms();
        if taken >= parts.len() {
            taken -= parts.len();
        } else if taken > 0 {
            rest.push(Set::product(parts[taken..].to_vec()));
            taken = 0;
        } else {
            rest.push(group.clone());
        }
    }
    rest
}

/// Prints types the way the user writes them.
pub(super) struct Printer<'a> {
    /// The names of derived sets and structs.
    pub(super) linked: &'a Linked,
    /// The function's generics by position.
    pub(super) generics: &'a [String],
    /// What is known of variables.
    pub(super) solver: &'a Solver,
    /// Whether ranges are shown as they are written, or as signatures have them, which cannot name
    /// them.
    pub(super) shows_ranges: bool,
}

impl Printer<'_> {
    /// The type, as in a signature.
    pub(super) fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Var(v) => match self.solver.kind(*v) {
                TyKind::Any => "_".into(),
                TyKind::Number => "{number}".into(),
                TyKind::Int => "{integer}".into(),
                TyKind::Float => "{float}".into(),
            },
            Ty::Error => "_".into(),
            Ty::Scalar(s) => s.name().into(),
            Ty::Float(k) => self.generic(*k),
            Ty::Member(set) => format!("a member of `{}`", self.set(set)),
            Ty::Offset(set) => format!("an offset in `{}`", self.set(set)),
            Ty::Table(groups, elem) => {
                let atoms = atoms(groups);
                let elem = match &**elem {
                    Ty::Member(set) => self.set(set),
                    other => self.ty(other),
                };
                if let [Set::Ragged(rows, _)] = atoms.as_slice() {
                    return format!("Ragged<{}, {elem}>", self.set(rows));
                }
                format!("Table<{}, {elem}>", self.set(&Set::product(atoms)))
            }
            Ty::Tuple(parts) => self.list("(", parts.iter().map(|p| self.ty(p)).collect(), ")"),
            Ty::Struct(id, _) => self.named(*id),
            Ty::Extent(set) => format!("Extent<{}>", self.set(set)),
            Ty::Function(params, result) => format!(
                "{} -> {}",
                self.list("Fn(", params.iter().map(|p| self.ty(p)).collect(), ")"),
                self.ty(result)
            ),
            Ty::Accum(_) => "an accumulator".into(),
            Ty::Option(inner) => format!("Option<{}>", self.ty(inner)),
            Ty::Either(sides) => format!("Either<{}, {}>", self.ty(&sides[0]), self.ty(&sides[1])),
        }
    }

    /// The type between backticks, unless it is described in words.
    pub(super) fn quoted(&self, ty: &Ty) -> String {
        match ty {
            Ty::Member(_) | Ty::Offset(_) | Ty::Accum(_) => self.ty(ty),
            _ => format!("`{}`", self.ty(ty)),
        }
    }

    /// The set, as in a signature.
    pub(super) fn set(&self, set: &Set) -> String {
        match set {
            Set::Var(v) if self.solver.set_kind(*v) != SetKind::Free => "Dyn".into(),
            Set::Var(_) | Set::Error => "_".into(),
            Set::Param(k) => self.generic(*k),
            Set::Named(id) | Set::Record(id, _) => self.named(*id),
            Set::Fin(Len::Lit(n)) => format!("Fin<{n}>"),
            Set::Fin(Len::Param(k)) => format!("Fin<{}>", self.generic(*k)),
            Set::Fin(Len::Const(value)) => format!("Fin<{}>", constant_name(self.linked, value)),
            Set::Product(parts) => self.list("(", parts.iter().map(|p| self.set(p)).collect(), ")"),
            Set::Either(a, b) => format!("Either<{}, {}>", self.set(a), self.set(b)),
            Set::Bool => "bool".into(),
            Set::Range(k) if self.shows_ranges => self.solver.range(*k).to_owned(),
            Set::Row(..) if self.shows_ranges => "a row".into(),
            Set::Range(_) | Set::Row(..) => "Dyn".into(),
            Set::Ragged(..) if !self.shows_ranges => "Dyn".into(),
            Set::Ragged(rows, _) => format!("values of rows of {}", self.set(rows)),
        }
    }

    fn generic(&self, k: usize) -> String {
        self.generics.get(k).cloned().unwrap_or_else(|| "_".into())
    }

    fn named(&self, id: usize) -> String {
        self.linked.types[id].name.to_string()
    }

    fn list(&self, open: &str, parts: Vec<String>, close: &str) -> String {
        format!("{open}{}{close}", parts.join(", "))
    }
}

/// The lengths that must be the same as this one, itself among them.
pub(super) fn same_length<'a>(equal: &'a [(String, String)], value: &'a str) -> Vec<&'a str> {
    let mut class = vec![value];
    let mut at = 0;
    while let Some(&known) = class.get(at) {
        at += 1;
        for (x, y) in equal {
            for (one, other) in [(x, y), (y, x)] {
                if one == known && !class.contains(&other.as_str()) {
                    class.push(other);
                }
            }
        }
    }
    class
}

/// What a user calls a length that is this expression.
pub(super) fn constant_name(linked: &Linked, value: &str) -> String {
    match super::lengths::array(value) {
        Some(array) => format!("{}.len", constant_path(linked, &array)),
        None => constant_path(linked, value).to_owned(),
    }
}

/// What a user calls a constant that is this expression.
fn constant_path<'a>(linked: &'a Linked, value: &'a str) -> &'a str {
    let callees = linked.callees.iter().map(|callee| &callee.function);
    let mut scopes = callees
        .chain([&linked.root])
        .map(|function| &function.scope);
    let known = scopes.find_map(|scope| {
        let mut constants = scope.constants.iter();
        constants.find(|(_, tokens)| tokens.to_string() == value)
    });
    known.map_or(value, |(name, _)| name)
}

/// How many members an enum has, if the type is one.
pub(super) fn enum_len(linked: &Linked, id: usize) -> Option<usize> {
    match &linked.types[id].item.kind {
        TypeDefKind::EnumSet(members) => Some(members.len()),
        TypeDefKind::NominalSet
        | TypeDefKind::ProductSet(_)
        | TypeDefKind::Struct(_)
        | TypeDefKind::Enum(_)
        | TypeDefKind::Alias(_) => None,
    }
}
