//! The Surface tree.
//!
//! Paths are kept as the user wrote them. Which function, constant or type a path means is decided
//! by gathering ([`Linked`]) and by lowering, never by the parser. Every node has a span; composite
//! nodes join the spans of their parts.

#![expect(
    missing_docs,
    reason = "the fields of a variant are explained by the syntax it shows"
)]

use proc_macro2::{Ident, Span, TokenStream};

use super::parse::EXTERN;

/// A function with everything that it was linked with.
#[derive(Clone, Debug)]
pub struct Linked {
    /// A place of the user's own.
    pub user: Span,
    /// Whether tables may live on devices.
    pub devices: bool,
    /// The function to compile.
    pub root: Function,
    /// Every function it calls, directly or not, each before its callers; never recursive.
    pub callees: Vec<Callee>,
    /// Structs, enums and aliases that signatures and bodies name.
    pub types: Vec<TypeDef>,
}

/// A function that another one calls.
#[derive(Clone, Debug)]
pub struct Callee {
    /// Its identity in [`Scope::functions`].
    pub id: usize,
    /// The function; spans point to its own definition when that is in this crate.
    pub function: Function,
}

/// What the paths in one function's body and signature mean.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Called path, as [`path_key`] prints it (`m::f`), and the [`Callee::id`] it means.
    pub functions: Vec<(String, usize)>,
    /// Type path as [`path_key`] prints it (`m::Pixel`), and the index into [`Linked::types`] it
    /// means.
    pub types: Vec<(String, usize)>,
    /// Path of a constant as [`path_key`] prints it (`DRAG`, `m::DRAG`, `std::f64::consts::PI`),
    /// and an expression with its value that is valid where the root stands: for the root the path
    /// itself, for a callee a constant that its carrier exports. Lowering infers the types; the
    /// root's own carrier needs them.
    pub constants: Vec<(String, TokenStream)>,
}

/// A type that exported itself.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its name.
    pub name: Ident,
    /// A path to it that is valid where the root stands, if there is one.
    pub path: Option<syn::Path>,
    /// What it says.
    pub item: TypeItem,
}

/// The definition of a type.
#[derive(Clone, Debug)]
pub struct TypeItem {
    /// Generic parameters in order; index sets have none.
    pub generics: Vec<Generic>,
    /// What it is.
    pub kind: TypeDefKind,
    /// The fields that not everybody can name.
    pub hidden: Vec<Ident>,
}

/// What a named type is.
#[derive(Clone, Debug)]
pub enum TypeDefKind {
    /// `#[derive(IndexSet)] struct Pixel(usize);`
    NominalSet,
    /// `#[derive(IndexSet)] enum Channel { R, G, B }`
    EnumSet(Vec<Ident>),
    /// `#[derive(IndexSet)] struct Cell { row: Row, col: Col }`
    ProductSet(Vec<(Ident, Type)>),
    /// `#[pointful] struct Model<N: IndexSet> { … }`
    Struct(Vec<(Ident, Type)>),
    /// `#[pointful] enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Nothing }`
    Enum(Enum),
    /// `#[pointful] type Image = Table<(Row, Col), f64>;`
    Alias(Type),
}

/// An enum whose variants hold values. It is a struct of one field, which nobody can name: the sum
/// of tuples of what the variants hold.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The variants in order.
    pub variants: Vec<Variant>,
    /// The field.
    pub sum: [(Ident, Type); 1],
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: Ident,
    /// The names of its fields: of a tuple none has one.
    pub fields: VariantFields,
}

/// What a variant holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VariantFields {
    /// `Circle(f64)`, `Nothing`: so many values.
    Tuple(usize),
    /// `Rect { w: f64, h: f64 }`
    Named(Vec<Ident>),
}

/// One annotated function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Generic parameters in order.
    pub generics: Vec<Generic>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The result; `()` when none is written.
    pub result: Type,
    /// The body.
    pub body: Block,
    /// What its paths mean.
    pub scope: Scope,
    /// Options of the attribute: `vjp = g`, `jvp = g`, `remat`, `associative`, `extern`.
    pub options: Vec<(Ident, Option<syn::Path>)>,
}

impl Function {
    /// Whether its attribute has an option.
    pub fn has_option(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }

