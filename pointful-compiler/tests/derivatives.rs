//! Derivatives of functions as users write them: every kind of construct, against finite
//! differences, forward against backward, as definitions of whole arrays and as they are scheduled;
//! and what they cost.

use pointful_compiler::eval::{Data, Inputs, ScalarValue, run};
use pointful_compiler::ir::Scalar;
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::testing::Rng;
use pointful_compiler::testing::source::check_source as check;

/// As [`check_source`], and the gradient costs at most so many times the function.
fn costs(source: &str, times: f64) {
    let [primal, _, backward] = check(source);
    let ratio = backward.ops as f64 / primal.ops as f64;
    assert!(
        ratio <= times,
        "{source}\nthe gradient takes {} operations, the function {}: {ratio:.2} times",
        backward.ops,
        primal.ops
    );
}

/// What parameters of a function decide whose derivative is differentiated again.
#[test]
fn gradients_of_gradients_of_what_parameters_decide() {
    for body in [
        "x[i].max(c).powi(3)",
        "c.min(x[i]).powi(3) * x[i]",
        "x[i].clamp(-0.7, 0.7).powi(3)",
        "x[i].max(c).min(x[i] * c).powi(3) * c",
        "let r = x[i].powi(3); if x[i] > c { r } else { c * x[i] }",
        "let r = (x[i] * c).exp(); if x[i] == c { x[i] } else { r }",
        "max([x[i] * x[i], c * x[i]])",
    ] {
        let loss = format!(
            "fn loss<N: IndexSet>(x: &Table<N, f64>, c: f64) -> f64 {{ sum(for i in N {{ {body} }}) }}
            fn slopes<N: IndexSet>(x: &Table<N, f64>, c: f64) -> f64 {{
                let g = grad!(loss, wrt = x)(x, c);
                sum(for i in N {{ g[i] * (0.4 * i.ordinal() as f64).cos() }})
            }}"
        );
        check(&loss);
        // And of the third order.
        check(&format!(
            "{loss} fn bends<N: IndexSet>(x: &Table<N, f64>, c: f64) -> f64 {{
                let (g, h) = grad!(slopes)(x, c);
                sum(g) * h
            }}"
        ));
    }
}

/// That what was computed in one branch is known where the other is taken need not be seen.
#[test]
fn kinks_after_a_branch_by_whole_numbers() {
    for cond in [
        "n < 3",
        "!(n < 3)",
        "n % 5 == n",
        "n < 3 && n > 1",
        "c.sin() < 0.1",
    ] {
        for branches in [
            format!("if {cond} {{ 4.0.exp() * x[i] }} else {{ c.exp() }}"),
            format!("if {cond} {{ c }} else if n > 2 {{ 3.0 * x[i].exp() }} else {{ x[i] / 0.1 }}"),
        ] {
            check(&format!(
                "fn f<N: IndexSet>(x: &Table<N, f64>, c: f64, n: usize) -> f64 {{
                    sum(for i in N {{ let y = {branches}; y.clamp(-0.5, 0.5).max(x[i] - 0.3) + if y > 1.0 {{ y }} else {{ c * y }} }})
                }}"
            ));
        }
    }
}

/// What is changed in one branch is known where the other is taken.
#[test]
fn conditions_on_what_a_branch_has_changed() {
    for change in [
        "u[0] = c;",
        "u[0] = 0.5 * u[0] + 0.5 * c.exp();",
        "for i in N { u[i] = c * x[i]; }",
        "for k in 0..n { u[k] = c; }",
    ] {
        for cond in ["c > 0.1", "n % 3 == 0", "u[0] < c"] {
            check(&format!(
                "fn f<N: IndexSet>(x: &Table<N, f64>, at: &Table<N, N>, c: f64, m: usize) -> Table<N, f64> {{
                    let n = m.min(size(N));
                    let mut u = for i in N {{ x[i] }};
                    if {cond} {{ {change} }}
                    let mut h = Accum::zero();
                    for i in N {{ if {cond} {{ h[at[i]] += u[i]; }} }}
                    let h = h.get();
                    for i in N {{ (if u[0] < 0.2 {{ c }} else {{ x[i] }}) + u[i].max(c) + prod(for j in N {{ 1.0 + 0.1 * h[at[j]] }}).min(1.1) }}
                }}"
            ));
        }
    }
}

/// What is read at one place of each iteration has no axis of what the table was made from.
#[test]
fn loops_over_a_place_of_what_may_say_nothing() {
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, c: f64, to: &Table<M, N>) -> Table<M, f64> {
            let mut u = for i in N { let _ = i; 0.25 };
            for i in N { u[i] -= 0.5 * mean(for _k in M { x.get(i + 1).unwrap_or(c) }); }
            for _k in Fin::<3> { u[0] = u[0].max(c); }
            for j in M { u[to[j]] }
        }",
    );
}

/// What lanes have in common behind a branch that they decide differently is kept for each lane.
#[test]
fn loops_behind_a_branch_of_lanes() {
    for branches in [
        "if s > 0.1 { for i in M { s = 0.5 * s * q[i].sin() + 0.5; y += x[n].sin(); } }",
        "if s > 0.1 { for i in M { s = 0.5 * s * q[i].sin() + 0.5; y += q[at[i]]; } } else { for i in M { y += q[i] * s; } }",
        "if s > 0.1 { for i in M { if y < 0.2 { for j in M { s = 0.5 * s * q[at[j]].sin() + 0.4; } y += s; } } }",
    ] {
        check(&format!(
            "fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, q: &Table<M, f64>, at: &Table<M, M>) -> f64 {{
                sum(for n in N {{ let mut s = x[n]; let mut y = 0.0; for _k in M {{ {branches} }} s + y }})
            }}"
        ));
    }
}

/// A condition that is kept of a loop says something where its reader does not ask for it, too.
#[test]
fn conditions_that_a_loop_keeps_of_a_branch_inside_another() {
    check(
        "fn f<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>, c: f64, to: &Table<M, N>, steps: usize) -> f64 {
            let mut u = a.clone();
            for _t in 0..steps {
                let t = for i in M {
                    if u[to[i]][i] < 0.5 { 0.3 } else { if i.ordinal() < 7 && u[0][i] > 0.137 { c } else { 0.3 } }
                };
                u = for _j in N { for _i in M { sum(t) } };
            }
            sum(u)
        }",
    );
}

/// What the last function of a source gives for inputs, as definitions of whole arrays and as it is
/// scheduled.
fn evaluated(source: &str, inputs: &Inputs) -> [Vec<f64>; 2] {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    let numbers = |results: Vec<Data>| -> Vec<f64> {
        let all = results.into_iter().flat_map(|data| data.values);
        all.filter_map(ScalarValue::float).collect()
    };
    let (bulk, _) = run(&stages.bulk, inputs).expect("the definitions are evaluated");
    let (kernels, _) = run(&stages.kernels, inputs).expect("the kernels run");
    [numbers(bulk), numbers(kernels)]
}

/// What the last function of a source gives for numbers.
fn values(source: &str, params: &[f64]) -> Vec<f64> {
    let params = params.iter().map(|&x| Data::scalar(ScalarValue::F64(x)));
    let inputs = Inputs {
        sizes: Vec::new(),
        params: params.collect(),
    };
    let [bulk, kernels] = evaluated(source, &inputs);
    assert_eq!(bulk, kernels, "{source}");
    kernels
}

#[test]
fn functions_chosen_by_branches() {
    let functions = "fn half(x: f64) -> f64 { x / 2.0 }
        fn bent(x: f64) -> f64 { x.sin() * x }
        fn pick(b: bool, s: f64) -> impl Fn(f64) -> f64 { if b { let w = s.exp(); move |x| w * half(x) } else { bent } }
        fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 { f(f(x)) }
        ";
    for body in [
        "let g = if x > 0.3 { half } else { bent }; g(x) * g(y)",
        "let g = match y > 0.3 { true => |z: f64| z * x, false => bent }; twice(g, y)",
        "twice(if x > y { half } else { |z| z * y }, x)",
        "let (g, s) = if x > 0.3 { (|z: f64| z * y, x) } else { (|z: f64| z.cos(), y) }; s * g(x)",
        "sum(for k in Fin::<4> { pick(k.ordinal() > 1, x)(y + k.ordinal() as f64) })",
        "let g = if x > 0.3 { if y > 0.2 { half } else { bent } } else { |z| x * z }; grad!(g)(x * y)",
        "let mut s = x; let g = if y > 0.1 { s = s * y; |z: f64| z * s } else { |z: f64| z - s }; s = g(s); g(s)",
        "let g = if y > 0.1 { [half, bent] } else { [bent, half] }; g[0](x) + g[1](y)",
        "let mut s = x; for k in 0..3 { let g = if s > 0.2 { half } else { |z| z + y }; s = g(s) * 1.5; } s",
    ] {
        check(&format!(
            "{functions} fn f(x: f64, y: f64) -> f64 {{ {body} }}"
        ));
    }
}

