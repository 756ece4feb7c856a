//! Every construct of the language, with its derivative: forward against backward, against finite
//! differences, as definitions of arrays and as it is scheduled, at extents 0, 1, 2 and 7. What
//! constructs mean is checked in `lower/tests/meaning.rs` and by the corpus.

use pointful_compiler::testing::source::{check_source as check, check_stages};

/// An accumulator's operator and its identity.
const COMPOSE: &str = "Accum::monoid(0.0, |p, q| p + q + p * q)";

#[test]
fn accumulators_with_their_own_operators() {
    let of_vector = |rest: &str| {
        let source = format!(
            "fn f<N: IndexSet>(v: &Table<N, f64>) -> f64 {{ let mut a = {COMPOSE}; {rest} a.get() }}"
        );
        check(&source);
    };
    of_vector("for i in N { a.put(v[i]); }");
    of_vector("for i in N { if v[i] > 0.0 { a.put(v[i]); } }");
    of_vector("for i in N { a.put(v[i]); a.put(v[i] * 0.5); } a.put(0.25);");
    of_vector("for i in N.rev() { a.put(v[i]); }");
    of_vector("let mut s = 0.1; for i in N { s = s * 0.5 + v[i]; a.put(v[i] * s); }");
    of_vector("for i in N { for j in ..i { a.put(v[i] * v[j] * 0.1); } }");
    of_vector("for (i, j) in (N, N) { a.put(v[i] * v[j] * 0.1); }");
    of_vector("let mut s = 1.5; while s > 0.5 { s *= 0.7; a.put(s * sum(v) * 0.1); }");
    let of_matrix = |result: &str, rest: &str| {
        let source = format!(
            "fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>, at: &Table<N, N>) -> Table<{result}, f64> {{
                let mut a = {COMPOSE}; {rest} a.get() }}"
        );
        check(&source);
    };
    of_matrix(
        "N",
        "for i in N { for j in D { a[i].put(v[i][j] * 0.1); } }",
    );
    of_matrix(
        "D",
        "for i in N { for j in D { a[j].put(v[i][j] * 0.1); } }",
    );
    of_matrix("D", "for i in N { a.put(v[i]); }");
    of_matrix("N", "for i in N { a[at[i]].put(sum(v[i]) * 0.1); }");
    of_matrix(
        "(N, D)",
        "for i in N { let row = &mut a[at[i]]; for d in D { row[d].put(v[i][d]); } }",
    );
    of_matrix(
        "(N, D)",
        "for i in N { let row = &mut a[i]; for d in D { row[d].put(v[i][d]); row[d].put(0.1); } }",
    );
}

#[test]
fn accumulators_of_tuples_and_tables() {
    check(
        "fn f<N: IndexSet, K: IndexSet>(v: &Table<N, f64>, at: &Table<N, K>) -> (Table<K, f64>, Table<K, f64>) {
            let mut a = Accum::monoid((1.0, 0.0), |p, q| (p.0 * q.0, p.1 * q.0 + q.1));
            for i in N { a[at[i]].put((v[i], v[i] * v[i])); }
            a.get()
        }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<(N, Fin<2>, Fin<2>), f64>) -> Table<(Fin<2>, Fin<2>), f64> {
            let one = for (i, j) in (Fin::<2>, Fin::<2>) { if i == j { 1.0 } else { 0.0 } };
            let mut a = Accum::monoid(one, |a, b| for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) });
            for n in N { a.put(x[n]); }
            a.get()
        }",
    );
    check_stages(
        "fn f<N: IndexSet>(v: &Table<N, f64>) -> (bool, bool) {
            let mut any = Accum::monoid(false, |p, q| p || q);
            let mut all = Accum::monoid(true, |p, q| p & q);
            for i in N { any.put(v[i] > 0.5); all.put(v[i] < 0.5); }
            (any.get(), all.get())
        }",
    );
}

#[test]
fn patterns() {
    let of_vector = |body: &str| {
        check(&format!(
            "fn f<N: IndexSet>(u: &Table<N, f64>) -> Table<N, f64> {{ for i in N {{ {body} }} }}"
        ));
    };
    of_vector("if let Some(v) = u.get(i - 1) { v * u[i] } else { 0.0 }");
    of_vector("let mut s = 0.5; if let Some(v) = u.get(i - 1) { s = v * u[i]; } s");
    of_vector("match u.get(i - 1) { None => 0.0, Some(v) if v > 0.0 => v, Some(v) => v * u[i] }");
    of_vector(
        "match (u.get(i - 1), u.get(i + 1)) { (Some(a), Some(b)) => a * b, (Some(a), None) | (None, Some(a)) => a.sin(), (None, None) => u[i] }",
    );
    check("fn f(k: i32, x: f64) -> f64 { match k { 0 => x, -1 | 2 => x * x, _ => x.sin() } }");
    check(
        "fn f(a: bool, b: bool, x: f64) -> f64 { match (a, b) { (true, true) => x, (true, false) => x * x, (false, true) => 1.0, (false, false) => x.sin() } }",
    );
    check(
        "#[derive(IndexSet)] enum C { R, G }
        fn f(c: C, b: bool, x: f64) -> f64 { match (c, b) { (C::R, true) => x, (C::G, _) => x * x, (_, false) => 1.0 } }",
    );
    // A condition inside a side of a union says nothing about the other side.
    check(
        "fn f(x: &Table<Either<(), Either<bool, ()>>, f64>) -> f64 {
            sum(for e in _ { match e {
                Either::Left(_) => x[e],
                Either::Right(Either::Left(true)) => 2.0 * x[e],
                Either::Right(Either::Left(false)) => 3.0 * x[e].sin(),
                Either::Right(Either::Right(())) => 0.5 * x[e],
            } })
        }",
    );
    check(
        "fn f(x: &Table<Either<bool, bool>, f64>) -> f64 {
            sum(for e in _ { match e { Either::Left(b) | Either::Right(b) => if b { x[e] * x[e] } else { x[e] } } })
        }",
    );
}

