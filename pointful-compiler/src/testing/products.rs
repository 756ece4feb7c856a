//! Random sums of products of arrays with several axes: batches, axes in any order, sums over
//! several axes at once or one in another, at lengths about those at which a library multiplies.
//! What they give is looked at along different axes, so that it is stored anyway.

use super::Rng;

/// An axis: the name of its set, its index, and whether the factors have it.
const AXES: [(char, char, [bool; 2]); 6] = [
    ('B', 'n', [true, true]),
    ('I', 'i', [true, false]),
    ('H', 'h', [true, false]),
    ('J', 'j', [false, true]),
    ('K', 'k', [true, true]),
    ('L', 'l', [true, true]),
];

/// How often each is there, in percent.
const THERE: [usize; 6] = [70, 100, 20, 100, 100, 40];

/// Where the summed axes begin.
const SUMMED: usize = 4;

/// A random function of the language that gives a number, and one that is its gradient.
pub fn random_products(rng: &mut Rng) -> String {
    let elem = rng.pick(&["f64", "f64", "f32"]);
    let there: Vec<usize> = (0..AXES.len()).filter(|&k| rng.chance(THERE[k])).collect();
    let sets: Vec<String> = AXES
        .iter()
        .map(|(set, ..)| match rng.below(4) {
            0 => format!("Fin<{}>", 7 + rng.below(3)),
            _ => set.to_string(),
        })
        .collect();
    let generics: Vec<String> = there
        .iter()
        .filter(|&&k| !sets[k].starts_with("Fin"))
        .map(|&k| format!("{}: IndexSet", sets[k]))
        .collect();
    let generics = generics.join(", ");
    let mut factors = Vec::new();
    for factor in 0..2 {
        let mut own: Vec<usize> = there.clone();
        own.retain(|&k| AXES[k].2[factor]);
        for k in (1..own.len()).rev() {
            own.swap(k, rng.below(k + 1));
        }
        let set = own.iter().map(|&k| sets[k].as_str()).collect::<Vec<_>>();
        let read: String = own.iter().map(|&k| format!("[{}]", AXES[k].1)).collect();
        factors.push((format!("Table<({}), {elem}>", set.join(", ")), read));
    }
    let names = |axes: &[usize]| {
        let names: Vec<String> = axes.iter().map(|&k| AXES[k].1.to_string()).collect();
        names.join(", ")
    };
    let (result, summed): (Vec<usize>, Vec<usize>) = there.iter().partition(|&&k| k < SUMMED);
    let product = format!("a{} * b{}", factors[0].1, factors[1].1);
    let sum = match (summed.as_slice(), rng.chance(50)) {
        ([k, l], true) => {
            let (k, l) = (AXES[*k].1, AXES[*l].1);
            format!("sum(for {k} in _ {{ sum(for {l} in _ {{ {product} }}) }})")
        }
        ([k], _) => format!("sum(for {} in _ {{ {product} }})", AXES[*k].1),
        _ => format!("sum(for ({}) in _ {{ {product} }})", names(&summed)),
    };
    let at: String = result.iter().map(|&k| format!("[{}]", AXES[k].1)).collect();
    let look = rng.pick(&[
        "C.sin()",
        "C * C",
        "0.5 * C + (0.1 * C).tanh()",
        "if C > 0.25 { C } else { 0.5 * C }",
    ]);
    let look = look.replace('C', &format!("c{at}"));
    let all = names(&result);
    let (a, b) = (&factors[0].0, &factors[1].0);
    format!(
        "#[pointful]
        fn f<{generics}>(a: &{a}, b: &{b}) -> {elem} {{
            let c = for ({all}) in _ {{ {sum} }};
            sum(for ({all}) in _ {{ {look} }})
        }}
        #[pointful]
        fn g<{generics}>(a: &{a}, b: &{b}) -> ({a}, {b}) {{ grad!(f)(a, b) }}"
    )
}

