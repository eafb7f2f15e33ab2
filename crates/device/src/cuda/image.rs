//! Images: machine code (cubin) or portable assembly (PTX), which the driver compiles.
//!
//! A program of several files has several of one kind ([`parts`]). Whether a GPU can run one is told by the image itself ([`Image::runs_on`]).

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use abi::image::{LINKED, Payload};
use cudarc::driver::sys::{
    self, CUjit_option_enum as JitOption, CUjitInputType_enum as Input, CUlinkState, CUmodule,
    CUresult,
};

use super::driver::{self, spelt};
use crate::gpu::shape::Spread;
use crate::gpu::{llvm, parts};
use crate::{DeviceError, Result};

/// NVIDIA's number among the machines of ELF files.
const MACHINE: u16 = 190;

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// Machine code for this compute capability: 90 for 9.0.
    Cubin(u32),
    /// Assembly for this one and all later ones.
    Ptx(u32),
}

impl Image {
    /// Recognises an image; none if it is of another kind.
    pub(super) fn of(bytes: &[u8]) -> Option<Image> {
        match Payload::of(bytes) {
            Payload::Elf { machine: MACHINE } => cubin(bytes).map(Image::Cubin),
            Payload::Elf { .. } | Payload::NarrowElf { .. } | Payload::Bitcode => None,
            Payload::Unknown if is_object(bytes) => cubin(bytes).map(Image::Cubin),
            Payload::Unknown => ptx(bytes).map(Image::Ptx),
        }
    }

    /// Whether a GPU of this capability runs it: machine code is for one generation, from its minor
    /// version on.
    pub(super) fn runs_on(self, capability: u32) -> bool {
        match self {
            Image::Cubin(made_for) => {
                made_for / 10 == capability / 10 && made_for % 10 <= capability % 10
            }
            Image::Ptx(made_for) => made_for <= capability,
        }
    }
}

/// Machine code that must be linked.
fn is_object(bytes: &[u8]) -> bool {
    const OBJECT: u16 = 1;
    let half = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
    bytes.starts_with(b"\x7fELF\x02\x01")
        && half(16).map(u16::from_le_bytes) == Some(OBJECT)
        && half(18).map(u16::from_le_bytes) == Some(MACHINE)
}

/// What a cubin is for: CUDA 13 has moved the number within the flags, and says so.
fn cubin(bytes: &[u8]) -> Option<u32> {
    const ABI_VERSION: usize = 8;
    const FLAGS: usize = 48;
    let flags = u32::from_le_bytes(*bytes.get(FLAGS..)?.first_chunk()?);
    match bytes.get(ABI_VERSION)? {
        ..=7 => Some(flags & 0xff),
        _ => Some(flags >> 8 & 0xff),
    }
}

