//! Each evaluation on inputs so small that its answers are known, and its derivatives against
//! differences.

use std::f64::consts::{LN_2, PI};

use serde_json::{Value, json};

use crate::ask::{differences, evaluate, near, output};

/// The input, to be run once.
fn once(mut input: Value) -> Value {
    input["min_runs"] = json!(1);
    input["min_seconds"] = json!(0.0);
    input
}

/// Numbers of no pattern between -1 and 1.
fn some(n: usize, seed: f64) -> Vec<f64> {
    (0..n)
        .map(|k| (seed + 1.7 * k as f64 * (k as f64 + seed)).sin())
        .collect()
}

fn some_rows(n: usize, m: usize, seed: f64) -> Vec<Vec<f64>> {
    (0..n).map(|k| some(m, seed + k as f64)).collect()
}

#[test]
fn hello() {
    for x in [0.0, 1.5, -3.0] {
        assert_eq!(output("hello", "square", &json!(x)), [x * x]);
        assert_eq!(output("hello", "double", &json!(x)), [2.0 * x]);
    }
}

#[test]
fn det() {
    let input = |a: &[f64], ell: usize| once(json!({"A": a, "ell": ell}));
    assert_eq!(output("det", "primal", &input(&[], 0)), [1.0]);
    assert_eq!(output("det", "primal", &input(&[-3.0], 1)), [-3.0]);
    assert_eq!(output("det", "gradient", &input(&[-3.0], 1)), [1.0]);
    let two = input(&[1.0, 2.0, 3.0, 4.0], 2);
    assert_eq!(output("det", "primal", &two), [-2.0]);
    assert_eq!(output("det", "gradient", &two), [4.0, -3.0, -2.0, 1.0]);
    let three = input(&[2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0], 3);
    assert_eq!(output("det", "primal", &three), [18.0]);
    let five = input(&some(25, 0.3), 5);
    let expected = differences("det", "primal", &five, &["A"]);
    near(&output("det", "gradient", &five), &expected, 1e-7);
}

#[test]
fn gmm() {
    // One component in one dimension, and a prior whose degrees of freedom make its density an exponential one.
    let (x, mu, q) = (0.7, 0.2, -0.4_f64);
    let one = once(json!({
        "d": 1, "k": 1, "n": 1, "x": [[x]], "alpha": [0.9], "mu": [[mu]], "q": [[q]], "l": [[]],
        "gamma": 1.0, "m": 0,
    }));
    let precision = (2.0 * q).exp();
    let likelihood = q - 0.5 * (2.0 * PI).ln() - 0.5 * precision * (x - mu) * (x - mu);
    let expected = likelihood - LN_2 - 0.5 * precision;
    near(&output("gmm", "objective", &one), &[expected], 1e-12);

    let (d, k, n) = (3, 2, 5);
    let many = once(json!({
        "d": d, "k": k, "n": n, "gamma": 1.3, "m": 2, "alpha": some(k, 0.1), "x": some_rows(n, d, 1.0),
        "mu": some_rows(k, d, 2.0), "q": some_rows(k, d, 3.0), "l": some_rows(k, d * (d - 1) / 2, 4.0),
    }));
    let answer = evaluate("gmm", "jacobian", &many);
    for field in ["alpha", "mu", "q", "l"] {
        let mut found = Vec::new();
        let list = answer["output"][field].as_array().expect("a list");
        for row in list {
            let row = row.as_array().cloned().unwrap_or_else(|| vec![row.clone()]);
            found.extend(row.iter().filter_map(Value::as_f64));
        }
        near(
            &found,
            &differences("gmm", "objective", &many, &[field]),
            1e-7,
        );
    }
}

