//! What a thread works off at the moment that nobody waits for in place.

use std::cell::Cell;

use crate::graph::Ticket;

/// Such work.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    /// `None`: the caller itself does it, on behalf of the queue.
    pub(crate) ticket: Option<Ticket>,
    /// The queue that it is in, if that has a number.
    pub(crate) queue: Option<i64>,
}

thread_local! {
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
}

/// Until this is dropped the thread works that off; then what it did before.
pub(crate) struct Until(Option<Running>);

impl Drop for Until {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

impl Running {
    /// The current thread begins with it.
    pub(crate) fn begin(self) -> Until {
        Until(RUNNING.replace(Some(self)))
    }
}

/// The piece of work that the current thread has taken.
pub(crate) fn own() -> Option<Ticket> {
    RUNNING.get().and_then(|it| it.ticket)
}

/// The queue that the current thread works off, if that has a number.
pub(crate) fn queue() -> Option<i64> {
    RUNNING.get().and_then(|it| it.queue)
}

/// The current thread works off something that nobody waits for in place.
pub(crate) fn is_deferred() -> bool {
    RUNNING.get().is_some()
}
