//! What kernels in the helper ask of the host: the messages, and the host's side of them.
//!
//! One channel opens all others: a thread of a kernel that asks makes a pair of ends and sends one of
//! them; a thread of the host answers it as long as it lives. So many threads of many kernels may ask
//! at once, and none waits for another. Frames are those of [`super::protocol`].
#![allow(unsafe_code, reason = "memory of the program, by address")]

use std::fs::File;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::Arc;
use std::thread;

use super::protocol::{self, Frame, words};
use crate::upcalls::{Original, Upcalls};
use crate::{DeviceError, DevicePtr, Result};

/// Stack of a thread that runs regions; pages are taken when they are used.
const STACK: usize = 64 << 20;

/// What the host is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A new channel travels with it; there is no answer.
    Channel,
    /// Answered with an address and whether it is all of it, or with nothing.
    Original {
        at: u64,
        size: u64,
    },
    /// Answered with an address.
    Alloc {
        bytes: u64,
        align: u64,
    },
    Free(u64),
    /// Answered with the bytes.
    Read {
        at: u64,
        len: u64,
    },
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    Run {
        region: String,
        source: String,
        args: Vec<u64>,
    },
}

mod kind {
    pub(super) const CHANNEL: u64 = 1;
    pub(super) const ORIGINAL: u64 = 2;
    pub(super) const ALLOC: u64 = 3;
    pub(super) const FREE: u64 = 4;
    pub(super) const READ: u64 = 5;
    pub(super) const WRITE: u64 = 6;
    pub(super) const RUN: u64 = 7;
}

impl Wish {
    fn encode(&self) -> (u64, Vec<u8>) {
        let mut out = Vec::new();
        let mut words = |list: &[u64]| list.iter().for_each(|it| out.extend(it.to_ne_bytes()));
        let kind = match self {
            Wish::Channel => kind::CHANNEL,
            Wish::Original { at, size } => {
                words(&[*at, *size]);
                kind::ORIGINAL
            }
            Wish::Alloc { bytes, align } => {
                words(&[*bytes, *align]);
                kind::ALLOC
            }
            Wish::Free(at) => {
                words(&[*at]);
                kind::FREE
            }
            Wish::Read { at, len } => {
                words(&[*at, *len]);
                kind::READ
            }
            Wish::Write { at, bytes } => {
                words(&[*at]);
                out.extend(bytes);
                kind::WRITE
            }
            Wish::Run { region, source, args } => {
                words(&[args.len() as u64, region.len() as u64]);
                words(args);
                out.extend(region.as_bytes());
                out.extend(source.as_bytes());
                kind::RUN
            }
        };
        (kind, out)
    }

    fn decode(frame: Frame) -> Option<Wish> {
        let Frame { kind, payload } = frame;
        let mut rest = payload.as_slice();
        Some(match kind {
            kind::CHANNEL => Wish::Channel,
            kind::ORIGINAL => {
                let [at, size] = words(&mut rest)?;
                Wish::Original { at, size }
            }
            kind::ALLOC => {
                let [bytes, align] = words(&mut rest)?;
                Wish::Alloc { bytes, align }
            }
            kind::FREE => {
                let [at] = words(&mut rest)?;
                Wish::Free(at)
            }
            kind::READ => {
                let [at, len] = words(&mut rest)?;
                Wish::Read { at, len }
            }
            kind::WRITE => {
                let [at] = words(&mut rest)?;
                Wish::Write { at, bytes: rest.to_vec() }
            }
            kind::RUN => {
                let [count, length] = words(&mut rest)?;
                let mut args = Vec::new();
                for _ in 0..count {
                    let [word] = words(&mut rest)?;
                    args.push(word);
                }
                let (region, source) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
                Wish::Run { region: text(region), source: text(source), args }
            }
            _ => return None,
        })
    }
}

/// Asks, with files; the answer is another matter.
pub(super) fn ask(stream: &UnixStream, wish: &Wish, files: &[RawFd]) -> io::Result<()> {
    let (kind, payload) = wish.encode();
    protocol::send(stream, kind, &payload, files, &mut protocol::never)
}

fn asked(stream: &UnixStream) -> io::Result<(Wish, Vec<File>)> {
    let (frame, files) = protocol::receive(stream, &mut protocol::never)?;
    let wish = Wish::decode(frame);
    wish.map(|it| (it, files)).ok_or_else(|| io::Error::other("a message that is not understood"))
}

/// Answers what comes through channels that `control` opens, until the helper ends.
pub(super) fn listen(control: UnixStream, upcalls: Arc<dyn Upcalls>) -> io::Result<()> {
    let builder = thread::Builder::new().name("ferry-upcalls".into());
    let listening = builder.spawn(move || {
        while let Ok((Wish::Channel, files)) = asked(&control) {
            for file in files {
                let channel = UnixStream::from(OwnedFd::from(file));
                let upcalls = Arc::clone(&upcalls);
                let builder = thread::Builder::new().name("ferry-upcall".into()).stack_size(STACK);
                // Without a thread the channel ends, which the other side notices.
                let _ = builder.spawn(move || serve(&channel, &*upcalls));
            }
        }
    });
    listening.map(|_| ())
}

fn serve(channel: &UnixStream, upcalls: &dyn Upcalls) {
    while let Ok((wish, _)) = asked(channel) {
        if protocol::answer(channel, &handle(wish, upcalls)).is_err() {
            return;
        }
    }
}

