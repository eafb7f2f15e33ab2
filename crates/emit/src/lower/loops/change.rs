//! What each transformation does to loops, and what a construct that deals iterations asks for.

use ir::construct::{ClauseKind, Construct, Induction, Leaf, ReductionOp};
use ir::program::{ExprId, ExprKind, RegionId, StmtId, StmtKind, Typed, VarStorage};
use ir::walk::Part;
use source::Span;

use super::{Code, Made, Maker, Named, Nest, Refused, Result, collapsed, constant, is_linear};
use crate::c::Grid;
use crate::lower::unknown::lone;

/// How often a body is repeated where the user leaves it to us.
const DEFAULT_FACTOR: u64 = 4;
/// What pointers to variables begin with that the last iteration sets.
const PLACE: &str = "__ferry_place";
/// More than this the host's compiler does not take.
const MOST_REPEATS: u64 = 65534;

impl Maker<'_, '_> {
    /// The loops that a transformation makes; `wanted` of them are dealt by a construct around.
    pub(super) fn transformed(&mut self, id: RegionId, wanted: usize) -> Result<Nest> {
        let region = &self.lowering.program.regions[id];
        let construct = &region.construct;
        let Some(body) = region.body else {
            return Err(Refused { span: region.span, why: "it has no loops" });
        };
        if construct.has(Leaf::Fuse) {
            let nest = self.fuse(construct, body)?;
            return self.apply(construct, nest);
        }
        let nest = self.nest(body, self.arity(construct))?;
        let trips = region.loops.first().and_then(|it| it.trips);
        self.change(construct, nest, wanted, trips, false)
    }

    /// How many loops a transformation changes.
    fn arity(&self, construct: &Construct<Typed>) -> usize {
        let listed = construct.kinds().find_map(|it| match it {
            ClauseKind::Sizes(list) | ClauseKind::Permutation(list) => Some(list.len()),
            _ => None,
        });
        listed.unwrap_or(if construct.has(Leaf::Interchange) { 2 } else { 1 })
    }

    /// Changes the outer loops of a nest; `here`: what is computed may use the loops around it.
    fn change(
        &mut self,
        construct: &Construct<Typed>,
        mut nest: Nest,
        wanted: usize,
        trips: Option<u64>,
        here: bool,
    ) -> Result<Nest> {
        let span = construct.span;
        let count = self.arity(construct).min(nest.loops.len());
        let nest = match construct.leaves.as_slice() {
            [Leaf::Unroll] => {
                // Directives for the loop that is made see that loop, not the one that was there.
                let wanted = wanted.max(usize::from(has_apply(construct)));
                let factor = self.factor(construct, trips, wanted);
                if wanted > 0 {
                    self.cut(nest, &[factor.to_string()], wanted, here, Cut::Tile).map(
                        |mut it| {
                            if wanted == 1
                                && let Some(inner) = it.loops.get_mut(1)
                            {
                                inner.unroll = Some(factor);
                            }
                            it
                        },
                    )?
                } else {
                    if let Some(first) = nest.loops.first_mut() {
                        first.unroll = Some(factor);
                    }
                    nest
                }
            }
            [Leaf::Tile] => {
                let sizes = self.sizes(construct, &mut nest);
                self.cut(nest, &sizes, wanted, here, Cut::Tile)?
            }
            [Leaf::Stripe] => {
                let sizes = self.sizes(construct, &mut nest);
                self.cut(nest, &sizes, wanted, here, Cut::Stripe)?
            }
            [Leaf::Interchange] => {
                let order = self.permutation(construct, count)?;
                let old: Vec<Made> = nest.loops.drain(..count).collect();
                let new = order.iter().filter_map(|at| old.get(*at).cloned());
                let new: Vec<Made> = new.collect();
                if new.iter().any(|it| !(it.is_fixed || here)) {
                    return Err(Refused { span, why: "the bounds of a loop follow an outer one" });
                }
                nest.loops.splice(0..0, new);
                nest
            }
            [Leaf::Reverse] => {
                let first = nest.loops.remove(0);
                let first = self.zero_based(first, &mut nest.prelude, here)?;
                let counter = self.name("i");
                let mut before = vec![format!(
                    "const unsigned long {} = {} - 1 - {counter};",
                    first.counter, first.end
                )];
                before.extend(first.before.iter().cloned());
                nest.loops.insert(0, Made { counter, before, user: None, ..first });
                nest
            }
            [Leaf::Split] => self.split(construct, nest, here)?,
            _ => return Err(Refused { span, why: "this changes no loops" }),
        };
        self.apply(construct, nest)
    }