    /// Whether its body is any Rust, which is not read and here empty.
    pub fn is_extern(&self) -> bool {
        self.has_option(EXTERN)
    }
}

/// A generic parameter.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub kind: GenericKind,
}

/// What a generic parameter stands for.
#[derive(Clone, Debug)]
pub enum GenericKind {
    /// `N: IndexSet`
    IndexSet,
    /// `T: Float`
    Float,
    /// `const N: usize`
    Const,
    /// `F: Fn(A) -> B`, in brackets or a `where` clause
    Function(Vec<Type>, Box<Type>),
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
    /// `mut x: …`
    pub mutable: bool,
    /// Marked `#[constant]`.
    pub constant: bool,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `f64`, `usize`, `bool`, … : one of the scalar types, by name.
    Scalar(crate::ir::Scalar),
    /// A path that is not a word of the language, and its arguments: a generic, an index set (a
    /// member of it), a struct or an alias.
    Path(syn::Path, Vec<TypeArg>),
    /// `Fin<N>`, `Either<A, B>`, `Dyn`: a member of that index set.
    Set(Box<Set>),
    /// `Table<I, T>`
    Table(Set, Box<Type>),
    /// `Tables<I, S>`: a table of structs, as the struct of tables that it is outside of bodies.
    Tables(Set, Box<Type>),
    /// `Ragged<I, T>`: rows of different lengths.
    Ragged(Set, Box<Type>),
    /// `Extent<I>`
    Extent(Set),
    /// `Accum<T>`: an accumulator of what `get()` gives.
    Accum(Box<Type>),
    /// `(A, B)`, `()`
    Tuple(Vec<Type>),
    /// `[T; N]`
    Array(Box<Type>, Box<Expr>),
    /// `&T`, `&mut T`
    Ref { mutable: bool, inner: Box<Type> },
    /// `impl Fn(A) -> B`, `fn(A) -> B`
    Function(Vec<Type>, Box<Type>),
    /// `Option<T>`, or `Either<A, B>` of two types of which one is no index set: in bodies.
    OneOf(Vec<Type>),
    /// `_`
    Infer,
}

/// What a generic struct or alias is given.
#[derive(Clone, Debug)]
pub enum TypeArg {
    /// A type or an index set; also a const generic or constant, which Rust's grammar does not tell
    /// from them.
    Type(Type),
    /// A length: `3`, `{ N }`.
    Length(Box<Expr>),
}

/// An index set as written, in a type or after `in`.
#[derive(Clone, Debug)]
pub struct Set {
    /// What it is.
    pub kind: SetKind,
    /// Where.
    pub span: Span,
}

/// An index set as written.
#[derive(Clone, Debug)]
pub enum SetKind {
    /// A generic parameter, a derived set, an alias with its arguments — or, after `in`, a local of
    /// type `Extent`.
    Path(syn::Path, Vec<TypeArg>),
    /// `Fin<3>`, `Fin::<N>`; the length is a literal, a const generic or a constant.
    Fin(Box<Expr>),
    /// `(A, B)`
    Product(Vec<Set>),
    /// `Either<A, B>`
    Either(Box<Set>, Box<Set>),
    /// `bool`
    Bool,
    /// `()`
    Unit,
    /// `Dyn`
    Dyn,
    /// `_`
    Infer,
}

/// `{ … }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Statements in order.
    pub stmts: Vec<Stmt>,
    /// The value: the last expression without a semicolon.
    pub value: Option<Box<Expr>>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most statements are the large variant"
)]
pub enum Stmt {
    /// `let p: T = e;`, `let x;` is an error of the parser
    Let {
        pattern: Pattern,
        ty: Option<Type>,
        value: Expr,
        span: Span,
    },
    /// An expression whose value is not used. `semicolon` tells `e;` from a block-like expression
    /// in statement position.
    Expr { expr: Expr, semicolon: bool },
}

