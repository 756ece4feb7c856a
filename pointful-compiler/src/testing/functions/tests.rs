use super::{random_lowered, random_source};
use crate::eval::{EvalError, run_limited};
use crate::ir::verify::verify;

#[test]
fn random_functions_compile_and_run() {
    let mut panics = 0;
    for seed in 0..300 {
        let (text, program, inputs) = random_lowered(seed);
        if let Err(error) = verify(&program) {
            panic!("seed {seed}: {error}\n{text}");
        }
        match run_limited(&program, &inputs, 5_000_000) {
            Ok(_) => {}
            Err(EvalError::Panic(_)) => panics += 1,
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
    }
    assert!(panics < 60, "{panics} of 300 panic");
}

#[test]
fn the_same_seed_gives_the_same_function() {
    assert_eq!(random_source(7), random_source(7));
    assert_ne!(random_source(7), random_source(8));
}
