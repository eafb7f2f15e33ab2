//! The container that device images travel in, and what kind of image a run of bytes is.
//!
//! [`Container::write`] and [`Container::read`] are inverse. The format is LLVM's, so `llvm-objdump
//! --offloading` lists our images too. Reading checks every offset: a file may be cut or damaged.

use std::fmt;

const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const VERSION: u32 = 1;
const HEADER: usize = 32;
const ENTRY: usize = 40;
const PAIR: usize = 16;

/// The first line of an image that is a text in OpenCL C.
pub const OPENCL: &str = "// ferry: an image in OpenCL C\n";
/// Its second line if it has variables of its own: memory for them is made when it is loaded, and every
/// kernel takes its address as one argument more.
pub const OPENCL_VARIABLES: &str = "// with variables\n";

/// The first line of the same program in OpenCL C 1.2, for devices whose C has no pointers to memory of any kind or
/// that do not share addresses with the host. It follows the other; its kernels take [`OPENCL_MEMORIES`]
/// buffers, each with its address, two words that all of them share and the address of their threads' stacks as last
/// arguments.
pub const OPENCL_12: &str = "// ferry: the same in OpenCL C 1.2\n";
/// A line of that text: so many bytes has the stack of each thread.
pub const OPENCL_STACK: &str = "#define __FERRY_STACK ";
/// What stands there instead where there is no such text: why.
pub const OPENCL_12_LACKS: &str = "// ferry: cannot be: ";
/// Buffers that kernels of that text take.
pub const OPENCL_MEMORIES: usize = 4;

/// The first line of the same text for an FPGA, up to the name of the device.
pub const FPGA: &str = "// ferry: pipelines in OpenCL C for ";

/// That line.
pub fn fpga(device: &str) -> String {
    format!("{FPGA}{device}\n")
}

/// The first line of a text of designs, for hardware that is simulated.
pub const HARDWARE: &str = "// ferry: hardware\n";

/// The first line of a text in CUDA C++, which is compiled before it becomes an image.
pub const CUDA: &str = "// ferry: kernels in CUDA C++\n";

/// The same for HIP.
pub const HIP: &str = "// ferry: kernels in HIP\n";

/// The function of a linked text in OpenCL C that is told where the variables of all linked texts are, and, with the
/// number of a file behind it, where those of that file are.
pub const ENTER: &str = "__ferry_enter";

/// The lock of a text in OpenCL C, which linked texts have in common.
pub const LOCK: &str = "__ferry_lock";

/// What a variable is called, up to the number of its file, that is in images that must be linked.
pub const LINKED: &str = "__ferry_linked_";

/// So many words in front of what groups leave in a place of a launch: each counts those that have, for one question
/// whether all have. They are zero when a launch begins, and when it ends.
pub const QUESTIONS: usize = 8;

/// So many groups of a launch can say that they have left something, each in a half word behind a word that counts
/// groups which have begun. They too are zero when a launch begins, and when it ends.
pub const POSTS: usize = 1024;

/// Bytes in front of what groups leave.
pub const LAUNCH_HEADER: usize = 8 * QUESTIONS + 8 + 4 * POSTS;

/// The variable of an image that says how many places a kernel takes for what its groups leave, each as one argument
/// more, and how many words each group leaves in each.
pub fn sums(kernel: &str) -> String {
    format!("{kernel}_sums")
}

/// The variable of an image that says how a kernel wants its iterations spread, if it has a wish: so many
/// threads for so many iterations, if there are this many or more.
pub fn spread(kernel: &str) -> String {
    format!("{kernel}_spread")
}

/// What the payload of a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ImageKind {
    /// An object file or shared object.
    Object = 1,
    /// LLVM bitcode.
    Bitcode = 2,
    /// NVIDIA machine code.
    Cubin = 3,
    /// NVIDIA's own container.
    Fatbinary = 4,
    /// NVIDIA's portable assembly.
    Ptx = 5,
    /// Text that a driver compiles. Not one of LLVM's numbers.
    Source = 0x4600,
}

