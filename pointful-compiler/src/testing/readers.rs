//! Random functions that read a value in several ways, some of which ignore it: in a branch, as the
//! beginning of a loop that does not use it, or has no iteration, or at one place.

use super::rng::Rng;

const PARAMS: &str = "a: &Table<K, f64>, b: &Table<K, f64>, m: &Table<K, usize>, u: f64, n: usize";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(a, b, m, u, n)"],
    [
        "(Table<K, f64>, f64)",
        "grad!(f, wrt = (a, u))(a, b, m, u, n)",
    ],
    ["f64", "jvp!(f, wrt = (a, u))(a, b, m, u, n, b, 0.3).1"],
    ["f64", "hvp!(f, wrt = u)(a, b, m, u, n, 0.7)"],
    [
        "Table<K, f64>",
        "grad!(|c: &Table<K, f64>| jvp!(f, wrt = u)(c, b, m, u, n, 1.0).1)(a)",
    ],
];

/// What reads the number `s`, or the table `r`. `C` is a condition.
const READERS: [&str; 28] = [
    "total += if C { s } else { u };",
    "total += if C { u * s } else { s.cos() };",
    "total += match n { 0 => s, 1 => u * s, _ => u };",
    "total += s.max(u);",
    "let mut w = s; for k in K { w = b[k]; } total += w;",
    "let mut w = s; for k in K { w = if m[k] % 2 == 0 { 0.5 * w + b[k] } else { a[k] }; } total += w;",
    "let mut w = s; let mut z = u; for k in K { if C { z = 0.5 * z + w; } w = 0.7 * z * b[k]; } total += w + z;",
    "let mut w = s; let mut z = u; for _k in 0..n { if C { z += w; } w = 0.3 * z; } total += w + z;",
    "let mut w = s; let mut k = 0; while k < n { w = u; k += 1; } total += w;",
    "let mut w = s; for k in K.rev() { let mut y = w; for j in K { if m[j] > 1 { y = b[j]; } } w = y * a[k]; } total += w;",
    "total += reduce(s, |_p: f64, q: f64| q, b);",
    "let mut w = r; for k in K { w[(k + 1).wrap()] = b[k]; } total += sum(w);",
    "let mut w = r; for k in K { if b[k] > 0.1 { w[k] = 0.3; } } total += sum(w * b);",
    "let mut w = r; for _k in 0..n { w = b; } total += sum(w);",
    "for k in K { if C { total += r[k] * b[k]; } }",
    "total += sum(for k in K { if a[k] > 0.3 { r[k] } else { s } });",
    "let mut w = for k in K { sum(for j in K { (a[k] * b[j]).sin() }) }; for _q in 0..n { let z = 0.1 * sum(w); w = for k in K { z * a[k] }; } total += sum(for k in K { if a[k] > 0.3 { w[k] } else { s } });",
    "let mut w = for k in K { sum(for j in K { (a[k] * b[j]).sin() }) }; let mut z = 0.1; for _q in 0..n { w = for k in K { 0.5 * w[k] * a[k] + z }; z *= s; } total += sum(for k in K { if a[k] > 0.3 { w[k] } else { s } });",
    "let t = for k in K { b.get(k - 1).unwrap_or(u) }; let mut w = s; for k in K { if w > 0.1 { w = (if t[0] > a[k] { u } else { r[k] }).sin(); } } total += w;",
    "let mut p = r; let mut q = b; for k in K { let t = for j in 0..m[k] { (a[k] * s + j as f64).sin() }; p[k] = sum(t); q[k] = sum(t * t); } total += p.get(1).unwrap_or(s) + sum(q * b);",
    "let p = for k in K { let t = for _j in 0..k.ordinal() { a[k] * u }; match t.get(1) { Some(_) => r[k], None => sum(t) } }; total += p.get(n).unwrap_or(s);",
    "let p = for k in K { let t = for j in 0..m[k] { a[k] * s + j as f64 }; t.get(n).unwrap_or(u) + 0.1 * sum(t) }; total += p.get(1).unwrap_or(s);",
    "let t = for j in K { for k in K { b.get(k - 3).unwrap_or(u) } }; let mut w = u; for k in K { w = if w > 0.1 { if k.ordinal() % 3 == n || t[k][0] > u { u * w } else { 0.3 } } else { u }; } let mut z = r; for _q in 0..3 { z = for k in K { w * z[k] }; } total += sum(z);",
    "let t = for j in K { for k in K { b.get(k - 1).unwrap_or(s) } }; let mut w = s; for k in K { w = 0.5 * w + (if w * w > u { let e = if m[k] % 3 == 1 || t[k][0] > 0.9 { a[k] } else { b.get(k + 3).unwrap_or(0.25) }; e.sin() } else { u }).tanh(); } total += w;",
    "let mut w = r; for k in K { if C { w[k] = 0.1 * sum(for j in 0..m[k] { if k.ordinal() > 3 || w[K::from_ordinal(j % size(K))] < u { u * s } else { 0.3 } }); } } total += sum(w);",
    "total += sum(for k in K { sum(for j in 0..n { if b[0] < u { a[k] * a[K::from_ordinal(j % size(K))] } else { u } }).sin() });",
    "total += if C { let mut p = for _k in K { u }; for k in K { p[(k + 1).wrap()] += s * s; } if p.get(1).unwrap_or(s) > 0.4 { a.get(0).unwrap_or(0.3) * s } else { u } } else { s };",
    "let mut w = s; for _q in 0..n { w = if w > 0.1 { let mut p = for _k in K { u }; for k in K { p[(k + 1).wrap()] += u * s; } let e = if p.get(0).unwrap_or(u) > s { s.abs() } else { u }; e + 0.1 * sum(a) } else { u }; } total += w;",
];

