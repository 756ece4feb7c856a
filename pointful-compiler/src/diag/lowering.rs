//! Messages of name resolution, typing and lowering.
//!
//! Types and sets come as the user writes them, with backticks already, so that an integer literal
//! can be "an integer".

use proc_macro2::Span;

use super::{Diagnostic, TABLE_MADE};
use crate::ir::Scalar;
use crate::syntax::names::WORDS;

/// A table of what tables cannot hold, in a signature.
pub fn table_elements(span: Span, found: &str, of_structs: bool) -> Diagnostic {
    let message =
        format!("a table holds numbers, truth values or members of index sets, not `{found}`");
    let is_one_of = found.starts_with("Option<") || found.starts_with("Either<");
    Diagnostic::new(span, message).help(if of_structs {
        "write `Tables<N, S>`: a struct of tables, which in bodies is a table of structs"
    } else if is_one_of {
        "write two tables: which of the two kinds each element is, `Table<N, bool>`, and what it holds"
    } else {
        "write a tuple of tables, `(Table<N, f64>, Table<N, f64>)`: in bodies it is a table of tuples, too"
    })
}

/// `Tables` of something else than structs.
pub fn tables_of(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`Tables<I, S>` is for a struct marked `#[pointful]`, not {found}"),
    )
    .help("a table of numbers or members is a `Table<I, T>`, one of tuples a tuple of tables; of enums whose variants hold values there are tables in bodies only")
}

/// `size` of nothing, or of several things.
pub fn size_arguments(span: Span, found: usize) -> Diagnostic {
    Diagnostic::new(span, format!("`size` takes one index set, not {found}"))
        .help("write `size(N)`, `size(Fin::<3>)`, `size((N, bool))`")
}

/// `N::from_ordinal` with another number of arguments.
pub fn from_ordinal_arguments(span: Span, found: usize) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`from_ordinal` takes a number and an extent, not {found} arguments"),
    )
    .help("write `N::from_ordinal(k, n)`, or `N::from_ordinal(k)`: in a body the set says how large it is")
}

/// A value that a message has no text for.
pub fn shown_in_message(span: Span, found: &str, member: bool, truth: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("a message cannot show {found}"));
    match (member, truth) {
        (true, _) => diagnostic.help("`.ordinal()` is the member's number"),
        (_, true) => diagnostic.help("a truth value has no exponent: write `{}`"),
        _ => diagnostic.help("it shows numbers and truth values: `{}`, `{:?}`, `{:.3}`, `{:e}`"),
    }
}

/// What to do about reading an accumulator.
pub const ACCUM_READ: &str = "an accumulator is only added to until `get()`; that it is never read is what lets its loop run in parallel";

/// A value of another type than its place asks for.
pub fn mismatch(span: Span, want: &str, found: &str, why: &str) -> Diagnostic {
    Diagnostic::new(span, format!("expected {want}, found {found}")).help(why)
}

/// An operator on operands it does not apply to.
pub fn binary(span: Span, sign: &str, left: &str, right: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{sign}` does not apply to {left} and {right}"),
    )
}

/// A unary operator on an operand it does not apply to.
pub fn unary(span: Span, sign: &str, operand: &str) -> Diagnostic {
    Diagnostic::new(span, format!("unary `{sign}` does not apply to {operand}"))
}

/// A dereference of what is no reference.
pub fn no_reference(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this is no reference, so it cannot be dereferenced")
        .help("leave out the `*`")
}

/// Operands whose axes do not fit together.
pub fn frames(span: Span, long: &str, short: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the axes of the operands do not agree: {long} against {short}"),
    )
    .help("one operand's axes must begin the other's, or all be found among them; an outer product is written with `for`")
}

/// A call that may be read in two ways.
pub fn ambiguous_call(span: Span, name: &str, readings: &[String; 2]) -> Diagnostic {
    let [first, second] = readings;
    Diagnostic::new(
        span,
        format!("this call of `{name}` can be read in two ways"),
    )
    .help(format!("either {first}"))
    .help(format!("or {second}"))
    .help("write a `for` over what is to be repeated over")
}

/// A value where a function wants something to change.
pub fn changed_argument(span: Span, function: &str, param: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{function}` changes its parameter `{param}`, and this is a value"),
    )
    .help("write `&mut` before a variable that is declared `mut`")
}