#[test]
fn asserted_with_values() {
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 {
            assert!(w < 100.0, \"{w} {:.2}\", sum(x));
            sum(for i in N { assert!(x[i] < 50.0, \"x[{}] is {}\", i.ordinal(), x[i].exp()); x[i].sin() * w })
        }",
    );
}

#[test]
fn reads_at_tables_of_pairs() {
    check(
        "fn f<N: IndexSet>(t: &Table<N, (Fin<2>, Fin<3>)>, x: &Table<(Fin<2>, Fin<3>), f64>, w: &Table<N, f64>) -> f64 {
            sum(for n in N { let (a, b) = t[n]; (x[a][b] * w[n]).sin() + b.ordinal() as f64 * x[t[n]] })
        }",
    );
}

#[test]
fn tables_of_one_element() {
    check(
        "fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { x[i] * x[i] }) + max(x) }
        fn f(t: &Table<(), f64>, w: f64) -> f64 {
            let mut s = w;
            for u in () { s = s * t[u]; }
            let both = for _ in () { s.sin() };
            total(t) + prod(t) * mean(both) + reduce(1.0, |a, b| a * b, both)
        }",
    );
}

#[test]
fn primitives() {
    let smooth = [
        "x.sin()",
        "x.cos()",
        "x.tan()",
        "x.asin()",
        "x.acos()",
        "x.atan()",
        "x.sinh()",
        "x.cosh()",
        "x.tanh()",
        "x.asinh()",
        "(x + 2.5).acosh()",
        "x.atanh()",
        "x.exp()",
        "x.exp2()",
        "x.exp_m1()",
        "(x + 2.0).ln()",
        "(x + 2.0).log2()",
        "(x + 2.0).log10()",
        "(x + 0.5).abs().ln_1p()",
        "(x + 2.0).sqrt()",
        "(x + 2.0).cbrt()",
        "x.powi(3)",
        "x.powi(2)",
        "x.powi(1)",
        "x.powi(0)",
        "(x + 2.0).powi(-2)",
        "(x + 2.0).powf(y)",
        "x.abs()",
        "x.signum() * x",
        "x.floor() + x",
        "x.ceil() * y",
        "x.round() + y",
        "x.trunc() - y",
        "x.fract()",
        "x.recip()",
        "x.to_degrees()",
        "x.to_radians()",
        "x.hypot(y)",
        "x.atan2(y)",
        "x.mul_add(y, x)",
        "x.copysign(y)",
        "x.max(y)",
        "x.min(y)",
        "x % (y + 3.0)",
        "x.rem_euclid(y + 3.0)",
        "x / (y + 3.0)",
        "x - y * x",
        "-x * y",
        "x.clamp(-0.5, 0.5)",
        "if x > y { x * x } else { y.sin() }",
        "x * stop_gradient(y)",
    ];
    for expr in smooth {
        for ty in ["f64", "f32"] {
            // What stops the gradient is what differences do not see.
            if expr.contains("stop_gradient") {
                continue;
            }
            check(&format!(
                "fn f<N: IndexSet>(x: &Table<N, {ty}>, y: &Table<N, {ty}>) -> Table<N, {ty}> {{
                    for i in N {{ let x = x[i]; let y = y[i]; {expr} }}
                }}"
            ));
        }
    }
}

#[test]
fn maps() {
    // With free scalars and arrays, nested four deep.
    costs(
        "fn f<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> { for i in N { (a * x[i]).sin() + a } }",
        4.0,
    );
    costs("fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>, z: &Table<(N, M), f64>, a: f64) -> f64 {
        sum(for i in N { x[i] * sum(for j in M { let s = y[j] * a; s * sum(for k in N { z[k][j] * x[k] * sum(for l in M { y[l] * z[i][l] }) }) }) })
    }", 4.0);
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, t: &Table<N, f32>) -> (f64, f32) { (sum(for i in N { x[i] * t[i] as f64 }), sum(for i in N { t[i] * (x[i] as f32) })) }",
    );
}

#[test]
fn reads_and_writes_at_computed_places() {
    // Duplicates are certain: seven indices below seven, drawn at random.
    check(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, at: &Table<N, K>) -> Table<N, f64> { for i in N { x[at[i]] * x[at[i]] } }",
    );
    check(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<(K, N), f64>, at: &Table<N, K>) -> Table<N, f64> { for i in N { x[at[i]][i].sin() } }",
    );
    check("fn f<N: IndexSet, K: IndexSet>(v: &Table<N, f64>, at: &Table<N, K>, like: &Table<K, f64>) -> Table<K, f64> {
        let mut acc = Accum::zeros(size_of(like)); for i in N { acc[at[i]] += v[i] * v[i]; } acc.get()
    }".replace("Accum::zeros(size_of(like))", "Accum::zero()").as_str());
    for (make, init) in [
        ("min", "Accum::min()"),
        ("max", "Accum::max()"),
        ("prod", "Accum::prod()"),
    ] {
        check(&format!("fn f<N: IndexSet, K: IndexSet>(v: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>) -> Table<K, f64> {{
            let mut acc = {init}; for i in N {{ acc[at[i]].put(v[i] + w[at[i]]); }} let all = acc.get();
            for k in K {{ let x = all[k]; if x.is_finite() {{ x * w[k] }} else {{ w[k] }} }}
        }} // {make}"));
    }
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[(i - 1).wrap()] * x[i] + x[(i + 1).clamp()] + x[(i - 2).clamp()] * x[(i + 1).mirror()] } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x.get(i - 1).unwrap_or(0.5) * x[i] + x.get(i + 2).unwrap_or(0.0) } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { if i.ordinal() > 0 { x[i - 1] * x[i] } else { 0.5 } } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { sum(for d in Fin::<3> { x[(i + d.ordinal() - 1).wrap()] * (1.0 + d.ordinal() as f64) }) * x[i] } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { sum(for d in Fin::<4> { x[(i + d.ordinal() - 2).clamp()] * (1.0 + d.ordinal() as f64) }) * x[i] } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[size(N) - 1 - i.ordinal()] * x[i] } }",
    );
}

