//! A panic of the compiler is told by the error alone. The hook is the whole process's, so nothing
//! else is tested here.

use pointful_compiler::driver::{Options, attribute};

#[test]
fn nobody_else_is_told_of_a_panic() {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let item = "fn provokes_a_panic(x: f64) -> f64 { x }";
    let all = std::thread::scope(|scope| {
        let expand = || {
            let item = item.parse().expect("tokens");
            attribute(Default::default(), item, "file:1:1", Options::default()).to_string()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(expand)).collect();
        let texts = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        texts.collect::<Vec<String>>()
    });
    for text in all {
        assert!(text.contains("provoked 1"), "{text}");
    }
    let _ = std::panic::take_hook();
}