/// A function that changes what it is given, not called but passed or named.
pub fn changing_function(span: Span, name: &str, param: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` changes its parameter `{param}`, so it can only be called by its name"),
    )
}

/// A `&mut` argument that several repetitions of a call would change.
pub fn shared_place(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("every repetition of `{name}` would change this"),
    )
    .help("write a `for`, which says in which order")
}

/// An index of another set than the axis.
pub fn wrong_set(span: Span, found: &str, place: &str, axis: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("this index is a member of {found}, but {place} is over {axis}"),
    )
}

/// An index that is no index.
pub fn bad_index(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(span, format!("{found} cannot be an index"))
        .help("an index is a member of the axis' index set or an integer")
}

/// More indices than axes.
pub fn too_many_indices(span: Span, given: usize, axes: usize, base: &str) -> Diagnostic {
    let number = if axes == 1 { "axis" } else { "axes" };
    Diagnostic::new(
        span,
        format!("{given} indices for {base}, which has {axes} {number}"),
    )
}

/// Indexing of something that is no table.
pub fn not_a_table(span: Span, found: &str, is_tuple: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("{found} cannot be indexed"));
    match is_tuple {
        true => diagnostic.help("the parts of a tuple are `t.0`, `t.1`, …"),
        false => diagnostic,
    }
}

/// A method that no receiver has, or not this one.
pub fn unknown_method(span: Span, name: &str, receiver: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("no method `{name}` on {receiver}"));
    match name {
        "sum" | "min" | "max" | "mean" | "argmin" | "argmax" | "any" | "all" | "count" => {
            diagnostic.help(format!("reductions are functions: `{name}(t)`"))
        }
        "product" => diagnostic.help("the product of a table is `prod(t)`"),
        "iter" | "into_iter" | "map" => {
            diagnostic.help("loop over the index set instead: `for i in _ { … t[i] … }`")
        }
        "wrap" | "mirror" => diagnostic.help(format!(
            "`{name}` brings what is beside an index back into the index's set: \
             `(i + k).{name}()` with `i` of `for i in _`; of integers it is `k.rem_euclid(n)`"
        )),
        "pow" => diagnostic.help("floats have `powi` and `powf`"),
        "mapv" | "map_inplace" | "mapv_inplace" => {
            diagnostic.help("write `t.map(|x| …)`, or a loop: `for i in _ { … t[i] … }`")
        }
        "fold" | "reduce" => diagnostic.help("a table is folded by `reduce(init, |a, b| …, t)`"),
        _ if receiver.starts_with("`Option") => diagnostic.help(
            "an `Option` has `unwrap`, `unwrap_or`, `unwrap_or_else`, `map`, `map_or`, `and_then`, `or`, `is_some` and `is_none`, and `match` takes it apart",
        ),
        "unwrap" | "expect" => {
            diagnostic.help("this is a value, and no `Option`: leave it out")
        }
        "push" | "append" | "extend" => {
            diagnostic.help("a table has all of its elements at once: `for i in _ { … }` makes it")
        }
        "dot" | "zeros_like" | "scale" | "axpy" => diagnostic
            .help("a vector is a table, tuple or struct that holds floats, all of one type"),
        _ => elsewhere(diagnostic, name),
    }
}

/// What is written here for a method or field that arrays have in other languages.
fn elsewhere(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    let help = match name {
        "shape" | "size" | "ndim" | "dim" | "nrows" | "ncols" | "length" => {
            "how many members an index set has is `size(N)`; `t.extent()` says it of all axes"
        }
        "t" | "T" | "transpose" | "transposed" | "reversed_axes" => {
            "the transpose is `for (j, i) in _ { t[(i, j)] }`, or `transpose(&t)` of `pointful::lib`"
        }
        "matmul" | "norm" | "softmax" | "logsumexp" | "outer" | "trace" => {
            "it is a function of `pointful::lib`"
        }
        "reshape" | "flatten" | "ravel" | "squeeze" | "view" => {
            "a loop over the index set that the result is to have makes it: `for (i, j) in _ { … }`"
        }
        "binary_search" | "binary_search_by" | "partition_point" | "searchsorted" => {
            "the place among sorted numbers is `searchsorted(&t, x)` of `pointful::lib`"
        }
        "sort" | "sort_by" | "sort_unstable" | "sort_unstable_by" | "sorted" => {
            "a sorted table is `sort(&t)` of `pointful::lib`, and the order `argsort(&t)`"
        }
        "argsort" | "interp" | "linspace" | "distance" | "normalize" => {
            "it is a function of `pointful::lib`"
        }
        "row" | "column" | "col" | "rows" | "columns" | "outer_iter" | "axis_iter" => {
            "a row is `t[i]`, a column `for i in _ { t[(i, j)] }`"
        }
        "fill" => "write `for i in _ { t[i] = x; }`",
        "contains" => "write `any(for i in _ { t[i] == x })`",
        "is_empty" => "write `.len() == 0`",
        "into" | "try_into" => "numbers are converted with `as f64`",
        "to_string" => "numbers are shown by `println!(\"{x}\")` and in the message of `assert!`",
        "clip" => "write `.clamp(lo, hi)`",
        "sqr" | "square" => "write `.powi(2)`",
        "split_at" | "chunks" | "windows" | "to_vec" | "first" | "last" => {
            "a part of a table is made by a loop over its indices: `for k in 0..m { t[k + n] }`"
        }
        "swap" => "two elements change places by `(t[i], t[j]) = (t[j], t[i])`",
        "at" | "set" => "a table that is declared `mut` is changed by `t[i] = v`",
        "copy" => "write `.clone()`",
        "astype" | "float" | "to" => "numbers are converted with `as f32`",
        "std" | "var" => "the variance is `mean(for i in _ { (t[i] - mean(t)).powi(2) })`",
        _ => return diagnostic,
    };
    diagnostic.help(help)
}