#[test]
fn loops_behind_conditions() {
    let square = |what: &str| {
        check(&format!(
            "fn f<N: IndexSet>(a: &Table<(N, N), f64>, w: &Table<N, f64>) -> Table<(N, N), f64> {{ let mut m = a; for k in N {{ {what} }} m }}"
        ));
    };
    // An elimination; with a number that is carried; on both sides; with places that are there where the condition holds only.
    square(
        "for i in N { if i > k { let f = m[i][k] * w[i]; for j in N { m[i][j] -= f * m[k][j]; } } }",
    );
    square(
        "if w[k] > 0.0 { let mut s = w[k]; for j in N { s = s * 0.5 + m[k][j]; m[k][j] = s; } }",
    );
    square(
        "if w[k] > 0.0 { for j in N { m[k][j] = m[k][j].sin(); } } else { for j in N { m[j][k] += w[j] * m[j][j]; } }",
    );
    square("if k.ordinal() > 0 { for j in N { m[k][j] += m[k - 1][j] * w[j]; } m[k][k] = 0.5; }");
    square(
        "for i in N { if i > k { for p in N { for q in N { if q > p { m[p][q] += 0.1 * m[q][p] * w[i]; } } } } }",
    );
    square(
        "let c = w[k] > 0.0 && k.ordinal() > 0; if c { for i in N { let mut n = 3; while n > 0 { m[i][k] = m[i][k].sin() + w[i]; n -= 1; } } }",
    );
    // Neighbours that are there where the condition holds only, read before the table is changed and asked for on the way back.
    square(
        "for i in N { if i.ordinal() + 1 < size(N) { m[k][i] = m[k][i].sin() * m[k][i + 1]; m[i][k] += m[i + 1][k] * w[i]; } }",
    );
    // Steps of which it says how many there are; that are looked at elsewhere too; and an update first.
    square(
        "if w[k] > 0.0 { for i in N { for j in 0..i.ordinal() { m[i][k] = m[i][k].sin() + 0.1 * j as f64; } } }",
    );
    square(
        "if w[k] > 0.0 { let n = 6 / (k.ordinal() + 1); for j in 0..n { m[k][k] = m[k][k].sin() + 0.1 * j as f64; } }",
    );
    square(
        "if w[k] > 0.0 { m[k][k] = w[k]; for j in N { m[k][j] = m[k][(j + 1).wrap()].sin(); } }",
    );
    for what in ["(y, z)", "(z, for j in N { y[j] * s })"] {
        check(&format!(
            "fn f<N: IndexSet>(x: &Table<N, f64>, w: f64) -> (Table<N, f64>, Table<N, f64>) {{
                let (mut y, mut s) = (x, w);
                for j in N {{ y[j] = y[(j + 1).wrap()].sin() + s; s = s * 0.5 + y[j]; }}
                let z = if w > 0.0 {{ y }} else {{ x }};
                {what}
            }}"
        ));
    }
    // Points each with a table of its own, and a condition that is the same for all of them.
    check("fn f<S: IndexSet, N: IndexSet>(a: &Table<(S, N, N), f64>, b: &Table<(S, N), f64>) -> Table<(S, N), f64> {
        for s in S {
            let (mut m, mut y) = (a[s], b[s]);
            for k in N { for i in N { if i > k {
                let f = m[i][k] * y[k];
                let mut t = f;
                for j in N { m[i][j] -= f * m[k][j]; t = 0.5 * t + m[i][j]; }
                y[i] -= f * t;
            } else { for j in N { m[j][i] += 0.1 * y[j]; } } } }
            for i in N { y[i] + m[i][i] }
        }
    }");
    // Sides of branches that change one table: three, one of them without a loop, in places that are read before, and two tables on both sides.
    square(
        "if w[k] > 0.5 { for j in N { m[k][j] *= 1.5; } } else if m[k][k] > 0.1 { for j in N { m[j][k] = m[k][j].sin(); } } else { for j in N { m[k][j] -= 0.3 * m[j][j]; } }",
    );
    square(
        "m[k][k] += 0.5; if w[k] > 0.5 { m[k][k] = 2.0; } else if w[k] > 0.0 { let f = m[k - k.ordinal()][k]; for j in N { m[j][k] = m[j][k] * f + w[j]; } } m[k][k] *= w[k];",
    );
    square(
        "for i in N { if w[i] > w[k] { if w[i] > 0.0 { for j in N { m[i][j] += 0.1 * m[k][j]; } } } else { for j in N { m[j][i] *= w[k]; } } }",
    );
    square(
        "let mut s = w[k]; if m[k][k] > 0.0 { for j in N { s = s * 0.5 + m[k][j]; m[k][j] = s; } } else { for j in N { m[j][k] = s * m[j][j]; s += 0.1; } } m[k][k] += s;",
    );
    check("fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, c: &Table<N, i64>) -> (Table<N, f64>, Table<N, f64>) {
        let (mut u, mut v) = (x, y);
        for k in N {
            if c[k] % 3 == 0 { for j in N { u[j] += 0.3 * v[k]; v[j] = u[j] * y[k]; } }
            else if c[k] % 3 == 1 { for j in N { v[j] -= 0.2 * u[j]; } }
            else { u[k] = v[k]; for j in N { u[j] = u[(j + 1).wrap()].cos(); } v[k] = 1.0; }
        }
        (u, v)
    }");
    // Two tables of one loop, chosen by the same condition, one of them again, or by different ones.
    for choices in [
        "(if c { u } else { x }, if c { v } else { y })",
        "let a = if c { u } else { x }; (for j in N { a[j] * u[j] }, if c { v } else { y })",
        "(if c { u } else { x }, if w > 1.0 { v } else { y })",
        "let b = if c { v } else { y }; let mut t = u; if c { for j in N { t[j] = t[(j + 1).wrap()].sin() * b[j]; } } (t, if c { u } else { x })",
    ] {
        check(&format!(
            "fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, w: f64) -> (Table<N, f64>, Table<N, f64>) {{
                let c = w > 0.0;
                let (mut u, mut v) = (x, y);
                for j in N {{ u[j] = u[(j + 1).wrap()].sin() + w; v[j] = v[(j + 2).wrap()] * u[j]; }}
                {choices}
            }}"
        ));
    }
    check("fn f<N: IndexSet>(a: &Table<(N, N), f64>, b: &Table<(N, N), f64>, c: &Table<N, f64>) -> (Table<(N, N), f64>, Table<N, f64>) {
        let (mut m, mut x, mut y) = (a, b, c);
        for k in N { for i in N { if i != k {
            let f = m[i][k] * c[k];
            for j in N { m[i][j] -= f * m[k][j]; x[i][j] -= f * x[k][j]; }
            y[i] -= f * y[k];
        } } }
        (x, y)
    }");
    // Two tables, places that are read, and points each with a condition and a table of its own.
    check("fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, at: &Table<N, N>) -> (Table<N, f64>, Table<N, f64>) {
        let (mut u, mut v) = (x, y);
        for k in N { if x[k] > 0.0 { for j in N { u[at[j]] += 0.3 * v[j]; v[j] = u[at[k]] * y[k]; } } }
        (u, v)
    }");
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<N, f64>) -> Table<N, f64> {
        for n in N {
            let mut u = x[n];
            for k in M { if w[n] > u[k] { for j in M { u[j] = u[j].sin() + 0.5 * u[k]; } } }
            sum(u)
        }
    }");
}

#[test]
fn loops_that_only_decide() {
    // Numbers that change are compared, for a place or for how often something is done; the loop itself gives no number.
    check(
        "fn f<N: IndexSet>(a: &Table<(N, N), f64>, b: &Table<N, f64>) -> Table<N, f64> {
        let (mut m, mut y) = (a, b);
        for k in N {
            let mut best = k;
            for i in N { if m[i][k].abs() > m[best][k].abs() { best = i; } }
            if best != k { for j in N { let t = m[k][j]; m[k][j] = m[best][j]; m[best][j] = t; } }
            y[k] = y[best] * m[k][k];
            m[k][k] = 0.5 + m[k][k] * y[k];
        }
        y
    }",
    );
    check(
        "fn f<N: IndexSet>(a: &Table<(N, N), f64>, b: &Table<N, f64>) -> Table<N, f64> {
        let (mut m, mut y) = (a, b);
        for k in N {
            let mut n = 0;
            while n < 5 && m[k][k] * (n as f64) < 1.0 { n += 1; }
            y[k] = y[k] * m[k][k] + 0.1 * n as f64 * y[k];
            m[k][(k + 1).wrap()] = y[k].sin();
        }
        y
    }",
    );
    check(
        "fn f<S: IndexSet, N: IndexSet>(a: &Table<(S, N), f64>) -> Table<S, f64> {
        for s in S {
            let (mut u, mut at) = (a[s], 0);
            for k in N {
                for i in N { if u[i] > u[k] { at += 1; } }
                u[k] = u[k] * 0.5 + 0.01 * at as f64 * u[(k + 1).wrap()];
            }
            sum(u)
        }
    }",
    );
}

#[test]
fn reductions() {
    let over = |what: &str| {
        format!(
            "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {{ for i in N {{ {what} }} }}"
        )
    };
    costs(&over("sum(for j in M { x[i][j] * w[j] })"), 4.0);
    costs(&over("prod(for j in M { x[i][j] + w[j] })"), 4.0);
    costs(&over("min(for j in M { x[i][j] + w[j] })"), 4.0);
    check(&over(
        "let m = max(for j in M { x[i][j] * w[j] }); if m.is_finite() { m } else { 0.0 }",
    ));
    check(&over(
        "let m = min(for j in M { x[i][j] * w[j] }); if m.is_finite() { m * m } else { 0.0 }",
    ));
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> f64 { let m = max(x); if m.is_finite() { m * m } else { 0.0 } }",
    );
    check(&over(
        "reduce(0.5, |a, b| a + b + a * b, for j in M { x[i][j] * w[j] })",
    ));
    check(&over(
        "let (a, b) = reduce((1.0, 0.0), |p, q| (p.0 * q.0, p.1 * q.0 + q.1), for j in M { (x[i][j], w[j]) }); a + b * b",
    ));
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 { reduce(a, |p, q| p + q + a * p * q, x) }",
    );
    // Factors and terms that hang on free values, states that go their own ways, and ones that do not hang on what was before.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 { reduce(w, |p, q| p + q + w.sin() * p * q, x) }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let (last, s) = reduce((0.5, 0.25), |p, q| (q.0, p.1 + q.1), for i in N { (x[i], x[i] * x[i]) }); last * s }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { reduce(-1.0, |a, b| { let m = a.max(b); m + ((a - m).exp() + (b - m).exp()).ln() }, x) }",
    );
    // States that hang together: products of matrices, and of unit quaternions.
    check(&over(
        "let (a, b, c, d) = reduce((1.0, 0.5, 0.0, 1.0), |p, q| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3),
         for j in M { (x[i][j], w[j], 0.5, x[i][j] * w[j]) }); a * d - b * c + a",
    ));
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 { let (a, b) = reduce((1.0, 0.2), |p, q| { let (r, i) = (p.0 * q.0 - p.1 * q.1, p.0 * q.1 + p.1 * q.0); let n = (r * r + i * i).sqrt(); (r / n, i / n) }, for i in N { (x[i], y[i]) }); a + b * b }",
    );
    // Beside what has no derivative, with branches, a loop inside of the operator, and elements that are tables.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let (s, n) = reduce((0.0, 0usize), |p, q| (if q.1 % 2 == 0 { p.0 + q.0 } else { q.0 - p.0 }, p.1 + q.1), for i in N { (x[i] * x[i], i.ordinal()) }); s / (1.0 + n as f64) }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { reduce(0.3, |p, q| { let mut s = p + q; for t in Fin::<3> { s = s + p * q * (t.ordinal() as f64); } s }, x) }",
    );
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<M, f64> { reduce(w, |p, q| for j in M { p[j] + q[j] + w[j] * p[j] * q[j] }, for n in N { x[n] }) }",
    );
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M, M), f64>, w: &Table<(M, M), f64>) -> Table<(M, M), f64> { reduce(w, |p, q| for (i, j) in _ { sum(for k in M { p[i][k] * q[k][j] }) }, for n in N { x[n] }) }",
    );
    // Log-sum-exp, and the norm of softmax.
    check("fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let m = stop_gradient(max(x)); let s = sum(for i in N { (x[i] - m).exp() }); if s > 0.0 { s.ln() + m } else { 0.0 } }".replace("stop_gradient(max(x))", "max(x)").as_str());
}

