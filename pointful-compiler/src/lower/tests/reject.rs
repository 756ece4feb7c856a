//! Programs that are rejected: the message, and the token it points at.

use super::{lower_source, rendered};

/// Holds that the source is rejected with exactly these errors, each at the token given by what it
/// begins with.
fn rejects(source: &str, want: &[(&str, &str)]) {
    let errors = match lower_source(source) {
        Ok(lowered) => panic!("accepted:\n{}", crate::ir::print(&lowered.program)),
        Err(errors) => errors,
    };
    let lines: Vec<&str> = source.lines().collect();
    let found: Vec<(&str, String)> = errors
        .iter()
        .map(|error| {
            let start = error.span.start();
            let line = lines.get(start.line.wrapping_sub(1)).copied().unwrap_or("");
            let at = line
                .char_indices()
                .nth(start.column)
                .map_or(line.len(), |(at, _)| at);
            (
                &line[at..],
                format!(
                    "{}{}",
                    error.message,
                    error
                        .help
                        .iter()
                        .map(|h| format!("\n{h}"))
                        .collect::<String>()
                ),
            )
        })
        .collect();
    assert_eq!(found.len(), want.len(), "{}", rendered(&errors));
    for ((token, message), (want_token, want_message)) in found.iter().zip(want) {
        assert!(
            token.starts_with(want_token),
            "at `{token}`, not `{want_token}`\n{}",
            rendered(&errors)
        );
        assert!(
            message.contains(want_message),
            "{message}\nlacks\n{want_message}"
        );
    }
}

#[test]
fn parts_of_a_tuple_that_cannot_be_assigned() {
    rejects(
        "fn f(x: f64) -> f64 { let mut a = x; let b = x; (a, b) = (x, x); a }",
        &[("b) =", "`b` is not mutable")],
    );
    rejects(
        "fn f(x: f64) -> f64 { let mut a = x; (a, 2.0) = (x, x); a }",
        &[("2.0)", "this cannot be assigned to")],
    );
    rejects(
        "fn f(x: f64) -> f64 { let (mut a, mut b) = (x, x); (a, b) = (x, x, x); a + b }",
        &[("(a, b) = (x, x, x)", "")],
    );
}

#[test]
fn an_integer_literal_is_not_a_float() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { 2 * x[i] }) }",
        &[(
            "* x[i]",
            "`*` does not apply to an integer and `f64`\nwrite the literal with a point",
        )],
    );
}

#[test]
fn axes_swapped_in_an_index() {
    rejects(
        "fn f<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>) -> f64 { sum(for i in R { sum(for j in C { x[j][i] }) }) }",
        &[(
            "j]",
            "this index is a member of `C`, but axis 1 of `Table<(R, C), f64>` is over `R`",
        )],
    );
}

#[test]
fn an_inferred_set_says_where_it_came_from() {
    rejects(
        "fn f<R: IndexSet, C: IndexSet>(y: &Table<R, f64>, z: &Table<C, f64>) -> f64 { sum(for i in _ { y[i] + z[i] }) }",
        &[(
            "i] })",
            "is over `C`\nits set was inferred where it indexes axis 1 of `Table<R, f64>`",
        )],
    );
}

#[test]
fn too_many_indices() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>, i: N, j: N) -> f64 { x[(i, j)] }",
        &[("j)]", "2 indices for `Table<N, f64>`, which has 1 axis")],
    );
}

#[test]
fn too_few_indices() {
    rejects(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, i: N) -> f64 { x[i] }",
        &[(
            "x[i]",
            "expected `f64`, found `Table<M, f64>`\n`f` returns `f64`",
        )],
    );
}

#[test]
fn a_scalar_is_not_indexed() {
    rejects(
        "fn f(x: f64) -> f64 { x[0] }",
        &[("x[0]", "`f64` cannot be indexed")],
    );
}

#[test]
fn a_float_is_no_index() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { x[x[0]] }",
        &[("x[0]", "`f64` cannot be an index")],
    );
}

#[test]
fn a_dropped_table() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { for i in N { x[i] } - 1.0 }",
        &[(
            "for i",
            "this `for` gives `Table<N, f64>` that is not used\nin Rust a statement ends with the brace",
        )],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { for i in N { x[i] } 1.0 }",
        &[("for i", "bind it with `let`")],
    );
}

