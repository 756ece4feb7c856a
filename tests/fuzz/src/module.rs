//! A module that compiles a function or one of its derivatives, and compares it with the plain
//! loops.

use std::fmt::Write as _;

use pointful_compiler::testing::twice::{Shape, Written};

/// A transformation: its mode, the functions besides `f` that it needs, and what it is called with
/// and gives.
const MODES: [(&str, &[&str], &str); 10] = [
    (
        "Grad",
        &["loss"],
        "let (a, b, c, d) = grad!(loss)(ARGS); vec![a.flat(), b.flat(), c.flat(), d.flat()]",
    ),
    (
        "Vjp",
        &[],
        "let ((r, s), (a, b, c, d)) = vjp!(f)(ARGS, &ct, given.cotangent.1); vec![r.flat(), s.flat(), a.flat(), b.flat(), c.flat(), d.flat()]",
    ),
    (
        "Jvp",
        &[],
        "let ((r, s), (tr, ts)) = jvp!(f)(ARGS, &tan.x, &tan.y, &tan.a, tan.c); vec![r.flat(), s.flat(), tr.flat(), ts.flat()]",
    ),
    (
        "Hvp",
        &["loss"],
        "vec![hvp!(loss, wrt = x)(ARGS, &tan.x).flat()]",
    ),
    (
        "Hessian",
        &["loss"],
        "vec![hessian!(loss, wrt = x)(ARGS).flat()]",
    ),
    (
        "Jacobian",
        &["h"],
        "vec![jacobian!(h, wrt = y)(ARGS).flat()]",
    ),
    (
        "Vmap",
        &[],
        "let (r, s) = vmap!(f, over = x)(SEVERAL); vec![r.flat(), s.flat()]",
    ),
    (
        "VmapGrad",
        &["loss"],
        "vec![vmap!(grad!(loss, wrt = x), over = x)(SEVERAL).flat()]",
    ),
    (
        "JvpGrad",
        &["loss"],
        "let (g, t) = jvp!(grad!(loss, wrt = x), wrt = x)(ARGS, &tan.x); vec![g.flat(), t.flat()]",
    ),
    (
        "GradGrad",
        &["loss", "gg"],
        "vec![grad!(gg, wrt = x)(ARGS).flat()]",
    ),
];

const ARGS: &str = "&t.x, &t.y, &t.a, t.c, &t.at, &t.to, &t.nx, &t.ends, t.steps";

/// The module of a function, or of one of its derivatives, which runs on the host or on a device.
pub(crate) fn module(
    written: &Written,
    seed: u64,
    derivative: bool,
    runs: usize,
    device: bool,
) -> String {
    let (mode, needs, body) = if derivative {
        MODES[(seed % MODES.len() as u64) as usize]
    } else {
        (
            "Value",
            &[][..],
            "let (r, s) = f(ARGS); vec![r.flat(), s.flat()]",
        )
    };
    // Whole matrices of derivatives are long, and derivatives of derivatives dear.
    let most = match mode {
        "Hessian" | "Jacobian" => 33,
        "Value" | "Vmap" => 1025,
        _ => 129,
    };
    let sizes = written.sizes(seed, runs, most);
    let call = body
        .replace("ARGS", ARGS)
        .replace("SEVERAL", &ARGS.replace("&t.x", "&xs"));
    let place = if device { "there" } else { "here" };
    let cotangent = if mode == "Vjp" {
        format!("        let ct = {place}(&{});\n", cotangent(written.shape))
    } else {
        String::new()
    };
    let columns = if written.shape == Shape::Both {
        "m"
    } else {
        "1"
    };
    let mut text = format!(
        "use pointful::prelude::*;\nuse pointful_fuzz::places::{{clamp, get, mirror, wrap}};\n\
         use pointful_fuzz::{{Flat, Found, Given, Inputs, Mode, Num, Plain, Tables, check as compare, matrix, {place}}};\n\n\
         #[pointful]\n{}\n",
        written.function
    );
    for name in needs {
        let _ = writeln!(text, "#[pointful]\n{}\n", written.helper(name));
    }
    let _ = write!(
        text,
        "struct P;\n\n\
         impl Plain for P {{\n\
         \x20   const SIZES: &'static [(usize, usize)] = &{sizes:?};\n\
         \x20   fn columns(m: usize) -> usize {{ {columns} }}\n\
         \x20   fn run<T: Num>(inputs: &Inputs<T>) -> (Vec<T>, T) {{\n\
         \x20   let Inputs {{ n, m, x, y, a, c, at, to, nx, ends, steps }} = inputs;\n\
         \x20   let (n, m, c, steps) = (*n, *m, *c, *steps);\n{}\
         \x20   }}\n}}\n\n\
         pub fn check() -> Found {{\n\
         \x20   compare::<P>(Mode::{mode}, |given: &Given| {{\n\
         \x20       let t = &{place}(&given.tables);\n\
         \x20       let tan = {place}(&Tables::of(&given.tangent));\n\
         \x20       let [n, m] = [given.tangent.n, given.tangent.m];\n\
         \x20       let xs = {place}(&matrix(given.several.len() / n, n, given.several.clone()));\n\
         {cotangent}\
         \x20       {call}\n\
         \x20   }})\n}}\n",
        written.plain
    );
    text
}

fn cotangent(shape: Shape) -> &'static str {
    match shape {
        Shape::Both => "matrix(n, m, given.cotangent.0.clone())",
        Shape::N | Shape::M => "Table::<Dyn, f64>::from(given.cotangent.0.clone())",
    }
}