/// A method of other scalars.
pub fn method_of(span: Span, name: &str, class: &str, receiver: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a method of {class}, not of {receiver}"),
    )
    .help(match name {
        "pow" | "wrapping_pow" => "of a float it is `.powi(2)` or `.powf(0.5)`".to_owned(),
        "powi" | "powf" => "of an integer it is `.pow(2)`".to_owned(),
        _ => format!("convert it, as in `(x as f64).{name}(…)`"),
    })
}

/// A wrong number of arguments.
pub fn arity(span: Span, name: &str, want: usize, found: usize) -> Diagnostic {
    let number = if want == 1 { "argument" } else { "arguments" };
    let name = if name.contains(' ') {
        name.to_owned()
    } else {
        format!("`{name}`")
    };
    Diagnostic::new(span, format!("{name} takes {want} {number}, not {found}"))
}

/// `Accum::new`
pub fn unknown_accumulator(span: Span, name: &str, known: &str) -> Diagnostic {
    Diagnostic::new(span, format!("there is no accumulator `{name}`"))
        .help(format!("there are {known}"))
}

/// `Accum::zero` with an extent.
pub fn zero_of_extent(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`Accum::zero` takes no arguments")
        .help("`Accum::zeros(extent)` is one number for each member of a set")
}

/// A field that is not there.
pub fn unknown_field(span: Span, name: &str, owner: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("no field `{name}` in {owner}"));
    match name {
        "sum" | "prod" | "min" | "max" | "mean" => {
            diagnostic.help(format!("reductions are functions: `{name}(t)`"))
        }
        _ => elsewhere(diagnostic, name),
    }
}

/// Fields left out of a struct literal.
pub fn missing_fields(span: Span, fields: &str) -> Diagnostic {
    Diagnostic::new(span, format!("missing {fields}"))
}

/// A pattern of a struct that says nothing of some of its fields.
pub fn unnamed_fields(span: Span, fields: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this pattern does not mention {fields}"))
        .help("name every field, or write `..` for the others")
}

/// A struct literal of something else.
pub fn not_a_struct(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not a struct with named fields"))
}

/// An enum without that member.
pub fn unknown_member(span: Span, name: &str, owner: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{owner}` has no member `{name}`"))
}

/// A variant that an enum does not have.
pub fn unknown_variant(span: Span, name: &str, owner: &str, variants: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{owner}` has no variant `{name}`"))
        .help(format!("it has {variants}"))
}

/// A variant with other fields than it has.
pub fn variant_form(span: Span, form: &str) -> Diagnostic {
    Diagnostic::new(span, "the variant has other fields").help(format!("write `{form}`"))
}

/// A name that means nothing.
pub fn unknown_name(span: Span, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("`{name}` is not defined here"));
    if let Some((owner, method)) = name.split_once("::")
        && Scalar::from_name(owner).is_some()
        && method.starts_with(char::is_lowercase)
    {
        return diagnostic.help(format!(
            "a method is passed in a closure: `|x| x.{method}(…)`"
        ));
    }
    diagnostic.help("a body may name its parameters and locals, constants, index sets and other `#[pointful]` functions")
}

