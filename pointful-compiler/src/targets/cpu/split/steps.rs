//! Random loops in order, forwards and backwards, nested, of the host and of points of a kernel,
//! that look at places by numbers: such as are in range, and such as are not.

use std::fmt::Write as _;

use crate::eval::{Data, Inputs};
use crate::ir::Program;
use crate::ir::stages::kernels::Kernels;
use crate::testing::Rng;

/// A program with inputs. It may panic.
pub(super) fn random(rng: &mut Rng) -> (Program<Kernels>, Inputs) {
    let in_kernel = rng.chance(40);
    let mut loops = Loops {
        text: String::new(),
        next: 20,
        // Points would write the same places.
        writes: !in_kernel,
    };
    loops.each(rng, &[], 0);
    let [nest, end, place] = match in_kernel {
        true => ["par %1: 2 {", "}", "%1"],
        false => ["", "", "%6"],
    };
    let text = format!(
        "fn f(x: i64[N], y: i64[L], lag: usize, own z: i64[N], own s: i64[2]) -> (i64[N], i64[2]) {{
           %2 = size N
           %4 = add %2, lag
           %5 = const 0i64
           %6 = trust 2 %5
           {nest}
             %7 = var %5
             {}
             %8 = get %7
             store s[{place}], %8
           {end}
           return z, s
         }}",
        loops.text
    );
    let program = crate::ir::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let n = rng.pick(&[0, 1, 2, 3, 5, 8, 9, 13]);
    let length = usize::try_from(n as i64 + rng.between(-1, 6)).unwrap_or(0);
    let mut data = |shape: &[usize]| {
        let count = shape.iter().product();
        Data::i64s(shape, (0..count).map(|_| rng.between(-99, 99)))
    };
    let mut params = vec![
        data(&[n]),
        data(&[length]),
        data(&[]),
        data(&[n]),
        data(&[2]),
    ];
    params[2] = Data::from(rng.pick(&[0_usize, 1, 2, 3, 9]));
    let inputs = Inputs {
        sizes: vec![n, length],
        params,
    };
    (program, inputs)
}

struct Loops {
    text: String,
    next: usize,
    /// Whether places are changed.
    writes: bool,
}

impl Loops {
    fn bind(&mut self, op: &str) -> usize {
        self.next += 1;
        let _ = writeln!(self.text, "%{} = {op}", self.next);
        self.next
    }

    /// A loop in the loops of these indices.
    fn each(&mut self, rng: &mut Rng, around: &[usize], deep: u32) {
        let extent = match rng.below(6) {
            0 => "N".to_owned(),
            1 => "L".to_owned(),
            2 => "9".to_owned(),
            3 => "%4".to_owned(),
            // One less than there are, and none of none.
            4 => {
                let less = self.bind("cast i64 %2");
                let one = self.bind("const 1i64");
                let less = self.bind(&format!("sub %{less}, %{one}"));
                let less = self.bind(&format!("max %{less}, %5"));
                format!("%{}", self.bind(&format!("cast usize %{less}")))
            }
            // As many as the loop around has gone through.
            _ => match around.last() {
                Some(index) => format!("%{}", self.bind(&format!("cast usize %{index}"))),
                None => "N".to_owned(),
            },
        };
        self.next += 1;
        let index = self.next;
        let reverse = if rng.chance(50) { "rev " } else { "" };
        let _ = writeln!(self.text, "for {reverse}%{index}: {extent} {{");
        let all = [around, &[index]].concat();
        for _ in 0..=rng.below(3) {
            if deep < 2 && rng.chance(30) {
                self.each(rng, &all, deep + 1);
            } else {
                self.look(rng, &all);
            }
        }
        self.text.push_str("}\n");
    }

    /// Looks at a place, and changes it.
    fn look(&mut self, rng: &mut Rng, around: &[usize]) {
        let ty = rng.pick(&["usize", "i64"]);
        let mut position = self.bind(&format!("cast {ty} %{}", rng.pick(around)));
        for _ in 0..rng.below(3) {
            let term = match rng.below(4) {
                0 => self.bind(&format!("cast {ty} lag")),
                1 => self.bind(&format!("cast {ty} %{}", rng.pick(around))),
                _ => self.bind(&format!("const {}{ty}", rng.below(3))),
            };
            position = match rng.below(8) {
                0 => self.bind(&format!("sub %{term}, %{position}")),
                1..=3 => self.bind(&format!("sub %{position}, %{term}")),
                _ => self.bind(&format!("add %{position}, %{term}")),
            };
        }
        let guarded = rng.chance(20);
        if guarded {
            let truth = self.bind(&format!("in_range N %{position}"));
            let _ = writeln!(self.text, "if %{truth} {{");
        }
        let (extent, table) = rng.pick(&[("N", "x"), ("N", "z"), ("L", "y")]);
        let at = self.bind(&format!("check {extent} %{position}"));
        let value = self.bind(&format!("load {table}[%{at}]"));
        let _ = writeln!(self.text, "combine add %7[], %{value}");
        if table == "z" && self.writes {
            let sum = self.bind("get %7");
            let _ = writeln!(self.text, "store z[%{at}], %{sum}");
        }
        if guarded {
            self.text.push_str("} else { }\n");
        }
    }
}
