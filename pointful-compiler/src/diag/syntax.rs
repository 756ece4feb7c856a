//! Messages of parsing and gathering.

use proc_macro2::Span;

use super::{Diagnostic, TABLE_MADE, written_power};
use crate::link::beside::Unmarked;
use crate::syntax::tree::Expr;

/// A construct of Rust that the language does not have: what it is called and what to write
/// instead.
pub fn unsupported(span: Span, what: &str, instead: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("{what} cannot be used in a `#[pointful]` function"),
    )
    .help(instead)
}

/// Code nested so deeply that compiling it would overflow the stack.
pub fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this is nested too deeply").help(
        "give parts of it names with `let`, or move them to functions of their own; a long sum of alike terms is a `sum(for …)`",
    )
}

/// An expression, statement or pattern that syn knows and the language does not, without a name of
/// its own.
pub fn unknown_construct(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("this {kind} has no meaning in a `#[pointful]` function"),
    )
}

/// `t[i, j]`
pub fn comma_in_index(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an index is one expression")
        .help("of two axes it is written `t[(i, j)]` or `t[i][j]`")
}

/// `x ** n`, which would be `x * (*n)`.
pub fn star_star(span: Span, exponent: &Expr) -> Diagnostic {
    Diagnostic::new(span, "there is no operator `**`").help(written_power(exponent))
}

/// `#[pointful]` on a function with a receiver.
pub fn method(span: Span, name: &str, params: &str) -> Diagnostic {
    Diagnostic::new(span, "`#[pointful]` cannot stand on a method").help(format!(
        "write a free function that takes the value as a parameter: `fn {name}({params})`"
    ))
}

/// A generic whose bounds do not say what it stands for.
pub fn unknown_generic(span: Span, name: &str, is_axis: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("nothing says what `{name}` stands for"));
    diagnostic.help(match is_axis {
        true => format!("write `{name}: IndexSet`; of a length, `const {name}: usize`, the axis is `Fin<{name}>`"),
        false => {
            format!("bound it: `{name}: IndexSet`, `{name}: Float` or `{name}: Fn(A) -> B`")
        }
    })
}

/// A const generic that is no `usize`.
pub fn const_generic_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the const generic `{name}` must be a `usize`"),
    )
    .help(format!("write `const {name}: usize`"))
}

/// A parameter that is destructured or nameless.
pub fn parameter_pattern(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a parameter must have a name")
        .help("name it and take it apart in the body: `let (a, b) = name;`")
}

/// A number type that is no element type.
pub fn unknown_number(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not a type of table elements"))
        .help("these are: `f32`, `f64`, the integers of up to 64 bits, and `bool`")
}

/// A number with a word behind it.
pub fn literal_word(span: Span, digits: &str, word: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{digits}{word}` is no number")).help(format!(
        "a product is written `{digits} * {word}`, of floats `{digits}.0 * {word}`"
    ))
}

/// A type of the standard library in a signature.
pub fn foreign_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` cannot be a parameter or result of a `#[pointful]` function"),
    )
    .help("scalars, tables, tuples of them and structs marked `#[pointful]` can; a sequence without a named axis is a `Table<Dyn, f64>`")
}

/// An `Option` in a struct or alias.
pub fn option_in_type(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "`Option` cannot be part of a struct or alias marked `#[pointful]`",
    )
    .help("parameters, results and values in bodies can be one; in a struct keep a `bool` beside the value")
}

/// A type without a meaning.
pub fn unsupported_type(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("{what} cannot be used in a `#[pointful]` function"),
    )
    .help("scalars, `Table<I, T>`, `Extent<I>`, index sets, tuples, references, `impl Fn(A) -> B` and structs marked `#[pointful]` can")
}

/// `[T]`
pub fn slice_type(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a slice cannot be used in a `#[pointful]` function")
        .help("a sequence without a named axis is a `Table<Dyn, f64>`")
}

/// `Table<A, Table<B, T>>`.
pub fn nested_table(span: Span, flat: &str) -> Diagnostic {
    Diagnostic::new(span, "a table of tables is written flat in a type").help(format!(
        "write `{flat}`; in the body `t[a][b]` and `t[(a, b)]` are the same"
    ))
}

