//! Nests in tiles: a thread computes several rows and columns of the last two loops at once.
//!
//! In: a nest whose body sums over a loop, with elements that are the same for all rows and others
//! that are the same for all columns: products of matrices. Out: threads that keep a tile of sums, so
//! that each element is loaded once for a row or column of them. The sum of each iteration is added up in
//! the order of the program, so it is the same number. Neighbours among threads have neighbours among columns.

use ir::program::{StmtId, VarId};

use super::deal::counters;
use super::inner::{self, Inner};
use super::{Code, Made, Maker, Nest};
use crate::c::{Out, Printer};

/// Rows of a tile.
const ROWS: usize = 8;
/// Threads side by side: they run in step.
const LANES: usize = 32;
/// Bytes for the sums of a row: what a thread can keep without memory.
const BYTES: u64 = 32;
/// With fewer iterations, threads that have tiles would be too few to keep a device busy.
const FROM: usize = 1 << 21;

/// A nest that may be computed so.
pub(super) struct Tiled {
    inner: Inner,
    columns: usize,
}

impl Maker<'_, '_> {
    /// Whether tiles are worth it.
    pub(super) fn tiled(&self, nest: &Nest) -> Option<Tiled> {
        let program = self.lowering.program;
        let Code::Stmt(body) = nest.body else { return None };
        let vars: Option<Vec<VarId>> =
            nest.loops.iter().map(|it| Some(it.user.as_ref()?.var)).collect();
        let vars = vars?;
        let [.., row, column] = *vars.as_slice() else { return None };
        let inner = inner::find(program, body)?;
        let [sum] = *inner.set.as_slice() else { return None };
        let has_own = inner.body.iter().any(|it| inner::declared(program, *it).is_some());
        if has_own || !inner.is_the_same_for(program, &vars) {
            return None;
        }
        let elements = inner.elements(program);
        let has = |(base, index): (_, _), var: VarId| {
            [base, index].into_iter().any(|it| inner::mentions(program, it, |it| it == var))
        };
        let is_shared = |by: VarId, of: VarId| {
            let mut all = elements.iter().copied();
            all.any(|it| !has(it, by) && has(it, of) && has(it, inner.counter))
        };
        let mut in_column = elements.iter().copied().filter(|it| has(*it, column));
        let is_neighbour =
            |(base, index)| !has((base, base), column) && inner::follows(program, index, column);
        if !is_shared(row, column) || !is_shared(column, row) || !in_column.all(is_neighbour) {
            return None;
        }
        let size = program.model.size_of(&program.types, program.vars[sum].ty).ok()?;
        let columns = usize::try_from(BYTES.checked_div(size)?.min(8)).ok()?;
        (columns > 1).then_some(Tiled { inner, columns })
    }

    /// The tiles of one thread. What follows is for the other cases.
    pub(super) fn put_tiles(&self, tiled: &Tiled, nest: &Nest, all: &str, out: &mut Out<'_>) {
        let [outer @ .., row, column] = nest.loops.as_slice() else { return };
        let width = LANES * tiled.columns;
        let [rows, columns, tile, top, left, lane] =
            ["rows", "columns", "tile", "top", "left", "lane"].map(|it| self.name(it));
        let threads = tiled.columns * ROWS;
        self.lowering.state.borrow_mut().spread = Some([1, threads, FROM]);
        out.line(&format!("if ({all} >= {FROM} && __ferry_places() % {LANES} == 0)"));
        out.line("{");
        out.indented(|out| {
            out.line(&format!(
                "/* Tiles of {ROWS} x {width}: a thread has {ROWS} x {}. */",
                tiled.columns
            ));
            let up = |trips: &str, by: usize| format!("({trips} + {}) / {by}", by - 1);
            out.line(&format!("const unsigned long {rows} = {};", up(&row.end, ROWS)));
            out.line(&format!("const unsigned long {columns} = {};", up(&column.end, width)));
            let mut count = vec![rows.as_str(), &columns];
            count.extend(outer.iter().map(|it| it.end.as_str()));
            out.line(&format!("const unsigned long {lane} = __ferry_thread() % {LANES};"));
            out.line(&format!(
                "for (unsigned long {tile} = __ferry_thread() / {LANES}; {tile} < {}; {tile} += \
                 __ferry_threads() / {LANES})",
                count.join(" * ")
            ));
            out.line("{");
            out.indented(|out| {
                out.line(&format!(
                    "const unsigned long {top} = __ferry_rest({tile}, {rows}) * {ROWS};"
                ));
                out.line(&format!(
                    "const unsigned long {left} = __ferry_rest(__ferry_quotient({tile}, {rows}), \
                     {columns}) * {width};"
                ));
                let around = format!("__ferry_quotient({tile}, {rows} * {columns})");
                counters(outer, &around).iter().for_each(|it| out.line(it));
                outer.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
                out.line(&format!(
                    "if ({top} + {ROWS} <= {} && {left} + {width} <= {})",
                    row.end, column.end
                ));
                out.line("{");
                out.indented(|out| self.whole_tile(tiled, nest, [&top, &left, &lane], out));
                out.line("}");
                out.line("else");
                let (i, j) = (&row.counter, &column.counter);
                out.line(&format!(
                    "for (unsigned long {i} = {top}; {i} < {top} + {ROWS} && {i} < {}; {i}++)",
                    row.end
                ));
                out.line(&format!(
                    "for (unsigned long {j} = {left} + {lane}; {j} < {left} + {width} && {j} < {}; \
                     {j} += {LANES})",
                    column.end
                ));
                out.line("{");
                out.indented(|out| {
                    row.before.iter().chain(&column.before).for_each(|it| out.line(it));
                    self.block(&nest.body, out);
                });
                out.line("}");
            });
            out.line("}");
        });
        out.line("}");
        out.line("else");
    }