#[test]
fn assignment_to_an_immutable_variable() {
    rejects(
        "fn f(x: f64) -> f64 { let y = x; y = 2.0; y }",
        &[("y = 2.0", "`y` is not mutable\ndeclare it as `mut y`")],
    );
    rejects(
        "fn f<N: IndexSet>(u: Table<N, f64>) -> Table<N, f64> { for i in N { u[i] = 2.0; } u }",
        &[("u[i]", "`u` is not mutable")],
    );
}

#[test]
fn a_write_through_a_shared_reference() {
    rejects(
        "fn f<N: IndexSet>(u: &Table<N, f64>) { for i in N { u[i] += 2.0; } }",
        &[("u[i]", "`u` is a shared reference")],
    );
}

#[test]
fn functions_whose_bodies_are_not_read() {
    let taking = |params: &str, result: &str, at: &str, want: &str| {
        let source = format!(
            "#[pointful(extern)] fn g{params} -> {result} {{ any::code() }} fn f(x: f64) -> f64 {{ x }}"
        );
        rejects(&source, &[(at, want)]);
    };
    taking(
        "(x: &f64)",
        "f64",
        "&f64",
        "`g` is `extern` and cannot take or give a reference to `f64`",
    );
    taking(
        "(x: (f64, i64))",
        "f64",
        "(f64",
        "cannot take or give `(f64, i64)`",
    );
    taking(
        "(x: f64)",
        "Table<Dyn, f64>",
        "Table<",
        "cannot take or give `Table<Dyn, f64>`",
    );
    taking(
        "<T: Float>(x: T)",
        "f64",
        "T: Float",
        "`g` is `extern` and cannot be generic",
    );
    rejects(
        "#[pointful(extern)] fn g(x: f64) -> f64 { any::code() }\nfn f(x: f64) -> f64 { grad!(|y| 2.0 * g(y))(x) }",
        &[(
            "g(y)",
            "`g` is `extern` and has no derivative\nsay what it is",
        )],
    );
    rejects(
        "fn v(x: f64, ct: f64) -> f64 { ct * x }\n#[pointful(extern, vjp = v)] fn g(x: f64) -> f64 { any::code() }\nfn f(x: f64) -> f64 { jvp!(g)(x, 1.0).1 }",
        &[(
            "jvp!(g)(x",
            "`g` has a derivative of its own for the way back only",
        )],
    );
}

#[test]
fn what_an_option_holds_outside_of_bodies() {
    let held = "an `Option`, `Either` or enum outside of bodies cannot hold ";
    rejects(
        "fn f<N: IndexSet>(x: Option<&Table<N, f64>>) -> f64 { 1.0 }",
        &[("x: Option", &format!("{held}`Table<N, f64>`"))],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Option<Table<N, f64>> { Some(x * 2.0) }",
        &[("Option<", &format!("{held}`Table<N, f64>`"))],
    );
    rejects(
        "fn f(x: &mut Option<f64>) { *x = None; }",
        &[("x: &mut", "`x` cannot be changed behind `&mut`")],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, Option<f64>> { for i in N { Some(x[i]) } }",
        &[(
            "Table<N, Option",
            "a table holds numbers, truth values or members of index sets, not `Option<f64>`\nwrite two tables",
        )],
    );
    let root = "fn g(x: f64, y: Option<f64>) -> Option<f64> { y.map(|y| x * y) }\n";
    for (body, at, want) in [
        ("vmap!(g)(x, x)", "vmap!(g)(x, x)", "the parameter `y` is"),
        (
            "vmap!(g, over = x)(x, None)",
            "vmap!(g, over",
            "`g` gives `Option<f64>`",
        ),
    ] {
        let f = format!("fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {{ let t = {body}; 1.0 }}");
        rejects(&(root.to_owned() + &f), &[(at, want)]);
    }
}