/// A type of the language with the wrong number of arguments.
pub fn type_arguments(span: Span, name: &str, form: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` has the wrong arguments"))
        .help(format!("it is written `{form}`"))
}

/// A function that may be called once, or that changes something.
pub fn function_trait(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("a function is an `Fn` here, not an `{name}`"))
        .help("it may be called any number of times, in any order")
}

/// Something else where an index set must stand.
pub fn not_a_set(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(span, format!("{what} is not an index set"))
        .help("an index set is a generic bounded by `IndexSet`, a type that derives `IndexSet`, `Fin<N>`, `Either<A, B>`, `Dyn`, `bool`, `()` or a tuple of index sets")
}

/// A number type where an index set must stand.
pub fn number_as_set(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not an index set"))
        .help("for an axis without a name of its own write `Dyn`, for a static one `Fin<N>`")
}

/// Something else where a `for` must be given a set or a range.
pub fn not_iterable(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a `for` runs over an index set or a range")
        .help("write `for i in N`, `for i in _` or `for k in 0..n`; an extent that an expression gives is bound by `let` first")
}

/// `for x in &t`, `t.iter()`.
pub fn iterates_table(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a `for` runs over a table as it is, without `&` or `.iter()`")
        .help("`for x in t { … }` runs over the rows of `t`, of one axis over its elements; by its indices it is `for i in _ { … t[i] … }`")
}

/// A range as a component of a product.
pub fn range_in_product(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a range cannot be part of a product")
        .help("write one `for` inside the other: `for i in 0..n { for j in 0..m { … } }`")
}

/// An adaptor of iterators that the language does not have.
pub fn unknown_adaptor(span: Span, name: &str) -> Diagnostic {
    let found = Diagnostic::new(span, format!("a `for` cannot run over `.{name}(…)`"));
    match name {
        "enumerate" => found.help("run over the indices, and read at them: `for i in _ { … t[i] … }`; as a number `i` is `i.ordinal()`"),
        "zip" => found.help("run over the indices that both have: `for i in _ { … a[i] … b[i] … }`"),
        "step_by" => found.help("count the steps: `for k in 0..n.div_ceil(2) { let i = 2 * k; … }`"),
        _ => found.help("`.rev()` and `.skip(n)` are the ones there are"),
    }
}

/// An adaptor with the wrong number of arguments.
pub fn adaptor_arguments(span: Span, form: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this is written `{form}`"))
}

/// `let x;`
pub fn uninitialised(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a `let` must have a value").help(
        "give it one where it is declared, or let it be the value of an `if`, `match` or block",
    )
}

/// A macro call that is no expression of the language.
pub fn unknown_macro(span: Span, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        span,
        format!("the macro `{name}!` cannot be used in a `#[pointful]` function"),
    );
    match name {
        "vec" => diagnostic.help(TABLE_MADE),
        "panic" | "unreachable" | "todo" | "unimplemented" => {
            diagnostic.help("write `assert!(condition, \"message\")`")
        }
        "assert_eq" => diagnostic.help("write `assert!(a == b)`"),
        "assert_ne" => diagnostic.help("write `assert!(a != b)`"),
        "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
            diagnostic.help("write `assert!(condition)`")
        }
        "explain" | "try_call" => diagnostic.help("write it outside"),
        _ => diagnostic
            .help("`assert!`, `println!` and its like, `dbg!` and the transformations (`grad!`, `jvp!`, …) are the ones there are"),
    }
}

/// The message of an `assert!` that is no format string, or not one for scalars.
pub fn assert_message(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this is not the message of an `assert!`").help(
        "write a format string: `\"x is {x}, y is {:.3}\", y`; numbers and truth values are shown by `{}`, `{:?}`, `{:.3}`, `{:8}` and `{:e}`",
    )
}

/// What is to be printed is no format string, or not one for scalars.
pub fn print_format(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this is not what `{name}!` prints")).help(
        "write a format string: `\"x is {x}, y is {:.3}\", y`; numbers, truth values and members are shown by `{}`, `{:?}`, `{:.3}`, `{:8}` and `{:e}`",
    )
}

/// A placeholder of a message with nothing to show.
pub fn assert_placeholder(span: Span, shown: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("nothing stands beside the message for `{{{shown}}}`"),
    )
    .help("give one argument for each placeholder, or name a variable in it: `{x}`")
}

/// An argument of `assert!` that its message does not show.
pub fn assert_argument(span: Span) -> Diagnostic {
    Diagnostic::new(span, "the message does not show this argument")
        .help("add `{}` to the message where it is to stand")
}

