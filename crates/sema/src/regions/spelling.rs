//! Names of directives and clauses as the user spells them.

use ir::construct::{Construct, Convert, Spelled};
use ir::program::{ExprId, InitId, Program, Typed, VarId};
use ir::types::Ty;
use source::Name;

/// The directive's name: `target teams`.
pub(super) fn directive(construct: &Construct<Typed>) -> String {
    directive::directive_name(construct)
}

/// The name of one clause.
pub(super) fn clause(construct: &Construct<Typed>, at: u32) -> String {
    struct Blank;
    impl Convert<Typed, Spelled> for Blank {
        fn expr(&mut self, _: &ExprId) -> String {
            "x".to_owned()
        }
        fn ty(&mut self, _: &Ty) -> String {
            "int".to_owned()
        }
        fn init(&mut self, _: &InitId) -> String {
            "0".to_owned()
        }
        fn name(&mut self, _: &Name) -> String {
            "x".to_owned()
        }
    }
    let spelled = construct.convert(&mut Blank);
    let clause = spelled.clauses.get(at as usize);
    clause
        .and_then(|it| directive::clause_name(&it.kind, construct.dialect))
        .unwrap_or("clause")
        .to_owned()
}

/// The name of a variable.
pub(super) fn var(program: &Program, var: VarId) -> String {
    let name = program.vars[var].name;
    name.map_or_else(|| "(unnamed)".to_owned(), |it| program.names.text(it).to_owned())
}