#[test]
fn what_cannot_be_filtered() {
    let filtered = |value: &str, at: &str, want: &str| {
        let source =
            format!("fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {{ let t = {value}; 1.0 }}");
        rejects(&source, &[(at, want)]);
    };
    filtered("filter(x)", "filter(x)", "`filter` takes 2 arguments");
    filtered(
        "filter(x, |y| y > 0.0)",
        "|y|",
        "`filter` takes a table, not a closure\nwrite `filter(|x|",
    );
    filtered(
        "filter(|y| y > 0.0, 1.0)",
        "1.0)",
        "`filter` takes a table, not",
    );
    filtered(
        "filter(|y| y + 1.0, x)",
        "|y| y + 1.0",
        "expected `Fn(f64) -> bool`",
    );
    filtered("filter(|y| y > 0.0, x) + x", "+ x", "");
    filtered(
        "for i in N { filter(|y| y > x[i], x) }",
        "filter(|y|",
        "a table over a range that depends on the loop cannot be stored",
    );
    filtered(
        "reduce(0.0, |a, b| a + b + sum(filter(|y| y > a, x)), x)",
        "filter(|y|",
        "`filter` in an operator",
    );
}

#[test]
fn what_cannot_be_printed() {
    rejects(
        "fn f(x: f64) -> f64 { let g = |z: f64| dbg!(z * 2.0); g(x) }",
        &[("dbg!(", "a closure cannot print")],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    println!(\"{x}\");\n    sum(x)\n}",
        &[(
            "\"{x}\"",
            "`Table<N, f64>` cannot be printed here\nprint its elements",
        )],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(dbg!((x, 1)).0) }",
        &[("(x, 1)", "`Table<N, f64>` cannot be printed here")],
    );
    rejects(
        "fn f(x: f64) -> f64 { println!(\"{:e}\", x > 1.0); x }",
        &[(
            "x > 1.0",
            "`bool` cannot be printed here\na truth value has no exponent",
        )],
    );
}

#[test]
fn a_closure_that_assigns() {
    rejects(
        "fn f(x: f64) -> f64 { let mut y = x; let g = |z: f64| { y = z; z }; g(y) }",
        &[("y = z", "a closure cannot assign to `y`")],
    );
}

#[test]
fn a_wrong_number_of_arguments() {
    rejects(
        "fn g(a: f64, b: f64) -> f64 { a + b }\nfn f(x: f64) -> f64 { g(x) + sum(x, x) }",
        &[
            ("g(x)", "`g` takes 2 arguments, not 1"),
            ("sum(x", "`sum` takes 1 argument, not 2"),
        ],
    );
    rejects(
        "fn f(x: f64) -> f64 { x.max(1.0, 2.0) }",
        &[("max", "`max` takes 1 argument, not 2")],
    );
}

#[test]
fn an_argument_of_another_type() {
    rejects(
        "fn g(a: f64, n: usize) -> f64 { a }\nfn f(x: f64) -> f64 { g(x, x) + g(1, 2) }",
        &[
            (
                "x) + g",
                "expected `usize`, found `f64`\nthe parameter `n` of `g` is `usize`\nconvert it with `as usize`",
            ),
            ("1, 2", "expected `f64`, found an integer"),
        ],
    );
}

#[test]
fn an_argument_over_another_set() {
    rejects(
        "fn g<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> f64 { sum(a * b) }\nfn f<A: IndexSet, B: IndexSet>(x: &Table<A, f64>, y: &Table<B, f64>) -> f64 { g(x, y) }",
        &[("y) }", "expected `Table<A, f64>`, found `Table<B, f64>`")],
    );
}

#[test]
fn an_unknown_method() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { x.sum() + x[0].frobnicate() }",
        &[
            (
                "sum()",
                "no method `sum` on `Table<N, f64>`\nreductions are functions: `sum(t)`",
            ),
            ("frobnicate", "no method `frobnicate` on `f64`"),
        ],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { x.max() }",
        &[(
            "max()",
            "no method `max` on `Table<N, f64>`\nreductions are functions: `max(t)`",
        )],
    );
}

#[test]
fn numbers_of_two_types() {
    let one = |l: &str, r: &str, help: &str| {
        rejects(
            &format!("fn f(x: {l}, y: {r}) -> f64 {{ x * y }}"),
            &[(
                "* y",
                &format!("`*` does not apply to `{l}` and `{r}`\nconvert {help}"),
            )],
        );
    };
    one("usize", "f64", "the integer with `as f64`");
    one("f32", "i64", "the integer with `as f32`");
    let both = "one of them: the first with `as f64`, or the second with `as f32`";
    one("f32", "f64", both);
}

