//! Registers of engines, as programs see them in memory.
//!
//! | address | read | written |
//! |---|---|---|
//! | `0x1020_0bf8` | upper half of the next address | sets it |
//! | `0x1020_0bfc` | what the host refused; clears it | – |
//! | `0x1020_3000` | – | ends the program with this status |
//! | `0x1020_3004` | number of cores | – |
//! | `0x1020_4000` | waits for an event: those that came | – |
//! | `0x1020_4004` | events that end a wait | sets them |
//! | `0x1020_4040 + 4 e` | – | raises event `e` (0 to 15) for the cores in this mask |
//! | `0x1020_4200 + 16 b` | cores that barrier `b` waits for | sets how many; 0 is all |
//! | `0x1020_4204 + 16 b` | arrives at barrier `b` and waits | – |
//! | `0x1020_4400` `4404` | – | source of a transfer, low and high |
//! | `0x1020_4408` `440c` | – | target, low and high |
//! | `0x1020_4410` | – | bytes of a row |
//! | `0x1020_4414` `4418` | – | distance of rows, in source and target |
//! | `0x1020_441c` | – | rows; 1 again after each start |
//! | `0x1020_4420` | starts the transfer: its number | – |
//! | `0x1020_4424` | unfinished transfers of this core | – |
//! | `0x1020_4428` | 1 if the chosen transfer is at its end | chooses a transfer |
//! | `0x1020_442c` | waits for the chosen transfer | – |
//! | `0x1020_5000` | – | first byte of the data cache's next work |
//! | `0x1020_5004` | – | how many bytes |
//! | `0x1020_5008` | – | does it: 1 writes back, 2 invalidates, 3 both |
//! | `0x1022_0000 + 16 q` | – | pushes a descriptor at the head of queue `q` of manager 0 |
//! | `0x1022_0004 + 16 q` | – | at its tail |
//! | `0x1022_0008 + 16 q` | pops the descriptor at the tail; 0 if there is none | – |
//! | `0x1022_000c + 16 q` | how many there are | – |
//! | `0x1024_0000 + 16 q` … | the same of manager 1 | |
//!
//! All are words and take one cycle; each core has its own extension register, event mask and transfer registers. The
//! end of a transfer is event 16 of the core that started it; waits do not end by it unless they are told to.

use crate::data_cache::Flush;
use crate::event::PROGRAM_EVENTS;
use crate::fault::{Access, FaultKind};
use crate::hart::Hart;
use crate::queues::End;
use crate::shared::{Done, Shared};
use crate::trace::Event;

const EXTENSION: u32 = 0x1020_0bf8;
const ERRORS: u32 = 0x1020_0bfc;
const EXIT: u32 = 0x1020_3000;
const CORES: u32 = 0x1020_3004;
const EVENT_WAIT: u32 = 0x1020_4000;
const EVENT_MASK: u32 = 0x1020_4004;
const EVENT_RAISE: u32 = 0x1020_4040;
const EVENT_RAISE_LAST: u32 = EVENT_RAISE + 4 * (PROGRAM_EVENTS - 1);
const BARRIERS: u32 = 0x1020_4200;
const BARRIERS_LAST: u32 = 0x1020_42fc;
const DMA: u32 = 0x1020_4400;
const DMA_START: u32 = DMA + 0x20;
const DMA_BUSY: u32 = DMA + 0x24;
const DMA_DONE: u32 = DMA + 0x28;
const DMA_WAIT: u32 = DMA + 0x2c;

const CACHE_FIRST: u32 = 0x1020_5000;
const CACHE_BYTES: u32 = 0x1020_5004;
const CACHE_WORK: u32 = 0x1020_5008;
const QUEUES: u32 = 0x1022_0000;
const QUEUES_LAST: u32 = 0x1025_ffff;
const MANAGER: u32 = 0x2_0000;

/// The manager and queue of a register.
fn queue(address: u32) -> (usize, usize) {
    let at = address - QUEUES;
    ((at / MANAGER) as usize, (at % MANAGER / 16) as usize)
}

/// Waits for a manager of queues.
fn wait_for_queue(hart: &mut Hart, shared: &mut Shared, address: u32) {
    let wait = shared.queues.wait(queue(address).0, hart.time);
    hart.counters.stalls.queue += wait;
    hart.counters.queue += 1;
    hart.time += wait;
}