const CONDITIONS: [&str; 4] = ["n > 1", "u > 0.1", "sum(b) > 0.0", "s > 0.2"];

/// A function `f` and, of some form, `g` of it.
fn random_readers(rng: &mut Rng) -> String {
    let readers: Vec<String> = (0..2 + rng.below(3))
        .map(|_| rng.pick(&READERS).replace('C', rng.pick(&CONDITIONS)))
        .collect();
    let readers = readers.join("\n");
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<K: IndexSet>({PARAMS}) -> f64 {{
            let s = (u * 0.7).sin() * (1.2 + 0.1 * sum(a).cos());
            let r = for k in K {{ (a[k] * u).sin() * b[k].exp() }};
            let mut total = 0.3 * u;
            {readers}
            total
        }}
        fn g<K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        ASKED_SOMETIMES, ASKED_WHERE, BEGUN_APART, FILLED_BEHIND, GUARDED_IF_THERE, PLACED,
        PLACED_APART, SAID_IN_PART, TAPED_IN_FULL, WANTED_BEFORE, WANTED_WHOLE,
    };

    /// Members of `K`.
    const SIZES: [[usize; 1]; 4] = [[0], [1], [2], [5]];

    #[test]
    fn random_readers_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_readers(rng);
            let smooth = rng.pick(&[0, 1, 4]);
            check_source(&source, &SIZES, &[smooth], rng, seed)
        };
        let counters = [
            ("a product stands behind a condition", &ASKED_WHERE),
            ("or a zero absorbs its factor", &ASKED_SOMETIMES),
            ("a loop is begun with what it ignores", &BEGUN_APART),
            (
                "of what a loop gives some is wanted, all before it",
                &WANTED_WHOLE,
            ),
            ("and the same before it", &WANTED_BEFORE),
            (
                "of a condition is known in part where it says something",
                &SAID_IN_PART,
            ),
            ("a table is filled behind a guard", &FILLED_BEHIND),
            ("what says nothing is copied to a tape", &TAPED_IN_FULL),
            (
                "a guard says nothing where a loop has no iteration",
                &GUARDED_IF_THERE,
            ),
            ("what is added at one place is added to a table", &PLACED),
            ("or stays apart", &PLACED_APART),
        ];
        entered_by(0..120, check, &counters);
    }
}
