//! What is told of a call when all of it is done.
//!
//! For a call in place that is at its end. For a call in a queue it is when its last step is taken, by
//! another thread: [`Account::hand_over`] and [`HandedOver::take_over`] lie between.

use crate::llvm_info;
use crate::mapping::Cx;
use crate::tool::{Scope, Suspended};
use crate::watch::Timer;

/// A call that has begun.
pub(crate) struct Account {
    /// What tools are told.
    pub(crate) scope: Scope,
    /// `region`, `map`
    pub(crate) kind: &'static str,
    /// As users read it; empty if nobody does.
    pub(crate) what: String,
    /// What is mapped may have changed.
    pub(crate) is_of_table: bool,
}

/// The same on its way to another thread.
pub(crate) struct HandedOver {
    scope: Suspended,
    kind: &'static str,
    what: String,
    is_of_table: bool,
}

impl Account {
    /// Of a call that nobody is told of.
    pub(crate) const NONE: Account =
        Account { scope: Scope::NONE, kind: "", what: String::new(), is_of_table: false };

    /// All is done; the work began with the timer.
    pub(crate) fn close(self, cx: &Cx<'_>, timer: Timer) {
        let Account { scope, kind, what, is_of_table } = self;
        drop(scope);
        if is_of_table && cx.watch.has_llvm(llvm_info::TABLE) {
            llvm_info::table(cx.device.number, &cx.device.mapping.snapshot(), &cx.place);
        }
        if !what.is_empty() {
            cx.watch.finished(timer, &cx.place, kind, &what);
        }
    }

    pub(crate) fn hand_over(self) -> HandedOver {
        let Account { scope, kind, what, is_of_table } = self;
        HandedOver { scope: scope.suspend(), kind, what, is_of_table }
    }
}

impl HandedOver {
    pub(crate) fn take_over(self) -> Account {
        let HandedOver { scope, kind, what, is_of_table } = self;
        Account { scope: scope.resume(), kind, what, is_of_table }
    }
}
