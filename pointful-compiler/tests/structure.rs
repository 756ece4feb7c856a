//! What becomes of derivatives: which loops run in parallel, which one after the other, what is
//! added up and what is kept.
//!
//! Each program is shown by its loops and what they write, without names: what a lost fusion, a
//! lost parallel loop or a new scatter changes, and a renaming does not.

use pointful_compiler::explain::Structure;
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
    let program = kernels(source);
    let found = skeleton(&program);
    let expected: String = expected
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line)))
        .collect();
    assert!(
        found == expected,
        "{source}\nhas these loops:\n{found}\ninstead of:\n{expected}\n{}",
        print(&program)
    );
}

/// Checks that the host runs so many loops itself, all of them with parallel loops in them.
#[track_caller]
fn parallel(source: &str, host_loops: usize) {
    let text = skeleton(&kernels(source));
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
        .collect();
    let is_loop = |line: &str| line.starts_with("for") || line.starts_with("while");
    let (mut kernel, mut found) = (None, Vec::new());
    for (at, &(depth, line)) in lines.iter().enumerate() {
        if kernel.is_some_and(|outside| depth > outside) {
            continue;
        }
        kernel = line.starts_with("par").then_some(depth);
        if is_loop(line) {
            let mut body = lines[at + 1..]
                .iter()
                .take_while(|(below, _)| *below > depth);
            found.push(body.any(|(_, line)| line.starts_with("par")));
        }
    }
    assert!(
        found == vec![true; host_loops] && (text.contains("par ") || text.contains("contract ")),
        "{source}\nhas these loops:\n{text}"
    );
}

#[test]
fn the_adjoint_of_a_map_is_a_map() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[i].sin() * x[i] } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_sum_needs_no_sum() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { x[i] * x[i] }) }
         fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn a_value_and_its_gradient_are_one_pass() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { (x[i] * x[i]).sin() }) }
         fn g<N: IndexSet>(x: &Table<N, f64>) -> (f64, Table<N, f64>) { value_and_grad!(f)(x) }",
        "
        alloc [N]
        par N add []
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_wrapped_stencil_is_a_stencil() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[(i - 1).wrap()] - 2.0 * x[i] + x[(i + 1).wrap()] } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_plane_stencil_is_a_stencil() {
    loops(
        "fn f<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>) -> Table<(R, C), f64> { for (r, c) in _ { x[(r - 1).wrap()][c] * x[r][(c + 1).wrap()] - x[r][c] } }
         fn g<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>, ct: &Table<(R, C), f64>) -> Table<(R, C), f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [R, C]
        par R, C
          store [R, C]
        ",
    );
}

#[test]
fn the_adjoint_of_a_transposition_is_one() {
    loops(
        "fn f<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>) -> Table<(B, A), f64> { for (b, a) in _ { x[a][b] * 2.0 } }
         fn g<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>, ct: &Table<(B, A), f64>) -> Table<(A, B), f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [A, B]
        par A, B
          store [A, B]
        ",
    );
}

#[test]
fn the_adjoint_of_a_gather_is_one_histogram() {
    loops(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, at: &Table<N, K>) -> Table<N, f64> { for n in N { x[at[n]] } }
         fn g<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, at: &Table<N, K>, ct: &Table<N, f64>) -> Table<K, f64> { vjp!(f)(x, at, ct).1 }",
        "
        alloc [K]
        par N add [K]
          add [K]
        ",
    );
}

#[test]
fn two_reads_at_a_place_are_one_histogram() {
    loops(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, y: &Table<N, f64>, at: &Table<N, K>) -> f64 { sum(for n in N { x[at[n]] * x[at[n]].sin() * y[n] }) }
         fn g<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, y: &Table<N, f64>, at: &Table<N, K>) -> Table<K, f64> { grad!(f, wrt = x)(x, y, at) }",
        "
        alloc [K]
        par N add [K]
          add [K]
        ",
    );
}

