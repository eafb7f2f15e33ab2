//! One way to ask: a program in, what is found of its loops out, as short lines.

use directive::Directives;
use ir::layout::LP64;
use ir::program::{Program, StmtKind};
use opt::dependence::{Analysis, DependenceKind, Finding, Range, Sum, Verdict};
use source::Span;

const BASE: u32 = 1;

/// The program of a text.
pub(crate) fn program(text: &str) -> Program {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), BASE, &mut directives);
    let early: Vec<_> = parsed.diagnostics.iter().map(|it| it.message.clone()).collect();
    assert!(early.is_empty(), "{early:?}\n{text}");
    let checked = sema::check(parsed.tree, &directives, &LP64);
    let faults: Vec<_> = checked
        .diagnostics
        .iter()
        .filter(|it| it.severity == source::Severity::Error)
        .map(|it| it.message.clone())
        .collect();
    assert!(faults.is_empty(), "{faults:?}\n{text}");
    checked.program
}

/// What is found of each `for` statement, in the order of the text.
pub(crate) fn findings(program: &Program) -> Vec<Finding> {
    let analysis = Analysis::new(program);
    let mut loops: Vec<_> = program
        .stmts
        .iter()
        .filter(|it| matches!(it.1.kind, StmtKind::For(_)))
        .map(|it| it.0)
        .collect();
    loops.sort_by_key(|&it| program.stmts[it].span.start);
    loops.into_iter().map(|it| analysis.examine(it)).collect()
}

/// The findings of a text.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let program = program(text);
    findings(&program).iter().map(|it| line(&program, text, it)).collect()
}

/// `parallel; private t; + s`
fn line(program: &Program, text: &str, finding: &Finding) -> String {
    let name = |var| {
        let name = program.vars[var].name;
        name.map_or("?".to_owned(), |it| program.names.text(it).to_owned())
    };
    match &finding.verdict {
        Verdict::Parallel => {
            let mut line = "parallel".to_owned();
            let own: Vec<String> = finding
                .private
                .iter()
                .filter(|it| Some(**it) != finding.var && !finding.last_private.contains(it))
                .map(|&it| name(it))
                .collect();
            if !own.is_empty() {
                line += &format!("; private {}", own.join(" "));
            }
            if !finding.last_private.is_empty() {
                let last: Vec<String> = finding.last_private.iter().map(|&it| name(it)).collect();
                line += &format!("; last {}", last.join(" "));
            }
            for (var, op) in &finding.reductions {
                line += &format!("; {op:?} {}", name(*var));
            }
            line
        }
        Verdict::Carried(it) => {
            let kind = match it.kind {
                DependenceKind::Flow => "flow",
                DependenceKind::Anti => "anti",
                DependenceKind::Output => "output",
            };
            let distance = it.distance.map_or(String::new(), |it| format!(" {it}"));
            let (first, second) = (slice(text, it.first.span), slice(text, it.second.span));
            format!("{kind}{distance}: {first} -> {second}")
        }
        Verdict::Unknown(it) => {
            let other = it.other.map_or(String::new(), |it| format!(" | {}", slice(text, it)));
            let mut line = format!("{}: {}{other}", it.reason.word(), slice(text, it.span));
            for it in &finding.conditions {
                let end = |it: &Range| {
                    let bytes = |it: &Sum| {
                        let terms = it.terms.iter().map(|(factor, vars)| {
                            let vars = vars.iter().map(|&it| format!(" {}", name(it)));
                            format!("{factor}{}", vars.collect::<String>())
                        });
                        terms.collect::<Vec<_>>().join(" + ")
                    };
                    format!("{}[{} : {}]", name(it.var), bytes(&it.low), bytes(&it.high))
                };
                line += &format!("; parallel unless {} meets {}", end(&it.first), end(&it.second));
            }
            line
        }
    }
}

fn slice(text: &str, span: Span) -> String {
    let from = span.start.saturating_sub(BASE) as usize;
    let to = span.end.saturating_sub(BASE) as usize;
    let words: Vec<&str> = text.get(from..to).unwrap_or("?").split_whitespace().collect();
    words.join(" ")
}

/// Statements in a function with some parameters at hand.
pub(crate) fn within(body: &str) -> String {
    format!(
        "double sqrt(double); double fmax(double, double); int printf(const char *, ...);\n\
         void other(void); struct pair {{ double x, y; int n; }};\n\
         void f(int n, int m, double *restrict p, double *restrict q, double *u, double *v) {{\n\
         {body}\n}}\n"
    )
}

/// The loops of a function body are found to be this.
#[track_caller]
pub(crate) fn check(body: &str, expect: &[&str]) {
    assert_eq!(lines(&within(body)), expect, "{body}");
}

/// Which loops of a function body carry a dependence for certain.
pub(crate) fn certain(body: &str) -> Vec<bool> {
    let program = program(&within(body));
    let is_certain = |it: &Finding| matches!(&it.verdict, Verdict::Carried(it) if it.certain);
    findings(&program).iter().map(is_certain).collect()
}
