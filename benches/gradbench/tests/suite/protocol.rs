//! The messages that are not about one evaluation, and those that cannot be answered.

use serde_json::json;

use crate::ask::{answers, evaluate};

#[test]
fn every_message_has_an_answer_with_its_number() {
    let lines = [
        json!({"id": 0, "kind": "start", "eval": "hello"}),
        json!({"id": 1, "kind": "define", "module": "hello"}),
        json!({"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 3.0}),
        json!({"id": 3, "kind": "analysis", "of": 2, "valid": true}),
        json!({"id": 4, "kind": "end"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answers = answers(&text);
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4].map(|id| json!(id)));
    assert_eq!(answers[0], json!({"id": 0, "tool": "pointful"}));
    assert_eq!(answers[1], json!({"id": 1, "success": true}));
    assert_eq!(answers[2]["output"], 9.0);
    assert_eq!(answers[2]["timings"][0]["name"], "evaluate");
    assert_eq!(answers[3], json!({"id": 3}));
}

#[test]
fn a_function_runs_as_often_as_is_asked() {
    let runs = |input| {
        evaluate("lse", "primal", &input)["timings"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(
        runs(json!({"x": [1.0], "min_runs": 7, "min_seconds": 0.0})),
        Some(7)
    );
    assert_eq!(
        runs(json!({"x": [1.0], "min_runs": 0, "min_seconds": 0.0})),
        Some(1)
    );
    assert!(runs(json!({"x": [1.0], "min_runs": 1, "min_seconds": 0.01})) > Some(1));
}

#[test]
fn every_module_of_the_suite_is_there_and_no_other() {
    let define = |module: &str| {
        let message = json!({"id": 0, "kind": "define", "module": module});
        answers(&message.to_string()).remove(0)["success"].clone()
    };
    for module in [
        "ba", "det", "gmm", "hello", "ht", "kmeans", "llsq", "lse", "lstm", "ode", "particle",
        "saddle",
    ] {
        assert_eq!(define(module), true, "{module}");
    }
    assert_eq!(define("goodbye"), false);
    assert_eq!(define(""), false);
}

#[test]
fn what_cannot_be_answered_is_an_error_and_the_next_message_is_answered() {
    let lines = [
        "no message",
        "{\"id\": 1, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\"}",
        "{\"id\": 2, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"cube\", \"input\": 1}",
        "{\"id\": 3, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\", \"input\": \"x\"}",
        "{\"id\": 4, \"kind\": \"evaluate\", \"module\": \"det\", \"function\": \"primal\", \"input\": {\"A\": [1, 2], \"ell\": 2}}",
        "{\"id\": 5, \"kind\": \"evaluate\", \"module\": \"det\", \"function\": \"primal\", \"input\": {\"A\": [], \"ell\": 99}}",
        "{\"id\": 6, \"kind\": \"evaluate\", \"module\": \"hello\", \"function\": \"square\", \"input\": 2}",
    ];
    let answers = answers(&lines.join("\n\n"));
    assert_eq!(answers.len(), lines.len());
    for answer in &answers[..6] {
        assert_eq!(answer["success"], false, "{answer}");
        assert!(
            answer["error"].as_str().is_some_and(|e| !e.is_empty()),
            "{answer}"
        );
    }
    assert_eq!(answers[6]["output"], 4.0);
}

#[test]
fn a_function_that_panics_says_why() {
    // Two components, of which one has a mean: the function itself finds that, when it is called.
    let input = json!({
        "d": 1, "k": 2, "n": 1, "x": [[0.0]], "alpha": [0.0, 0.0], "mu": [[0.0]],
        "q": [[0.0], [0.0]], "l": [[], []], "gamma": 1.0, "m": 0, "min_runs": 1, "min_seconds": 0.0,
    });
    let answer = evaluate("gmm", "objective", &input);
    assert_eq!(answer["success"], false, "{answer}");
    let error = answer["error"].as_str().expect("an error is text");
    assert!(error.contains("mean") && error.contains("alpha"), "{error}");
}