/// A type that is not known.
pub fn unknown_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the type `{name}` is not one of the language"),
    )
    .help("index sets derive `IndexSet`; structs and type aliases are marked `#[pointful]`")
}

/// A wrong number of arguments of a generic type.
pub fn type_argument_count(span: Span, name: &str, want: usize, found: usize) -> Diagnostic {
    let number = if want == 1 { "argument" } else { "arguments" };
    Diagnostic::new(
        span,
        format!("the type `{name}` takes {want} {number}, not {found}"),
    )
}

/// Something else where a float type must stand.
pub fn float_argument(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "a float stands here: `f32`, `f64` or a generic `T: Float`",
    )
}

/// An index set that is not known.
pub fn unknown_set(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not an index set"))
        .help("an index set is a generic `N: IndexSet`, a type that derives `IndexSet`, `Fin<N>`, or a local of type `Extent`")
}

/// Something else where an index set must stand.
pub fn not_a_set(span: Span, name: &str) -> Diagnostic {
    let name = if name.contains(' ') {
        name.to_owned()
    } else {
        format!("`{name}`")
    };
    Diagnostic::new(span, format!("{name} is not an index set"))
}

/// A type where a value must stand.
pub fn type_as_value(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is a type, not a value"))
}

/// `T::FOO` of a generic float.
pub fn no_float_constant(span: Span, float: &str, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{float}` has no constant `{name}`")).help(format!(
        "a generic float has those of `f64` and of `std::f64::consts`: `{float}::EPSILON`, `{float}::MAX`, `{float}::PI`, …; a constant of your own is converted: `{name} as {float}`"
    ))
}

/// `N::FOO` of a generic set.
pub fn no_set_constant(span: Span, set: &str, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{set}` has no constant `{name}`"))
        .help(format!("how many members it has is `size({set})`"))
}

/// A length that is not known to rustc.
pub fn length(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "a length here is a literal, a const generic or a constant",
    )
    .help("of a length that is computed a table is made by a loop, `for _ in 0..n { 0.0 }` or `for _ in N { 0.0 }`; as a type it is `Table<Dyn, f64>`")
}

/// `Dyn` where a set must be named.
pub fn unsaid_set(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`Dyn` is a set of any length, and nothing says of which")
        .help("a number says it in `for k in 0..n` and `Extent::new(n)`, a table in `t.extent()`, or in `for i in _ { … t[i] … }`")
}

/// A call of something else than an annotated function.
pub fn not_pointful(span: Span, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("`{name}` is not a `#[pointful]` function"));
    match name.split_once("::") {
        Some(("Table" | "Vec", _)) => diagnostic.help(TABLE_MADE),
        Some((owner, "from" | "from_f64")) => diagnostic.help(format!("write `x as {owner}`")),
        Some(("Extent", _)) => diagnostic.help(super::syntax::OWN_EXTENT),
        Some((owner, "new")) => diagnostic.help(format!(
            "a struct is written `{owner} {{ … }}`, a member of an index set `{owner}::from_ordinal(k)`"
        )),
        Some((owner, "zero" | "one" | "default")) => diagnostic.help(format!(
            "a number is written as it is, `0.0` or `1.0`, and is of type `{owner}` where that is needed"
        )),
        Some((owner, "from_bits")) if Scalar::from_name(owner).is_none() => diagnostic.help(format!(
            "the bits of `{owner}` are of another type for each float: write `f64::from_bits(bits) as {owner}`"
        )),
        Some((owner, method)) if Scalar::from_name(owner).is_some() => {
            diagnostic.help(format!("write it as a method: `x.{method}(…)`"))
        }
        _ => diagnostic.help(
            "only functions marked `#[pointful]`, closures and the words of the language can be called",
        ),
    }
}

/// A call of a value that is no function.
pub fn not_callable(span: Span, found: &str, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("{found} cannot be called"));
    match WORDS.contains(&name) {
        true => diagnostic.help(format!(
            "`{name}` is a variable here: give it another name than that of the word"
        )),
        false => diagnostic,
    }
}

/// `for` over something that has no members.
pub fn not_iterable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(span, format!("a `for` does not run over {found}"))
}

/// A range that never ends.
pub fn endless_range(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a range of integers needs an end")
}

/// A range of something else.
pub fn range_bounds(span: Span, found: &str, of_set: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        span,
        format!("a range runs over integers or members of an index set, not {found}"),
    );
    match of_set {
        true => diagnostic
            .help("over all members of a set it is `for i in N`; how many they are is `size(N)`"),
        false => diagnostic,
    }
}

