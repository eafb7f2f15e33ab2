//! The messages between the host and the helper of `cpu:separate`.
//!
//! A frame is a kind and a length, then as many bytes; numbers are in the machine's order, as both
//! ends are on one machine. On a channel every request is followed by one answer. The first message
//! says the version; files may travel with a message. Nothing here waits but for the other end, and
//! what arrives is checked: a helper of another version may be anything.
#![allow(unsafe_code, reason = "sends descriptors, which only the system's own calls can")]

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::look::Look;
use crate::{Convention, DeviceError, Result};

/// What both ends must agree on; raised with every change of this file.
pub(super) const VERSION: u64 = 3;
/// The most files that one message carries.
const MOST_FILES: usize = 3;
/// The longest message: an image is the largest thing that is sent.
const LONGEST: u64 = 1 << 36;

/// What the helper is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The first message, with the memory file, the channel on which kernels ask the host, and the
    /// program's standard input.
    Hello {
        version: u64,
        parent: u64,
        number: u64,
        base: u64,
        size: u64,
        library: String,
    },
    /// A new channel travels with it; there is no answer.
    Channel,
    /// Answered at once, whatever kernels do: by that the helper shows that it lives.
    Alive,
    /// Answered with a module.
    Load(Vec<u8>),
    Unload(u64),
    /// Answered with an address.
    Find {
        module: u64,
        name: String,
    },
    /// Answered with the bytes.
    Read {
        at: u64,
        len: u64,
    },
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    Launch {
        launch: u64,
        kernel: u64,
        convention: Convention,
        args: Vec<u64>,
    },
}

/// Kinds of frames.
mod kind {
    pub(super) const HELLO: u64 = 1;
    pub(super) const CHANNEL: u64 = 2;
    pub(super) const LOAD: u64 = 3;
    pub(super) const UNLOAD: u64 = 4;
    pub(super) const FIND: u64 = 5;
    pub(super) const READ: u64 = 6;
    pub(super) const WRITE: u64 = 7;
    pub(super) const LAUNCH: u64 = 8;
    pub(super) const ALIVE: u64 = 9;
    pub(super) const DONE: u64 = 100;
    pub(super) const FAILED: u64 = 101;
    pub(super) const BAD_IMAGE: u64 = 102;
    pub(super) const NOT_FOUND: u64 = 103;
}

impl Request {
    fn encode(&self) -> (u64, Vec<u8>) {
        let mut out = Vec::new();
        let mut words = |list: &[u64]| list.iter().for_each(|it| out.extend(it.to_ne_bytes()));
        let kind = match self {
            Request::Hello { version, parent, number, base, size, library } => {
                words(&[*version, *parent, *number, *base, *size]);
                out.extend(library.as_bytes());
                kind::HELLO
            }
            Request::Channel => kind::CHANNEL,
            Request::Alive => kind::ALIVE,
            Request::Load(bytes) => {
                out.extend(bytes);
                kind::LOAD
            }
            Request::Unload(module) => {
                words(&[*module]);
                kind::UNLOAD
            }
            Request::Find { module, name } => {
                words(&[*module]);
                out.extend(name.as_bytes());
                kind::FIND
            }
            Request::Read { at, len } => {
                words(&[*at, *len]);
                kind::READ
            }
            Request::Write { at, bytes } => {
                words(&[*at]);
                out.extend(bytes);
                kind::WRITE
            }
            Request::Launch { launch, kernel, convention, args } => {
                let convention = match convention {
                    Convention::Slots => 0,
                    Convention::Parameters => 1,
                };
                words(&[*launch, *kernel, convention]);
                words(args);
                kind::LAUNCH
            }
        };
        (kind, out)
    }

    fn decode(frame: Frame) -> Option<Request> {
        let Frame { kind, payload } = frame;
        let mut rest = payload.as_slice();
        let request = match kind {
            kind::HELLO => {
                let [version, parent, number, base, size] = words(&mut rest)?;
                let library = String::from_utf8(rest.to_vec()).ok()?;
                Request::Hello { version, parent, number, base, size, library }
            }
            kind::CHANNEL => Request::Channel,
            kind::ALIVE => Request::Alive,
            kind::LOAD => Request::Load(payload),
            kind::UNLOAD => {
                let [module] = words(&mut rest)?;
                Request::Unload(module)
            }
            kind::FIND => {
                let [module] = words(&mut rest)?;
                Request::Find { module, name: String::from_utf8(rest.to_vec()).ok()? }
            }
            kind::READ => {
                let [at, len] = words(&mut rest)?;
                Request::Read { at, len }
            }
            kind::WRITE => {
                let [at] = words(&mut rest)?;
                Request::Write { at, bytes: rest.to_vec() }
            }
            kind::LAUNCH => {
                let [launch, kernel, convention] = words(&mut rest)?;
                let convention =
                    if convention == 0 { Convention::Slots } else { Convention::Parameters };
                let (whole, _) = rest.as_chunks::<8>();
                let args = whole.iter().map(|it| u64::from_ne_bytes(*it)).collect();
                Request::Launch { launch, kernel, convention, args }
            }
            _ => return None,
        };
        Some(request)
    }
}

