//! Regions that kernels hand back to the host ([`abi::mailbox`]). A thread runs each, and what it wants of the memory that cores
//! see, and of mappers, goes to the thread that simulates: only that one has the cluster.
#![allow(unsafe_code, reason = "copies by address")]

use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::{ptr, slice, thread};

use abi::mailbox::kind;
use sim::Cluster;

use super::Run;
use crate::handed_back::{self, Sight};
use crate::memory::DevicePtr;
use crate::{DeviceError, Result, Upcalls};

/// Words of a message: its kind, five more, the address of data and their bytes.
pub(super) const WORDS: usize = 8;

/// Stack of a thread that runs regions of the host; pages are taken when they are used.
const STACK: usize = 64 << 20;

/// Who runs such regions, one at a time.
pub(super) struct Desk {
    seen: Arc<Seen>,
    upcalls: Arc<dyn Upcalls>,
    open: Mutex<Open>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("open", &self.open).finish_non_exhaustive()
    }
}

/// The end of both channels that the simulating thread has.
#[derive(Debug)]
struct Open {
    /// The core whose region runs.
    core: Option<u32>,
    wants: Receiver<Want>,
    done: Sender<Want>,
    answers: Sender<Vec<u8>>,
}

/// What a region wants.
#[derive(Debug)]
enum Want {
    Read { at: u64, len: usize },
    Write { at: u64, bytes: Vec<u8> },
    Mapper([u64; 5]),
    Done(Result<()>),
}

/// The other end.
#[derive(Debug)]
struct Seen {
    channels: Mutex<(Sender<Want>, Receiver<Vec<u8>>)>,
}

impl Desk {
    pub(super) fn new(upcalls: Arc<dyn Upcalls>) -> Desk {
        let (want, wants) = mpsc::channel();
        let (answers, answer) = mpsc::channel();
        let done = want.clone();
        let seen = Arc::new(Seen { channels: Mutex::new((want, answer)) });
        Desk { seen, upcalls, open: Mutex::new(Open { core: None, wants, done, answers }) }
    }

    /// A core hands a region back, or answers what was wanted of it; answers what is wanted next.
    pub(super) fn go_on(
        &self,
        core: u32,
        message: [u64; WORDS],
        run: &Run<'_>,
        cluster: &mut Cluster,
    ) -> Result<[u64; WORDS]> {
        let [what, .., at, bytes] = message;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |cluster: &Cluster, at: u64, len: usize| {
            let mut bytes = vec![0; len];
            run.read(cluster, at, &mut bytes).map(|()| bytes).ok_or_else(|| unseen(at))
        };
        let len = usize::try_from(bytes).unwrap_or(0);
        match open.core {
            // Another's comes first.
            Some(other) if other != core => return Ok(message),
            Some(_) => answer(&open, read(cluster, at, len)?)?,
            None if what == kind::REGION => {
                let frame = read(cluster, at, len)?;
                self.start(frame, open.done.clone())?;
                open.core = Some(core);
            }
            None => return Err(lost()),
        }
        loop {
            match open.wants.recv().map_err(|_| lost())? {
                Want::Read { at, len } => answer(&open, read(cluster, at, len)?)?,
                Want::Write { at, bytes } => {
                    run.write(cluster, at, &bytes).ok_or_else(|| unseen(at))?;
                    answer(&open, Vec::new())?;
                }
                Want::Mapper([mapper, base, begin, size, map_type]) => {
                    return Ok([kind::MAPPER, mapper, base, begin, size, map_type, 0, 0]);
                }
                Want::Done(done) => {
                    open.core = None;
                    return done.map(|()| [kind::DONE, 0, 0, 0, 0, 0, 0, 0]);
                }
            }
        }
    }

    fn start(&self, frame: Vec<u8>, done: Sender<Want>) -> Result<()> {
        let (seen, upcalls) = (Arc::clone(&self.seen), Arc::clone(&self.upcalls));
        let builder = thread::Builder::new().name("ferry-upcall".into()).stack_size(STACK);
        let started = builder.spawn(move || {
            let sight: Arc<dyn Sight> = seen;
            let ran = handed_back::run(&sight, Some(&upcalls), &frame);
            // What the region prints comes before what the kernel prints next.
            // SAFETY: flushes all streams of this process.
            unsafe { libc::fflush(ptr::null_mut()) };
            // Nobody hears it where the device is gone.
            let _ = done.send(Want::Done(ran));
        });
        let failed = |error| DeviceError::Failed(format!("no thread for a region: {error}"));
        started.map(|_| ()).map_err(failed)
    }
}

fn answer(open: &Open, bytes: Vec<u8>) -> Result<()> {
    open.answers.send(bytes).map_err(|_| lost())
}

fn lost() -> DeviceError {
    DeviceError::Failed("a region of the host has lost its kernel".into())
}

fn unseen(at: u64) -> DeviceError {
    let what = "a region that goes back to the host has data that are not there".into();
    DeviceError::Fault { address: Some(at), what }
}

impl Seen {
    fn want(&self, want: Want) -> Result<Vec<u8>> {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.0.send(want).map_err(|_| lost())?;
        channels.1.recv().map_err(|_| lost())
    }
}

impl Sight for Seen {
    unsafe fn read(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        let bytes = self.want(Want::Read { at: src.0, len })?;
        // SAFETY: as many can be written there by contract.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), dst, bytes.len().min(len)) };
        Ok(())
    }

    unsafe fn write(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: as many can be read there by contract.
        let bytes = unsafe { slice::from_raw_parts(src, len) }.to_vec();
        self.want(Want::Write { at: dst.0, bytes }).map(|_| ())
    }

    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>> {
        let [base, begin, size, map_type] = entry;
        let bytes = self.want(Want::Mapper([mapper, base, begin, size, map_type]))?;
        let words: Vec<u64> =
            bytes.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
        Ok(words.as_chunks::<4>().0.to_vec())
    }
}
