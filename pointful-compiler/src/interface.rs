//! How a Rust signature and the parameters, sizes and results of a [`Program`](crate::ir::Program)
//! correspond.
//!
//! Lowering flattens tuples, structs and product index sets and writes down here what became of
//! them; emission reads it to take arguments apart, to check extents at entry and to put the result
//! together.

use proc_macro2::{Ident, TokenStream};

use crate::ir::{Message, Scalar, SizeId};
use crate::syntax::tree::Output;

/// The correspondence for one function.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// By [`SizeId`]: where the extent is found at entry.
    pub extents: Vec<ExtentSource>,
    /// Other places with an extent of the same set, which must agree with it.
    pub checks: Vec<(SizeId, ExtentSource)>,
    /// Rows of different lengths that must be the same in two places.
    pub rows: Vec<(Access, Access)>,
    /// By parameter of the program.
    pub params: Vec<ParamSource>,
    /// Functions that the program calls and knows nothing of, each part of their results one of its
    /// own.
    pub functions: Vec<FunctionSource>,
    /// Where the result is a function: what it takes, by the names that the sources of parameters
    /// have for it.
    pub returned: Option<Vec<Ident>>,
    /// The Rust result. Its leaves, in order, are the program's first results.
    pub result: Shape,
    /// Of a function that keeps something for another: how many of the program's results after the
    /// Rust result. It gives what it keeps beside its result.
    pub kept: Option<usize>,
    /// Whether another function, which has tables, has kept something for this one.
    pub is_given_kept: bool,
    /// `&mut` tables among the parameters: the program's last results, one each, are put back into
    /// them.
    pub write_back: Vec<Access>,
    /// Constants that must have the same value, and what to say if they have not.
    pub equal: Vec<(TokenStream, TokenStream, String)>,
    /// Whether the signature is generic in a float, of which the program is for one choice: then
    /// floats are taken and given as that choice.
    pub generic_floats: bool,
}

impl Interface {
    /// The interfaces of two functions that one is, which gives two things: the first gives the
    /// first of them without these parameters, which are the last, the second gives the other. None
    /// if it cannot be two.
    pub(crate) fn staged(self, late: &[String]) -> Option<[Self; 2]> {
        let Shape::Tuple(results) = &self.result else {
            return None;
        };
        let [first, second] = results.as_slice() else {
            return None;
        };
        if self.returned.is_some() || !self.write_back.is_empty() {
            return None;
        }
        let is_late = |access: &Access| late.contains(&access.root.to_string());
        let late_source = |source: &ExtentSource| match &source.carrier {
            Carrier::Table(access) | Carrier::Elements(access) | Carrier::Extent(access) => {
                is_late(access)
            }
            Carrier::Static(_) => false,
        };
        let own = |source: &ParamSource| !source.access().is_some_and(is_late);
        let early = self.params.iter().take_while(|source| own(source)).count();
        if self.params[early..].iter().any(own) || self.extents.iter().any(late_source) {
            return None;
        }
        let (first, second) = (first.clone(), second.clone());
        let before = Self {
            checks: (self.checks.iter())
                .filter(|(_, source)| !late_source(source))
                .cloned()
                .collect(),
            rows: (self.rows.iter())
                .filter(|(left, right)| !is_late(left) && !is_late(right))
                .cloned()
                .collect(),
            params: self.params[..early].to_vec(),
            result: first,
            ..self.clone()
        };
        let after = Self {
            result: second,
            ..self
        };
        Some([before, after])
    }
}

impl ParamSource {
    /// The part of an argument that it is.
    pub(crate) fn access(&self) -> Option<&Access> {
        match self {
            Self::Scalar(access, _)
            | Self::Index(access, _)
            | Self::Table(access)
            | Self::Owned(access)
            | Self::Array(access, _) => Some(access),
            Self::Kept(_) | Self::Constant { .. } => None,
        }
    }
}

/// A Rust expression that reaches a part of an argument, or a constant.
#[derive(Clone, Debug)]
pub struct Access {
    /// The parameter's name, or a path to a constant.
    pub root: TokenStream,
    /// Fields of tuples and structs, outermost first.
    pub fields: Vec<Field>,
    /// What messages call it: `points`, `model.weights`.
    pub name: String,
}

