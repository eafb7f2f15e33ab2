//! Images as the driver has them: a program that it compiled, and kernels of it.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use abi::facts::Facts;
use abi::image::{ENTER, LOCK, OPENCL, OPENCL_12, OPENCL_12_LACKS, OPENCL_STACK, OPENCL_VARIABLES};
use abi::names::of_file;
use cache::{Cache, Key};
use cl3::error_codes::CL_INVALID_KERNEL_NAME;
use cl3::info_type::InfoType;
use cl3::kernel::{
    self, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE,
};
use cl3::program::{self, CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG};
use cl3::types::{CL_TRUE, cl_bool, cl_context, cl_int, cl_kernel, cl_program};

use super::choose::{Chosen, Level, Reach};
use super::failure;
use crate::{Build, DeviceError, DevicePtr, Module, Result};

/// What images are compiled with: variables of programs, and memory of any kind behind one pointer,
/// came with 2.0. Drivers for processors may lack the latter, where all pointers are the same. What drivers kept before
/// they made plain loops of groups is not found again.
const OPTIONS: &CStr = c"-cl-std=CL2.0 -w -D__FERRY_PLAIN_LOOPS";
const OPTIONS_ONE_MEMORY: &CStr = c"-cl-std=CL2.0 -w -D__FERRY_PLAIN_LOOPS -D__FERRY_ONE_MEMORY";
/// The same for the text that needs neither.
const OPTIONS_12: &CStr = c"-cl-std=CL1.2 -w -D__FERRY_PLAIN_LOOPS";
const OPTIONS_12_ONE_MEMORY: &CStr = c"-cl-std=CL1.2 -w -D__FERRY_PLAIN_LOOPS -D__FERRY_ONE_MEMORY";

/// A processor runs kernels as devices do whose groups are many threads.
const OPTION_GROUPS: &str = " -D__FERRY_GROUPS";

/// Bytes of every argument, and of an address.
pub(super) const WORD: usize = 8;

/// A compiled file of an image, or several that were linked.
#[derive(Debug)]
pub(super) struct Program {
    handle: Owned,
    /// How it came here.
    pub(super) build: Build,
    /// Where its variables are, if it has any; of linked files: where it is written where those of each are.
    pub(super) variables: Option<DevicePtr>,
    /// It has some.
    pub(super) has_variables: bool,
    /// The numbers of the files, if they were linked.
    pub(super) files: Vec<String>,
    /// Memory of their variables.
    pub(super) blocks: Vec<DevicePtr>,
    /// Bytes of a thread's stack, in 1.2.
    stack: Option<usize>,
    /// Names of words in which its kernels say what fault they found in themselves.
    pub(super) faults: Vec<String>,
    /// Where these are.
    pub(super) words: Vec<DevicePtr>,
}

// SAFETY: a program may be used from all threads.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Program {}

impl Program {
    /// Compiles an image, or takes what was compiled before: files that need each other are one program, all
    /// others one each.
    pub(super) fn build(
        context: cl_context,
        chosen: &Chosen,
        cache: &Cache,
        mark: &str,
        image: &[u8],
    ) -> Result<Vec<Program>> {
        let text = std::str::from_utf8(image)
            .map_err(|_| DeviceError::BadImage("its text is damaged".into()))?;
        let texts = text.split(mark).filter(|it| !it.is_empty());
        let of_level = |it| if mark == OPENCL { of_level(it, chosen.level) } else { Ok(it) };
        let texts: Result<Vec<&str>> = texts.map(of_level).collect();
        let texts = texts?;
        let (linked, alone): (Vec<&str>, Vec<&str>) =
            match texts.iter().any(|it| Facts::read(it).needs_others) {
                true => texts.into_iter().partition(|it| Facts::read(it).file.is_some()),
                false => (Vec::new(), texts),
            };
        let sources = alone.into_iter().map(|it| vec![it]);
        let sources = sources.chain(Some(linked).filter(|it| !it.is_empty()));
        sources.map(|texts| Program::build_one(context, chosen, cache, &texts)).collect()
    }

