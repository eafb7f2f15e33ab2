//! Bitcode of LLVM's compilers for NVIDIA's GPUs to assembly, which the driver finishes when a program begins.
//!
//! In: the bitcode of all files of a program for one GPU. Out: one text with LLVM's device library in it, and a second
//! one with the mathematical functions that it calls. These are NVIDIA's: from the library of a CUDA installation or of
//! pip's part of it, which makes them part of the kernels, else from NVRTC, which has them built in. Neither `ptxas` nor
//! `nvlink` is needed; `ptxas`, where it is, saves the driver its work.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use abi::image::{ImageKind, LINKED};
use cache::Key;

use super::bundle::Code;
use super::cuda::{FUNCTION, OLDEST, TRIPLE};
use super::gpus;
use super::host::{Host, Voice};
use super::image::Part;
use super::llvm::Native;
use super::nvidia::{self, Assembler, Compiler};
use super::{Context, Failure};

/// What LLVM's optimiser may put calls of into a kernel: the device library must have them when it runs.
const NEEDED: &[&str] = &[
    "__kmpc_get_hardware_num_threads_in_block",
    "__kmpc_get_hardware_thread_id_in_block",
    "__kmpc_get_warp_size",
    "__kmpc_barrier_simple_generic",
    "__kmpc_barrier_simple_spmd",
    "__kmpc_kernel_parallel",
    "__kmpc_kernel_end_parallel",
    "__kmpc_is_spmd_exec_mode",
    "__kmpc_alloc_shared",
    "__kmpc_free_shared",
];

/// What the device library of LLVM 19 lacks: what it calls for critical sections. And what is here in the place of its own: the
/// barrier of a parallel region with fewer threads than the block has, which waits for threads that never come. To ask how many
/// there are takes as long as a barrier, so that is left out where all regions have all threads (`ALL`).
const MENDED: &str = "\
void _ZN4impl15setCriticalLockEP10omp_lock_t(unsigned *lock) {
  while (__atomic_exchange_n(lock, 1u, __ATOMIC_RELAXED)) { }
  __nvvm_membar_gl();
}
void _ZN4impl17unsetCriticalLockEP10omp_lock_t(unsigned *lock) {
  __nvvm_membar_gl();
  __atomic_exchange_n(lock, 0u, __ATOMIC_RELAXED);
}
extern int omp_get_num_threads(void);
extern signed char __kmpc_is_spmd_exec_mode(void);
extern int __kmpc_get_hardware_num_threads_in_block(void);
extern void __kmpc_barrier_simple_spmd(void *, int);
void __kmpc_barrier(void *at, int me) {
  int is_spmd = __kmpc_is_spmd_exec_mode(), threads, is_part;
  if (ALL && is_spmd) return __kmpc_barrier_simple_spmd(at, me);
  threads = omp_get_num_threads();
  is_part = !is_spmd || threads != __kmpc_get_hardware_num_threads_in_block();
  if (threads <= 1) __nvvm_membar_gl();
  else if (is_part && threads < 32) __asm__ volatile(\"bar.warp.sync %0;\" :: \"r\"((1u << threads) - 1) : \"memory\");
  else if (is_part && threads % 32 == 0) __asm__ volatile(\"barrier.sync 7, %0;\" :: \"r\"(threads) : \"memory\");
  else __kmpc_barrier_simple_spmd(at, me);
}
";

/// Loops as flang 19 asks for them, by the number of iterations. LLVM's device library has the same names, and runs one
/// iteration more. flang asks for no barrier behind a loop that the threads of a team share, so the loop has it.
fn loops() -> String {
    let mut text = String::from(
        "extern int omp_get_thread_num(void), omp_get_team_num(void), omp_get_num_teams(void);\n\
         #define SHARE(TYPE, NAME, ME, ALL, END, ...) \\\n\
         void NAME(void *at, void (*body)(TYPE, void *), void *with, TYPE count, ##__VA_ARGS__) { \\\n\
         unsigned long long me = (ME), all = (ALL), i; \\\n\
         for (i = me; i < (unsigned long long)count; i += all) body((TYPE)i, with); END; }\n\
         #define NONE (void)0\n\
         #define MEET do { if (all > 1) __kmpc_barrier(at, (int)me); } while (0)\n",
    );
    for (ending, kind) in
        [("4", "int"), ("4u", "unsigned"), ("8", "long long"), ("8u", "unsigned long long")]
    {
        let (thread, threads) = ("omp_get_thread_num()", "omp_get_num_threads()");
        let (team, teams) = ("omp_get_team_num()", "omp_get_num_teams()");
        text.push_str(&format!(
            "SHARE({kind}, __kmpc_for_static_loop_{ending}, {thread}, {threads}, MEET, {kind} a, {kind} b)\n\
             SHARE({kind}, __kmpc_distribute_static_loop_{ending}, {team}, {teams}, NONE, {kind} a)\n\
             SHARE({kind}, __kmpc_distribute_for_static_loop_{ending}, \
             ({team} * (unsigned long long){threads} + {thread}), ({teams} * (unsigned long long){threads}), NONE, \
             {kind} a, {kind} b, {kind} c)\n"
        ));
    }
    text
}

/// Whether bytes have a word in them.
fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|it| it == word.as_bytes())
}