/// Random windows of a table of one or two axes, of several tables, multiplied by several weights:
/// a function that gives a number made of these, and one that gives them all, or the number's
/// gradient.
pub fn random_windows(rng: &mut Rng) -> String {
    let elem = rng.pick(&["f64", "f64", "f32"]);
    let rank = 1 + usize::from(rng.chance(70));
    let mut generics = Vec::new();
    let mut set = |rng: &mut Rng, name: &str| match rng.chance(30) {
        true => format!("Fin<{}>", 7 + rng.below(3)),
        false => {
            generics.push(format!("{name}: IndexSet"));
            name.to_string()
        }
    };
    let [samples, channels, kept] = ["S", "C", "K"].map(|name| set(rng, name));
    let (mut places, mut windows, mut read) = (Vec::new(), Vec::new(), String::new());
    for (name, index, offset) in [("Y", "y", "p"), ("X", "x", "q")].into_iter().take(rank) {
        places.push(set(rng, name));
        windows.push(format!("Fin<{}>", 2 + rng.below(2)));
        let times = rng.pick(&["", "", "2 * "]);
        let before = rng.pick(&["", " - 1"]);
        let edge = rng.pick(&["clamp", "wrap", "mirror"]);
        read += &format!("[({index} + {times}{offset}.ordinal(){before}).{edge}()]");
    }
    let (places, windows) = (places.join(", "), windows.join(", "));
    let (at, within) = [("y", "p"), ("y, x", "p, q")][rank - 1];
    let weight = ["[p]", "[p][q]"][rank - 1];
    let product = format!("w[k][c]{weight} * t[s][c]{read}");
    let sum = match rng.chance(50) {
        true => format!("sum(for (c, {within}) in _ {{ {product} }})"),
        false => format!("sum(for c in _ {{ sum(for ({within}) in _ {{ {product} }}) }})"),
    };
    let sum = sum.replace("(p)", "p");
    let generics = generics.join(", ");
    let params = format!(
        "t: &Table<({samples}, {channels}, {places}), {elem}>, w: &Table<({kept}, {channels}, {windows}), {elem}>"
    );
    let all = format!("Table<({samples}, {kept}, {places}), {elem}>");
    let (given, last) = match rng.chance(50) {
        true => (all.clone(), "layer(t, w)"),
        false => (
            format!("Table<({kept}, {channels}, {windows}), {elem}>"),
            "grad!(f, wrt = w)(t, w)",
        ),
    };
    let elements = ["[y]", "[y][x]"][rank - 1];
    format!(
        "#[pointful]
        fn layer<{generics}>({params}) -> {all} {{ for (s, k, {at}) in _ {{ {sum} }} }}
        #[pointful]
        fn f<{generics}>({params}) -> {elem} {{
            let c = layer(t, w);
            sum(for (s, k, {at}) in _ {{ c[s][k]{elements}.sin() }})
        }}
        #[pointful]
        fn g<{generics}>({params}) -> {given} {{ {last} }}"
    )
}

/// A range of few members, whatever the set.
const WINDOW: &str = "i.ordinal()..(i.ordinal() + 3).min(size(ROWS))";

