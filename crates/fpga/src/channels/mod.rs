//! Channels between kernels: which kernels run at the same time, and how many cycles that takes.
//!
//! In: the kernels of a program, each run by one thread, and a device. Out: [`Channels`]. An array that regions call a channel
//! is a queue where one kernel goes through it from the first element to the last, and so does another, which stands behind the
//! first in the program, and where neither writes any other memory that the other uses. All other channels stay arrays, and
//! kernels that wait for them run one after the other; [`Left`] says why.
//!
//! Kernels of a group cannot wait for each other for ever: no two of them are connected by more than one way, all channels
//! between two are used by one loop of each, and queues have room for what pipelines are ahead by.

mod time;

use std::collections::{BTreeMap, BTreeSet};

use ir::construct::{Channel as Side, ClauseKind};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, VarId};
use ir::walk::Part;
use kernel::Kernel;
use kernel::walk::{How, uses};
use opt::dependence::{Analysis, Reached};
use opt::passes::stream::{Stream, stream};
use rtl::group::{self, Member};
use source::Span;

use crate::device::Device;
use crate::hardware::{End, Hardware, Passed, Shape, Touch, design, piped};

/// So many elements wait in a queue at most, where pipelines do not ask for more.
const DEPTH: u64 = 16;

/// A kernel, and how it is launched.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// What it does.
    pub kernel: &'a Kernel,
    /// How it gets at variables.
    pub passed: &'a BTreeMap<VarId, Passed>,
}

/// A kernel that was planned.
#[derive(Clone, Debug)]
pub struct Single {
    /// What it does.
    pub kernel: Kernel,
    /// How often its loops run.
    pub rounds: BTreeMap<StmtId, u64>,
}

/// What became of the channels of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channels {
    /// Kernels that run at the same time.
    pub groups: Vec<Group>,
    /// Channels that are arrays.
    pub left: Vec<Left>,
}

/// Kernels that run at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Which, in the order in which they are launched.
    pub members: Vec<usize>,
    /// Each of them with its channels.
    pub designs: Vec<Hardware>,
    /// The channels, by the numbers that they have in the designs.
    pub queues: Vec<Queue>,
}

/// A channel that is a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The array that it stands for.
    pub var: VarId,
    /// Elements that wait in it at most.
    pub depth: u64,
    /// The member that writes, and the one that reads.
    pub ends: [usize; 2],
}

/// A channel that is an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Which.
    pub var: VarId,
    /// The kernel that writes, and the one that reads.
    pub ends: [usize; 2],
    /// Why.
    pub why: String,
    /// Where.
    pub span: Span,
}

