//! Pending and orphaned goldens: no `.snap.new` file, and no `.expect` file without its case.

use super::Finding;

pub(super) fn check(paths: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in paths {
        if path.ends_with(".snap.new") {
            let message = "a snapshot waits for review: run `cargo xtask bless` or remove it";
            findings.push(Finding::error(path, 0, message));
        }
        if let Some(stem) = path.strip_suffix(".expect") {
            // `NAME.expect` or `NAME.2.expect`, beside `NAME.c`.
            let name = match stem.rsplit_once('.') {
                Some((name, number)) if number.parse::<usize>().is_ok() => name,
                _ => stem,
            };
            let case = format!("{name}.c");
            if !paths.contains(&case.as_str()) {
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
        let paths = ["t/a.c", "t/a.expect", "t/a.2.expect", "t/b.expect", "t/a.b.expect"];
        let found: Vec<String> = check(&paths).into_iter().map(|it| it.path).collect();
        assert_eq!(found, ["t/b.expect", "t/a.b.expect"]);
    }

    #[test]
    fn snapshots_do_not_wait() {
        assert_eq!(check(&["crates/ir/src/snapshots/a.snap.new"]).len(), 1);
    }
}
