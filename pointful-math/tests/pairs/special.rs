//! Pairs of special values, and pairs of which the result is exact.

use crate::Function;
use crate::generate::{DOUBLE, Format, SINGLE, power};

/// What the standards say of a pair.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Rule {
    /// This number, with this sign.
    Number(f64),
    /// The number next to as many eighths of a full turn.
    Eighths(f64),
    NotANumber,
    /// Nothing beyond what it is the function of.
    None,
}

fn is_odd(y: f64) -> bool {
    y % 2.0 == 1.0 || y % 2.0 == -1.0
}

/// IEEE 754-2019, 9.2.1; C, Annex F.10.4.4.
fn of_power(x: f64, y: f64) -> Rule {
    let signed = |magnitude: f64| {
        if is_odd(y) {
            magnitude.copysign(x)
        } else {
            magnitude
        }
    };
    if y == 0.0 || x == 1.0 || (x == -1.0 && y.is_infinite()) {
        Rule::Number(1.0)
    } else if x.is_nan() || y.is_nan() {
        Rule::NotANumber
    } else if y.is_infinite() {
        let grows = (x.abs() > 1.0) == (y > 0.0);
        Rule::Number(if grows { f64::INFINITY } else { 0.0 })
    } else if x == 0.0 {
        Rule::Number(signed(if y < 0.0 { f64::INFINITY } else { 0.0 }))
    } else if x.is_infinite() {
        Rule::Number(signed(if y < 0.0 { 0.0 } else { f64::INFINITY }))
    } else if x < 0.0 && y.fract() != 0.0 {
        Rule::NotANumber
    } else {
        Rule::None
    }
}

/// IEEE 754-2019, 9.2.1; C, Annex F.10.1.4.
fn of_angle(y: f64, x: f64) -> Rule {
    let right = x.is_sign_positive();
    let turned = |eighths: f64| {
        if eighths == 0.0 {
            Rule::Number(0.0_f64.copysign(y))
        } else {
            Rule::Eighths(eighths.copysign(y))
        }
    };
    if x.is_nan() || y.is_nan() {
        Rule::NotANumber
    } else if x.is_infinite() && y.is_infinite() {
        turned(if right { 1.0 } else { 3.0 })
    } else if y == 0.0 || x.is_infinite() {
        turned(if right { 0.0 } else { 4.0 })
    } else if x == 0.0 || y.is_infinite() {
        turned(2.0)
    } else {
        Rule::None
    }
}

/// IEEE 754-2019, 9.2.1; C, Annex F.10.4.3.
fn of_length(x: f64, y: f64) -> Rule {
    if x.is_infinite() || y.is_infinite() {
        Rule::Number(f64::INFINITY)
    } else if x.is_nan() || y.is_nan() {
        Rule::NotANumber
    } else if x == 0.0 || y == 0.0 {
        Rule::Number(x.abs() + y.abs())
    } else {
        Rule::None
    }
}

impl Function {
    fn rule(self, a: f64, b: f64) -> Rule {
        match self {
            Self::Powf => of_power(a, b),
            Self::Atan2 => of_angle(a, b),
            Self::Hypot => of_length(a, b),
        }
    }
}

impl Format {
    /// Numbers of both signs that rules speak of, and the first and last of their kind.
    pub(crate) fn special(self) -> Vec<f64> {
        let (digits, smallest, least) = (
            self.mantissa as i32,
            power(self.smallest()),
            power(self.least),
        );
        let (ulp, integral) = (power(-digits), power(digits));
        let positive = [
            0.0,
            smallest,
            2.0 * smallest,
            3.0 * smallest,
            least - smallest,
            least,
            least + smallest,
            1.0 - ulp / 2.0,
            1.0,
            1.0 + ulp,
            0.25,
            0.5,
            0.75,
            1.5,
            2.0,
            2.5,
            3.0,
            4.0,
            5.0,
            100.0,
            101.0,
            // The last half, the last odd integers, and the first after which all are even.
            integral / 2.0 - 0.5,
            integral - 1.0,
            integral + 1.0,
            2.0 * integral - 1.0,
            2.0 * integral,
            2.0 * integral + 2.0,
            power(64),
            power(self.most),
            (2.0 - ulp) * power(self.most),
            f64::INFINITY,
        ];
        positive.into_iter().flat_map(|x| [x, -x]).collect()
    }
}

/// The number next to `k` eighths of a full turn.
fn eighths(k: f64) -> f64 {
    let magnitude = match k.abs() {
        1.0 => std::f64::consts::FRAC_PI_4,
        2.0 => std::f64::consts::FRAC_PI_2,
        3.0 => 2.356_194_490_192_345,
        _ => std::f64::consts::PI,
    };
    magnitude.copysign(k)
}

