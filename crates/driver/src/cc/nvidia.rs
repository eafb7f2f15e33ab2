//! NVIDIA's compiler: the library NVRTC, opened when it is first needed, or else the program nvcc.
//!
//! In: a text in CUDA C++, options, an architecture. Out: assembly (PTX) and machine code (cubin), or
//! what the compiler said. Neither needs a GPU or its driver.
#![allow(unsafe_code, reason = "a library that is opened at run time")]

use std::env;
use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;

use cache::Cache;
use libloading::{Library, Symbol};

use super::{cuda, host, runtime};
use crate::input;

/// The compiler.
pub(crate) enum Compiler {
    Nvrtc(Nvrtc),
    Nvcc(PathBuf),
}

/// What a text became.
pub(crate) struct Compiled {
    pub(crate) ptx: Vec<u8>,
    pub(crate) cubin: Vec<u8>,
}

/// What to say where there is none.
const ABSENT: &str = "compiling for `cuda` needs NVRTC or nvcc (CUDA 12 or newer), and neither was found\n  help: `pip \
                      install nvidia-cuda-nvrtc-cu12` is enough (no GPU, no driver, 70 MB); or set \
                      FERRY_NVRTC to a libnvrtc.so, or CUDA_HOME to an installation of CUDA";

/// The names of the library, those of versions that know the oldest GPUs first.
const NAMES: &[&str] = &["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"];

/// Older ones do not know the language of the texts.
const OLDEST: c_int = 12;

impl Compiler {
    /// The one that the environment names, or the first that is found.
    pub(crate) fn find() -> Result<Compiler, String> {
        let named = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        if let Some(path) = named("FERRY_NVRTC") {
            let in_folder = NAMES.iter().map(|it| path.join(it)).find(|it| it.is_file());
            let library = if path.is_dir() { in_folder } else { Some(path.clone()) };
            let opened = library.as_deref().map(Nvrtc::open);
            return match opened {
                Some(Ok(nvrtc)) => Ok(Compiler::Nvrtc(nvrtc)),
                Some(Err(why)) => Err(format!("FERRY_NVRTC: `{}`: {why}", path.display())),
                None => Err(format!("FERRY_NVRTC: there is no NVRTC in `{}`", path.display())),
            };
        }
        let installed = installed();
        let mut places = Vec::new();
        for folder in &installed {
            places.extend(["lib64", "lib", "targets/x86_64-linux/lib"].map(|it| folder.join(it)));
        }
        places.extend(runtime::find(NAMES.first().copied().unwrap_or_default()).and_then(parent));
        // Where `scripts/setup` of the source tree puts it.
        places.extend(Cache::of_user(true).folder().map(|it| it.join("nvrtc")));
        let files = places.iter().flat_map(|it| NAMES.iter().map(|name| it.join(name)));
        let files = files.filter(|it| it.is_file());
        // And those that the system's loader knows.
        let all = files.chain(NAMES.iter().map(PathBuf::from));
        if let Some(nvrtc) = all.into_iter().find_map(|it| Nvrtc::open(&it).ok()) {
            return Ok(Compiler::Nvrtc(nvrtc));
        }
        let programs = installed.iter().map(|it| it.join("bin/nvcc")).find(|it| it.is_file());
        if let Some(nvcc) = programs.or_else(|| host::on_path(&OsString::from("nvcc"))) {
            return Ok(Compiler::Nvcc(nvcc));
        }
        let nvrtc = of_python(&["cuda_nvrtc/lib", "cu13/lib"], NAMES)
            .iter()
            .find_map(|it| Nvrtc::open(it).ok());
        nvrtc.map(Compiler::Nvrtc).ok_or_else(|| ABSENT.to_owned())
    }

