//! The suite's protocol: a message of JSON a line, a response a line.

use std::any::Any;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::evals;

/// Answers every line of `messages` by one line of `responses`, until there are no more.
///
/// # Errors
/// If reading or writing fails. A message that makes no sense is answered by an error, like a
/// function that fails.
pub fn serve(messages: impl BufRead, mut responses: impl Write) -> io::Result<()> {
    for line in messages.split(b'\n') {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        serde_json::to_writer(&mut responses, &answer(&line))?;
        responses.write_all(b"\n")?;
        responses.flush()?;
    }
    Ok(())
}

/// What is read of any message.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    module: String,
    #[serde(default)]
    function: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What is written in any response.
#[derive(Default, Serialize)]
struct Response {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<Vec<Timing>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How long one part of the work took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    name: &'static str,
    nanoseconds: u64,
}

fn answer(line: &[u8]) -> Response {
    let message: Message<'_> = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            return Response {
                success: Some(false),
                error: Some(format!("no message of the protocol: {error}")),
                ..Response::default()
            };
        }
    };
    let response = Response {
        id: message.id.clone(),
        ..Response::default()
    };
    match message.kind.as_str() {
        "start" => Response {
            tool: Some("pointful"),
            ..response
        },
        "define" => match evals::module(&message.module) {
            Ok(_) => Response {
                success: Some(true),
                ..response
            },
            Err(failure) => response.failed(failure),
        },
        "evaluate" => match evaluate(&message) {
            Ok(answer) => Response {
                success: Some(true),
                output: Some(answer.output),
                timings: Some(answer.timings),
                ..response
            },
            Err(failure) => response.failed(failure),
        },
        _ => response,
    }
}

impl Response {
    fn failed(self, failure: Failure) -> Self {
        Self {
            success: Some(false),
            error: Some(failure.0),
            ..self
        }
    }
}

fn evaluate(message: &Message<'_>) -> Result<Answer, Failure> {
    let evaluate = evals::module(&message.module)?;
    let input = message.input.ok_or("there is no `input`")?;
    let request = Request {
        function: &message.function,
        input,
    };
    // Functions check at entry that the sizes of their arguments agree, and panic with both where they do not.
    catch_unwind(AssertUnwindSafe(|| evaluate(&request))).unwrap_or_else(|panic| Err(said(&*panic)))
}

fn said(panic: &(dyn Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    Failure(text.unwrap_or("the function panicked").to_owned())
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct Failure(String);

impl<E: ToString> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// A function's result, and how long each of its runs took.
#[derive(Debug)]
pub struct Answer {
    output: Box<RawValue>,
    timings: Vec<Timing>,
}

/// One function of a module to evaluate at one input.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The function's name.
    pub function: &'a str,
    input: &'a RawValue,
}

/// How often to run a function: both, whichever takes longer.
#[derive(Deserialize)]
struct Runs {
    #[serde(default)]
    min_runs: usize,
    #[serde(default)]
    min_seconds: f64,
}

impl Request<'_> {
    /// The input.
    ///
    /// # Errors
    /// If it is something else.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        Ok(serde_json::from_str(self.input.get())?)
    }

    /// Runs a function once and answers with its result.
    ///
    /// # Errors
    /// If the result has no form in JSON.
    pub fn once<T: Serialize>(&self, run: impl FnOnce() -> T) -> Result<Answer, Failure> {
        let start = Instant::now();
        let output = run();
        let timings = vec![evaluation(start.elapsed())];
        Ok(Answer {
            output: to_raw_value(&output)?,
            timings,
        })
    }

    /// Runs a function as often as the input says and answers with what `show` makes of its last
    /// result.
    ///
    /// # Errors
    /// If the input does not say how often, or if what is shown has no form in JSON.
    pub fn repeat<T, S: Serialize>(
        &self,
        mut run: impl FnMut() -> T,
        show: impl FnOnce(T) -> S,
    ) -> Result<Answer, Failure> {
        let runs: Runs = self.input()?;
        let (mut timings, mut total) = (Vec::new(), Duration::ZERO);
        loop {
            let start = Instant::now();
            let output = std::hint::black_box(run());
            let elapsed = start.elapsed();
            timings.push(evaluation(elapsed));
            total += elapsed;
            if timings.len() >= runs.min_runs && total.as_secs_f64() >= runs.min_seconds {
                return Ok(Answer {
                    output: to_raw_value(&show(output))?,
                    timings,
                });
            }
        }
    }

    /// There is no function of the name.
    ///
    /// # Errors
    /// Always.
    pub fn unknown(&self) -> Result<Answer, Failure> {
        Err(format!("there is no function `{}`", self.function).into())
    }
}

fn evaluation(elapsed: Duration) -> Timing {
    Timing {
        name: "evaluate",
        nanoseconds: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
    }
}