/// A pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `x`, `mut x`
    Name { name: Ident, mutable: bool },
    /// `_`
    Wild(Span),
    /// `(p, q)`
    Tuple(Vec<Pattern>, Span),
    /// `p: T`, in closures
    Typed(Box<Pattern>, Type),
    /// `Channel::R`, `Either::Left(p)`, in `match`
    Variant {
        path: syn::Path,
        inner: Vec<Pattern>,
        span: Span,
    },
    /// `Cell { row, col }`
    Struct {
        path: syn::Path,
        fields: Vec<(Ident, Pattern)>,
        /// Whether `..` stands for all other fields.
        rest: bool,
        span: Span,
    },
    /// `0`, `true`; with the flag `-1`
    Lit(Lit, bool),
}

impl Pattern {
    /// Adds the names that the pattern binds.
    pub fn names<'p>(&'p self, found: &mut Vec<&'p Ident>) {
        match self {
            // That is a pattern without a variable.
            Self::Name { name, .. } if name == "None" => {}
            Self::Name { name, .. } => found.push(name),
            Self::Wild(_) | Self::Lit(..) => {}
            Self::Typed(inner, _) => inner.names(found),
            Self::Tuple(parts, _) | Self::Variant { inner: parts, .. } => {
                parts.iter().for_each(|part| part.names(found));
            }
            Self::Struct { fields, .. } => fields.iter().for_each(|(_, part)| part.names(found)),
        }
    }
}

/// A literal as written.
#[derive(Clone, Debug)]
pub struct Lit {
    /// Its value and suffix.
    pub kind: LitKind,
    /// Where.
    pub span: Span,
}

/// A literal.
#[derive(Clone, Debug)]
pub enum LitKind {
    /// `1`, `1usize`
    Int {
        value: u128,
        suffix: Option<crate::ir::Scalar>,
    },
    /// `1.0`, `1.0f32`
    Float {
        value: f64,
        suffix: Option<crate::ir::Scalar>,
    },
    /// `true`
    Bool(bool),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// A unary operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `!x`
    Not,
}

/// Where something is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// `println!`
    Standard,
    /// `eprintln!`, `dbg!`
    Error,
}

/// A binary operator that is not lazy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// What a `for` runs over.
#[derive(Clone, Debug)]
pub enum Iter {
    /// `N`, `(N, M)`, `_`, `Fin::<3>`, `n` of type `Extent<N>`, a variable that is a table: its rows
    Set(Set),
    /// `t.rows()`, `m.w`, `t[i]`: the rows of a table
    Rows(Box<Expr>),
    /// `a..b`, `a..=b`, `..b`, `..=b`, `a..`: integers or members of a set, decided by type
    Range {
        start: Option<Box<Expr>>,
        end: Option<Box<Expr>>,
        inclusive: bool,
        span: Span,
    },
    /// `it.rev()`
    Rev(Box<Iter>, Span),
    /// `it.skip(1)`
    Skip(Box<Iter>, Box<Expr>, Span),
}

/// An attribute before a loop.
#[derive(Clone, Debug)]
pub struct LoopAttr {
    /// Its name.
    pub name: Ident,
    /// What it says.
    pub kind: LoopAttrKind,
}

/// What an attribute before a loop says.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are few of them, each held for a moment"
)]
pub enum LoopAttrKind {
    /// `#[bound(n)]`
    Bound(Expr),
    /// `#[checkpoint]`, `#[checkpoint(every = 8)]`, `#[checkpoint(levels = 2)]`
    Checkpoint(crate::ir::Checkpoint),
}

/// `grad!(f, wrt = x)`
#[derive(Clone, Debug)]
pub struct Transform {
    /// `grad`
    pub name: Ident,
    /// What it transforms.
    pub of: Transformed,
    /// `wrt = x`, `wrt = (w, b)`, `over = x`: parameters by name.
    pub options: Vec<(Ident, Vec<Ident>)>,
}

/// What a transformation applies to.
#[derive(Clone, Debug)]
pub enum Transformed {
    /// A function.
    Path(syn::Path),
    /// Another transformation: `grad!(grad!(f))`.
    Transform(Box<Transform>),
}