fn handle(wish: Wish, upcalls: &dyn Upcalls) -> Result<Vec<u8>> {
    let bytes = |list: &[u64]| list.iter().flat_map(|it| it.to_ne_bytes()).collect();
    match wish {
        Wish::Channel => Err(DeviceError::Failed("a message that does not belong here".into())),
        Wish::Original { at, size } => {
            let found = upcalls.original(DevicePtr(at), usize::try_from(size).unwrap_or(0));
            Ok(found.map_or_else(Vec::new, |it| bytes(&[it.address, u64::from(it.is_whole)])))
        }
        Wish::Alloc { bytes: size, align } => {
            let (size, align) = (size as usize, align as usize);
            let mut at = ptr::null_mut();
            // SAFETY: `at` is a place for the answer; an alignment that is none is an error there.
            match unsafe { libc::posix_memalign(&raw mut at, align.max(16), size) } {
                0 => Ok(bytes(&[at as u64])),
                _ => Err(DeviceError::OutOfMemory { bytes: size }),
            }
        }
        Wish::Free(at) => {
            // SAFETY: the helper gives back what it got, once.
            unsafe { libc::free(at as *mut libc::c_void) };
            Ok(Vec::new())
        }
        Wish::Read { at, len } => {
            let mut out = vec![0u8; usize::try_from(len).unwrap_or(0)];
            // SAFETY: the address came from here: memory allocated above, or data that are mapped.
            unsafe { ptr::copy_nonoverlapping(at as *const u8, out.as_mut_ptr(), out.len()) };
            Ok(out)
        }
        Wish::Write { at, bytes } => {
            // SAFETY: as above.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
            Ok(Vec::new())
        }
        Wish::Run { region, source, args } => {
            let ran = upcalls.run(&region, &source, &args);
            // What the region prints comes before what the kernel prints next.
            // SAFETY: flushes all streams of this process.
            unsafe { libc::fflush(ptr::null_mut()) };
            ran.map(|()| Vec::new())
        }
    }
}

/// What an answer to [`Wish::Original`] says.
pub(super) fn original(answer: &[u8]) -> Option<Original> {
    let mut rest = answer;
    let [address, is_whole] = words(&mut rest)?;
    Some(Original { address, is_whole: is_whole != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn wishes_arrive_as_they_were_sent() {
        let (here, there) = UnixStream::pair().unwrap();
        let wishes = [
            Wish::Channel,
            Wish::Original { at: 1, size: 2 },
            Wish::Alloc { bytes: 3, align: 64 },
            Wish::Free(4),
            Wish::Read { at: 5, len: 6 },
            Wish::Write { at: 7, bytes: vec![8; 100] },
            Wish::Run { region: "k".into(), source: "a.c:1:2".into(), args: vec![1, u64::MAX] },
            Wish::Run { region: String::new(), source: String::new(), args: Vec::new() },
        ];
        for wish in &wishes {
            ask(&here, wish, &[there.as_raw_fd()]).unwrap();
            let (got, files) = asked(&there).unwrap();
            assert_eq!((&got, files.len()), (wish, 1));
        }
        protocol::send(&here, kind::RUN, &[0xff; 16], &[], &mut protocol::never).unwrap();
        assert!(asked(&there).is_err(), "a length that is not there");
    }

    struct Doubling;

    impl Upcalls for Doubling {
        fn original(&self, at: DevicePtr, _size: usize) -> Option<Original> {
            (at.0 < 10).then_some(Original { address: at.0 * 2, is_whole: true })
        }

        fn run(&self, region: &str, _source: &str, args: &[u64]) -> Result<()> {
            let at = *args.first().unwrap() as *mut u64;
            // SAFETY: the test hands over the address of a number.
            unsafe { *at *= 2 };
            if region == "bad" { Err(DeviceError::Failed("bad".into())) } else { Ok(()) }
        }
    }

    #[test]
    fn many_threads_are_answered_at_once() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        listen(ours, Arc::new(Doubling)).unwrap();
        let host = super::super::ancestor::Ancestor::new(theirs);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    use crate::{Convention, Device, Kernel, Launch, MemoryKind};
                    let at = host.alloc(8, 16, MemoryKind::Device).unwrap();
                    let (number, mut back) = (21u64.to_ne_bytes(), [0u8; 8]);
                    let launch = |name| Launch {
                        convention: Convention::Slots,
                        teams: 0,
                        limit: 0,
                        trip_count: 0,
                        group_memory: 0,
                        name,
                        source: "",
                    };
                    // SAFETY: eight bytes that were allocated above.
                    unsafe {
                        host.copy_in(at, number.as_ptr(), 8).unwrap();
                        host.launch(Kernel(0), &[at.0], &launch("good")).unwrap();
                        host.copy_out(back.as_mut_ptr(), at, 8).unwrap();
                        assert!(host.launch(Kernel(0), &[at.0], &launch("bad")).is_err());
                        host.free(at).unwrap();
                    }
                    assert_eq!(u64::from_ne_bytes(back), 42);
                });
            }
        });
        use crate::Device;
        let found = host.original(4, 1).unwrap();
        assert_eq!(found, Some(Original { address: 8, is_whole: true }));
        assert_eq!(host.original(40, 1).unwrap(), None);
    }
}