/// Reductions inside of a loop that carries something, inside of a loop that runs side by side,
/// which what is reduced may know nothing of.
#[test]
fn reductions_in_lanes() {
    let bodies = [
        "max(for j in N { x[j] * x[i] })",
        "min(for j in N { x[j] * v[l] })",
        "prod(for j in N { x[j] + x[i] })",
        "x[argmax(for j in N { x[j] * x[i] })].sin()",
        "{ let t = for j in N { x[j] * x[i] }; t[argmin(t)] * t[i] }",
        "{ let mut m = 0.3; for j in N { m = (x[j] * x[i]).sin(); } m }",
        "{ let t = for j in N { x[j] * x[i] }; t[(i + 1).wrap()] * v[l] }",
        "if any(for j in N { x[j] * x[i] > 0.1 }) { x[i].sin() } else { x[(i - 1).wrap()] }",
        "sum(cumprod(for j in N { x[j] + x[i] }))",
        "max(for j in ..=i { x[j] * x[i] })",
        "prod(for j in ..i { x[j] + v[l] })",
        "sum(for j in ..i { x[j].sin() })",
        "{ let t = for j in ..=i { x[j].sin() }; sum(t) * max(t) }",
    ];
    for body in bodies {
        check(&format!(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, v: &Table<K, f64>) -> f64 {{
                sum(for l in K {{ let mut s = v[l]; for i in N {{ s = 0.5 * s.sin() + {body}; }} s }})
            }}"
        ));
    }
    // Of the table along which the lanes are themselves.
    for body in [
        "x[i]",
        "s + x[i] * x[n]",
        "max(for j in ..i { x[j] * x[n] })",
        "0.5 * s + sum(for j in ..=i { x[j] * x[n] }).sin()",
        "s * x[(i + 1).wrap()] + prod(for j in N { x[j] + x[n] })",
    ] {
        check(&format!(
            "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {{
                for n in N {{ let mut s = x[n]; for i in N {{ s = {body}; }} if s.is_finite() {{ s }} else {{ 0.0 }} }}
            }}"
        ));
    }
    // With a loop in between, and with lanes of both.
    for body in [
        "max(for j in N { x[j] * x[i] })",
        "sum(for j in ..i { x[j] * x[i] })",
    ] {
        check(&format!(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, v: &Table<K, f64>) -> f64 {{
                sum(for l in K {{
                    let mut s = v[l];
                    for i in N {{
                        let r = for m in K {{ let mut r = v[m]; for k in N {{ r = r * x[k] + {body}; }} r }};
                        s = 0.5 * s.sin() + sum(r);
                    }}
                    s
                }})
            }}"
        ));
    }
}

/// Where a loop has no lanes, there is no place that is the same in all of them, and nothing is
/// read there.
#[test]
fn places_without_lanes() {
    let source = "fn h<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
            for n in N { let mut s = x[n]; for t in Fin::<3> { s = 0.5 * s + x[argmin(for i in N { x[i].sin() })].sin(); } s }
        }
        fn g<N: IndexSet>(x: &Table<N, f64>, c: &Table<N, f64>) -> Table<N, f64> { vjp!(h)(x, c).1 }
        fn f<N: IndexSet>(x: &Table<N, f64>, c: &Table<N, f64>, d: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>) { vjp!(g)(x, c, d).1 }";
    let none = Data::new(Scalar::F64, vec![0], Vec::new());
    let inputs = Inputs {
        sizes: vec![0],
        params: vec![none; 3],
    };
    assert!(evaluated(source, &inputs).iter().all(Vec::is_empty));
}

#[test]
fn scans() {
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { cumsum(for i in N { x[i] * x[i] }) }",
    );
    check("fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { cumprod(x) }");
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { scan(-0.3, |a, b| a.max(b), x) }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> { scan(a, |p, q| p + q + p * q, x) }",
    );
    check("fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> {
        let (p, q) = scan((1.0, 0.0), |a, b| (a.0 * b.0, a.1 * b.0 + b.1), for i in N { (x[i], y[i]) });
        for i in N { p[i] * q[i] }
    }");
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<(N, M), f64> { for i in N { scan(0.1, |a, b| a + b + 0.5 * a * b, x[i]) } }",
    );
    check("fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> {
        let (a, b, c, d) = scan((1.0, 0.5, 0.0, 1.0), |p, q| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3), for i in N { (x[i], y[i], 0.5, x[i] * y[i]) });
        for i in N { a[i] * d[i] - b[i] + c[i] }
    }");
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M, M), f64>, w: &Table<(M, M), f64>) -> Table<(N, M, M), f64> { scan(w, |p, q| for (i, j) in _ { sum(for k in M { p[i][k] * q[k][j] }) }, for n in N { x[n] }) }",
    );
    // Inside of a loop, behind a condition, and over as many elements as an index says.
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
        let mut s = a; for t in Fin::<3> { let p = scan(s, |p, q| p + q + 0.5 * p * q, x); s = sum(p) * 0.1 + t.ordinal() as f64 * a; } s
    }".replace(", M: IndexSet", "").as_str());
    check(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<N, f64> { for i in N { if i.ordinal() % 2 == 0 { let p = scan(0.1, |a, b| a + b + 0.5 * a * b, x[i]); sum(p) } else { reduce(0.2, |a, b| a * b, x[i]) } } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { reduce(0.2, |a, b| a * b + a + b, for j in ..i { x[j] * x[i] }) } }",
    );
}

#[test]
fn loops() {
    costs(
        "fn f<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 { let mut s = w; for i in N { s = (s * x[i]).sin() + w; } s }",
        5.0,
    );
    // A state is read where the loop stands, and becomes another table; so is a table that the loop reads elsewhere, too.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        let mut s = x; for i in N { let v = s[i]; s = for j in N { v * 0.5 + s[j] * x[i] }; } s
    }",
    );
    check("fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        let mut s = x; for i in N { s = for j in N { s[j] * x[j] + x[i].sin() * x[(i + 1).wrap()] }; } s
    }");
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<N, f64>) -> Table<M, f64> {
        for j in M { let mut s = 0.5; for i in N { s = s * x[i][j] + w[i]; } s }
    }");
    // Tuple and table states, in lanes and out of them.
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
        for i in N { let mut a = 0.1; let mut b = 1.0; for j in M { let c = a * b + x[i][j]; b = b * w[j] + a; a = c.tanh(); } a + b }
    }");
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, w: &Table<(M, N), f64>) -> Table<N, f64> {
        let mut s = x; for t in M { s = for i in N { (s[i] * w[t][i]).tanh() + s[(i + 1).wrap()] * 0.5 }; } s
    }");
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { let mut s = x; for i in N { s[i] = s[i] * s[(i - 1).wrap()]; } s }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { let mut s = x; for i in N { if s[i] > 0.1 { s[(i + 1).wrap()] = s[i] * 0.5; } else { s[i] = s[i].exp(); } } s }",
    );
    // Loops in loops, in maps, with a free table that is read at a computed place.
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, w: &Table<M, f64>, at: &Table<(N, M), M>) -> Table<N, f64> {
        for i in N { let mut s = x[i]; for j in M { let mut r = s; for k in M { r = r * 0.5 + w[at[i][k]] * s; } s = (r * w[j]).sin(); } s }
    }");
    // Only additions: nothing is kept.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 { let mut s = a; for i in N { s = s + x[i] * x[i]; } s * s }",
    );
    // Triangular.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { sum(for j in ..i { x[i] * x[j] * x[j] }) }) }",
    );
    // Triangular, and needed by several loops: of the derivative, around, and one after the other.
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, y: &Table<M, f64>) -> f64 {
        let s = sum(for i in N { sum(for j in ..i { sum(for m in M { x[i][m] * x[j][m] }).sin() }) });
        sum(for i in N { sum(for j in ..=i { (sum(for m in M { x[i][m] * x[j][m] }) * s).cos() * sum(y) }) })
    }");
    check("fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>) -> f64 {
        sum(for m in M { sum(for i in N { sum(for j in ..i { x[(i.ordinal() + j.ordinal()) / 2].exp().sin() * y[m] * x[j] }) }) })
    }");
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { let mut s = x[i]; for j in ..i { s = s * x[j] + 0.3; } s }) }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut s = 0.2; for i in N { s = s + sum(for j in ..i { x[j] * s }) * x[i]; } s }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, n: i32) -> f64 { let mut s = 1.0; for k in (0..n).rev() { s = s * 0.7 + (k as f64) * 0.1 * s * s * sum(x); } s }",
    );
}

/// What is read by a lag as large as integers are is sent back there: of a linear function, the
/// gradient times the table is the value.
#[test]
fn far_lags() {
    let table = |values: &[f64]| {
        let values = values.iter().map(|&x| ScalarValue::F64(x)).collect();
        Data::new(Scalar::F64, vec![3], values)
    };
    let far = [i64::MAX - 3, i64::MIN + 3, i64::MIN / 2, 7, -1];
    for index in [
        "i - a",
        "i + b",
        "i - a - b",
        "i + (a - 2)",
        "i + 4611686018427387905 - b",
    ] {
        let source = format!(
            "fn v<N: IndexSet>(u: &Table<N, f64>, a: i64, b: i64) -> f64 {{
                sum(for i in N {{ (i.ordinal() as f64 + 1.0) * u[({index}).wrap()] }})
            }}
            fn f<N: IndexSet>(u: &Table<N, f64>, a: i64, b: i64) -> (f64, f64) {{
                let g = grad!(v)(u, a, b);
                (v(u, a, b), sum(for i in N {{ g[i] * u[i] }}))
            }}"
        );
        for (a, b) in far.into_iter().flat_map(|a| [1, 1 << 62].map(|b| (a, b))) {
            let lags = [a, b].map(|lag| Data::scalar(ScalarValue::I64(lag)));
            let [u, lags] = [vec![table(&[1.0, 10.0, 100.0])], lags.to_vec()];
            let inputs = Inputs {
                sizes: vec![3],
                params: [u, lags].concat(),
            };
            for given in evaluated(&source, &inputs) {
                assert_eq!(given[0], given[1], "{source}\n{a}, {b}");
            }
        }
    }
}