/// Random sums of products over the members of a triangle, or of those for which a condition holds:
/// a function that gives a number made of them, and one that is its gradient or its tangent.
pub fn random_triangles(rng: &mut Rng) -> String {
    let elem = rng.pick(&["f64", "f64", "f32"]);
    let mut generics = Vec::new();
    let mut set = |rng: &mut Rng, name: &str| match rng.chance(25) {
        true => format!("Fin<{}>", 7 + rng.below(3)),
        false => {
            generics.push(format!("{name}: IndexSet"));
            name.to_string()
        }
    };
    let [rows, columns, inner] = ["N", "J", "C"].map(|name| set(rng, name));
    let generics = generics.join(", ");
    let rows_set = rows.replace("Fin<", "Fin::<");
    let range = rng.pick(&["..i", "..=i", "i..", "(i..).skip(1)", WINDOW, "all", "all"]);
    let cond = rng.pick(&[
        "k < i",
        "k <= i",
        "k > i",
        "(k.ordinal() + i.ordinal()) % 2 == 0",
    ]);
    let sum = |of: &str| match range {
        "all" => format!("sum(for k in _ {{ if {cond} {{ {of} }} else {{ 0.0 }} }})"),
        _ => format!("sum(for k in {range} {{ {of} }})").replace("ROWS", &rows_set),
    };
    let left = match range {
        WINDOW => rng.pick(&["a[i][k]", "a[k][i]", "a[i][k] * k as f32 as EL"]),
        _ => rng.pick(&["a[i][k]", "a[k][i]", "a[i][k].sin()", "a[i][k] * d(k)"]),
    };
    let left = left.replace("EL", elem);
    let right = rng.pick(&["b[k][j]", "b[k][j]", "b[k][j].cos()"]);
    let product = sum(&format!("{left} * {right}"));
    let rest = match (range, rng.below(4)) {
        ("all" | WINDOW, _) | (_, 0) => String::new(),
        (_, 1) => format!(" + sum(for k in {range} {{ {left} }})"),
        (_, 2) => format!(" + max(for k in {range} {{ {left} + d(k) }}).clamp(-1.0, 1.0)"),
        (_, _) => format!(" * prod(for k in {range} {{ 0.9 + 0.1 * {left} }})"),
    };
    let scores = format!(
        "let c = for (i, j) in _ {{
            let s = for k in {range} {{ sum(for l in _ {{ q[i][l] * b[k][l] }}) }};
            let high = max(s).clamp(-1.0, 1.0);
            {}
        }};",
        sum("(s[k] - high).exp() * b[k][j]"),
    );
    // What is read at a member's own place is read of a table over the range.
    let made = match rng.chance(25) && matches!(range, "..i" | "..=i") {
        true => scores,
        false => format!("let c = for (i, j) in _ {{ {product}{rest} }};"),
    };
    let params = format!(
        "a: &Table<({rows}, {rows}), {elem}>, b: &Table<({rows}, {columns}), {elem}>, \
         q: &Table<({rows}, {columns}), {elem}>, w: &Table<{inner}, {elem}>"
    );
    let square = format!("Table<({rows}, {rows}), {elem}>");
    let table = format!("Table<({rows}, {columns}), {elem}>");
    let (given, last) = match rng.chance(70) {
        true => (
            format!("({square}, {table}, {table})"),
            "grad!(f, wrt = (a, b, q))(a, b, q, w)",
        ),
        false => (
            elem.to_owned(),
            "let (v, t) = jvp!(f, wrt = b)(a, b, q, w, q); v * t",
        ),
    };
    let generic = |list: &str| match list {
        "" => "<Z: IndexSet>".to_owned(),
        list => format!("<{list}>"),
    };
    let generics = generic(&generics);
    let d = format!("fn d(k: {rows}) -> {elem} {{ k.ordinal() as {elem} * 0.125 }}");
    let d = match rows.starts_with("Fin") {
        true => d,
        false => d.replacen("fn d", "fn d<N: IndexSet>", 1),
    };
    format!(
        "#[pointful]
        {d}
        #[pointful]
        fn f{generics}({params}) -> {elem} {{
            {made}
            sum(for (i, j) in _ {{ c[i][j].sin() }}) + sum(w) + 0.1 * sum(for (i, k) in _ {{ a[i][k] }})
        }}
        #[pointful]
        fn g{generics}({params}) -> {given} {{ {last} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonicalize::{cse, dce, simplify};
    use crate::eval::compare::{Tolerance, difference};
    use crate::eval::run_limited;
    use crate::expand::{expand, rectangular_hull};
    use crate::ir::verify::verify;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{AT_ONCE, HULLS, MASKED, PANELS, STORED};
    use crate::testing::source::{inputs_of, lowered};

    #[test]
    fn random_products_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_products(rng);
            let sizes = [
                [2, 3, 2, 3, 2, 2],
                [1, 2, 1, 1, 3, 1],
                [0, 2, 1, 2, 1, 0],
                [2; 6],
            ];
            check_source(&source, &sizes, &[2, 1, 2, 1, 2, 1], rng, seed)
        };
        let counters = [
            ("what is stored anyway is multiplied by a library", &STORED),
            ("sums of sums are taken at once", &AT_ONCE),
        ];
        entered_by(0..60, check, &counters);
    }

    #[test]
    fn random_triangles_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_triangles(rng);
            let sizes = [[9, 3, 2], [2, 2, 1], [1, 9, 1], [0, 2, 0], [3, 0, 1]];
            same_as_triangles(&source, &sizes, rng)?;
            check_source(&source, &sizes, &[3, 2, 2], rng, seed)
        };
        let counters = [
            ("triangles become rectangles", &HULLS),
            (
                "products under a condition are multiplied by a library",
                &MASKED,
            ),
        ];
        entered_by(0..80, check, &counters);
    }

    /// Whether a function of rectangles gives what it gives of triangles.
    fn same_as_triangles(source: &str, sizes: &[[usize; 3]], rng: &mut Rng) -> Result<(), String> {
        let (function, _) = source
            .rsplit_once("#[pointful]")
            .expect("there are several");
        let point = lowered(function.trim_end());
        let bulk = dce(cse(simplify(expand(point.clone()))));
        let hull = rectangular_hull(bulk.clone());
        verify(&hull).map_err(|error| format!("{error}\n{source}"))?;
        for sizes in sizes {
            let own = sizes[..point.sizes.len().min(sizes.len())].to_vec();
            let inputs = inputs_of(&point, own, rng);
            let [before, after] =
                [&bulk, &hull].map(|program| run_limited(program, &inputs, 1_000_000));
            let ((before, _), (after, _)) = match (before, after) {
                (Ok(before), Ok(after)) => (before, after),
                (before, after) => return Err(format!("{before:?}, {after:?}\n{source}")),
            };
            for (a, b) in before.iter().zip(&after) {
                if let Some(what) = difference(a, b, Tolerance::default()) {
                    return Err(format!("{sizes:?}: {what}\n{source}"));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn random_windows_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_windows(rng);
            let sizes = [[2, 2, 3, 4, 5], [1, 3, 1, 1, 2], [2, 0, 2, 3, 1], [1; 5]];
            check_source(&source, &sizes, &[2, 1, 2, 2, 3], rng, seed)
        };
        entered_by(
            0..40,
            check,
            &[("windows are multiplied in panels", &PANELS)],
        );
    }
}