#[test]
fn an_integer_that_is_no_neighbour() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>, k: i64) -> f64 { x[k.wrap()] + x[(2 * k).mirror()] }",
        &[
            (
                "wrap",
                "no method `wrap` on `i64`\n`wrap` brings what is beside an index back into the index's set: `(i + k).wrap()`",
            ),
            ("mirror", "no method `mirror` on `i64`"),
        ],
    );
}

#[test]
fn a_method_of_other_scalars() {
    rejects(
        "fn f(n: i64) -> i64 { n.sqrt() }",
        &[("sqrt", "`sqrt` is a method of floats, not of `i64`")],
    );
}

#[test]
fn an_unknown_field() {
    rejects(
        "struct Model { w: f64 }\nfn f(m: &Model) -> f64 { m.v + (m.w, 1.0).2 }",
        &[
            ("v + ", "no field `v` in `Model`"),
            ("2 }", "no field `2` in `(f64, {float})`"),
        ],
    );
}

#[test]
fn a_name_that_means_nothing() {
    rejects(
        "fn f(x: f64) -> f64 { x + nothing }",
        &[("nothing", "`nothing` is not defined here")],
    );
}

#[test]
fn a_function_that_is_not_annotated() {
    rejects(
        "fn f(x: f64) -> f64 { helper(x) }",
        &[("helper", "`helper` is not a `#[pointful]` function")],
    );
}

#[test]
fn nothing_determines_a_set() {
    rejects(
        "fn f(x: f64) -> f64 { sum(for i in _ { x }) }",
        &[("_ {", "nothing says which index set this is")],
    );
}

#[test]
fn nothing_determines_an_extent() {
    rejects(
        "fn f<N: IndexSet>(x: f64) -> Table<N, f64> { for i in N { x } }",
        &[(
            "N {",
            "nothing says how large `N` is\nadd a parameter `n: Extent<N>`",
        )],
    );
}

#[test]
fn a_table_over_a_dependent_range_is_not_stored() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let t = for i in N { for j in ..i { x[j] } }; 1.0 }",
        &[(
            "for j in ..i",
            "a table over a range that depends on the loop cannot be stored",
        )],
    );
}

#[test]
fn an_accumulator_is_not_read() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {\n    let mut a = Accum::zero();\n    for i in N { a[i] += x[i]; let y = a[i] * 2.0; }\n    a.get()\n}",
        &[("a[i] * 2.0", "an accumulator cannot be read before `get()`")],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let mut a = Accum::zero();\n    for i in N { a += x[i]; }\n    a + 1.0\n}",
        &[("+ 1.0", "`+` does not apply to an accumulator and a float")],
    );
}

#[test]
fn get_stands_with_its_accumulator() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let mut a = Accum::zero();\n    for i in N { a += x[i]; let y = a.get(); }\n    1.0\n}",
        &[(
            "a.get()",
            "`get()` of `a` stands in another block than its `let`",
        )],
    );
}

#[test]
fn an_accumulator_is_taken_once() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let mut a = Accum::zero();\n    for i in N { a += x[i]; }\n    a.get() + a.get()\n}",
        &[("a.get()", "`a` was already taken with `get()`")],
    );
}

#[test]
fn an_accumulator_is_only_added_to() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let mut a = Accum::prod();\n    for i in N { a *= x[i]; }\n    a.get()\n}",
        &[("*= x", "an accumulator can only be added to")],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let mut a = Accum::max();\n    for i in N { a += x[i]; }\n    a.get()\n}",
        &[("a += x", "this accumulator does not add\n`put(v)`")],
    );
}

#[test]
fn frames_that_do_not_agree() {
    rejects(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>) -> f64 { sum(x + y) }",
        &[(
            "+ y",
            "the axes of the operands do not agree: `N` against `M`",
        )],
    );
}

#[test]
fn a_condition_is_a_truth_value() {
    rejects(
        "fn f(x: f64, n: usize) -> f64 { if n { x } else { x } }",
        &[(
            "n {",
            "expected `bool`, found `usize`\na condition is a `bool`",
        )],
    );
}

