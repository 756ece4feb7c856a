//! Asks the tool as the suite does.

use pointful_gradbench::protocol::serve;
use serde_json::{Value, json};

/// What the tool answers to these messages.
pub(crate) fn answers(messages: &str) -> Vec<Value> {
    let mut out = Vec::new();
    serve(messages.as_bytes(), &mut out).expect("memory can be written");
    let text = String::from_utf8(out).expect("JSON is text");
    let read = |line| serde_json::from_str(line).expect("a line is an answer");
    text.lines().map(read).collect()
}

/// What the tool answers when it is asked to evaluate a function once.
pub(crate) fn evaluate(module: &str, function: &str, input: &Value) -> Value {
    let message = json!({
        "id": 1, "kind": "evaluate", "module": module, "function": function, "input": input,
    });
    answers(&message.to_string()).remove(0)
}

/// The numbers of a result, in order.
pub(crate) fn output(module: &str, function: &str, input: &Value) -> Vec<f64> {
    let answer = evaluate(module, function, input);
    assert_eq!(answer["success"], true, "{module} {function}: {answer}");
    let mut numbers = Vec::new();
    collect(&answer["output"], &mut numbers);
    numbers
}

fn collect(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Number(number) => numbers.push(number.as_f64().expect("a number is a float")),
        Value::Array(list) => list.iter().for_each(|v| collect(v, numbers)),
        Value::Object(fields) => fields.values().for_each(|v| collect(v, numbers)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Both are equal but for rounding.
#[track_caller]
pub(crate) fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}");
    for (k, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let off = (f - e).abs() / e.abs().max(1.0);
        assert!(
            off <= tolerance,
            "number {k} is {f}, not {e}\n{found:?}\n{expected:?}"
        );
    }
}

/// The Jacobian of a function with respect to the numbers of some fields of its input, by
/// differences: row by row.
pub(crate) fn differences(
    module: &str,
    function: &str,
    input: &Value,
    fields: &[&str],
) -> Vec<f64> {
    const STEP: f64 = 1e-6;
    let mut columns = Vec::new();
    for field in fields {
        for path in numbers(&input[field], format!("/{field}")) {
            let at = |step: f64| {
                let mut input = input.clone();
                let number = input.pointer_mut(&path).expect("the path was found");
                *number = json!(number.as_f64().expect("the path is a number's") + step);
                output(module, function, &input)
            };
            let (up, down) = (at(STEP), at(-STEP));
            let column = up.iter().zip(down).map(|(u, d)| (u - d) / (2.0 * STEP));
            columns.push(column.collect::<Vec<f64>>());
        }
    }
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows)
        .flat_map(|row| columns.iter().map(move |column| column[row]))
        .collect()
}

/// Where in a value there are numbers.
fn numbers(value: &Value, path: String) -> Vec<String> {
    match value {
        Value::Array(list) => {
            let each = list.iter().enumerate();
            each.flat_map(|(k, v)| numbers(v, format!("{path}/{k}")))
                .collect()
        }
        _ => vec![path],
    }
}
