use super::time_tiling;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::stages::kernels::Kernels;
use crate::ir::verify_after;
use crate::ir::{Block, Operation, parse, print};
use crate::targets::cpu::outline;

/// What a program of Kernels is by tiles of rows.
struct Tiled {
    text: String,
    /// How many kernels the first tile has, and its reach.
    tile: Option<(usize, u64)>,
}

impl Tiled {
    #[track_caller]
    fn of(text: &str) -> Self {
        let program = parse::<Kernels>(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let program = time_tiling(outline(program));
        verify_after("time_tiling", &program);
        Self {
            text: print(&program),
            tile: first(&program.body),
        }
    }

    /// The text of what comes after the tile.
    fn after(&self) -> &str {
        let (_, rest) = self.text.split_once("tile ").expect("a tile");
        rest.split_once("\n  }").expect("its end").1
    }
}

fn first(block: &Block<Cpu>) -> Option<(usize, u64)> {
    block.stmts.iter().find_map(|stmt| match &stmt.op {
        CpuOp::Own(Own::Tile(tile)) => Some((tile.parts()[1].len(), tile.reach)),
        op => op.blocks().into_iter().find_map(first),
    })
}

/// The same of a loop of the host.
fn steps(body: &str) -> Tiled {
    Tiled::of(&format!(
        "fn f(own u: f64[I, J], own v: f64[I, J], own s: f64[J, I], own r: f64[T, I, J], own z: f64[I, J], w: f64[I, J], m: f64[J, J], q: f64[I, I], n: i64) -> (f64[I, J], f64) {{
           %0 = const 0.0f64 %90 = var %0 %91 = const 0usize %92 = trust I %91 %93 = const 1i64 %94 = const 2i64
           for %1: T {{ {body} }}
           %99 = get %90
           return u, %99
         }}"
    ))
}

/// One kernel that stores to `v` what it loads from `u` in a row that is made of its own by
/// some statements, and the exchange.
fn from_row(statements: &str) -> Tiled {
    steps(&format!(
        "par %2: I, %3: J {{ %4 = cast i64 %2 {statements} %6 = load u[%5, %3] store v[%2, %3], %6 }} swap u, v"
    ))
}

#[test]
fn neighbours_are_as_far_as_they_are_known_to_be() {
    for (statements, reach) in [
        ("%7 = add %4, %93 %5 = check I %7", 1),
        ("%7 = sub %4, %94 %5 = clamp_to I %7", 2),
        ("%7 = add %93, %4 %8 = add %7, %94 %5 = mirror I %8", 3),
        ("%7 = cast usize %2 %5 = trust I %7", 0),
    ] {
        let Tiled { text, tile } = from_row(statements);
        assert_eq!(tile, Some((1, reach)), "{statements}: {text}");
        let tile = format!("rows I reach {reach} writes u 0, v 0 swap u v {{");
        assert!(text.contains(&tile), "{statements}: {text}");
    }
    for statements in [
        // Around the ends, by a number that is not known, or not from here.
        "%7 = add %4, %93 %5 = wrap I %7",
        "%7 = add %4, n %5 = check I %7",
        "%7 = mul %4, %94 %5 = check I %7",
        "%7 = add %4, %4 %5 = check I %7",
        "%7 = sub %93, %4 %5 = check I %7",
        "%5 = check I %93",
    ] {
        let Tiled { text, tile } = from_row(statements);
        assert_eq!(tile, None, "{statements}: {text}");
    }
}

#[test]
fn what_is_done_in_rows_may_be_done_in_steps() {
    let step = "par %2: I, %3: J { %6 = load u[%2, %3] store v[%2, %3], %6 } swap u, v";
    for body in [
        step,
        // A kernel in place, several kernels, what is collected, and a product.
        "par %2: I, %3: J { %6 = load u[%2, %3] %7 = neg %6 store u[%2, %3], %7 }",
        &format!("par %12: I {{ par_ }} {step}").replace(
            "par_",
            "%13 = const 0usize %14 = trust J %13 %15 = load w[%92, %14] store s[%14, %12], %15",
        ),
        &format!(
            "par %12: I, %13: J {{ %16 = load u[%12, %13] store r[%1, %12, %13], %16 }} {step}"
        ),
        "contract v[0, 1] = m[1, 2], u[0, 2] swap u, v",
    ] {
        let Tiled { text, tile } = steps(body);
        assert!(tile.is_some(), "{body}: {text}");
    }
    let sums = "%20 = const 0.0f64 %21 = var %20 par %2: I (add %22 = %21) { %6 = load w[%2, %9] combine add %22[], %6 store u[%2, %9], %6 } %23 = get %21 %24 = get %90 %25 = add %23, %24 set %90, %25";
    let sums = format!("%9 = trust J %91 {sums}");
    assert_eq!(steps(&sums).tile, Some((1, 0)));
    let owned = "%9 = trust J %91 %8 = trust I %91 %30 = load z[%8, %9] par %2: I, %3: J { %6 = load u[%2, %3] %7 = mul %6, %30 store u[%2, %3], %7 }";
    assert_eq!(steps(owned).tile, Some((1, 0)));
    for body in [
        // Somebody else's row, a buffer whose rows are not first, other rows, a row that all read, a matrix that another kernel writes, and
        // a kernel that asks for what is accumulated.
        "par %2: I, %3: J { %6 = load w[%2, %3] store v[%92, %3], %6 } swap u, v".to_owned(),
        "par %12: I, %13: J { %16 = load u[%12, %13] store s[%13, %12], %16 } par %32: I, %33: J { %36 = load s[%33, %32] store v[%32, %33], %36 } swap u, v".to_owned(),
        format!(
            "par %12: J, %13: I {{ %16 = load w[%13, %12] store s[%12, %13], %16 }} {step}"
        ),
        "par %2: I, %3: J { %6 = load u[%92, %3] store v[%2, %3], %6 } swap u, v".to_owned(),
        "contract v[0, 1] = q[0, 2], u[2, 1] swap u, v".to_owned(),
        format!("{step} par %12: I (add %13 = %90) {{ %14 = const 1.0f64 combine add %13[], %14 }}").replace(step, "par %32: I, %33: J { %36 = get %90 store v[%32, %33], %36 }"),
        // What is put off would read what later steps write.
        sums.replace("%25 = add %23, %24", "%26 = gt %23, %24 %27 = select %26, %92, %92 %28 = load u[%27, %9] %25 = add %28, %24"),
        sums.replace(
            "combine add %22[], %6",
            "%31 = get %90 combine add %22[], %31",
        ),
        // What is added up is asked for before it is.
        format!("%26 = get %90 set %90, %26 {}", sums.replace("(add %22 = %21)", "(add %22 = %90)")),
    ] {
        let Tiled { text, tile } = steps(&body);
        assert_eq!(tile, None, "{body}: {text}");
    }
}