/// Where NVIDIA's library of mathematical functions lies in an installation, and its name.
const LIBDEVICE: &str = "nvvm/libdevice";
const LIBDEVICE_NAME: &str = "libdevice.10.bc";

/// What the names of NVIDIA's mathematical functions begin with, and what ours begin with that stand for them.
const MATHEMATICS: &str = "__nv_";
const OWN_MATHEMATICS: &str = "ferry_nv_";

/// The assembly of a program's bitcode, of one GPU. `shared` are the functions that C files offer or ask for.
pub(crate) fn assembly(
    cx: &Context<'_>,
    parts: &[Part],
    arch: &str,
    shared: &BTreeSet<String>,
) -> Result<Vec<Part>, Failure> {
    let llvm = cx.llvm(Native::Cplusplus).or_else(|_| cx.llvm(Native::Fortran))?;
    let Some(library) = llvm.library(&format!("libomptarget-nvptx-{arch}.bc")) else {
        return Err(Failure::told(&format!(
            "LLVM's device library for `{arch}` is missing (`libomptarget-nvptx-{arch}.bc` in `{}`)\n  help: `apt install \
             libomp-19-dev`, or name a GPU that it is there for, as in `--device cuda:sm_90`",
            llvm.libraries.display()
        )));
    };
    let clang = Host::exactly(llvm.clang().into_os_string(), cx.arguments.verbose);
    let has_mathematics = parts.iter().any(|it| has(&it.code.bytes, MATHEMATICS));
    let libdevice = if has_mathematics { libdevice() } else { None };
    let optimised = cx.arguments.level();
    let mut key = Key::new("nvptx").with(MENDED.as_bytes());
    key = key.with(loops().as_bytes()).with(arch.as_bytes()).with(optimised.as_bytes());
    key = key
        .with(clang.version())
        .with(libdevice.as_ref().map_or(&b""[..], |it| it.as_os_str().as_encoded_bytes()));
    for part in parts {
        key = key.with(&part.code.bytes);
    }
    let text = cx.cache.get(&key, || {
        let folder = cx.folder("nvptx")?;
        let mut words: Vec<OsString> = machine(arch, optimised);
        for (number, part) in parts.iter().enumerate() {
            let file = folder.join(format!("{number}.bc"));
            write(&file, &part.code.bytes)?;
            match number {
                0 => words.extend(["-x".into(), "ir".into(), file.into()]),
                _ => linked(&mut words, "-mlink-bitcode-file", file),
            }
        }
        let has_loops = parts.iter().any(|it| has(&it.code.bytes, "_static_loop_"));
        let mut with =
            vec!["-D", if asks_for_threads(&clang, parts, &folder)? { "ALL=0" } else { "ALL=1" }];
        with.extend(has_loops.then_some("-DLOOPS"));
        linked(&mut words, "-mlink-bitcode-file", needed(&clang, arch, &folder, &with)?);
        linked(&mut words, "-mlink-builtin-bitcode", library.clone());
        if let Some(libdevice) = &libdevice {
            linked(&mut words, "-mlink-builtin-bitcode", libdevice.clone());
        }
        let output = folder.join("program.ptx");
        words.extend(["-w".into(), "-S".into(), "-o".into(), output.clone().into()]);
        clang.run(&words, None, Voice::Kept)?.checked()?;
        fs::read(&output).map_err(|error| Failure::file("read", &output, &error))
    })?;
    let text = with_memory(&String::from_utf8_lossy(&text));
    // What would run them on the device is LLVM's linker's, and is not made here.
    if ["__init_array_object", "nvptx$device$init", "_GLOBAL__sub_I_"]
        .iter()
        .any(|it| text.contains(it))
    {
        return Err(Failure::told(
            "an object that is declared for devices has a constructor or destructor, which does not run on `cuda`\n  help: give it a \
             constant value, or set it in a region",
        ));
    }
    let (text, is_shared) = renamed(&text, shared);
    let names = undefined(&text);
    let is_there = |it: &&String| {
        OF_CUDA.contains(&it.as_str()) || it.starts_with(MATHEMATICS) || it.starts_with(FUNCTION)
    };
    if let Some(name) = names.iter().find(|it| !is_there(it)) {
        return Err(not_there(name));
    }
    let is_shared = is_shared || text.contains("\n.extern .global");
    let ending = if is_shared { gpus::LINKED } else { "" };
    let part = |name: &str, text: String| Part {
        name: name.to_owned(),
        code: Code {
            kind: ImageKind::Ptx,
            triple: TRIPLE.to_owned(),
            arch: format!("{arch}{ending}"),
            bytes: text.into_bytes(),
        },
    };
    let whole = "C++ and Fortran files";
    let mathematics: Vec<&String> = names.iter().filter(|it| it.starts_with(MATHEMATICS)).collect();
    let mark = format!("\n// {LINKED}llvm\n");
    if mathematics.is_empty() {
        if is_shared {
            return Ok(vec![part(whole, format!("{text}{mark}"))]);
        }
        let mut both = Vec::new();
        if let Some(bytes) = machine_code(cx, &text, arch)? {
            let mut made = part(whole, String::new());
            (made.code.kind, made.code.bytes) = (ImageKind::Cubin, bytes);
            both.push(made);
        }
        both.push(part(whole, text));
        return Ok(both);
    }
    let functions = functions(cx, &mathematics, arch)?;
    let text = text.replace(MATHEMATICS, OWN_MATHEMATICS);
    // One file with both: parts of one file belong together.
    Ok(vec![
        part(whole, format!("{text}{mark}")),
        part("mathematics", format!("{functions}{mark}")),
    ])
}