#[test]
fn the_adjoint_of_a_histogram_is_a_gather() {
    loops(
        "fn f<N: IndexSet, K: IndexSet>(w: &Table<N, f64>, at: &Table<N, K>) -> Table<K, f64> { let mut acc = Accum::zero(); for n in N { acc[at[n]] += w[n] * w[n]; } acc.get() }
         fn g<N: IndexSet, K: IndexSet>(w: &Table<N, f64>, at: &Table<N, K>, ct: &Table<K, f64>) -> Table<N, f64> { vjp!(f)(w, at, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn a_linear_time_loop_keeps_nothing() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>, t: usize) -> Table<N, f64> { let mut u = x; for _k in 0..t { u = for i in N { 0.5 * u[(i - 1).wrap()] + 0.5 * u[i] }; } u }
         fn g<N: IndexSet>(x: &Table<N, f64>, t: usize, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, t, ct).1 }",
        "
        copy [N]
        alloc [N]
        for rev _
          par N
            store [N]
        ",
    );
}

#[test]
fn lanes_with_a_shared_parameter_stay_parallel() {
    loops(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: f64) -> Table<N, f64> { for n in N { let mut s = 0.0; for m in M { s = (s * w + x[n][m]).sin(); } s } }
         fn g<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: f64, ct: &Table<N, f64>) -> f64 { vjp!(f, wrt = w)(x, w, ct).1 }",
        "
        par N add []
          alloc [M]
          for M
            store [M]
          for rev M
        ",
    );
}

#[test]
fn a_product_with_a_hessian_is_one_pass() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { x[i].powi(4) }) }
         fn g<N: IndexSet>(x: &Table<N, f64>, v: &Table<N, f64>) -> Table<N, f64> { hvp!(f)(x, v) }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn gradients_of_cells_are_one_map() {
    loops(
        "fn f(x: f64, y: f64) -> f64 { (x * y).sin() * x }
         fn g<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>) -> Table<(N, M), f64> { for (n, m) in _ { grad!(f, wrt = x)(x[n], y[m]) } }",
        "
        alloc [N, M]
        par N, M
          store [N, M]
        ",
    );
}

#[test]
fn rows_of_minima_stay_parallel() {
    parallel(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<N, f64> { for n in N { min(for m in M { x[n][m] }) } }
         fn g<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, ct: &Table<N, f64>) -> Table<(N, M), f64> { vjp!(f)(x, ct).1 }",
        0,
    );
}

#[test]
fn clusters_stay_parallel() {
    parallel(
        "fn f<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> f64 { sum(for n in N { min(for k in K { sum(for d in D { (points[n][d] - centres[k][d]).powi(2) }) }) }) }
         fn g<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> Table<(K, D), f64> { grad!(f, wrt = centres)(points, centres) }",
        0,
    );
}

#[test]
fn lanes_stay_parallel() {
    parallel(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<N, f64> { for n in N { let mut s = 0.0; for m in M { s = (s + x[n][m]).sin(); } s } }
         fn g<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, ct: &Table<N, f64>) -> Table<(N, M), f64> { vjp!(f)(x, ct).1 }",
        0,
    );
}

#[test]
fn a_time_loop_goes_back_over_parallel_sweeps() {
    parallel(
        "fn f<N: IndexSet>(x: &Table<N, f64>, t: usize) -> Table<N, f64> { let mut u = x; for _k in 0..t { u = for i in N { (u[(i - 1).wrap()] + u[i]).sin() }; } u }
         fn g<N: IndexSet>(x: &Table<N, f64>, t: usize, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, t, ct).1 }",
        2,
    );
}

#[test]
fn a_triangle_stays_parallel() {
    parallel(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { sum(for j in ..i { x[i] * x[j] * x[j] }) }) }
         fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }",
        0,
    );
}

#[test]
fn softmax_stays_parallel() {
    parallel(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>) -> Table<(N, K), f64> { for n in N { let top = max(for k in K { x[n][k] }); let e = for k in K { (x[n][k] - top).exp() }; let total = sum(e); for k in K { e[k] / total } } }
         fn g<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>, ct: &Table<(N, K), f64>) -> Table<(N, K), f64> { vjp!(f)(x, ct).1 }",
        0,
    );
}