/// Of all pairs of special values, those of which a rule speaks; how many there were.
fn follows_rules(
    format: Format,
    function: Function,
    of: impl Fn(f64, f64) -> f64,
    nan: &[f64],
) -> usize {
    let mut values = format.special();
    values.extend(nan);
    let mut count = 0;
    for (&a, &b) in values
        .iter()
        .flat_map(|a| values.iter().map(move |b| (a, b)))
    {
        let found = of(a, b);
        let right = match function.rule(a, b) {
            Rule::Number(number) => found.to_bits() == number.to_bits(),
            Rule::Eighths(k) => found.to_bits() == format.round(eighths(k)).to_bits(),
            Rule::NotANumber => found.is_nan(),
            Rule::None => continue,
        };
        count += 1;
        assert!(
            right,
            "{function:?} of {a:e}, {b:e} is {found:e}, but {:?}",
            function.rule(a, b)
        );
    }
    count
}

#[test]
fn special_values_follow_the_standards() {
    for function in Function::ALL {
        let nan = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_dead_beef_0001)];
        let of = |a, b| function.of_doubles(a, b);
        assert!(follows_rules(DOUBLE, function, of, &nan) > 500);
        let of = |a: f64, b: f64| f64::from(function.of_singles(a as f32, b as f32));
        assert!(follows_rules(SINGLE, function, of, &nan) > 500);
    }
    // Also of what signals, nothing becomes a number.
    for signalling in [0x7ff0_0000_0000_0001, 0xfff4_0000_0000_0000] {
        let x = f64::from_bits(signalling);
        for y in [x, 2.0, -0.5] {
            for function in Function::ALL {
                assert!(function.of_doubles(x, y).is_nan() && function.of_doubles(y, x).is_nan());
            }
        }
    }
}

/// Checks a result that is a number of the format, in it and in all wider ones.
#[track_caller]
fn exact(function: Function, a: f64, b: f64, expected: f64) {
    let found = function.of_doubles(a, b);
    assert!(
        found.to_bits() == expected.to_bits(),
        "{function:?} of {a:e}, {b:e} is {found:e}, not {expected:e}"
    );
    let all_single = [a, b, expected].iter().all(|&x| SINGLE.round(x) == x);
    if all_single {
        let found = function.of_singles(a as f32, b as f32);
        assert!(
            found.to_bits() == (expected as f32).to_bits(),
            "{function:?} of {a:e}f32, {b:e} is {found:e}, not {expected:e}"
        );
    }
}

#[test]
fn powers_that_are_numbers_are_exact() {
    let power_of = |x: f64, y: f64, expected: f64| {
        exact(Function::Powf, x, y, expected);
        // Of powers of two the inverses are, too.
        if expected.is_finite() && expected.to_bits() & ((1 << 52) - 1) == 0 {
            exact(Function::Powf, x, -y, 1.0 / expected);
        }
    };
    let most = 1_u64 << 53;
    let mut powers = 0;
    for base in (2..3000_u64).chain([4095, 65_535, 65_537, 1_048_575, 2_097_151]) {
        let (mut product, mut exponent) = (base, 1);
        while product <= most {
            // Signs, and shifts by powers of two.
            for k in [0, 1, -3, 20] {
                let (x, shift) = (base as f64 * power(k), power(k * exponent));
                power_of(x, f64::from(exponent), product as f64 * shift);
                let negative = if exponent % 2 == 0 { 1.0 } else { -1.0 };
                power_of(-x, f64::from(exponent), negative * product as f64 * shift);
            }
            powers += 1;
            exponent += 1;
            product = product.saturating_mul(base);
        }
    }
    assert!(powers > 9000, "{powers}");
    for root in (1..3000_u64).chain(94_906_000..94_906_265) {
        // Square roots, and their third powers.
        let square = (root * root) as f64;
        exact(Function::Powf, square, 0.5, root as f64);
        if root < 200_000 {
            exact(Function::Powf, square, 1.5, (root * root * root) as f64);
        }
        exact(Function::Powf, square * square, 0.25, root as f64);
    }
    for k in -1074..=1023 {
        exact(Function::Powf, 2.0, f64::from(k), power(k));
        exact(Function::Powf, power(k), 1.0, power(k));
        exact(Function::Powf, 4.0, f64::from(k) / 2.0, power(k));
    }
}

#[test]
fn lengths_that_are_numbers_are_exact() {
    let mut triples = 0;
    for m in 2..60_i64 {
        for n in 1..m {
            let (a, b, c) = (m * m - n * n, 2 * m * n, m * m + n * n);
            for k in [0, 1, 30, -50, 500, 1010, -600, -1060, -1074] {
                let [a, b, c] = [a, b, c].map(|x| x as f64 * power(k));
                if c.is_infinite() {
                    continue;
                }
                for (x, y) in [(a, b), (b, a), (-a, b), (b, -a)] {
                    exact(Function::Hypot, x, y, c);
                }
                triples += 1;
            }
        }
    }
    assert!(triples > 10_000, "{triples}");
    // What is too small to matter.
    for x in DOUBLE.special().into_iter().filter(|x| x.is_normal()) {
        let small = x.abs() * power(-28);
        if small > 0.0 && small.is_finite() {
            exact(Function::Hypot, x, small, x.abs());
            exact(Function::Hypot, small, x, x.abs());
        }
    }
}
