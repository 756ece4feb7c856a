//! What derivatives cost: how much longer each of the suite's takes than its objective.
//! `cargo run --release -p pointful-adbench --bin ratios`; with names after it, only the objectives
//! whose names begin with one of them.

use std::env;

use pointful::prelude::*;
use pointful_adbench::{ba, data, gmm, hand, lstm};
use pointful_benches::{Comparison, compare};

fn main() {
    let wanted: Vec<String> = env::args().skip(1).collect();
    if wanted.first().is_some_and(|word| word == "--explain") {
        return explanations(&wanted[1..]);
    }
    println!("| objective | data | objective, ms | derivative, ms | ratio | quartiles | thesis |");
    println!("|---|---|---|---|---|---|---|");
    let wants = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start.as_str()))
    };
    if wants("GMM") {
        let shipped = gmm::Input::read(&data("gmm_d10_K25.txt")).expect("the data is shipped");
        let made = [(32, 50), (64, 25)].map(|(d, k)| {
            let what = format!("d{d} K{k}, 1000 points, made");
            (what, gmm::Input::made(d, k, 1000))
        });
        for (what, input) in [("d10 K25, 1000 points".to_owned(), shipped)]
            .into_iter()
            .chain(made)
        {
            let rounds = if input.mixture.icf.len() > 20_000 {
                5
            } else {
                15
            };
            row(
                "GMM",
                &what,
                "5.1",
                compare(rounds, || input.gradient(), || input.objective()),
            );
        }
    }
    if wants("BA") {
        let shipped =
            ba::Input::read(&data("ba1_n49_m7776_p31843.txt")).expect("the data is shipped");
        let larger = shipped.resized(257, 65132, 225_911);
        let rows = [
            ("49, 7776, 31843", shipped),
            ("257, 65132, 225911, made", larger),
        ];
        for (what, input) in rows {
            row(
                "BA",
                what,
                "13.0",
                compare(15, || input.jacobian(), || input.objective()),
            );
        }
    }
    if wants("D-LSTM") {
        let shipped = lstm::Input::read(&data("lstm_l2_c1024.txt")).expect("the data is shipped");
        let rows = [
            ("l2 c1024", shipped),
            ("l4 c4096, made", lstm::Input::made(4, 4096, 14)),
        ];
        for (what, input) in rows {
            row(
                "D-LSTM",
                what,
                "3.2",
                compare(15, || input.gradient(), || input.objective()),
            );
        }
    }
    if wants("HAND") {
        let model = ["hand_bones.txt", "hand_vertices.txt", "hand_triangles.txt"].map(data);
        let shipped =
            hand::Input::read(&data("hand1_t26_c100.txt"), &model[0], &model[1], &model[2]);
        let shipped = shipped.expect("the data is shipped");
        let larger = shipped.clone().with_points(10_000);
        for (what, input) in [
            ("26 angles, 100 points", shipped),
            ("26 angles, 10000 points, made", larger),
        ] {
            row(
                "HAND simple",
                what,
                "45.4",
                compare(15, || input.simple_jacobian(), || input.simple()),
            );
            row(
                "HAND complicated",
                what,
                "49.8",
                compare(15, || input.complicated_jacobian(), || input.complicated()),
            );
        }
    }
}

fn row(objective: &str, what: &str, thesis: &str, c: Comparison) {
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    println!(
        "| {objective} | {what} | {:.3} | {:.3} | {:.1} | {:.1} to {:.1} | {thesis} |",
        ms(c.theirs),
        ms(c.ours),
        c.ratio,
        c.quartiles.0,
        c.quartiles.1
    );
}

/// What the compiler makes of an objective and of its derivative.
fn explanations(wanted: &[String]) {
    let all = [
        (
            "GMM",
            explain!(gmm::objective),
            explain!(grad!(gmm::objective, wrt = mixture)),
        ),
        ("BA", explain!(ba::objective), explain!(ba::jacobian_blocks)),
        (
            "D-LSTM",
            explain!(lstm::objective),
            explain!(grad!(lstm::objective, wrt = network)),
        ),
        (
            "HAND simple",
            explain!(hand::simple),
            explain!(jacobian!(hand::simple, wrt = pose)),
        ),
        (
            "HAND complicated",
            explain!(hand::complicated),
            explain!(hand::complicated_jacobian),
        ),
    ];
    for (name, objective, derivative) in all {
        if wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start.as_str())) {
            println!("# {name}\n\n{objective}\n# its derivative\n\n{derivative}");
        }
    }
}
