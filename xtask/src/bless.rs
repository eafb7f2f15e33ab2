//! `cargo xtask bless`: make every golden file say what the compiler answers now.
//!
//! Runs all tests with the variables that our case runner (`BLESS`) and insta (`INSTA_UPDATE`)
//! understand, then lists the files that changed. Reading that list is the author's duty.

use std::path::Path;
use std::process::Command;

/// `Ok(false)`: a test failed for another reason than an outdated golden file.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let mut tests = Command::new("cargo");
    tests.args(["test", "--workspace", "--quiet", "--no-fail-fast"]).current_dir(root);
    tests.env("BLESS", "1").env("INSTA_UPDATE", "always").env("INSTA_FORCE_PASS", "1");
    let status = tests.status().map_err(|error| format!("cannot run cargo: {error}"))?;

    let goldens = ["*.snap", "*.expect"];
    let mut changes = Command::new("git");
    changes.args(["status", "--short", "--untracked-files=all", "--"]).args(goldens);
    let changes = changes.current_dir(root).output();
    let changes = changes.map_err(|error| format!("cannot run git: {error}"))?;
    let changes = String::from_utf8_lossy(&changes.stdout);
    if changes.is_empty() {
        println!("bless: no golden file changed");
    } else {
        println!(
            "bless: read what changed before you commit it (git diff):\n{}",
            changes.trim_end()
        );
    }
    Ok(status.success())
}
