//! Ranges of members of products, which are in the order of their numbers: what loops over them
//! give, at every stage, and their derivatives.

use pointful_compiler::eval::{Data, Inputs, run};
use pointful_compiler::testing::source::{check_source, check_stages, lowered};

/// What is computed at a member `p` of `(N, M)`, of `x` and of `v`.
const BODIES: [&str; 16] = [
    "sum(for q in ..p { x[q] * x[p] })",
    "sum(for q in ..=p { x[q].sin() * v[q.1] })",
    "max(for (k, l) in p.. { x[k][l] * v[l] })",
    "prod(for q in p.. { x[q] + 0.3 })",
    "sum(for q in (..p).rev() { x[q] * 0.5 })",
    "sum(for q in (..=p).skip(2) { x[q].exp() })",
    "{ let t = for q in ..=p { x[q].sin() }; sum(for q in ..=p { t[q] * x[q] }) * max(t) }",
    "{ let t = for q in ..=p { x[q] * v[q.1] }; t[p] * t[0] }",
    "{ let t = for q in p.. { x[q].sin() }; t[p] + sum(for (k, l) in p.. { t[(k, l)] * v[l] }) }",
    "{ let t = for q in p.. { x[q].sin() }; sum(for q in _ { t[q] * x[q] }) }",
    "{ let t = for q in ..=p { for l in M { x[q] * v[l] } }; sum(for q in ..=p { t[q][q.1] + t[q][p.1] }) }",
    "{ let t = for q in ..=p { x[q] * 2.0 }; t.get(p).unwrap_or(0.1) * x[p] }",
    "{ let mut s = x[p]; for q in ..p { s = 0.5 * s + x[q] * s.sin(); } s }",
    "{ let mut a = Accum::zeros(M); for q in ..=p { a[q.1] += x[q]; } sum(a.get().sin()) }",
    "{ let (i, j) = p; let t = for q in ..=(i, j) { x[q].cos() }; sum(for q in ..=(i, j) { t[q] * x[q] }) }",
    "{ let mut u = x; for q in ..p { u[q] = 0.5 * x[p] * x[q]; } sum(u) }",
];

fn function(body: &str) -> String {
    format!(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, v: &Table<M, f64>) -> f64 {{
            let t = for p in (N, M) {{ {body} }};
            sum(for (i, j) in (N, M) {{ t[i][j] * (i.ordinal() as f64 + v[j]).cos() }})
        }}"
    )
}

#[test]
fn loops_over_ranges_of_products_agree_at_every_stage() {
    for body in BODIES {
        let source = function(body);
        check_stages(&source);
        check_stages(&format!(
            "{source} fn g<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, v: &Table<M, f64>) -> (Table<(N, M), f64>, Table<M, f64>) {{
                grad!(f)(x, v)
            }}"
        ));
    }
}

#[test]
fn loops_over_ranges_of_products_have_the_right_derivatives() {
    for body in BODIES {
        check_source(&function(body));
    }
}

/// Three factors, of which some are truth values, unions, products with names or of one member.
#[test]
fn products_of_any_factors() {
    for (set, over, at) in [
        ("(N, Fin<3>, M)", "(N, Fin::<3>, M)", "p"),
        ("(bool, N)", "(bool, N)", "p"),
        ("(N, Either<bool, M>)", "(N, Either::<bool, M>)", "p"),
        ("((N, bool), M)", "((N, bool), M)", "p"),
        ("(Fin<1>, N)", "(Fin::<1>, N)", "(only, p.1)"),
        ("(N, (), M)", "(N, (), M)", "p"),
    ] {
        check_source(&format!(
            "fn f<N: IndexSet, M: IndexSet>(x: &Table<{set}, f64>, v: &Table<(N, M), f64>) -> f64 {{
                let w = sum(v);
                let only = Fin::<1>::from_ordinal(0);
                sum(for p in {over} {{
                    let t = for q in ..={at} {{ x[q] * w }};
                    x[p] * sum(for q in ..={at} {{ t[q].sin() }}) + sum(for q in {at}.. {{ x[q] }})
                }})
            }}"
        ));
    }
}

/// Against loops over numbers, at sizes of which some are none or one.
#[test]
fn members_come_in_the_order_of_their_numbers() {
    let program = lowered(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (Table<(N, M), f64>, Table<(N, M), f64>, Table<(N, M), f64>, Table<(N, M), f64>) {
            let mut acc = Accum::zeros((N, M));
            for p in (N, M) { for q in ..p { acc[q] += x[p]; } }
            (
                for p in (N, M) { sum(for q in ..p { x[q] }) },
                for p in (N, M) { max(for q in p.. { x[q] }) },
                for p in (N, M) {
                    let t = for q in ..=p { x[q] + 1.0 };
                    let mut s = 0.5;
                    for q in (..=p).rev() { s = 0.5 * s + t[q]; }
                    s
                },
                acc.get(),
            )
        }",
    );
    for (n, m) in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (4, 1), (3, 5)] {
        let size = n * m;
        let x: Vec<f64> = (0..size).map(|k| ((k * 7 + 3) % 11) as f64 / 4.0).collect();
        let table = |of: &dyn Fn(usize) -> f64| Data::f64s(&[n, m], (0..size).map(of));
        let expected = [
            table(&|p| x[..p].iter().sum()),
            table(&|p| x[p..].iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            table(&|p| x[..=p].iter().rfold(0.5, |s, x| 0.5 * s + (x + 1.0))),
            table(&|q| x[q + 1..].iter().sum()),
        ];
        let inputs = Inputs {
            sizes: vec![n, m],
            params: vec![Data::f64s(&[n, m], x.iter().copied())],
        };
        let (found, _) = run(&program, &inputs).expect("it runs");
        assert_eq!(found, expected, "at {n} and {m}");
    }
}

/// What is read at a member that the range does not have panics.
#[test]
fn members_outside_of_the_range() {
    let program = lowered(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, at: usize, of: usize) -> f64 {
            let member = |k: usize| (N::from_ordinal(k / size(M)), M::from_ordinal(k % size(M)));
            let (p, o) = (member(at), member(of));
            let t = for q in p.. { x[q] };
            t[o]
        }",
    );
    for of in 0..6_usize {
        let inputs = Inputs {
            sizes: vec![2, 3],
            params: vec![
                Data::f64s(&[2, 3], (0..6).map(f64::from)),
                2_usize.into(),
                of.into(),
            ],
        };
        match run(&program, &inputs) {
            Ok((found, _)) => {
                assert!(of >= 2);
                assert_eq!(found, [Data::from(of as f64)]);
            }
            Err(error) => assert!(of < 2, "{of}: {error}"),
        }
    }
}
