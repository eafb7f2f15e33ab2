//! Loops whose iterations are dealt to threads of a grid.
//!
//! One loop: threads that run in step take iterations side by side, and such bundles are dealt to the
//! groups in turns, so that few iterations busy all of the device. Several loops, for all threads:
//! a group takes a tile of the two innermost, so that its threads touch memory side by side in both
//! directions and one division finds a whole tile. Teams, and threads of one team, take iterations in
//! turns.

use super::{Code, Made, Maker, collapsed};
use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use ir::program::RegionId;

/// To whom iterations are dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum To {
    /// All threads of all groups.
    All,
    /// Groups.
    Teams,
    /// The threads of a group.
    Threads,
}

impl Lowering<'_> {
    /// The iterations of a region's loops that one thread or team has. `last`: what is done when the
    /// last of all iterations is.
    pub(in crate::lower) fn deal(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        to: To,
        last: &[String],
        out: &mut Out<'_>,
    ) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        let mut maker = Maker::new(self, printer, id);
        let nest = match maker.nest(body, collapsed(self.program, id)) {
            Ok(nest) => nest,
            Err(why) => return self.refuse_loops(id, &why),
        };
        nest.prelude.iter().for_each(|it| out.line(&it.line));
        let [all, at] = ["all", "at"].map(|it| maker.name(it));
        let found = match nest.loops.as_slice() {
            [outer @ .., high, wide] if to == To::All => {
                let tiles = maker.name("tiles");
                out.line(&format!(
                    "const struct __ferry_tiles {tiles} = __ferry_tiled({}, {});",
                    high.end, wide.end
                ));
                out.line(&format!("const unsigned long {all} = {};", product(outer, &tiles)));
                self.tile(outer, [high, wide], &tiles, &at)
            }
            loops => {
                out.line(&format!("const unsigned long {all} = {};", product(loops, "")));
                counters(loops, &at)
            }
        };
        let (first, step) = match to {
            To::All if nest.loops.len() == 1 => ("__ferry_thread()", "__ferry_threads()"),
            To::All | To::Teams => ("__ferry_team()", "__ferry_teams()"),
            To::Threads => ("__ferry_place()", "__ferry_places()"),
        };
        // Many loads on their way hide how long each takes; stores would keep them in order.
        let is_sum = region.vars.iter().any(|it| {
            matches!(
                it.sharing.as_ref().map(|it| &it.value),
                Some(ir::region::Sharing::Reduction(_))
            )
        });
        if is_sum && self.grid == Some(Grid::Cuda) && nest.loops.len() == 1 {
            out.raw("#pragma unroll 4");
        }
        out.line(&format!("for (unsigned long {at} = {first}; {at} < {all}; {at} += {step})"));
        out.line("{");
        out.indented(|out| {
            found.iter().for_each(|it| out.line(it));
            nest.loops.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            match last.is_empty() {
                true => maker.block(&nest.body, out),
                // The body may say `continue`.
                false => maker.block(&Code::Once(Box::new(nest.body.clone())), out),
            }
            let ends: Vec<String> =
                nest.loops.iter().map(|it| format!("{} + 1 == {}", it.counter, it.end)).collect();
            for line in last {
                out.line(&format!("if ({}) {{ {line} }}", ends.join(" && ")));
            }
        });
        out.line("}");
    }

    /// The counters of a thread, from the number of a tile; a thread beyond the ends has no iteration.
    fn tile(&self, outer: &[Made], inner: [&Made; 2], tiles: &str, at: &str) -> Vec<String> {
        let [high, wide] = inner;
        let mut lines = Vec::new();
        if !outer.is_empty() {
            lines.push(format!(
                "const unsigned long {at}_o = __ferry_quotient({at}, {tiles}.across * {tiles}.down);"
            ));
            lines.extend(counters(outer, &format!("{at}_o")));
        }
        let tile = match outer.is_empty() {
            true => at.to_owned(),
            false => format!("__ferry_rest({at}, {tiles}.across * {tiles}.down)"),
        };
        lines.push(format!("const unsigned long {at}_t = {tile};"));
        for (one, line) in [
            (high, format!("__ferry_quotient({at}_t, {tiles}.across) * {tiles}.high + {tiles}.y")),
            (wide, format!("__ferry_rest({at}_t, {tiles}.across) * {tiles}.wide + {tiles}.x")),
        ] {
            lines.push(format!("const unsigned long {} = {line};", one.counter));
        }
        lines.push(format!(
            "if ({} >= {} || {} >= {}) continue;",
            high.counter, high.end, wide.counter, wide.end
        ));
        lines
    }
}

/// How many iterations loops have, in so many tiles.
fn product(loops: &[Made], tiles: &str) -> String {
    let mut factors: Vec<String> = loops.iter().map(|it| it.end.clone()).collect();
    if !tiles.is_empty() {
        factors.push(format!("{tiles}.across * {tiles}.down"));
    }
    factors.join(" * ")
}

/// The counters of loops, from the number of the iteration among all.
fn counters(loops: &[Made], at: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, one) in loops.iter().enumerate() {
        let inner: Vec<&str> = loops.iter().skip(place + 1).map(|it| it.end.as_str()).collect();
        let value = match inner.is_empty() {
            true => at.to_owned(),
            false => format!("__ferry_quotient({at}, {})", inner.join(" * ")),
        };
        let value = if place == 0 { value } else { format!("__ferry_rest({value}, {})", one.end) };
        lines.push(format!("const unsigned long {} = {value};", one.counter));
    }
    lines
}
