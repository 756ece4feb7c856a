//! The compiler runs while users wait: functions of 400 statements, loops eight deep and their
//! gradients each take less than 200 ms.

use pointful_corpus::speed::MEASURED;

#[test]
fn large_functions_are_compiled_at_once() {
    let mut slow = MEASURED.iter().filter(|(_, micros, _)| *micros >= 200_000);
    assert!(slow.next().is_none(), "{MEASURED:?}");
}

#[test]
fn what_is_emitted_is_linear_in_statements() {
    let tokens = |name: &str| {
        let found = MEASURED.iter().find(|(found, ..)| *found == name);
        found.map(|(_, _, tokens)| *tokens as f64).expect(name)
    };
    for kind in ["", "the gradient of "] {
        let half = tokens(&format!("{kind}200 statements"));
        let whole = tokens(&format!("{kind}400 statements"));
        assert!(whole < 2.3 * half, "{kind}{half} and {whole}");
    }
}