/// How a field is reached.
#[derive(Clone, Debug)]
pub enum Field {
    /// By its name.
    Named(syn::Member),
    /// By its position, through the trait that all structs have: where the function stands the name
    /// may be private.
    Hidden(usize),
    /// By a method without arguments that gives a reference: a part of a `Ragged`.
    Called(&'static str),
    /// Of an enum: the sum of what its variants hold, which are tuples of references.
    Sum,
    /// Of such a tuple: what the reference at a position refers to.
    Referred(usize),
    /// Of a value of one of two kinds: whether it is of the second.
    IsSecond,
    /// Of a value of one of two kinds: what it holds if it is of the first, with the flag of the
    /// second; zeros if it is of the other.
    Held(bool),
}

impl Access {
    /// Whether the part may not be there.
    pub fn is_held(&self) -> bool {
        let held = |field: &Field| matches!(field, Field::Held(_));
        self.fields.iter().any(held)
    }
}

/// Where a parameter of the program comes from.
#[derive(Clone, Debug)]
pub enum ParamSource {
    /// A scalar argument, or part of one; with the generic float that its type is, if it is one.
    Scalar(Access, Option<Ident>),
    /// A member of an index set, passed as its ordinal: it is checked against the extent.
    Index(Access, SetShape),
    /// A table by reference.
    Table(Access),
    /// A table by value, or behind `&mut`.
    Owned(Access),
    /// What another function has kept, by its number: a number or a table's elements.
    Kept(usize),
    /// An array `[[f64; 3]; 2]`: flattened; the number is its rank.
    Array(Access, usize),
    /// A constant, or a part of one.
    Constant {
        /// Its path, and the fields on the way to the part.
        access: Access,
        /// What it is taken for.
        taken: Taken,
        /// How many axes it has.
        rank: usize,
        /// Of a member, or of what may be one, its set.
        set: Option<SetShape>,
    },
}

/// What a program takes a constant for, whose type only rustc knows.
#[derive(Clone, Debug)]
pub enum Taken {
    /// A value of this type.
    Exactly(TokenStream),
    /// Integers, of any type, or arrays of them, which are made into this one.
    Integer(TokenStream),
    /// Numbers, of any type, or arrays of them, which are made into this one, of floats.
    Number(TokenStream),
    /// A member of this index set, which is its number.
    Member(TokenStream),
    /// An integer, or a member of this index set, which is its number.
    Index(TokenStream),
}

impl Taken {
    /// Whether rustc can compute what it is taken for: numbers of members are computed at entry.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Exactly(_) | Self::Integer(_) | Self::Number(_))
    }
}

/// What a function is that the program calls and knows nothing of.
#[derive(Clone, Debug)]
pub enum FunctionSource {
    /// One that only the caller knows.
    Given(GivenFunction),
    /// One whose body is not read.
    Extern(Extern),
    /// Prints what it is given, but for its first operand, which it gives back.
    Print(Printing),
}

/// A function whose body is not read.
#[derive(Clone, Debug)]
pub struct Extern {
    /// An expression for it where the root stands.
    pub path: TokenStream,
    /// How many parameters it has.
    pub arity: usize,
}

/// Something that is printed.
#[derive(Clone, PartialEq, Debug)]
pub struct Printing {
    /// Where.
    pub output: Output,
    /// What.
    pub message: Message,
    /// The types of the values in it.
    pub shown: Vec<Scalar>,
}

/// A function that only the caller knows, from scalars to a part of its result that is one.
#[derive(Clone, Debug)]
pub struct GivenFunction {
    /// The parameter.
    pub access: Access,
    /// How its arguments are put together, of scalars in order.
    pub params: Vec<Shape>,
    /// The fields on the way to the part.
    pub fields: Vec<Field>,
    /// The set that the part is a member of, if it is one.
    pub member: Option<SetShape>,
}

/// Where an extent is found.
#[derive(Clone, Debug)]
pub struct ExtentSource {
    /// What carries it.
    pub carrier: Carrier,
    /// Which component, through nested products.
    pub path: Vec<usize>,
    /// The index set, as messages call it.
    pub set: String,
}

/// What carries an extent.
#[derive(Clone, Debug)]
pub enum Carrier {
    /// The axes of a table.
    Table(Access),
    /// The set that the members in a table of indices belong to.
    Elements(Access),
    /// A parameter of type `Extent<I>`.
    Extent(Access),
    /// A type whose size is static: `Fin<N>`.
    Static(TokenStream),
}

/// How a Rust value is put together from results.
#[derive(Clone, Debug, Default)]
pub enum Shape {
    /// `()`
    #[default]
    Unit,
    /// One scalar.
    Scalar,
    /// A member of an index set, from its ordinal.
    Index(SetShape),
    /// A table over this set; of members of another set if given.
    Table {
        /// The axes.
        set: SetShape,
        /// The set that elements are members of.
        elements: Option<SetShape>,
    },
    /// Rows of different lengths, as those of a part of an argument; of members of another set if
    /// given.
    Ragged {
        /// What has such rows.
        rows: Access,
        /// The set that elements are members of.
        elements: Option<SetShape>,
    },
    /// An extent.
    Extent(SetShape),
    /// A tuple.
    Tuple(Vec<Shape>),
    /// A value of one of two kinds: what both hold.
    OneOf(Box<[Shape; 2]>),
    /// A struct with these fields, in the order of its definition. It needs no name: it is known by
    /// the type it must have.
    Struct(Vec<Shape>),
}

impl Shape {
    /// How many results of a program it is put together from.
    pub fn leaves(&self) -> usize {
        match self {
            Self::Unit | Self::Extent(_) => 0,
            Self::Scalar | Self::Index(_) | Self::Table { .. } | Self::Ragged { .. } => 1,
            Self::Tuple(parts) | Self::Struct(parts) => parts.iter().map(Self::leaves).sum(),
            Self::OneOf(sides) => 1 + sides.iter().map(Self::leaves).sum::<usize>(),
        }
    }
}

/// An index set in terms of the sizes bound at entry.
#[derive(Clone, Debug)]
pub enum SetShape {
    /// The set whose extent is this size.
    Size(SizeId),
    /// A set of static size, by its type.
    Static(TokenStream),
    /// A tuple, or with a type a struct with these parts.
    Product(Option<TokenStream>, Vec<SetShape>),
    /// `Either<A, B>`
    Either(Box<SetShape>, Box<SetShape>),
    /// `Dyn`, with the length given by the table's own extent as computed.
    Dyn,
}
