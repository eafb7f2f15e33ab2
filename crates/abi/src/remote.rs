//! What programs of other machines and the library that starts them agree on: the image, and the frames of the link.
//!
//! An image is a few lines of text, an empty line, and the program. The program speaks first: [`GREETING`]. Then
//! both sides send frames: the four words of a [`Head`] with their [`mixed`] value, as many bytes as the last word says,
//! and, if there are any, their mixed value. All words are little-endian. What does not fit its value is not taken. The C
//! of the program has the same numbers ([`FRAMES`]).

use std::fmt::Write as _;

/// The first line of an image.
const FIRST: &str = "ferry: a program of another machine";

/// What both sides must agree on; raised with every change of the frames.
pub const VERSION: u64 = 2;

/// The first bytes that a program sends; words of eight bytes follow: the version, the size of a page, bytes of memory, and
/// the mixed value of these three.
pub const GREETING: [u8; 8] = *b"\x7fferry\r\n";

/// What a program has given up before kernels run, in words: a bit for each.
pub const CONFINED: [&str; 3] = [
    "no more rights than its user's (no_new_privs)",
    "no programs, sockets and other processes (seccomp)",
    "files only to read (landlock)",
];

/// The longest frame.
pub const LONGEST: u64 = 1 << 30;

/// How a word of a runner stands for the path of the program, and for its size where it is sent through the link before
/// all frames.
pub const PROGRAM: &str = "{program}";
/// See [`PROGRAM`].
pub const SIZE: &str = "{size}";

/// An image, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// The device, as users write it: `remote:aarch64`.
    pub device: String,
    /// The words that start the program; [`PROGRAM`] or [`SIZE`] in them are replaced, else the path comes last.
    pub runner: Vec<String>,
    /// Both sides can map the same file.
    pub shares_files: bool,
    /// The program.
    pub program: &'a [u8],
}

impl<'a> Image<'a> {
    /// As bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut head = format!("{FIRST}\ndevice {}\n", self.device);
        for word in &self.runner {
            // One line each.
            let _ = writeln!(head, "runner {}", word.replace('\n', " "));
        }
        if self.shares_files {
            head.push_str("shares files\n");
        }
        head.push('\n');
        [head.as_bytes(), self.program].concat()
    }

    /// Reads what [`Image::write`] wrote; nothing if it is anything else.
    pub fn read(bytes: &'a [u8]) -> Option<Image<'a>> {
        let mut rest = bytes.strip_prefix(FIRST.as_bytes())?.strip_prefix(b"\n")?;
        let mut image =
            Image { device: String::new(), runner: Vec::new(), shares_files: false, program: &[] };
        loop {
            let end = rest.iter().position(|it| *it == b'\n')?;
            let (line, tail) = rest.split_at_checked(end)?;
            rest = tail.get(1..)?;
            match std::str::from_utf8(line).ok()?.split_once(' ') {
                Some(("device", name)) => image.device = name.to_owned(),
                Some(("runner", word)) => image.runner.push(word.to_owned()),
                Some(("shares", "files")) => image.shares_files = true,
                None if line.is_empty() => {
                    image.program = rest;
                    return Some(image);
                }
                // One of another version.
                _ => return None,
            }
        }
    }
}

/// What [`mixed`] begins with.
pub const MIXED: u64 = 0x9e37_79b9_7f4a_7c15;

/// One number for some bytes, in words of which the last is filled with zeros: goes on from what came before, which had a
/// multiple of eight.
pub fn mixed(before: u64, bytes: &[u8]) -> u64 {
    let mix = |before: u64, word: u64| {
        let product = (before ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        product ^ product >> 33
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().fold(before, |before, it| mix(before, u64::from_le_bytes(*it)));
    if rest.is_empty() {
        return all;
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    mix(all, u64::from_le_bytes(last))
}

/// The first words of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// A number of [`FRAMES`].
    pub kind: u64,
    /// The question that it is or answers; the asking side chooses it.
    pub call: u64,
    /// Who works on it: questions with the same number are done one after the other by one thread.
    pub worker: u64,
    /// Bytes that follow.
    pub len: u64,
}

/// Bytes of a [`Head`] and its mixed value.
pub const HEAD: usize = 40;

impl Head {
    /// As bytes.
    pub fn write(&self) -> [u8; HEAD] {
        let words = [self.kind, self.call, self.worker, self.len];
        let mut bytes = [0; HEAD];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        for (to, from) in chunks.iter_mut().zip(words) {
            *to = from.to_le_bytes();
        }
        let (words, value) = bytes.split_at_mut(HEAD - 8);
        value.copy_from_slice(&mixed(MIXED, words).to_le_bytes());
        bytes
    }

    /// From bytes; nothing if they are not what was sent.
    pub fn read(bytes: &[u8; HEAD]) -> Option<Head> {
        let mut words = bytes.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it));
        let head = Head {
            kind: words.next()?,
            call: words.next()?,
            worker: words.next()?,
            len: words.next()?,
        };
        (head.write() == *bytes).then_some(head)
    }
}