#[test]
fn branches_of_one_type() {
    rejects(
        "fn f(x: f64, n: usize) -> f64 { if x > 0.0 { x } else { n } }",
        &[(
            "n }",
            "expected `f64`, found `usize`\nboth branches of an `if`",
        )],
    );
}

#[test]
fn members_are_not_numbers() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>, i: N) -> f64 { (i * 2) as f64 + i as f64 }",
        &[
            (
                "* 2",
                "`*` does not apply to a member of `N` and an integer\n`.ordinal()` is a member's number",
            ),
            ("i as f64", "a member of `N` cannot be cast"),
        ],
    );
    rejects(
        "fn f<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>) -> f64 { sum(for p in (R, C) { x[(p + 1).wrap()] }) }",
        &[(
            "+ 1",
            "`+` does not apply to `(a member of `R`, a member of `C`)` and an integer\nan index moves along one axis",
        )],
    );
}

#[test]
fn members_of_two_sets_are_not_compared() {
    rejects(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, i: N, j: M) -> bool { i == j }",
        &[("== j", "`N` and `M` are different index sets")],
    );
}

#[test]
fn a_number_of_iterations_is_a_range() {
    rejects(
        "fn f(n: usize) -> f64 { sum(for i in n { 1.0 }) + sum(for i in 0..2.0 { 1.0 }) }",
        &[
            (
                "n {",
                "a `for` does not run over `usize`\nfor a number of iterations write `0..n`",
            ),
            (
                "2.0 {",
                "a range runs over integers or members of an index set, not a float",
            ),
        ],
    );
}

#[test]
fn min_of_two_values_is_a_method() {
    rejects(
        "fn f(x: f64) -> f64 { min(x, 1.0) }",
        &[(
            "min(x",
            "`min` reduces one table\nthe min of two values is the method `a.min(b)`",
        )],
    );
}

#[test]
fn a_reduction_takes_a_table() {
    rejects(
        "fn f(x: f64) -> f64 { sum(x) + any(x) }",
        &[
            ("x) + ", "`sum` takes a table, not `f64`"),
            ("x) }", "`any` takes a table, not `f64`"),
        ],
    );
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> bool { any(x) }",
        &[("x) }", "`any` does not apply to a table of `f64`")],
    );
}

#[test]
fn a_literal_out_of_range() {
    rejects(
        "fn f(x: u8) -> u8 { x + 256 }",
        &[("256", "this literal is out of range for `u8`")],
    );
}

#[test]
fn a_pattern_of_another_shape() {
    rejects(
        "fn f(x: f64) -> f64 { let (a, b, c) = (x, x); a }",
        &[(
            "(a, b, c)",
            "a pattern of 3 parts does not fit `(f64, f64)`",
        )],
    );
}

#[test]
fn a_match_covers_every_value() {
    rejects(
        "#[derive(IndexSet)] enum Channel { R, G, B }\nfn f(c: Channel) -> f64 { match c { Channel::R => 1.0, Channel::G => 2.0 } }",
        &[("c {", "this `match` does not cover every value")],
    );
    rejects(
        "#[derive(IndexSet)] enum Channel { R, G, B }\nfn f(c: Channel) -> f64 { match c { Channel::X => 1.0, _ => 2.0 } }",
        &[("X =>", "`Channel` has no member `X`")],
    );
}

#[test]
fn a_match_covers_every_variant() {
    let shape = "enum Shape { Circle(f64), Rect { w: f64, h: bool }, Nothing }\n";
    for (arms, missing) in [
        ("Shape::Circle(_) => 1.0", "`Shape::Rect`, `Shape::Nothing`"),
        (
            "Shape::Circle(r) if r > 0.0 => 1.0, Shape::Nothing => 0.0, Shape::Rect { h: true, .. } => 1.0",
            "`Shape::Circle`, `Shape::Rect`",
        ),
    ] {
        rejects(
            &format!("{shape}fn f(s: Shape) -> f64 {{ match s {{ {arms} }} }}"),
            &[(
                "s {",
                &format!("this `match` does not cover every value: it lacks {missing}"),
            )],
        );
    }
}

#[test]
fn the_length_of_a_constant_array() {
    rejects(
        "fn f(x: &Table<bool, f64>) -> f64 { sum(for b in bool { x[b] * WEIGHTS[b] }) }",
        &[(
            "WEIGHTS",
            "this constant array is over a set other than `Fin`",
        )],
    );
}

