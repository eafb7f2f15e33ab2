//! Sums over rows in memory: threads that run in step compute the summands of a row side by side.
//!
//! In: a dealt loop whose iterations each sum over a loop that walks through memory: rows of a matrix,
//! full or sparse. A thread for each row would load from as many places as there are threads. Out: a bundle
//! of threads has a few iterations. Their summands are computed along the rows, each thread the next, into memory
//! that the bundle shares, and there added up by one thread for each iteration in the order of the program: the sum
//! is the same number.

use ir::program::{BinaryOp, VarId};

use super::deal::MANY_REGISTERS;
use super::inner::{self, Inner, Summed};
use super::{Code, Maker, Nest, User};
use crate::c::{Out, Printer};

/// Threads of a bundle: they run in step.
const LANES: usize = 32;
/// Iterations of a bundle.
const OWNERS: usize = 8;
/// Summands of each iteration that are computed before they are added up.
const AT_ONCE: usize = 64;
/// Bundles in a group at most.
const BUNDLES: usize = 8;
/// Bytes for the summands of one iteration and round at most, all sums together.
const MOST_BYTES: u64 = 8;

/// A loop that may be computed so.
pub(super) struct Along {
    inner: Inner,
    sums: Vec<Summed>,
    user: User,
}

/// Names that the parts of the text have in common.
struct Names {
    first: String,
    lane: String,
    from: String,
    count: String,
    tiles: Vec<String>,
}

impl Maker<'_, '_> {
    /// Whether neighbours in memory are met along the inner loop, and not by neighbours among iterations.
    pub(super) fn along(&self, nest: &Nest) -> Option<Along> {
        let program = self.lowering.program;
        let Code::Stmt(body) = nest.body else { return None };
        let [one] = nest.loops.as_slice() else { return None };
        let user = one.user.clone()?;
        let inner = inner::find(program, body)?;
        let sums = inner.sums(program)?;
        let size = |it: &Summed| program.model.size_of(&program.types, it.ty);
        let bytes: Result<Vec<u64>, _> = sums.iter().map(size).collect();
        let has_values =
            inner.before.iter().filter_map(|it| inner::declared(program, *it)).all(|it| {
                program.vars[it].init.is_none() || inner::first_value(program, it).is_some()
            });
        if bytes.ok()?.iter().sum::<u64>() > MOST_BYTES || !has_values {
            return None;
        }
        let is_owners = |it: VarId| it == user.var || inner.own.contains(&it);
        let starts_apart = inner::mentions(program, inner.begin, is_owners);
        let (mut walks, mut is_beside) = (false, false);
        for (base, index) in inner.elements(program) {
            let has = |is: &dyn Fn(VarId) -> bool| {
                [base, index].into_iter().any(|it| inner::mentions(program, it, is))
            };
            let by_row = inner::follows(program, index, inner.counter)
                && !inner::mentions(program, base, |it| it == inner.counter);
            // What is the same for all is loaded once for all.
            walks |= by_row && (starts_apart || has(&is_owners));
            // Neighbours among iterations meet such neighbours by themselves, windows that slide included.
            is_beside |= inner::follows(program, index, user.var);
        }
        (walks && !is_beside).then_some(Along { inner, sums, user })
    }