    fn factor(&self, construct: &Construct<Typed>, trips: Option<u64>, wanted: usize) -> u64 {
        let asked = construct.kinds().find_map(|it| match it {
            ClauseKind::Partial(Some(factor)) => {
                constant(self.lowering.program, *factor).and_then(|it| u64::try_from(it).ok())
            }
            ClauseKind::Full if wanted == 0 => trips,
            _ => None,
        });
        asked.unwrap_or(DEFAULT_FACTOR).clamp(1, MOST_REPEATS)
    }

    /// The sizes of tiles, computed before the nest.
    fn sizes(&self, construct: &Construct<Typed>, nest: &mut Nest) -> Vec<String> {
        let sizes = construct.kinds().find_map(|it| match it {
            ClauseKind::Sizes(list) => Some(list.as_slice()),
            _ => None,
        });
        let sizes = sizes.unwrap_or_default();
        sizes.iter().map(|it| self.computed(*it, "size", &mut nest.prelude)).collect()
    }

    fn computed(&self, expr: ExprId, what: &str, prelude: &mut Vec<Named>) -> String {
        if let Some(value) = constant(self.lowering.program, expr) {
            return value.to_string();
        }
        let name = self.name(what);
        let line = format!("const unsigned long {name} = {};", self.outside.expr(expr));
        prelude.push(Named { name: name.clone(), line });
        name
    }

    fn permutation(&self, construct: &Construct<Typed>, count: usize) -> Result<Vec<usize>> {
        let listed = construct.kinds().find_map(|it| match it {
            ClauseKind::Permutation(list) => Some(list.as_slice()),
            _ => None,
        });
        let Some(listed) = listed else { return Ok((0..count).rev().collect()) };
        let program = self.lowering.program;
        let order: Option<Vec<usize>> = listed
            .iter()
            .map(|it| constant(program, *it).and_then(|it| usize::try_from(it - 1).ok()))
            .collect();
        order.filter(|it| (0..count).all(|at| it.contains(&at))).ok_or(Refused {
            span: construct.span,
            why: "the permutation does not name each loop once",
        })
    }

    /// Each loop becomes two. Where all are dealt to somebody their bounds must not follow each
    /// other, so that the last tile is tested for its end in the body.
    fn cut(
        &self,
        mut nest: Nest,
        sizes: &[String],
        wanted: usize,
        here: bool,
        how: Cut,
    ) -> Result<Nest> {
        let is_tested = wanted > sizes.len();
        let old: Vec<Made> = nest.loops.drain(..sizes.len().min(nest.loops.len())).collect();
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        for (one, size) in old.into_iter().zip(sizes) {
            let one = self.zero_based(one, &mut nest.prelude, here)?;
            let (grid, end) = (self.name("i"), one.end.clone());
            let made = |counter: &str, begin: &str, end: &str, step: &str| Made {
                counter: counter.to_owned(),
                begin: begin.to_owned(),
                end: end.to_owned(),
                step: step.to_owned(),
                before: Vec::new(),
                user: None,
                check: None,
                unroll: None,
                is_fixed: true,
            };
            let whole = made(&grid, "0", &end, size);
            match how {
                Cut::Tile if is_tested => {
                    let offset = self.name("i");
                    let mut tile = made(&offset, "0", size, "1");
                    tile.before =
                        vec![format!("const unsigned long {} = {grid} + {offset};", one.counter)];
                    tile.check = Some(format!("{} < {end}", one.counter));
                    tile.before.extend(one.before);
                    outer.push(whole);
                    inner.push(tile);
                }
                Cut::Tile => {
                    let stop = format!("({end} - {grid} < {size} ? {end} : {grid} + {size})");
                    let tile = made(&one.counter, &grid, &stop, "1");
                    outer.push(whole);
                    inner.push(Made { before: one.before, is_fixed: false, ..tile });
                }
                Cut::Stripe => {
                    let offset = self.name("i");
                    let mut stripe = made(&grid, "0", &end, size);
                    stripe.before =
                        vec![format!("const unsigned long {} = {grid} + {offset};", one.counter)];
                    stripe.check = Some(format!("{} < {end}", one.counter));
                    stripe.before.extend(one.before);
                    outer.push(made(&offset, "0", size, "1"));
                    inner.push(stripe);
                }
            }
        }
        nest.loops.splice(0..0, outer.into_iter().chain(inner));
        Ok(nest)
    }

