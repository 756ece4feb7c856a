//! The compiler runs while users wait: what it does, and what it emits, is linear in statements.
//! Allocations and tokens are counted, which no other work on the machine changes.

use pointful_corpus::speed::COUNTED;

#[test]
fn work_and_what_is_emitted_are_linear_in_statements() {
    let counted = |name: &str| {
        let found = COUNTED.iter().find(|(found, ..)| *found == name);
        let (_, allocations, tokens) = *found.expect(name);
        [allocations as f64, tokens as f64]
    };
    for kind in ["", "the gradient of "] {
        let half = counted(&format!("{kind}200 statements"));
        let whole = counted(&format!("{kind}400 statements"));
        for (half, whole) in half.into_iter().zip(whole) {
            assert!(whole < 2.3 * half, "{kind}{half} and {whole}");
        }
    }
}

/// A tenth more than was counted when this was written: who makes the compiler do more says why.
#[test]
fn the_compiler_does_no_more_than_it_did() {
    let most = [
        ("400 statements", 390_000),
        ("the gradient of 400 statements", 630_000),
        ("a nest of 8 loops", 20_700),
        ("the gradient of a nest of 8 loops", 36_200),
        ("a nest of 8 sums", 32_700),
        ("the gradient of a nest of 8 sums", 46_000),
    ];
    for (name, most) in most {
        let found = COUNTED.iter().find(|(found, ..)| *found == name);
        let (_, allocations, _) = *found.expect(name);
        assert!(allocations < most, "{name}: {allocations}, at most {most}");
    }
}
