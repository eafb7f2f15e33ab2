//! Locks that try out the orders in which threads may run.
//!
//! One thread of a [`run`] runs at a time; whenever it takes or frees a lock, waits or wakes, the next one
//! is chosen. A run is repeated: one time with the next of all choices that switch threads at most
//! [`SWITCHES`] times without need, one time with choices by chance (the same ones each time it is built),
//! until there are no more, or a bound is reached. Threads that sleep with nobody left to wake
//! them have lost a wake-up, or wait in a circle: that fails.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe};
use std::sync as real;

pub(crate) use std::sync::PoisonError;

/// Most bugs need few switches.
const SWITCHES: usize = 3;

/// What stops a thread.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    Ready,
    /// Until the lock or signal at this address changes.
    Sleeping(usize),
    Done,
}

/// One execution.
struct World {
    state: real::Mutex<State>,
    turn: real::Condvar,
}

struct State {
    threads: Vec<Status>,
    /// Threads after these serve the others and never end.
    ending: usize,
    current: usize,
    /// Chosen, of how many.
    choices: Vec<(usize, usize)>,
    step: usize,
    switches: usize,
    /// What choices by chance come from.
    chance: Option<u64>,
    failure: Option<String>,
    is_over: bool,
}

thread_local! {
    static ME: RefCell<Option<(real::Arc<World>, usize)>> = const { RefCell::new(None) };
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

/// How a thread ends whose execution is over.
struct Over;

impl State {
    /// Chooses who runs next. `me` can go on or cannot.
    fn choose(&mut self, me: usize) {
        let others = self.threads.iter().enumerate();
        let others = others.filter(|(at, it)| *at != me && **it == Status::Ready);
        let mut able: Vec<usize> = others.map(|(at, _)| at).collect();
        let can_go_on = self.threads[me] == Status::Ready;
        if can_go_on {
            if self.switches >= SWITCHES && self.chance.is_none() {
                able.clear();
            }
            able.insert(0, me);
        }
        if self.threads[..self.ending].iter().all(|it| *it == Status::Done) {
            self.is_over = true;
        } else if able.is_empty() {
            self.failure.get_or_insert("threads sleep that nobody will wake".to_owned());
            self.is_over = true;
        } else {
            if self.step == self.choices.len() {
                let chosen = self.chance.as_mut().map_or(0, |it| {
                    // Knuth's generator; its high bits are the good ones.
                    *it = it.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (*it >> 33) as usize % able.len()
                });
                self.choices.push((chosen, able.len()));
            }
            let next = able[self.choices[self.step].0.min(able.len() - 1)];
            self.step += 1;
            self.switches += usize::from(can_go_on && next != me);
            self.current = next;
        }
    }
}

/// The thread is at a point where another may go on; `status`: why it cannot itself.
fn point(status: Status) {
    let Some((world, me)) = ME.with_borrow(Clone::clone) else { return };
    if IS_ENDING.get() {
        return;
    }
    let mut state = world.state.lock().unwrap();
    state.threads[me] = status;
    state.choose(me);
    world.turn.notify_all();
    while !state.is_over && state.current != me {
        state = world.turn.wait(state).unwrap();
    }
    if state.is_over && status != Status::Done {
        drop(state);
        IS_ENDING.set(true);
        panic::resume_unwind(Box::new(Over));
    }
}

/// Those that sleep for this address can go on: one or all.
fn rouse(address: usize, all: bool) {
    let Some((world, _)) = ME.with_borrow(Clone::clone) else { return };
    let mut state = world.state.lock().unwrap();
    for it in state.threads.iter_mut().filter(|it| **it == Status::Sleeping(address)) {
        *it = Status::Ready;
        if !all {
            break;
        }
    }
}

/// A job of one thread.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Runs the jobs that `make` gives in every order, as far as that goes, and says how many were tried. The
/// run ends with the first `ending` of them.
pub(crate) fn run(most: usize, make: impl Fn() -> (usize, Vec<Job>)) -> Result<usize, String> {
    let mut choices: Vec<(usize, usize)> = Vec::new();
    for number in 1..=most {
        let is_by_chance = number % 2 == 0;
        let (ending, jobs) = make();
        let threads = vec![Status::Ready; jobs.len()];
        let state = State {
            threads,
            ending,
            current: 0,
            choices: if is_by_chance { Vec::new() } else { std::mem::take(&mut choices) },
            step: 0,
            switches: 0,
            chance: is_by_chance.then_some(number as u64),
            failure: None,
            is_over: false,
        };
        let turn = real::Condvar::new();
        let world = real::Arc::new(World { state: real::Mutex::new(state), turn });
        std::thread::scope(|scope| {
            for (me, job) in jobs.into_iter().enumerate() {
                let world = real::Arc::clone(&world);
                scope.spawn(move || thread(&world, me, job));
            }
        });
        let state = world.state.lock().unwrap();
        if let Some(failure) = &state.failure {
            return Err(format!("{failure}, in execution {number}"));
        }
        if is_by_chance {
            continue;
        }
        choices.clone_from(&state.choices);
        choices.truncate(state.step);
        while choices.last().is_some_and(|(chosen, of)| chosen + 1 >= *of) {
            choices.pop();
        }
        match choices.last_mut() {
            Some(last) => last.0 += 1,
            None => return Ok(number),
        }
    }
    Ok(most)
}

fn thread(world: &real::Arc<World>, me: usize, job: Job) {
    ME.set(Some((real::Arc::clone(world), me)));
    {
        let mut state = world.state.lock().unwrap();
        while !state.is_over && state.current != me {
            state = world.turn.wait(state).unwrap();
        }
        if state.is_over {
            return;
        }
    }
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(job))
        && !payload.is::<Over>()
    {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        let mut state = world.state.lock().unwrap();
        state.failure = Some(text.unwrap_or_default());
        state.is_over = true;
        world.turn.notify_all();
        return;
    }
    point(Status::Done);
}

#[derive(Debug, Default)]
pub(crate) struct Mutex<T> {
    is_locked: UnsafeCell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread of a run runs at a time.
unsafe impl<T: Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mutex<T> {}

pub(crate) struct MutexGuard<'a, T>(&'a Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex { is_locked: UnsafeCell::new(false), value: UnsafeCell::new(value) }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[allow(clippy::type_complexity, reason = "the same as the real one's")]
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, T>, PoisonError<MutexGuard<'_, T>>> {
        point(Status::Ready);
        // SAFETY: one thread of a run runs at a time.
        unsafe {
            while *self.is_locked.get() && !IS_ENDING.get() {
                point(Status::Sleeping(self.address()));
            }
            *self.is_locked.get() = true;
        }
        Ok(MutexGuard(self))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: one thread of a run runs at a time.
        unsafe { *self.0.is_locked.get() = false };
        rouse(self.0.address(), true);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Condvar {
    /// An address of its own.
    _place: u8,
}

impl Condvar {
    pub(crate) const fn new() -> Condvar {
        Condvar { _place: 0 }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[allow(clippy::type_complexity, reason = "the same as the real one's")]
    pub(crate) fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
        let mutex = guard.0;
        drop(guard);
        point(Status::Sleeping(self.address()));
        mutex.lock()
    }

    pub(crate) fn notify_one(&self) {
        point(Status::Ready);
        rouse(self.address(), false);
    }

    pub(crate) fn notify_all(&self) {
        point(Status::Ready);
        rouse(self.address(), true);
    }
}
