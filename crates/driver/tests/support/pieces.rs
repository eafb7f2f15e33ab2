//! What the machine has, asked once in a run of tests.

use std::path::Path;
use std::{env, fs};

use crate::support::ferry;

/// What `ferry devices --json` or `ferry doctor --json` says. It asks compilers and drivers, and nothing that they say
/// changes while tests run: the first test of a run keeps the answer for the others.
pub(crate) fn machine(command: &str) -> String {
    let ask = || {
        String::from_utf8_lossy(&ferry(&[command, "--json"], Path::new(".")).stdout).into_owned()
    };
    let Ok(run) = env::var("NEXTEST_RUN_ID") else { return ask() };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{command}.json"));
    let kept = fs::read_to_string(&file).unwrap_or_default();
    if let Some((of, told)) = kept.split_once('\n')
        && of == run
    {
        return told.to_owned();
    }
    let told = ask();
    // Others see all of it or nothing.
    let made = tempfile::NamedTempFile::new_in(folder).expect("a temporary file");
    fs::write(made.path(), format!("{run}\n{told}")).expect("a file");
    made.persist(&file).expect("a file");
    told
}

/// What it says of one device or piece.
pub(crate) fn line_of(command: &str, name: &str) -> String {
    let told = machine(command);
    told.lines().find(|it| it.contains(name)).unwrap_or_default().to_owned()
}