/// Reads a register.
pub(crate) fn read(hart: &mut Hart, shared: &mut Shared, address: u32) -> Result<Done, FaultKind> {
    let missing = FaultKind::NoRegister { address: u64::from(address), access: Access::Read };
    let (core, time) = (hart.id, hart.time);
    let word = |value: u32| Done::Value(u64::from(value));
    Ok(match address {
        EXTENSION if shared.extension_register => word(hart.extension),
        ERRORS if shared.extension_register => word(std::mem::take(&mut hart.errors)),
        CORES => word(shared.cores),
        EVENT_WAIT => {
            let (done, cycles) = shared.events.wait(core);
            hart.counters.stalls.event += u64::from(cycles);
            hart.time += u64::from(cycles);
            done
        }
        EVENT_MASK => word(shared.events.mask(core).map_or(0, |it| *it)),
        BARRIERS..=BARRIERS_LAST => {
            let number = (address - BARRIERS) / 16;
            let done = match address % 16 {
                0 => shared.events.expected(number).map(word),
                4 => shared.events.arrive(number, core, time, &mut shared.sleepers),
                _ => None,
            };
            done.ok_or(missing)?
        }
        DMA_START => start(hart, shared)?,
        DMA_BUSY => word(shared.dma.busy(core)),
        DMA_DONE => {
            let id = shared.dma.staging(core).map_or(0, |it| it.selected);
            word(u32::from(shared.dma.is_done(id)))
        }
        DMA_WAIT => shared.dma.wait(core),
        QUEUES..=QUEUES_LAST => {
            let found = match address % 16 {
                8 => shared.queues.pop(queue(address)),
                12 => shared.queues.len(queue(address)),
                _ => None,
            };
            wait_for_queue(hart, shared, address);
            shared.sleepers.disturbed = true;
            word(found.ok_or(missing)?)
        }
        _ => return Err(missing),
    })
}

fn start(hart: &mut Hart, shared: &mut Shared) -> Result<Done, FaultKind> {
    let (core, cycle) = (hart.id, hart.time);
    let (transfer, done) = shared.dma.launch(core, hart.pc, cycle)?;
    let bytes = transfer.bytes();
    hart.counters.dma_transfers += 1;
    hart.counters.dma_bytes += bytes;
    let (id, from, to) = (transfer.id, transfer.from(), transfer.to());
    shared.note(Event::TransferStarts { cycle, core, id, from, to, bytes });
    shared.show_bursts();
    shared.sleepers.disturbed = true;
    Ok(done)
}

/// Writes a register.
pub(crate) fn write(
    hart: &mut Hart,
    shared: &mut Shared,
    address: u32,
    value: u32,
) -> Result<(), FaultKind> {
    let missing = FaultKind::NoRegister { address: u64::from(address), access: Access::Write };
    let (core, time) = (hart.id, hart.time);
    let low = |old: u64| old & !0xffff_ffff | u64::from(value);
    let high = |old: u64| old & 0xffff_ffff | u64::from(value) << 32;
    match address {
        EXTENSION if shared.extension_register => {
            hart.extension = value;
            hart.counters.wide.register += 1;
            return Ok(());
        }
        EXIT => {
            shared.exit = Some(value);
            shared.sleepers.disturbed = true;
        }
        EVENT_MASK => {
            if let Some(it) = shared.events.mask(core) {
                *it = value;
            }
        }
        EVENT_RAISE..=EVENT_RAISE_LAST if address.is_multiple_of(4) => {
            let event = 1 << ((address - EVENT_RAISE) / 4);
            shared.events.raise_all(value, event, time, &mut shared.sleepers);
        }
        BARRIERS..=BARRIERS_LAST if address.is_multiple_of(16) => {
            let number = (address - BARRIERS) / 16;
            let done = shared.events.expect(number, value, time, &mut shared.sleepers);
            done.ok_or(missing)?;
        }
        DMA..DMA_START | DMA_DONE => {
            let staging = shared.dma.staging(core).ok_or(missing.clone())?;
            match address - DMA {
                0x00 => staging.from = low(staging.from),
                0x04 => staging.from = high(staging.from),
                0x08 => staging.to = low(staging.to),
                0x0c => staging.to = high(staging.to),
                0x10 => staging.len = value,
                0x14 => staging.from_stride = value,
                0x18 => staging.to_stride = value,
                0x1c => staging.rows = value,
                0x28 => staging.selected = value,
                _ => return Err(missing),
            }
        }
        CACHE_FIRST => hart.cache_work.0 = value,
        CACHE_BYTES => hart.cache_work.1 = value,
        CACHE_WORK if (1..=3).contains(&value) => {
            let flush = Flush { writes_back: value & 1 != 0, invalidates: value & 2 != 0 };
            let work = hart.cache_work;
            let Some(caches) = &mut shared.data_caches else { return Err(missing) };
            let (looked, written) = caches.flush(&mut shared.l2, core, work, flush);
            let transfer = caches.transfer();
            shared.code_written.push(work);
            shared.sleepers.disturbed = true;
            let waits = (0..written).map(|_| shared.leave(time, transfer)).max().unwrap_or(0);
            hart.counters.stalls.l2 += looked + waits;
            hart.time += looked + waits;
        }
        QUEUES..=QUEUES_LAST => {
            let end = match address % 16 {
                0 => End::Head,
                4 => End::Tail,
                _ => return Err(missing),
            };
            shared.queues.push(queue(address), end, value).ok_or(missing)??;
            wait_for_queue(hart, shared, address);
            shared.sleepers.disturbed = true;
        }
        _ => return Err(missing),
    }
    Ok(())
}