/// Functions that CUDA itself has for kernels.
const OF_CUDA: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];

/// What to say of a function that device code calls and that no file has.
fn not_there(name: &str) -> Failure {
    if name.starts_with("_Fortran") {
        return Failure::told(&format!(
            "device code calls `{name}` of Fortran's library, which is not there for `cuda`\n  help: write what it does as loops \
             (assignments of whole arrays, `print`, functions of arrays), or leave `cuda` out of `--device`"
        ));
    }
    Failure::told(&format!(
        "device code calls `{name}`, which no file defines for `cuda`\n  help: define it between `declare target` directives, or \
         leave `cuda` out of `--device`"
    ))
}

/// Machine code of a text that is whole, where NVIDIA's assembler is installed and a GPU was named.
fn machine_code(cx: &Context<'_>, text: &str, arch: &str) -> Result<Option<Vec<u8>>, Failure> {
    let number = arch.strip_prefix("sm_").and_then(|it| it.parse().ok()).unwrap_or(0);
    let Some(assembler) = (number > OLDEST).then(Assembler::find).flatten() else {
        return Ok(None);
    };
    let key = Key::new("ptxas").with(&assembler.about()).with(arch.as_bytes());
    let made = cx.cache.get(&key.with(text.as_bytes()), || {
        let scratch = cx.folder("ptxas")?;
        Ok::<_, Failure>(assembler.assemble(text, arch, &scratch).unwrap_or_default())
    })?;
    Ok(Some(made).filter(|it| !it.is_empty()))
}

/// The text with functions that are shared under the names they have in C files, and whether it has any.
fn renamed(text: &str, shared: &BTreeSet<String>) -> (String, bool) {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '$';
    let mut out = String::with_capacity(text.len());
    let mut has_any = false;
    let mut rest = text;
    while let Some(begin) = rest.find(is_of_name) {
        let (before, after) = rest.split_at(begin);
        let (name, after) = after.split_at(after.find(|it| !is_of_name(it)).unwrap_or(after.len()));
        out.push_str(before);
        if shared.contains(name) {
            has_any = true;
            out.push_str(FUNCTION);
        }
        out.push_str(name);
        rest = after;
    }
    out.push_str(rest);
    (out, has_any)
}