/// A range as a value.
pub fn range_outside_for(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a range stands only after `in`")
        .help("a loop over it makes a table: `for k in a..b { … }`; a part of a table is `for k in a..b { t[k] }`")
}

/// `_` as a value.
pub fn underscore(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`_` stands only for an index set or a type")
}

/// A loop that is to be checkpointed and has no states.
pub fn checkpoint_without_state(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "`#[checkpoint]` says nothing here: no iteration of this loop needs what another one left",
    )
}

/// An extent that nothing determines.
pub fn undetermined_set(span: Span) -> Diagnostic {
    Diagnostic::new(span, "nothing says which index set this is")
        .help("name the set after `in`, index a table with it, or give an accumulator its extent")
}

/// An extent of a generic that no argument carries.
pub fn undetermined_extent(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("nothing says how large `{name}` is"))
        .help(format!("add a parameter `n: Extent<{name}>`"))
}

/// A local whose type nothing determines.
pub fn undetermined_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("nothing says what type `{name}` has"))
}

/// An operand whose type must be known.
pub fn unknown_operand(span: Span) -> Diagnostic {
    Diagnostic::new(span, "the type must be known here")
        .help("say it, as in `let x: f64 = …` or `|x: f64| …`")
}

/// A reduction of something else than a table.
pub fn reduce_scalar(span: Span, word: &str, found: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{word}` takes a table, not {found}"))
}

/// What to do about an axis that is told beside what is reduced.
pub fn along_an_axis(word: &str) -> String {
    format!("along one axis it is `for j in _ {{ {word}(for i in _ {{ t[(i, j)] }}) }}`")
}

/// A reduction of a closure.
pub fn reduce_function(span: Span, word: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("`{word}` takes a table, not a closure"));
    diagnostic.help(match word {
        "reduce" | "scan" => format!("write `{word}(init, |a, b| …, table)`"),
        "filter" => "write `filter(|x| …, table)`".to_owned(),
        _ => format!("write `{word}(for i in _ {{ … }})`"),
    })
}

/// An index that is counted from the end.
pub fn negative_index(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "an index is not negative, so this one is always out of range",
    )
    .help("the last element is `t[size(N) - 1]`, where `N` is the axis' index set")
}

/// A reduction of elements it does not apply to.
pub fn reduce_elements(span: Span, word: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{word}` does not apply to a table of {found}"),
    )
}

/// `min(a, b)`
pub fn min_of_two(span: Span, word: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{word}` reduces one table")).help(format!(
        "the {word} of two values is the method `a.{word}(b)`"
    ))
}

/// `size` of something that has none.
pub fn size_of(span: Span, found: &str) -> Diagnostic {
    let message = format!("an index set or an `Extent` stands here, not {found}");
    let diagnostic = Diagnostic::new(span, message);
    if found.starts_with("`Table") {
        diagnostic.help("the set of a table's outermost axes is `x.extent()`")
    } else if found.contains("usize") || found == "an integer" {
        diagnostic.help("a set is written by its name, as `N`; `Extent::new(n)` is one of `n` members, `Extent::new((n, m))` one of two axes")
    } else {
        diagnostic
    }
}

/// A `for` whose table nobody uses.
pub fn dropped_table(span: Span, table: &str, operator_follows: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("this `for` gives {table} that is not used"));
    if operator_follows {
        diagnostic.help("in Rust a statement ends with the brace of a `for`; write `(for … { … })` or bind it with `let`")
    } else {
        diagnostic
            .help("bind it with `let`, or end the body with `;` if only its effects are meant")
    }
}

/// An assignment to an immutable variable.
pub fn immutable(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not mutable"))
        .help(format!("declare it as `mut {name}`"))
}

/// A write through a shared reference.
pub fn write_through_ref(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a shared reference, which cannot be written through"),
    )
    .help(format!(
        "take it by value, `mut {name}: Table<…>`, or as `&mut Table<…>`"
    ))
}

/// `*v = x` where `v` is bound by a `for` over a table, or by a pattern.
pub fn row_written(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a value of its own, so nothing else is assigned to by it"),
    )
    .help("a table is assigned to by index: `for i in _ { t[i] = …; }`")
}

/// An assignment to something that has no place.
pub fn not_a_place(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this cannot be assigned to")
        .help("a variable, its fields and its elements can")
}