#[test]
fn values_of_one_of_two_kinds() {
    // Stored in tables, both kinds with numbers, pairs, members and rows.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
            let t = for i in N { if x[i] > 0.0 { Either::Left(x[i]) } else { Either::Right((x[i] * x[i], i)) } };
            sum(for i in N { match t[i] { Either::Left(a) => a.sin(), Either::Right((b, j)) => b * x[j] } })
        }",
    );
    check(
        "fn f<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>) -> f64 {
            let t = for i in N { if sum(x[i]) > 0.1 { Some(x[i] * 2.0) } else { None } };
            sum(for i in N { match t[i] { Some(row) => sum(row * x[i]), None => sum(for d in D { x[i][d].cos() }) } })
        }",
    );
    // States, members of sets that may be empty among them, and kinds inside of kinds.
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
            let mut best = None;
            let mut seen: Option<Option<f64>> = None;
            for i in N {
                best = match best { Some(j) => if x[j] < x[i] { Some(i) } else { best }, None => Some(i) };
                seen = if x[i] > 0.2 { Some(x.get(i + 1)) } else { seen };
            }
            best.map_or(0.5, |i| x[i] * x[i]) + match seen { Some(Some(v)) => v.sin(), Some(None) => 2.0, None => 3.0 }
        }",
    );
    check(
        "fn f<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
            for i in N {
                let e: Either<N, f64> = if x[i] < 0.3 { Either::Left(i) } else { Either::Right(x[i].exp()) };
                let next = x.get(i + 1).map(|v| v * x[i]).or(x.get(i - 1));
                next.and_then(|v| if v > 0.0 { Some(v.sqrt()) } else { None }).unwrap_or(0.25)
                    + match e { Either::Left(j) => x[j].sin(), Either::Right(y) => y }
            }
        }",
    );
}
#[test]
fn parts_of_accumulators_that_may_not_be_there() {
    let of = |accum: &str, result: &str| {
        check(&format!(
            "fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>, at: &Table<N, i64>) -> Table<{result}, f64> {{
                let mut a = {accum}; for n in N {{ a[n].put(0.1); for d in D {{ a.get(at[n] - d.ordinal() as i64).put(v[n][d]); }} }} a.get() }}"
        ));
    };
    for accum in [
        "Accum::zeros(N)",
        "Accum::prod(N)",
        "Accum::max(N)",
        "Accum::min(N)",
    ] {
        of(accum, "N");
    }
    of("Accum::monoid(N, 0.0, |p, q| p + q + p * q)", "N");
    check(
        "fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>, at: &Table<N, i64>, c: &Table<(N, D), f64>) -> Table<(N, D), f64> {
            let mut a = Accum::zero();
            for n in N { if v[n][0] > 0.0 { a.get(at[n]).put(v[n] * v[n]); } }
            a.get() * c
        }",
    );
}

#[test]
fn what_is_lent_to_functions() {
    const ADDS: &str = "fn add<K: IndexSet>(h: &mut Table<K, f64>, k: K, x: f64) { h[k] += x * x; }
        fn put_to(a: &mut Accum<f64>, x: f64) { if x > 0.0 { a.put(x * x); } }
        fn put<K: IndexSet>(a: &mut Accum<Table<K, f64>>, k: K, x: f64) { put_to(&mut a[k], x); a[k].put(0.5 * x); }
        fn mix<K: IndexSet, D: IndexSet>(h: &mut Table<(K, D), f64>, k: K, x: &Table<D, f64>) { for d in D { h[k][d] = h[k][d] * x[d] + 0.1; } }";
    let of = |body: &str| {
        check(&format!(
            "{ADDS} fn f<N: IndexSet>(v: &Table<N, f64>, at: &Table<N, N>) -> Table<N, f64> {{ {body} }}"
        ));
    };
    of("let mut h = v.clone(); for n in N { add(&mut h, at[n], v[n]); } h");
    of("let mut h = v.clone(); for n in N { add(&mut h, n, v[n]); } h");
    of(
        "let mut h = v.clone(); for n in N { add(&mut h, at[n], v[n]); if h[n] > 0.0 { add(&mut h, n, 0.5); } } h",
    );
    for accum in ["Accum::zero()", "Accum::prod()", "Accum::max()", COMPOSE] {
        of(&format!(
            "let mut a = {accum}; for n in N {{ a[n].put(0.1); put(&mut a, at[n], v[n]); }} a.get()"
        ));
    }
    of(
        "let mut a = Accum::zero(); for n in N { let row = &mut a[at[n]]; put_to(row, v[n]); } a.get()",
    );
    check(&format!(
        "{ADDS} fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>) -> Table<(N, D), f64> {{
            let mut h = for (_n, _d) in (N, D) {{ 1.0 }};
            for n in N {{ mix(&mut h, n, v[n]); }}
            for n in N {{ let row = h[n]; mix(&mut h, n, row); }}
            h
        }}"
    ));
}

