//! Teams that do more than share one nest: each runs the construct's body, and they share loops in it.
//!
//! There may be more teams than groups: a group then runs one team after the other.

use ir::program::{ExprId, RegionId};

use crate::c::{Out, Printer};
use crate::lower::loops::{self, To};
use crate::lower::{Lowering, levels};

/// The team that a group runs, and how many there are, where that is not the groups themselves.
pub(in crate::lower) const TEAM: &str = "__ferry_mine";
pub(in crate::lower) const TEAMS: &str = "__ferry_league";

impl Lowering<'_> {
    /// How many teams a construct asks for, if it does; an error if that is not known in its kernel.
    pub(super) fn count_of_teams(
        &self,
        id: RegionId,
    ) -> Result<Option<ExprId>, Option<&'static str>> {
        match levels::counts(self.program, id) {
            // Where loops are all that teams do, it is all the same.
            None | Some([]) => Ok(None),
            Some([count])
                if self.changed.contains(&id)
                    || loops::constant(self.program, *count).is_some() =>
            {
                Ok(Some(*count))
            }
            Some(_) => Err(None),
        }
    }

    /// A body that each team runs: a group runs one team after the other, if they are more than groups.
    pub(super) fn each_team(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        count: Option<ExprId>,
        out: &mut Out<'_>,
    ) {
        let Some(body) = self.program.regions[id].body else { return };
        let count = match count {
            Some(count) => {
                let count = printer.expr(count);
                out.line(&format!("const long __ferry_asked = {count};"));
                "__ferry_asked > 0 ? (unsigned long)__ferry_asked : 1"
            }
            None => "__ferry_teams()",
        };
        out.line(&format!("const unsigned long {TEAMS} = {count};"));
        out.line(&format!(
            "for (unsigned long {TEAM} = __ferry_team(); {TEAM} < {TEAMS}; {TEAM} += __ferry_teams())"
        ));
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            self.copies_of_threads(printer, &mut inside, id, out);
            inside.stmt(body, out);
            out.leave();
            out.line("__ferry_meet();");
        });
        out.line("}");
    }

    /// A loop that teams share, of which a thread of a team runs what is the team's; answers whether it is one.
    pub(super) fn loop_of_teams(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> bool {
        let block = match &self.state.borrow().team {
            Some(team) if team.deals(id) => team.block().to_vec(),
            _ => return false,
        };
        out.beside(self.program.regions[id].span);
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            for it in block.into_iter().filter(|it| it.of == Some(id)) {
                inside.substitute(it.var, it.name);
            }
            let around = inside.clone();
            self.copies_of_threads(&around, &mut inside, id, out);
            self.deal(&inside, id, To::Teams, &[], out);
        });
        out.line("}");
        true
    }
}
