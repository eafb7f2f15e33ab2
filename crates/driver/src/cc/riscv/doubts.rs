//! What clang compiles without a word and computes wrongly: found in our own text before clang sees it, and refused.
//!
//! Clang 19 loses the value of `lastprivate(conditional: …)`, and the last value of a loop variable whose bounds
//! depend on an outer loop that is collapsed with it, and all that a `masked taskloop` reduces; of `atomic compare capture` it gives the value before where the one after
//! is asked for, and -1 for true. What it does not know, or has no runtime for, is refused by name too.

use super::super::markers::{Place, has_word};

/// What is wrong with a text, in words for its user.
pub(super) fn about(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let mut place = Place::default();
    while let Some(line) = lines.next() {
        place.go_on(line);
        if !line.trim_start().starts_with("#pragma") {
            continue;
        }
        if line.contains("reduction(inscan") && has_word(line, "for") {
            return Some(format!(
                "`reduction(inscan, …)`, which clang begins without the original value{place}"
            ));
        }
        if has_word(line, "masked") && has_word(line, "taskloop") && line.contains("reduction(") {
            return Some(format!(
                "a reduction of `masked taskloop`, which clang loses: write `taskloop` inside `masked`{place}"
            ));
        }
        if line.contains("depend(sink") || line.contains("depend(source") {
            return Some(format!("iterations that wait for others (doacross){place}"));
        }
        // Clang 19 does not know it, and says so in words about something else.
        if line.contains("allocate(") && line.contains("align(") {
            return Some(format!("a variable of threads that is to be aligned{place}"));
        }
        if has_word(line, "compare") && has_word(line, "capture") {
            let code = lines.clone().map(str::trim);
            let mut code = code.filter(|it| !it.is_empty() && !it.starts_with("# "));
            let is_block = code.next() == Some("{");
            let first = code.next().unwrap_or_default();
            if is_block && (first.starts_with("if ") || first.contains(" == ")) {
                return Some(format!(
                    "`atomic compare capture` that takes what is there afterwards, or the answer, which clang computes wrongly{place}"
                ));
            }
        }
        if !line.contains("lastprivate(") {
            continue;
        }
        if line.contains("lastprivate(conditional") {
            return Some(format!(
                "`lastprivate(conditional: …)`, which clang computes wrongly{place}"
            ));
        }
        let Some(depth) = number_behind(line, "collapse(") else { continue };
        let headers = lines.clone().map(str::trim).filter(|it| it.starts_with("for ("));
        let headers: Vec<&str> = headers.take(depth).collect();
        let names: Vec<&str> = headers.iter().filter_map(|it| variable(it)).collect();
        for (index, header) in headers.iter().enumerate() {
            let outer = names.get(..index).unwrap_or_default();
            if let Some(name) = outer.iter().find(|it| has_word(header, it)) {
                return Some(format!(
                    "`lastprivate` on collapsed loops of which one depends on `{name}`, which clang computes wrongly{place}"
                ));
            }
        }
    }
    None
}

fn number_behind(line: &str, word: &str) -> Option<usize> {
    let rest = line.split_once(word)?.1;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

/// `i` of `for (int i = 0; …`
fn variable(header: &str) -> Option<&str> {
    header.strip_prefix("for (")?.split('=').next()?.split_whitespace().last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clang_gets_wrong_is_found() {
        let check = |text: &str, part: Option<&str>| match (about(text), part) {
            (Some(said), Some(part)) => assert!(said.contains(part), "{said}"),
            (said, part) => assert_eq!(said.as_deref(), part, "{text}"),
        };
        check(
            "# 4 \"d.c\"\n#pragma omp for lastprivate(conditional: x)\nfor (int i = 0;;)",
            Some("conditional: …)`, which clang computes wrongly (d.c:4)"),
        );
        let nest = |bound: &str, clauses: &str| {
            format!(
                "#pragma omp parallel for {clauses}\n# 3 \"a.c\"\n  for (i = 0; i < 9; i++)\n  {{\n    for (long k = {bound}; k < 12; k++)\n"
            )
        };
        check(
            "# 7 \"b.c\"\n#pragma omp parallel private(z) allocate(align(64): z)\n",
            Some("(b.c:7)"),
        );
        let taskloop = |masked: &str| format!("#pragma omp {masked} taskloop reduction(+: s)\n");
        check(&taskloop("parallel masked"), Some("`masked taskloop`"));
        check(&taskloop("parallel master"), None);
        check("#pragma omp simd aligned(a: 64)\nfor (int i = 0;;)", None);
        check(&nest("i", "collapse(2) lastprivate(k)"), Some("`i`"));
        check(&nest("n + 2 * i", "lastprivate(i, k) collapse(2)"), Some("`i`"));
        check(&nest("ii", "collapse(2) lastprivate(k)"), None);
        check(&nest("i", "collapse(2)"), None);
        check(&nest("i", "lastprivate(x)"), None);
        check(&nest("i", "collapse(1) lastprivate(i)"), None);
    }
}
