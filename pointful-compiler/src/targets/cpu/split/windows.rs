//! Random kernels whose points look at neighbours, for what random programs seldom have: checks that
//! all points ask, neighbouring rows, and distances that are known when a loop begins.

use std::fmt::Write as _;

use crate::eval::{Data, Inputs};
use crate::ir::Program;
use crate::ir::stages::kernels::Kernels;
use crate::testing::Rng;

/// A kernel over `N` by `M`, or over `M`, with inputs. It may panic.
pub(super) fn random(rng: &mut Rng) -> (Program<Kernels>, Inputs) {
    let mut kernel = Kernel {
        text: String::new(),
        next: 20,
        rows: rng.chance(60),
    };
    for _ in 0..=rng.below(3) {
        kernel.part(rng);
    }
    let (place, points) = match kernel.rows {
        true => ("%0, %1", "%0: N, %1: M"),
        false => ("%3, %1", "%1: M"),
    };
    let text = format!(
        "fn f(x: i64[N, M], y: i64[L], lag: i64, own z: i64[N, M]) -> i64[N, M] {{
           %2 = const 0usize
           %4 = size N
           %5 = gt %4, %2
           if %5 {{
             %3 = trust N %2
             par {points} {{
               %6 = const 0i64
               %7 = var %6
               {}
               %8 = get %7
               store z[{place}], %8
             }}
           }} else {{ }}
           return z
         }}",
        kernel.text
    );
    let program = crate::ir::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let [n, m] = [0, 0].map(|_| rng.pick(&[0, 1, 2, 3, 5, 8, 9, 13]));
    let long = rng.between(-1, 6);
    let length = usize::try_from(n.max(m) as i64 + long).unwrap_or(0);
    let mut data = |shape: &[usize]| {
        let count = shape.iter().product();
        Data::i64s(shape, (0..count).map(|_| rng.between(-99, 99)))
    };
    let params = vec![data(&[n, m]), data(&[length]), data(&[]), data(&[n, m])];
    let mut inputs = Inputs {
        sizes: vec![n, m, length],
        params,
    };
    inputs.params[2] = Data::from(rng.between(-9, 9));
    (program, inputs)
}

struct Kernel {
    text: String,
    next: usize,
    rows: bool,
}

impl Kernel {
    fn bind(&mut self, op: &str) -> usize {
        self.next += 1;
        let _ = writeln!(self.text, "%{} = {op}", self.next);
        self.next
    }

    /// Something that a point looks at, in a loop or not.
    fn part(&mut self, rng: &mut Rng) {
        let loops = rng.chance(40).then(|| {
            let extent = rng.pick(&["3", "M", "L"]);
            let index = self.bind("const 0i64") + 1;
            self.next = index;
            let _ = writeln!(self.text, "for %{index}: {extent} {{");
            index
        });
        let (axis, extent) = match self.rows && rng.chance(60) {
            true => (0, "N"),
            false => (1, "M"),
        };
        let mut position = self.bind(&format!("cast i64 %{axis}"));
        if let Some(index) = loops {
            let k = self.bind(&format!("cast i64 %{index}"));
            position = self.bind(&format!("add %{position}, %{k}"));
        }
        let by = self.bind(&format!("const {}i64", rng.between(-3, 3)));
        position = self.bind(&format!("add %{position}, %{by}"));
        if rng.chance(25) {
            position = self.bind(&format!("sub %{position}, lag"));
        }
        match rng.below(6) {
            5 => self.own_row(position, axis, rng.chance(20)),
            0 => {
                let [other, checked] = [30, 40].map(|percent| rng.chance(percent));
                self.guarded(position, axis, extent, other, checked);
            }
            1 => {
                let index = self.bind(&format!("check L %{position}"));
                self.look(&format!("y[%{index}]"));
            }
            2 => self.compared(position, extent, rng),
            _ => {
                let policy = rng.pick(&["wrap", "clamp_to", "mirror"]);
                let index = self.bind(&format!("{policy} {extent} %{position}"));
                self.at(index, axis);
            }
        }
        if loops.is_some() {
            self.text.push_str("}\n");
        }
    }

    /// An element of `x` at an index of an axis.
    fn at(&mut self, index: usize, axis: usize) {
        let row = if self.rows { 0 } else { 3 };
        match axis {
            0 => self.look(&format!("x[%{index}, %1]")),
            _ => self.look(&format!("x[%{row}, %{index}]")),
        }
    }

    fn look(&mut self, place: &str) {
        let value = self.bind(&format!("load {place}"));
        let _ = writeln!(self.text, "combine add %7[], %{value}");
    }

    /// An element of a row that the point makes, as long as its own index says: what is in range
    /// there says nothing of the loop. Checked, or only where there is one.
    fn own_row(&mut self, position: usize, axis: usize, checked: bool) {
        let length = self.bind(&format!("cast usize %{axis}"));
        let row = self.bind(&format!("alloc i64[%{length}]"));
        self.next += 1;
        let place = self.next;
        let _ = writeln!(self.text, "for %{place}: %{length} {{");
        let number = self.bind(&format!("cast i64 %{place}"));
        let _ = writeln!(self.text, "store %{row}[%{place}], %{number}\n}}");
        let there = self.bind(&format!("in_range %{length} %{position}"));
        if checked {
            let index = self.bind(&format!("check %{length} %{position}"));
            return self.look(&format!("%{row}[%{index}]"));
        }
        let _ = writeln!(self.text, "if %{there} {{");
        let index = self.bind(&format!("trust %{length} %{position}"));
        self.look(&format!("%{row}[%{index}]"));
        self.text.push_str("} else { }\n");
    }

    /// Only where there is something; of the other table if asked for. Checked there, which cannot be
    /// done in front of the points of a row, or not.
    fn guarded(&mut self, position: usize, axis: usize, extent: &str, other: bool, checked: bool) {
        let extent = if other { "L" } else { extent };
        let there = self.bind(&format!("in_range {extent} %{position}"));
        let _ = writeln!(self.text, "if %{there} {{");
        let prove = if checked { "check" } else { "trust" };
        let index = self.bind(&format!("{prove} {extent} %{position}"));
        match other {
            true => self.look(&format!("y[%{index}]")),
            false => self.at(index, axis),
        }
        self.text.push_str("} else { }\n");
    }

    /// What depends on how far an end of the axis is.
    fn compared(&mut self, position: usize, extent: &str, rng: &mut Rng) {
        let size = self.bind(&format!("size {extent}"));
        let end = match rng.chance(50) {
            true => self.bind(&format!("cast i64 %{size}")),
            false => self.bind(&format!("const {}i64", rng.between(-1, 3))),
        };
        let compare = rng.pick(&["lt", "le", "gt", "ge", "eq", "ne"]);
        let truth = self.bind(&format!("{compare} %{position}, %{end}"));
        let _ = writeln!(self.text, "if %{truth} {{ combine add %7[], %{position}");
        self.text.push_str("} else { }\n");
    }
}