/// A closure that assigns.
pub fn closure_assigns(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("a closure cannot assign to `{name}`"))
        .help("a closure captures the value that a variable has where the closure is written")
}

/// What an `Option` or `Either` cannot hold outside of bodies.
pub fn held_outside(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("an `Option`, `Either` or enum outside of bodies cannot hold {found}"),
    )
    .help("it holds numbers, truth values, members of index sets, tuples and structs of them; pass a table beside it")
}

/// An `Option` or `Either` behind `&mut`.
pub fn one_of_exclusive(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` cannot be changed behind `&mut`"))
        .help("take the `Option`, `Either` or enum by value and return what becomes of it")
}

/// A generic of a function whose body is not read.
pub fn extern_generic(span: Span, function: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{function}` is `extern` and cannot be generic"),
    )
    .help("write a function for each type")
}

/// A parameter or result of a function whose body is not read.
pub fn extern_type(span: Span, function: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{function}` is `extern` and cannot take or give {found}"),
    )
    .help("its parameters and its result are `f64`, `f32`, integers and `bool`; call it for each element")
}

/// A derivative of a function whose body is not read.
pub fn extern_derivative(span: Span, function: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{function}` is `extern` and has no derivative")).help(
        "say what it is: `#[pointful(extern, jvp = g)]`; or compute what is constant outside of what is differentiated",
    )
}

/// A closure that prints.
pub fn closure_prints(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a closure cannot print").help(
        "nothing says in which order its calls are made; print what it gives where it is called, or make it a `#[pointful]` function",
    )
}

/// Something that cannot be printed.
pub fn shown_in_print(span: Span, found: &str, table: bool, truth: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("{found} cannot be printed here"));
    match (table, truth) {
        (true, _) => {
            diagnostic.help("print its elements: `for i in _ { println!(\"{}\", t[i]); }`")
        }
        (_, true) => diagnostic.help("a truth value has no exponent: write `{}`"),
        _ => diagnostic.help("numbers, truth values and members of index sets can be printed"),
    }
}

/// Reading of an accumulator.
pub fn accum_read(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an accumulator cannot be read before `get()`").help(ACCUM_READ)
}

/// Anything but adding to an accumulator.
pub fn accum_assign(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an accumulator can only be added to")
        .help("`+=` and `-=` add; `put` combines with the accumulator's own operation")
}

/// `+=` on an accumulator that does not add.
pub fn accum_operation(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this accumulator does not add")
        .help("`put(v)` combines `v` with the accumulator's own operation")
}

/// An accumulator of cells that its operator does not combine.
pub fn monoid_cells(span: Span, whole: &str, cell: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the accumulator holds {whole}, but its identity is {cell}"),
    )
    .help("the identity is one of the values that are put, and `op` combines two of them")
}

/// `get()` in another block than the accumulator's.
pub fn accum_get_place(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`get()` of `{name}` stands in another block than its `let`"),
    )
    .help(format!(
        "write `let {name} = {name}.get();` in the block of its `let`, behind what adds to it"
    ))
}

/// An accumulator that comes from plain Rust.
pub fn accum_from_outside(span: Span, param: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("its parameter `{param}` is an accumulator, which exists in bodies only"),
    )
    .alone()
}

/// An accumulator in an operator.
pub fn accum_in_operator(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "an accumulator cannot stand in the operator of `reduce` or `scan`",
    )
    .help("reduce a table instead, as in `sum(for i in _ { … })`, or use a plain `let mut`")
}