    /// The program of one text, or of several that are linked.
    fn build_one(
        context: cl_context,
        chosen: &Chosen,
        cache: &Cache,
        texts: &[&str],
    ) -> Result<Program> {
        let options = match (chosen.level, chosen.is_processor) {
            (Level::V20, true) => OPTIONS_ONE_MEMORY,
            (Level::V20, false) => OPTIONS,
            (Level::V12, true) => OPTIONS_12_ONE_MEMORY,
            (Level::V12, false) => OPTIONS_12,
        };
        let groups = if chosen.has_groups { OPTION_GROUPS } else { "" };
        let options = [options.to_bytes(), groups.as_bytes()].concat();
        let options = &*CString::new(options).unwrap_or_default();
        let stack = texts.iter().find_map(|it| stack_of(it));
        let facts: Vec<Facts> = texts.iter().map(|it| Facts::read(it)).collect();
        let needs_others = facts.iter().any(|it| it.needs_others);
        let files: Vec<String> =
            facts.into_iter().filter_map(|it| it.file).filter(|_| needs_others).collect();
        let key = Key::new("opencl").with(options.to_bytes()).with(&[u8::from(needs_others)]);
        let key = texts.iter().fold(key, |key, it| key.with(it.as_bytes()));
        let key = chosen.words.iter().fold(key, |key, it| key.with(it.as_bytes()));
        let kept = cache.find(&key);
        let kept = kept.and_then(|it| Program::from_binary(context, chosen, options, &it));
        let (handle, build) = match kept {
            Some(handle) => (handle, Build::Kept),
            None => {
                let handle = match texts {
                    [text] if !needs_others => Program::from_text(context, chosen, options, text)?,
                    _ => Program::linked(context, chosen, options, texts, &files)?,
                };
                // PoCL 3.1 compiles all kernels when it is asked for them. If it were not asked, its threads would compile each
                // when it runs, and crash now and then.
                if let Some(binary) = binary(&handle) {
                    cache.keep(&key, &binary);
                }
                (handle, Build::Compiled)
            }
        };
        let has_variables = texts.iter().any(|it| it.contains(OPENCL_VARIABLES));
        let faults = texts.iter().filter_map(|it| fault_of(it)).map(str::to_owned).collect();
        let (variables, blocks, words) = (None, Vec::new(), Vec::new());
        Ok(Program { handle, variables, has_variables, build, files, blocks, stack, faults, words })
    }

    /// Compiles texts, each by itself, and what they have in common, and links them.
    #[allow(unsafe_code, reason = "code for the driver")]
    fn linked(
        context: cl_context,
        chosen: &Chosen,
        options: &CStr,
        texts: &[&str],
        files: &[String],
    ) -> Result<Owned> {
        let options = [options.to_bytes(), b" -D__FERRY_LINKED"].concat();
        let options = CString::new(options).unwrap_or_default();
        let common = in_common(files);
        let mut compiled = Vec::new();
        for text in texts.iter().copied().chain([common.as_str()]) {
            let program = Program::read(context, text)?;
            let asked = program::compile_program(
                program.0,
                &[chosen.id],
                &options,
                &[],
                &[],
                None,
                ptr::null_mut(),
            );
            asked.map_err(|code| program.said("compiling a program", chosen, code))?;
            compiled.push(program);
        }
        let all: Vec<cl_program> = compiled.iter().map(|it| it.0).collect();
        // SAFETY: programs that are compiled; the driver keeps what it needs of them.
        let made = unsafe {
            program::link_program(context, &[chosen.id], c"", &all, None, ptr::null_mut())
        };
        made.map(Owned).map_err(|code| failure("linking programs", code))
    }

    fn read(context: cl_context, text: &str) -> Result<Owned> {
        program::create_program_with_source(context, &[text])
            .map(Owned)
            .map_err(|code| failure("reading a program", code))
    }

    fn from_text(
        context: cl_context,
        chosen: &Chosen,
        options: &CStr,
        text: &str,
    ) -> Result<Owned> {
        let program = Program::read(context, text)?;
        program::build_program(program.0, &[chosen.id], options, None, ptr::null_mut())
            .map_err(|code| program.said("compiling a program", chosen, code))?;
        Ok(program)
    }

    /// What the driver made of a text in an earlier run; none if it does not take it any more.
    #[allow(unsafe_code, reason = "code for the driver")]
    fn from_binary(
        context: cl_context,
        chosen: &Chosen,
        options: &CStr,
        bytes: &[u8],
    ) -> Option<Owned> {
        // SAFETY: one device and one run of bytes, whose length is passed; the driver copies them.
        let made = unsafe { program::create_program_with_binary(context, &[chosen.id], &[bytes]) };
        let program = made.map(Owned).ok()?;
        program::build_program(program.0, &[chosen.id], options, None, ptr::null_mut()).ok()?;
        Some(program)
    }