#[test]
fn casts_that_rust_has_not() {
    rejects(
        "fn f(x: f64, b: bool) -> f64 { let c = x as bool; b as f64 }",
        &[
            ("x as bool", "a number cannot be cast to `bool`"),
            ("b as f64", "a `bool` cannot be cast to `f64`"),
        ],
    );
}

#[test]
fn two_mistakes_are_two_errors() {
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {\n    let a = x.nothing();\n    let b = a * 2.0 + a.sin();\n    let c = 1 + 1.0;\n    sum(for i in N { a * b + c })\n}",
        &[
            ("nothing", "no method `nothing`"),
            ("+ 1.0", "`+` does not apply to an integer and a float"),
        ],
    );
}

#[test]
fn dyn_is_no_nominal_set() {
    rejects(
        "#[derive(IndexSet)] struct Pixel(usize);\nfn g(x: &Table<Dyn, f64>) -> f64 { sum(x) }\nfn f(x: &Table<Pixel, f64>) -> f64 { g(x) }",
        &[(
            "x) }",
            "expected `Table<Dyn, f64>`, found `Table<Pixel, f64>`",
        )],
    );
}

#[test]
fn nothing_is_accumulated_in_an_operator() {
    rejects(
        "fn f<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>, z: &Table<D, f64>) -> Table<D, f64> {
    reduce(z, |a, b| { let mut s = Accum::zero(); for d in D { s[d] += a[d] * b[d]; } s.get() }, for n in N { x[n] })
}",
        &[("Accum::zero()", "an accumulator cannot stand in the operator")],
    );
}

#[test]
fn a_constant_is_a_value_of_a_known_type() {
    rejects(
        "fn f(x: f64) -> Extent<Fin<3>> { LENGTH }",
        &[(
            "LENGTH",
            "a constant of type `Extent<Fin<3>>` cannot be used here",
        )],
    );
    let unknown = "the type of this constant must be known here";
    rejects(
        "fn f() -> usize { HERE.ordinal() }",
        &[("ordinal", unknown)],
    );
    rejects(
        "fn f(x: f64) -> f64 { let pair = PAIR; x * pair.0 }",
        &[("pair.0", unknown)],
    );
    rejects(
        "fn f(x: f64) -> f64 { 2(x) }",
        &[("2(x)", "an integer cannot be called")],
    );
}

#[test]
fn a_member_of_a_range_of_one_iteration_stays_in_it() {
    let member = "this is a member of a range whose length is known only inside the block
the block can give its number: `.ordinal()`";
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let t = for i in N { argmin(for j in ..=i { x[j] }) }; 0.0 }",
        &[("argmin", member)],
    );
}

#[test]
fn an_accumulator_with_its_own_operator() {
    let of = |make: &str, rest: &str| {
        format!(
            "fn f<N: IndexSet>(v: &Table<N, f64>) -> f64 {{\n    let mut a = Accum::monoid({make});\n    for i in N {{ {rest} }}\n    a.get()\n}}"
        )
    };
    rejects(
        &of("(0.0, 1.0), |p, q| (p.0 + q.0, p.1 * q.1)", "a.put(v[i]);"),
        &[(
            "(0.0, 1.0)",
            "the accumulator holds `f64`, but its identity is `({float}, {float})`",
        )],
    );
    rejects(
        &of("0.0, |p, q| p + q", "a += v[i];"),
        &[("a += v", "this accumulator does not add\n`put(v)`")],
    );
    rejects(
        &of("0.0, |p, q| p > q", "a.put(v[i]);"),
        &[(
            "|p, q|",
            "`Accum::monoid` combines two values of the identity's type into one",
        )],
    );
    rejects(
        &of("0.0", "a.put(v[i]);"),
        &[("Accum::monoid", "`Accum::monoid` takes 2 arguments, not 1")],
    );
    rejects(
        &of("0.0, |p, q| p + q", "a.put(v[i]); let y = a.get();"),
        &[(
            "a.get();",
            "`get()` of `a` stands in another block than its `let`",
        )],
    );
}

