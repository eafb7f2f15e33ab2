//! Calls in two stages: the mapping table at once, copies and launches in a queue.
//!
//! See [`crate::steps`]. The second stage of a region is started at once where the device works by itself and
//! all before it in the queue is such work ([`crate::submitted`]). Order between queues is the program's business: who uses data of which another
//! queue still makes the copy has to wait for that queue.

use crate::account::Account;
use crate::args::{MapArgs, Place};
use crate::arrays::Arrays;
use crate::devices::DeviceState;
use crate::error::Error;
use crate::guard::guard;
use crate::mapping::Cx;
use crate::queue::{self, Note, Work};
use crate::registry;
use crate::steps::Later;
use crate::submitted;
use crate::watch::Watch;

/// A caller that finds all queues empty moves so many bytes itself: that is sooner done than handed over to
/// another thread.
const MOST_BYTES: usize = 1 << 16;

/// What a call is put into.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) device: &'static DeviceState,
    pub(crate) number: i64,
}

impl Goal {
    /// Makes the first stage of a call and puts the second into the queue. `args` are copied. A failure
    /// of the second is reported as one `in_kernel` or not.
    pub(crate) fn put(
        self,
        place: Place,
        args: &MapArgs,
        in_kernel: bool,
        begin: impl FnOnce(&Cx<'_>, &MapArgs) -> Result<Account, Error>,
    ) -> Result<(), Error> {
        let Goal { device, number } = self;
        let registry = registry::current();
        registry.resolve(device)?;
        let unified = registry.is_unified();
        let mut arrays = Arrays::new(args);
        let mut stage = device.mapping.stage();
        let reserved = queue::reserve(device.number, number);
        let ticket = reserved.ticket;
        let later = Later::new(number, reserved);
        let cx =
            Cx { device, place, watch: Watch::now(), unified, later: Some(&later), stream: None };
        let account =
            queue::on_behalf_of(number, || begin(&cx, &arrays.args()).map(Account::hand_over))?;
        let (mut steps, others) = later.take();
        let is_quick = steps.is_empty() || steps.cost() <= MOST_BYTES && later.before.is_empty();
        stage.made = later.made();
        // What a region before copies to the host when it is finished cannot be read here.
        let agree = |it: &Note| !(it.writes_host && steps.read_host());
        let events = queue::events(others.iter().copied(), device.number, agree);
        if let Some(after) = events.filter(|_| !is_quick && !device.shares_memory) {
            // The table is through with the call, and the next one comes after it.
            drop(stage);
            let cx = Cx { later: None, ..cx };
            let writes_host = queue::write_host(&others);
            let started = queue::on_behalf_of(number, || {
                submitted::submit_steps(&cx, device, (arrays, steps), &after, writes_host)
            });
            (arrays, steps) = match started? {
                Ok((region, note)) => {
                    queue::leave_at(ticket, number, &others, note, region.finishing());
                    return Ok(());
                }
                Err(back) => back,
            };
        }
        let second = move || {
            guard(&place, in_kernel, || {
                let cx =
                    Cx { device, place, watch: Watch::now(), unified, later: None, stream: None };
                let (account, timer) = (account.take_over(), cx.watch.start());
                steps.run(&cx, &arrays.args())?;
                account.close(&cx, timer);
                Ok(())
            });
        };
        let second: Option<Work> = match is_quick {
            true => {
                queue::on_behalf_of(number, second);
                None
            }
            false => Some(Box::new(second)),
        };
        queue::fill(ticket, number, &others, second);
        Ok(())
    }
}