/// A match arm.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The patterns, alternatives of `|`.
    pub patterns: Vec<Pattern>,
    /// `if e`
    pub guard: Option<Expr>,
    /// Its value.
    pub body: Expr,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `1.0`
    Lit(Lit),
    /// A variable, a constant, a function as a value, an enum member, `N::SIZE`.
    Path(syn::Path),
    /// `f::<N, 3>`: a function, and what it is given for its generics.
    Instance(syn::Path, Vec<TypeArg>),
    /// `-x`, `!x`
    Unary(UnaryOp, Box<Expr>),
    /// `x + y`; the span is that of the operator
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `x && y`
    And(Box<Expr>, Box<Expr>),
    /// `x || y`
    Or(Box<Expr>, Box<Expr>),
    /// `x as f32`
    Cast(Box<Expr>, Type),
    /// `f(x, y)`: a function, a closure, a word of the language (`sum`), a constructor
    Call(Box<Expr>, Vec<Expr>),
    /// `x.f(y)`
    Method {
        receiver: Box<Expr>,
        name: Ident,
        args: Vec<Expr>,
    },
    /// `x.f`, `x.0`
    Field(Box<Expr>, syn::Member),
    /// `t[e]`
    Index(Box<Expr>, Box<Expr>),
    /// `(x, y)`, `()`
    Tuple(Vec<Expr>),
    /// `[x, y]`
    Array(Vec<Expr>),
    /// `[x; n]`
    Repeat(Box<Expr>, Box<Expr>),
    /// `{ … }`
    Block(Block),
    /// `(e)`; kept because `(for …)` is not a statement
    Paren(Box<Expr>),
    /// `if c { … } else { … }`
    If {
        cond: Box<Expr>,
        then: Block,
        otherwise: Option<Box<Expr>>,
    },
    /// `for p in it { … }`
    For {
        attrs: Vec<LoopAttr>,
        pattern: Pattern,
        iter: Iter,
        body: Block,
    },
    /// `while c { … }`
    While {
        attrs: Vec<LoopAttr>,
        cond: Box<Expr>,
        body: Block,
    },
    /// `match e { … }`
    Match(Box<Expr>, Vec<Arm>),
    /// `|x| e`, `move |x: f64| e`
    Closure {
        params: Vec<Pattern>,
        body: Box<Expr>,
    },
    /// `x = e`, `x += e`; the span is that of the operator
    Assign {
        op: Option<BinaryOp>,
        op_span: Span,
        place: Box<Expr>,
        value: Box<Expr>,
    },
    /// `&e`, `&mut e`
    Ref { mutable: bool, inner: Box<Expr> },
    /// `*e`
    Deref(Box<Expr>),
    /// `Model { w, b: e, ..m }`
    Struct {
        path: syn::Path,
        args: Vec<TypeArg>,
        fields: Vec<(Ident, Expr)>,
        base: Option<Box<Expr>>,
    },
    /// `a..b` outside `for`
    Range {
        start: Option<Box<Expr>>,
        end: Option<Box<Expr>>,
        inclusive: bool,
    },
    /// `assert!(e, "… {}", x)`
    Assert {
        cond: Box<Expr>,
        message: crate::ir::Message,
        shown: Vec<Expr>,
    },
    /// `println!("… {}", x)`
    Print {
        output: Output,
        message: crate::ir::Message,
        shown: Vec<Expr>,
    },
    /// `dbg!(e)`: the value, which is printed behind a text.
    Debug { text: String, value: Box<Expr> },
    /// `grad!(f)`, `jvp!(f, wrt = x)`: a transformation of a function, usable where a function is
    Transform(Transform),
    /// `Fin::<3>`, `Either::<A, B>`, `bool` where a value stands: the set's extent. Other sets are
    /// paths.
    Set(Box<Set>),
    /// `Extent::new(n)`, `Extent::<Dyn>::new(n)`
    NewExtent(Option<Box<Set>>, Vec<Expr>),
    /// `N::from_ordinal(k, n)`
    FromOrdinal(Box<Set>, Vec<Expr>),
    /// `_` where an expression may stand
    Infer,
}

/// A path as [`Scope`] has it: the names with `::` between them, without spaces and without generic
/// arguments.
pub fn path_key(path: &syn::Path) -> String {
    let mut key = String::new();
    for (at, segment) in path.segments.iter().enumerate() {
        if at > 0 || path.leading_colon.is_some() {
            key.push_str("::");
        }
        key.push_str(&segment.ident.to_string());
    }
    key
}
