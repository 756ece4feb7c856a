//! Index sets and types, and how they are written.

use std::fmt;

use super::{GENERICS, Source};

/// An index set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Set {
    /// One of the function's parameters, by number.
    Generic(usize),
    /// `Fin<n>`
    Fin(usize),
    /// `bool`
    Bool,
    /// `()`
    Unit,
    /// The enum `Hue`.
    Hue,
    /// The struct `Pixel`.
    Pixel,
    /// `Either<A, B>`
    Either(Box<Set>, Box<Set>),
}

/// What tables hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Elem {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `i64`
    I64,
    /// `i32`
    I32,
    /// `i16`
    I16,
    /// `isize`
    Isize,
    /// `u8`
    U8,
    /// `u64`
    U64,
    /// `usize`
    Usize,
    /// `bool`
    Bool,
    /// Members of a set.
    Member(Set),
    /// Values of several kinds.
    Held(Held),
}

/// A type whose values are of several kinds, and hold others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// The enum `Form`.
    Form,
    /// `Option<f64>`
    Option,
    /// `Either<f64, i64>`
    Either,
}

/// A table, or a scalar if it has no axes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Type {
    pub(super) dims: Vec<Set>,
    pub(super) elem: Elem,
}

impl Type {
    pub(super) fn scalar(elem: Elem) -> Self {
        Self::table(Vec::new(), elem)
    }

    pub(super) fn table(dims: Vec<Set>, elem: Elem) -> Self {
        Self { dims, elem }
    }
}

impl Set {
    /// How many members it has, if that is static.
    pub(super) fn members(&self) -> Option<usize> {
        match self {
            Set::Generic(_) | Set::Pixel => None,
            Set::Fin(n) => Some(*n),
            Set::Bool => Some(2),
            Set::Unit => Some(1),
            Set::Hue => Some(3),
            Set::Either(a, b) => Some(a.members()? + b.members()?),
        }
    }

    /// The set where an expression stands.
    pub(super) fn path(&self) -> String {
        match self {
            Set::Fin(n) => format!("Fin::<{n}>"),
            Set::Either(a, b) => format!("Either::<{a}, {b}>"),
            Set::Generic(_) | Set::Bool | Set::Unit | Set::Hue | Set::Pixel => self.to_string(),
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Set::Generic(k) => f.write_str(GENERICS[*k]),
            Set::Fin(n) => write!(f, "Fin<{n}>"),
            Set::Bool => f.write_str("bool"),
            Set::Unit => f.write_str("()"),
            Set::Hue => f.write_str("Hue"),
            Set::Pixel => f.write_str("Pixel"),
            Set::Either(a, b) => write!(f, "Either<{a}, {b}>"),
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::F64 => f.write_str("f64"),
            Elem::F32 => f.write_str("f32"),
            Elem::I64 => f.write_str("i64"),
            Elem::I32 => f.write_str("i32"),
            Elem::I16 => f.write_str("i16"),
            Elem::Isize => f.write_str("isize"),
            Elem::U64 => f.write_str("u64"),
            Elem::U8 => f.write_str("u8"),
            Elem::Usize => f.write_str("usize"),
            Elem::Bool => f.write_str("bool"),
            Elem::Member(set) => set.fmt(f),
            Elem::Held(Held::Form) => f.write_str("Form"),
            Elem::Held(Held::Option) => f.write_str("Option<f64>"),
            Elem::Held(Held::Either) => f.write_str("Either<f64, i64>"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dims.as_slice() {
            [] => self.elem.fmt(f),
            [one] => write!(f, "Table<{one}, {}>", self.elem),
            several => {
                let sets: Vec<String> = several.iter().map(ToString::to_string).collect();
                write!(f, "Table<({}), {}>", sets.join(", "), self.elem)
            }
        }
    }
}

impl Source {
    /// Some scalar type.
    pub(super) fn any_elem(&mut self) -> Elem {
        match self.rng.below(40) {
            0..22 => Elem::F64,
            22..24 => Elem::F32,
            24..30 => Elem::I64,
            30 => Elem::I32,
            31 => Elem::I16,
            32 => Elem::Isize,
            33 => Elem::U64,
            34 | 35 => Elem::U8,
            36 | 37 => Elem::Usize,
            _ => Elem::Bool,
        }
    }

    /// Some scalar type, or one whose values hold others: of what is neither parameter nor result.
    pub(super) fn inner_elem(&mut self) -> Elem {
        match self.rng.below(30) {
            0 | 1 => Elem::Held(Held::Form),
            2 => Elem::Held(Held::Option),
            3 => Elem::Held(Held::Either),
            _ => self.any_elem(),
        }
    }

    /// A set for a parameter's axis.
    pub(super) fn param_set(&mut self) -> Set {
        match self.rng.below(20) {
            0..12 => Set::Generic(self.rng.below(GENERICS.len())),
            12..15 => Set::Fin(1 + self.rng.below(3)),
            15 => Set::Bool,
            16 => Set::Hue,
            17 => Set::Unit,
            // Of static sets: the size of others is not for the inputs to choose.
            18 => Set::Either(Box::new(Set::Hue), Box::new(Set::Fin(2))),
            _ => Set::Pixel,
        }
    }

    /// A set to loop over: one whose size is known here.
    pub(super) fn loop_set(&mut self) -> Set {
        let dims: Vec<Set> = (self.scope.iter())
            .flat_map(|v| v.ty.dims.iter().cloned())
            .filter(|set| *set != Set::Unit)
            // How large it is, is computed where it is named: what is stored over it does not leave a loop.
            .filter(|set| {
                self.loops == 0 || !matches!(set, Set::Either(..)) || set.members().is_some()
            })
            .collect();
        if !dims.is_empty() && self.rng.chance(75) {
            let set = dims[self.rng.below(dims.len())].clone();
            if self.loops == 0 && matches!(set, Set::Generic(_)) && self.rng.chance(10) {
                return Set::Either(Box::new(set), Box::new(Set::Fin(2)));
            }
            return set;
        }
        match self.rng.below(8) {
            0..4 => Set::Fin(self.rng.below(4)),
            4 => Set::Bool,
            5 | 6 => Set::Hue,
            _ => Set::Either(Box::new(Set::Hue), Box::new(Set::Fin(1))),
        }
    }
}