    /// Pieces one after the other, each with the body.
    fn split(&self, construct: &Construct<Typed>, mut nest: Nest, here: bool) -> Result<Nest> {
        self.may_repeat(&nest.body, construct.span)?;
        let first = nest.loops.remove(0);
        let first = self.zero_based(first, &mut nest.prelude, here)?;
        let counts = construct.kinds().find_map(|it| match it {
            ClauseKind::Counts(list) => Some(list.clone()),
            _ => None,
        });
        let end = first.end.clone();
        let prelude = &mut nest.prelude;
        let known: Vec<Option<String>> = counts
            .unwrap_or_default()
            .into_iter()
            .map(|it| it.map(|it| self.computed(it, "size", prelude)))
            .collect();
        let rest: Vec<String> = known.iter().flatten().cloned().collect();
        let rest = if rest.is_empty() { "0".to_owned() } else { rest.join(" + ") };
        let mut from = "0".to_owned();
        let mut pieces = Vec::new();
        for count in known {
            let to = self.name("end");
            let count = count.unwrap_or_else(|| format!("({end} > {rest} ? {end} - ({rest}) : 0)"));
            nest.prelude.push(Named {
                name: to.clone(),
                line: format!(
                    "const unsigned long {to} = {end} - {from} < {count} ? {end} : {from} + {count};"
                ),
            });
            let piece = Made { begin: from, end: to.clone(), is_fixed: true, ..first.clone() };
            from = to;
            let mut loops = vec![piece];
            loops.extend(nest.loops.iter().cloned());
            pieces.push(Code::Nest(Box::new(Nest {
                prelude: Vec::new(),
                loops,
                body: nest.body.clone(),
            })));
        }
        Ok(Nest { prelude: nest.prelude, loops: Vec::new(), body: Code::Seq(pieces) })
    }

    /// What has a name for the whole function cannot stand there twice.
    fn may_repeat(&self, code: &Code, span: Span) -> Result<()> {
        let program = self.lowering.program;
        let Code::Stmt(stmt) = code else { return Ok(()) };
        let mut open = vec![Part::Stmt(*stmt)];
        while let Some(part) = open.pop() {
            let is_once = match part {
                Part::Stmt(id) => matches!(program.stmts[id].kind, StmtKind::Label(..)),
                Part::Local(var) => {
                    matches!(program.vars[var].storage, VarStorage::LocalStatic(_))
                }
                _ => false,
            };
            if is_once {
                let why = "the body would stand there several times, with its labels and static variables";
                return Err(Refused { span, why });
            }
            program.parts(part, &mut |it| open.push(it));
        }
        Ok(())
    }

    /// Loops side by side become one that runs as long as the longest.
    fn fuse(&mut self, construct: &Construct<Typed>, body: StmtId) -> Result<Nest> {
        let program = self.lowering.program;
        let list: Vec<StmtId> = match &program.stmts[body].kind {
            StmtKind::Block(list) => list.to_vec(),
            _ => vec![body],
        };
        let range = construct.kinds().find_map(|it| match it {
            ClauseKind::LoopRange(first, count) => {
                Some((constant(program, *first)?, constant(program, *count)?))
            }
            _ => None,
        });
        let mut nests = Vec::new();
        for stmt in list {
            nests.push(self.nest(stmt, 1)?);
        }
        let (first, count) = range.unwrap_or((1, i64::try_from(nests.len()).unwrap_or(i64::MAX)));
        let first = usize::try_from(first - 1).unwrap_or(usize::MAX);
        let last = first.saturating_add(usize::try_from(count).unwrap_or(0));
        if last > nests.len() || first >= last {
            let why = "there are fewer loops than it speaks of";
            return Err(Refused { span: construct.span, why });
        }
        let after: Vec<Nest> = nests.drain(last..).collect();
        let fused: Vec<Nest> = nests.drain(first..).collect();
        let fused = self.fused(fused)?;
        if nests.is_empty() && after.is_empty() {
            return Ok(fused);
        }
        let fused = self.apply(construct, fused)?;
        let all = nests.into_iter().chain(std::iter::once(fused)).chain(after);
        let body = Code::Seq(all.map(|it| Code::Nest(Box::new(it))).collect());
        Ok(Nest { prelude: Vec::new(), loops: Vec::new(), body })
    }

