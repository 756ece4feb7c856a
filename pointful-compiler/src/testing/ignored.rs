//! Random programs that compute something at each element, and ignore it at some of them, where it
//! has no derivative.
//!
//! What is ignored contributes nothing: the derivatives have the bits of those of a program in
//! which it is a constant. So they are the same whatever is at the ignored places, numbers at which
//! the functions have derivatives or numbers at which they have none.

use std::fmt::Write;

use super::derivative::{derivative, expanded};
use super::rng::Rng;
use crate::eval::{Data, Inputs, ScalarValue, run_limited};
use crate::ir::stages::point::Point;
use crate::ir::{Elem, Mode, Program, parse};

/// Elements of the tables.
const ELEMENTS: usize = 5;

/// Steps that a program may take.
const STEPS: u64 = 2_000_000;

/// How something is ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Ignores {
    Branch,
    BranchOnItself,
    BranchOfSome,
    BranchOnALoop,
    OneOfTwo,
    Kink,
    Extremum,
    PlaceOfExtremum,
    Lookup,
    Overwritten,
    State,
    StateInLanes,
    LastValue,
    Operator,
    Product,
    Compared,
}

const ALL: [Ignores; 16] = [
    Ignores::Branch,
    Ignores::BranchOnItself,
    Ignores::BranchOfSome,
    Ignores::BranchOnALoop,
    Ignores::OneOfTwo,
    Ignores::Kink,
    Ignores::Extremum,
    Ignores::PlaceOfExtremum,
    Ignores::Lookup,
    Ignores::Overwritten,
    Ignores::State,
    Ignores::StateInLanes,
    Ignores::LastValue,
    Ignores::Operator,
    Ignores::Product,
    Ignores::Compared,
];

/// A program, and which of its elements it looks at.
struct Ignoring {
    how: Ignores,
    program: Program<Point>,
    kept: Vec<bool>,
}

/// Functions that have no derivative at zero or below it, one after the other, of `x` and `y`.
fn functions(rng: &mut Rng, plain: bool) -> String {
    let mut text = String::from("%x = index x[%i] %y = index y[%i] ");
    let mut value = "%x".to_owned();
    let count = if plain { 1 } else { 1 + rng.below(3) };
    for k in 0..count {
        let first: &[&str] = &["sqrt V", "ln V"];
        let others = [
            "sqrt V",
            "ln V",
            "recip V",
            "div %y, V",
            "mul V, %y",
            "mul V, V",
            "powf V, %half",
        ];
        let form = match k {
            0 if plain => rng.pick(first),
            0 => rng.pick(&["sqrt V", "ln V", "recip V", "div %y, V", "powf V, %half"]),
            _ => rng.pick(&others),
        };
        write!(text, "%v{k} = {} ", form.replace('V', &value)).expect("text grows");
        value = format!("%v{k}");
    }
    text + &format!("yield {value}")
}