    /// A kernel of the first program that has it.
    pub(super) fn find(
        programs: &[Program],
        module: Module,
        name: &CStr,
        chosen: &Chosen,
    ) -> Result<Entry> {
        for program in programs {
            match program.entry(module, name, chosen) {
                Err(DeviceError::NotFound(_)) => {}
                found => return found,
            }
        }
        Err(DeviceError::NotFound(name.to_string_lossy().into_owned()))
    }

    /// A kernel of it.
    pub(super) fn entry(&self, module: Module, name: &CStr, chosen: &Chosen) -> Result<Entry> {
        let handle = kernel::create_kernel(self.handle.0, name).map_err(|code| match code {
            CL_INVALID_KERNEL_NAME => DeviceError::NotFound(name.to_string_lossy().into_owned()),
            code => failure("looking for a kernel", code),
        })?;
        let told = |what| kernel::get_kernel_work_group_info(handle, chosen.id, what);
        let threads = match told(CL_KERNEL_COMPILE_WORK_GROUP_SIZE) {
            Ok(InfoType::VecSize(size)) => size.first().copied().filter(|it| *it > 0),
            _ => None,
        };
        let most = match told(CL_KERNEL_WORK_GROUP_SIZE) {
            Ok(InfoType::Size(size)) => size,
            _ => 1,
        };
        let parameters = match kernel::get_kernel_info(handle, CL_KERNEL_NUM_ARGS) {
            Ok(InfoType::Uint(count)) => count as usize,
            _ => 0,
        };
        if chosen.reach == Reach::System {
            reach_all(handle)?;
        }
        let variables = self.variables;
        Ok(Entry {
            module,
            variables,
            stack: self.stack,
            faults: self.words.clone(),
            parameters,
            threads,
            most,
            handle: Mutex::new(Handle { kernel: handle, told: 0 }),
        })
    }
}

/// Tells the driver that a kernel uses memory of the program that nobody has named.
#[allow(unsafe_code, reason = "a word for the driver")]
fn reach_all(kernel: cl_kernel) -> Result<()> {
    /// Bytes of such a word.
    const BYTES: usize = 4;
    let (yes, what): (cl_bool, _) = (CL_TRUE, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM);
    // SAFETY: one such word, which the driver copies now.
    let told =
        unsafe { kernel::set_kernel_exec_info(kernel, what, BYTES, (&raw const yes).cast()) };
    told.map_err(|code| failure("naming memory", code))
}

/// A program of the driver.
#[derive(Debug)]
struct Owned(cl_program);

impl Owned {
    /// What the driver says of a text that it does not compile.
    fn said(&self, doing: &'static str, chosen: &Chosen, code: cl_int) -> DeviceError {
        match program::get_program_build_info(self.0, chosen.id, CL_PROGRAM_BUILD_LOG) {
            Ok(InfoType::VecUchar(log)) if !log.is_empty() => {
                let log = String::from_utf8_lossy(&log);
                DeviceError::BadImage(log.trim_end_matches(['\0', '\n']).to_owned())
            }
            _ => failure(doing, code),
        }
    }
}

impl Drop for Owned {
    #[allow(unsafe_code, reason = "a handle is given back")]
    fn drop(&mut self) {
        // SAFETY: the handle is ours; kernels of it keep what they need.
        let _ = unsafe { program::release_program(self.0) };
    }
}

/// What the driver has made of a text, in its own form.
fn binary(program: &Owned) -> Option<Vec<u8>> {
    match program::get_program_info(program.0, CL_PROGRAM_BINARIES) {
        // There is one device.
        Ok(InfoType::VecVecUchar(all)) => all.into_iter().next().filter(|it| !it.is_empty()),
        _ => None,
    }
}

/// The text of a file for devices that have so much of the standard.
fn of_level(file: &str, level: Level) -> Result<&str> {
    let (text, older) = file.split_once(OPENCL_12).map_or((file, None), |it| (it.0, Some(it.1)));
    let lacks = |why: &str| DeviceError::BadImage(format!("it has no text for OpenCL 1.2: {why}"));
    match (level, older) {
        (Level::V20, _) => Ok(text),
        (Level::V12, None) => Err(lacks("it was compiled without")),
        (Level::V12, Some(older)) => match older.strip_prefix(OPENCL_12_LACKS) {
            Some(why) => Err(lacks(why.trim_end())),
            None => Ok(older),
        },
    }
}

/// The name of the word for faults of a text, if it has one.
fn fault_of(text: &str) -> Option<&str> {
    let asks = [abi::names::ASKS_PREFIX, abi::names::FAULT, "_"].concat();
    let rest = text.get(text.find(&asks)? + abi::names::ASKS_PREFIX.len()..)?;
    rest.split(|it: char| !it.is_ascii_alphanumeric() && it != '_').next()
}