/// Finds out which kernels run at the same time.
pub fn channels(program: &Program, pieces: &[Piece<'_>], device: &Device) -> Channels {
    let mut links: Vec<Link> = Vec::new();
    let sides: Vec<Vec<(VarId, Side)>> =
        pieces.iter().map(|it| sides(program, it.kernel.region)).collect();
    for (from, outs) in sides.iter().enumerate() {
        for (var, _) in outs.iter().filter(|it| it.1 == Side::Out) {
            let reads = |it: &Vec<(VarId, Side)>| it.contains(&(*var, Side::In));
            if let Some(to) = sides.iter().position(reads) {
                links.push(Link { var: *var, ends: [from, to] });
            }
        }
    }
    let mut found = Channels::default();
    if links.is_empty() {
        return found;
    }
    let finder = Finder {
        program,
        pieces,
        device,
        analysis: Analysis::new(program),
        touched: pieces
            .iter()
            .map(|it| {
                let made = design(program, it.kernel, device, Some(it.passed));
                made.ok().map(|it| it.touched)
            })
            .collect(),
        links,
    };
    let mut told: BTreeSet<usize> = BTreeSet::new();
    let mut close = |members: &mut Vec<usize>, found: &mut Channels| {
        let members = std::mem::take(members);
        if members.len() > 1 {
            match finder.group(&members) {
                Ok(group) => {
                    let vars: Vec<VarId> = group.queues.iter().map(|it| it.var).collect();
                    told.extend(
                        (0..)
                            .zip(&finder.links)
                            .filter(|it| vars.contains(&it.1.var))
                            .map(|it| it.0),
                    );
                    found.groups.push(group);
                }
                Err(lefts) => {
                    told.extend(lefts.iter().map(|it| it.0));
                    found.left.extend(lefts.into_iter().map(|it| it.1));
                }
            }
        }
    };
    let mut refused: Vec<(usize, Left)> = Vec::new();
    for list in finder.lists() {
        let mut members: Vec<usize> = Vec::new();
        for item in &list {
            let Some(next) = *item else {
                close(&mut members, &mut found);
                continue;
            };
            if let Err(why) = finder.joins(&members, next) {
                refused.extend(why);
                close(&mut members, &mut found);
            }
            members.push(next);
        }
        close(&mut members, &mut found);
    }
    for (at, left) in refused {
        if told.insert(at) {
            found.left.push(left);
        }
    }
    for (at, link) in finder.links.iter().enumerate() {
        if told.insert(at) {
            found.left.push(finder.left(
                link,
                "another region comes between them",
                finder.span(link),
            ));
        }
    }
    found
}

/// A channel from one kernel to another.
#[derive(Clone, Copy, Debug)]
struct Link {
    var: VarId,
    ends: [usize; 2],
}

/// The ends of channels that a region is.
fn sides(program: &Program, region: RegionId) -> Vec<(VarId, Side)> {
    let mut found = Vec::new();
    for clause in &program.regions[region].construct.clauses {
        if let ClauseKind::Map(map) = &clause.kind
            && let Some(side) = map.flags.channel
        {
            let named = map.items.iter().filter_map(|it| named(program, *it));
            found.extend(named.map(|it| (it, side)));
        }
    }
    found
}

/// The variable that an item of a clause is, or is part of.
fn named(program: &Program, item: ExprId) -> Option<VarId> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Section(section) => named(program, section.base),
        ExprKind::Index(inner, _) | ExprKind::Cast(_, inner) => named(program, *inner),
        _ => None,
    }
}

struct Finder<'a> {
    program: &'a Program,
    pieces: &'a [Piece<'a>],
    device: &'a Device,
    analysis: Analysis<'a>,
    /// What kernels use of memory, channels included; nothing of those that are no hardware.
    touched: Vec<Option<BTreeSet<Touch>>>,
    links: Vec<Link>,
}

/// Why kernels do not run at the same time, of each channel by its number.
type Refused<T> = Result<T, Vec<(usize, Left)>>;