impl Ignoring {
    fn new(seed: u64) -> Self {
        let rng = &mut Rng::new(seed);
        let how = ALL[seed as usize % ALL.len()];
        let plain = matches!(
            how,
            Ignores::BranchOnItself | Ignores::Kink | Ignores::Extremum | Ignores::PlaceOfExtremum
        );
        let r = format!("%r = for %i: N {{ {} }}", functions(rng, plain));
        let (kept, uses) = (Self::kept(rng, how), Self::uses(how));
        let text = format!(
            "fn ignoring(x: f64[N], y: f64[N], keep: bool[N], at: idx<N>[M]) -> f64 {{
               %zero = const 0.0f64 %half = const 0.5f64 %one = const 1.0f64 %no = const false
               {r}
               {uses}
               %square = mul %total, %total
               return %square
             }}"
        );
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Self { how, program, kept }
    }

    fn kept(rng: &mut Rng, how: Ignores) -> Vec<bool> {
        let mut kept: Vec<bool> = (0..ELEMENTS).map(|_| rng.chance(50)).collect();
        let (first, second) = (rng.below(ELEMENTS), rng.below(ELEMENTS - 1));
        kept[first] = true;
        kept[(first + 1 + second) % ELEMENTS] = false;
        if how == Ignores::LastValue {
            kept = (0..ELEMENTS).map(|k| k + 1 == ELEMENTS).collect();
        }
        kept
    }

    /// Statements that give `%total`.
    fn uses(how: Ignores) -> &'static str {
        match how {
            Ignores::Branch => {
                "%t = for %j: N { %k = index keep[%j] %a = index %r[%j] %b = index y[%j]
                   %s = if %k { %aa = mul %a, %a yield %aa } else { yield %b } yield %s }
                 %total = reduce add %t"
            }
            Ignores::BranchOnItself => {
                "%t = for %j: N { %a = index %r[%j] %b = index y[%j] %k = gt %a, %half
                   %s = if %k { yield %a } else { yield %b } yield %s }
                 %total = reduce add %t"
            }
            Ignores::BranchOfSome => {
                "%t = for %l: M { %u = for %j: N { %k = index keep[%j] %a = index %r[%j] %e = index y[%j]
                     %s = if %k { %ea = mul %e, %a yield %ea } else { yield %zero } yield %s }
                   %v = reduce add %u yield %v }
                 %total = reduce add %t"
            }
            Ignores::BranchOnALoop => {
                "%n, %f = loop %l: N (%c = %zero, %d = %no) { %e = index y[%l] %g = index keep[%l]
                   %ce = add %c, %e %dg = or %d, %g yield %ce, %dg }
                 %t = for %j: N { %k = index keep[%j] %a = index %r[%j] %b = index y[%j] %nb = mul %n, %b
                   %s = if %f { %q = if %k { %aa = mul %a, %b yield %aa } else { yield %nb } yield %q } else { yield %b }
                   yield %s }
                 %total = reduce add %t"
            }
            Ignores::OneOfTwo => {
                "%t = for %j: N { %k = index keep[%j] %a = index %r[%j] %b = index y[%j] %d = gt %b, %one
                   %s = if %k { yield %a } else { yield %b }
                   %w = if %k { %q = if %d { %m = mul %a, %b yield %m } else { yield %b } yield %q } else { yield %zero }
                   %sw = add %s, %w yield %sw }
                 %total = reduce add %t"
            }
            Ignores::Kink => {
                "%t = for %j: N { %a = index %r[%j] %b = index y[%j] %m = max %a, %b yield %m }
                 %total = reduce add %t"
            }
            Ignores::Extremum => "%m = reduce max %r %n = mul %m, %m %total = add %n, %m",
            Ignores::PlaceOfExtremum => {
                "%p = argmax x %m = index %r[%p] %b = index y[%p] %total = mul %m, %b"
            }
            Ignores::Lookup => {
                "%t = for %j: M { %p = index at[%j] %a = index %r[%p] %b = index y[%p] %m = mul %a, %b yield %m }
                 %total = reduce add %t"
            }
            Ignores::Overwritten => {
                "%u = loop %j: N (%s = %r) { %k = index keep[%j] %b = index y[%j]
                   %n = if %k { yield %s } else { %c = update %s[%j], %b yield %c } yield %n }
                 %t = for %j2: N { %a = index %u[%j2] %m = mul %a, %a yield %m }
                 %total = reduce add %t"
            }
            Ignores::State => {
                "%total = loop %j: N (%s = %one) { %k = index keep[%j] %a = index %r[%j] %sa = mul %s, %a
                   %h = mul %sa, %half
                   %n = if %k { %m = add %h, %a yield %m } else { yield %s } yield %n }"
            }
            Ignores::StateInLanes => {
                "%t = for %l: N { %b = index y[%l] %u = loop %j: N (%s = %b) { %k = index keep[%j]
                     %a = index %r[%j] %sa = mul %s, %a
                     %n = if %k { %m = mul %sa, %half yield %m } else { yield %s } yield %n } yield %u }
                 %total = reduce add %t"
            }
            Ignores::LastValue => {
                "%total = loop %j: N (%s = %one) { %a = index %r[%j] %b = index y[%j] %m = mul %a, %b yield %m }"
            }
            Ignores::Operator => {
                "%t = for %j: N { %k = index keep[%j] %a = index %r[%j] %s = if %k { yield %a } else { yield %one } yield %s }
                 %u = scan (%one) %t { |%p, %q| %m = mul %p, %q %h = mul %m, %half yield %h }
                 %total = reduce add %u"
            }
            Ignores::Compared => {
                "%total = loop %o: N (%p = %one) {
                   %f = index y[%o] %pf = mul %p, %f %g = update y[%o], %pf
                   %u, %z = loop %j: N (%v = y, %s = %p) { %k = index keep[%j] %a = index %r[%j]
                     %e = index %v[%j] %c = gt %e, %half %kc = and %k, %c
                     %n = if %kc { %b = index %g[%j] %m = mul %s, %b yield %m } else { yield %s }
                     %h = mul %a, %half %w = update %v[%j], %h yield %w, %n }
                   yield %z }"
            }
            Ignores::Product => {
                "%t = for %j: N { %k = index keep[%j] %a = index %r[%j] %s = if %k { yield %a } else { yield %one } yield %s }
                 %total = reduce mul %t"
            }
        }
    }

    /// Numbers for the parameters, `at` the ignored places these.
    fn inputs(&self, at: [f64; 2], seeded: &Program<Point>) -> Inputs {
        let x = self.kept.iter().enumerate().map(|(k, &kept)| match kept {
            true => 9.0 + k as f64,
            false => at[k % 2],
        });
        let last = self.kept.iter().rposition(|&kept| kept).unwrap_or(0);
        let first = self.kept.iter().position(|&kept| kept).unwrap_or(0);
        let mut params = vec![
            Data::f64s(&[ELEMENTS], x),
            Data::f64s(&[ELEMENTS], (0..ELEMENTS).map(|k| 0.75 + 0.125 * k as f64)),
            Data::bools(&[ELEMENTS], self.kept.iter().copied()),
            Data::usizes(&[2], [first, last]),
        ];
        for (k, seed) in seeded.params.iter().enumerate().skip(params.len()) {
            let ty = seeded.ty(seed.value);
            assert!(matches!(ty.elem, Elem::Scalar(_)), "seeds are floats");
            let shape = vec![ELEMENTS; ty.rank()];
            let count: usize = shape.iter().product();
            let values = (0..count).map(|n| ScalarValue::F64(0.5 + (k + 2 * n) as f64 * 0.25));
            params.push(Data::new(ty.elem.repr(), shape, values.collect()));
        }
        Inputs {
            sizes: vec![ELEMENTS, 2],
            params,
        }
    }
}