#[test]
fn a_pattern_that_may_not_fit() {
    let not_all = "this pattern does not cover every value";
    rejects(
        "fn f<N: IndexSet>(u: &Table<N, f64>) -> f64 { let Some(v) = u.get(0); v }",
        &[("Some(v)", not_all)],
    );
    rejects(
        "fn f<A: IndexSet, B: IndexSet>(e: Either<A, B>) -> usize { let g = |Either::Left(a)| 1; let Either::Left(a) = e; 1 }",
        &[
            ("Either::Left(a)|", not_all),
            ("Either::Left(a) =", not_all),
        ],
    );
    rejects(
        "fn f<N: IndexSet>(u: &Table<N, f64>) -> f64 { match u.get(0) { Some(v) => v } }",
        &[("u.get", "this `match` does not cover every value")],
    );
    rejects(
        "fn f(a: bool, b: bool) -> f64 { match (a, b) { (true, _) => 1.0, (_, true) => 2.0 } }",
        &[("(a, b)", "this `match` does not cover every value")],
    );
    rejects(
        "fn f(x: f64) -> f64 { if let Some(v) = x { v } else { 0.0 } }",
        &[("Some(v)", "expected `f64`, found `Option<_>`")],
    );
}

#[test]
fn a_member_is_named_with_its_set() {
    rejects(
        "#[derive(IndexSet)] enum C { R, G }\nfn f(c: C) -> f64 { match c { R => 1.0, _ => 2.0 } }",
        &[(
            "R => 1",
            "`R` would be a new variable here, which takes every value",
        )],
    );
}

#[test]
fn a_call_with_two_readings() {
    rejects(
        "fn pair<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, u: &Table<N, f64>, y: &Table<M, f64>, v: &Table<M, f64>) -> f64 { sum(x * u) + sum(y * v) }
fn f<A: IndexSet, B: IndexSet, C: IndexSet, D: IndexSet>(x: &Table<(C, A, B), f64>, u: &Table<(A, B), f64>, y: &Table<(A, C, D), f64>, v: &Table<(C, D), f64>) -> Table<(C, A), f64> {
    pair(x, u, y, v)
}",
        &[(
            "pair(x, u, y",
            "this call of `pair` can be read in two ways
either `N` is `(A, B)`, `M` is `D`, repeated over `A`, `C`
or `N` is `B`, `M` is `(C, D)`, repeated over `C`, `A`",
        )],
    );
}

#[test]
fn what_repetitions_share_is_not_changed() {
    rejects(
        "fn scale(u: &mut Table<Fin<3>, f64>, by: f64) { for i in _ { u[i] *= by; } }
fn f<N: IndexSet>(mut x: Table<Fin<3>, f64>, by: &Table<N, f64>) -> Table<Fin<3>, f64> { scale(&mut x, by); x }",
        &[("&mut x, by)", "every repetition of `scale` would change this\nwrite a `for`")],
    );
}

#[test]
fn places_are_one_at_a_time() {
    rejects(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>) -> Table<K, f64> {\n    let mut a = Accum::zero();\n    a[at] += x;\n    a.get()\n}",
        &[("at] +=", "`Table<N, K>` cannot be an index")],
    );
    rejects(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, at: &Table<N, K>) -> f64 { x.get(at).unwrap_or(0.0) }",
        &[("at).unwrap", "`Table<N, K>` cannot be an index")],
    );
}

#[test]
fn powers_by_stars_and_carets() {
    for (power, at, help) in [
        (
            "x ** 2.0",
            "** 2.0",
            "`.powi(2)`, and of an integer `.pow(2)`",
        ),
        ("x ** 2", "** 2", "`.powi(2)`"),
        ("x ** 2.5", "** 2.5", "`.powf(2.5)`"),
        ("x ** y", "** y", "`.powf(p)`"),
        ("x ** *z", "** *z", "`.powf(p)`"),
        ("x ** z", "** z", "`.powf(p)`"),
        ("x ** n as f64", "** n", "`.powf(p)`"),
        ("-x ** (3)", "** (3)", "`.powi(3)`"),
        ("x ** -1.0", "** -1.0", "`.powi(-1)`"),
    ] {
        let source = format!("fn f(x: f64, y: f64, z: &f64, n: usize) -> f64 {{ {power} }}");
        rejects(
            &source,
            &[(
                at,
                &format!("there is no operator `**`\na power is written {help}"),
            )],
        );
    }
    for (power, at, help) in [
        ("x ^ 2.0", "^ 2.0", "`.powi(2)`"),
        ("x ^ 2", "^ 2", "`.powi(2)`"),
        ("x ^ 0.5", "^ 0.5", "`.powf(0.5)`"),
        ("x ^ y", "^ y", "`.powf(p)`"),
        ("{ let mut z = x; z ^= 2; z }", "^= 2", "`.powi(2)`"),
        ("{ let square = |t| t ^ 2; square(x) }", "^ 2", "`.powi(2)`"),
    ] {
        let source = format!("fn f(x: f64, y: f64) -> f64 {{ {power} }}");
        rejects(&source, &[(at, "`^` does not apply to `f64` and ")]);
        rejects(&source, &[(at, help)]);
    }
    rejects(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(x ^ 2) }",
        &[("^ 2", "`.powi(2)`")],
    );
}

