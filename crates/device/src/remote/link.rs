//! Frames to a program of another machine and back, over one stream.
//!
//! Many threads ask at once. One of those that wait reads for all of them, and gives that up when it has its own answer:
//! so an answer wakes nobody but who waits for it. Who reads also listens for signs of life: where nothing comes it asks
//! for one, and without an answer the link is given up.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use abi::remote::{HEAD, Head, LONGEST, MIXED, frame, mixed};

use crate::look::Look;
use crate::separate::process::lock;
use crate::separate::silence::{STEP, STEPS_TO_ASK, Silence};

/// Bytes that are read at once.
const HELD: usize = 64 << 10;

/// How a link has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The other side has closed it.
    Closed,
    /// No sign of life.
    Silent,
    /// What came is no frame.
    Nonsense,
    /// A kernel took longer than it may.
    Late {
        /// Which.
        launch: u64,
    },
    /// A kernel died.
    Signal { signal: i32, code: i32, address: Option<u64>, launch: u64 },
    /// A kernel called `exit`.
    Exit { status: i32, launch: u64 },
}

/// An answer.
#[derive(Debug)]
pub(super) enum Answer {
    Done(Vec<u8>),
    Failed(String),
    NotFound(String),
}

/// What is done with frames that answer nothing.
pub(super) trait Hearer {
    /// A kernel has printed.
    fn printed(&self, bytes: &[u8]);
    /// A kernel hands a region back; the answer is sent later.
    fn region(&self, call: u64, payload: Vec<u8>);
}

/// One stream.
#[derive(Debug)]
pub(super) struct Link {
    stream: UnixStream,
    /// The process that this machine has started.
    process: libc::pid_t,
    /// The program runs on another machine, of which is known only what the link says.
    is_elsewhere: bool,
    /// The program has no memory yet.
    is_new: AtomicBool,
    calls: AtomicU64,
    sending: Mutex<()>,
    state: Mutex<State>,
    come: Condvar,
    /// Whoever reads has it.
    reader: Mutex<Reader>,
}

#[derive(Debug, Default)]
struct State {
    /// Somebody reads.
    is_read: bool,
    /// Calls that wait, and what they got.
    waiting: HashMap<u64, Option<Answer>>,
    ended: Option<End>,
}

#[derive(Debug, Default)]
struct Reader {
    held: Vec<u8>,
    from: usize,
}

/// A call that may take only so long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) launch: u64,
    pub(super) until: Instant,
}

impl Link {
    pub(super) fn new(
        stream: UnixStream,
        process: libc::pid_t,
        is_elsewhere: bool,
    ) -> io::Result<Link> {
        stream.set_nonblocking(true)?;
        Ok(Link {
            stream,
            process,
            is_elsewhere,
            is_new: AtomicBool::new(true),
            calls: AtomicU64::new(0),
            sending: Mutex::default(),
            state: Mutex::default(),
            come: Condvar::new(),
            reader: Mutex::default(),
        })
    }