    /// The iterations of one bundle. What follows is for the other cases.
    pub(super) fn put_along(&self, along: &Along, all: &str, out: &mut Out<'_>) {
        let Along { inner, sums, user } = along;
        let program = self.lowering.program;
        let printer = &self.inside;
        let [first, lane, from, count, is_mine] =
            ["first", "lane", "from", "count", "mine"].map(|it| self.name(it));
        let tiles = sums.iter().map(|_| self.name("summands")).collect();
        let names = Names { first, lane, from, count, tiles };
        let Names { first, lane, from, count, tiles } = &names;
        // Rows that are all alike keep step; others are better waited for by many.
        if inner.is_the_same_for(program, &[user.var]) {
            self.lowering.want_registers(MANY_REGISTERS);
        }
        self.lowering.state.borrow_mut().spread = Some([LANES / OWNERS, 1, 0]);
        out.line(&format!("if (__ferry_places() % {LANES} == 0)"));
        out.line("{");
        out.indented(|out| {
            out.line(&format!(
                "/* {LANES} threads have {OWNERS} iterations: summands side by side, sums in order. */"
            ));
            for (sum, tile) in sums.iter().zip(tiles) {
                let ty = printer.type_name(sum.ty);
                out.line(&format!(
                    "__shared__ {ty} {tile}[{BUNDLES}][{OWNERS}][{}];",
                    AT_ONCE + 1
                ));
            }
            out.line(&format!("const unsigned {lane} = __ferry_place() % {LANES};"));
            out.line(&format!(
                "for (unsigned long {first} = __ferry_thread() / {LANES} * {OWNERS}; {first} < {all}; {first} += \
                 __ferry_threads() / {LANES} * {OWNERS})"
            ));
            out.line("{");
            out.indented(|out| {
                out.line(&format!(
                    "const bool {is_mine} = {lane} < {OWNERS} && {first} + {lane} < {all};"
                ));
                let mut own = vec![user.var];
                own.extend(inner.before.iter().filter_map(|it| inner::declared(program, *it)));
                for var in &own {
                    let ty = program.vars[*var].ty.plain();
                    let name = printer.declared_name(*var);
                    out.line(&format!("{}{{}};", printer.declare(ty, &name)));
                }
                out.line(&format!("long {from} = 0, {count} = 0;"));
                let is_same = inner.is_the_same_for(program, &[user.var]);
                let begin = format!("{from} = (long)({});", printer.expr(inner.begin));
                if is_same {
                    out.line(&begin);
                }
                out.line(&format!("if ({is_mine})"));
                out.line("{");
                out.indented(|out| {
                    let value = user.value(self.outside, &format!("({first} + {lane})"));
                    out.line(&format!("{} = {value};", printer.declared_name(user.var)));
                    for stmt in &inner.before {
                        match inner::declared(program, *stmt) {
                            Some(var) => {
                                let value = inner::first_value(program, var);
                                let name = printer.declared_name(var);
                                value.iter().for_each(|it| {
                                    out.line(&format!("{name} = {};", printer.expr(*it)));
                                });
                            }
                            None => printer.stmt(*stmt, out),
                        }
                    }
                    if !is_same {
                        out.line(&begin);
                    }
                    let more = if inner.is_inclusive { " + 1" } else { "" };
                    let bound = printer.expr(inner.bound);
                    out.line(&format!("{count} = (long)({bound}){more} - {from};"));
                });
                out.line("}");
                out.line(&format!("while (__any_sync(~0u, {count} > 0))"));
                out.line("{");
                out.indented(|out| self.put_round(along, &names, is_same, out));
                out.line("}");
                out.line(&format!("if ({is_mine})"));
                out.line("{");
                out.indented(|out| inner.after.iter().for_each(|it| printer.stmt(*it, out)));
                out.line("}");
            });
            out.line("}");
        });
        out.line("}");
        out.line("else");
    }

    /// Summands, then sums; without questions where no iteration ends.
    fn put_round(&self, along: &Along, names: &Names, is_same: bool, out: &mut Out<'_>) {
        let Names { lane, count, from, .. } = names;
        out.line(&format!("if (__all_sync(~0u, {lane} >= {OWNERS} || {count} >= {AT_ONCE}))"));
        for is_whole in [true, false] {
            out.line("{");
            out.indented(|out| {
                self.put_summands(along, names, (is_same, is_whole), out);
                out.line("__syncwarp();");
                self.put_sums(along, names, is_whole, out);
            });
            out.line("}");
            if is_whole {
                out.line("else");
            }
        }
        out.line(&format!("{from} += {AT_ONCE};"));
        out.line(&format!("{count} -= {AT_ONCE};"));
        out.line("__syncwarp();");
    }