#[test]
fn what_is_no_reference_cannot_be_dereferenced() {
    let error = "this is no reference, so it cannot be dereferenced\nleave out the `*`";
    for (value, at) in [
        ("*x", "*x"),
        ("x * *2.0", "*2.0"),
        ("x * * 2.0", "* 2.0"),
        ("**y", "**y"),
        ("*(x + 1.0)", "*(x"),
        ("*t[i]", "*t[i]"),
        ("{ let z = x; *z }", "*z"),
        ("{ let z: f64 = x; *z }", "*z"),
        ("*if x > 0.0 { x } else { 1.0 }", "*if"),
        ("*HALF", "*HALF"),
        ("sum(for j in N { *t[j] })", "*t[j]"),
        ("{ let mut z = x; *z = 2.0; z }", "*z = 2.0"),
        ("{ let mut z = x; *z += 2.0; z }", "*z += 2.0"),
    ] {
        let source = format!(
            "fn f<N: IndexSet>(x: f64, y: &f64, t: &Table<N, f64>, i: N) -> f64 {{ {value} }}"
        );
        rejects(&source, &[(at, error)]);
    }
    // One mistake is one error.
    rejects(
        "fn f(x: f64) -> f64 { x + *nothing }",
        &[("nothing", "nothing")],
    );
}

#[test]
fn references_can_be_dereferenced() {
    for value in [
        "*y * 2.0",
        "x * *y",
        "(*t)[i]",
        "{ let z = &x; *z }",
        "{ let z = y; *z }",
        "{ let z: &f64 = &x; *z }",
        "*if x > 0.0 { &x } else { y }",
        "*&x",
        "*match x > 0.0 { true => &x, false => y }",
        "{ let g = |z| *z + 1.0; g(&x) }",
        "{ let g = |z: &f64| *z + 1.0; g(&x) }",
        "{ *u = *t; u[i] }",
        "{ let mut a = Accum::zero(); for j in N { let cell = &mut a[j]; *cell += t[j]; } sum(a.get()) }",
    ] {
        let source = format!(
            "fn f<N: IndexSet>(x: f64, y: &f64, t: &Table<N, f64>, u: &mut Table<N, f64>, i: N) -> f64 {{ {value} }}"
        );
        if let Err(errors) = lower_source(&source) {
            panic!("{value}: {}", rendered(&errors));
        }
    }
}

#[test]
fn values_of_rows_are_not_assigned() {
    rejects(
        "fn f<N: IndexSet>(a: &Ragged<N, f64>, i: N) -> Ragged<N, f64> { let mut b = a; b[i][0] = 1.0; b }",
        &[(
            "b[i]",
            "the values of a `Ragged` are not assigned one by one",
        )],
    );
    rejects(
        "fn f<N: IndexSet>(a: &Ragged<N, f64>, i: N) -> f64 { let mut acc = Accum::zero(); acc += a; acc.get(i).put(a[i]); sum(acc.get()) }",
        &[(
            "acc.get(i)",
            "the values of a `Ragged` are not assigned one by one",
        )],
    );
    rejects(
        "fn f<N: IndexSet>(a: &Ragged<N, f64>, i: N) -> f64 { sum(a.get(i).unwrap()) }",
        &[("get", "rows of a `Ragged` are taken one at a time")],
    );
}
