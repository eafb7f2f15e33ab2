//! Which elements a round touches: `p 0+1t..1+1t writes fills`, one line for each array; `p: why` for those left.

use ir::program::{StmtKind, VarId};
use opt::dependence::Analysis;
use opt::tiles::Line;

use super::support;

/// What is said of the first loop of a function body.
fn lines(body: &str) -> Vec<String> {
    let text = support::within(body);
    let program = support::program(&text);
    let analysis = Analysis::new(&program);
    let first = program.stmts.iter().find(|(id, _)| {
        // The outermost is the one that stands in no other.
        let is_for = |id| matches!(program.stmts[id].kind, StmtKind::For(_));
        is_for(*id)
            && !program.stmts.iter().any(|(other, it)| {
                other != *id
                    && is_for(other)
                    && it.span.start < program.stmts[*id].span.start
                    && it.span.end >= program.stmts[*id].span.end
            })
    });
    let Some((stmt, _)) = first else { return Vec::new() };
    let name = |var: VarId| program.vars[var].name.map_or("?", |it| program.names.text(it));
    let line = |it: &Line| match it.step.terms.is_empty() {
        true => it.at.text(&program),
        false => format!("{} by {}", it.at.text(&program), it.step.text(&program)),
    };
    match analysis.tiles(stmt) {
        Err(obstacle) => vec![obstacle.reason.word().to_owned()],
        Ok(tiles) => {
            let known = tiles.arrays.iter().map(|it| {
                let reaches =
                    it.reaches.iter().map(|it| format!("{} .. {}", line(&it.low), line(&it.high)));
                let reaches: Vec<String> = reaches.collect();
                let guards: Vec<String> = it.guards.iter().map(|it| it.text(&program)).collect();
                let mut text = format!("{} {}", name(it.var), reaches.join("; "));
                for (is_so, word) in [(it.writes, " writes"), (it.fills, " fills")] {
                    text += if is_so { word } else { "" };
                }
                if guards.is_empty() { text } else { format!("{text} if {}", guards.join(", ")) }
            });
            let left = tiles.left.iter().map(|it| format!("{}: {:?}", name(it.var), it.why));
            known.chain(left).collect()
        }
    }
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    assert_eq!(lines(body), expect, "{body}");
}

#[test]
fn elements_follow_the_rounds() {
    check("for (int i = 2; i < n; i += 3) p[i] = 0;", &["p 2 by 3 .. 3 by 3 writes fills"]);
    check("for (int i = n; i > 0; i--) p[i - 1] += 1;", &["p n - 1 by -1 .. n by -1 writes"]);
    check(
        "for (int i = 1; i < n; i++) q[i] = p[i - 1] + p[i + 1];",
        &["p 0 by 1 .. 3 by 1", "q 1 by 1 .. 2 by 1 writes fills"],
    );
}

#[test]
fn loops_inside_make_the_reach_longer() {
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { p[i * m + j] = 0; p[i * m + j] += q[j]; }",
        &["p 0 by m .. m by m writes fills", "q 0 .. m"],
    );
    check(
        "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) p[i * m + j] = 1;",
        &["p 0 by m + 1 .. m by m writes fills"],
    );
    // Nobody knows which way the distance goes: it is asked.
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < 5; j++) p[i] += q[j * m];",
        &["p 0 by 1 .. 1 by 1 writes", "q 0 .. 4 * m + 1 if m"],
    );
}

#[test]
fn what_is_not_written_for_certain_is_not_filled() {
    check(
        "for (int i = 0; i < n; i++) if (q[i]) p[i] = 1;",
        &["p 0 by 1 .. 1 by 1 writes", "q 0 by 1 .. 1 by 1"],
    );
    check(
        "for (int i = 0; i < n; i++) { if (i == m) continue; p[i] = 1; }",
        &["p 0 by 1 .. 1 by 1 writes"],
    );
    check(
        "for (int i = 0; i < n; i++) { q[i] = p[i]; p[i] = 1; }",
        &["p 0 by 1 .. 1 by 1 writes", "q 0 by 1 .. 1 by 1 writes fills"],
    );
}

#[test]
fn what_is_not_known_is_left() {
    check("for (int i = 0; i < n; i++) p[(int)u[i]] = 1;", &["u 0 by 1 .. 1 by 1", "p: Subscript"]);
    check("for (int i = 0; i < n; i++) p[3] = i;", &["p: Shared"]);
    check("for (int i = 0; i < n; i++) p[i * i] = i;", &["p: Subscript"]);
    check("for (int i = 0; i < n; i++) { if (p[i]) break; }", &["break"]);
}