/// Bytes of a thread's stack, as a text for 1.2 says.
fn stack_of(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|it| it.strip_prefix(OPENCL_STACK))?;
    line.trim_end_matches("ul").parse().ok()
}

/// What linked texts have in common: a lock, and what tells each of them where its variables are.
fn in_common(files: &[String]) -> String {
    let enter = |file: &String| of_file(ENTER, file);
    let declare = |file: &String| format!("void {}(unsigned long at);\n", enter(file));
    let call = |(number, file): (usize, &String)| format!("  {}(each[{number}]);\n", enter(file));
    let declared: String = files.iter().map(declare).collect();
    let calls: String = files.iter().enumerate().map(call).collect();
    format!(
        "__global int {LOCK} = 0;\n{declared}void {ENTER}(unsigned long all)\n{{\n  \
         const __global unsigned long *each = (const __global unsigned long *)all;\n{calls}}}\n"
    )
}

/// The kernel of an image that tells where a variable is: it writes address and size.
pub(super) fn asking_for(variable: &CStr) -> Result<CString> {
    let name = [abi::names::ASKS_PREFIX.as_bytes(), variable.to_bytes()].concat();
    CString::new(name).map_err(|_| DeviceError::NotFound(String::new()))
}

/// The name of a kernel.
pub(super) fn name(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| DeviceError::NotFound(text.to_owned()))
}

/// A kernel, and how it wants to be run.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) module: Module,
    /// What it takes as one argument more.
    pub(super) variables: Option<DevicePtr>,
    /// Bytes of the stack of each of its threads, if it is told where that is.
    pub(super) stack: Option<usize>,
    /// Words in which it says what fault it found in itself.
    pub(super) faults: Vec<DevicePtr>,
    /// How many arguments it takes. Those beyond what it is passed are places that groups leave their parts
    /// of sums in.
    pub(super) parameters: usize,
    /// So many threads in each group, if it was compiled for that.
    pub(super) threads: Option<usize>,
    /// Threads in a group at most.
    pub(super) most: usize,
    handle: Mutex<Handle>,
}

#[derive(Debug)]
struct Handle {
    kernel: cl_kernel,
    /// The state of the device's memory that it was last told of.
    told: u64,
}

// SAFETY: the arguments of a kernel, which are part of it, are set by one thread at a time.
#[allow(unsafe_code, reason = "a handle behind a lock")]
unsafe impl Send for Handle {}

impl Entry {
    /// The kernel, for one who sets its arguments and starts it.
    pub(super) fn arguments(&self) -> Arguments<'_> {
        Arguments(self.handle.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Handle {
    #[allow(unsafe_code, reason = "a handle is given back")]
    fn drop(&mut self) {
        // SAFETY: the handle is ours; what was started keeps the kernel alive.
        let _ = unsafe { kernel::release_kernel(self.kernel) };
    }
}

/// A kernel that nobody else sets arguments of.
pub(super) struct Arguments<'a>(MutexGuard<'a, Handle>);

impl Arguments<'_> {
    pub(super) fn handle(&self) -> cl_kernel {
        self.0.kernel
    }

    /// Tells the driver what memory the kernel may reach through pointers in data.
    #[allow(unsafe_code, reason = "a list for the driver")]
    pub(super) fn reach(
        &mut self,
        changed: impl FnOnce(u64) -> Option<(u64, Vec<u64>)>,
    ) -> Result<()> {
        let Some((version, list)) = changed(self.0.told) else { return Ok(()) };
        if !list.is_empty() {
            // SAFETY: a list of addresses that this device handed out.
            unsafe {
                kernel::set_kernel_exec_info(
                    self.0.kernel,
                    CL_KERNEL_EXEC_INFO_SVM_PTRS,
                    list.len() * WORD,
                    list.as_ptr().cast::<c_void>(),
                )
            }
            .map_err(|code| failure("naming memory", code))?;
        }
        self.0.told = version;
        Ok(())
    }

    /// One argument.
    #[allow(unsafe_code, reason = "an argument for the driver")]
    pub(super) fn set(&self, index: usize, word: u64) -> Result<()> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        // SAFETY: all parameters of our kernels have 8 bytes; the driver copies them now.
        unsafe {
            kernel::set_kernel_arg(self.0.kernel, index, WORD, (&raw const word).cast::<c_void>())
        }
        .map_err(|code| failure("passing an argument", code))
    }
}