    /// Everything once for each iteration of the tile, except for the loop.
    fn whole_tile(
        &self,
        tiled: &Tiled,
        nest: &Nest,
        [top, left, lane]: [&str; 3],
        out: &mut Out<'_>,
    ) {
        let [.., row, column] = nest.loops.as_slice() else { return };
        let name = |of: VarId, number: usize| {
            format!("__ferry_{}_{number}", self.outside.declared_name(of))
        };
        let mut declare = |one: &Made, counters: Vec<String>| -> Vec<(VarId, String)> {
            let Some(user) = &one.user else { return Vec::new() };
            let ty = self.lowering.program.vars[user.var].ty.plain();
            let put = |(number, counter): (usize, &String)| {
                let name = name(user.var, number);
                let value = user.value(self.outside, counter);
                out.line(&format!("{} = {value};", self.outside.declare(ty, &name)));
                (user.var, name)
            };
            counters.iter().enumerate().map(put).collect()
        };
        let rows = declare(row, (0..ROWS).map(|it| format!("({top} + {it})")).collect());
        let columns = (0..tiled.columns).map(|it| format!("({left} + {lane} + {})", it * LANES));
        let columns = declare(column, columns.collect());
        let mut copies: Vec<Printer<'_>> = Vec::new();
        for (row, row_name) in &rows {
            for (column, column_name) in &columns {
                let mut copy = self.inside.clone();
                copy.substitute(*row, row_name.clone());
                copy.substitute(*column, column_name.clone());
                copies.push(copy);
            }
        }
        let Inner { before, after, body, .. } = &tiled.inner;
        before.iter().for_each(|it| self.put_copies(*it, &mut copies, out));
        out.raw("#pragma unroll 2");
        out.line(&format!("for ({})", self.head(&tiled.inner)));
        out.line("{");
        out.indented(|out| body.iter().for_each(|it| self.put_copies(*it, &mut copies, out)));
        out.line("}");
        after.iter().for_each(|it| self.put_copies(*it, &mut copies, out));
        out.beside(self.lowering.program.stmts[tiled.inner.stmt].span);
    }

    /// `int k = 0; k < n; k++`
    fn head(&self, inner: &Inner) -> String {
        let printer = &self.inside;
        let counter = &self.lowering.program.vars[inner.counter];
        let declared = printer.declare(counter.ty, &printer.declared_name(inner.counter));
        let begin = printer.expr(inner.begin);
        format!(
            "{declared} = {begin}; {}; {}",
            printer.expr(inner.condition),
            printer.expr(inner.step)
        )
    }

    /// A statement once for each copy; what it declares has another name in each.
    fn put_copies(&self, stmt: StmtId, copies: &mut [Printer<'_>], out: &mut Out<'_>) {
        let program = self.lowering.program;
        for (number, copy) in copies.iter_mut().enumerate() {
            match inner::declared(program, stmt) {
                Some(var) => {
                    let name = format!("__ferry_{}_{number}", copy.declared_name(var));
                    out.line(&format!("{};", copy.local_as(var, &name)));
                    copy.substitute(var, name);
                }
                None => copy.stmt(stmt, out),
            }
        }
    }
}