    /// What tells it from others, for the cache and for reports.
    pub(crate) fn about(&self) -> String {
        match self {
            Compiler::Nvrtc(it) => {
                let [major, minor] = it.version;
                format!("NVRTC {major}.{minor} ({})", it.path.display())
            }
            Compiler::Nvcc(path) => {
                let told = Command::new(path).arg("--version").stderr(Stdio::null()).output();
                let told = told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
                let version = told.unwrap_or_default();
                let version = version.lines().rev().find(|it| it.contains("release"));
                format!("nvcc ({}), {}", path.display(), version.unwrap_or("of unknown version"))
            }
        }
    }

    /// The oldest GPUs that kernels can be made for with it.
    pub(crate) fn oldest(&self) -> u32 {
        let known = match self {
            Compiler::Nvrtc(it) => it.architectures(),
            Compiler::Nvcc(path) => nvcc_architectures(path),
        };
        let known = known.into_iter().filter(|it| *it >= cuda::OLDEST);
        known.min().unwrap_or(cuda::OLDEST)
    }

    /// Compiles a text for `sm_NN`. An error is what the compiler said.
    pub(crate) fn compile(
        &self,
        text: &[u8],
        options: &[String],
        arch: u32,
        scratch: &Path,
    ) -> Result<Compiled, String> {
        match self {
            Compiler::Nvrtc(it) => it.compile(text, options, arch),
            Compiler::Nvcc(path) => nvcc(path, text, options, arch, scratch),
        }
    }
}

/// Folders that an installation of CUDA may be in.
pub(crate) fn installed() -> Vec<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let named = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|it| named(it));
    named.chain([PathBuf::from("/usr/local/cuda")]).collect()
}

/// NVIDIA's assembler, where it is installed. Nothing needs it: what it makes here the driver makes when a program begins, and
/// that takes a while.
pub(crate) struct Assembler(PathBuf);

impl Assembler {
    pub(crate) fn find() -> Option<Assembler> {
        let files = installed().into_iter().map(|it| it.join("bin/ptxas"));
        let found = files.into_iter().find(|it| it.is_file());
        let found = found.or_else(|| host::on_path(&OsString::from("ptxas")));
        let of_pip = || of_python(&["cuda_nvcc/bin", "cu13/bin"], &["ptxas"]).into_iter().next();
        found.or_else(of_pip).map(Assembler)
    }

    /// What tells it from others, for the cache.
    pub(crate) fn about(&self) -> Vec<u8> {
        let told = Command::new(&self.0).arg("--version").stderr(Stdio::null()).output();
        told.map(|it| it.stdout).unwrap_or_default()
    }

    /// Machine code for `sm_NN`; nothing if it does not know that, or the text.
    pub(crate) fn assemble(&self, text: &str, arch: &str, scratch: &Path) -> Option<Vec<u8>> {
        let (source, output) = (scratch.join("kernels.ptx"), scratch.join("kernels.cubin"));
        fs::write(&source, text).ok()?;
        let mut command = Command::new(&self.0);
        command.arg(format!("-arch={arch}")).arg(&source).arg("-o").arg(&output);
        let ran = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        if ran.success() { fs::read(&output).ok() } else { None }
    }
}

/// What nvcc compiles for; nothing if it does not tell.
fn nvcc_architectures(path: &Path) -> Vec<u32> {
    let told = Command::new(path).arg("--list-gpu-code").stdin(Stdio::null()).output();
    let told = told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    told.lines().filter_map(|it| it.trim().strip_prefix("sm_")?.parse().ok()).collect()
}

/// Whether programs can use GPUs here: the driver's library can be opened.
pub(crate) fn has_driver() -> bool {
    // SAFETY: opening the library runs its initialisers, which every program that uses it does.
    ["libcuda.so.1", "libcuda.so"].iter().any(|it| unsafe { Library::new(*it) }.is_ok())
}

fn parent(path: PathBuf) -> Option<PathBuf> {
    path.parent().map(Path::to_owned)
}