    fn fused(&self, nests: Vec<Nest>) -> Result<Nest> {
        let counter = self.name("i");
        let (mut prelude, mut code) = (Vec::new(), Vec::new());
        let mut longest = "0".to_owned();
        for mut nest in nests {
            prelude.append(&mut nest.prelude);
            if nest.loops.is_empty() {
                let span = self.lowering.program.regions[self.region].span;
                return Err(Refused { span, why: "one of the loops has become several" });
            }
            let first = nest.loops.remove(0);
            let first = self.zero_based(first, &mut prelude, false)?;
            let most = self.name("trips");
            prelude.push(Named {
                name: most.clone(),
                line: format!(
                    "const unsigned long {most} = {longest} < {0} ? {0} : {longest};",
                    first.end
                ),
            });
            longest = most;
            let mut lines =
                vec![Code::Line(format!("const unsigned long {} = {counter};", first.counter))];
            lines.extend(first.before.into_iter().map(Code::Line));
            let body = match nest.loops.is_empty() {
                true => nest.body,
                false => Code::Nest(Box::new(Nest { prelude: Vec::new(), ..nest })),
            };
            lines.push(Code::Once(Box::new(body)));
            code.push(Code::If(format!("{counter} < {}", first.end), Box::new(Code::Seq(lines))));
        }
        let made = Made {
            counter,
            begin: "0".to_owned(),
            end: longest,
            step: "1".to_owned(),
            before: Vec::new(),
            user: None,
            check: None,
            unroll: None,
            is_fixed: true,
        };
        Ok(Nest { prelude, loops: vec![made], body: Code::Seq(code) })
    }

    /// Directives for the loops that were made.
    fn apply(&mut self, construct: &Construct<Typed>, mut nest: Nest) -> Result<Nest> {
        let program = self.lowering.program;
        let arity = self.arity(construct);
        for clause in &construct.clauses {
            let ClauseKind::Apply { which, positions, directives } = &clause.kind else { continue };
            // A fused loop among others has been asked before.
            if nest.loops.is_empty() && construct.has(Leaf::Fuse) {
                continue;
            }
            let word = which.map(|it| program.names.text(it));
            let offset = match (word, construct.leaves.as_slice()) {
                (Some("intratile"), [Leaf::Tile]) | (Some("grid"), [Leaf::Stripe]) => arity,
                _ => 0,
            };
            let places: Option<Vec<usize>> = match positions.is_empty() {
                true => Some((0..directives.len()).collect()),
                false => positions
                    .iter()
                    .map(|it| constant(program, *it).and_then(|it| usize::try_from(it - 1).ok()))
                    .collect(),
            };
            let places = places.filter(|it| it.len() == directives.len()).ok_or(Refused {
                span: clause.span,
                why: "each of its directives needs the position of one loop",
            })?;
            let mut pairs: Vec<(usize, &Construct<Typed>)> =
                places.into_iter().zip(directives).collect();
            // From the inside out, so that positions stay what they are.
            pairs.sort_by_key(|it| std::cmp::Reverse(it.0));
            for (place, directive) in pairs {
                nest = match construct.has(Leaf::Split) {
                    true => self.apply_to_piece(directive, nest, place)?,
                    false => self.apply_one(directive, nest, offset + place)?,
                };
            }
        }
        Ok(nest)
    }

