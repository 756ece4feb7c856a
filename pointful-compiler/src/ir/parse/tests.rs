//! Printing and parsing together, and what parsing makes of text that is wrong.

use super::{ParseError, parse, parse_unverified};
use crate::expand::expand;
use crate::ir::parse::Parse;
use crate::ir::print::{Names, Print, print};
use crate::ir::stages::point::PointOp;
use crate::ir::stages::{bulk::Bulk, kernels::Kernels, point::Point};
use crate::ir::verify::{Verify, annotate, verify};
use crate::ir::{Block, Elem, Lit, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::testing::{Options, Rng, random_point};

/// All that a program is but numbering, spans and what the source calls values: its text, and the
/// type of each value bound in it.
fn described<S: Verify>(program: &Program<S>) -> String {
    fn bound<S: Verify>(block: &Block<S>, values: &mut Vec<ValueId>) {
        values.extend(&block.params);
        for stmt in &block.stmts {
            values.extend(&stmt.results);
            values.extend(S::private(&stmt.op));
            for inner in stmt.op.blocks() {
                bound(inner, values);
            }
        }
    }
    let mut values = Vec::new();
    bound(&program.body, &mut values);
    let mut names = Names::new(program);
    let mut text = print(program);
    for value in values {
        let ty = names.ty(program.ty(value));
        text += &format!("{}: {ty}\n", names.value(value));
    }
    text
}

fn check<S: Parse + Verify>(program: &Program<S>) {
    let text = print(program);
    if let Err(error) = verify(program) {
        panic!("{error}\n{}", annotate(program, &error));
    }
    let again = parse::<S>(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(described(program), described(&again));
}

#[test]
fn what_is_printed_is_read_back() {
    for seed in 0..100 {
        let (point, _) = random_point(seed, Options::default());
        let bulk = expand(point.clone());
        check(&point);
        check(&bulk);
    }
    check(&parse::<Kernels>(kernels()).unwrap_or_else(|error| panic!("{error}")));
}

/// A program with every operation of Kernels.
fn kernels() -> &'static str {
    let file = include_str!("../../../../tests/filetests/cat/kernels_all.pt");
    let (_, text) = file.split_once("---- kernels\n").expect("a section");
    text
}

/// Reads texts that are a valid one with something taken away, doubled or put in. None may panic.
fn disturb<S: Parse + Verify + Print>(text: &str, rng: &mut Rng) {
    const NOISE: [&str; 12] = [
        "%0",
        "%99",
        "[",
        "}",
        ":=",
        "\"",
        "-",
        "if",
        "yield",
        "i",
        "99999999999999999999",
        "é",
    ];
    let at: Vec<usize> = (0..=text.len())
        .filter(|&k| text.is_char_boundary(k))
        .collect();
    for _ in 0..40 {
        let (a, b) = (rng.below(at.len()), rng.below(8));
        let (from, to) = (at[a], at[(a + b).min(at.len() - 1)]);
        let disturbed = match rng.below(3) {
            0 => format!("{}{}", &text[..from], &text[to..]),
            1 => format!("{}{}", &text[..to], &text[from..]),
            _ => format!("{} {} {}", &text[..from], rng.pick(&NOISE), &text[from..]),
        };
        if let Err(error) = parse::<S>(&disturbed) {
            assert!(error.line >= 1 && error.column >= 1, "{error}");
        }
        if let Ok(program) = parse_unverified::<S>(&disturbed) {
            print(&program);
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut rng = Rng::new(1);
    for seed in 0..6 {
        let (point, _) = random_point(seed, Options::default());
        let bulk = expand(point.clone());
        disturb::<Point>(&print(&point), &mut rng);
        disturb::<Bulk>(&print(&bulk), &mut rng);
        disturb::<Kernels>(kernels(), &mut rng);
    }
    for text in [
        "", "fn", "fn f", "fn f(", "axes", "sizes I", "fn f() {", "; error:",
    ] {
        assert!(parse::<Bulk>(text).is_err(), "{text}");
    }
}

#[test]
fn literals_keep_their_bits() {
    let floats = [
        0.0,
        -0.0,
        0.1,
        1e300,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let bits = [
        f64::NAN.to_bits(),
        0xfff8_0000_0000_0000,
        0x7ff8_0000_0000_0001,
    ];
    let mut lits: Vec<Lit> = Vec::new();
    lits.extend(floats.map(|x| Lit::F64(x.to_bits())));
    lits.extend(floats.map(|x| Lit::F32((x as f32).to_bits())));
    lits.extend(bits.map(Lit::F64));
    lits.extend([f32::NAN.to_bits(), 0xffc0_0000, 0x7fc0_0001, 1].map(Lit::F32));
    for (scalar, low, high) in Scalar::ALL.into_iter().filter_map(range) {
        lits.extend([low, high].map(|value| Lit::Int(scalar, value)));
    }
    lits.extend([true, false].map(Lit::Bool));
    for lit in lits {
        let mut program = Program::<Point>::new("f");
        let ty = Type::scalar(Elem::Scalar(lit.scalar()));
        let value = program.value(ty, SpanId::NONE);
        let op = PointOp::Const(lit);
        let stmt = Stmt::new(vec![value], op.clone(), SpanId::NONE);
        program.body.stmts.push(stmt);
        let text = print(&program);
        let again = parse::<Point>(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.body.stmts[0].op, op, "{text}");
    }
}

/// The smallest and the largest of an integer type.
fn range(scalar: Scalar) -> Option<(Scalar, i128, i128)> {
    use Scalar::*;
    let (low, high) = match scalar {
        I8 => (i8::MIN.into(), i8::MAX.into()),
        I16 => (i16::MIN.into(), i16::MAX.into()),
        I32 => (i32::MIN.into(), i32::MAX.into()),
        I64 | Isize => (i64::MIN.into(), i64::MAX.into()),
        U8 => (0, u8::MAX.into()),
        U16 => (0, u16::MAX.into()),
        U32 => (0, u32::MAX.into()),
        U64 | Usize => (0, u64::MAX.into()),
        F32 | F64 | Bool => return None,
    };
    Some((scalar, low, high))
}

fn error<S: Parse + Verify>(text: &str) -> ParseError {
    parse::<S>(text).expect_err("the text is wrong")
}

#[test]
fn an_error_shows_its_line_with_a_caret() {
    let text = "fn f(x: f64[N]) {\n  %0 = index x[%1\n}\n";
    assert_eq!(
        error::<Point>(text).to_string(),
        "  | 2:18\n2 |   %0 = index x[%1\n  |                  ^ expected `]`"
    );
    let text = "fn f(x: f64) {\n  %0 = frobnicate x\n}\n";
    assert_eq!(
        error::<Bulk>(text).to_string(),
        "  | 2:8\n2 |   %0 = frobnicate x\n  |        ^ `frobnicate` is no operation of bulk"
    );
}

#[test]
fn what_the_verifier_rejects_is_shown_at_its_statement() {
    let text = "fn f(x: f64, n: i64) {\n  %0 = add x, n\n}\n";
    let error = error::<Point>(text);
    assert_eq!((error.line, error.column), (2, 3));
    assert!(error.message.contains("`add` takes"), "{error}");
}

#[test]
fn stated_result_types_must_be_those_returned() {
    for (stated, column) in [(" -> f32", 14), (" -> (f64, f64)", 15), ("", 0)] {
        let text = format!("fn f(x: f64){stated} {{\n  return x\n}}\n");
        let error = error::<Point>(&text);
        assert!(error.message.contains("return"), "{error}");
        if column > 0 {
            assert_eq!(error.line, 1, "{error}");
        }
    }
    assert!(parse::<Point>("fn f(x: f64) -> f64 {\n  return x\n}\n").is_ok());
}

#[test]
fn a_list_of_sizes_is_complete() {
    let body = "fn f(x: f64[N]) -> usize {\n  %0 = size M\n  return %0\n}\n";
    let names = |text: &str| {
        let program = parse::<Point>(text).map_err(|error| error.message)?;
        Ok::<_, String>(program.sizes.into_iter().map(|size| size.name).collect())
    };
    assert_eq!(names(body), Ok(vec!["N".to_string(), "M".to_string()]));
    assert_eq!(
        names(&format!("sizes M, N\n{body}")),
        Ok(vec!["M".to_string(), "N".to_string()])
    );
    assert_eq!(
        names(&format!("sizes N\n{body}")),
        Err("`M` is none of the sizes listed".to_string())
    );
}