/// An option that `#[pointful(…)]` does not have.
pub fn unknown_option(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`#[pointful]` has no option `{name}`"))
        .help("the options are `vjp = path`, `jvp = path`, `remat`, `associative` and `extern`")
}

/// An option of a body that is not read.
pub fn beside_extern(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` says nothing beside `extern`"))
        .help("the body of an `extern` function is not read: leave it out")
}

/// An option of `#[pointful(…)]` written in another way than it must be.
pub fn option_form(span: Span, form: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this option is written `{form}`"))
}

/// An option or attribute written twice.
pub fn repeated(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is given twice"))
}

/// An attribute that is not one of the language's, or that stands before something else than it
/// must.
pub fn unknown_attribute(span: Span, name: &str, place: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        span,
        format!("the attribute `{name}` has no meaning before {place}"),
    );
    match place {
        "a `for`" => diagnostic.help("`#[checkpoint]` and `#[checkpoint(every = 8)]` have one"),
        "a `while`" if name == "checkpoint" => diagnostic
            .help("a `for` over `0..n`, whose length is known when it begins, may have one"),
        "a `while`" => diagnostic.help("`#[bound(n)]` has one"),
        _ if name == "checkpoint" => diagnostic.help("it stands before a `for` that assigns"),
        _ if name == "bound" => diagnostic.help("it stands before a `while`"),
        _ => diagnostic,
    }
}

/// A loop attribute written in another way than it must be.
pub fn attribute_form(span: Span, form: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this attribute is written `{form}`"))
}

/// `#[checkpoint]` written in another way than it must be.
pub fn checkpoint_form(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "this attribute is written `#[checkpoint]`, `#[checkpoint(every = 8)]` or `#[checkpoint(levels = 2)]`",
    )
}

/// A number in `#[checkpoint]` that is not one.
pub fn checkpoint_number(span: Span, key: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{key}` is a positive integer, written out"))
}

/// An item that `#[pointful]` cannot stand on.
pub fn unsupported_item(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "`#[pointful]` stands on a function, a struct with named fields, an enum or a type alias",
    )
}

/// `#[pointful] #[pointful]`
pub fn attribute_twice(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`#[pointful]` is written twice").help("remove one of them")
}

/// An enum whose variants hold nothing.
pub fn enum_of_members(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an enum of named members is an index set")
        .help("write `#[derive(Clone, Copy, IndexSet)]` in place of `#[pointful]`")
}

/// An enum of which there are no values.
pub fn empty_enum(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an enum without variants has no values").help("give it a variant")
}

/// A struct that is not one with named fields.
pub fn struct_fields(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a `#[pointful]` struct has named fields")
        .help("give each field a name: `struct Model { weights: Table<Dyn, f64>, offset: f64 }`")
}

/// A generic parameter of a type that is a function.
pub fn generic_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a function, which a `#[pointful]` type cannot be generic in"),
    )
    .help("types are generic in index sets, `N: IndexSet`, floats, `T: Float`, and lengths, `const N: usize`")
}

/// A default of a generic parameter.
pub fn generic_default(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a generic of a `#[pointful]` type has no default")
        .help("leave it out, and name the argument wherever the type is used")
}

/// Where a body asks for the extent of a set.
pub(super) const OWN_EXTENT: &str = "a set is its own extent: write `Fin::<2>` or `N`; `Extent::new(n)` is as long as a number says";

/// Generic arguments in a path to a value.
pub fn value_arguments(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the generic arguments of `{name}` cannot be written here"),
    )
    .help(match name {
        "size" => "write `size(N)`",
        "Extent" => "`Extent::<(Dyn, Dyn)>::new((n, m))` has some; a set that has a name is its own extent: write `Fin::<2>` or `N`",
        "Table" | "Vec" => TABLE_MADE,
        _ => "leave them out: they are inferred, also from the type of a `let`",
    })
}

/// A name that patterns bind twice.
pub fn bound_twice(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is bound twice in one pattern"))
        .help("give one of them another name, or write `_` for it")
}

/// A name that some alternatives of a pattern bind and others do not.
pub fn bound_in_some(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is bound in some alternatives of the pattern only"),
    )
    .help("bind the same names in all of them, or write `_`")
}

/// `Model { a, .. }` as a value.
pub fn struct_rest(span: Span) -> Diagnostic {
    Diagnostic::new(span, "nothing says where the other fields come from")
        .help("write `..base`, or leave `..` out")
}