/// Takes numbers from the front.
pub(super) fn words<const COUNT: usize>(rest: &mut &[u8]) -> Option<[u64; COUNT]> {
    let mut list = [0; COUNT];
    for word in &mut list {
        let (first, tail) = rest.split_first_chunk()?;
        *word = u64::from_ne_bytes(*first);
        *rest = tail;
    }
    Some(list)
}

/// Sends a request with files; `is_late` as for [`answered`].
pub(super) fn ask(
    stream: &UnixStream,
    request: &Request,
    files: &[RawFd],
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let (kind, payload) = request.encode();
    send(stream, kind, &payload, files, is_late)
}

/// Receives a request; an end of the stream is an error as well.
pub(super) fn asked(stream: &UnixStream) -> io::Result<(Request, Vec<File>)> {
    let (frame, files) = receive(stream, &mut never)?;
    match Request::decode(frame) {
        Some(request) => Ok((request, files)),
        None => Err(io::Error::other("a message that is not understood")),
    }
}

/// Sends an answer.
pub(super) fn answer(stream: &UnixStream, answer: &Result<Vec<u8>>) -> io::Result<()> {
    match answer {
        Ok(payload) => send(stream, kind::DONE, payload, &[], &mut never),
        Err(DeviceError::BadImage(why)) => {
            send(stream, kind::BAD_IMAGE, why.as_bytes(), &[], &mut never)
        }
        Err(DeviceError::NotFound(name)) => {
            send(stream, kind::NOT_FOUND, name.as_bytes(), &[], &mut never)
        }
        Err(error) => send(stream, kind::FAILED, error.to_string().as_bytes(), &[], &mut never),
    }
}

/// Receives an answer; where the stream has a limit of time, `is_late` says each time it has passed whether to go on
/// waiting.
pub(super) fn answered(
    stream: &UnixStream,
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Result<Vec<u8>>> {
    let (Frame { kind, payload }, _) = receive(stream, is_late)?;
    let text = || String::from_utf8_lossy(&payload).into_owned();
    Ok(match kind {
        kind::DONE => Ok(payload),
        kind::BAD_IMAGE => Err(DeviceError::BadImage(text())),
        kind::NOT_FOUND => Err(DeviceError::NotFound(text())),
        _ => Err(DeviceError::Failed(text())),
    })
}

/// One number as a payload.
pub(super) fn number(payload: &[u8]) -> Result<u64> {
    let mut rest = payload;
    let [number] =
        words(&mut rest).ok_or(DeviceError::Lost("its process answers nonsense".into()))?;
    Ok(number)
}

pub(super) struct Frame {
    pub(super) kind: u64,
    pub(super) payload: Vec<u8>,
}

/// Room for the descriptors of a message, aligned as the system wants it.
type Control = [u64; 8];

pub(super) fn send(
    stream: &UnixStream,
    kind: u64,
    payload: &[u8],
    files: &[RawFd],
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let mut head = [0u8; 16];
    let (first, second) = head.split_at_mut(8);
    first.copy_from_slice(&kind.to_ne_bytes());
    second.copy_from_slice(&(payload.len() as u64).to_ne_bytes());
    send_bytes(stream, &head, files, is_late)?;
    send_bytes(stream, payload, &[], is_late)
}

fn send_bytes(
    stream: &UnixStream,
    mut bytes: &[u8],
    mut files: &[RawFd],
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control: Control = [0; 8];
        // SAFETY: the message points to `part` and `control`, which live until the call returns;
        // descriptors are written into room that the macros have measured. A peer that is gone is
        // an answer, not a signal.
        let sent = unsafe {
            let mut message: libc::msghdr = mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            let count = files.len().min(MOST_FILES);
            if count > 0 {
                let size = (count * mem::size_of::<RawFd>()) as u32;
                message.msg_control = control.as_mut_ptr().cast();
                message.msg_controllen = libc::CMSG_SPACE(size) as usize;
                let entry = libc::CMSG_FIRSTHDR(&raw const message);
                (*entry).cmsg_level = libc::SOL_SOCKET;
                (*entry).cmsg_type = libc::SCM_RIGHTS;
                (*entry).cmsg_len = libc::CMSG_LEN(size) as usize;
                let room = libc::CMSG_DATA(entry).cast::<RawFd>();
                std::ptr::copy_nonoverlapping(files.as_ptr(), room, count);
            }
            libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
        };
        match usize::try_from(sent) {
            Ok(sent) => {
                bytes = bytes.get(sent..).unwrap_or_default();
                files = &[];
            }
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => is_late()?,
                error => retry(error)?,
            },
        }
    }
    Ok(())
}

