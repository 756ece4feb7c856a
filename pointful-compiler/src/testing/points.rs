//! Random programs of which each point runs loops of its own: what a processor may do for
//! neighbouring points together, where that pays.
//!
//! Loops read along the axis of the points, across it, or not along it at all; they add up or carry
//! something, or multiply a vector of the point's by one matrix; their lengths are constants or not known. In and around them is more or less to
//! compute.

use std::fmt::Write;

use super::rng::Rng;
use crate::eval::{Data, Inputs};
use crate::ir::stages::point::Point;
use crate::ir::{Program, parse};

/// Lengths on both sides of those from which on points and iterations go together.
const POINTS: [usize; 9] = [0, 1, 3, 15, 16, 17, 31, 33, 40];
const ITERATIONS: [usize; 8] = [1, 2, 3, 11, 12, 13, 14, 18];

/// A program, and inputs for it.
pub(crate) fn random_points(seed: u64) -> (Program<Point>, Inputs) {
    let rng = &mut Rng::new(seed);
    let text = text(rng);
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [j, k] = [rng.pick(&POINTS), rng.pick(&ITERATIONS)];
    let mut floats = |shape: &[usize]| {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|_| rng.between(-999, 999) as f64 / 1000.0);
        Data::f64s(shape, values.collect::<Vec<_>>())
    };
    let tables = [vec![j], vec![k], vec![j, k], vec![k, j]].map(|shape| floats(&shape));
    let matrix = floats(&[k, k]);
    let places = (0..j).map(|_| rng.below(k));
    let mut params = tables.to_vec();
    params.push(Data::usizes(&[j], places.collect::<Vec<_>>()));
    params.push(matrix);
    let sizes = program.sizes.iter();
    let sizes = sizes
        .map(|size| if size.name == "J" { j } else { k })
        .collect();
    (program, Inputs { sizes, params })
}

fn text(rng: &mut Rng) -> String {
    let mut point = String::from("%v = index x[%j]\n");
    let mut values = vec!["%v".to_owned()];
    for number in 0..1 + rng.below(2) {
        values.push(match rng.below(20) {
            0..3 => multiplied(rng, number, &mut point),
            3..6 => turned(rng, number, &mut point),
            _ => looped(rng, number, &mut point),
        });
    }
    let mut value = values.join("");
    for (number, [first, second]) in pairs(&values).enumerate() {
        value = format!("%w{number}");
        writeln!(
            point,
            "{value} = {} {first}, {second}",
            rng.pick(&["add", "sub", "max"])
        )
        .expect("text grows");
    }
    if rng.chance(60) {
        let dear = rng.pick(&["exp", "atan", "cbrt"]);
        writeln!(point, "%few = min {value}, %one\n%dear = {dear} %few").expect("text grows");
        value = "%dear".to_owned();
    }
    let result = match rng.below(3) {
        0 => "%s = reduce add %r return %s",
        1 => "return %r",
        _ => "%h = for %l: J { %a = index %r[%l] %b = mul %a, %half yield %b } return %h",
    };
    let returned = if result.contains("reduce") {
        "f64"
    } else {
        "f64[J]"
    };
    format!(
        "fn points(x: f64[J], y: f64[K], a: f64[J, K], b: f64[K, J], at: idx<K>[J], m: f64[K, K]) -> {returned} {{
           %half = const 0.5f64 %one = const 1.0f64
           %r = for %j: J {{ {point} yield {value} }}
           {result}
         }}"
    )
}

/// Each value with what all in front of it have become.
fn pairs(values: &[String]) -> impl Iterator<Item = [String; 2]> + '_ {
    values[1..].iter().enumerate().map(|(number, value)| {
        let before = match number {
            0 => values[0].clone(),
            _ => format!("%w{}", number - 1),
        };
        [before, value.clone()]
    })
}