#[test]
fn a_matrix_product_stays_parallel() {
    parallel(
        "fn f<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> Table<(I, J), f64> { for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) } }
         fn g<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>, ct: &Table<(I, J), f64>) -> (Table<(I, K), f64>, Table<(K, J), f64>) { vjp!(f)(a, b, ct).1 }",
        0,
    );
}

#[test]
fn a_maximum_stays_parallel() {
    parallel(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { max(for i in N { x[i].sin() }) }
         fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }",
        0,
    );
    parallel(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> f64 { min(x) }
         fn g<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (f64, Table<(N, M), f64>) { value_and_grad!(f)(x) }",
        0,
    );
}

#[test]
fn the_adjoint_of_a_stencil_that_ends_is_a_stencil() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x.get(i - 1).unwrap_or(0.0) - 2.0 * x[i] + x.get(i + 1).unwrap_or(0.0) } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

/// Blocks of a Jacobian that are as wide as a camera has parameters, which are read by their
/// numbers and at shifts.
const BLOCKS: &str = "
    fn turn(r: &Table<Fin<3>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<3>, f64> {
        let square = sum(r * r);
        if square == 0.0 {
            x
        } else {
            let along = sum(r * x) * (1.0 - square.cos()) / square;
            for i in _ { x[i] + x[(i + 1).wrap()] * r[(i + 2).wrap()] + r[i] * along }
        }
    }
    fn see(c: &Table<Fin<11>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> {
        let axis = for i in Fin::<3> { c[i.ordinal()] };
        let there = turn(&axis, &for i in Fin::<3> { x[i] - c[i.ordinal() + 3] });
        let flat = for i in Fin::<2> { there[i.ordinal()] / there[2] };
        let r = sum(flat * flat);
        for i in _ { c[6] * (1.0 + c[9] * r + c[10] * r * r) * flat[i] + c[i.ordinal() + 7] }
    }
";

#[test]
fn blocks_of_a_jacobian_are_one_kernel() {
    let text = skeleton(&kernels(&format!(
        "{BLOCKS}
         fn f<O: IndexSet, C: IndexSet, P: IndexSet>(cs: &Table<(C, Fin<11>), f64>, xs: &Table<(P, Fin<3>), f64>, c: &Table<O, C>, p: &Table<O, P>) -> (Table<(O, Fin<2>, Fin<11>), f64>, Table<(O, Fin<2>, Fin<3>), f64>) {{
             let (by_camera, by_point) = for o in O {{ jacobian!(see)(&cs[c[o]], &xs[p[o]]) }};
             (by_camera, by_point)
         }}"
    )));
    let outside: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        outside,
        ["alloc [O, 2, 3]", "alloc [O, 2, 11]", "par O"],
        "{text}"
    );
}

#[test]
fn a_table_is_written_down_where_it_is_known_what_goes_where() {
    loops(
        "fn g(c: &Table<Fin<5>, f64>, x: &Table<Fin<2>, f64>) -> f64 { sum(for i in Fin::<2> { c[i.ordinal() + 2] * x[i] }) * c[1] }
         fn f<N: IndexSet>(c: &Table<(N, Fin<5>), f64>, x: &Table<(N, Fin<2>), f64>) -> Table<(N, Fin<5>), f64> { for n in N { grad!(g, wrt = c)(&c[n], &x[n]) } }",
        "
        alloc [N, 5]
        par N
          store [N, 5]
          store [N, 5]
          store [N, 5]
          store [N, 5]
          store [N, 5]
        ",
    );
}

#[test]
fn rows_that_are_looked_up_are_added_in_one_pass() {
    loops(
        "fn g<O: IndexSet, C: IndexSet>(cs: &Table<(C, Fin<4>), f64>, x: &Table<O, f64>, c: &Table<O, C>) -> f64 { sum(for o in O { let k = cs[c[o]]; k[0] * x[o] * k[3].sin() + (k[1] + k[2] * x[o]).exp() }) }
         fn f<O: IndexSet, C: IndexSet>(cs: &Table<(C, Fin<4>), f64>, x: &Table<O, f64>, c: &Table<O, C>) -> Table<(C, Fin<4>), f64> { grad!(g, wrt = cs)(cs, x, c) }",
        "
        alloc [C, 4]
        par O add [C, 4]
          add [C, 4]
          add [C, 4]
          add [C, 4]
          add [C, 4]
        ",
    );
}

#[test]
fn a_matrix_of_ones_on_the_diagonal_is_never_stored() {
    loops(
        "fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[i].sin() } }
         fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<(N, N), f64> { jacobian!(g)(x) }",
        "
        alloc [N, N]
        par N
          for N
            store [N, N]
        ",
    );
}

#[test]
fn gates_of_a_recurrent_layer_are_accumulated_in_one_kernel_a_step() {
    loops(
        "fn g<L: IndexSet, B: IndexSet>(w: &Table<(L, Fin<2>, Fin<4>, B), f64>, x: &Table<B, f64>) -> f64 {
             let mut s = x;
             for l in L { s = for b in B { (w[l][0][0][b] * s[b] + w[l][1][0][b]).sin() * (w[l][0][1][b] * s[b] + w[l][1][1][b]) + w[l][0][2][b] * s[b] + w[l][1][2][b] * (w[l][0][3][b] + w[l][1][3][b]) }; }
             sum(s)
         }
         fn f<L: IndexSet, B: IndexSet>(w: &Table<(L, Fin<2>, Fin<4>, B), f64>, x: &Table<B, f64>) -> Table<(L, Fin<2>, Fin<4>, B), f64> { grad!(g, wrt = w)(w, x) }",
        "
        copy [B]
        alloc [B]
        alloc [L, B]
        alloc [L, B]
        for L
          par B
            store [B]
            store [L, B]
            store [L, B]
        alloc [B]
        alloc [B]
        alloc [L, 2, 4, B]
        for rev L
          par B
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [L, 2, 4, B]
            store [B]
        ",
    );
}