    /// The same for one piece of a split.
    fn apply_to_piece(
        &mut self,
        directive: &Construct<Typed>,
        mut nest: Nest,
        place: usize,
    ) -> Result<Nest> {
        let piece = match &mut nest.body {
            Code::Seq(pieces) => pieces.get_mut(place),
            _ => None,
        };
        let Some(Code::Nest(piece)) = piece else {
            return Err(Refused { span: directive.span, why: "there is no such loop" });
        };
        **piece = self.apply_one(directive, (**piece).clone(), 0)?;
        Ok(nest)
    }

    fn apply_one(
        &mut self,
        directive: &Construct<Typed>,
        mut nest: Nest,
        place: usize,
    ) -> Result<Nest> {
        if directive.leaves == [Leaf::Nothing] {
            return Ok(nest);
        }
        if place >= nest.loops.len() {
            return Err(Refused { span: directive.span, why: "there is no such loop" });
        }
        if directive.leaves == [Leaf::Unroll] && !has_apply(directive) {
            let factor = self.factor(directive, None, 0);
            if let Some(it) = nest.loops.get_mut(place) {
                it.unroll = Some(factor);
            }
            return Ok(nest);
        }
        if place == 0 {
            return self.change(directive, nest, 0, None, false);
        }
        let loops = nest.loops.split_off(place);
        let inner = Nest { prelude: Vec::new(), loops, body: nest.body };
        let inner = self.change(directive, inner, 0, None, true)?;
        Ok(Nest { body: Code::Nest(Box::new(inner)), ..nest })
    }
}