/// What comes after two products, of `a` and `b` in `u` and of `u` and `c` in `v`.
fn sequence(statements: &str) -> Tiled {
    Tiled::of(&format!(
        "fn f(a: f64[I, K], b: f64[K, J], c: f64[J, J], own u: f64[I, J], own v: f64[I, J], own w: f64[I, J], own z: f64[J, J], own s: f64[J]) -> (f64[I, J], f64[I, J], f64[I, J], f64[J, J], f64[J], f64, f64) {{
           %0 = const 0.0f64 %1 = var %0
           contract u[0, 1] = a[0, 2], b[2, 1] contract v[0, 1] = u[0, 2], c[2, 1]
           {statements}
           %90 = get %1 %91 = const 1.0f64 %92 = add %90, %91
           return u, v, w, z, s, %90, %92
         }}"
    ))
}

#[test]
fn what_follows_row_by_row_is_one_step() {
    for (statements, kernels) in [
        ("", 2),
        // Row by row, near by, in the place of what is read, and turned round for nobody.
        (
            "par %2: I, %3: J { %4 = load v[%2, %3] store w[%2, %3], %4 }",
            3,
        ),
        (
            "par %2: I, %3: J { %4 = cast i64 %2 %5 = const 1i64 %6 = add %4, %5 %7 = clamp_to I %6 %8 = load v[%7, %3] store w[%2, %3], %8 }",
            3,
        ),
        (
            "par %2: I, %3: J { %4 = load v[%2, %3] store v[%2, %3], %4 }",
            3,
        ),
        // What adds up is merged afterwards, several of them in turn, in tables too.
        (
            "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 }",
            3,
        ),
        (
            "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 } par %5: I, %6: J (add %7 = s) { %8 = load v[%5, %6] combine add %7[%6], %8 }",
            4,
        ),
    ] {
        let Tiled { text, tile } = sequence(statements);
        assert_eq!(
            tile.map(|tile| tile.0),
            Some(kernels),
            "{statements}: {text}"
        );
    }
}

#[test]
fn what_asks_for_all_rows_comes_after_them() {
    for statements in [
        // A product over the rows, other rows, another row, and what is changed by one of these.
        "contract z[0, 1] = u[2, 0], v[2, 1]",
        "par %2: J { %3 = load c[%2, %2] store s[%2], %3 }",
        "par %2: I, %3: J { %4 = const 0i64 %5 = check I %4 %6 = load v[%5, %3] store w[%2, %3], %6 }",
    ] {
        let found = sequence(&format!(
            "{statements} par %12: I, %13: J {{ %14 = load u[%12, %13] store w[%12, %13], %14 }}"
        ));
        let kernels = if statements.contains("store w") { 2 } else { 3 };
        let count = found.tile.map(|tile| tile.0);
        assert_eq!(count, Some(kernels), "{statements}: {}", found.text);
        let after = found.after();
        let is_there = after.contains("par ") || after.contains("contract ");
        assert!(is_there, "{statements}: {}", found.text);
    }
    // What it reads must be there still.
    let found = sequence(
        "contract z[0, 1] = u[2, 0], v[2, 1] %5 = const 0i64 %8 = check K %5 par %2: I, %3: J { %4 = load a[%2, %8] store u[%2, %3], %4 }",
    );
    assert_eq!(found.tile, Some((2, 0)), "{}", found.text);
    // What the sum is asked for comes after it.
    let sum = "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 } %5 = get %1 par %6: I, %7: J { store w[%6, %7], %5 }";
    let found = sequence(sum);
    assert_eq!(found.tile, Some((3, 0)), "{}", found.text);
    assert!(found.after().contains("par "), "{}", found.text);
    // A sum into what is changed, or asked for, by what is put off stands behind that.
    for before in ["set %1, %0", "%8 = get %1 %9 = add %8, %8 set %1, %9"] {
        let found = sequence(&format!(
            "contract z[0, 1] = u[2, 0], v[2, 1] {before} {sum}"
        ));
        assert_eq!(found.tile, Some((2, 0)), "{}", found.text);
    }
}

#[test]
fn kernels_that_have_nothing_to_do_with_each_other_stay_apart() {
    let program =
        "fn f(a: f64[I, J], own u: f64[I, J], own v: f64[I, J]) -> (f64[I, J], f64[I, J]) {
        par %0: I, %1: J { %2 = load a[%0, %1] store u[%0, %1], %2 }
        par %3: I, %4: J { %5 = load a[%3, %4] store v[%3, %4], %5 }
        return u, v
    }";
    assert_eq!(Tiled::of(program).tile, None);
}
