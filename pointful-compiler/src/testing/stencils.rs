//! Random loops of the host whose steps are kernels over the same rows: neighbours, products of
//! matrices, sums that each step adds up; and such kernels without a loop.

use super::rng::Rng;

const PARAMS: &str =
    "x: &Table<(I, J), f64>, y: &Table<(I, J), f64>, w: &Table<(J, J), f64>, c: &Table<T, f64>";

/// The function itself and transformations of it: what is given beside its parameters, the result,
/// and how that is computed.
const FORMS: [[&str; 3]; 6] = [
    ["", "f64", "f(x, y, w, c)"],
    ["", "f64", "f(x, y, w, c)"],
    [
        "",
        "(Table<(I, J), f64>, Table<(I, J), f64>, Table<(J, J), f64>, Table<T, f64>)",
        "grad!(f)(x, y, w, c)",
    ],
    [
        "",
        "(Table<(I, J), f64>, Table<T, f64>)",
        "grad!(f, wrt = (x, c))(x, y, w, c)",
    ],
    [
        "d: &Table<T, f64>",
        "f64",
        "let (v, t) = jvp!(f, wrt = c)(x, y, w, c, d); v * t",
    ],
    [
        "d: &Table<(B, T), f64>",
        "Table<B, f64>",
        "vmap!(f, over = c)(x, y, w, d)",
    ],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_stencils(rng: &mut Rng) -> String {
    let mut writer = Writer { rng };
    let steps = match writer.rng.below(10) {
        0..7 => {
            let order = writer.rng.pick(&["T", "T", "T.rev()"]);
            format!("for k in {order} {{ {} }}", writer.steps("c[k]"))
        }
        7 => format!(
            "for k in T {{ {} }} for k in T {{ {} }}",
            writer.steps("c[k]"),
            writer.steps("c[k]")
        ),
        _ => [writer.steps("0.7"), writer.steps("0.4")].concat(),
    };
    let [given, result, value] = FORMS[writer.rng.below(FORMS.len())];
    format!(
        "fn f<I: IndexSet, J: IndexSet, T: IndexSet>({PARAMS}) -> f64 {{
            let mut u = for (i, j) in (I, J) {{ x[i][j].sin() }};
            let mut v = for (i, j) in (I, J) {{ y[i][j] * 0.5 }};
            let mut s = 0.0; let mut m = 0.0;
            {steps}
            s + m.tanh() + sum(for (i, j) in (I, J) {{ u[i][j] * (1.0 + v[i][j]) }})
        }}
        #[pointful]
        fn g<I: IndexSet, J: IndexSet, T: IndexSet, B: IndexSet>({PARAMS}, _b: &Table<B, f64>, {given}) -> {result} {{ {value} }}"
    )
}

struct Writer<'r> {
    rng: &'r mut Rng,
}

impl Writer<'_> {
    /// Some statements of a step with this number.
    fn steps(&mut self, number: &str) -> String {
        let statements = (0..1 + self.rng.below(3)).map(|_| self.step(number));
        statements.collect::<Vec<_>>().concat()
    }

    fn step(&mut self, number: &str) -> String {
        let (table, near) = (self.rng.pick(&["u", "u", "v"]), self.near(1));
        match self.rng.below(8) {
            0..3 => format!(
                "{table} = for (i, j) in (I, J) {{ 0.4 * {near} + {number} * {table}[i][j] }}; "
            ),
            3 => format!("{table} = for (i, j) in (I, J) {{ ({table}[i][j] * {number}).sin() }}; "),
            4 => format!(
                "{table} = for (i, j) in (I, J) {{ 0.1 * sum(for l in J {{ {table}[i][l] * w[l][j] }}) }}; "
            ),
            5 => format!("s += {number} * sum(for (i, j) in (I, J) {{ {near} }}); "),
            6 => format!(
                "let p = sum(for i in I {{ sum(for j in J {{ {near} }}).cos() }}); s += p; m = p * {number}; "
            ),
            _ => format!("m = m.max(max(for (i, j) in (I, J) {{ {near} * {number} }})); "),
        }
    }

    /// A number for `i` and `j`, of elements near by.
    fn near(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.chance(60) {
            let [a, b] = [0, 1].map(|_| self.near(depth - 1));
            let form = self.rng.pick(&["(A - B)", "A * B", "(A + B).sin()"]);
            return form.replace('A', &a).replace('B', &b);
        }
        let (table, far) = (self.rng.pick(&["u", "u", "v"]), 1 + self.rng.below(2));
        let row = match self.rng.below(8) {
            0 | 1 => "i".to_owned(),
            2 => format!("(i + {far}).clamp()"),
            3 => format!("(i - {far}).mirror()"),
            4 => format!("(i - {far}).clamp()"),
            5 => format!("(i + {far}).wrap()"),
            6 => "(i + 1).mirror()".to_owned(),
            _ => "i".to_owned(),
        };
        let column = self
            .rng
            .pick(&["j", "j", "(j + 1).wrap()", "(j - 1).clamp()"]);
        format!("{table}[{row}][{column}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{FUSED_ROWS, KEPT_AT_ONCE, STEPS_ADD_UP, TIME_TILED};

    /// Members of `I`, `J`, `T` and `B`.
    const SIZES: [&[usize]; 5] = [
        &[5, 2, 3, 2],
        &[1, 3, 2, 1],
        &[7, 1, 4, 1],
        &[0, 2, 2, 1],
        &[3, 2, 0, 2],
    ];

    #[test]
    fn random_stencils_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_stencils(rng);
            check_source(&source, &SIZES, &[3, 2, 2], rng, seed)
        };
        let counters = [
            ("steps run by tiles of rows", &TIME_TILED),
            ("such steps add up", &STEPS_ADD_UP),
            (
                "what neighbours read is kept where it is stored",
                &KEPT_AT_ONCE,
            ),
            ("kernels without a loop run by tiles of rows", &FUSED_ROWS),
        ];
        entered_by(0..100, check, &counters);
    }
}