#[test]
fn ba() {
    // A camera that is not turned sees the point straight ahead.
    let cam = |turn: [f64; 3], distortion: [f64; 2]| {
        let rest = [0.5, -1.0, 1.0, 3.0, 10.0, 20.0];
        [turn.as_slice(), &rest, &distortion].concat()
    };
    let input = |cam: Vec<f64>, p: usize| {
        once(json!({
            "n": 1, "m": 1, "p": p, "cam": cam, "x": [1.5, 1.0, 5.0], "w": 0.5, "feat": [9.0, 21.0],
        }))
    };
    let straight = input(cam([0.0; 3], [0.0; 2]), 3);
    let answer = evaluate("ba", "objective", &straight)["output"].clone();
    // At (1, 2, 4) from the camera: a quarter and a half, three times as large, from (10, 20).
    let expected = json!({
        "reproj_error": {"elements": [0.875, 0.25], "repeated": 3},
        "w_err": {"element": 0.75, "repeated": 3},
    });
    assert_eq!(answer, expected);

    for turn in [[0.0; 3], [0.3, -0.2, 0.5]] {
        let input = input(cam(turn, [0.1, -0.02]), 1);
        let answer = evaluate("ba", "jacobian", &input)["output"].clone();
        assert_eq!(answer["rows"], json!([0, 15, 30, 31, 31]));
        let columns: Vec<usize> = (0..15).chain(0..15).chain([14]).collect();
        assert_eq!(answer["cols"], json!(columns));
        let values: Vec<f64> = serde_json::from_value(answer["vals"].clone()).expect("numbers");
        // Of what the differences are taken of, the counts are constant: errors and weights are the rows 0, 1 and 3.
        let by = |fields: &[&str]| differences("ba", "objective", &input, fields);
        let all = by(&["cam", "x", "w"]);
        near(&values[..30], &all[..30], 1e-6);
        near(&values[30..], &by(&["w"])[3..4], 1e-6);
    }
}

/// A hand of four bones and five vertices, two of which a triangle has.
fn hand(places: usize, triangles: Value, of: &[usize]) -> Value {
    let bones = 4;
    let matrix = |seed: f64| {
        let mut rows = some_rows(3, 4, seed);
        rows.push(vec![0.0, 0.0, 0.0, 1.0]);
        rows
    };
    let position = |k: usize| [some(3, k as f64).as_slice(), &[1.0]].concat();
    once(json!({
        "theta": some(26, 0.7),
        "us": some_rows(places, 2, 9.0),
        "data": {
            "correspondences": of,
            "points": some_rows(of.len(), 3, 6.0),
            "model": {
                "parents": [-1, 0, 1, 1],
                "base_relatives": (0..bones).map(|b| matrix(b as f64)).collect::<Vec<_>>(),
                "inverse_base_absolutes": (0..bones).map(|b| matrix(20.0 + b as f64)).collect::<Vec<_>>(),
                "base_positions": (0..5).map(position).collect::<Vec<_>>(),
                "weights": some_rows(5, bones, 30.0),
                "triangles": triangles,
                "is_mirrored": true,
            },
        },
    }))
}

#[test]
fn ht() {
    let vertices = hand(0, json!([]), &[4, 0, 4]);
    let expected = differences("ht", "objective", &vertices, &["theta"]);
    near(&output("ht", "jacobian", &vertices), &expected, 1e-6);

    let triangles = json!([[0, 1, 2], [4, 3, 1]]);
    let one = hand(1, triangles.clone(), &[1]);
    let expected = differences("ht", "objective", &one, &["us", "theta"]);
    let first = output("ht", "jacobian", &one);
    near(&first, &expected, 1e-6);
    // Each point has columns for its own place only.
    let mut two = hand(2, triangles, &[1, 0]);
    two["data"]["points"][0] = one["data"]["points"][0].clone();
    two["us"][0] = one["us"][0].clone();
    let both = output("ht", "jacobian", &two);
    assert_eq!(both.len(), 2 * first.len());
    near(&both[..first.len()], &first, 1e-12);
}

#[test]
fn ht_at_rest() {
    let mut rest = hand(0, json!([]), &[2]);
    rest["theta"] = json!(vec![0.0; 26]);
    rest["theta"][4] = json!(10.0);
    let unit: Vec<Vec<f64>> = (0..4)
        .map(|i| (0..4).map(|j| f64::from(i == j)).collect())
        .collect();
    let model = &mut rest["data"]["model"];
    model["base_relatives"] = json!(vec![unit.clone(); 4]);
    model["inverse_base_absolutes"] = json!(vec![unit; 4]);
    model["weights"] = json!(vec![[0.25; 4]; 5]);
    model["base_positions"][2] = json!([3.0, 4.0, 5.0, 1.0]);
    rest["data"]["points"][0] = json!([1.0, 1.0, 1.0]);
    near(
        &output("ht", "objective", &rest),
        &[4.0, -13.0, -4.0],
        1e-12,
    );
}

