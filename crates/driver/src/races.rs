//! Warnings of loops that go wrong for certain when their iterations run at once, as their directives say.
//!
//! The standards trust who writes a directive, and so do we; but what is proven to be wrong is told, with the
//! accesses and the remedy.

use ir::construct::{Leaf, ReductionOp};
use ir::program::{Program, Typed, VarId};
use opt::dependence::{Analysis, DependenceKind};
use opt::marks::{Options, Trust};
use opt::races::{Race, What};
use source::{Diagnostic, Diagnostics};

/// Accesses to one place in different iterations.
const DEPENDENT: &str = "F0730";
/// A sum that no clause names.
const SUM: &str = "F0731";
/// A variable of which all iterations share one copy.
const SHARED: &str = "F0732";

/// What is to be told of a program. `lowered`: it is lowered too, with so much trust, which tells of those loops that it runs in
/// order.
pub(crate) fn warnings(program: &Program, lowered: Option<Trust>) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !program.regions.iter().any(|it| !it.1.loops.is_empty()) {
        return found;
    }
    let analysis = Analysis::new(program);
    let marks = Options { trust: lowered.unwrap_or_default(), ..Options::default() };
    for race in analysis.races() {
        let construct = &program.regions[race.region].construct;
        let is_ordered = construct.rules.orders_refuted;
        let is_held = match is_ordered {
            true => matches!(race.what, What::Memory { .. }),
            false => {
                let is_unsaid = !matches!(race.what, What::Memory { .. });
                is_unsaid && marks.trust == Trust::Strict
                    || analysis.is_distrusted(race.stmt, &marks)
            }
        };
        if !(lowered.is_some() && is_held) {
            found.push(warning(program, &race, is_ordered));
        }
    }
    found
}

fn warning(program: &Program, race: &Race, is_ordered: bool) -> Diagnostic {
    let construct = &program.regions[race.region].construct;
    let who =
        if construct.has(Leaf::Simd) && construct.leaves.len() == 1 { "lanes" } else { "threads" };
    let name = |var: VarId| program.vars[var].name.map_or("memory", |it| program.names.text(it));
    let says = match is_ordered {
        true => "takes its iterations to be independent".to_owned(),
        false => format!("{who} share the iterations of this loop"),
    };
    match &race.what {
        What::Memory { var, kind, first, second } => {
            let (what, one, other) = match kind {
                DependenceKind::Flow => (
                    "written in one iteration and read in a later one",
                    "written here",
                    "read here",
                ),
                DependenceKind::Anti => (
                    "read in one iteration and written in a later one",
                    "read here",
                    "written here",
                ),
                DependenceKind::Output => ("written in two iterations", "written here", "and here"),
            };
            let message =
                format!("iterations of this loop depend on each other: `{}` is {what}", name(*var));
            let note = match is_ordered {
                true => "such a program has no meaning by its standard; the loop is run in order",
                false => {
                    "they run at once all the same, as the directive says: the result is left to chance"
                }
            };
            let help = match is_ordered {
                true => "write `seq` here, or mark loops whose iterations are independent",
                false => "take the directive away, or mark loops whose iterations are independent",
            };
            Diagnostic::warning(DEPENDENT, message)
                .at(construct.span, says)
                .label(*first, format!("{one} in one iteration"))
                .label(*second, format!("{other} in a later one"))
                .note(note)
                .help(help)
        }
        What::Sum { var, op, at } => {
            let (name, word) = (name(*var), operator(op));
            let message =
                format!("all iterations combine something into `{name}`, and no clause says so");
            Diagnostic::warning(SUM, message)
                .at(construct.span, says)
                .label(*at, "here")
                .help(format!("add `reduction({word}: {name})`"))
        }
        What::Scalar { var, written, read } => {
            let name = name(*var);
            let message = format!("all iterations write to the one `{name}` that they share");
            let found = Diagnostic::warning(SHARED, message)
                .at(construct.span, says)
                .label(*written, "written here");
            match read {
                Some(read) => found
                    .label(*read, "what an earlier iteration has left there is read here")
                    .help(
                        "take the directive away, or compute the value from the iteration's number",
                    ),
                None => {
                    found.help(format!("add `private({name})`, or declare it inside of the loop"))
                }
            }
        }
    }
}

fn operator(op: &ReductionOp<Typed>) -> &'static str {
    match op {
        ReductionOp::Add | ReductionOp::Sub | ReductionOp::User(_) => "+",
        ReductionOp::Mul => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
    }
}