/// Of which the derivative is asked at one member in a step and at all in another: where, is found
/// out in a few walks.
#[test]
fn states_that_are_asked_for_at_members_by_turns() {
    let steps =
        "u = for i in Fin::<3> { 0.5 * u[i] + 0.5 * u[i] * (0.3 * i.ordinal() as f64).sin() };
        s += u[2]; s += u[1];
        u = for i in Fin::<3> { 0.5 * u[i] + 0.5 * u[0] * a.sin() };";
    for steps in [steps, &format!("for k in 0..2 {{ {steps} }}")] {
        check(&format!(
            "fn f(a: f64, x: f64, steps: usize) -> f64 {{
                let mut u = for i in Fin::<3> {{ let _ = i; x }};
                let mut s = x;
                for t in 0..steps {{ {steps} }}
                s + u[1]
            }}"
        ));
    }
}

/// Loops that fill tables in, and read what is there already.
#[test]
fn recurrences() {
    let of_one = |body: &str| {
        check(&format!(
            "fn f<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> Table<N, f64> {{ let mut x = b; {body} x }}"
        ));
    };
    // Forward and backward, from one and from several elements before.
    of_one("for i in N { x[i] = (a[i] * x.get(i - 1).unwrap_or(0.5)).sin() + b[i]; }");
    of_one("for i in N.rev() { x[i] = (a[i] * x.get(i + 1).unwrap_or(0.5)).sin() + b[i]; }");
    of_one(
        "for i in N { let p = x.get(i - 2).unwrap_or(0.4); x[i] = a[i] * p * x.get(i - 1).unwrap_or(p) + b[i]; }",
    );
    of_one("for i in N { x[i] = (b[i] - sum(for k in ..i { a[k] * x[k] })) / (a[i] + 3.0); }");
    // What is read is there, and will be something else.
    of_one("for i in N { x[i] = x[i] * x[i] * a[i]; }");
    of_one("for i in N { x[i] = x[(i - 1).wrap()] * x[i].sin(); }");
    of_one("for i in N { x[i] = a[i] * x.get(i + 1).unwrap_or(0.5).sin(); }");
    of_one("for i in N { x[i] = x[i] * a[i]; x[i] = x[i].sin() * x[(i - 1).clamp()]; }");
    of_one(
        "for t in 0..3 { for i in N { x[i] = (a[i] * x.get(i - 1).unwrap_or(0.5)).sin() + 0.1 * x[i]; } }",
    );
    // The last of several writes is read.
    of_one("for i in N { x[i] = a[i]; x[i] = (x[i] * b[i]).sin(); x[i] = x[i] * x[i]; }");
    // In lanes, and rows at once.
    check("fn f<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<N, f64> {
        for n in N { let mut x = a[n]; for m in M { x[m] = (x[m] * x.get(m - 1).unwrap_or(1.0)).sin() + x.get(m - 1).unwrap_or(1.0); } sum(for m in M { x[m] * x[m] }) }
    }");
    check("fn f<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<(N, M), f64> {
        let mut u = a; for n in N { let before = u[(n - 1).clamp()]; u[n] = for m in M { (before[m] * a[n][m]).sin() * before[(m + 1).wrap()] }; } u
    }");
    // A state beside the table, and a table of its own in each of the iterations of a loop.
    check(
        "fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
        let mut s = 0.3; let mut x = a;
        for i in N { x[i] = s * x.get(i - 1).unwrap_or(0.2).cos(); s = (s + x[i] * a[i]).sin(); }
        s + sum(x)
    }",
    );
    check("fn f<N: IndexSet, T: IndexSet>(a: &Table<(T, N), f64>) -> f64 {
        let mut s = 0.3;
        for t in T { let mut x = a[t]; for i in N { x[i] = (s * x.get(i - 1).unwrap_or(0.2)).sin() * a[t][i]; } s = s * sum(x) + 0.1; }
        s
    }");
    // Choices made once for all of an alignment, in a table of partial solutions.
    check(
        "fn f<N: IndexSet, M: IndexSet>(cost: &Table<(N, M), f64>) -> f64 {
        let mut d = cost;
        for i in N { for j in M {
            let up = d.get((i - 1, j)).unwrap_or(1.0); let left = d.get((i, j - 1)).unwrap_or(1.5);
            d[i][j] = (up.exp() + left.exp()).ln() * cost[i][j] + up.min(left);
        } }
        sum(for i in N { sum(for j in M { d[i][j] * cost[i][j] }) })
    }"
        .replace(
            "d.get((i - 1, j)).unwrap_or(1.0)",
            "if i.ordinal() > 0 { d[(i - 1).clamp()][j] } else { 1.0 }",
        )
        .replace(
            "d.get((i, j - 1)).unwrap_or(1.5)",
            "if j.ordinal() > 0 { d[i][(j - 1).clamp()] } else { 1.5 }",
        )
        .as_str(),
    );
}

/// A positive definite matrix from any, factored row by row and column by column, and solved with.
#[test]
fn factorizations() {
    let matrix = "for i in N { for j in N { 0.1 * sum(for k in N { m[i][k] * m[j][k] }) + if i == j { 2.0 } else { 0.0 } } }";
    let rows = "for i in N {
        for j in ..i { l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
        l[i][i] = (a[i][i] - sum(for k in ..i { l[i][k] * l[i][k] })).sqrt();
    }";
    let columns = "for j in N {
        l[j][j] = (a[j][j] - sum(for k in ..j { l[j][k] * l[j][k] })).sqrt();
        for i in N { if i > j { l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; } }
    }";
    // The inner loop begins where the outer one is, which is the end in the last iteration.
    let below = columns.replace("for i in N { if i > j {", "for i in (j + 1).. { {");
    for (fill, budget) in [(rows, 5.0), (columns, 5.0), (&*below, 5.0)] {
        costs(
            &format!(
                "fn f<N: IndexSet>(m: &Table<(N, N), f64>) -> Table<(N, N), f64> {{
                    let a = {matrix}; let mut l = for i in N {{ for j in N {{ 0.0 }} }}; {fill} l }}"
            ),
            budget,
        );
        check(&format!(
            "fn f<N: IndexSet>(m: &Table<(N, N), f64>, b: &Table<N, f64>) -> Table<N, f64> {{
                let a = {matrix}; let mut l = for i in N {{ for j in N {{ 0.0 }} }}; {fill}
                let mut x = b;
                for i in N {{ x[i] = (b[i] - sum(for k in ..i {{ l[i][k] * x[k] }})) / l[i][i]; }}
                for i in N.rev() {{ x[i] = (x[i] - sum(for k in i.. {{ if k > i {{ l[k][i] * x[k] }} else {{ 0.0 }} }})) / l[i][i]; }}
                x }}"
        ));
    }
}

/// Loops that write and read tables anywhere: the place before, the place itself, places that will
/// be written, once and more than once.
#[test]
fn random_recurrences() {
    fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
        all[rng.below(all.len())]
    }
    fn place(rng: &mut Rng, indices: &[&str]) -> String {
        let index = pick(rng, indices);
        let how = pick(
            rng,
            &[
                "V",
                "V",
                "V",
                "(V - 1).wrap()",
                "(V - 1).clamp()",
                "(V + 1).clamp()",
            ],
        );
        how.replace('V', index)
    }
    fn read(rng: &mut Rng, indices: &[&str]) -> String {
        let (v, w) = (place(rng, indices), place(rng, indices));
        let (i, j) = (pick(rng, indices), pick(rng, indices));
        match rng.below(7) {
            0 => format!("x[{v}]"),
            1 | 2 => format!("l[{v}][{w}]"),
            3 => format!("x.get({i} - 1).unwrap_or(0.3)"),
            4 => format!("sum(for k in ..{i} {{ x[k] * l[{j}][k] }})"),
            5 => format!("(if {i} > {j} {{ l[{i}][{j}] }} else {{ x[{v}] }})"),
            _ => format!("a[{v}]"),
        }
    }
    fn value(rng: &mut Rng, indices: &[&str]) -> String {
        let [a, b, c] = [(); 3].map(|()| read(rng, indices));
        format!("({a} * {b} + 0.5 * {c}).sin()")
    }
    fn write(rng: &mut Rng, indices: &[&str]) -> String {
        let (v, w) = (place(rng, indices), place(rng, indices));
        let put = match rng.below(5) {
            0 | 1 => format!("x[{v}] = {};", value(rng, indices)),
            2 | 3 => format!("l[{v}][{w}] = {};", value(rng, indices)),
            _ => {
                let inner = [indices, &["m"]].concat();
                format!("l[{v}] = for m in N {{ {} }};", value(rng, &inner))
            }
        };
        let (i, j) = (pick(rng, indices), pick(rng, indices));
        match rng.below(4) {
            0 => format!("if {i} > {j} {{ {put} }}"),
            1 => format!("if {} > 0.0 {{ {put} }}", read(rng, indices)),
            _ => put,
        }
    }
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let outer = pick(rng, &["N", "N", "N.rev()"]);
        let inner = pick(rng, &["N", "..i", "i..", "N.rev()"]);
        let [before, after] = [(); 2].map(|()| match rng.below(3) {
            0 => String::new(),
            _ => write(rng, &["i"]),
        });
        let inside = write(rng, &["i", "j"]);
        let more = match rng.below(2) {
            0 => String::new(),
            _ => write(rng, &["i", "j"]),
        };
        check(&format!(
            "fn f<N: IndexSet>(a: &Table<N, f64>, m: &Table<(N, N), f64>) -> f64 {{
                let mut x = a; let mut l = m;
                for i in {outer} {{ {before} for j in {inner} {{ {inside} {more} }} {after} }}
                sum(x) + sum(for i in N {{ sum(for j in N {{ l[i][j] * a[j] }}) }})
            }}"
        ));
    }
}

