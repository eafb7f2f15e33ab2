//! Variables of which each team has one.
//!
//! A team's copy is a variable of the block that the team runs: its threads share it, and other teams
//! have theirs. Functions that are called there would see the program's own variable, so a region
//! that reaches one which uses it is refused.

use ir::construct::Leaf;
use ir::program::{ExprKind, Program, RegionId, StmtId, VarId};
use ir::walk::Part;

use super::Lowering;
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Variables that the teams of a region have for themselves.
    pub(super) fn group_vars(&self, id: RegionId) -> Vec<VarId> {
        let region = &self.program.regions[id];
        if !region.construct.has(Leaf::Teams) && !region.construct.has(Leaf::Offload) {
            return Vec::new();
        }
        let grouped = self.program.declarations.iter();
        let grouped = grouped.filter(|it| it.construct.has(Leaf::Groupprivate));
        let mut vars: Vec<VarId> = Vec::new();
        for var in grouped.flat_map(|it| it.vars.iter().copied()) {
            let is_used = region.body.is_some_and(|it| uses(self.program, it, var));
            let is_reached = region.reaches.iter().any(|it| {
                self.program.functions[*it].body.is_some_and(|it| uses(self.program, it, var))
            });
            if is_reached {
                self.out_of_reach(id, var);
            }
            if is_used && !vars.contains(&var) {
                vars.push(var);
            }
        }
        vars
    }

    fn out_of_reach(&self, id: RegionId, var: VarId) {
        let name = self.program.vars[var].name.map_or("", |it| self.program.names.text(it));
        let fault = source::Diagnostic::error(
            "F0037",
            format!(
                "`{name}`, of which each team has one, is used in a function that is called here"
            ),
        )
        .at(self.program.regions[id].span, "the function would not see the team's own")
        .help("pass it to the function, by address if need be");
        self.state.borrow_mut().faults.push(fault);
    }

    /// A construct whose teams have variables for themselves: the league, a block with the
    /// variables, and the rest of the construct in it.
    pub(super) fn grouped(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        vars: &[VarId],
        out: &mut Out<'_>,
    ) {
        let (league, rest) = match leaves.split_first() {
            Some((Leaf::Teams, rest)) => (true, rest),
            _ => (false, leaves),
        };
        if league {
            let spelled = self.fitted(printer, id, &[Leaf::Teams]);
            if let Some(pragma) = self.pragma(&spelled) {
                out.raw(&pragma);
            }
        }
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            for var in vars {
                let name = format!("__ferry_group{}", self.fresh());
                out.line(&format!("{};", printer.declare_like(*var, &name)));
                out.line(&format!("__builtin_memset(&{name}, 0, sizeof({name}));"));
                inside.substitute(*var, name);
            }
            self.parts(&inside, id, rest, out);
        });
        out.line("}");
    }
}

fn uses(program: &Program, stmt: StmtId, wanted: VarId) -> bool {
    program.any_expr(Part::Stmt(stmt), |it| *it == ExprKind::Var(wanted))
}
