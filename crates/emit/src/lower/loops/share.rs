//! Loops whose iterations are dealt to teams that are counted: each team computes its share.
//!
//! The loops become one over all their iterations. A team takes turns of equal size, or one turn if
//! no size is asked for.

use super::{Code, Dealer, Made, Maker, collapsed};
use crate::c::{Out, Printer};
use crate::lower::Lowering;
use ir::program::RegionId;

/// Whose share it is, and how large its turns are, as C.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Share {
    pub(in crate::lower) team: String,
    pub(in crate::lower) teams: String,
    pub(in crate::lower) turn: Option<String>,
}

impl Lowering<'_> {
    /// The iterations of a region's loops that belong to one team.
    pub(in crate::lower) fn share_of_team(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        share: &Share,
        out: &mut Out<'_>,
    ) {
        let Some(body) = self.program.regions[id].body else { return };
        let mut maker = Maker::new(self, printer, id, Dealer::Us);
        let nest = match maker.nest(body, collapsed(self.program, id)) {
            Ok(nest) => nest,
            Err(why) => return self.refuse_loops(id, &why),
        };
        let [all, turn, first, at] = ["all", "turn", "first", "at"].map(|it| maker.name(it));
        nest.prelude.iter().for_each(|it| out.line(&it.line));
        let trips: Vec<&str> = nest.loops.iter().map(|it| it.end.as_str()).collect();
        out.line(&format!("const unsigned long {all} = {};", trips.join(" * ")));
        let Share { team, teams, .. } = share;
        let size = match &share.turn {
            Some(size) => format!("({size}) > 0 ? ({size}) : 1"),
            None => format!("({all} + {teams} - 1) / {teams}"),
        };
        out.line(&format!("const unsigned long {turn} = {size};"));
        out.line(&format!(
            "for (unsigned long {first} = {team} * {turn}; {first} < {all}; \
             {first} += {teams} * {turn})"
        ));
        out.line(&format!(
            "for (unsigned long {at} = {first}; {at} < {all} && {at} - {first} < {turn}; {at}++)"
        ));
        out.line("{");
        out.indented(|out| {
            counters(&nest.loops, &at).iter().for_each(|it| out.line(it));
            nest.loops.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            match maker.ends.is_empty() {
                true => maker.block(&nest.body, out),
                // The body may say `continue`.
                false => maker.block(&Code::Once(Box::new(nest.body.clone())), out),
            }
            for line in &maker.ends {
                out.line(&format!("if ({at} + 1 == {all}) {{ {line} }}"));
            }
        });
        out.line("}");
    }
}

/// The counters of loops, from the number of the iteration among all.
fn counters(loops: &[Made], at: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, one) in loops.iter().enumerate() {
        let inner: Vec<&str> = loops.iter().skip(place + 1).map(|it| it.end.as_str()).collect();
        let value = match inner.is_empty() {
            true => at.to_owned(),
            false => format!("{at} / ({})", inner.join(" * ")),
        };
        let value = if place == 0 { value } else { format!("{value} % {}", one.end) };
        lines.push(format!("const unsigned long {} = {value};", one.counter));
    }
    lines
}