/// Looks at the derivatives of a program in these modes, the innermost first; whether they are
/// numbers.
fn check(ignoring: &Ignoring, modes: &[Mode]) -> Result<bool, String> {
    let nested = |program, &mode: &Mode| {
        let mut taken = derivative(&program, mode);
        // The seeds of each derivative have names of their own.
        for (k, param) in taken.params.iter_mut().enumerate() {
            param.name = format!("p{k}");
        }
        taken
    };
    let program = modes.iter().fold(ignoring.program.clone(), nested);
    let taken = expanded(&program);
    let run = |at: [f64; 2]| {
        let inputs = ignoring.inputs(at, &program);
        let (results, _) =
            run_limited(&taken, &inputs, STEPS).map_err(|error| error.to_string())?;
        let floats = results
            .iter()
            .flat_map(|data| &data.values)
            .filter_map(|value| value.float());
        // A zero is zero.
        Ok::<_, String>(floats.map(|float| float + 0.0).collect::<Vec<f64>>())
    };
    let constant = run([0.25, 0.25])?;
    if !constant.iter().all(|float| float.is_finite()) {
        return Ok(false);
    }
    let bits = |floats: &[f64]| {
        floats
            .iter()
            .map(|float| float.to_bits())
            .collect::<Vec<_>>()
    };
    for at in [[0.0, 0.0], [-1.0, 0.0], [f64::NAN, -2.0]] {
        let found = run(at)?;
        if bits(&found) != bits(&constant) {
            return Err(format!(
                "{:?} {modes:?}, kept {:?}, else {at:?}: {found:?}, not {constant:?}\n{}\n{}",
                ignoring.how,
                ignoring.kept,
                crate::ir::print(&ignoring.program),
                crate::ir::print(&taken),
            ));
        }
    }
    Ok(true)
}

mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_ignored_contributes_nothing_at_any_order() {
        let (ct, t) = (Mode::Cotangent, Mode::Tangent);
        let all: [&[Mode]; 6] = [&[ct], &[t], &[ct, ct], &[ct, t], &[t, ct], &[t, t]];
        let mut looked_at: BTreeMap<(Ignores, usize), usize> = BTreeMap::new();
        for seed in 0..5 * ALL.len() as u64 {
            let ignoring = Ignoring::new(seed);
            for (k, modes) in all.iter().enumerate() {
                match check(&ignoring, modes) {
                    Ok(true) => *looked_at.entry((ignoring.how, k)).or_default() += 1,
                    Ok(false) => {}
                    Err(error) => panic!("seed {seed}: {error}"),
                }
            }
        }
        // Each way to ignore something is tried in all orders of modes.
        for how in ALL {
            for (k, modes) in all.iter().enumerate() {
                let times = looked_at.get(&(how, k)).copied().unwrap_or(0);
                assert!(times >= 2, "{how:?} {modes:?}: {times}");
            }
        }
    }
}
