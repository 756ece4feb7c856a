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
