//! Who runs which loop of a nest: the shapes that it may take, and the cheapest of them on a device.
//!
//! In: the marks of a nest ([`crate::marks`]) and a device ([`crate::profile`]). Out: a [`Choice`] for each nest, with
//! what it costs by the model ([`cost`]), the next best and the reason in words.
//!
//! | family | teams and threads | lanes |
//! |---|---|---|
//! | [`Family::Outer`] | the outermost loop has all levels | |
//! | [`Family::Collapsed`] | several loops, made one, have all levels | |
//! | [`Family::Split`] | outer loops have the teams, loops inside the threads | |
//! | [`Family::Within`] | each thread runs the outer loop whole, all share the loop inside | |
//! | [`Family::Lanes`] | as the first two | innermost loops |
//! | [`Family::InOrder`] | none; loops inside are nests of their own | |
//!
//! A shape uses only loops whose iterations may run in any order. What the user has written stays if it costs little more
//! than the best, or if the best depends on a guess. Not here: writing the shape down as directives.

mod candidates;
pub mod cost;
mod within;
mod written;

use std::cell::RefCell;

use ir::program::Program;

use crate::marks::{LoopTree, TripsFrom};
use crate::profile::Profile;
use cost::{Cost, Model, Scale};
pub use within::shared_inside;

/// Families of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// All levels on the outermost loop.
    Outer,
    /// All levels on several loops made one.
    Collapsed,
    /// Teams outside, threads inside.
    Split,
    /// Every thread runs the outer loop whole; all of them share the loop inside.
    Within,
    /// One of the first two, and lanes inside.
    Lanes,
    /// In order.
    InOrder,
}

/// Who runs which loop of a nest; positions in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The loop around the others that every thread runs whole, if there is such a one.
    pub whole: Vec<usize>,
    /// Loops made one, which have the teams; the threads too, if none inside has them.
    pub outer: Vec<usize>,
    /// Loops inside that have the threads of a team.
    pub split: Vec<usize>,
    /// Loops that have the lanes.
    pub lanes: Vec<usize>,
}

impl Shape {
    /// Which family it is of.
    pub fn family(&self) -> Family {
        if !self.whole.is_empty() {
            return Family::Within;
        }
        match (self.outer.len(), self.split.is_empty(), self.lanes.is_empty()) {
            (0, true, _) => Family::InOrder,
            (_, false, _) => Family::Split,
            (_, true, false) => Family::Lanes,
            (1, true, true) => Family::Outer,
            (_, true, true) => Family::Collapsed,
        }
    }

    /// The same with threads on the loop that each of them would run whole.
    pub fn outside(&self) -> Shape {
        match self.whole.is_empty() {
            true => self.clone(),
            false => Shape { whole: Vec::new(), outer: self.whole.clone(), ..self.clone() },
        }
    }

    /// In words: `teams and threads on i, j (collapsed), lanes on k`.
    pub fn text(&self, program: &Program, tree: &LoopTree) -> String {
        let names = |of: &[usize]| {
            let names = of.iter().filter_map(|it| tree.loop_at(*it)).map(|it| it.name(program));
            names.collect::<Vec<_>>().join(", ")
        };
        let mut parts = Vec::new();
        if !self.whole.is_empty() {
            parts.push(format!("{} whole in each thread", names(&self.whole)));
        }
        if !self.outer.is_empty() {
            let what = if self.split.is_empty() { "teams and threads" } else { "teams" };
            let together = if self.outer.len() > 1 { " (collapsed)" } else { "" };
            parts.push(format!("{what} on {}{together}", names(&self.outer)));
        }
        if !self.split.is_empty() {
            parts.push(format!("threads on {}", names(&self.split)));
        }
        if !self.lanes.is_empty() {
            parts.push(format!("lanes on {}", names(&self.lanes)));
        }
        if parts.is_empty() { "in order".to_owned() } else { parts.join(", ") }
    }
}

/// What is chosen for a nest.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The outermost loop.
    pub root: usize,
    /// Who runs which loop.
    pub shape: Shape,
    /// What that costs.
    pub cost: Cost,
    /// The next best, if there is another.
    pub runner_up: Option<(Shape, Cost)>,
    /// What the user has written, if that names levels.
    pub written: Option<(Shape, Cost)>,
    /// Why it is this one.
    pub because: Because,
    /// The same in words, with numbers.
    pub why: String,
}

/// Why a shape was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It costs least.
    Cheapest,
    /// It is what the user wrote, and that costs least or little more.
    Kept,
    /// It is what the user wrote, and what costs least depends on how often loops run.
    Uncertain,
    /// No loop of the nest may run in parallel.
    NothingParallel,
}