/// One image with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// What the payload is.
    pub kind: ImageKind,
    /// Target triple, `x86_64-unknown-linux-gnu`.
    pub triple: &'a str,
    /// Processor within the triple; empty where there is but one.
    pub arch: &'a str,
    /// The image.
    pub payload: &'a [u8],
}

/// Why bytes are no container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadContainer {
    /// It does not begin as one.
    NoMagic,
    /// A version that is not known here.
    Version(u32),
    /// An offset or a size leads outside.
    CutShort,
    /// An image kind that is not known here.
    Kind(u16),
    /// A string is not text.
    NotText,
}

impl fmt::Display for BadContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadContainer::NoMagic => f.write_str("not an image container"),
            BadContainer::Version(it) => write!(f, "image container of unknown version {it}"),
            BadContainer::CutShort => f.write_str("image container is cut short"),
            BadContainer::Kind(it) => write!(f, "image container of unknown kind {it}"),
            BadContainer::NotText => f.write_str("image container with damaged text"),
        }
    }
}

impl std::error::Error for BadContainer {}

impl<'a> Container<'a> {
    /// Do these bytes begin a container?
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The container as bytes; their number is a multiple of 8.
    pub fn write(&self) -> Vec<u8> {
        let strings = [("triple", self.triple), ("arch", self.arch)];
        let table = HEADER + ENTRY;
        let mut text = Vec::new();
        let mut pairs = Vec::new();
        let text_start = table + strings.len() * PAIR;
        for (key, value) in strings {
            for word in [key, value] {
                pairs.extend((text_start + text.len()).to_le_bytes());
                text.extend(word.as_bytes());
                text.push(0);
            }
        }
        let payload_start = (text_start + text.len()).next_multiple_of(8);
        let total = (payload_start + self.payload.len()).next_multiple_of(8);

        let mut out = Vec::with_capacity(total);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([total, HEADER, ENTRY].iter().flat_map(|it| it.to_le_bytes()));
        out.extend((self.kind as u16).to_le_bytes());
        // Producer 1: the interface that the whole of this crate describes.
        out.extend(1u16.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        let places = [table, strings.len(), payload_start, self.payload.len()];
        out.extend(places.iter().flat_map(|it| it.to_le_bytes()));
        out.extend(pairs);
        out.extend(text);
        out.resize(payload_start, 0);
        out.extend(self.payload);
        out.resize(total, 0);
        out
    }

    /// How many bytes the container takes that `bytes` begin with: linkers put several in a row.
    pub fn len_of(bytes: &[u8]) -> Result<usize, BadContainer> {
        Container::read(bytes)?;
        usize_at(bytes, 8)
    }

    /// Reads the container that `bytes` begin with; what follows it is ignored.
    pub fn read(bytes: &'a [u8]) -> Result<Container<'a>, BadContainer> {
        if !Container::begins(bytes) {
            return Err(BadContainer::NoMagic);
        }
        match u32_at(bytes, 4)? {
            VERSION => {}
            other => return Err(BadContainer::Version(other)),
        }
        let bytes = slice(bytes, 0, usize_at(bytes, 8)?)?;
        let entry = slice(bytes, usize_at(bytes, 16)?, ENTRY)?;
        let kind = match u32_at(entry, 0)? as u16 {
            1 => ImageKind::Object,
            2 => ImageKind::Bitcode,
            3 => ImageKind::Cubin,
            4 => ImageKind::Fatbinary,
            5 => ImageKind::Ptx,
            0x4600 => ImageKind::Source,
            other => return Err(BadContainer::Kind(other)),
        };
        let (mut triple, mut arch) = ("", "");
        let table = usize_at(entry, 8)?;
        for index in 0..usize_at(entry, 16)? {
            let place = index.checked_mul(PAIR).and_then(|it| it.checked_add(table));
            let pair = slice(bytes, place.ok_or(BadContainer::CutShort)?, PAIR)?;
            let value = text_at(bytes, usize_at(pair, 8)?)?;
            match text_at(bytes, usize_at(pair, 0)?)? {
                "triple" => triple = value,
                "arch" => arch = value,
                _ => {}
            }
        }
        let payload = slice(bytes, usize_at(entry, 24)?, usize_at(entry, 32)?)?;
        Ok(Container { kind, triple, arch, payload })
    }
}

fn slice(bytes: &[u8], start: usize, len: usize) -> Result<&[u8], BadContainer> {
    bytes.get(start..).and_then(|it| it.get(..len)).ok_or(BadContainer::CutShort)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, BadContainer> {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(BadContainer::CutShort)?;
    Ok(u32::from_le_bytes(*word))
}

fn usize_at(bytes: &[u8], at: usize) -> Result<usize, BadContainer> {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(BadContainer::CutShort)?;
    usize::try_from(u64::from_le_bytes(*word)).map_err(|_| BadContainer::CutShort)
}

fn text_at(bytes: &[u8], at: usize) -> Result<&str, BadContainer> {
    let tail = bytes.get(at..).ok_or(BadContainer::CutShort)?;
    let end = tail.iter().position(|it| *it == 0).ok_or(BadContainer::CutShort)?;
    let word = tail.get(..end).ok_or(BadContainer::CutShort)?;
    std::str::from_utf8(word).map_err(|_| BadContainer::NotText)
}

/// What an image is, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A 64-bit ELF executable or shared object for this `e_machine`.
    Elf {
        /// 62 x86-64, 183 AArch64, 190 NVIDIA, 224 AMD, 243 RISC-V.
        machine: u16,
    },
    /// A 32-bit ELF executable for this `e_machine`.
    NarrowElf {
        /// 243 RISC-V.
        machine: u16,
    },
    /// LLVM bitcode.
    Bitcode,
    /// Nothing known.
    Unknown,
}

impl Payload {
    /// Recognises the bytes of an image (not of a container).
    pub fn of(bytes: &[u8]) -> Payload {
        const EXECUTABLE: u16 = 2;
        const SHARED: u16 = 3;
        let half = |at: usize| {
            bytes.get(at..).and_then(<[u8]>::first_chunk).map(|it| u16::from_le_bytes(*it))
        };
        if bytes.starts_with(b"BC\xc0\xde") {
            return Payload::Bitcode;
        }
        let is_elf = bytes.starts_with(b"\x7fELF\x02\x01");
        let is_narrow = bytes.starts_with(b"\x7fELF\x01\x01");
        match (half(16), half(18)) {
            (Some(EXECUTABLE | SHARED), Some(machine)) if is_elf => Payload::Elf { machine },
            (Some(EXECUTABLE), Some(machine)) if is_narrow => Payload::NarrowElf { machine },
            _ => Payload::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Container<'static> {
        let triple = "x86_64-unknown-linux-gnu";
        Container { kind: ImageKind::Object, triple, arch: "", payload: b"\x7fELF and so on" }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample().write();
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!(Container::read(&bytes), Ok(sample()));
        let followed = [bytes.as_slice(), b"more"].concat();
        assert_eq!(Container::read(&followed), Ok(sample()));
        assert_eq!(Container::len_of(&followed), Ok(bytes.len()));
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_survived() {
        let bytes = sample().write();
        for len in 0..bytes.len() {
            assert!(Container::read(&bytes[..len]).is_err(), "cut at {len}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            let _ = Container::read(&damaged);
        }
    }

    #[test]
    fn images_are_told_by_their_first_bytes() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(16, 0);
        elf.extend([3, 0, 62, 0]);
        assert_eq!(Payload::of(&elf), Payload::Elf { machine: 62 });
        elf[16] = 1;
        assert_eq!(Payload::of(&elf), Payload::Unknown, "an object that is not linked");
        assert_eq!(Payload::of(b"BC\xc0\xde..."), Payload::Bitcode);
        assert_eq!(Payload::of(b""), Payload::Unknown);
    }
}