/// Products with zeros among their factors, in lanes, in loops, and of contributions that are not
/// always made.
#[test]
fn scattered_products_with_zeros() {
    check("fn f<N: IndexSet, K: IndexSet>(v: &Table<N, f64>, at: &Table<N, K>) -> Table<K, f64> {
        let mut acc = Accum::prod(); for i in N { for j in ..=i { acc[at[i]].put(v[i] - v[j]); } } acc.get()
    }");
    check("fn f<N: IndexSet, M: IndexSet, K: IndexSet>(v: &Table<(N, M), f64>, at: &Table<N, K>) -> Table<(M, K), f64> {
        for m in M { let mut acc = Accum::prod(); for i in N { acc[at[i]].put(v[i][m] * v[i][m] - if m.ordinal() == 1 { v[i][m] * v[i][m] } else { 0.0 }); } acc.get() }
    }");
    check(
        "fn f<N: IndexSet, K: IndexSet>(v: &Table<N, f64>, at: &Table<N, K>) -> f64 {
        let mut s = 0.7;
        for i in N {
            let mut acc = Accum::prod();
            for j in N { if v[j] > -0.3 { acc[at[j]].put(v[j] * s - v[i] * s); } }
            let all = acc.get();
            s = (s + sum(for k in K { all[k] * 0.5 })).sin();
        }
        s
    }",
    );
    check("fn f<N: IndexSet>(v: &Table<N, f64>) -> f64 {
        let mut acc = Accum::prod(); for i in N { acc.put(v[i] + 1.5); } let p = acc.get();
        let mut zero = Accum::prod(); for i in N { if i.ordinal() % 3 == 0 { zero.put(v[i] - v[i]); } else { zero.put(v[i]); } }
        p * zero.get() + p
    }");
}

/// A place that is known only where loops around it run, of which the derivative knows nothing: it
/// is looked for in loops that never do.
#[test]
fn places_in_loops_that_do_not_run() {
    for (begin, step) in [
        ("Accum::prod()", "h[e][at].put(c.cos());"),
        ("Accum::prod()", "for k in K { h[e][at].put(c.cos()); }"),
        ("Accum::prod()", "for k in K { h[e][at].put(x[k] * c); }"),
        ("Accum::max()", "for k in K { h[e][at].put(c.cos()); }"),
        (
            "Accum::zero()",
            "for k in K { h[e][at] += c.cos() * x[k].max(c); }",
        ),
    ] {
        let table = format!(
            "fn table<K: IndexSet>(x: &Table<K, f64>, w: &Table<Fin<3>, Fin<2>>, m: usize, c: f64) -> Table<(Fin<0>, Fin<2>), f64> {{
                let mut h = {begin};
                for e in Fin::<0> {{ for j in Fin::<2> {{ h[e][j].put(c + e.ordinal() as f64); }} }}
                for e in Fin::<0> {{ let at = w[m]; {step} }}
                let all = h.get();
                for e in Fin::<0> {{ for j in Fin::<2> {{ all[e][j] * c + x[0] }} }}
            }}"
        );
        check(&table);
        check(&format!(
            "{table}
            fn slopes<K: IndexSet>(x: &Table<K, f64>, w: &Table<Fin<3>, Fin<2>>, m: usize, c: f64) -> f64 {{
                let ones = for e in Fin::<0> {{ for j in Fin::<2> {{ x[0] }} }};
                let (_, (of_x, of_c)) = vjp!(table, wrt = (x, c))(x, w, m, c, ones);
                sum(of_x) + of_c * c
            }}"
        ));
    }
}

/// What a product of some elements becomes when it is derived with respect to each of the first
/// ones of `by`, in these directions.
fn derived_product(elements: &[f64], directions: &[&[f64]], left: &mut Vec<usize>) -> f64 {
    let Some((direction, more)) = directions.split_first() else {
        return left.iter().map(|&k| elements[k]).product();
    };
    (0..left.len())
        .map(|at| {
            let k = left.remove(at);
            let rest = derived_product(elements, more, left);
            left.insert(at, k);
            direction[k] * rest
        })
        .sum()
}

