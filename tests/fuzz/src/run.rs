//! What the program of a batch does: it checks one compiled function after the other, and says what
//! it found.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use crate::check::Found;

/// A name, and what checks the function of that name.
pub type Check = (&'static str, fn() -> Found);

/// The last panic's words.
static LAST: Mutex<String> = Mutex::new(String::new());

/// No check should take longer.
const LONGEST: Duration = Duration::from_secs(120);

/// Runs all checks but as many as the first argument says. A line says which begins, one what came
/// of it: whoever reads them knows which it was that ended the process.
pub fn all(checks: &[Check]) {
    std::panic::set_hook(Box::new(|info| {
        *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = info.to_string();
    }));
    let first: usize = std::env::args()
        .nth(1)
        .map_or(0, |text| text.parse().expect("a number"));
    for (name, check) in &checks[first..] {
        say(&format!("begin {name}"));
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            if receiver.recv_timeout(LONGEST).is_err() {
                say("wrong it takes too long");
                std::process::exit(3);
            }
        });
        let found = catch_unwind(AssertUnwindSafe(check));
        sender.send(()).expect("it waits");
        watch.join().expect("it ends");
        let last =
            std::mem::take(&mut *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        match found {
            Ok(Found::Agrees) => say("agrees"),
            Ok(Found::Discarded) => say("discarded"),
            // What is missing on devices is said there.
            Ok(Found::Wrong(_)) if last.contains("`to_host()` brings it here") => say("discarded"),
            Ok(Found::Wrong(why)) => say(&format!("wrong {why} {}", last.replace('\n', " "))),
            Err(_) => say(&format!("wrong a panic {}", last.replace('\n', " "))),
        }
    }
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("somebody reads");
}