#[test]
fn beginnings_and_operators_of_rows() {
    let of = |result: &str, body: &str| {
        check(&format!(
            "fn plus(a: f64, b: f64) -> f64 {{ a + b + a * b }}
            fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>, z: &Table<D, f64>) -> Table<{result}, f64> {{ {body} }}"
        ));
    };
    of(
        "D",
        "reduce(0.0, |a, b| a + b + a * b, for n in N { v[n] })",
    );
    of("D", "reduce(z, plus, for n in N { v[n] })");
    of("(N, D)", "scan(0.0, plus, for n in N { v[n] })");
    of(
        "(N, N, D)",
        "scan(z, |a: f64, b: f64| a + b, for n in N { for m in N { v[n] * v[m] } })",
    );
    of(
        "(D, N)",
        "reduce(0.0, plus, for n in N { for d in D { for m in N { v[n][d] * v[m][d] } } })",
    );
    of(
        "D",
        "let mut a = Accum::monoid(0.0, plus); for n in N { a.put(v[n]); } a.get()",
    );
}

#[test]
fn tables_of_functions_are_applied() {
    let of = |body: &str| {
        check(&format!(
            "fn curry(x: f64) -> impl Fn(f64) -> f64 {{ move |y| x * y + x }}
            fn f<N: IndexSet, D: IndexSet>(v: &Table<(N, D), f64>, z: &Table<N, f64>) -> Table<(N, D), f64> {{ {body} }}"
        ));
    };
    of("curry(v)(v)");
    of("curry(z)(v)");
    of("let fs = curry(v); fs(z) * fs(0.5)");
    of(
        "let fs = for n in N { curry(z[n]) }; let gs = curry(v); for (n, d) in (N, D) { fs[n](v[n][d]) + gs[n][d](z[n]) }",
    );
    of("let g = |a: f64| move |b: f64| a * b; g(z)(v)");
}

#[test]
fn lengths_that_a_body_computes() {
    let of = |body: &str| {
        check(&format!(
            "fn repeated(k: usize, x: f64) -> Table<Dyn, f64> {{ let e = Extent::new(2 * k); for i in e {{ x * i.ordinal() as f64 }} }}
            fn f<N: IndexSet>(v: &Table<N, f64>, k: &Table<N, usize>) -> f64 {{ {body} }}"
        ));
    };
    of(
        "let e = Extent::new(count(v > 0.1) + 1); let t = for i in e { sum(v) * i.ordinal() as f64 }; sum(for i in e { t[i] * t[(i + 1).wrap()] })",
    );
    of("sum(for n in N { let t = repeated(2, v[n]); sum(t * t) })");
    of("sum(jvp!(repeated, wrt = x)(size(N), sum(v), 1.0).1 * repeated(size(N), 2.0)[1])");
    of(
        "let (t, _) = (repeated(size(N), sum(v)), 1); vjp!(|x: f64| repeated(size(N), x * x))(sum(v), t).1",
    );
    check(
        "fn f(x: f64, y: f64) -> Table<(Dyn, Dyn), f64> {
            let e = Extent::<(Dyn, Dyn)>::new((3, 2));
            let t = for (i, j) in e { x * i.ordinal() as f64 + y.sin() };
            for (i, j) in e { t[i][j] * t[(i, (j + 1).wrap())] }
        }",
    );
}

#[test]
fn transformations_of_closures() {
    let of = |body: &str| {
        check(&format!(
            "fn f<N: IndexSet>(v: &Table<N, f64>, x: f64) -> Table<N, f64> {{ {body} }}"
        ));
    };
    of("grad!(|y| x * sum(y * y))(v)");
    of("for n in N { grad!(|y: f64| x * y * v[n].sin() * y)(v[n]) }");
    of("vmap!(grad!(|y, s| s * y * y * y), over = y)(v, x).0");
    of("let g = |y: f64, s: f64| s * y * y; vmap!(jvp!(g, wrt = s), over = (y, d_s))(v, x, v).1");
    of("vmap!(vjp!(|y: f64| y.sin() * x), over = ct)(x, v).1");
    of("let (_, map) = linearize!(|y| y * y * x)(v); map(v)");
    of("for n in N { sum(jacobian!(|y| y * y * x)(v)[n]) + hvp!(|y: f64| y * y * y)(x, v[n]) }");
}
