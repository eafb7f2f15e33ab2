//! How long a side that waits for the other looks before it sleeps.
//!
//! Waking a thread takes a processor that has nothing else to do tens of microseconds where it is one of a virtual machine, which is
//! more than a small region takes. Who looks gives its processor to whoever could use it each time.

use std::thread;
use std::time::{Duration, Instant};

/// About what waking takes at worst, so that looking in vain makes a wait twice as long at most.
const LONGEST: Duration = Duration::from_micros(50);

/// Looks for one thing.
#[derive(Debug, Default)]
pub(crate) struct Look {
    end: Option<Instant>,
}

impl Look {
    /// Whether to look again; lets others run first.
    pub(crate) fn goes_on(&mut self) -> bool {
        let now = Instant::now();
        let goes_on = now < *self.end.get_or_insert(now + LONGEST);
        if goes_on {
            thread::yield_now();
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_an_end() {
        let (mut look, start) = (Look::default(), Instant::now());
        assert!(look.goes_on());
        while look.goes_on() {}
        assert!(start.elapsed() >= LONGEST && !look.goes_on());
    }
}