    fn put_summands(
        &self,
        along: &Along,
        names: &Names,
        (is_same, is_whole): (bool, bool),
        out: &mut Out<'_>,
    ) {
        let Along { inner, sums, user } = along;
        let Names { first, lane, from, count, tiles } = names;
        let program = self.lowering.program;
        let [owner, part, start, end] = ["owner", "part", "start", "end"].map(|it| self.name(it));
        out.raw("#pragma unroll");
        out.line(&format!("for (int {owner} = 0; {owner} < {OWNERS}; {owner}++)"));
        out.line("{");
        out.indented(|out| {
            let mut copy: Printer<'_> = self.inside.clone();
            let name = self.name("of");
            let ty = program.vars[user.var].ty.plain();
            let value = user.value(self.outside, &format!("({first} + {owner})"));
            out.line(&format!("{} = {value};", copy.declare(ty, &name)));
            copy.substitute(user.var, name);
            let looked_at = |var: VarId| {
                let of = |it: &ir::program::StmtId| inner::names(program, *it, var);
                inner.body.iter().any(of) && !sums.iter().any(|it| it.var == var)
            };
            for var in inner.own.iter().copied().filter(|it| looked_at(*it)) {
                let name = self.name("of");
                let own = self.inside.var_name(var);
                let ty = copy.declare(program.vars[var].ty.plain(), &name);
                out.line(&format!("{ty} = __ferry_from({own}, {owner});"));
                copy.substitute(var, name);
            }
            let of_owner = |it: &str| format!("__shfl_sync(~0u, {it}, {owner})");
            let begin = if is_same { from.clone() } else { of_owner(from) };
            out.line(&format!("const long {start} = {begin};"));
            if !is_whole {
                out.line(&format!("const long {end} = {};", of_owner(count)));
            }
            out.raw("#pragma unroll");
            out.line(&format!("for (int {part} = 0; {part} < {AT_ONCE}; {part} += {LANES})"));
            let part = format!("{part} + {lane}");
            if !is_whole {
                out.line(&format!("if ({part} < {end})"));
            }
            out.line("{");
            out.indented(|out| {
                let counter = program.vars[inner.counter].ty.plain();
                let ty = copy.type_name(counter);
                let declared = copy.declare(counter, &copy.declared_name(inner.counter));
                out.line(&format!("{declared} = ({ty})({start} + ({part}));"));
                for stmt in &inner.body {
                    if inner::declared(program, *stmt).is_some() {
                        copy.stmt(*stmt, out);
                    }
                }
                for (sum, tile) in sums.iter().zip(tiles) {
                    out.line(&format!(
                        "{tile}[__ferry_place() / {LANES}][{owner}][{part}] = {};",
                        copy.expr(sum.summand)
                    ));
                }
            });
            out.line("}");
        });
        out.line("}");
    }

    fn put_sums(&self, along: &Along, names: &Names, is_whole: bool, out: &mut Out<'_>) {
        let Names { lane, count, tiles, .. } = names;
        let at = self.name("at");
        let end = match is_whole {
            true => AT_ONCE.to_string(),
            false => format!("{AT_ONCE} && {at} < {count}"),
        };
        out.line(&format!("if ({lane} < {OWNERS})"));
        out.line("{");
        out.indented(|out| {
            out.raw("#pragma unroll 16");
            out.line(&format!("for (int {at} = 0; {at} < {end}; {at}++)"));
            out.line("{");
            out.indented(|out| {
                for (sum, tile) in along.sums.iter().zip(tiles) {
                    let own = self.inside.declared_name(sum.var);
                    let op = if sum.op == BinaryOp::Sub { '-' } else { '+' };
                    let ty = self.inside.type_name(sum.ty);
                    let to = self.inside.type_name(self.lowering.program.vars[sum.var].ty.plain());
                    out.line(&format!(
                        "{own} = ({to})(({ty}){own} {op} {tile}[__ferry_place() / {LANES}][{lane}][{at}]);"
                    ));
                }
            });
            out.line("}");
        });
        out.line("}");
    }
}