/// A file of NVIDIA's as pip installs it: only Python knows where. `places` are below the folder of all their packages.
pub(crate) fn of_python(places: &[&str], names: &[&str]) -> Vec<PathBuf> {
    const ASK: &str = "import site, sys\nprint('\\n'.join(site.getsitepackages() + \
                       [site.getusersitepackages()] + sys.path))";
    let asked = Command::new("python3").args(["-c", ASK]).stderr(Stdio::null()).output();
    let told = asked.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let mut found = Vec::new();
    for folder in told.lines().filter(|it| !it.is_empty()) {
        for place in places {
            let folder = Path::new(folder).join("nvidia").join(place);
            found.extend(names.iter().map(|it| folder.join(it)).filter(|it| it.is_file()));
        }
    }
    found
}

/// The library.
pub(crate) struct Nvrtc {
    library: Library,
    path: PathBuf,
    version: [c_int; 2],
}

/// A program of the library; given back when dropped.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: *mut c_void,
}

/// An answer of the library; 0 is success.
type Code = c_int;
type Create = unsafe extern "C" fn(
    *mut *mut c_void,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Code;
type Compile = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> Code;
type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> Code;
type Bytes = unsafe extern "C" fn(*mut c_void, *mut c_char) -> Code;

impl Nvrtc {
    fn open(path: &Path) -> Result<Nvrtc, String> {
        open_builtins(path);
        // SAFETY: opening the library runs its initialisers; it is NVIDIA's, or what the user says is.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        let (mut major, mut minor) = (0, 0);
        let mut nvrtc = Nvrtc { library, path: path.to_owned(), version: [0, 0] };
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code;
        let version = nvrtc.function::<Version>("nvrtcVersion")?;
        // SAFETY: the function writes two numbers.
        unsafe { version(&raw mut major, &raw mut minor) };
        if major < OLDEST {
            return Err(format!("NVRTC {major}.{minor} is too old: {OLDEST}.0 or newer is needed"));
        }
        nvrtc.version = [major, minor];
        Ok(nvrtc)
    }

    /// A function of the library, whose type is NVIDIA's header's.
    fn function<F>(&self, name: &str) -> Result<Symbol<'_, F>, String> {
        // SAFETY: the callers' types are those of the header, which have not changed since CUDA 8.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|error| error.to_string())
    }

    fn compile(&self, text: &[u8], options: &[String], arch: u32) -> Result<Compiled, String> {
        let known = self.architectures();
        if !known.is_empty() && !known.contains(&arch) {
            let known: Vec<String> = known.iter().map(|it| format!("sm_{it}")).collect();
            let [major, minor] = self.version;
            return Err(format!(
                "NVRTC {major}.{minor} does not know sm_{arch}; it knows {}\n",
                known.join(", ")
            ));
        }
        let text = CString::new(text).map_err(|_| "a zero byte in the text\n".to_owned())?;
        let create = self.function::<Create>("nvrtcCreateProgram")?;
        let mut handle = ptr::null_mut();
        let none = ptr::null();
        // SAFETY: two strings with their ends, no headers; writes a handle.
        let code = unsafe {
            create(&raw mut handle, text.as_ptr(), c"kernels.cu".as_ptr(), 0, none, none)
        };
        if code != 0 || handle.is_null() {
            return Err(format!("nvrtcCreateProgram answered {code}\n"));
        }
        let program = Program { nvrtc: self, handle };
        let words: Vec<CString> = std::iter::once(format!("--gpu-architecture=sm_{arch}"))
            .chain(options.iter().cloned())
            .filter_map(|it| CString::new(it).ok())
            .collect();
        let pointers: Vec<*const c_char> = words.iter().map(|it| it.as_ptr()).collect();
        let compile = self.function::<Compile>("nvrtcCompileProgram")?;
        let count = c_int::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: as many strings as is said, which live until the call returns.
        let code = unsafe { compile(program.handle, count, pointers.as_ptr()) };
        if code != 0 {
            let log = program.bytes("nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
            let log = log.map(|it| String::from_utf8_lossy(&it).into_owned()).unwrap_or_default();
            return Err(if log.trim().is_empty() {
                format!("NVRTC answered {code}\n")
            } else {
                log
            });
        }
        Ok(Compiled {
            ptx: program.bytes("nvrtcGetPTXSize", "nvrtcGetPTX").map(without_end)?,
            cubin: program.bytes("nvrtcGetCUBINSize", "nvrtcGetCUBIN")?,
        })
    }

    /// What it compiles for; nothing if it does not tell.
    fn architectures(&self) -> Vec<u32> {
        type Count = unsafe extern "C" fn(*mut c_int) -> Code;
        let count = self.function::<Count>("nvrtcGetNumSupportedArchs");
        let list = self.function::<Count>("nvrtcGetSupportedArchs");
        let (Ok(count), Ok(list)) = (count, list) else { return Vec::new() };
        let mut number = 0;
        // SAFETY: writes one number.
        unsafe { count(&raw mut number) };
        let mut numbers = vec![0; usize::try_from(number).unwrap_or(0)];
        if !numbers.is_empty() {
            // SAFETY: writes as many numbers as it said.
            unsafe { list(numbers.as_mut_ptr()) };
        }
        numbers.into_iter().filter_map(|it| u32::try_from(it).ok()).collect()
    }
}

impl Program<'_> {
    /// One of its products, by the two functions that tell its size and write it.
    fn bytes(&self, size: &str, write: &str) -> Result<Vec<u8>, String> {
        let (asks, writes) =
            (self.nvrtc.function::<Size>(size)?, self.nvrtc.function::<Bytes>(write)?);
        let mut len = 0;
        // SAFETY: a program that is compiled; writes a number.
        let asked = unsafe { asks(self.handle, &raw mut len) };
        let mut bytes = vec![0u8; len];
        if asked == 0 && len > 0 {
            // SAFETY: writes as many bytes as it said.
            let written = unsafe { writes(self.handle, bytes.as_mut_ptr().cast()) };
            if written == 0 {
                return Ok(bytes);
            }
        }
        Err(format!("{write} gave nothing\n"))
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> Code;
        if let Ok(destroy) = self.nvrtc.function::<Destroy>("nvrtcDestroyProgram") {
            // SAFETY: the handle is ours and is not used again.
            unsafe { destroy(&raw mut self.handle) };
        }
    }
}