/// A vector of the point, multiplied by the same matrix as all others a few times; gives a sum.
fn multiplied(rng: &mut Rng, number: usize, out: &mut String) -> String {
    let element = rng.pick(&["y[%qN]", "a[%j, %qN]", "b[%qN, %j]"]);
    let times = rng.pick(&["2", "3"]);
    let sum = format!("%s{number}");
    let text = format!(
        "%vN = for %qN: K {{ %aN = index {element} %bN = mul %aN, %v yield %bN }}
         %wN = loop %tN: {times} (%cN = %vN) {{
           %nN = for %uN: K {{
             %mN = for %kN: K {{ %dN = index m[%uN, %kN] %eN = index %cN[%kN] %fN = mul %dN, %eN yield %fN }}
             %gN = reduce add %mN %hN = index y[%uN] %iN = add %gN, %hN %oN = tanh %iN yield %oN }}
           yield %nN }}
         {sum} = reduce add %wN\n"
    );
    out.push_str(&text.replace('N', &format!("_x{number}")));
    sum
}

/// A few numbers of the point that a loop hands on together; gives one of them.
fn turned(rng: &mut Rng, number: usize, out: &mut String) -> String {
    let length = rng.pick(&["K", "K", "18"]);
    let element = match length {
        "K" => rng.pick(&["y[%kN]", "b[%kN, %j]", "a[%j, %kN]"]),
        _ => "x[%j]",
    };
    let last = format!("%s{number}");
    let text = format!(
        "%zN = const 0i64 %yN = const 1i64 %fN = trust 2 %zN %gN = trust 2 %yN
         %aN = array [%v, %half]
         %wN = loop %kN: {length} (%cN = %aN) {{
           %eN = index {element} %bN = index %cN[%fN] %dN = index %cN[%gN]
           %hN = mul %eN, %dN %iN = mul %half, %bN %lN = sub %iN, %hN
           %mN = mul %half, %dN %nN = add %mN, %bN %oN = max %nN, %eN
           %qN = add %lN, %oN %uN = mul %qN, %half
           %rN = array [%uN, %oN]
           yield %rN }}
         {last} = index %wN[%gN]\n"
    );
    out.push_str(&text.replace('N', &format!("_x{number}")));
    last
}

/// A loop of a point that adds up or carries something; gives what comes out.
fn looped(rng: &mut Rng, number: usize, out: &mut String) -> String {
    let length = rng.pick(&["K", "K", "K", "3", "18"]);
    let mut body = String::new();
    let mut element = format!("%e{number}");
    // At a constant number of iterations there is only what belongs to the point.
    let reads: &[&str] = match length {
        "K" => &[
            "a[%j, %k]",
            "b[%k, %j]",
            "b[%k, %j]",
            "y[%k]",
            "x[%j]",
            "y[%p]",
        ],
        _ => &["x[%j]", "a[%j, %p]", "b[%p, %j]"],
    };
    let reads = reads
        .iter()
        .map(|read| read.replace("%k", &format!("%k{number}")));
    let reads: Vec<String> = reads.collect();
    let read = reads[rng.below(reads.len())].clone();
    writeln!(body, "%p{number} = index at[%j] {element} = index {read}").expect("text grows");
    let mut body = body.replace("%p]", &format!("%p{number}]"));
    body = body.replace("%p,", &format!("%p{number},"));
    for step in 0..rng.pick(&[1, 2, 4, 10]) {
        let next = format!("%e{number}_{step}");
        let form = rng.pick(&[
            "mul E, %half",
            "add E, %v",
            "max E, %v",
            "min E, %one",
            "mul E, %v",
        ]);
        writeln!(body, "{next} = {}", form.replace('E', &element)).expect("text grows");
        element = next;
    }
    let [carried, result] = ["%c", "%s"].map(|name| format!("{name}{number}"));
    match rng.below(3) {
        0 => {
            let monoid = rng.pick(&["add", "add", "max"]);
            write!(
                out,
                "%t{number} = for %k{number}: {length} {{ {body} yield {element} }}
                 %g{number} = reduce {monoid} %t{number} {result} = max %g{number}, %v\n"
            )
        }
        _ => write!(
            out,
            "{result} = loop %k{number}: {length} ({carried} = %v) {{ {body}
               %h{number} = mul {carried}, %half %n{number} = add %h{number}, {element}
               yield %n{number} }}\n"
        ),
    }
    .expect("text grows");
    result
}
