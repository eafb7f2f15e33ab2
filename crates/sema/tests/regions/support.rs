//! One way to check a program, one to tell what its regions hold.

use directive::Directives;
use ir::layout::LP64;
use ir::program::Program;
use ir::region::{Attribute, LoopTest, Mapping, Origin, Pointee, Sharing};
use sema::Checked;

const BASE: u32 = 1;

fn run(text: &str) -> (Checked, Vec<String>) {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), BASE, &mut directives);
    let early: Vec<String> = parsed.diagnostics.iter().map(|it| it.message.clone()).collect();
    (sema::check(parsed.tree, &directives, &LP64), early)
}

fn slice(text: &str, span: source::Span) -> String {
    let from = span.start.saturating_sub(BASE) as usize;
    let to = span.end.saturating_sub(BASE) as usize;
    let words: Vec<&str> = text.get(from..to).unwrap_or("?").split_whitespace().collect();
    words.join(" ")
}

/// The faults of a program: `code | marked text`.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let (checked, mut found) = run(text);
    for it in &checked.diagnostics {
        let marked = it.primary.as_ref().map_or(String::new(), |label| slice(text, label.span));
        found.push(format!("{} | {marked}", it.code));
    }
    found
}

/// What the faults of a program mark besides the place of the fault itself.
pub(crate) fn labels(text: &str) -> Vec<String> {
    let (checked, _) = run(text);
    let labels = checked.diagnostics.iter().flat_map(|it| it.secondary.iter());
    labels.map(|it| slice(text, it.span)).collect()
}

/// The program breaks the rules so.
#[track_caller]
pub(crate) fn bad(text: &str, expected: &[&str]) {
    assert_eq!(faults(text), expected, "{text}");
}

/// The program keeps all rules.
#[track_caller]
pub(crate) fn good(text: &str) {
    assert_eq!(faults(text), Vec::<String>::new(), "{text}");
}

/// The body stands in a function with some variables at hand.
pub(crate) fn within(body: &str) -> String {
    format!(
        "struct pair {{ int a, b; }}; int a[100], b[10][10]; double d; const int k = 3;\n\
         void use(int); int get(void);\n\
         void f(int n, int m, int *p, double *q) {{\n\
         int i, j, x = 0, y = 0; double e = 0; struct pair s = {{0, 0}};\n{body}\n\
         use(i + j + x + y + m + n + s.a + (int)(e + d) + *p + (int)*q);\n}}\n"
    )
}

#[track_caller]
pub(crate) fn bad_body(body: &str, expected: &[&str]) {
    bad(&within(body), expected);
}

#[track_caller]
pub(crate) fn good_body(body: &str) {
    good(&within(body));
}

/// The variables of all regions: `name rw: sharing (why); mapping (why)`.
pub(crate) fn variables(text: &str) -> Vec<String> {
    let (checked, early) = run(text);
    assert!(early.is_empty(), "{early:?}");
    let program = &checked.program;
    let mut lines = Vec::new();
    for (_, region) in program.regions.iter() {
        lines.push(format!("{}:", directive::directive_name(&region.construct)));
        for it in &region.vars {
            let mut line = format!("  {} ", name(program, it.var));
            line.push_str(if it.read { "r" } else { "-" });
            line.push_str(if it.written { "w" } else { "-" });
            if let Some(it) = &it.sharing {
                line.push_str(&format!(" {} ({})", sharing(&it.value), origin(it, text, program)));
            }
            for it in &it.mappings {
                let what = mapping(&it.value, text, program);
                line.push_str(&format!(" {what} ({})", origin(it, text, program)));
            }
            lines.push(line);
        }
    }
    lines
}

/// What the regions do with data behind variables: `name rwe`, with `-` for what they do not.
pub(crate) fn pointees(text: &str) -> Vec<String> {
    let (checked, early) = run(text);
    assert!(early.is_empty(), "{early:?}");
    let program = &checked.program;
    let vars = program.regions.iter().flat_map(|(_, region)| &region.vars);
    let told = vars.filter(|it| it.pointee != Pointee::UNTOUCHED).map(|it| {
        let flag = |is: bool, letter| if is { letter } else { '-' };
        let Pointee { read, written, escapes } = it.pointee;
        let flags = [flag(read, 'r'), flag(written, 'w'), flag(escapes, 'e')];
        format!("{} {}", name(program, it.var), flags.iter().collect::<String>())
    });
    told.collect()
}

/// The loops of all regions: `var from begin test bound by step, trips`.
pub(crate) fn loops(text: &str) -> Vec<String> {
    let (checked, _) = run(text);
    let program = &checked.program;
    let written = |it: ir::program::ExprId| slice(text, program.exprs[it].span);
    let mut lines = Vec::new();
    for (_, region) in program.regions.iter() {
        for it in &region.loops {
            let test = match it.test {
                LoopTest::Lt => "<",
                LoopTest::Le => "<=",
                LoopTest::Gt => ">",
                LoopTest::Ge => ">=",
                LoopTest::Ne => "!=",
            };
            let mut line = format!(
                "{} from {} {test} {} by {}{}",
                name(program, it.var),
                written(it.begin),
                written(it.bound),
                if it.descending { "-" } else { "" },
                it.step.map_or("1".to_owned(), written),
            );
            if let Some(trips) = it.trips {
                line.push_str(&format!(", {trips} times"));
            }
            if !it.rectangular {
                line.push_str(", slanted");
            }
            lines.push(line);
        }
    }
    lines
}

/// What each region reaches, and how many calls go through pointers.
pub(crate) fn reached(text: &str) -> Vec<String> {
    let (checked, _) = run(text);
    let program = &checked.program;
    let regions = program.regions.iter().map(|(_, region)| {
        let names = region.reaches.iter().map(|&it| program.names.text(program.functions[it].name));
        format!("{} | {}", names.collect::<Vec<_>>().join(" "), region.indirect_calls.len())
    });
    regions.collect()
}

fn name(program: &Program, var: ir::program::VarId) -> String {
    program.vars[var].name.map_or("?".to_owned(), |it| program.names.text(it).to_owned())
}

fn sharing(it: &Sharing) -> String {
    if let Sharing::Reduction(_) = it { "Reduction".to_owned() } else { format!("{it:?}") }
}

fn mapping(it: &Mapping, text: &str, program: &Program) -> String {
    let Mapping::Map(motion, presence, part) = it else { return format!("{it:?}") };
    let part = part.map_or(String::new(), |it| format!(" {}", slice(text, program.exprs[it].span)));
    format!("Map {motion:?} {presence:?}{part}")
}

fn origin<A>(it: &Attribute<A>, text: &str, program: &Program) -> String {
    match it.origin {
        Origin::Clause(at) => format!("clause {at}"),
        Origin::Enclosing(region, at) => {
            let clause = program.regions[region].construct.clauses.get(at as usize);
            format!("around: {}", clause.map_or("?".to_owned(), |it| slice(text, it.span)))
        }
        Origin::Declared(at) => format!("declaration {at}"),
        Origin::Rule(rule) => format!("{rule:?}"),
    }
}