#[test]
fn the_adjoint_of_a_matrix_product_is_two_contractions() {
    loops(
        "fn f<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> Table<(I, J), f64> { for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) } }
         fn g<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>, ct: &Table<(I, J), f64>) -> (Table<(I, K), f64>, Table<(K, J), f64>) { vjp!(f)(a, b, ct).1 }",
        "
        alloc [K, J]
        contract [K, J] = [I, K], [I, J]
        alloc [I, K]
        contract [I, K] = [K, J], [I, J]
        ",
    );
}

#[test]
fn what_is_done_with_a_matrix_product_leaves_it_and_its_adjoint_contractions() {
    loops(
        "fn f<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> f64 { sum(for (i, j) in (I, J) { sum(for k in _ { a[i][k] * b[k][j] }).sin() }) }
         fn g<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> (Table<(I, K), f64>, Table<(K, J), f64>) { grad!(f)(a, b) }",
        "
        alloc [I, J]
        contract [I, J] = [I, K], [K, J]
        alloc [I, J]
        par I, J
          store [I, J]
        alloc [K, J]
        contract [K, J] = [I, K], [I, J]
        alloc [I, K]
        contract [I, K] = [K, J], [I, J]
        ",
    );
}

#[test]
fn sums_of_matrices_over_samples_are_not_copied() {
    loops(
        "fn f<N: IndexSet, K: IndexSet, D: IndexSet>(w: &Table<(K, D, D), f64>, y: &Table<(N, K, D), f64>, x: &Table<(N, D), f64>) -> f64 { sum(for (n, k) in (N, K) { sum(for (i, j) in (D, D) { w[k][i][j] * y[n][k][i] * x[n][j] }).sin() }) }
         fn g<N: IndexSet, K: IndexSet, D: IndexSet>(w: &Table<(K, D, D), f64>, y: &Table<(N, K, D), f64>, x: &Table<(N, D), f64>) -> Table<(K, D, D), f64> { grad!(f, wrt = w)(w, y, x) }",
        "
        alloc [K, D, D]
        par K
          for N
            for D
              for D
            for D
              for D
                store [K, D, D]
        ",
    );
}

