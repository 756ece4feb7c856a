//! Random loops whose iterations change a table as long as the data say: stacks, heaps, searches for a
//! place, sweeps up to a member.

use super::rng::Rng;

const PARAMS: &str = "x: &Table<N, f64>, z: &Table<M, f64>, a: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 6] = [
    ["f64", "f(x, z, a)"],
    ["(Table<N, f64>, Table<M, f64>, f64)", "grad!(f)(x, z, a)"],
    ["Table<N, f64>", "grad!(f, wrt = x)(x, z, a)"],
    ["f64", "let (v, t) = jvp!(f, wrt = x)(x, z, a, x); v * t"],
    ["Table<N, f64>", "hvp!(f, wrt = x)(x, z, a, x)"],
    [
        "Table<N, f64>",
        "grad!(f, wrt = x)(x, z, a) + grad!(f, wrt = x)(x, z, 0.3)",
    ],
];

/// What a trip does at place `k` of the table; there is one before it.
const TRIPS: [&str; 8] = [
    "let p = t[at(k - 1)]; t[at(k - 1)] = 0.9 * t[at(k)]; t[at(k)] = p.sin();",
    "t[at(k - 1)] = 0.5 * t[at(k - 1)] * t[at(k)];",
    "if t[at(k)] > t[at(k - 1)] { t[at(k)] = 0.7 * t[at(k)] * t[at(k - 1)] + 0.1; }",
    "c = 0.5 * c + t[at(k)].cos(); t[at(k)] = 0.9 * t[at(k)] + 0.05 * c;",
    "t[at(k)] = a * t[at(k)]; u[at(k)] = u[at(k)] + t[at(k - 1)].sin();",
    "c += t[at(k)] * u[at(k - 1)]; u[at(k - 1)] = c.sin();",
    "t = 0.9 * t + 0.1 * t[at(k)].sin();",
    "t = for i in N { 0.5 * (t[i] + t[(i - 1).clamp()]).sin() };",
];

/// How long that goes on. `s` is the member of the outer loop.
const ROUNDS: [&str; 10] = [
    "let mut k = s.ordinal(); while k > 0 { TRIP k /= 2; }",
    "let mut k = s.ordinal(); while k > 0 && t[at(k - 1)] > t[at(k)] { TRIP k -= 1; }",
    "t[at(top)] = x[s] - y; top += 1; while top > 1 && t[at(top - 2)] > t[at(top - 1)] { let k = top - 1; TRIP top -= 1; }",
    "for j in 0..s.ordinal() { let k = j + 1; TRIP }",
    "if x[s] > y { let mut k = s.ordinal(); while k > 0 { TRIP k /= 3; } }",
    "let mut k = 1; let mut m = 0; while m < 3 && k < size(N) { TRIP k += 2; m += 1; }",
    "let mut k = s.ordinal(); while k > 0 { TRIP k /= 2; } let mut k = s.ordinal(); while k > 0 { c = 0.5 * c + t[at(k - 1)] * x[s]; k /= 3; }",
    "t = for i in N { 0.9 * t[i] + 0.1 * x[s] }; let mut k = s.ordinal(); while k > 0 { u[at(k)] = u[at(k)] * t[at(k)].sin(); TRIP k /= 2; }",
    "let o = t.clone(); for j in 0..s.ordinal() { let e = if x[at(j)] < y { o[at(j)].exp() } else { c }; if e > a { t[at(j)] += 0.1 * e; } }",
    "let n = if x[s] > 0.0 { s.ordinal() } else { 0 }; for j in 0..n { let k = n - j; TRIP }",
];

/// The loops around it.
const NESTS: [&str; 5] = [
    "for s in N { ROUND }",
    "for s in N { ROUND }",
    "for s in N.rev() { ROUND }",
    "for _r in 0..2 { top = 0; for s in N { ROUND } c += 0.1 * t[0]; }",
    "for r in N { if y + x[r] > 0.2 { top = 0; for s in N { ROUND } } }",
];

/// A function `f` and, of some form, `g` of it.
fn random_tapes(rng: &mut Rng) -> String {
    let nest = rng.pick(&NESTS).replace("ROUND", rng.pick(&ROUNDS));
    let nest = nest.replace("TRIP", rng.pick(&TRIPS));
    let form = rng.pick(&FORMS);
    // One table of them, or one of each lane.
    let ends = rng.pick(&[
        ["let y = 0.5;", "r * sum(z)"],
        ["sum(for m in M { let y = z[m];", "r })"],
    ]);
    match rng.below(4) {
        0 => over_members(&tapes(&nest, form, ends), 5),
        _ => tapes(&nest, form, ends),
    }
}

fn tapes(nest: &str, [result, value]: [&str; 2], [begin, end]: [&str; 2]) -> String {
    let nest = nest.replace("at(", "N::from_ordinal(");
    format!(
        "fn f<N: IndexSet, M: IndexSet>({PARAMS}) -> f64 {{
            {begin}
            let mut t = for i in N {{ (x[i] + y).sin() }};
            let mut u = 0.3 * x;
            let mut c = a;
            let mut top = 0;
            {nest}
            let r = sum(for i in N {{ t[i] * (x[i] + u[i]) }}) + c;
            {end}
        }}
        fn g<N: IndexSet, M: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

/// The same over a set of so many members.
fn over_members(source: &str, members: u32) -> String {
    let known = [
        ("<N: IndexSet, M: IndexSet>", "<M: IndexSet>"),
        ("<N, f64>", "<Fin<L>, f64>"),
        ("in N", "in Fin::<L>"),
        ("N::", "Fin::<L>::"),
        ("(N)", "(Fin::<L>)"),
        ("<L>", &format!("<{members}>")),
    ];
    (known.iter()).fold(source.to_owned(), |source, (from, to)| {
        source.replace(from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{READ_AROUND, RUN_AGAIN, RUN_ONCE, TAPED, TAPED_WHOLE};

    /// Members of `N` and `M`.
    const SIZES: [[usize; 2]; 4] = [[1, 1], [2, 0], [5, 3], [9, 2]];

    #[test]
    fn random_tapes_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_tapes(rng);
            check_source(&source, &SIZES, &[3, 2], rng, seed)
        };
        let counters = [
            ("what rounds keep is on a tape", &TAPED),
            ("a `while` whose trips are known does not count", &RUN_ONCE),
            ("a round runs again", &RUN_AGAIN),
            ("what rounds read of other tables is kept", &READ_AROUND),
            ("some elements of a row are kept", &TAPED_WHOLE),
        ];
        entered_by(0..100, check, &counters);
    }

    #[test]
    fn short_tables_are_kept_and_long_ones_taped() {
        let counters = [(ROUNDS[0], &TAPED), (ROUNDS[7], &READ_AROUND)];
        for ((round, counter), (members, taped)) in counters
            .into_iter()
            .flat_map(|round| [(round, (64, false)), (round, (65, true))])
        {
            let nest = NESTS[0].replace("ROUND", round).replace("TRIP", TRIPS[1]);
            let source = tapes(&nest, FORMS[1], ["let y = 0.5;", "r * sum(z)"]);
            let source = over_members(&source, members);
            counter.set(0);
            let checked = check_source(&source, &[[2]], &[2], &mut Rng::new(1), 1);
            assert_eq!(checked, Ok(true));
            assert_eq!(counter.get() > 0, taped, "{members}: {round}");
        }
    }
}