    /// Lets nobody begin to send until the answer is dropped.
    pub(super) fn hold(&self) -> impl Sized {
        (lock(&self.sending), lock(&self.state))
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Reads exactly so many bytes before all frames.
    pub(super) fn greeting(&self, bytes: &mut [u8]) -> Result<(), End> {
        let mut reader = lock(&self.reader);
        self.read(&mut reader, bytes, &Limit::none(), &Patience::to_greet(self))
    }

    /// The program has memory: it has begun.
    pub(super) fn has_begun(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Sends a frame and waits for its answer.
    pub(super) fn call(
        &self,
        (kind, worker): (u64, u64),
        parts: &[&[u8]],
        limit: Option<Limit>,
        hearer: &dyn Hearer,
    ) -> Result<Answer, End> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = lock(&self.state);
        if let Some(end) = &state.ended {
            return Err(end.clone());
        }
        state.waiting.insert(call, None);
        drop(state);
        let sent = self.send((kind, call, worker), parts);
        if let Err(end) = sent {
            // What the other side said last comes before that it is gone.
            let end = if end == End::Closed { self.last_words(hearer) } else { end };
            return Err(self.over(end));
        }
        self.wait(call, &limit.unwrap_or_else(Limit::none), hearer)
    }

    /// Waits for an answer; reads for all, if nobody does.
    fn wait(&self, call: u64, limit: &Limit, hearer: &dyn Hearer) -> Result<Answer, End> {
        let mut state = lock(&self.state);
        loop {
            if let Some(Some(_)) = state.waiting.get(&call)
                && let Some(Some(answer)) = state.waiting.remove(&call)
            {
                return Ok(answer);
            }
            if let Some(end) = &state.ended {
                return Err(end.clone());
            }
            if limit.is_over() {
                drop(state);
                return Err(self.over(End::Late { launch: limit.launch }));
            }
            if state.is_read {
                state = match self.come.wait_timeout(state, limit.left()) {
                    Ok((state, _)) => state,
                    Err(poisoned) => poisoned.into_inner().0,
                };
                continue;
            }
            state.is_read = true;
            drop(state);
            let came = self.next(limit, hearer);
            state = lock(&self.state);
            state.is_read = false;
            match came {
                Ok(Some((call, answer))) => {
                    if let Some(place) = state.waiting.get_mut(&call) {
                        *place = Some(answer);
                    }
                }
                Ok(None) => {}
                Err(end) => {
                    state.ended.get_or_insert(end);
                }
            }
            self.come.notify_all();
        }
    }

    /// The link has ended; the first reason stays.
    fn over(&self, end: End) -> End {
        let mut state = lock(&self.state);
        let end = state.ended.get_or_insert(end).clone();
        self.come.notify_all();
        end
    }

    /// Reads on when nothing can be sent any more.
    fn last_words(&self, hearer: &dyn Hearer) -> End {
        let mut state = lock(&self.state);
        while state.is_read && state.ended.is_none() {
            state = match self.come.wait_timeout(state, STEP) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        if let Some(end) = &state.ended {
            return end.clone();
        }
        state.is_read = true;
        drop(state);
        let end = loop {
            if let Err(end) = self.next(&Limit::none(), hearer) {
                break end;
            }
        };
        lock(&self.state).is_read = false;
        end
    }

    /// Reads one frame: an answer, or nothing where it was something else.
    fn next(&self, limit: &Limit, hearer: &dyn Hearer) -> Result<Option<(u64, Answer)>, End> {
        let mut reader = lock(&self.reader);
        let patience = Patience::to_live(self);
        let mut head = [0; HEAD];
        self.read(&mut reader, &mut head, limit, &patience)?;
        let Head { kind, call, len, .. } = Head::read(&head).ok_or(End::Nonsense)?;
        if len > LONGEST || !is_known(kind) {
            return Err(End::Nonsense);
        }
        let mut payload = vec![0; usize::try_from(len).unwrap_or(0)];
        self.read(&mut reader, &mut payload, limit, &patience)?;
        if !payload.is_empty() {
            let mut value = [0; 8];
            self.read(&mut reader, &mut value, limit, &patience)?;
            if u64::from_le_bytes(value) != mixed(MIXED, &payload) {
                return Err(End::Nonsense);
            }
        }
        drop(reader);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match kind {
            frame::DONE => return Ok(Some((call, Answer::Done(payload)))),
            frame::FAILED => return Ok(Some((call, Answer::Failed(text(&payload))))),
            frame::NOT_FOUND => return Ok(Some((call, Answer::NotFound(text(&payload))))),
            frame::PRINTED => hearer.printed(&payload),
            frame::REGION => hearer.region(call, payload),
            frame::SIGNAL => {
                let [signal, code, has_address, address, launch] =
                    words(&payload).ok_or(End::Nonsense)?;
                let address = (has_address != 0).then_some(address);
                return Err(End::Signal {
                    signal: signal as i32,
                    code: code as i32,
                    address,
                    launch,
                });
            }
            _ => {
                let [status, launch] = words(&payload).ok_or(End::Nonsense)?;
                return Err(End::Exit { status: status as i32, launch });
            }
        }
        Ok(None)
    }

    /// Fills `bytes`; what was read beyond them is held.
    fn read(
        &self,
        reader: &mut Reader,
        mut bytes: &mut [u8],
        limit: &Limit,
        patience: &Patience,
    ) -> Result<(), End> {
        let (mut patience, mut look) = (patience.clone(), Look::default());
        while !bytes.is_empty() {
            let here = reader.held.get(reader.from..).unwrap_or_default();
            let count = here.len().min(bytes.len());
            if let (Some(to), Some(from)) = (bytes.get_mut(..count), here.get(..count))
                && count > 0
            {
                to.copy_from_slice(from);
                reader.from += count;
                bytes = bytes.get_mut(count..).unwrap_or_default();
                continue;
            }
            // Large payloads go where they belong.
            let is_large = bytes.len() >= HELD;
            let got = if is_large {
                io::Read::read(&mut &self.stream, bytes)
            } else {
                reader.from = 0;
                reader.held.resize(HELD, 0);
                let got = io::Read::read(&mut &self.stream, &mut reader.held);
                reader.held.truncate(*got.as_ref().unwrap_or(&0));
                got
            };
            match got {
                Ok(0) => return Err(End::Closed),
                Ok(got) => {
                    patience.silence.ends();
                    if is_large {
                        bytes = bytes.get_mut(got..).unwrap_or_default();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !look.goes_on() && !self.poll(libc::POLLIN, limit.left()) {
                        if limit.is_over() {
                            return Err(End::Late { launch: limit.launch });
                        }
                        patience.wears(self)?;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Closed),
            }
        }
        Ok(())
    }

    /// Sends a frame that nobody waits for here.
    pub(super) fn send(
        &self,
        (kind, call, worker): (u64, u64, u64),
        parts: &[&[u8]],
    ) -> Result<(), End> {
        let sending = lock(&self.sending);
        let sent = self.send_locked((kind, call, worker), parts);
        drop(sending);
        sent
    }

    fn send_locked(
        &self,
        (kind, call, worker): (u64, u64, u64),
        parts: &[&[u8]],
    ) -> Result<(), End> {
        let len: usize = parts.iter().map(|it| it.len()).sum();
        let head = Head { kind, call, worker, len: len as u64 }.write();
        // In pieces of our own: what is sent may be written meanwhile, and then its value would be another's.
        let mut piece = Vec::with_capacity(len.min(HELD) + HEAD + 8);
        piece.extend(head);
        let (mut value, mut mixed_to) = (MIXED, HEAD);
        for part in parts {
            for bytes in part.chunks(HELD) {
                piece.extend(bytes);
                let whole = (piece.len() - mixed_to) / 8 * 8 + mixed_to;
                value = mixed(value, piece.get(mixed_to..whole).unwrap_or_default());
                mixed_to = whole;
                if piece.len() >= HELD {
                    self.write(piece.get(..mixed_to).unwrap_or_default())?;
                    piece.drain(..mixed_to);
                    mixed_to = 0;
                }
            }
        }
        value = mixed(value, piece.get(mixed_to..).unwrap_or_default());
        if len > 0 {
            piece.extend(value.to_le_bytes());
        }
        self.write(&piece)
    }

    /// Sends bytes that are no frame.
    pub(super) fn write(&self, mut bytes: &[u8]) -> Result<(), End> {
        let mut patience = Patience { asks: false, ..Patience::to_live(self) };
        while !bytes.is_empty() {
            // A peer that is gone is an answer, not a signal.
            match send_quietly(&self.stream, bytes) {
                Ok(sent) => {
                    patience.silence.ends();
                    bytes = bytes.get(sent..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.poll(libc::POLLOUT, STEP) {
                        patience.wears(self)?;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Closed),
            }
        }
        Ok(())
    }

    /// Waits, at most a step, until something can be done; whether it can.
    #[allow(unsafe_code, reason = "waits for a descriptor")]
    fn poll(&self, events: i16, most: Duration) -> bool {
        let mut wait = libc::pollfd { fd: self.stream.as_raw_fd(), events, revents: 0 };
        let most = i32::try_from(most.min(STEP).as_millis()).unwrap_or(0).max(1);
        // SAFETY: one record that lives until the call returns.
        unsafe { libc::poll(&raw mut wait, 1, most) > 0 }
    }

    /// Asks for a sign of life, where that does not take waiting.
    fn ping(&self) -> Result<(), End> {
        let sending: MutexGuard<'_, ()> = match self.sending.try_lock() {
            Ok(sending) => sending,
            // Somebody sends, and sees whether that goes on.
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let sent = self.send_locked((frame::PING, 0, 0), &[]);
        drop(sending);
        sent
    }
}

#[allow(unsafe_code, reason = "a flag that the standard library does not have")]
fn send_quietly(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: bytes that live until the call returns.
    let sent = unsafe {
        libc::send(stream.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

impl Limit {
    /// None: so long lives no program.
    fn none() -> Limit {
        Limit { launch: 0, until: Instant::now() + Duration::from_secs(1 << 32) }
    }

    fn is_over(&self) -> bool {
        self.left() == Duration::ZERO
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// How long is waited.
#[derive(Clone)]
struct Patience {
    silence: Silence,
    /// A sign of life is asked for.
    asks: bool,
}

impl Patience {
    fn to_live(link: &Link) -> Patience {
        let silence = Silence::of(link.process, link.is_elsewhere);
        let is_new = link.is_new.load(Ordering::Relaxed);
        Patience { silence: if is_new { silence.of_new() } else { silence }, asks: true }
    }

    fn to_greet(link: &Link) -> Patience {
        Patience { silence: Silence::before_greeting(link.process), asks: false }
    }

    /// Nothing came for another step.
    fn wears(&mut self, link: &Link) -> Result<(), End> {
        let is_over = self.silence.goes_on();
        if self.asks && self.silence.steps().is_multiple_of(STEPS_TO_ASK) {
            link.ping()?;
        }
        if is_over { Err(End::Silent) } else { Ok(()) }
    }
}

fn is_known(kind: u64) -> bool {
    matches!(
        kind,
        frame::DONE
            | frame::FAILED
            | frame::NOT_FOUND
            | frame::PRINTED
            | frame::SIGNAL
            | frame::EXIT
            | frame::REGION
    )
}

/// Numbers at the beginning of a payload.
pub(super) fn words<const COUNT: usize>(bytes: &[u8]) -> Option<[u64; COUNT]> {
    let mut list = [0; COUNT];
    let mut chunks = bytes.as_chunks::<8>().0.iter();
    for word in &mut list {
        *word = u64::from_le_bytes(*chunks.next()?);
    }
    Some(list)
}
