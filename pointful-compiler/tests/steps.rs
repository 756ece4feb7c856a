//! What a step of a loop launches, and what becomes of what it leaves for the next.

use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::{Program, print};
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::testing::skeleton;

/// The last function of a source, scheduled.
#[track_caller]
fn kernels(source: &str) -> Program<Kernels> {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    stages.kernels
}

/// Checks the loops of the last function of a source.
#[track_caller]
fn loops(source: &str, expected: &str) {
    let found = skeleton(&kernels(source));
    let lines = expected.lines().filter(|line| !line.trim().is_empty());
    let expected: String = lines
        .map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line)))
        .collect();
    assert!(
        found == expected,
        "{source}\nhas these loops:\n{found}\ninstead of:\n{expected}"
    );
}

#[test]
fn what_is_written_over_another_name_is_not_copied() {
    // The next `x` is made over `j` and carried over `i`.
    loops(
        "fn f<N: IndexSet>(a: &Table<(N, N), f64>, x: Table<N, f64>, t: usize) -> Table<N, f64> {
             let mut x = x;
             for _k in 0..t { x = for j in N { let mut s = 0.0; for i in N { s = s * 0.5 + x[i] * a[i][j]; } s }; }
             x
         }",
        "
        for _
          alloc [N]
          par N
            for N
            store [N]
        ",
    );
}

#[test]
fn what_is_transposed_is() {
    loops(
        "fn f<N: IndexSet>(x: Table<(N, N), f64>, t: usize) -> Table<(N, N), f64> {
             let mut x = x;
             for _k in 0..t { x = for (i, j) in (N, N) { x[j][i] * 0.5 }; }
             x
         }",
        "
        alloc [N, N]
        for _
          par N, N
            store [N, N]
        ",
    );
}

#[test]
fn what_each_point_makes_of_itself_takes_its_place() {
    loops(
        "fn f<T: IndexSet, N: IndexSet>(x: Table<N, f64>, y: &Table<(T, N), f64>) -> Table<N, f64> {
             let mut x = x;
             for k in T { x = for i in N { x[i] * x[i] + y[k][i] }; }
             x
         }",
        "
        for T
          par N
            store [N]
        ",
    );
}

#[test]
fn points_that_need_no_other_go_through_all_steps() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, t: usize) -> Table<N, f64> {
             let mut x = x.clone();
             for _k in 0..t { x = for i in N { x[i] * x[i] + y[i] }; }
             x
         }",
        "
        alloc [N]
        par N
          for _
          store [N]
        ",
    );
}

#[test]
fn what_others_read_keeps_its_place() {
    // Neighbours, another state, and what is given beside it.
    loops(
        "fn f<N: IndexSet>(x: Table<N, f64>, t: usize) -> Table<N, f64> {
             let mut x = x;
             for _k in 0..t { x = for i in N { x[i] + x[(i + 1).wrap()] }; }
             x
         }",
        "
        alloc [N]
        for _
          par N
            store [N]
        ",
    );
    loops(
        "fn f<T: IndexSet, N: IndexSet>(x: Table<N, f64>, y: Table<N, f64>, z: &Table<(T, N), f64>) -> (Table<N, f64>, Table<N, f64>) {
             let (mut x, mut y) = (x, y);
             for k in T { let before = x; x = for i in N { x[i] * 2.0 + y[i] }; y = for i in N { before[i] - z[k][i] * y[i] }; }
             (x, y)
         }",
        "
        alloc [N]
        alloc [N]
        for T
          par N
            store [N]
            store [N]
        ",
    );
}

#[test]
fn a_few_functions_are_no_reason_for_a_branch() {
    let branches = |otherwise: &str| {
        let program = kernels(&format!(
            "fn f<N: IndexSet, M: IndexSet>(x: &Table<(M, N), f64>) -> Table<N, f64> {{
                 for n in N {{ let total = sum(for m in M {{ x[m][n].exp() }}); if total == 0.0 {{ 1.0 }} else {{ {otherwise} }} }}
             }}"
        ));
        print(&program).matches("if %").count()
    };
    assert_eq!(branches("total.ln() * 2.0"), 0);
    assert_eq!(branches("total.exp().ln_1p().tanh()"), 0);
    assert_eq!(branches("total.sin() + 1.5"), 0);
    // More of them are, and what vectors do not have.
    let many = format!("total{}", ".ln().exp()".repeat(6));
    for dear in [many.as_str(), "total % 3.0 + total % 5.0 + total % 7.0"] {
        assert!(branches(dear) > 0, "{dear}");
    }
}