/// Gradients, and their derivatives along a direction, and those along another: of products with
/// no, one, or more zeros.
#[test]
fn higher_derivatives_of_products() {
    const N: usize = 6;
    let binned = "fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>) -> f64 {
        let mut acc = Accum::prod(); for n in N { acc[at[n]].put(x[n]); } let all = acc.get(); sum(for k in K { all[k] * w[k] }) }";
    // The accumulator begins with something that is derived, too.
    let based = "fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>) -> f64 {
        let mut acc = Accum::prod(); for n in N { if n.ordinal() < 3 { acc[at[n]].put(x[n]); } } for n in N { if n.ordinal() >= 3 { acc[at[n]].put(x[n]); } }
        let all = acc.get(); sum(for k in K { all[k] * w[k] }) }";
    let reduced = "fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>) -> f64 {
        sum(for k in K { prod(for n in N { if at[n] == k { x[n] } else { 1.0 } }) * w[k] }) }";
    let running = "fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>) -> f64 {
        sum(for k in K { let all = cumprod(for n in N { if at[n] == k { x[n] } else { 1.0 } }); all[size(N) - 1] * w[k] }) }";
    let parameters = "x: &Table<N, f64>, at: &Table<N, K>, w: &Table<K, f64>, u: &Table<N, f64>";
    let first = "fn f<N: IndexSet, K: IndexSet>(PARAMETERS, v: &Table<N, f64>) -> Table<N, f64> { grad!(g, wrt = x)(x, at, w) }";
    let second = "fn f<N: IndexSet, K: IndexSet>(PARAMETERS, v: &Table<N, f64>) -> Table<N, f64> { hvp!(g, wrt = x)(x, at, w, u) }";
    let third = "fn h<N: IndexSet, K: IndexSet>(PARAMETERS) -> Table<N, f64> { hvp!(g, wrt = x)(x, at, w, u) }
        fn f<N: IndexSet, K: IndexSet>(PARAMETERS, v: &Table<N, f64>) -> Table<N, f64> { jvp!(h, wrt = x)(x, at, w, u, v).1 }";
    // Both directions of the second derivative again, by turning round what has been turned round.
    let reversed = "fn h<N: IndexSet, K: IndexSet>(PARAMETERS) -> f64 { let by = grad!(g, wrt = x)(x, at, w); sum(for n in N { by[n] * u[n] }) }
        fn f<N: IndexSet, K: IndexSet>(PARAMETERS, v: &Table<N, f64>) -> Table<N, f64> { grad!(h, wrt = x)(x, at, w, u) }";
    let bins = [0, 1, 0, 0, 1, 0];
    let weights = [1.5, -0.75];
    let [u, v] = [
        [0.5, -1.25, 2.0, 0.75, -0.5, 1.0],
        [1.0, 0.25, -0.5, 1.5, 2.0, -1.0],
    ];
    for zeros in [
        &[][..],
        &[2],
        &[0, 3],
        &[0, 1, 3],
        &[0, 2, 5],
        &[0, 2, 3, 5],
        &[1, 4],
    ] {
        let mut x = [0.5, 1.25, -0.75, 2.0, -1.5, 0.8];
        zeros.iter().for_each(|&k| x[k] = 0.0);
        let table = |values: &[f64]| {
            let count = values.len();
            let values = values.iter().map(|&x| ScalarValue::F64(x)).collect();
            Data::new(Scalar::F64, vec![count], values)
        };
        let at = bins.iter().map(|&k| ScalarValue::Usize(k)).collect();
        let inputs = Inputs {
            sizes: vec![N, 2],
            params: vec![
                table(&x),
                Data::new(Scalar::Usize, vec![N], at),
                table(&weights),
                table(&u),
                table(&v),
            ],
        };
        for (orders, directions) in [
            (first, vec![]),
            (second, vec![&u[..]]),
            (third, vec![&u, &v]),
            (reversed, vec![&u]),
        ] {
            let expected: Vec<f64> = (0..N)
                .map(|n| {
                    let mut unit = [0.0; N];
                    unit[n] = 1.0;
                    let all = [&[&unit[..]], directions.as_slice()].concat();
                    let of = |bin: usize| {
                        let mut members = (0..N).filter(|&m| bins[m] == bin).collect();
                        weights[bin] * derived_product(&x, &all, &mut members)
                    };
                    of(0) + of(1)
                })
                .collect();
            for function in [binned, based, reduced, running] {
                let source = format!("{function} {orders}").replace("PARAMETERS", parameters);
                for given in evaluated(&source, &inputs) {
                    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
                    assert!(
                        given.len() == N && given.iter().zip(&expected).all(close),
                        "{source}\nzeros at {zeros:?}: {given:?}, not {expected:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn unbounded_loops() {
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { let mut s = x[i].abs() + 2.0; while s > 0.5 { s = s * 0.6 + 0.01 * x[i]; } s } }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 { let mut s = a; let mut k = 0; while k < 5 { s = (s * 0.9).sin() + sum(x) * s; k = k + 1; } s }",
    );
}

#[test]
fn branches() {
    check("fn f<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> { for i in N { if x[i] > 0.0 { (x[i] * y[i]).ln().abs().sqrt() * y[i] } else { y[i] } } }".replace("(x[i] * y[i]).ln().abs().sqrt()", "x[i].sqrt()").as_str());
    // What would be NaN, infinite or out of range where it is not taken.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { let k = i.ordinal() as i64; if k > 0 { x[i - 1] / (k as f64) } else { x[i] } } }",
    );
    assert_eq!(
        values(
            "fn g(x: f64) -> f64 { if x > 0.0 { x.sqrt() * x.ln() } else { 0.0 } } fn f(x: f64) -> (f64, f64) { value_and_grad!(g)(x) }",
            &[0.0]
        ),
        [0.0, 0.0]
    );
    assert_eq!(
        values(
            "fn g(x: f64) -> f64 { if x > 0.0 { 1.0 / x } else { x * 3.0 } } fn f(x: f64) -> f64 { grad!(g)(x) }",
            &[0.0]
        ),
        [3.0]
    );
}

#[test]
fn kinks() {
    let at = |expr: &str, x: f64, y: f64| {
        values(
            &format!(
                "fn g(x: f64, y: f64) -> f64 {{ {expr} }} fn f(x: f64, y: f64) -> (f64, f64) {{ grad!(g)(x, y) }}"
            ),
            &[x, y],
        )
    };
    assert_eq!(at("x.max(y)", 1.0, 1.0), [1.0, 0.0]);
    assert_eq!(at("x.min(y)", 1.0, 1.0), [1.0, 0.0]);
    assert_eq!(at("x.abs() + y", 0.0, 1.0), [0.0, 1.0]);
    assert_eq!(at("x.sqrt() + y", 0.0, 1.0), [f64::INFINITY, 1.0]);
    assert_eq!(at("max([x, y, x])", 1.0, 1.0), [1.0, 0.0]);
    // Row by row.
    let square = "for (i, j) in (Fin::<2>, Fin::<2>) { if i.ordinal() < j.ordinal() { x } else if i.ordinal() > j.ordinal() { y } else { 0.0 } }";
    assert_eq!(at(&format!("max({square})"), 1.0, 1.0), [1.0, 0.0]);
    assert_eq!(at(&format!("min({square})"), -1.0, -1.0), [1.0, 0.0]);
    assert_eq!(
        at("x * stop_gradient(y) + stop_gradient(x)", 3.0, 5.0),
        [5.0, 0.0]
    );
    assert_eq!(at("x.powi(0) + y.powi(2)", 0.0, 2.0), [0.0, 4.0]);
}

/// Derivatives of powers to the third order, forward and backward in any order, also where the base
/// or the exponent is zero.
#[test]
fn powers() {
    let next = |mode: char, of: &str| match mode {
        'r' => format!("grad!({of}, wrt = x)(x, n)"),
        _ => format!("jvp!({of}, wrt = x)(x, n, 1.0).1"),
    };
    let modes = ["rrr", "rrf", "rfr", "fff"].map(|modes| modes.chars().collect::<Vec<_>>());
    for n in 0..5 {
        let literals = [format!("x.powi({n})"), format!("x.powf({n}.0)")];
        let dynamic = ["x.powi(n as i32)", "x.powf(n)"].map(str::to_owned);
        for power in literals.into_iter().chain(dynamic) {
            for modes in &modes {
                let [first, second, third] = [
                    next(modes[0], "p"),
                    next(modes[1], "a"),
                    next(modes[2], "b"),
                ];
                let source = format!(
                    "fn p(x: f64, n: f64) -> f64 {{ {power} + 0.0 * n }}
                    fn a(x: f64, n: f64) -> f64 {{ {first} }}
                    fn b(x: f64, n: f64) -> f64 {{ {second} }}
                    fn f(x: f64, n: f64) -> (f64, f64, f64) {{ (a(x, n), b(x, n), {third}) }}"
                );
                for x in [0.0, 0.5, -2.0] {
                    let (n, mut factor) = (f64::from(n), 1.0);
                    for (k, found) in values(&source, &[x, n]).into_iter().enumerate() {
                        let left = n - k as f64;
                        factor *= left.max(0.0);
                        let expected = factor * x.powf((left - 1.0).max(0.0));
                        assert!(
                            (found - expected).abs() < 1e-12,
                            "{source}\n{x}, {n}: {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
    // By the exponent, and by both.
    let both = "fn p(x: f64, n: f64) -> f64 { x.powf(n) } MIXED
        fn f(x: f64, n: f64) -> (f64, f64) { (grad!(p, wrt = n)(x, n), BOTH) }";
    let mixed = "fn a(x: f64, n: f64) -> f64 { grad!(p, wrt = x)(x, n) }";
    for way in ["grad!(a, wrt = n)(x, n)", "jvp!(a, wrt = n)(x, n, 1.0).1"] {
        let source = both.replace("BOTH", way).replace("MIXED", mixed);
        for (x, n) in [(0.5_f64, 0.0_f64), (2.0, 1.0), (0.5, 2.5)] {
            let found = values(&source, &[x, n]);
            let expected = [x.powf(n) * x.ln(), x.powf(n - 1.0) * (1.0 + n * x.ln())];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{source}\n{x}, {n}: {found}, not {expected}"
                );
            }
        }
        assert_eq!(values(&source, &[0.0, 2.0]), [0.0, 0.0]);
    }
}

#[test]
fn derivatives_nest() {
    let third = "fn c(x: f64) -> f64 { x.powi(5) + (2.0 * x).sin() } fn f(x: f64) -> f64 { grad!(grad!(grad!(c)))(x) }";
    let x: f64 = 0.7;
    let expected = 60.0 * x * x - 8.0 * (2.0 * x).cos();
    assert!((values(third, &[x])[0] - expected).abs() < 1e-10);
    // Each derivative sees its own variable: x · d/dy (x y) is x², of which this is the derivative.
    let confusion = "fn g(x: f64, y: f64) -> f64 { x * y }
        fn h(x: f64) -> f64 { x * grad!(g, wrt = y)(x, 1.0) }
        fn f(x: f64) -> f64 { grad!(h)(x) }";
    assert_eq!(values(confusion, &[1.0]), [2.0]);
    let forward = confusion.replace(
        "grad!(g, wrt = y)(x, 1.0)",
        "jvp!(g, wrt = y)(x, 1.0, 1.0).1",
    );
    assert_eq!(values(&forward, &[1.0]), [2.0]);
    // The three ways to a product with the Hessian.
    let loss = "fn loss(x: f64, y: f64) -> f64 { let mut s = x; for k in 0..4 { s = (s * y).sin() + x * s; } s * y.exp() }";
    let ways = [
        "hvp!(loss)(x, y, 0.3, -0.7)",
        "jvp!(grad!(loss))(x, y, 0.3, -0.7).1",
        "grad!(along)(x, y)",
        "vjp!(grad!(loss))(x, y, 0.3, -0.7).1",
    ];
    let along = "fn along(x: f64, y: f64) -> f64 { jvp!(loss)(x, y, 0.3, -0.7).1 }";
    let found: Vec<Vec<f64>> = ways
        .iter()
        .map(|way| {
            values(
                &format!("{loss} {along} fn f(x: f64, y: f64) -> (f64, f64) {{ {way} }}"),
                &[0.4, 0.9],
            )
        })
        .collect();
    for way in &found[1..] {
        for (a, b) in way.iter().zip(&found[0]) {
            assert!((a - b).abs() < 1e-10, "{found:?}");
        }
    }
}

#[test]
fn gradients_in_loops() {
    // Descent is itself differentiable: the limit's derivative with respect to the goal is 1.
    let descent = "fn loss(w: f64, goal: f64) -> f64 { (w - goal).powi(2) }
        fn fit(goal: f64) -> f64 { let mut w = 0.0; for t in 0..60 { w = w - 0.2 * grad!(loss, wrt = w)(w, goal); } w }
        fn f(goal: f64) -> (f64, f64) { value_and_grad!(fit)(goal) }";
    let found = values(descent, &[3.0]);
    assert!(
        (found[0] - 3.0).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9,
        "{found:?}"
    );
    check("fn g(x: f64, y: f64) -> f64 { (x * y).sin() * x }
        fn f<N: IndexSet>(x: &Table<N, f64>, y: f64) -> Table<N, f64> { for i in N { let (a, b) = grad!(g)(x[i], y); a * b } }");
    check("fn g<M: IndexSet>(x: &Table<M, f64>, y: f64) -> f64 { sum(for j in M { (x[j] * y).sin() * x[j] }) }
        fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, y: f64) -> Table<(N, M), f64> { for i in N { grad!(g, wrt = x)(x[i], y) } }");
}

/// A loop in a branch along the axis of the lanes around reads other lanes: it has an axis of its
/// own, although nothing in it depends on the lane.
#[test]
fn loops_in_branches_along_the_lanes_axis() {
    let read = "for j in N { (p / x[j]).sin() }";
    for inner in [
        format!("sum({read})"),
        format!("max({read})"),
        format!("sum(cumsum({read}))"),
        format!("if t > 0 {{ prod({read}) }} else {{ p * p }}"),
    ] {
        check(&format!(
            "fn f<N: IndexSet>(x: &Table<N, f64>, p: f64, c: bool) -> Table<N, f64> {{
                for n in N {{ let mut s = x[n]; for t in 0..2 {{ s = 0.5 * s + (if c {{ p + t as f64 }} else {{ {inner} }}).sin(); }} s }}
            }}"
        ));
    }
}

#[test]
fn every_transformation() {
    let g = "fn g(x: f64, y: f64) -> f64 { x * x * y }";
    let one = |body: &str, result: &str| {
        values(
            &format!("{g} fn f(x: f64, y: f64) -> {result} {{ {body} }}"),
            &[3.0, 5.0],
        )
    };
    assert_eq!(one("grad!(g)(x, y)", "(f64, f64)"), [30.0, 9.0]);
    assert_eq!(
        one("grad!(g, wrt = (y, x))(x, y)", "(f64, f64)"),
        [9.0, 30.0]
    );
    assert_eq!(
        one(
            "let (v, d) = value_and_grad!(g, wrt = y)(x, y); (v, d)",
            "(f64, f64)"
        ),
        [45.0, 9.0]
    );
    assert_eq!(
        one(
            "let (v, (a, b)) = vjp!(g)(x, y, 2.0); (v, a + b)",
            "(f64, f64)"
        ),
        [45.0, 78.0]
    );
    assert_eq!(one("jvp!(g)(x, y, 1.0, 10.0)", "(f64, f64)"), [45.0, 120.0]);
    assert_eq!(
        one(
            "let (v, map) = linearize!(g)(x, y); (v, map(1.0, 0.0) + 2.0 * map(0.0, 1.0))",
            "(f64, f64)"
        ),
        [45.0, 48.0]
    );
    assert_eq!(one("jacobian!(g)(x, y)", "(f64, f64)"), [30.0, 9.0]);
    assert_eq!(
        one(
            "let ((a, b), (c, d)) = hessian!(g)(x, y); (a, b, c, d)",
            "(f64, f64, f64, f64)"
        ),
        [10.0, 6.0, 6.0, 0.0]
    );
    assert_eq!(one("hvp!(g)(x, y, 1.0, 0.0)", "(f64, f64)"), [10.0, 6.0]);
    assert_eq!(
        one(
            "let t = vmap!(grad!(g, wrt = x), over = y)(x, [y, 1.0]); (t[0], t[1])",
            "(f64, f64)"
        ),
        [30.0, 6.0]
    );
}

/// Reads at constant and shifted places of short axes, whose cotangents are written down place by
/// place.
#[test]
fn known_places() {
    // One element, several, the same one twice, all of them.
    for body in [
        "c[4]",
        "c[4] * c[1].sin() + x[0]",
        "c[2] * c[2].sin() * c[0]",
        "c[0] * c[1] * c[2] * c[3] * c[4] * c[5]",
    ] {
        check(&format!(
            "fn f(c: &Table<Fin<6>, f64>, x: &Table<Fin<3>, f64>) -> f64 {{ {body} }}"
        ));
    }
    // Shifted by constants, against the end, round it, at the ends again and again, and by another index.
    for at in [
        "i.ordinal() + 2",
        "5 - i.ordinal()",
        "2 * i.ordinal() + 1",
        "(i - 1).wrap()",
        "(i - 2).clamp()",
        "(i + 1).mirror()",
        "i.ordinal() + r.ordinal()",
        "(i.ordinal() * 2 + r.ordinal()) % 6",
    ] {
        let read = if at.contains("(i -") || at.contains("(i +") {
            format!("x[{at}] * c[r.ordinal()]")
        } else {
            format!("c[{at}] * x[i]")
        };
        check(&format!(
            "fn f<N: IndexSet>(cs: &Table<(N, Fin<6>), f64>, x: &Table<Fin<3>, f64>) -> Table<(N, Fin<2>), f64> {{
                for (n, r) in _ {{ let c = cs[n]; sum(for i in Fin::<3> {{ {read} }}) * c[5] + c[r.ordinal() + 3] }}
            }}"
        ));
    }
    // Several axes, some of them known; the others are looked up, so that many points meet in one place.
    for read in [
        "c[k[n]][0][1] * c[k[n]][1][1] * c[k[n]][1][0].sin()",
        "c[k[n]][0][0] * c[k[n]][0][1] * c[k[n]][1][1] * c[k[n]][1][0].sin()",
        "sum(for i in Fin::<2> { c[k[n]][i][(i + 1).wrap()] * c[k[n]][i][i] })",
        "if x[n] > 0.0 { c[k[n]][0][1] * x[n] } else { c[k[n]][1][1] * c[k[n]][1][0] }",
    ] {
        check(&format!(
            "fn f<N: IndexSet, K: IndexSet>(c: &Table<(K, Fin<2>, Fin<2>), f64>, k: &Table<N, K>, x: &Table<N, f64>) -> Table<N, f64> {{ for n in N {{ {read} }} }}"
        ));
    }
    // Summed over long axes; axes that are too long to be written down; of one place; what is read in branches.
    check(
        "fn f<N: IndexSet>(c: &Table<Fin<5>, f64>, x: &Table<(N, Fin<3>), f64>) -> f64 { sum(for (n, i) in _ { c[i.ordinal() + 1] * x[n][i] * c[0] }) }",
    );
    check(
        "fn f<N: IndexSet>(c: &Table<Fin<70>, f64>, x: &Table<(N, Fin<40>), f64>) -> f64 { sum(for (n, i) in _ { c[i.ordinal() + 20] * x[n][i] }) * c[65] }",
    );
    check(
        "fn f(c: &Table<Fin<1>, f64>, x: &Table<Fin<1>, f64>) -> f64 { sum(for i in Fin::<1> { c[i.ordinal()] * x[(i + 1).wrap()] }) * c[0] }",
    );
    check(
        "fn f<N: IndexSet>(c: &Table<Fin<4>, f64>, x: &Table<N, f64>) -> Table<N, f64> { for n in N { if x[n] > 0.0 { c[3] * x[n] } else if x[n] < -0.5 { c[1] } else { c[2] * c[3] } } }",
    );
    // States of sequential loops.
    check("fn f<N: IndexSet, B: IndexSet>(w: &Table<(N, Fin<2>, Fin<4>, B), f64>, x: &Table<B, f64>) -> Table<B, f64> {
            let mut s = x;
            for n in N { s = for b in B { (w[n][0][0][b] * s[b] + w[n][1][0][b]).sin() * (w[n][0][1][b] + w[n][1][1][b]) + w[n][0][2][b] * w[n][1][2][b].cos() * w[n][0][3][b] + w[n][1][3][b] }; }
            s
        }");
    check(
        "fn f<N: IndexSet>(c: &Table<Fin<3>, f64>, x: &Table<N, f64>) -> f64 { let mut s = 1.0; for n in N { s = s * c[0] + (c[1] * x[n]).sin() * c[2]; } s }",
    );
}

/// Jacobians, whose seeds are an identity matrix: rows and columns, at known places and at others.
#[test]
fn jacobians() {
    for function in [
        "fn g(c: &Table<Fin<6>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> { for r in Fin::<2> { sum(for i in Fin::<3> { c[i.ordinal() + 2] * x[i] }) * c[5] + c[r.ordinal() + 1] } }",
        "fn g(c: &Table<Fin<6>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> { let s = sum(c * c); if s > 0.5 { [s * x[0], x[1] * c[0]] } else { [c[0], x[2]] } }",
        "fn g(c: &Table<Fin<6>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> { let y = for r in Fin::<2> { c[(r + 1).wrap().ordinal()] * x[r.ordinal()] }; y / sum(y * y) }",
    ] {
        for wrt in ["c", "x"] {
            let result = if wrt == "c" { 6 } else { 3 };
            check(&format!(
                "{function}
                fn f<N: IndexSet>(c: &Table<(N, Fin<6>), f64>, x: &Table<(N, Fin<3>), f64>) -> Table<(N, Fin<2>, Fin<{result}>), f64> {{ for n in N {{ jacobian!(g, wrt = {wrt})(&c[n], &x[n]) }} }}"
            ));
        }
    }
    check("fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[i].sin() * x[(i + 1).wrap()] } }
        fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<(N, N), f64> { jacobian!(g)(x) }");
    check("fn g<N: IndexSet, M: IndexSet>(a: &Table<(M, N), f64>, x: &Table<N, f64>) -> Table<M, f64> { for m in M { sum(for n in N { a[m][n] * x[n] }).sin() } }
        fn f<N: IndexSet, M: IndexSet>(a: &Table<(M, N), f64>, x: &Table<N, f64>) -> Table<(M, N), f64> { jacobian!(g, wrt = x)(a, x) }");
}