#[test]
fn the_adjoint_of_a_read_at_a_condition_is_a_map() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { if i.ordinal() > 0 { x[i - 1] } else { 0.0 } } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_clamped_shift_is_a_map() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[(i + 1).clamp()] } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_window_reads_a_window() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>, w: &Table<Fin<3>, f64>) -> Table<N, f64> { for i in N { sum(for d in Fin::<3> { x[(i + d.ordinal() - 1).wrap()] * w[d] }) } }
         fn g<N: IndexSet>(x: &Table<N, f64>, w: &Table<Fin<3>, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, w, ct).1.0 }",
        "
        alloc [N]
        par N
          for 3
          store [N]
        ",
    );
}

#[test]
fn the_adjoint_of_a_window_of_a_plane_reads_a_window() {
    loops(
        "fn f<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>, w: &Table<(Fin<3>, Fin<3>), f64>) -> Table<(R, C), f64> { for (r, c) in _ { sum(for (a, b) in (Fin::<3>, Fin::<3>) { x[(r + a.ordinal() - 1).wrap()][(c + b.ordinal() - 1).clamp()] * w[a][b] }) } }
         fn g<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>, w: &Table<(Fin<3>, Fin<3>), f64>, ct: &Table<(R, C), f64>) -> Table<(R, C), f64> { vjp!(f)(x, w, ct).1.0 }",
        "
        alloc [R, C]
        par R, C
          for 3
            for 3
          store [R, C]
        ",
    );
}

#[test]
fn the_adjoint_of_a_convolution_is_one() {
    loops(
        "fn f<N: IndexSet, K: IndexSet, M: IndexSet>(x: &Table<M, f64>, w: &Table<K, f64>) -> Table<N, f64> { for i in N { sum(for k in K { x[i.ordinal() + k.ordinal()] * w[k] }) } }
         fn g<N: IndexSet, K: IndexSet, M: IndexSet>(x: &Table<M, f64>, w: &Table<K, f64>, ct: &Table<N, f64>) -> Table<M, f64> { vjp!(f)(x, w, ct).1.0 }",
        "
        alloc [M]
        par M
          for K
          store [M]
        ",
    );
}

#[test]
fn the_adjoint_of_a_reversal_is_one() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[size(N) - 1 - i.ordinal()] * 2.0 } }
         fn g<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(f)(x, ct).1 }",
        "
        alloc [N]
        par N
          store [N]
        ",
    );
}

#[test]
fn operators_are_folded_in_parallel() {
    loops(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> (N, f64, f64) {
            let (a, b) = reduce((1.0, 0.0), |p, q| (p.0 * q.0, p.1 * q.0 + q.1), for i in N { (x[i], 1.0) });
            (argmax(x), a, b)
        }",
        "
        par N fold [] [] [] fold [] []
        ",
    );
    // Many columns, each of its own; of few, each piece of the work has all.
    loops(
        "fn f<N: IndexSet, A: IndexSet, B: IndexSet>(x: &Table<(N, A, B), f64>) -> Table<(A, B), N> { for (a, b) in _ { argmin(for n in N { x[n][a][b] }) } }",
        "
        alloc [A, B]
        par A, B
          for N
          store [A, B]
        ",
    );
    loops(
        "fn f<N: IndexSet>(x: &Table<(N, Fin<3>), f64>) -> Table<Fin<3>, N> { for k in _ { argmin(for n in N { x[n][k] }) } }",
        "
        alloc [3]
        alloc [3]
        par N, 3 fold [3] [3]
          store [3]
          store [3]
        ",
    );
}

/// Checks how many buffers the last function of a source makes.
#[track_caller]
fn buffers(source: &str, expected: usize) {
    let program = kernels(source);
    let found = Structure::of(&program).to_string();
    let expected = format!("allocations {expected}, copies 0");
    assert!(found.contains(&expected), "{found}\n{}", print(&program));
}