/// Kinds of frames.
pub mod frame {
    /// To the device, first: version, number of the device, number of devices, base and size of its memory, process of the
    /// host or 0; then the path of the file that both map, or nothing. Answered with the base that it got,
    /// the first word of that file, and how it is confined ([`CONFINED`]).
    pub const HELLO: u64 = 1;
    /// To the device: answered at once, whatever kernels do.
    pub const PING: u64 = 2;
    /// To the device: a name; answered with an address and a size.
    pub const FIND: u64 = 3;
    /// To the device: address and length; answered with the bytes.
    pub const READ: u64 = 4;
    /// To the device: an address and bytes.
    pub const WRITE: u64 = 5;
    /// To the device: launch, address of the kernel, arguments.
    pub const LAUNCH: u64 = 6;
    /// To the device: address, byte, length.
    pub const FILL: u64 = 7;
    /// To the device: target, source, length; they may overlap.
    pub const MOVE: u64 = 8;
    /// To the device: function, base, begin, size, type of a mapper; answered with what it pushes, five words each.
    pub const MAPPER: u64 = 9;
    /// An answer, to either side.
    pub const DONE: u64 = 100;
    /// An answer, to either side: why not.
    pub const FAILED: u64 = 101;
    /// An answer to the host: there is no such name.
    pub const NOT_FOUND: u64 = 102;
    /// To the host: bytes that a kernel has printed.
    pub const PRINTED: u64 = 200;
    /// To the host, last: signal, code, whether there is an address, address, launch.
    pub const SIGNAL: u64 = 201;
    /// To the host, last: status, launch.
    pub const EXIT: u64 = 202;
    /// To the host, a question: a region that a kernel hands back.
    pub const REGION: u64 = 203;
}

/// All of them, with the names that C gives them.
pub const FRAMES: [(&str, u64); 16] = [
    ("HELLO", frame::HELLO),
    ("PING", frame::PING),
    ("FIND", frame::FIND),
    ("READ", frame::READ),
    ("WRITE", frame::WRITE),
    ("LAUNCH", frame::LAUNCH),
    ("FILL", frame::FILL),
    ("MOVE", frame::MOVE),
    ("MAPPER", frame::MAPPER),
    ("DONE", frame::DONE),
    ("FAILED", frame::FAILED),
    ("NOT_FOUND", frame::NOT_FOUND),
    ("PRINTED", frame::PRINTED),
    ("SIGNAL", frame::SIGNAL),
    ("EXIT", frame::EXIT),
    ("REGION", frame::REGION),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_heads_are_read_as_they_were_written() {
        let image = Image {
            device: "remote:aarch64".into(),
            runner: vec!["qemu-aarch64".into(), "-L".into(), "/a b".into()],
            shares_files: true,
            program: b"\x7fELF\n\nand so on",
        };
        let bytes = image.write();
        assert_eq!(Image::read(&bytes), Some(image));
        for len in 0..bytes.len() - 15 {
            assert_eq!(Image::read(&bytes[..len]), None, "cut at {len}");
        }
        let head = Head { kind: 1, call: u64::MAX, worker: 3, len: 4 };
        assert_eq!(Head::read(&head.write()), Some(head));
        for bit in 0..HEAD * 8 {
            let mut damaged = head.write();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::read(&damaged), None, "bit {bit}");
        }
        assert_eq!(mixed(mixed(MIXED, b"12345678"), b"9"), mixed(MIXED, b"123456789"));
        assert_ne!(mixed(MIXED, b"123456789"), mixed(MIXED, b"123456798"));
    }

    #[test]
    fn no_two_frames_have_one_number() {
        for (at, (name, number)) in FRAMES.iter().enumerate() {
            assert!(!FRAMES[..at].iter().any(|it| it.1 == *number), "{name}");
        }
    }
}