/// A literal with a suffix that it cannot have.
pub fn literal_suffix(span: Span, suffix: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("this literal cannot have the suffix `{suffix}`"),
    )
}

/// A literal that is no number.
pub fn unknown_literal(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a literal is a number, `true` or `false`")
        .help("text stands only in `assert!` and `println!`")
}

/// An integer literal beyond every type.
pub fn literal_range(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this integer is too large")
}

/// A float literal beyond every type.
pub fn float_range(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this literal is out of range for `f64`")
}

/// The arguments of a transformation are not what they must be.
pub fn transform_form(span: Span, name: &str) -> Diagnostic {
    let option = if name == "vmap" { "over" } else { "wrt" };
    let diagnostic = Diagnostic::new(
        span,
        format!("`{name}!` takes a path to a `#[pointful]` function"),
    );
    diagnostic.help(match name {
        "try_call" => "write `try_call!(f)` or `try_call!(grad!(f))`".to_owned(),
        _ => {
            format!(
                "write `{name}!(f)` or, for some of its parameters, `{name}!(f, {option} = x)` or `{name}!(f, {option} = (x, y))`"
            )
        }
    })
}

/// A transformation of a closure in ordinary Rust.
pub fn closure_outside(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}!` takes a closure only in the body of a `#[pointful]` function"),
    )
    .help(format!(
        "write a `#[pointful]` function, and `{name}!` of its name"
    ))
}

/// `-> &Table<N, f64>`
pub fn reference_result(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a result is a value, not a reference").help("leave out the `&`")
}

/// An accumulator that is not lent.
pub fn accum_by_value(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "an accumulator is a local or a parameter behind `&mut`, and no part of anything",
    )
    .help("write `&mut Accum<…>`; `get()` gives what was accumulated")
}

/// An option that a transformation does not have.
pub fn transform_option(span: Span, transform: &str, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("`{transform}!` has no option `{name}`"));
    match transform {
        "try_call" => diagnostic.help("leave it out: the function is called as it is"),
        "vmap" => diagnostic.help("its options are `over = x` and `over = (x, y)`"),
        _ => diagnostic.help("its options are `wrt = x` and `wrt = (x, y)`"),
    }
}

/// A path that means something else than a function marked `#[pointful]`.
pub fn not_a_function(path: &syn::Path) -> Diagnostic {
    let span = path
        .segments
        .last()
        .map_or_else(Span::call_site, |last| last.ident.span());
    let name = crate::syntax::tree::path_key(path);
    Diagnostic::new(span, format!("`{name}` is not a `#[pointful]` function"))
}

/// The arguments of `explain!` are not what they must be.
pub fn explain_form(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "`explain!` takes a path to a `#[pointful]` function or a transformation of one",
    )
    .help("write `explain!(f)` or `explain!(grad!(f))`")
}

/// What `define!` cannot read.
pub fn define_form(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`define!` names transformed functions")
        .help("write `define! { pub fn loss_grad = grad!(loss, wrt = w); }`")
}

/// A transformation whose result has no type that could be written.
pub fn untransformable(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}!` of this function has no type"))
        .help("its parameters and its result are scalars, tables, structs and tuples of these")
}

/// A name that is computed with, and is no parameter or local.
pub fn unknown_variable(span: Span, name: &str, meant: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("no variable `{name}` here"));
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None if name == "Vec" => diagnostic.help(TABLE_MADE),
        None => diagnostic.help(
            "parameters, locals and constants are in scope; names of constants are written in capitals",
        ),
    }
}

/// A function, type or set that is not there, and what may be meant.
pub fn unknown_item(span: Span, what: &str, name: &str, meant: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("no {what} `{name}` here"));
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic.help(match of_others(name) {
            Some(instead) => instead.to_owned(),
            None => format!(
                "`use` it if it stands in another module; a {what} of your own is marked `#[pointful]`"
            ),
        }),
    }
}