#[test]
fn results_take_the_place_of_parameters() {
    let of_u =
        "<N: IndexSet, M: IndexSet>(mut u: Table<(N, M), f64>, a: f64) -> Table<(N, M), f64>";
    let in_place = [
        "for (n, m) in _ { u[n][m] *= a; } u",
        "for n in N { for m in M { if u[n][m] > a { u[n][m] = a; } } } u",
        "let s = sum(for (n, m) in _ { u[n][m] * u[n][m] }).sqrt(); for (n, m) in _ { u[n][m] /= s; } u",
        "assert!(a > 0.0, \"{}\", sum(u)); u * a + u.sin()",
    ];
    for body in in_place {
        buffers(&format!("fn f{of_u} {{ {body} }}"), 0);
    }
    // An element is read where another one is written, or after it is written.
    let anew = [
        "for (n, m) in _ { u[n][m] + u[(n + 1).wrap()][m] }",
        "let v = for (n, m) in _ { u[n][m] * a }; let s = u[argmax(for (n, m) in _ { v[n][m] })]; v + s",
    ];
    for body in anew {
        let program = kernels(&format!("fn f{of_u} {{ {body} }}"));
        assert!(
            !Structure::of(&program)
                .to_string()
                .contains("allocations 0"),
            "{body}"
        );
    }
    // The caller keeps its own.
    buffers(
        "fn f<N: IndexSet>(u: &Table<N, f64>) -> Table<N, f64> { u * 2.0 }",
        1,
    );
    buffers(
        "fn f<N: IndexSet>(u: &mut Table<N, f64>) { for i in N { u[i] *= 2.0; } }",
        0,
    );
    // Two results, each in the place of the parameter that only it reads.
    let pair =
        "fn f<N: IndexSet>(u: Table<N, f64>, v: Table<N, f64>) -> (Table<N, f64>, Table<N, f64>)";
    buffers(&format!("{pair} {{ (v * 2.0, u + 1.0) }}"), 0);
    buffers(&format!("{pair} {{ (u + v, v * 2.0) }}"), 1);
    buffers(&format!("{pair} {{ (u + v, u - v) }}"), 2);
    // Of another type or shape.
    buffers(
        "fn f<N: IndexSet>(u: Table<N, f64>) -> Table<N, f32> { for i in N { u[i] as f32 } }",
        1,
    );
    buffers(
        "fn f<N: IndexSet, M: IndexSet>(u: Table<(N, M), f64>) -> Table<(M, N), f64> { for (m, n) in _ { u[n][m] } }",
        1,
    );
}

/// As a sum of terms the index has 2⁴⁸ of them: whoever writes them down does not come back.
#[test]
fn an_index_that_is_doubled_again_and_again_is_no_shift() {
    let doubled = "let k = k + k; ".repeat(48);
    let read = format!("let k = i.ordinal(); {doubled} x[(i + k).wrap()]");
    loops(
        &format!(
            "fn g<N: IndexSet>(x: &Table<N, f64>) -> f64 {{ sum(for i in N {{ {read} * 2.0 }}) }}
             fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {{ grad!(g)(x) }}"
        ),
        "
        alloc [N]
        par N add [N]
          add [N]
        ",
    );
}

#[test]
fn scans_go_through_blocks_in_parallel() {
    // What is left over, or all of a short axis, is gone through by one point.
    let first = "
        alloc [N]
        alloc [_, 8]
        par _
          for 247
          store [_, 8]
          store [_, 8]
          store [_, 8]
          store [_, 8]
          store [_, 8]
          store [_, 8]
          store [_, 8]
          store [_, 8]
        par 1
          for _
            for 8
              store [_, 8]
          for _
            store [N]
          for N
            store [N]
";
    let dear = "
        par _
          alloc [8]
          for 8
            store [8]
          for 248
            for 8
              store [8]
              store [N]
        ";
    let cheap = "
        par _
          for 248
            store [N]
            store [N]
            store [N]
            store [N]
            store [N]
            store [N]
            store [N]
            store [N]
        ";
    for (scan, last) in [
        ("scan(0.0, |a, b| a.hypot(b), x)", dear),
        ("cumsum(x)", cheap),
    ] {
        loops(
            &format!("fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {{ {scan} }}"),
            &format!("{first}{last}"),
        );
    }
}
