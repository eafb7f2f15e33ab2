//! Directives in languages that are not read here: what of them asks for a device.

use ir::construct::Dialect;

use crate::{OPENACC, OPENMP};

/// What says that directives are meant for the host, or for nobody.
pub const SWITCHED_OFF: &str = "-fno-openmp, -fno-openacc";

/// How a language marks a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `#pragma omp`
    Pragma,
    /// `!$omp`, and in column one also `c$omp` and `*$omp`
    Comment,
}

/// The directive on a line that asks for a device, as its standard spells it without clauses: `target teams`. None
/// where the line asks for none, or its standard is off.
pub fn asked_on(line: &[u8], mark: Mark, off: &[Dialect]) -> Option<String> {
    let line = std::str::from_utf8(line.get(..line.len().min(1000))?).ok()?;
    let (word, rest) = match mark {
        Mark::Pragma => {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
            rest.starts_with(char::is_whitespace).then_some(())?;
            rest.trim_start().split_once(char::is_whitespace)?
        }
        Mark::Comment => {
            let fixed = line.get(..1).filter(|it| matches!(*it, "c" | "C" | "*"));
            let text = if fixed.is_some() {
                line.get(1..)?
            } else {
                line.trim_start().strip_prefix('!')?
            };
            text.strip_prefix('$')?.split_once(char::is_whitespace)?
        }
    };
    let (dialect, asks): (Dialect, fn(&str) -> bool) = match word.to_ascii_lowercase().as_str() {
        "omp" => (OPENMP, |it| it == "target"),
        "acc" => (OPENACC, |it| {
            let asking = [
                "parallel",
                "kernels",
                "serial",
                "data",
                "enter",
                "exit",
                "update",
                "host_data",
                "declare",
                "init",
                "set",
                "shutdown",
            ];
            asking.contains(&it)
        }),
        _ => return None,
    };
    if off.contains(&dialect) {
        return None;
    }
    let rest = rest.to_ascii_lowercase();
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut words = rest.split(|it| !is_name(it)).filter(|it| !it.is_empty());
    let first = words.next()?;
    if first == "metadirective" {
        return words.any(asks).then(|| first.to_owned());
    }
    // A clause begins where a parenthesis does, so the name of the directive has none.
    let plain = rest.split(['(', '!', ',']).next().unwrap_or_default();
    let name: Vec<&str> = plain.split_whitespace().take_while(|it| NAMES.contains(it)).collect();
    asks(first).then(|| if name.is_empty() { first.to_owned() } else { name.join(" ") })
}

/// Whether a line is a directive of OpenMP that code of devices may hang on: one that asks for a device, declares what is
/// there too, or says what the program requires of it.
pub fn concerns_devices(line: &[u8], mark: Mark, off: &[Dialect]) -> bool {
    let asks = asked_on(line, mark, off).is_some();
    let Ok(line) = std::str::from_utf8(line) else { return asks };
    let line = line.trim_start().to_ascii_lowercase();
    let words = match mark {
        Mark::Pragma => {
            line.strip_prefix('#').and_then(|it| it.trim_start().strip_prefix("pragma"))
        }
        Mark::Comment => line.strip_prefix(['!', 'c', '*']).and_then(|it| it.strip_prefix('$')),
    };
    let mut words = words.unwrap_or_default().split(|it: char| !it.is_alphanumeric() && it != '_');
    let mut words = words.by_ref().filter(|it| !it.is_empty());
    let is_openmp = words.next() == Some("omp") && !off.contains(&OPENMP);
    let declares = ["declare", "declare_target", "begin", "requires", "interop", "dispatch"];
    asks || (is_openmp && words.next().is_some_and(|it| declares.contains(&it)))
}

/// Words that names of directives about devices are made of.
const NAMES: &[&str] = &[
    "target",
    "teams",
    "distribute",
    "parallel",
    "for",
    "do",
    "simd",
    "loop",
    "data",
    "enter",
    "exit",
    "update",
    "kernels",
    "serial",
    "host_data",
    "declare",
    "init",
    "set",
    "shutdown",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, mark: Mark, expect: Option<&str>) {
        assert_eq!(asked_on(line.as_bytes(), mark, &[]).as_deref(), expect, "{line}");
    }

    #[test]
    fn what_asks_for_a_device_is_found_in_pragmas() {
        let pragma = |line, expect| check(line, Mark::Pragma, expect);
        pragma("#pragma omp target map(from: x)", Some("target"));
        pragma(
            "  # pragma omp target teams distribute parallel for",
            Some("target teams distribute parallel for"),
        );
        pragma("#pragma omp target enter data map(to: a)", Some("target enter data"));
        pragma("#pragma acc parallel loop copy(a)", Some("parallel loop"));
        pragma("#pragma acc data", Some("data"));
        pragma(
            "#pragma omp metadirective when(device={kind(nohost)}: parallel) default(target)",
            Some("metadirective"),
        );
        pragma("#pragma omp parallel for", None);
        pragma("#pragma omp declare target", None);
        pragma("#pragma omp task depend(out: target)", None);
        pragma("#pragma acc routine seq", None);
        pragma("#pragma ompx target", None);
        pragma("int omp; // #pragma omp target", None);
    }

    #[test]
    fn what_asks_for_a_device_is_found_in_comments_of_fortran() {
        let comment = |line, expect| check(line, Mark::Comment, expect);
        comment("  !$omp target teams map(tofrom: a)", Some("target teams"));
        comment("!$OMP TARGET DATA MAP(A)", Some("target data"));
        comment("c$acc kernels", Some("kernels"));
        comment("*$acc parallel loop", Some("parallel loop"));
        comment("!$omp end target", None);
        comment("! $omp target", None);
        comment("#pragma omp target", None);
    }

    #[test]
    fn a_standard_that_is_off_asks_for_nothing() {
        assert_eq!(asked_on(b"#pragma omp target", Mark::Pragma, &[OPENMP]), None);
        assert!(asked_on(b"#pragma omp target", Mark::Pragma, &[OPENACC]).is_some());
    }
}