/// Use of an accumulator after `get()`.
pub fn accum_spent(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` was already taken with `get()`"))
}

/// `&mut` of a table outside of a call.
pub fn mut_ref(span: Span) -> Diagnostic {
    Diagnostic::new(span, "`&mut` of a table stands only for an argument")
        .help("assign to its elements by name: `t[i][j] = …`")
}

/// A table whose axis has another length in every iteration.
pub fn ragged(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a table over a range that depends on the loop cannot be stored")
        .help("reduce it where it is made, as in `sum(for j in ..i { … })`, or make the full table and put zeros where the range ends")
}

/// Rows of different lengths over more than one axis.
pub fn ragged_rows(span: Span, set: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("{set} is a product, and the rows of a `Ragged` are over one set"),
    )
    .help("flatten it on the host: `table.cast(…)` and `ragged.cast(…)` rename index sets")
}

/// Rows that hold something else than numbers and members.
pub fn ragged_elements(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("rows of a `Ragged` hold numbers, truth values or members, not {found}"),
    )
    .help("take one `Ragged` for each part: those that are used together have rows of the same lengths")
}

/// Rows of different lengths in a table.
pub fn ragged_inside(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a `Ragged` is not an element of a table")
        .help("take it as a parameter of its own, or as a field of a struct")
}

/// Rows that are asked for by a table of indices or by `get`.
pub fn ragged_index(span: Span) -> Diagnostic {
    Diagnostic::new(span, "rows of a `Ragged` are taken one at a time")
        .help("`a[i]` is a row, as in `for i in _ { sum(a[i]) }`")
}

/// An assignment to a part of rows of different lengths.
pub fn ragged_assigned(span: Span) -> Diagnostic {
    Diagnostic::new(span, "the values of a `Ragged` are not assigned one by one")
        .help("make a new one of rows: `for i in _ { for j in _ { … a[i][j] … } }`")
}

/// Rows of different lengths that the function would change where they are.
pub fn ragged_exclusive(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a `Ragged`, which is not behind `&mut`"),
    )
    .help("take it by `&` and give back a new one")
}

/// What to write so that a table is a `Ragged`.
pub fn rows_made() -> &'static str {
    "a `Ragged` is a table of the rows at a loop's own members: `for i in _ { for j in _ { … a[i][j] … } }`, where `a` is one"
}

/// A variable that holds a row at one that is bound only after it.
pub fn row_at_later(span: Span, name: &str, member: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is of the row at `{member}`, which is bound after it"),
    )
    .help(format!(
        "bind `{member}` first, and take the row where it is used"
    ))
}

/// A row where the variable is not known that is its member.
pub fn escaping_row(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this is a row at a variable that is not known here")
        .help("take the row where it is used: `a[i]`")
}

/// A branch or block that gives away a table whose length is known inside only.
pub fn escaping_range(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "the length of this table is known only inside the block",
    )
    .help("compute the range's bounds before the block")
}

/// An extent as a result that nothing outside knows.
pub fn computed_extent(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "this extent is computed in the body, so it cannot be given back",
    )
    .help("give its length, a `usize`, or a table over it")
}

/// An extent of something else than a set of any length.
pub fn new_extent(span: Span, set: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("a body makes extents of `Dyn` and of products of it, not of {set}"),
    )
    .help("an index set that is known is its own extent: `for i in N { … }`")
}

/// What to write where a state is given another length.
pub fn kept_length(name: &str) -> String {
    format!(
        "`{name}` keeps the length that it begins with: begin with the longest, and let a number say how much of it is used, as in `for i in _ {{ if i.ordinal() < n {{ … }} else {{ {name}[i] }} }}`"
    )
}

/// A member of such a range.
pub fn escaping_member(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "this is a member of a range whose length is known only inside the block",
    )
    .help("the block can give its number: `.ordinal()`")
}

/// A tuple pattern for something else.
pub fn tuple_pattern(span: Span, parts: usize, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("a pattern of {parts} parts does not fit {found}"),
    )
}

/// A struct pattern for something else.
pub fn struct_pattern(span: Span, name: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the pattern `{name} {{ … }}` does not fit {found}"),
    )
}

/// A pattern that some values do not fit, where there is nothing else to do then.
pub fn refutable(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this pattern does not cover every value")
        .help("write a `match`, or `if let … { … } else { … }`")
}

/// A name in capitals in a `match`.
pub fn capital_pattern(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` would be a new variable here, which takes every value"),
    )
    .help(format!(
        "a member is named with its set, as in `Set::{name}`; compare with a constant in a guard, `x if x == {name}`"
    ))
}

/// A `match` that leaves a value out.
pub fn not_exhaustive(span: Span, missing: &[String]) -> Diagnostic {
    let what = "this `match` does not cover every value";
    match missing {
        [] => Diagnostic::new(span, what).help("end it with `_ => …`"),
        _ => Diagnostic::new(span, format!("{what}: it lacks {}", missing.join(", ")))
            .help("write the arm, or end it with `_ => …`"),
    }
}

/// A cast of a member.
pub fn cast_member(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(span, format!("{found} cannot be cast"))
        .help("`.ordinal()` is the member's number")
}

/// A cast of a truth value to a float.
pub fn cast_bool(span: Span, to: &str) -> Diagnostic {
    Diagnostic::new(span, format!("a `bool` cannot be cast to `{to}`")).help(format!(
        "cast to an integer first, `as i32 as {to}`, or write `if c {{ 1.0 }} else {{ 0.0 }}`"
    ))
}

