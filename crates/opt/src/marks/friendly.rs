//! How much lanes like a loop: a score, and what it is made of.
//!
//! 0 means never: a loop that may not run in lanes, calls what nobody knows, or scatters what it writes.
//! Above that, 100 is a loop that nothing speaks against or for.

use super::strides::Stride;
use super::{LoopTree, Trips, TripsFrom};

/// How much lanes like a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vector {
    /// 0 for never; about 100 for a plain loop.
    pub score: u32,
    /// What it is made of, in a fixed order.
    pub ingredients: Vec<Ingredient>,
}

/// Something that speaks for lanes or against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingredient {
    /// Iterations may not run in any order.
    NotParallel,
    /// The loop may be left early.
    Exit,
    /// It calls a function.
    Call,
    /// It writes here and there.
    Scatter,
    /// It holds a loop of which nobody knows how often it runs.
    OpenLoop,
    /// It holds a loop.
    InnerLoop,
    /// It reads here and there.
    Gather,
    /// It writes under a condition.
    GuardedStore,
    /// It has a condition.
    Branch,
    /// It runs too seldom.
    Short,
    /// It steps over elements.
    Stride,
    /// It mixes elements of several sizes.
    MixedSizes,
    /// All that it writes stands side by side.
    UnitStores,
    /// It adds up one variable.
    OneSum,
    /// It runs a known number of times that lanes share evenly.
    EvenTrips,
}

/// Lanes are at least so many.
const WIDTH: u64 = 4;
const PLAIN: i32 = 100;

impl Ingredient {
    /// How much it weighs; nothing for what forbids lanes.
    pub fn weight(self) -> Option<i32> {
        match self {
            Ingredient::NotParallel | Ingredient::Exit | Ingredient::Call | Ingredient::Scatter => {
                None
            }
            Ingredient::OpenLoop => Some(-60),
            Ingredient::InnerLoop | Ingredient::Gather | Ingredient::GuardedStore => Some(-40),
            Ingredient::Short => Some(-50),
            Ingredient::Branch => Some(-15),
            Ingredient::Stride => Some(-30),
            Ingredient::MixedSizes => Some(-10),
            Ingredient::UnitStores => Some(30),
            Ingredient::OneSum => Some(10),
            Ingredient::EvenTrips => Some(10),
        }
    }

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Ingredient::NotParallel => "iterations may not run in any order",
            Ingredient::Exit => "the loop may be left early",
            Ingredient::Call => "a function is called",
            Ingredient::Scatter => "elements are written here and there",
            Ingredient::OpenLoop => "a loop inside runs nobody knows how often",
            Ingredient::InnerLoop => "there is a loop inside",
            Ingredient::Gather => "elements are read here and there",
            Ingredient::GuardedStore => "something is written under a condition",
            Ingredient::Branch => "there is a condition",
            Ingredient::Short => "it runs too seldom",
            Ingredient::Stride => "elements are stepped over",
            Ingredient::MixedSizes => "elements differ in size",
            Ingredient::UnitStores => "what is written stands side by side",
            Ingredient::OneSum => "one variable is summed up",
            Ingredient::EvenTrips => "lanes share the iterations evenly",
        }
    }
}

/// The score of a loop whose strides and trips are known.
pub(super) fn of(tree: &LoopTree, at: usize) -> Vector {
    let Some(mark) = tree.loop_at(at) else { return Vector::default() };
    let mut found = Vec::new();
    let mut note = |holds: bool, it: Ingredient| {
        if holds {
            found.push(it);
        }
    };
    let inner = tree.nest(at);
    let bodies: Vec<_> = inner.iter().filter_map(|it| tree.loop_at(*it)).collect();
    let accesses: Vec<_> = tree.strides(at).collect();
    let any = |writes: bool, is: &dyn Fn(Stride) -> bool| {
        accesses.iter().any(|(access, stride)| access.writes == writes && is(**stride))
    };
    let is_irregular = |it: Stride| it == Stride::Irregular;
    let is_stepped = |it: Stride| match it {
        Stride::Same => false,
        Stride::Elements(by) => by.abs() != 1,
        Stride::Row => true,
        Stride::Irregular => false,
    };
    note(!mark.is_parallel(), Ingredient::NotParallel);
    note(bodies.iter().any(|it| it.work.jumps > 0), Ingredient::Exit);
    note(bodies.iter().any(|it| it.work.calls > 0), Ingredient::Call);
    note(any(true, &is_irregular), Ingredient::Scatter);
    let inside = bodies.get(1..).unwrap_or_default();
    let is_open = |it: &Trips| it.from == TripsFrom::Guess && it.count.is_none();
    let has_open = bodies.iter().any(|it| it.work.open_loops > 0)
        || inside.iter().any(|it| is_open(&it.trips));
    note(has_open, Ingredient::OpenLoop);
    note(!has_open && !inside.is_empty(), Ingredient::InnerLoop);
    note(any(false, &is_irregular), Ingredient::Gather);
    let is_guarded = accesses.iter().any(|it| it.0.writes && it.0.is_conditional);
    note(is_guarded, Ingredient::GuardedStore);
    note(!is_guarded && bodies.iter().any(|it| it.work.branches > 0), Ingredient::Branch);
    note(mark.trips.estimate < 2 * WIDTH, Ingredient::Short);
    note(any(true, &is_stepped) || any(false, &is_stepped), Ingredient::Stride);
    let sizes = accesses.iter().map(|it| it.0.bytes);
    note(sizes.clone().max() != sizes.min(), Ingredient::MixedSizes);
    let mut stores = accesses.iter().filter(|it| it.0.writes).peekable();
    note(stores.peek().is_some() && stores.all(|it| it.1.is_unit()), Ingredient::UnitStores);
    note(mark.finding.reductions.len() == 1, Ingredient::OneSum);
    let is_even = mark.trips.from == TripsFrom::Constant && mark.trips.estimate % WIDTH == 0;
    note(is_even, Ingredient::EvenTrips);
    let sum = found.iter().try_fold(PLAIN, |sum, it| Some(sum + it.weight()?));
    let score = sum.map_or(0, |it| u32::try_from(it.max(1)).unwrap_or(1));
    Vector { score, ingredients: found }
}
