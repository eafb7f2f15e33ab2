//! Goldens are compared: no snapshot waits, no golden lacks its case, no case lacks a runner.

use super::Finding;

/// The test that hands the `ferry` binary to the runner in `tests/`.
const RUNNER: &str = "crates/driver/tests/cases.rs";

pub(super) fn check(paths: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let first_case = paths.iter().find(|it| it.starts_with("tests/cases/"));
    if let Some(case) = first_case.filter(|_| !paths.contains(&RUNNER)) {
        let message = format!("nothing runs the cases: {RUNNER} is missing (see tests/src/lib.rs)");
        findings.push(Finding::error(case, 0, message));
    }
    for path in paths {
        if path.ends_with(".snap.new") {
            let message = "a snapshot waits for review: run `cargo xtask bless` or remove it";
            findings.push(Finding::error(path, 0, message));
        }
        if let Some(stem) = path.strip_suffix(".expect") {
            // `NAME.expect` or `NAME.2.expect`, beside `NAME.c`; of a kernel beside `NAME.k`.
            let name = match stem.rsplit_once('.') {
                Some((name, number)) if number.parse::<usize>().is_ok() => name,
                _ => stem,
            };
            let case = format!("{name}.c");
            let kernel = format!("{name}.k");
            if !paths.contains(&case.as_str()) && !paths.contains(&kernel.as_str()) {
                findings.push(Finding::error(path, 0, format!("no case `{case}` beside it")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_golden_belongs_to_a_case() {
        let paths = [
            "t/a.c",
            "t/a.expect",
            "t/a.2.expect",
            "t/b.expect",
            "t/a.b.expect",
            "t/k.k",
            "t/k.expect",
        ];
        let found: Vec<String> = check(&paths).into_iter().map(|it| it.path).collect();
        assert_eq!(found, ["t/b.expect", "t/a.b.expect"]);
    }

    #[test]
    fn cases_have_a_runner() {
        assert_eq!(check(&["tests/cases/a.c"]).len(), 1);
        assert_eq!(check(&["tests/cases/a.c", RUNNER]), []);
    }

    #[test]
    fn snapshots_do_not_wait() {
        assert_eq!(check(&["crates/ir/src/snapshots/a.snap.new"]).len(), 1);
    }
}