/// What assembly is for: the directive `.target sm_70` near its top.
fn ptx(bytes: &[u8]) -> Option<u32> {
    const TOP: usize = 4096;
    let top = bytes.get(..TOP.min(bytes.len()))?;
    let top = String::from_utf8_lossy(top);
    let (_, rest) = top.split_once("\n.version ")?;
    let (_, rest) = rest.split_once("\n.target sm_")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Whether a GPU of this capability runs all of an image.
pub(super) fn runs_on(image: &[u8], capability: u32) -> bool {
    let runs = |part: &&[u8]| Image::of(part).is_some_and(|it| it.runs_on(capability));
    parts::of(image).iter().all(runs)
}

/// Loads all parts of an image into the current context; what needs each other is one module.
pub(super) fn load_all(image: &[u8], version: i32) -> Result<Vec<CUmodule>> {
    let must_be_linked =
        |part: &&[u8]| part.windows(LINKED.len()).any(|it| it == LINKED.as_bytes());
    let (linked, alone): (Vec<&[u8]>, Vec<&[u8]>) =
        parts::of(image).into_iter().partition(must_be_linked);
    let mut modules = Vec::new();
    for part in alone {
        modules.push(load(part, version)?);
    }
    if !linked.is_empty() {
        modules.push(link(&linked, version)?);
    }
    Ok(modules)
}

/// Links images to one, and loads that.
#[allow(unsafe_code, reason = "code for the driver")]
fn link(parts: &[&[u8]], version: i32) -> Result<CUmodule> {
    let mut log = Log::new();
    let (mut options, mut values) = log.options();
    let mut state: CUlinkState = ptr::null_mut();
    // SAFETY: two options with their values, which stay until the end; writes one handle.
    let made = unsafe {
        sys::cuLinkCreate_v2(2, options.as_mut_ptr(), values.as_mut_ptr(), &raw mut state)
    };
    driver::check("linking images", made)?;
    let link = Link(state);
    for part in parts {
        let kind = match Image::of(part) {
            Some(Image::Ptx(_)) => Input::CU_JIT_INPUT_PTX,
            Some(Image::Cubin(_)) | None => Input::CU_JIT_INPUT_CUBIN,
        };
        let mut bytes = [part, &[0][..]].concat();
        // SAFETY: an image of that kind, with its end, which the driver reads now.
        let added = unsafe {
            sys::cuLinkAddData_v2(
                link.0,
                kind,
                bytes.as_mut_ptr().cast(),
                bytes.len() - usize::from(kind == Input::CU_JIT_INPUT_CUBIN),
                c"device code".as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        log.check("linking images", added, version)?;
    }
    let (mut image, mut size) = (ptr::null_mut(), 0);
    // SAFETY: a link that was begun; writes the address and size of what stays until its end.
    let linked = unsafe { sys::cuLinkComplete(link.0, &raw mut image, &raw mut size) };
    log.check("linking images", linked, version)?;
    let mut module = ptr::null_mut();
    // SAFETY: what the driver has made; it copies it.
    let loaded = unsafe { sys::cuModuleLoadData(&raw mut module, image) };
    driver::check("loading an image", loaded).map(|()| module)
}

/// A link, until its end.
struct Link(CUlinkState);

impl Drop for Link {
    #[allow(unsafe_code, reason = "a handle is given back")]
    fn drop(&mut self) {
        // SAFETY: it was begun, and is not used again.
        let _ = unsafe { sys::cuLinkDestroy(self.0) };
    }
}

/// What the driver says about code that it does not take.
struct Log(Vec<u8>);

impl Log {
    const SIZE: usize = 8192;

    fn new() -> Log {
        Log(vec![0; Log::SIZE])
    }

    /// How the driver is told to write into it.
    fn options(&mut self) -> ([JitOption; 2], [*mut c_void; 2]) {
        let options =
            [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        (options, [self.0.as_mut_ptr().cast(), ptr::without_provenance_mut(Log::SIZE)])
    }

    /// Nothing, or what went wrong.
    fn check(&self, what: &'static str, code: CUresult, version: i32) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS {
            return Ok(());
        }
        if code == CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
            return Err(DeviceError::BadImage(format!(
                "the driver knows CUDA {} and is too old for this assembly: install a newer one, or build \
                 the program for this GPU, as with `--device cuda:sm_80`",
                spelt(version)
            )));
        }
        let log =
            self.0.split(|it| *it == 0).next().map(String::from_utf8_lossy).unwrap_or_default();
        let failure = driver::failure(what, code);
        let DeviceError::Failed(said) = failure else { return Err(failure) };
        let separator = if log.trim().is_empty() { "" } else { ": " };
        Err(DeviceError::BadImage(format!("{said}{separator}{}", log.trim())))
    }
}

/// Loads one image into the current context; assembly is compiled now, or was before: the driver keeps
/// what it compiled.
#[allow(unsafe_code, reason = "code for the driver")]
fn load(part: &[u8], version: i32) -> Result<CUmodule> {
    // Assembly ends with a zero byte; for machine code one more makes no difference.
    let mut bytes = Vec::with_capacity(part.len() + 1);
    bytes.extend_from_slice(part);
    bytes.push(0);
    let mut log = Log::new();
    let (mut options, mut values) = log.options();
    let mut module = ptr::null_mut();
    // SAFETY: an image of a kind that the driver reads, with its end; two options with their values,
    // of which one is a buffer of the size that the other says.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            bytes.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    log.check("loading an image", loaded, version).map(|()| module)
}

/// The name of a kernel or variable in any of several modules: what `find` answers first that is not
/// "there is none".
pub(super) fn search<T>(
    modules: &[CUmodule],
    name: &CStr,
    what: &'static str,
    find: impl Fn(CUmodule) -> (CUresult, T),
) -> Result<T> {
    for module in modules {
        match find(*module) {
            (CUresult::CUDA_SUCCESS, found) => return Ok(found),
            (CUresult::CUDA_ERROR_NOT_FOUND, _) => {}
            (code, _) => return Err(driver::failure(what, code)),
        }
    }
    let name: CString = name.to_owned();
    Err(DeviceError::NotFound(name.to_string_lossy().into_owned()))
}

/// The wish of a kernel about its threads, if an image has one.
pub(super) fn spread(modules: &[CUmodule], kernel: &CStr) -> Option<Spread> {
    Spread::of(words(modules, &abi::image::spread(&kernel.to_string_lossy()))?)
}

/// How many places a kernel takes for what its groups leave, and how many words each group leaves there.
pub(super) fn sums(modules: &[CUmodule], kernel: &CStr) -> [usize; 2] {
    let found = words(modules, &abi::image::sums(&kernel.to_string_lossy()));
    found.unwrap_or([0, 0]).map(|it| it as usize)
}

/// What LLVM says of a kernel that it has compiled.
pub(super) fn environment(modules: &[CUmodule], kernel: &CStr) -> Option<llvm::Environment> {
    let name = format!("{}{}", kernel.to_string_lossy(), llvm::ENVIRONMENT);
    words(modules, &name).map(llvm::Environment::of)
}

/// The value of a variable that an image may have.
#[allow(unsafe_code, reason = "asks the driver")]
fn words<const N: usize>(modules: &[CUmodule], name: &str) -> Option<[u32; N]> {
    let name = CString::new(name).ok()?;
    let found = search(modules, &name, "looking for a variable", |module| {
        let (mut at, mut size) = (0, 0);
        // SAFETY: a module that is loaded; writes an address and a size.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&raw mut at, &raw mut size, module, name.as_ptr()) };
        (code, at)
    });
    let mut words = [0_u32; N];
    // SAFETY: the variable has so many words, as has the place for them.
    let code = unsafe { sys::cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), found.ok()?, N * 4) };
    (code == CUresult::CUDA_SUCCESS).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::image::{Container, ImageKind};

    /// The head of a cubin.
    fn head(abi: u8, flags: u32) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\x33".to_vec();
        bytes.push(abi);
        bytes.resize(16, 0);
        bytes.extend([2, 0, 190, 0]);
        bytes.resize(48, 0);
        bytes.extend(flags.to_le_bytes());
        bytes.resize(64, 0);
        bytes
    }

    const PTX: &[u8] = b"//\n// Generated\n//\n\n.version 8.5\n.target sm_70\n.address_size 64\n";

    #[test]
    fn images_say_what_they_are_for() {
        assert_eq!(Image::of(&head(7, 0x005a_055a)), Some(Image::Cubin(90)));
        assert_eq!(Image::of(&head(8, 0x0600_5a04)), Some(Image::Cubin(90)));
        assert_eq!(Image::of(&head(7, 0x0046_0546)), Some(Image::Cubin(70)));
        assert_eq!(Image::of(PTX), Some(Image::Ptx(70)));
        let mut object = head(7, 0x005a_055a);
        object.splice(16..17, [1]);
        assert_eq!(Image::of(&object), Some(Image::Cubin(90)), "to be linked");
        for other in [&b""[..], b"// ferry", b"\x7fELF\x02\x01", b"BC\xc0\xde", b".target sm_70"] {
            assert_eq!(Image::of(other), None);
        }
    }

    #[test]
    fn machine_code_is_for_one_generation_and_assembly_for_all_later() {
        for (image, capability, runs) in [
            (Image::Cubin(80), 80, true),
            (Image::Cubin(80), 86, true),
            (Image::Cubin(86), 80, false),
            (Image::Cubin(80), 90, false),
            (Image::Ptx(70), 90, true),
            (Image::Ptx(70), 120, true),
            (Image::Ptx(90), 80, false),
            (Image::Cubin(100), 100, true),
            (Image::Cubin(100), 120, false),
        ] {
            assert_eq!(image.runs_on(capability), runs, "{image:?} on {capability}");
        }
    }

    #[test]
    fn all_parts_must_run() {
        let contained = |payload: &[u8]| {
            let triple = "nvptx64-nvidia-cuda";
            Container { kind: ImageKind::Cubin, triple, arch: "", payload }.write()
        };
        let (old, new) = (head(7, 0x0046_0546), head(7, 0x005a_055a));
        let mixed = [contained(&old), contained(&new)].concat();
        assert_eq!(parts::of(&mixed), [old.as_slice(), new.as_slice()]);
        assert!(!runs_on(&mixed, 90));
        assert!(runs_on(&[contained(&new), contained(&new)].concat(), 90));
        assert!(runs_on(PTX, 75) && !runs_on(PTX, 61) && !runs_on(b"", 90));
    }
}