/// The device library asks for memory if there is some to be had; CUDA has, and knows these names only so.
fn with_memory(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let name = line.trim_end().rsplit([' ', ')']).next().unwrap_or_default();
        let is_memory = line.starts_with(".weak .func") && ["malloc", "free"].contains(&name);
        lines.push(if is_memory { line.replacen(".weak", ".extern", 1) } else { line.to_owned() });
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What every run of clang on bitcode is told.
fn machine(arch: &str, optimised: &str) -> Vec<OsString> {
    let target = format!("--target={TRIPLE}");
    let march = format!("-march={arch}");
    ["-nogpulib", &target, &march, optimised].iter().map(OsString::from).collect()
}

fn linked(words: &mut Vec<OsString>, flag: &str, file: PathBuf) {
    words.extend(["-Xclang".into(), flag.into(), "-Xclang".into(), file.into()]);
}

/// Bitcode that holds on to functions which the optimiser may ask for.
fn needed(clang: &Host, arch: &str, folder: &Path, with: &[&str]) -> Result<PathBuf, Failure> {
    let is_declared = |it: &&&str| MENDED.contains(**it);
    let declared = NEEDED.iter().filter(|it| !is_declared(it));
    let declared: String = declared.map(|it| format!("extern void {it}(void);\n")).collect();
    let list: Vec<String> = NEEDED.iter().map(|it| format!("(void (*)(void)){it}")).collect();
    let list = list.join(", ");
    let text = format!(
        "{MENDED}\n#ifdef LOOPS\n{}#endif\n{declared}__attribute__((used)) static void (*const __ferry_needed[])(void) = {{ {list} }};\n",
        loops()
    );
    let (source, output) = (folder.join("needed.c"), folder.join("needed.bc"));
    write(&source, text.as_bytes())?;
    let mut words = machine(arch, "-O1");
    let flags = ["-fconvergent-functions", "-w", "-c", "-emit-llvm", "-x", "c"];
    words.extend(flags.iter().chain(with).map(OsString::from));
    words.extend([source.into(), "-o".into(), output.clone().into()]);
    clang.run(&words, None, Voice::Kept)?.checked()?;
    Ok(output)
}

/// Whether a parallel region asks for a number of threads, or may. The numbers of parts are the files that they were written to.
fn asks_for_threads(clang: &Host, parts: &[Part], folder: &Path) -> Result<bool, Failure> {
    for (number, part) in parts.iter().enumerate() {
        if has(&part.code.bytes, "omp_set_num_threads") {
            return Ok(true);
        }
        if !has(&part.code.bytes, PARALLEL) {
            continue;
        }
        let [bitcode, text] = ["bc", "ll"].map(|it| folder.join(format!("{number}.{it}")));
        let mut words: Vec<OsString> =
            ["-w", "-O0", "-S", "-emit-llvm", "-x", "ir"].map(OsString::from).into();
        words.extend([bitcode.into(), "-o".into(), text.clone().into()]);
        clang.run(&words, None, Voice::Kept)?.checked()?;
        let text =
            fs::read_to_string(&text).map_err(|error| Failure::file("read", &text, &error))?;
        if calls_for_threads(&text) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What begins a parallel region.
const PARALLEL: &str = "__kmpc_parallel_51";

/// Whether a parallel region in LLVM's text has another number of threads than -1, which asks for all.
fn calls_for_threads(text: &str) -> bool {
    let calls = text.lines().filter(|it| it.contains(" call "));
    let mut arguments =
        calls.filter_map(|it| it.split_once(&format!("@{PARALLEL}("))?.1.split(", ").nth(3));
    arguments.any(|it| it != "i32 -1")
}

/// NVIDIA's library of mathematical functions, if CUDA is installed, or that part of it by pip.
fn libdevice() -> Option<PathBuf> {
    let folders = nvidia::installed().into_iter();
    let files = folders.map(|it| it.join(LIBDEVICE).join(LIBDEVICE_NAME));
    let installed = files.into_iter().find(|it| it.is_file());
    let of_pip = ["cuda_nvcc", "cu13"].map(|it| format!("{it}/{LIBDEVICE}"));
    let of_pip = of_pip.each_ref().map(String::as_str);
    installed.or_else(|| nvidia::of_python(&of_pip, &[LIBDEVICE_NAME]).into_iter().next())
}

/// The functions that a text calls and does not have.
fn undefined(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines().filter_map(|it| it.strip_prefix(".extern .func")) {
        let line = line.trim();
        // `(.param .b64 func_retval0) __nv_sin` or `f`
        let name = line.rsplit(')').next().unwrap_or(line).trim().trim_end_matches(['(', ';']);
        names.extend(name.split_whitespace().next().map(str::to_owned));
    }
    names
}

/// The text with mathematical functions under our names, by NVRTC.
fn functions(cx: &Context<'_>, names: &[&String], arch: &str) -> Result<String, Failure> {
    let mut text = String::new();
    for name in names {
        let plain = name.strip_prefix(MATHEMATICS).unwrap_or(name);
        let Some(definition) = definition(plain) else {
            return Err(Failure::told(&format!(
                "device code calls `{name}`, which only CUDA's own library has\n  help: install CUDA and set CUDA_HOME to its \
                 folder"
            )));
        };
        text.push_str(&definition);
    }
    let compiler = Compiler::find().map_err(|why| Failure::told(&why))?;
    let number: u32 = arch.strip_prefix("sm_").and_then(|it| it.parse().ok()).unwrap_or(0);
    let options = ["--std=c++17", "-w", "--relocatable-device-code=true"].map(str::to_owned);
    let key = Key::new("mathematics").with(compiler.about().as_bytes());
    let key = key.with(arch.as_bytes()).with(text.as_bytes());
    let ptx = cx.cache.get(&key, || {
        let scratch = cx.folder("cuda")?;
        let made = compiler.compile(text.as_bytes(), &options, number, &scratch);
        made.map(|it| it.ptx).map_err(|said| Failure::told(said.trim_end()))
    })?;
    Ok(String::from_utf8_lossy(&ptx).into_owned())
}

/// Functions of one number, by CUDA's names; with an `f` behind them they are those of `float`.
const UNARY: &[&str] = &[
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "logb",
    "sqrt",
    "rsqrt",
    "cbrt",
    "rcbrt",
    "ceil",
    "floor",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "fabs",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "erfcx",
    "tgamma",
    "lgamma",
    "j0",
    "j1",
    "y0",
    "y1",
    "sinpi",
    "cospi",
    "normcdf",
    "normcdfinv",
];
/// The same of two.
const BINARY: &[&str] = &[
    "pow",
    "atan2",
    "fmod",
    "fmax",
    "fmin",
    "hypot",
    "fdim",
    "copysign",
    "remainder",
    "nextafter",
];
/// Those of `float` that are less exact.
const FAST: &[&str] =
    &["sinf", "cosf", "tanf", "expf", "exp10f", "logf", "log2f", "log10f", "powf"];

/// The definition of a function by its name without what all begin with.
fn definition(name: &str) -> Option<String> {
    let define = |result: &str, params: &str, value: String| {
        Some(format!(
            "extern \"C\" __device__ {result} {OWN_MATHEMATICS}{name}({params}) {{ return {value}; }}\n"
        ))
    };
    if let Some(fast) = name.strip_prefix("fast_").filter(|it| FAST.contains(it)) {
        return match fast {
            "powf" => define("float", "float x, float y", "__powf(x, y)".to_owned()),
            _ => define("float", "float x", format!("__{fast}(x)")),
        };
    }
    // What asks about a number has the type at its end, whole numbers have none.
    let special: Option<(&str, &str, &str)> = match name {
        "isnand" => Some(("int", "double x", "isnan(x)")),
        "isnanf" => Some(("int", "float x", "isnan(x)")),
        "isinfd" => Some(("int", "double x", "isinf(x)")),
        "isinff" => Some(("int", "float x", "isinf(x)")),
        "isfinited" => Some(("int", "double x", "isfinite(x)")),
        "finitef" => Some(("int", "float x", "isfinite(x)")),
        "signbitd" => Some(("int", "double x", "signbit(x)")),
        "signbitf" => Some(("int", "float x", "signbit(x)")),
        "abs" => Some(("int", "int x", "abs(x)")),
        "llabs" => Some(("long long", "long long x", "llabs(x)")),
        "min" => Some(("int", "int x, int y", "min(x, y)")),
        "max" => Some(("int", "int x, int y", "max(x, y)")),
        _ => None,
    };
    if let Some((result, params, value)) = special {
        return define(result, params, value.to_owned());
    }
    let known = |it: &str| {
        UNARY.contains(&it) || BINARY.contains(&it) || OTHERS.iter().any(|that| that.0 == it)
    };
    let (base, number) = match name.strip_suffix('f').filter(|it| known(it) && !known(name)) {
        Some(base) => (base, "float"),
        None => (name, "double"),
    };
    let called = if number == "float" { format!("{base}f") } else { base.to_owned() };
    if UNARY.contains(&base) {
        return define(number, &format!("{number} x"), format!("{called}(x)"));
    }
    if BINARY.contains(&base) {
        return define(number, &format!("{number} x, {number} y"), format!("{called}(x, y)"));
    }
    let (_, result, params, value) = OTHERS.iter().find(|it| it.0 == base)?;
    let typed = |text: &str| text.replace("REAL", number).replace("NAME", &called);
    define(&typed(result), &typed(params), typed(value))
}

/// Name, result, parameters and value of other functions of both types.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("fma", "REAL", "REAL x, REAL y, REAL z", "NAME(x, y, z)"),
    ("sincos", "void", "REAL x, REAL *s, REAL *c", "NAME(x, s, c)"),
    ("sincospi", "void", "REAL x, REAL *s, REAL *c", "NAME(x, s, c)"),
    ("frexp", "REAL", "REAL x, int *e", "NAME(x, e)"),
    ("modf", "REAL", "REAL x, REAL *i", "NAME(x, i)"),
    ("ldexp", "REAL", "REAL x, int e", "NAME(x, e)"),
    ("scalbn", "REAL", "REAL x, int e", "NAME(x, e)"),
    ("powi", "REAL", "REAL x, int e", "pow(x, e)"),
    ("ilogb", "int", "REAL x", "NAME(x)"),
    ("llrint", "long long", "REAL x", "NAME(x)"),
    ("llround", "long long", "REAL x", "NAME(x)"),
    ("jn", "REAL", "int n, REAL x", "NAME(n, x)"),
    ("yn", "REAL", "int n, REAL x", "NAME(n, x)"),
    ("remquo", "REAL", "REAL x, REAL y, int *q", "NAME(x, y, q)"),
];

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::file("write", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_missing_are_found_in_assembly() {
        let text = ".extern .func  (.param .b64 func_retval0) __nv_sin\n(\n\t.param .b64 __nv_sin_param_0\n)\n;\n\
                    .extern .func __nv_sincos\n(\n.visible .func f(\n";
        let names: Vec<String> = undefined(text).into_iter().collect();
        assert_eq!(names, ["__nv_sin", "__nv_sincos"]);
    }

    #[test]
    fn shared_functions_have_the_names_of_c_files() {
        let shared = BTreeSet::from(["add".to_owned()]);
        let (text, has_any) =
            renamed(".extern .func add\ncall add, (add_param_0);\nmov add2;\n", &shared);
        let expected =
            ".extern .func __ferry_f_add\ncall __ferry_f_add, (add_param_0);\nmov add2;\n";
        assert_eq!((text.as_str(), has_any), (expected, true));
        assert_eq!(renamed("no such name", &shared), ("no such name".to_owned(), false));
    }

    #[test]
    fn parallel_regions_that_ask_for_threads_are_found() {
        let call = |threads: &str| {
            format!(
                "  tail call void @__kmpc_parallel_51(ptr nonnull @1, i32 %6, i32 1, i32 {threads}, i32 -1, ptr @f, ptr null)\n"
            )
        };
        let declared =
            "declare void @__kmpc_parallel_51(ptr, i32, i32, i32, i32, ptr, ptr, ptr, i64)\n";
        assert!(!calls_for_threads(&format!("{declared}{}", call("-1"))));
        assert!(calls_for_threads(&format!("{declared}{}{}", call("-1"), call("8"))));
        assert!(calls_for_threads(&call("%7")));
    }

    #[test]
    fn memory_is_that_of_cuda() {
        let text = ".weak .func  (.param .b64 func_retval0) malloc\n(\n.weak .func free\n.weak .func mine\n";
        let expected = ".extern .func  (.param .b64 func_retval0) malloc\n(\n.extern .func free\n.weak .func mine\n";
        assert_eq!(with_memory(text), expected);
    }

    #[test]
    fn mathematics_has_both_types() {
        let text = |name: &str| definition(name).unwrap_or_default();
        assert!(text("sin").contains("double ferry_nv_sin(double x) { return sin(x); }"));
        assert!(text("sinf").contains("float ferry_nv_sinf(float x) { return sinf(x); }"));
        assert!(text("erf").contains("double ferry_nv_erf(double x) { return erf(x); }"));
        assert!(text("erff").contains("float ferry_nv_erff(float x) { return erff(x); }"));
        assert!(
            text("powif").contains("float ferry_nv_powif(float x, int e) { return pow(x, e); }")
        );
        assert!(text("atan2").contains("(double x, double y) { return atan2(x, y); }"));
        assert!(text("fast_expf").contains("return __expf(x)"));
        assert!(text("sincosf").contains("void ferry_nv_sincosf(float x, float *s, float *c)"));
        assert_eq!(definition("no_such_function"), None);
    }
}