/// Texts of the library end with a zero byte.
fn without_end(mut text: Vec<u8>) -> Vec<u8> {
    while text.last() == Some(&0) {
        text.pop();
    }
    text
}

/// From CUDA 13 on the library finds its second half only if that is already open.
fn open_builtins(path: &Path) {
    let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) else { return };
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with("libnvrtc-builtins.so") && !name.contains(".alt") {
            // SAFETY: a library of data, beside the one that is asked for.
            if let Ok(library) = unsafe { Library::new(file.path()) } {
                std::mem::forget(library);
            }
        }
    }
}

/// Two runs of nvcc: one for assembly, one for machine code.
fn nvcc(
    program: &Path,
    text: &[u8],
    options: &[String],
    arch: u32,
    scratch: &Path,
) -> Result<Compiled, String> {
    let source = scratch.join("kernels.cu");
    fs::write(&source, text).map_err(|error| error.to_string())?;
    let made = |form: &str| {
        let output = scratch.join("kernels").with_extension(form.trim_start_matches('-'));
        let mut command = Command::new(program);
        command.arg(form).arg(format!("--gpu-architecture=sm_{arch}")).args(options);
        command.arg(&source).arg("-o").arg(&output).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = input::fed(&mut command, None).map_err(|error| error.to_string())?;
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned());
        }
        fs::read(&output).map_err(|error| error.to_string())
    };
    Ok(Compiled { ptx: made("--ptx")?, cubin: made("--cubin")? })
}