/// What to write for a function or type that other libraries have.
fn of_others(name: &str) -> Option<&'static str> {
    Some(match name {
        "swap" => "two variables change places by `(a, b) = (b, a)`",
        "replace" | "take" => {
            "what a variable held is kept by `let old = a;` before it is assigned to"
        }
        "max" => "the max of two values is the method `a.max(b)`",
        "min" => "the min of two values is the method `a.min(b)`",
        "Vec" | "zeros" | "ones" | "full" | "arange" | "from_fn" => TABLE_MADE,
        "Array1" | "Array2" | "Array3" | "ArrayD" | "ArrayView1" | "ArrayView2" | "DVector"
        | "DMatrix" | "Tensor" => {
            "an array is a `Table<I, f64>`, of two axes a `Table<(I, J), f64>`"
        }
        "Axis" => "a sum along one axis is `for j in _ { sum(for i in _ { t[(i, j)] }) }`",
        "random" | "rng" | "thread_rng" => {
            "random numbers are functions of a key: `uniform(key)` and `normal(key)` of `pointful::lib`"
        }
        _ => return None,
    })
}

/// Something of a library that has no companions.
pub fn plain_rust(span: Span, path: &str) -> Diagnostic {
    let message = format!("`{path}` is plain Rust, which a `#[pointful]` function cannot use");
    let last = path.rsplit("::").next().unwrap_or(path);
    Diagnostic::new(span, message).help(of_others(last).unwrap_or(
        "it uses numbers, tables, their methods, and what is marked `#[pointful]`; a function of numbers marked `#[pointful(extern)]` is plain Rust itself",
    ))
}

/// `sqrt(x)`
pub fn method_as_function(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("no function `{name}` here"))
        .help(format!("write it as a method: `x.{name}(…)`"))
}

/// A function that calls itself.
pub fn recursion(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` calls itself; a `#[pointful]` function cannot be recursive"),
    )
    .help("write a `for` or a `while`: calls are inlined, so their depth must be known")
}

/// Functions that call each other, the first of them first.
pub fn mutual_recursion(span: Span, names: &[&str]) -> Diagnostic {
    let first = names.first().copied().unwrap_or_default();
    let others = names.iter().skip(1).chain([&first]);
    let way: Vec<String> = others.map(|name| format!("`{name}`")).collect();
    let way = way.join(", which calls ");
    Diagnostic::new(
        span,
        format!("`{first}` calls {way}; a `#[pointful]` function cannot be recursive"),
    )
    .help("write a `for` or a `while`: calls are inlined, so their depth must be known")
}

/// Something that nobody has marked, where it stands, and by which path it is named.
pub(crate) fn unmarked(span: Span, path: &str, unmarked: &Unmarked) -> Diagnostic {
    let Unmarked {
        keyword,
        name,
        line,
        file,
    } = unmarked;
    let found = |what| Diagnostic::new(span, format!("`{path}` is not a `#[pointful]` {what}"));
    let of_file = file
        .as_ref()
        .map_or_else(String::new, |file| format!(" of {}", file.display()));
    let mark =
        format!("write `#[pointful]` in front of `{keyword} {name}`, in line {line}{of_file}");
    match *keyword {
        "fn" => found("function")
            .help(mark)
            .help("`#[pointful(extern)]` leaves it plain Rust, for functions of numbers"),
        "enum" => found("type")
            .help(mark)
            .help("`#[derive(IndexSet)]` makes one without values a set of its variants"),
        "struct" => found("type")
            .help(mark)
            .help("`#[derive(IndexSet)]` makes one of a `usize`, or of members, an index set"),
        _ => found("type").help(mark),
    }
}

/// A macro that is called as a function is.
pub fn without_bang(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is a macro"))
        .help(format!("write `{name}!` in front of its arguments"))
}

/// An argument that has a name.
pub fn named_argument(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("an argument has no name, as `{name} = …` has"),
    )
    .help("arguments stand in the order of the parameters")
    .help("a sum along one axis is `for j in _ { sum(for i in _ { t[(i, j)] }) }`")
}

/// A function by the name of a macro or attribute of Rust.
pub fn hidden_macro(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("beside a function stands a macro of its name, and `{name}` is one of Rust's"),
    )
    .help("give the function another name")
}

/// A type by the name of a type of the language.
pub fn reserved_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a type of the language, so no other type of this name could be meant"),
    )
    .help("give it another name")
}

/// A function by the name of a word of the language.
pub fn reserved_name(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!(
            "`{name}` is a word of the language, so a function of this name could not be called"
        ),
    )
    .help("give it another name")
}

/// The compiler failed by its own fault.
pub fn internal(span: Span, function: &str, what: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("pointful has a bug: compiling `{function}` failed: {what}"),
    )
    .help("please report it with the function's text")
}
