//! Teams that are counted: exactly as many as the user asks for, dealt to the threads of the device.
//!
//! Teams may run one after the other: nothing lets one wait for another. Each has its copies of
//! variables, and takes its share of each loop that teams share ([`super::loops::Share`]); what it has
//! summed up is combined when it is done. Functions that take a share find the number of their team
//! in a variable of the thread.

use ir::construct::{ClauseKind, GangArg, Leaf};
use ir::program::RegionId;
use ir::region::{Origin, Sharing};

use super::copies::{Own, Start};
use super::loops::{self, Share};
use super::parts::Kept;
use super::unknown::lone;
use super::{Lowering, levels};
use crate::c::{Out, Printer};

/// The team that a thread runs, for functions that are called there; without one it is the only one.
const HERE: &str = "__ferry_here";

impl Lowering<'_> {
    /// Writes a construct that counted teams run, or a loop that they share; answers whether it is
    /// one.
    pub(super) fn counted_teams(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) -> bool {
        match leaves {
            _ if !self.changed.contains(&id) || self.is_in_words_of_host(id) => return false,
            [Leaf::Teams] => self.all_teams(printer, id, out),
            [Leaf::Distribute] => self.loop_of_team(printer, id, out),
            _ => return false,
        }
        true
    }

    fn all_teams(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        let mut pragma = lone(Leaf::Parallel, Vec::new(), region.construct.span);
        pragma.leaves.push(Leaf::For);
        self.say_where(out);
        out.line("{");
        out.indented(|out| {
            out.line(directive::MOST_THREADS.1);
            self.team_counts(printer, id, out);
            if let Some(pragma) = self.pragma(&pragma) {
                out.raw(&pragma);
            }
            out.line(
                "for (unsigned long __ferry_team = 0; __ferry_team < __ferry_teams; __ferry_team++)",
            );
            out.line("{");
            out.indented(|out| {
                let mut inside = printer.clone();
                for own in self.own_of_team(id) {
                    self.own_copy(printer, &mut inside, &own, out);
                }
                let kept = self.own_parts(printer, &mut inside, id, out);
                let sums = self.own_sums(printer, &mut inside, id, out);
                out.line(&format!(
                    "{HERE}.__team = __ferry_team; {HERE}.__teams = __ferry_teams;"
                ));
                inside.stmt(body, out);
                out.leave();
                out.line(&format!("{HERE}.__team = {HERE}.__teams = 0;"));
                self.combine(id, &sums, out);
                release(&kept, out);
                release(&sums.into_iter().map(|it| it.kept).collect::<Vec<_>>(), out);
            });
            out.line("}");
        });
        out.line("}");
    }

    /// Declares how many teams there are, in each dimension and together.
    pub(super) fn team_counts(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let unsaid = if self.grid.is_some() { "1" } else { directive::MOST_THREADS.0 };
        let counts: Vec<String> = levels::counts(self.program, id)
            .map(|it| it.iter().map(|it| printer.expr(*it)).collect())
            .unwrap_or_else(|| vec![unsaid.to_owned()]);
        for at in 0..3 {
            let count = counts.get(at).map_or("1", String::as_str);
            out.line(&format!(
                "const long __ferry_asked{at} = {count}; const unsigned long __ferry_teams{at} = \
                 __ferry_asked{at} > 0 ? (unsigned long)__ferry_asked{at} : 1;"
            ));
        }
        let all = "__ferry_teams0 * __ferry_teams1 * __ferry_teams2";
        out.line(&format!("const unsigned long __ferry_teams = {all};"));
    }

    /// Variables that each team has for itself. Those that nobody changes may stay shared.
    pub(super) fn own_of_team(&self, id: RegionId) -> Vec<Own> {
        let own = |it: &ir::region::RegionVar| {
            let sharing = it.sharing.as_ref()?;
            let start = match sharing.value {
                Sharing::Private => Start::Blank,
                Sharing::FirstPrivate
                    if it.written || matches!(sharing.origin, Origin::Clause(_)) =>
                {
                    Start::Copied
                }
                _ => return None,
            };
            let is_part = self.names_part(id, it.var);
            (!is_part).then_some(Own { var: it.var, start, storage: None })
        };
        self.program.regions[id].vars.iter().filter_map(own).collect()
    }

    /// A team's share of a loop.
    fn loop_of_team(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let share = self.share(printer, id);
        self.say_where(out);
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            for own in self.own_in_thread(id, false) {
                if !region.loops.iter().any(|it| it.var == own.var) {
                    self.own_copy(printer, &mut inside, &own, out);
                }
            }
            let kept = self.own_parts(printer, &mut inside, id, out);
            let sums = self.own_sums(printer, &mut inside, id, out);
            self.share_of_team(&inside, id, &share, out);
            self.combine(id, &sums, out);
            release(&kept, out);
            release(&sums.into_iter().map(|it| it.kept).collect::<Vec<_>>(), out);
        });
        out.line("}");
    }

    pub(super) fn share(&self, printer: &Printer<'_>, id: RegionId) -> Share {
        let region = &self.program.regions[id];
        let (mut turn, mut dim) = (None, 1);
        for kind in region.construct.kinds() {
            let ClauseKind::Gang(args) = kind else { continue };
            for arg in args {
                match arg {
                    GangArg::Static(size) => turn = size.map(|it| printer.expr(it)),
                    GangArg::Dim(it) => dim = loops::constant(self.program, *it).unwrap_or(1),
                    GangArg::Num(..) => {}
                }
            }
        }
        let regions = &self.program.regions;
        let mut around = std::iter::successors(region.parent, |it| regions[*it].parent);
        let is_inside = around.any(|it| regions[it].construct.has(Leaf::Offload));
        let (team, teams) = match (is_inside, dim) {
            (false, _) => (format!("{HERE}.__team"), format!("({HERE}.__teams + !{HERE}.__teams)")),
            (true, 2) => {
                ("(__ferry_team / __ferry_teams0 % __ferry_teams1)".into(), "__ferry_teams1".into())
            }
            (true, 3) => {
                let team = "(__ferry_team / (__ferry_teams0 * __ferry_teams1))";
                (team.into(), "__ferry_teams2".into())
            }
            (true, _) => ("(__ferry_team % __ferry_teams0)".into(), "__ferry_teams0".into()),
        };
        Share { team, teams, turn }
    }

    /// Declares the variable that holds the number of the team.
    fn say_where(&self, _: &mut Out<'_>) {
        let line = format!(
            "__attribute__((weak)) __thread struct {{ unsigned long __team, __teams; }} {HERE};\n"
        );
        let mut state = self.state.borrow_mut();
        state.is_framed = true;
        if !state.declarations.contains(&line) {
            state.declarations.push(line);
        }
    }
}

/// Gives back what copies were made in.
pub(super) fn release(kept: &[Kept], out: &mut Out<'_>) {
    kept.iter().for_each(|it| out.line(&format!("__builtin_free({});", it.memory)));
}