/// What changing a mapping that somebody has written costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Respect {
    /// It is the user's text: it stays if it is nearly as good.
    #[default]
    Written,
    /// Nobody sees it: whatever costs less is taken.
    Nothing,
}

impl Respect {
    /// The user's mapping stays if it costs no more than this many times the best.
    fn close(self) -> f64 {
        match self {
            Respect::Written => 1.1,
            Respect::Nothing => 1.0,
        }
    }
}

/// What whoever asks can do with the answer.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What it costs to change what is written.
    pub respect: Respect,
    /// Loops that have no lanes, whatever they cost.
    pub without_lanes: &'a [usize],
    /// Shapes of [`Family::Within`] can be said.
    pub may_share_inside: bool,
    /// On cores teams are the threads: lanes inside a team are no threads even if nobody names any.
    pub teams_are_threads: bool,
}

impl<'a> Terms<'a> {
    /// All shapes can be said, in words that tell threads from teams.
    pub fn all(respect: Respect, without_lanes: &'a [usize]) -> Terms<'a> {
        let (may_share_inside, teams_are_threads) = (true, false);
        Terms { respect, without_lanes, may_share_inside, teams_are_threads }
    }
}

/// Chooses for all nests of a tree, in the order of the text.
pub fn choose(program: &Program, tree: &LoopTree, profile: &Profile) -> Vec<Choice> {
    choose_with(program, tree, profile, Terms::all(Respect::Written, &[]))
}

/// The same, with more or less respect for what is written, and without some shapes.
pub fn choose_with(
    program: &Program,
    tree: &LoopTree,
    profile: &Profile,
    terms: Terms<'_>,
) -> Vec<Choice> {
    let model = Model { program, tree, profile, terms, inner: RefCell::default() };
    let mut choices = Vec::new();
    for root in tree.roots() {
        choose_nest(&model, root, 1.0, &mut choices);
    }
    choices
}

/// A shape and what it costs; loops inside that are nests of their own included.
#[derive(Clone, Debug)]
struct Ranked {
    shape: Shape,
    cost: Cost,
}

fn choose_nest(model: &Model<'_>, root: usize, entries: f64, choices: &mut Vec<Choice>) {
    let ranked = ranked(model, root, entries, Scale::Estimate);
    let Some(best) = ranked.first() else { return };
    let runner_up = ranked.get(1).map(|it| (it.shape.clone(), it.cost));
    let written = written::shape(model, root)
        .map(|it| (it.clone(), model.cost(root, &it, entries, Scale::Estimate)));
    let (shape, cost, because) = decide(model, root, entries, best, written.as_ref());
    let inside = shape.family() == Family::InOrder;
    let why = told(model, &shape, cost, runner_up.as_ref(), written.as_ref(), because);
    choices.push(Choice { root, shape, cost, runner_up, written, because, why });
    if inside {
        // What runs in order hands the question on to the loops inside.
        let Some(mark) = model.tree.loop_at(root) else { return };
        let entries = entries * model.trips(root, Scale::Estimate);
        for &child in &mark.children {
            choose_nest(model, child, entries, choices);
        }
    }
}

fn decide(
    model: &Model<'_>,
    root: usize,
    entries: f64,
    best: &Ranked,
    written: Option<&(Shape, Cost)>,
) -> (Shape, Cost, Because) {
    if let Some((shape, cost)) = written {
        if *shape == best.shape || cost.total() <= model.terms.respect.close() * best.cost.total() {
            return (shape.clone(), *cost, Because::Kept);
        }
        let at = |scale| ranked(model, root, entries, scale).into_iter().next();
        let flips = [Scale::Low, Scale::High].into_iter().filter_map(at).any(|it| {
            // Other loops have the teams and threads, not only other lanes.
            let who = |it: &Shape| (it.whole.clone(), it.outer.clone(), it.split.clone());
            who(&it.shape) != who(&best.shape)
        });
        if flips && is_guessed(model.tree, root) {
            return (shape.clone(), *cost, Because::Uncertain);
        }
    }
    let nothing = best.shape.family() == Family::InOrder
        && !model
            .tree
            .nest(root)
            .iter()
            .any(|it| model.tree.loop_at(*it).is_some_and(crate::marks::LoopMark::is_parallel));
    let because = if nothing { Because::NothingParallel } else { Because::Cheapest };
    (best.shape.clone(), best.cost, because)
}

fn is_guessed(tree: &LoopTree, root: usize) -> bool {
    let nest = tree.nest(root);
    nest.iter().filter_map(|it| tree.loop_at(*it)).any(|it| it.trips.from == TripsFrom::Guess)
}

/// Costs that differ by no more than this many times are the same.
const SAME: f64 = 1.02;

/// All shapes of a nest, cheapest first.
fn ranked(model: &Model<'_>, root: usize, entries: f64, scale: Scale) -> Vec<Ranked> {
    let mut found: Vec<(usize, Ranked)> = candidates::of(model, root)
        .into_iter()
        .map(|shape| {
            let mut cost = model.cost(root, &shape, entries, scale);
            if shape.family() == Family::InOrder
                && let Some(inside) = inside(model, root, entries, scale)
            {
                cost = inside;
            }
            Ranked { shape, cost }
        })
        .enumerate()
        .collect();
    // Equal ones stay in the order of candidates: simple ones first.
    found.sort_by(|a, b| a.1.cost.total().total_cmp(&b.1.cost.total()));
    // So do those that the model cannot tell apart.
    let limit = found.first().map_or(0.0, |it| SAME * it.1.cost.total());
    let place = |(at, it): &(usize, Ranked)| {
        let is_involved = !it.shape.split.is_empty() || !it.shape.whole.is_empty();
        (is_involved, *at)
    };
    let alike = found.iter().take_while(|it| it.1.cost.total() <= limit).count();
    if let Some(alike) = found.get_mut(..alike) {
        alike.sort_by_key(place);
    }
    found.into_iter().map(|it| it.1).collect()
}

/// What a loop costs that runs in order while loops inside it have the threads.
fn inside(model: &Model<'_>, root: usize, entries: f64, scale: Scale) -> Option<Cost> {
    let mark = model.tree.loop_at(root)?;
    if mark.children.is_empty() {
        return None;
    }
    let trips = model.trips(root, scale);
    let mut sum = model.own(root, entries, scale);
    for &child in &mark.children {
        sum = sum.and(cheapest(model, child, entries * trips, scale)?);
    }
    Some(sum)
}

/// What the best shape of a loop inside costs: each of the loops around it asks.
fn cheapest(model: &Model<'_>, root: usize, entries: f64, scale: Scale) -> Option<Cost> {
    let key = (root, entries.to_bits(), scale);
    if let Some(known) = model.inner.borrow().get(&key) {
        return *known;
    }
    let found = ranked(model, root, entries, scale).into_iter().next().map(|it| it.cost);
    model.inner.borrow_mut().insert(key, found);
    found
}

fn told(
    model: &Model<'_>,
    shape: &Shape,
    cost: Cost,
    runner_up: Option<&(Shape, Cost)>,
    written: Option<&(Shape, Cost)>,
    because: Because,
) -> String {
    let text = |shape: &Shape| shape.text(model.program, model.tree);
    let head = match because {
        Because::Cheapest => format!("{}: {}", text(shape), cost.text()),
        Because::Kept => format!("{}, as written: {}", text(shape), cost.text()),
        Because::Uncertain => format!(
            "{}, as written: {}; what costs least depends on how often loops run, which is guessed",
            text(shape),
            cost.text()
        ),
        Because::NothingParallel => "in order: no loop of the nest may run in parallel".to_owned(),
    };
    let mut told = vec![head];
    told.extend(because_of_caches(model, shape));
    if because != Because::NothingParallel
        && let Some((other, cost)) = runner_up.filter(|it| it.0 != *shape)
    {
        told.push(format!("next best is {}: {}", text(other), cost.text()));
    }
    if let Some((other, cost)) = written.filter(|it| it.0 != *shape) {
        told.push(format!("as written, {}: {}", text(other), cost.text()));
    }
    told.join("; ")
}

/// What is read again in each round of a loop that every thread runs whole.
fn because_of_caches(model: &Model<'_>, shape: &Shape) -> Option<String> {
    let (&root, &inner) = shape.whole.first().zip(shape.outer.first())?;
    let program = model.program;
    let name = model.tree.loop_at(root)?.name(program);
    let again = model.again(root, inner, Scale::Estimate);
    let parts = again.iter().map(|it| {
        let var = it.var.and_then(|it| program.vars[it].name).map(|it| program.names.text(it));
        let of = var.map_or(String::new(), |it| format!(" of `{it}`"));
        format!("{}{of}", within::size(it.bytes))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| {
        let parts = parts.join(" and ");
        format!(
            "each iteration of {name} reads the same {parts}, of which a core's caches hold a thread's share only"
        )
    })
}
