use pointful_compiler::ir::{Mode, print};
use pointful_compiler::{ir, testing::*};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "seeds" {
        let a: u64 = args[2].parse().unwrap();
        let b: u64 = args[3].parse().unwrap();
        let mut bad = 0;
        let mut fine = 0;
        let mut un = 0;
        let mut why = std::collections::BTreeMap::new();
        for seed in a..b {
            let r = std::panic::catch_unwind(|| check_one(seed));
            match r {
                Ok(Ok(Checked::Fine(c))) => {
                    fine += 1;
                    let ratio = c[2].ops as f64 / (c[0].ops.max(20) as f64);
                    if ratio > 6.0 {
                        println!("seed {seed} ratio {ratio:.1} {} {}", c[0].ops, c[2].ops);
                    }
                }
                Ok(Ok(Checked::Unsuitable(w))) => {
                    un += 1;
                    *why.entry(w).or_insert(0) += 1;
                }
                Ok(Err(e)) => {
                    bad += 1;
                    println!("seed {seed} {}", e.lines().next().unwrap());
                }
                Err(_) => {
                    bad += 1;
                    println!("seed {seed} PANIC");
                }
            }
        }
        println!("{why:?}");
        println!("fine {fine} unsuitable {un} bad {bad}");
        return;
    }
    if args[1] == "show" { let (p, _) = random_point(args[2].parse().unwrap(), Options::default()); println!("{}", print(&p)); let b = |p: &_| { use pointful_compiler::passes::*; bulk(&dce(&cse(&simplify(p)))) }; println!("{}", print(&b(&derivative(&p, Mode::Cotangent)))); for m in [Mode::Tangent, Mode::Cotangent] { println!("{}", print(&expanded(&derivative(&p, m)))); } return; }
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let program = ir::parse::<ir::stages::point::Point>(&text).unwrap_or_else(|e| panic!("{e}"));
    for mode in [Mode::Tangent, Mode::Cotangent] {
        let d = derivative(&program, mode);
        println!("{}", print(&expanded(&d)));
    }
}
fn check_one(seed: u64) -> Result<Checked, String> {
    use pointful_compiler::eval::ScalarValue;
    let (program, mut inputs) = random_point(seed, Options::default());
    let rng = &mut Rng::new(seed);
    for data in &mut inputs.params {
        for value in &mut data.values {
            if let Some(x) = value.float() {
                *value = ScalarValue::from_float(
                    data.elem,
                    x + 0.01 * (rng.between(-1_000_000, 1_000_000) as f64 / 1_000_003.0),
                );
            }
        }
    }
    check_derivative(&program, &inputs, seed)
}