/// For streams on which anything may take its time.
pub(super) fn never() -> io::Result<()> {
    Err(io::ErrorKind::TimedOut.into())
}

pub(super) fn receive(
    stream: &UnixStream,
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<(Frame, Vec<File>)> {
    let mut head = [0u8; 16];
    let mut files = Vec::new();
    receive_bytes(stream, &mut head, &mut files, is_late)?;
    let mut rest = head.as_slice();
    let [kind, len] = words(&mut rest).unwrap_or_default();
    if len > LONGEST {
        return Err(io::Error::other("a message that is too long"));
    }
    let mut payload = vec![0; usize::try_from(len).unwrap_or(0)];
    receive_bytes(stream, &mut payload, &mut files, is_late)?;
    Ok((Frame { kind, payload }, files))
}

fn receive_bytes(
    stream: &UnixStream,
    mut bytes: &mut [u8],
    files: &mut Vec<File>,
    is_late: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let (mut look, mut flags) = (Look::default(), libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT);
    while !bytes.is_empty() {
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut control: Control = [0; 8];
        // SAFETY: as in `send_bytes`; each descriptor that arrives is given to us alone.
        let got = unsafe {
            let mut message: libc::msghdr = mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = mem::size_of::<Control>();
            let got = libc::recvmsg(stream.as_raw_fd(), &raw mut message, flags);
            let entry = libc::CMSG_FIRSTHDR(&raw const message);
            if got > 0 && !entry.is_null() && (*entry).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*entry).cmsg_len - libc::CMSG_LEN(0) as usize;
                let room = libc::CMSG_DATA(entry).cast::<RawFd>();
                for index in 0..bytes / mem::size_of::<RawFd>() {
                    files.push(File::from_raw_fd(room.add(index).read_unaligned()));
                }
            }
            got
        };
        match usize::try_from(got) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(got) => bytes = bytes.get_mut(got..).unwrap_or_default(),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => {
                    if flags & libc::MSG_DONTWAIT == 0 {
                        is_late()?;
                    } else if !look.goes_on() {
                        flags &= !libc::MSG_DONTWAIT;
                    }
                }
                error => retry(error)?,
            },
        }
    }
    Ok(())
}

/// A signal that came in between is no failure.
fn retry(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_arrive_as_they_were_sent() {
        let (here, there) = UnixStream::pair().unwrap();
        let requests = [
            Request::Hello {
                version: 1,
                parent: 2,
                number: 3,
                base: 4,
                size: 5,
                library: "/lib/a".into(),
            },
            Request::Channel,
            Request::Alive,
            Request::Load(vec![1, 2, 3]),
            Request::Unload(7),
            Request::Find { module: 1, name: "kernel".into() },
            Request::Read { at: 16, len: 8 },
            Request::Write { at: 16, bytes: vec![9; 1 << 10] },
            Request::Launch {
                launch: 1,
                kernel: 2,
                convention: Convention::Parameters,
                args: vec![1, 2, u64::MAX],
            },
        ];
        for request in &requests {
            ask(&here, request, &[there.as_raw_fd()], &mut never).unwrap();
            let (got, files) = asked(&there).unwrap();
            assert_eq!((&got, files.len()), (request, 1));
        }
    }

    #[test]
    fn an_end_and_nonsense_are_errors() {
        let (here, there) = UnixStream::pair().unwrap();
        send(&here, 55, b"?", &[], &mut never).unwrap();
        assert!(asked(&there).is_err());
        drop(here);
        assert!(asked(&there).is_err());
        assert!(ask(&there, &Request::Channel, &[], &mut never).is_err(), "and no signal");
    }

    #[test]
    fn failures_keep_their_kind() {
        let (here, there) = UnixStream::pair().unwrap();
        for result in [
            Ok(vec![1, 2]),
            Err(DeviceError::BadImage("x".into())),
            Err(DeviceError::NotFound("k".into())),
        ] {
            answer(&here, &result).unwrap();
            assert_eq!(answered(&there, &mut never).unwrap(), result);
        }
    }
}