/// Whether a transformation has directives for the loops that it makes.
fn has_apply(construct: &Construct<Typed>) -> bool {
    construct.kinds().any(|it| matches!(it, ClauseKind::Apply { .. }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Tile,
    Stripe,
}

/// Variables whose values follow the iteration: what a clause says of them.
struct Follows<'a> {
    items: &'a [ExprId],
    /// By how much; 1 if it does not say.
    step: Option<ExprId>,
    /// Times the step for each iteration, not plus it.
    is_power: bool,
    span: Span,
}

impl<'a> Follows<'a> {
    fn induction(it: &'a Induction<Typed>, span: Span) -> Result<Follows<'a>> {
        let is_power = match it.op {
            ReductionOp::Add => false,
            ReductionOp::Mul => true,
            _ => return Err(Refused { span, why: "only `+` and `*` are known here" }),
        };
        match it.step {
            Some(_) => Ok(Follows { items: &it.items, step: it.step, is_power, span }),
            None => Err(Refused { span, why: "it has no `step`" }),
        }
    }
}

/// Values that follow the iteration by a closed form.
impl Maker<'_, '_> {
    /// The loops of a construct that deals iterations, and what is done behind them.
    pub(super) fn dealt(&mut self) -> Result<(Nest, Vec<String>)> {
        let program = self.lowering.program;
        let region = &program.regions[self.region];
        let Some(body) = region.body else {
            return Err(Refused { span: region.span, why: "it has no loops" });
        };
        let count = collapsed(program, self.region);
        let mut nest = self.nest(body, count)?;
        if nest.loops.iter().take(count).any(|it| !it.is_fixed) {
            let why = "the loops made below it have bounds that follow each other";
            return Err(Refused { span: region.span, why });
        }
        let rest = nest.loops.split_off(count);
        if !rest.is_empty() {
            let inner = Nest { prelude: Vec::new(), loops: rest, body: nest.body };
            nest.body = Code::Nest(Box::new(inner));
        }
        if !self.ends.is_empty() {
            // Each iteration may be the last; the next one begins with setting them.
            let mut code = vec![Code::Once(Box::new(nest.body))];
            code.extend(self.ends.iter().cloned().map(Code::Line));
            nest.body = Code::Seq(code);
        }
        nest.loops.iter_mut().for_each(|it| it.unroll = None);
        let mut after = Vec::new();
        let is_linear = self.lowering.grid.is_some() || is_linear(program, self.region);
        for clause in &region.construct.clauses {
            let follows = match &clause.kind {
                ClauseKind::Induction(it) => Follows::induction(it, clause.span)?,
                ClauseKind::Linear(it) if is_linear => {
                    Follows { items: &it.items, step: it.step, is_power: false, span: clause.span }
                }
                _ => continue,
            };
            self.follow(&follows, &mut nest, &mut after)?;
        }
        let is_placed = nest.prelude.iter().any(|it| it.name.starts_with(PLACE));
        if is_placed && region.construct.has(Leaf::For) {
            let barrier = lone(Leaf::Barrier, Vec::new(), region.span);
            let line = self.lowering.pragma(&barrier);
            nest.prelude.extend(line.map(|line| Named { name: String::new(), line }));
        }
        Ok((nest, after))
    }

    /// Whether several threads meet the construct, and share its iterations.
    fn is_shared_by_threads(&self) -> bool {
        let construct = &self.lowering.program.regions[self.region].construct;
        let first = construct.leaves.iter().find(|it| **it != Leaf::Offload);
        self.lowering.grid.is_none() && matches!(first, Some(Leaf::For | Leaf::Distribute))
    }

    fn follow(
        &mut self,
        follows: &Follows<'_>,
        nest: &mut Nest,
        after: &mut Vec<String>,
    ) -> Result<()> {
        let program = self.lowering.program;
        let Follows { items, step, is_power, span } = *follows;
        let mut position = "0".to_owned();
        let mut total = "1".to_owned();
        for it in &nest.loops {
            if it.begin != "0" || it.step != "1" || it.check.is_some() {
                return Err(Refused { span, why: "the loop is made by a transformation" });
            }
            position = format!("({position} * {} + {})", it.end, it.counter);
            total = format!("{total} * {}", it.end);
        }
        for item in items {
            let ExprKind::Var(var) = program.exprs[*item].kind else {
                return Err(Refused { span, why: "only whole variables can be listed" });
            };
            // What counts the iterations follows them anyway.
            if program.regions[self.region].loops.iter().any(|it| it.var == var) {
                continue;
            }
            let ty = program.vars[var].ty.plain();
            let is_pointer = program.types.is_pointer(ty);
            let can_follow = program.types.is_arithmetic(ty) || is_pointer && !is_power;
            if !can_follow {
                return Err(Refused { span, why: "only numbers can follow the iterations here" });
            }
            let (start, by) = (self.name("start"), self.name("step"));
            let original = self.outside.var_name(var);
            let declare =
                |name: &str, value: &str| format!("{} = {value};", self.outside.declare(ty, name));
            let line = declare(&start, &original);
            nest.prelude.push(Named { name: start.clone(), line });
            let value = step.map_or_else(|| "1".to_owned(), |it| self.outside.expr(it));
            let line = match is_pointer {
                true => format!("const long {by} = {value};"),
                false => declare(&by, &value),
            };
            nest.prelude.push(Named { name: by.clone(), line });
            let at = |position: &str| match is_power {
                false if is_pointer => format!("{start} + {by} * (long){position}"),
                false => format!("{start} + {by} * {position}"),
                // By squaring, in the variable's own type.
                true => {
                    let power = format!(
                        "__typeof__({start}) __r = {start}, __b = {by}; \
                         for (unsigned long __e = {position}; __e; __e >>= 1, __b *= __b) \
                         if (__e & 1) __r *= __b;"
                    );
                    match self.lowering.grid {
                        Some(Grid::Cuda | Grid::Hip) => format!("[&] {{ {power} return __r; }}()"),
                        Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_)) | None => {
                            format!("({{ {power} __r; }})")
                        }
                    }
                }
            };
            self.inside.restore(var);
            let own = self.outside.declared_name(var);
            let line = declare(&own, &at(&position));
            if let Some(last) = nest.loops.last_mut() {
                last.before.push(line);
            }
            if !self.is_shared_by_threads() {
                after.push(format!("{original} = {};", at(&format!("({total})"))));
                continue;
            }
            // After all have read it, and before anybody goes on who could change it again: by whoever runs the last iteration.
            let place = self.name("place");
            debug_assert!(place.starts_with(PLACE), "the barrier is found by it");
            let ty = self.outside.declare(ty, &format!("(*{place})"));
            let line = format!("{ty} = &{original};");
            nest.prelude.push(Named { name: place.clone(), line });
            let last = format!("{position} + 1 == {total}");
            let line = format!("*{place} = {};", at(&format!("({total})")));
            let body = Code::Once(Box::new(nest.body.clone()));
            let end = Code::If(last, Box::new(Code::Line(line)));
            nest.body = Code::Seq(vec![body, end]);
        }
        Ok(())
    }
}