impl Finder<'_> {
    fn span(&self, link: &Link) -> Span {
        self.kernel(link.ends[1]).map_or(Span::NONE, |it| it.span)
    }

    fn kernel(&self, at: usize) -> Option<&Kernel> {
        self.pieces.get(at).map(|it| it.kernel)
    }

    fn name(&self, var: VarId) -> &str {
        self.program.vars[var].name.map_or("?", |it| self.program.names.text(it))
    }

    fn left(&self, link: &Link, why: impl Into<String>, span: Span) -> Left {
        Left { var: link.var, ends: link.ends, why: why.into(), span }
    }

    /// Statements that stand side by side: kernels of regions, and others in which there are regions.
    fn lists(&self) -> Vec<Vec<Option<usize>>> {
        let functions: BTreeSet<_> =
            self.pieces.iter().map(|it| self.program.regions[it.kernel.region].function).collect();
        let bodies = functions.into_iter().filter_map(|it| self.program.functions[it].body);
        let mut open: Vec<Part> = bodies.map(Part::Stmt).collect();
        let mut lists = Vec::new();
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let StmtKind::Block(list) = &self.program.stmts[stmt].kind
            {
                let list: Vec<Option<usize>> =
                    list.iter().filter_map(|it| self.item(*it)).collect();
                if list.iter().flatten().count() > 1 {
                    lists.push(list);
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        lists
    }

    /// The kernel that a statement is; nothing inside if it has regions and is none; nothing at all if it has no regions.
    fn item(&self, stmt: StmtId) -> Option<Option<usize>> {
        if let StmtKind::Region(region) = self.program.stmts[stmt].kind
            && let Some(at) = self.pieces.iter().position(|it| it.kernel.region == region)
        {
            return Some(Some(at));
        }
        (!ir::walk::regions_in(self.program, stmt).is_empty()).then_some(None)
    }

    /// Whether a kernel may run at the same time as these, which come before it.
    fn joins(&self, members: &[usize], next: usize) -> Refused<()> {
        let into = |it: &(usize, &Link)| it.1.ends[1] == next && members.contains(&it.1.ends[0]);
        let links: Vec<(usize, &Link)> = self.links.iter().enumerate().filter(into).collect();
        let all = |why: &str, span: Span| {
            links.iter().map(|(at, link)| (*at, self.left(link, why, span))).collect::<Vec<_>>()
        };
        let here = self.kernel(next).map_or(Span::NONE, |it| it.span);
        let Some((_, first)) = links.first() else { return Err(Vec::new()) };
        if links.iter().any(|it| it.1.ends[0] != first.ends[0]) {
            return Err(all(
                "its reader waits for several regions that run at the same time",
                here,
            ));
        }
        let mut within: Option<[StmtId; 2]> = None;
        for (at, link) in &links {
            // Kernels that share one array run one after the other, whatever their other channels are.
            let refused = |why: String, span: Span| {
                let mut lefts = all("another channel between the regions is an array", here);
                lefts.retain(|it| it.0 != *at);
                lefts.insert(0, (*at, self.left(link, why, span)));
                lefts
            };
            let found = self.streamed(link).map_err(|(why, span)| refused(why, span))?;
            let both = found.each_ref().map(|it| it.within);
            if within.is_some_and(|it| it != both) {
                let why = "elements of it and of another channel come or go in different loops";
                return Err(refused(why.to_owned(), found[1].span));
            }
            within = Some(both);
        }
        for member in members {
            if let Some(var) = self.leaves(*member) {
                let name = self.name(var);
                let why = format!(
                    "`{name}` leaves the device when the region that runs before has ended"
                );
                return Err(all(&why, here));
            }
            let own: Vec<VarId> =
                links.iter().filter(|it| it.1.ends[0] == *member).map(|it| it.1.var).collect();
            if let Some(why) = self.meet(*member, next, &own) {
                return Err(all(&why, here));
            }
        }
        Ok(())
    }

    /// How both ends go through a channel, if they do so in the same way, and nobody else has its array.
    fn streamed(&self, link: &Link) -> Result<[Stream; 2], (String, Span)> {
        let (program, var) = (self.program, link.var);
        let [Some(from), Some(to)] = link.ends.map(|it| self.kernel(it)) else {
            return Err(("a region is no kernel".to_owned(), Span::NONE));
        };
        let refused = |why: &str, span: Span| Err((why.to_owned(), span));
        if !program.types.is_array(program.vars[var].ty) {
            return refused("it is a pointer, and others may lead to its elements", to.span);
        }
        if self.analysis.has_other_names(var) {
            return refused("other names or other files may lead to its elements", to.span);
        }
        if let Some(span) = self.named_elsewhere(link) {
            return refused("another directive names it", span);
        }
        let found = [from, to].map(|it| stream(&self.analysis, it, var));
        let [Ok(writer), Ok(reader)] = found else {
            let wrong = found.into_iter().find_map(Result::err);
            let (why, span) = wrong.map_or(("", to.span), |it| (it.why, it.span));
            return Err((format!("it is not gone through in order: {why}"), span));
        };
        if !writer.writes || reader.writes {
            return refused("it is not written by the one and read by the other", reader.span);
        }
        if writer.count != reader.count || !self.same_values(link, &writer) {
            return refused(
                "it is not known that as many elements are read as written",
                reader.span,
            );
        }
        Ok([writer, reader])
    }

    /// Where another directive names a channel's array.
    fn named_elsewhere(&self, link: &Link) -> Option<Span> {
        let program = self.program;
        let [from, to] = link.ends.map(|it| self.kernel(it).map(|it| it.region));
        let around: Vec<RegionId> = from.map(|it| program.around(it).collect()).unwrap_or_default();
        let ends: Vec<RegionId> = [from, to].into_iter().flatten().collect();
        for (id, region) in program.regions.iter() {
            let is_inside = program.around(id).any(|it| ends.contains(&it));
            let owns = |side: &(VarId, Side)| *side == (link.var, Side::Own);
            let own = around.contains(&id) && sides(program, id).iter().any(owns);
            let names = |it: &&ir::region::RegionVar| {
                it.var == link.var && (!around.contains(&id) || !it.mappings.is_empty())
            };
            if !is_inside
                && !own
                && let Some(it) = region.vars.iter().find(names)
            {
                return Some(it.span);
            }
        }
        program.vars[link.var].device.is_some().then(|| program.vars[link.var].span)
    }

    /// Whether what a number of elements is made of is the same at both ends.
    fn same_values(&self, link: &Link, writer: &Stream) -> bool {
        let vars = writer.count.vars();
        if vars.is_empty() {
            return true;
        }
        let program = self.program;
        let regions = link.ends.map(|it| self.kernel(it).map(|it| it.region));
        let [Some(first), Some(last)] = regions else { return false };
        let is = |stmt: &StmtId, region: RegionId| matches!(program.stmts[*stmt].kind, StmtKind::Region(it) if it == region);
        let mut open: Vec<Part> = program.functions[program.regions[first].function]
            .body
            .into_iter()
            .map(Part::Stmt)
            .collect();
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let StmtKind::Block(list) = &program.stmts[stmt].kind
                && let Some(from) = list.iter().position(|it| is(it, first))
                && let Some(to) = list.iter().position(|it| is(it, last))
            {
                let between = list.iter().take(to).skip(from);
                return between.into_iter().all(|it| {
                    let is_region = matches!(program.stmts[*it].kind, StmtKind::Region(_));
                    let (used, _) = uses(program, Part::Stmt(*it));
                    let changes =
                        |it: &kernel::walk::Use| it.how != How::Named && vars.contains(&it.var);
                    is_region && !used.iter().any(changes)
                });
            }
            program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    /// A variable that a region maps, and no region around it: when the region has ended it may be copied, and goes.
    fn leaves(&self, kernel: usize) -> Option<VarId> {
        let piece = self.pieces.get(kernel)?;
        let region = piece.kernel.region;
        let maps = |region: RegionId, var: VarId| {
            let vars = &self.program.regions[region].vars;
            vars.iter().any(|it| it.var == var && !it.mappings.is_empty())
        };
        let by_address = |it: &(&VarId, &Passed)| matches!(it.1, Passed::Address(_));
        let mut all = piece.passed.iter().filter(by_address).map(|it| *it.0);
        all.find(|var| !self.program.around(region).skip(1).any(|it| maps(it, *var)))
    }

    /// What two kernels may meet in, other than these channels.
    fn meet(&self, first: usize, second: usize, channels: &[VarId]) -> Option<String> {
        let of = |at: usize| self.touched.get(at).and_then(Option::as_ref);
        let (Some(a), Some(b)) = (of(first), of(second)) else {
            return Some("a region is no hardware".to_owned());
        };
        for x in a {
            for y in b.iter().filter(|it| it.writes || x.writes) {
                let (Some(p), Some(q)) = (x.what, y.what) else {
                    return Some("it is not known what memory the regions use".to_owned());
                };
                if p == q && matches!(p, Reached::Object(it) if channels.contains(&it)) {
                    continue;
                }
                if !self.analysis.are_apart(p, q) {
                    let name = |it: Reached| match it {
                        Reached::Object(var) => format!("`{}`", self.name(var)),
                        Reached::Through(var) => format!("what `{}` leads to", self.name(var)),
                    };
                    let does = if x.writes { "writes" } else { "reads" };
                    let then = if y.writes { "writes" } else { "reads" };
                    let what = if p == q { "that".to_owned() } else { name(q) };
                    return Some(format!(
                        "the region that runs before {does} {}, and this one {then} {what}",
                        name(p)
                    ));
                }
            }
        }
        None
    }

    /// Kernels with their channels as queues.
    fn group(&self, members: &[usize]) -> Refused<Group> {
        let place = |kernel: usize| members.iter().position(|it| *it == kernel);
        let inside = |it: &(usize, &Link)| it.1.ends.iter().all(|it| members.contains(it));
        let links: Vec<(usize, &Link)> = self.links.iter().enumerate().filter(inside).collect();
        let refused = |why: &str, span: Span| {
            links.iter().map(|(at, link)| (*at, self.left(link, why, span))).collect::<Vec<_>>()
        };
        let numbers: BTreeMap<VarId, usize> =
            links.iter().enumerate().map(|(number, it)| (it.1.var, number)).collect();
        let mut designs = Vec::new();
        for piece in members.iter().filter_map(|it| self.pieces.get(*it)) {
            let own: BTreeMap<VarId, usize> = numbers
                .iter()
                .filter(|it| {
                    sides(self.program, piece.kernel.region).iter().any(|side| side.0 == *it.0)
                })
                .map(|it| (*it.0, *it.1))
                .collect();
            let made = piped(self.program, piece.kernel, self.device, Some(piece.passed), &own);
            match made {
                Ok(made) if own.values().all(|it| loops(&made.shape, *it).len() == 1) => {
                    designs.push(made);
                }
                Ok(_) => return Err(refused("its loop is written out", piece.kernel.span)),
                Err(it) => return Err(refused(&it.why, it.span)),
            }
        }
        let ahead = |member: usize, number: usize| {
            let design = designs.get(member);
            design.map_or(0, |it| loops(&it.shape, number).iter().map(ahead).sum())
        };
        let mut queues = Vec::new();
        for (number, (_, link)) in links.iter().enumerate() {
            let ends = link.ends.map(|it| place(it).unwrap_or(0));
            let depth: u64 = ends.iter().map(|it| ahead(*it, number)).sum();
            queues.push(Queue { var: link.var, depth: DEPTH.max(depth + 2), ends });
        }
        Ok(Group { members: members.to_vec(), designs, queues })
    }
}

/// Iterations that the first end of a loop is ahead of the last by.
fn ahead(it: &(u64, &[End])) -> u64 {
    let starts = || it.1.iter().map(|it| it.start);
    let far = starts().max().unwrap_or(0) - starts().min().unwrap_or(0);
    far.div_ceil(it.0.max(1)) + 1
}

/// The loops in which a channel is used: interval and ends.
fn loops(shape: &[Shape], channel: usize) -> Vec<(u64, &[End])> {
    let mut found = Vec::new();
    for it in shape {
        match it {
            Shape::Once(_) => {}
            // What is used in one way only does not count with the iterations.
            Shape::Either(a, b) => {
                for it in [a, b].into_iter().flat_map(|it| loops(it, channel)) {
                    found.extend([it, it]);
                }
            }
            Shape::Pipelined { interval, ends, .. } => {
                let uses = ends.iter().filter(|it| it.channel == channel);
                found.extend(uses.map(|_| (*interval, ends.as_slice())));
            }
            Shape::Serial { test, body, .. } => {
                found.extend(loops(test, channel));
                found.extend(loops(body, channel));
            }
        }
    }
    found
}

impl Group {
    /// The group as a value that is run. `names`: the kernels of all pieces.
    pub fn made(
        &self,
        program: &Program,
        pieces: &[Piece<'_>],
        names: &[&str],
    ) -> Option<group::Group> {
        let mut made = group::Group::default();
        for (at, it) in self.members.iter().zip(&self.designs) {
            let name = (*names.get(*at)?).to_owned();
            made.members.push(Member { name, design: it.design.clone() });
        }
        for (number, queue) in self.queues.iter().enumerate() {
            let end = |member: usize| {
                let piece = pieces.get(*self.members.get(member)?)?;
                match piece.passed.get(&queue.var)? {
                    Passed::Address(slot) | Passed::Value(slot) => {
                        Some(group::End { member, slot: *slot })
                    }
                    Passed::Own => None,
                }
            };
            let states = made.members.iter().flat_map(|it| &it.design.states);
            let mut nodes = states.flat_map(|it| &it.block.nodes);
            let number = nodes.find(|it| it.act.channel().is_some_and(|it| it.0 == number))?.gives;
            let name = program.vars[queue.var].name.map_or("?", |it| program.names.text(it));
            let [from, to] = queue.ends.map(end);
            made.channels.push(group::Channel {
                name: name.to_owned(),
                number,
                depth: queue.depth,
                from: from?,
                to: to?,
            });
        }
        Some(made)
    }
}