/// A cast to a truth value.
pub fn cast_to_bool(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a number cannot be cast to `bool`")
        .help("compare it with zero: `x != 0`")
}

/// A cast of something that is no scalar.
pub fn cast_source(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("{found} cannot be cast"));
    match found.starts_with("`Extent<") {
        true => diagnostic.help("how many members a set has is `size(N)`"),
        false => diagnostic,
    }
}

/// A cast to something that is no scalar.
pub fn cast_target(span: Span, to: &str) -> Diagnostic {
    Diagnostic::new(span, format!("cannot cast to {to}"))
}

/// A literal too large for its type.
pub fn literal_range(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::new(span, format!("this literal is out of range for `{ty}`"))
}

/// `[]`
pub fn empty_array(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an array has at least one element here")
}

/// Something that the compiler does not do yet.
pub fn not_available(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(span, format!("{what} is not available yet"))
}

/// A function of the caller's that takes something else than scalars.
pub fn unknown_takes(span: Span, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` takes `{ty}`, so only other `#[pointful]` functions can call this one: from plain Rust, functions of numbers can be passed"),
    )
    .alone()
}

/// A function of the caller's that gives something else than scalars.
pub fn unknown_gives(span: Span, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` gives `{ty}`, so only other `#[pointful]` functions can call this one: from plain Rust, functions of numbers can be passed"),
    )
    .alone()
}

/// A function where a value of the program must stand.
pub fn stored_function(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a function is chosen or stored at run time here")
        .help("choose a function by the value of an `if` or `match`, `let h = if c { f } else { g };`, or index an array of functions: `[f, g][k](x)`")
}

/// A function that is chosen by a branch which accumulates something.
pub fn chosen_beside_accumulation(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "a branch that chooses a function cannot accumulate into anything",
    )
    .help("choose in one `if`, and accumulate in another one with the same condition")
}

/// A derivative of a function of the caller's.
pub fn unknown_derivative(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the derivative of `{name}` is needed, a function that is not known here: call this one from another `#[pointful]` function, with what `{name}` is to be"),
    )
    .alone()
}

/// A function that is returned where something is changed.
pub fn returned_changes(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("a function that is returned cannot leave a change in `{name}`"),
    )
    .help("return the changed table")
}

/// A function that is returned in a tuple or struct.
pub fn returned_inside(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "only other `#[pointful]` functions can take a function out of a result: to plain Rust, a function is returned alone",
    )
    .alone()
}

/// `f::<A, B>` of a function that is generic in something less or more.
pub fn generic_argument_count(span: Span, name: &str, want: usize, found: usize) -> Diagnostic {
    let s = if want == 1 { "" } else { "s" };
    Diagnostic::new(
        span,
        format!("`{name}` takes {want} generic argument{s}, not {found}"),
    )
    .help("give one for each of its generics, or none: `_` leaves one to be found")
}

/// A generic argument for what stands for a function.
pub fn function_argument(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a function, whose type has no name"),
    )
    .help("write `_`: it is known from the argument")
}

/// The bits of a float of which it is not known how many there are.
pub fn bits_of_generic(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is not of a generic float"))
        .help("the bits of an `f32` are a `u32`, those of an `f64` a `u64`: convert it first, `(x as f64).to_bits()`")
}

/// A constant array over a set that is no `Fin`.
pub fn constant_table(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this constant array is over a set other than `Fin`")
        .help("index it by integers or by members of `Fin<N>`, as in `for k in Fin::<3> { … }`")
}

/// A constant of a type that constants cannot have.
pub fn constant_type(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("a constant of type {found} cannot be used here"),
    )
    .help("numbers, truth values, members of index sets, arrays of numbers, and tuples and `#[pointful]` structs of them can")
}

/// A constant of whose type nothing is known where it must be.
pub fn constant_unknown(span: Span) -> Diagnostic {
    Diagnostic::new(span, "the type of this constant must be known here")
        .help("give it a name with its type, `let c: Channel = HERE;`, and use that")
}

/// A constant that is a member of a set that the function does not name.
pub fn constant_without_name(span: Span, set: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("this constant is a member of `{set}`, which the function does not name"),
    )
    .help(format!("name it, as in `let c: {set} = …;`"))
}

/// An array as a result.
pub fn array_result(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a result is a table, not an array").help("write `Table<Fin<N>, T>`")
}