#[test]
fn lstm() {
    let (bits, layers) = (3, 2);
    let text = [
        [0.0, 1.0, 1.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
    ];
    let input = |scale: f64| {
        let scaled = |rows: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            rows.into_iter()
                .map(|row| row.into_iter().map(|x| scale * x).collect())
                .collect()
        };
        once(json!({
            "main_params": scaled(some_rows(2 * layers, 4 * bits, 1.0)),
            "extra_params": scaled(some_rows(3, bits, 2.0)),
            "state": scaled(some_rows(2 * layers, bits, 3.0)),
            "sequence": text,
        }))
    };
    // Without parameters every bit is predicted to be zero: four of nine are one, and ln 5 normalises.
    near(
        &output("lstm", "objective", &input(0.0)),
        &[4.0 / 9.0 * 5.0_f64.ln()],
        1e-12,
    );
    let input = input(1.0);
    let expected = differences(
        "lstm",
        "objective",
        &input,
        &["main_params", "extra_params"],
    );
    near(&output("lstm", "jacobian", &input), &expected, 1e-7);
}

#[test]
fn kmeans() {
    let input = once(json!({
        "points": [[0.0, 0.0], [2.0, 0.0], [10.0, 10.0]],
        "centroids": [[1.0, 1.0], [9.0, 10.0]],
    }));
    assert_eq!(output("kmeans", "cost", &input), [2.0 + 2.0 + 1.0]);
    // A step of Newton's leads to the mean of a centre's points.
    assert_eq!(output("kmeans", "dir", &input), [0.0, 1.0, -1.0, 0.0]);
}

#[test]
fn llsq() {
    let c = 0.25;
    let constant = once(json!({"x": [c], "n": 3}));
    let expected = 0.5 * ((1.0 + c) * (1.0 + c) + c * c + (1.0 - c) * (1.0 - c));
    near(&output("llsq", "primal", &constant), &[expected], 1e-12);
    near(&output("llsq", "gradient", &constant), &[3.0 * c], 1e-12);
    let many = once(json!({"x": some(6, 0.2), "n": 11}));
    let expected = differences("llsq", "primal", &many, &["x"]);
    near(&output("llsq", "gradient", &many), &expected, 1e-7);
}

#[test]
fn lse() {
    let equal = once(json!({"x": [1000.0, 1000.0, 1000.0, 1000.0]}));
    near(
        &output("lse", "primal", &equal),
        &[1000.0 + 4.0_f64.ln()],
        1e-12,
    );
    near(&output("lse", "gradient", &equal), &[0.25; 4], 1e-12);
    let many = once(json!({"x": some(9, 0.6)}));
    let expected = differences("lse", "primal", &many, &["x"]);
    near(&output("lse", "gradient", &many), &expected, 1e-7);
}

#[test]
fn ode() {
    // Up to the fourth component the solution is a polynomial of a degree at which the method is exact.
    let [a, b, c, d] = [0.5, 0.7, -0.3, 1.1];
    let input = |steps: usize| once(json!({"x": [a, b, c, d], "s": steps}));
    let expected = [
        2.0 * a,
        2.0 * a * b,
        8.0 / 6.0 * a * b * c,
        16.0 / 24.0 * a * b * c * d,
    ];
    for steps in [1, 2, 10] {
        near(&output("ode", "primal", &input(steps)), &expected, 1e-12);
        let slope = [b * c * d, a * c * d, a * b * d, a * b * c].map(|s| 16.0 / 24.0 * s);
        near(&output("ode", "gradient", &input(steps)), &slope, 1e-12);
    }
    let many = once(json!({"x": some(7, 0.9), "s": 5}));
    let all = differences("ode", "primal", &many, &["x"]);
    near(&output("ode", "gradient", &many), &all[6 * 7..], 1e-7);
}

#[test]
fn particle() {
    for function in ["rr", "rf", "fr", "ff"] {
        let found = output("particle", function, &once(json!({"w": 0.0})));
        near(&found, &[0.207_191_9], 1e-6);
    }
}

#[test]
fn saddle() {
    for function in ["rr", "rf", "fr", "ff"] {
        let found = output("saddle", function, &once(json!({"start": [1.0, 1.0]})));
        near(&found, &[0.0; 4], 1e-4);
    }
}
