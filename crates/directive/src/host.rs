//! What a host compiler must be told so that its preprocessor leaves directives fit to read.

use ir::construct::Dialect;

use crate::{OPENACC, OPENMP};

/// Switches both standards on, so that macros in their pragmas are expanded, and names the versions
/// that Ferry reads: OpenMP 5.2 and OpenACC 3.3.
pub const PREPROCESSOR_FLAGS: &[&str] = &[
    "-fopenmp",
    "-fopenacc",
    "-U_OPENMP",
    "-D_OPENMP=202111",
    "-U_OPENACC",
    "-D_OPENACC=202211",
    "-D__FERRY__=1",
];

/// The flags that name another version of OpenMP than the one above.
pub fn version_flags(version: &str) -> [String; 2] {
    ["-U_OPENMP".to_owned(), format!("-D_OPENMP={version}")]
}

/// The same for the standards that are not in `off`.
pub fn preprocessor_flags(off: &[Dialect]) -> Vec<&'static str> {
    let belongs_to_one_off = |flag: &str| {
        let flag = flag.to_ascii_lowercase();
        off.contains(&OPENMP) && flag.contains("openmp")
            || off.contains(&OPENACC) && flag.contains("openacc")
    };
    PREPROCESSOR_FLAGS.iter().copied().filter(|flag| !belongs_to_one_off(flag)).collect()
}

/// The standard whose directives the host compiler compiles by itself where no device is involved.
pub const HOST_DIALECT: Dialect = OPENMP;

/// What the host compiler needs to compile the directives that are left to it in a text of the user's.
/// It would answer at compile time whether code runs on the host, which our runtime knows better.
pub fn host_compiler_flags(off: &[Dialect]) -> &'static [&'static str] {
    if off.contains(&OPENMP) { &["-fno-builtin-acc_on_device"] } else { ON_HOST }
}

/// The same for a text of ours: directives of either standard may have become some that are left to it.
pub fn generated_flags(off: &[Dialect]) -> &'static [&'static str] {
    if is_all_off(off) { &["-fno-builtin-acc_on_device"] } else { ON_HOST }
}

/// A text of ours with the types that clang looks for by name, where it spells them as what they are.
pub fn fit_for_clang(text: &str) -> String {
    let mut fit = "typedef enum omp_event_handle_t omp_event_handle_t;\n".to_owned();
    let has_allocators = text.contains("(enum omp_allocator_handle_t)");
    for line in text.split_inclusive('\n') {
        fit.push_str(line);
        // Clauses about allocators are understood where all that are predefined have been seen.
        if has_allocators && line.starts_with("enum omp_allocator_handle_t {") {
            fit.push_str("typedef enum omp_allocator_handle_t omp_allocator_handle_t;\n");
            for (number, name) in ALLOCATORS.iter().enumerate() {
                fit.push_str(&format!("static const omp_allocator_handle_t {name} = {number};\n"));
            }
        }
    }
    fit
}

/// Predefined allocators, by number.
const ALLOCATORS: [&str; 9] = [
    "omp_null_allocator",
    "omp_default_mem_alloc",
    "omp_large_cap_mem_alloc",
    "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc",
    "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",
    "omp_thread_mem_alloc",
];

/// Of these, those whose memory is for threads that run on one unit of a device.
pub const GROUP_ALLOCATORS: [i64; 2] = [6, 7];

/// And the one whose memory is for a thread alone.
pub const THREAD_ALLOCATOR: i64 = 8;

/// The flag that makes the host compiler link its own runtime.
pub fn host_linker_flags(off: &[Dialect]) -> &'static [&'static str] {
    if is_all_off(off) { &[] } else { &["-fopenmp"] }
}

const ON_HOST: &[&str] =
    &["-fopenmp", "-fno-builtin-omp_is_initial_device", "-fno-builtin-acc_on_device"];

fn is_all_off(off: &[Dialect]) -> bool {
    off.contains(&OPENMP) && off.contains(&OPENACC)
}

/// The text without the lines that are directives of a standard which is off: what is made of those of
/// another must be compiled in a way that would wake them.
pub fn without_directives(text: &[u8], off: &[Dialect]) -> Option<Vec<u8>> {
    if !off.contains(&HOST_DIALECT) || is_all_off(off) {
        return None;
    }
    let is_off = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let Some(rest) = line.trim_start().strip_prefix('#') else { return false };
        let mut words = rest.split_whitespace();
        words.next() == Some("pragma") && words.next().is_some_and(|it| it == "omp" || it == "ompx")
    };
    let mut left = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|it| *it == b'\n') {
        if is_off(line) { left.push(b'\n') } else { left.extend_from_slice(line) }
    }
    Some(left)
}

/// Flags for a link of a program with regions: what it measures with the C library's clocks are regions that are done.
pub const CLOCK_LINKER_FLAGS: &str =
    "-Wl,--wrap=clock_gettime,--wrap=gettimeofday,--wrap=time,--wrap=clock,--wrap=timespec_get";

/// What a program without shared libraries needs besides: calls that ours answers before that runtime's go
/// to ours, and the parts of it that they then go to are linked. These bring definitions of theirs for
/// other routines of ours; the first, ours, is the one.
pub const STATIC_LINKER_FLAGS: &[&str] = &[
    "-Wl,--wrap=GOMP_task,--wrap=GOMP_taskloop,--wrap=GOMP_taskloop_ull",
    "-Wl,--wrap=GOMP_taskwait,--wrap=GOMP_taskwait_depend,--wrap=GOMP_taskgroup_end",
    "-Wl,--wrap=GOMP_barrier,--wrap=omp_get_default_device,--wrap=omp_set_default_device",
    "-Wl,--wrap=omp_init_allocator,--wrap=omp_destroy_allocator,--wrap=omp_realloc",
    "-Wl,--wrap=omp_alloc,--wrap=omp_aligned_alloc,--wrap=omp_calloc,--wrap=omp_aligned_calloc",
    "-Wl,--wrap=omp_free,--wrap=omp_get_wtime,--wrap=GOMP_alloc,--wrap=GOMP_free",
    "-Wl,--wrap=omp_get_default_allocator,--wrap=omp_set_default_allocator",
    "-Wl,--undefined=omp_fulfill_event,--undefined=omp_get_level,--undefined=gomp_ialias_omp_get_default_device",
    "-Wl,--undefined=ferry_trace_functions,--undefined=GOMP_barrier_cancel,--undefined=gomp_ialias_omp_get_default_allocator",
    "-Wl,-z,muldefs",
];

/// That runtime, where a build names it as a library; ours must come before it.
pub const HOST_LIBRARY: &str = "gomp";

/// The type that allocators must have in clauses for the host's compiler, and its definition for
/// texts without headers.
pub const ALLOCATOR_TYPE: (&str, &str) = (
    "enum omp_allocator_handle_t",
    "enum omp_allocator_handle_t { __ferry_no_allocator, \
     __ferry_last_allocator = ~(sizeof(0) & 0) };\n",
);

/// The same of events that end tasks: the name of an enumeration.
pub const EVENT_TYPE: (&str, &str) = (
    "omp_event_handle_t",
    "enum omp_event_handle_t { __ferry_no_event, __ferry_last_event = ~(sizeof(0) & 0) };\n",
);

/// `word (word space, int count, const void *traits)` makes an allocator, `void (word)` ends it.
pub const ALLOCATOR_CALLS: (&str, &str) = ("omp_init_allocator", "omp_destroy_allocator");

/// What stands before a loop whose rounds the host's compiler may run side by side.
pub const LANES: &str = "#pragma omp simd";

/// `int (void)`: whether the calling thread is on the host and not on a device.
pub const IS_ON_HOST: &str = "omp_is_initial_device";
/// `int (void)`: which team of its league the calling thread belongs to.
pub const TEAM_NUMBER: &str = "omp_get_team_num";
/// `int (void)`: the device that is used where none is named.
pub const DEFAULT_DEVICE: &str = "omp_get_default_device";
/// `void (int)`: sets it.
pub const SET_DEFAULT_DEVICE: &str = "omp_set_default_device";

/// C for the host compiler: how many threads its runtime gives to a parallel region, and the declaration
/// of what is called for that.
pub const MOST_THREADS: (&str, &str) =
    ("omp_get_max_threads()", "extern int omp_get_max_threads(void);");

/// Beginnings of symbols that our runtime or the host's answers.
pub const RUNTIME_SYMBOLS: &[&str] = &["__tgt_", "omp_", "GOMP_", "acc_", "GOACC_"];

/// Whether the host compiler refuses a call of this function directly inside a league of teams.
pub fn is_refused_in_teams(function: &str) -> bool {
    function.starts_with("omp_") && !matches!(function, "omp_get_team_num" | "omp_get_num_teams")
}

/// C for the host compiler: an `if` that is true where its runtime would give a parallel region fewer
/// threads than `wanted`, a variable, holds.
pub fn fewer_threads(wanted: &str) -> String {
    format!(
        "extern int omp_get_thread_limit(void), omp_get_active_level(void), \
         omp_get_max_active_levels(void), omp_get_dynamic(void), omp_get_num_procs(void);\n\
         if ({wanted} > omp_get_thread_limit() \
         || ({wanted} > 1 && omp_get_active_level() >= omp_get_max_active_levels()) \
         || (omp_get_dynamic() && {wanted} > omp_get_num_procs()))"
    )
}

/// A line for the host compiler: one thread runs what follows with its own copy of a variable, which begins as the reduction says and is
/// then combined with it.
pub fn alone_sum(reduction: &str, var: &str) -> String {
    format!("#pragma omp parallel num_threads(1) reduction({reduction}: {var})")
}

/// A line for the host compiler that declares how values of a type are combined, and with what copies of them begin.
pub fn declared_reduction(name: &str, ty: &str, combiner: &str, first: &str) -> String {
    format!(
        "#pragma omp declare reduction({name} : {ty} : {combiner}) initializer(omp_priv = {first})"
    )
}

/// Routines that the host's threading runtime lacks, each with C that has one of its name for code of a device.
pub const LACKING_ROUTINES: &[(&str, &str)] = &[
    ("omp_init_lock_with_hint", "extern void __ferry_init_lock(void *) __asm__(\"omp_init_lock\");
void __ferry_hinted_lock(void *, int) __asm__(\"omp_init_lock_with_hint\");
__attribute__((weak)) void __ferry_hinted_lock(void *lock, int hint) { (void)hint; __ferry_init_lock(lock); }
"),
    ("omp_init_nest_lock_with_hint", "extern void __ferry_init_nest_lock(void *) __asm__(\"omp_init_nest_lock\");
void __ferry_hinted_nest_lock(void *, int) __asm__(\"omp_init_nest_lock_with_hint\");
__attribute__((weak)) void __ferry_hinted_nest_lock(void *lock, int hint) { (void)hint; __ferry_init_nest_lock(lock); }
"),
];

/// C for the host compiler: names of ours for calls of the runtime that allocate and release. The program may declare the calls itself, or not.
pub const STORAGE_CALLS: &str = "\
extern void *__ferry_aligned_alloc(unsigned long, unsigned long, unsigned long) \
__asm__(\"omp_aligned_alloc\");
extern void __ferry_release(void *, unsigned long) __asm__(\"omp_free\");
static __inline__ __attribute__((unused)) void __ferry_drop(void *__p) \
{ __ferry_release(*(void **)__p, 0); }
";

/// A flag of a compiler that switches a standard on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Which standard.
    pub dialect: Dialect,
    /// On or off.
    pub on: bool,
    /// How the host compiler, which knows GNU's flags, spells it.
    pub host: &'static str,
}

/// What a flag of gcc, clang or NVIDIA's compiler says of a standard as a whole.
pub fn switch(flag: &str) -> Option<Switch> {
    let (name, _) = flag.split_once('=').unwrap_or((flag, ""));
    let (dialect, on, host) = match name {
        "-fopenmp" | "-mp" | "-qopenmp" | "-fiopenmp" | "-qsmp" => (OPENMP, true, "-fopenmp"),
        "-fno-openmp" | "-nomp" | "-qno-openmp" | "-fno-iopenmp" => (OPENMP, false, "-fno-openmp"),
        "-fopenacc" | "-acc" => (OPENACC, true, "-fopenacc"),
        "-fno-openacc" | "-noacc" => (OPENACC, false, "-fno-openacc"),
        _ => return None,
    };
    Some(Switch { dialect, on, host })
}

/// Routines about devices that a program without our runtime brings along.
pub const STANDALONE_ROUTINES: &[&str] = &[
    "omp_get_num_devices",
    "omp_get_initial_device",
    "omp_get_default_device",
    "omp_set_default_device",
    "omp_is_initial_device",
    "omp_get_device_num",
    "omp_target_alloc",
    "omp_target_free",
    "omp_target_memcpy",
    "omp_target_is_present",
    "omp_get_mapped_ptr",
    "acc_get_num_devices",
    "acc_get_device_num",
    "acc_get_device_type",
    "acc_on_device",
    "acc_set_device_type",
    "acc_set_device_num",
    "acc_copyin_async",
    "acc_create_async",
    "acc_copyout_async",
    "acc_delete_async",
    "acc_update_device_async",
    "acc_update_self_async",
    "acc_attach",
    "acc_detach",
    "acc_init",
    "acc_shutdown",
    "acc_wait",
    "acc_wait_all",
    "acc_async_test",
    "acc_async_test_all",
    "acc_malloc",
    "acc_free",
    "acc_copyin",
    "acc_create",
    "acc_copyout",
    "acc_delete",
    "acc_update_device",
    "acc_update_self",
    "acc_is_present",
    "acc_deviceptr",
    "acc_memcpy_to_device",
    "acc_memcpy_from_device",
];

/// Whether a routine is about devices, so that the host's threading runtime cannot answer for ours.
pub fn asks_devices(name: &str) -> bool {
    const ABOUT: &[&str] = &["device", "target", "mapped_ptr", "interop", "pause_resource"];
    name.starts_with("acc_")
        || name.strip_prefix("omp_").is_some_and(|it| ABOUT.iter().any(|word| it.contains(word)))
}

/// The headers of both standards' APIs, which Ferry brings along.
pub const HEADERS: &[&str] = &["omp.h", "openacc.h"];

/// Whether a pragma that begins with this word is ours to read.
pub fn is_directive_word(word: &str) -> bool {
    matches!(word, "omp" | "ompx" | "acc" | "openarc" | "unroll")
}

/// Whether a routine asks for what a clause of tasks makes true, which nobody remembers on a grid.
pub fn asks_final(name: &str) -> bool {
    name == "omp_in_final"
}

/// What a routine of the runtime answers to the one thread that runs a region: its parameters, and the
/// answer, as a macro has them; none if it must be asked.
pub fn alone_answer(name: &str) -> Option<&'static str> {
    Some(match name {
        // A team of one is no active one.
        "omp_get_thread_num"
        | "omp_get_team_num"
        | "omp_get_active_level"
        | "omp_in_parallel"
        | "omp_get_dynamic"
        | "omp_get_cancellation"
        | "omp_get_nested"
        | "omp_get_max_task_priority"
        | "omp_get_num_places"
        | "omp_get_partition_num_places"
        | "omp_get_proc_bind"
        | "omp_get_teams_thread_limit"
        | "omp_in_final"
        | "omp_is_initial_device" => "() 0",
        "omp_get_place_num" => "() (-1)",
        // Nobody has set it: static, without chunks.
        "omp_get_schedule" => {
            "(kind, chunk) ((void)(*(__ferry_far int *)(kind) = 1), (void)(*(__ferry_far int *)(chunk) = 0))"
        }
        "omp_get_num_threads"
        | "omp_get_num_teams"
        | "omp_get_max_threads"
        | "omp_get_num_procs"
        | "omp_get_thread_limit"
        // A team inside a team has one thread.
        | "omp_get_max_active_levels"
        | "omp_get_supported_active_levels" => "() 1",
        // Sizes of teams are what they are asked for; in one thread a parallel region has no others.
        "omp_set_num_threads"
        | "omp_set_dynamic"
        | "omp_set_nested"
        | "omp_set_max_active_levels" => "(value) ((void)(value))",
        "omp_init_lock" | "omp_init_nest_lock" | "omp_unset_lock" => "(lock) __ferry_lock_put(lock)",
        "omp_init_lock_with_hint" | "omp_init_nest_lock_with_hint" => {
            "(lock, hint) __ferry_lock_put(lock)"
        }
        "omp_destroy_lock" | "omp_destroy_nest_lock" => "(lock) ((void)(lock))",
        "omp_set_lock" => "(lock) __ferry_lock_set(lock)",
        "omp_test_lock" => "(lock) __ferry_lock_took(lock)",
        "omp_set_nest_lock" => "(lock) __ferry_lock_nest(lock)",
        "omp_unset_nest_lock" => "(lock) __ferry_lock_unnest(lock)",
        "omp_test_nest_lock" => "(lock) __ferry_lock_nested(lock)",
        // As many as the device is given.
        "omp_get_max_teams" => "() 0",
        "omp_get_device_num" => "() __ferry_device",
        // Tasks have ended where they were met.
        "omp_fulfill_event" => "(event) ((void)(event))",
        "omp_get_default_allocator" => "() 1",
        "omp_init_allocator" => {
            "(space, count, traits) __ferry_make_allocator(space, count, traits)"
        }
        "omp_destroy_allocator" => "(allocator) __ferry_end_allocator(allocator)",
        "omp_alloc" => "(size, allocator) __ferry_room(__ferry_alignment(allocator), size)",
        "omp_aligned_alloc" => {
            "(align, size, allocator) __ferry_room(__ferry_wider(align, __ferry_alignment(allocator)), size)"
        }
        "omp_calloc" => {
            "(count, size, allocator) __ferry_cleared(__ferry_alignment(allocator), count, size)"
        }
        "omp_aligned_calloc" => {
            "(align, count, size, allocator) \
             __ferry_cleared(__ferry_wider(align, __ferry_alignment(allocator)), count, size)"
        }
        "omp_free" => "(memory, allocator) __ferry_leave(memory)",
        "acc_on_device" => "(type) ((int)(type) != 0 && (int)(type) != 2)",
        _ => return None,
    })
}

/// The answer of a routine to one thread of a device, if that is a number; of arguments that are constants their values.
pub fn alone_number(name: &str, arguments: &[Option<i64>]) -> Option<i64> {
    match (name, arguments) {
        // As the text above has it: neither none nor the host.
        ("acc_on_device", [Some(kind)]) => Some(i64::from(*kind != 0 && *kind != 2)),
        _ => {
            let number = alone_answer(name)?.strip_prefix("() ")?;
            number.trim_matches(['(', ')']).parse().ok()
        }
    }
}

/// What code may ask about the threads and teams that run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrewQuery {
    /// My number in the team.
    ThreadNumber,
    /// How many threads the team has.
    Threads,
    /// How many threads a team would have that began here.
    MostThreads,
    /// How many threads a team that begins here is to have.
    SetThreads,
    /// How many threads the league lets a team have.
    ThreadLimit,
    /// The number of my team.
    TeamNumber,
    /// How many teams there are.
    Teams,
    /// Whether more than one thread runs this.
    InParallel,
    /// How many parallel regions are around.
    Level,
    /// How many of them have more than one thread.
    ActiveLevel,
    /// The number that I or my ancestor had at a level.
    AncestorNumber,
    /// How many threads the team of a level has.
    TeamSize,
}

/// The question that a routine asks, if it is one about threads and teams.
pub fn crew_query(name: &str) -> Option<CrewQuery> {
    Some(match name {
        "omp_get_thread_num" => CrewQuery::ThreadNumber,
        "omp_get_num_threads" => CrewQuery::Threads,
        "omp_get_max_threads" => CrewQuery::MostThreads,
        "omp_set_num_threads" => CrewQuery::SetThreads,
        "omp_get_thread_limit" => CrewQuery::ThreadLimit,
        "omp_get_team_num" => CrewQuery::TeamNumber,
        "omp_get_num_teams" => CrewQuery::Teams,
        "omp_in_parallel" => CrewQuery::InParallel,
        "omp_get_level" => CrewQuery::Level,
        "omp_get_active_level" => CrewQuery::ActiveLevel,
        "omp_get_ancestor_thread_num" => CrewQuery::AncestorNumber,
        "omp_get_team_size" => CrewQuery::TeamSize,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_that_is_off_leaves_no_flag() {
        assert_eq!(preprocessor_flags(&[]), PREPROCESSOR_FLAGS);
        let left = preprocessor_flags(&[OPENMP]);
        assert_eq!(left, ["-fopenacc", "-U_OPENACC", "-D_OPENACC=202211", "-D__FERRY__=1"]);
        assert_eq!(preprocessor_flags(&[OPENMP, OPENACC]), ["-D__FERRY__=1"]);
    }

    #[test]
    fn directives_that_are_off_are_taken_out() {
        let text = b"int a;\n # pragma omp parallel\n#pragma acc loop\n#pragma ompsomething\n";
        let left = without_directives(text, &[OPENMP]).map(|it| String::from_utf8(it).ok());
        let expected = "int a;\n\n#pragma acc loop\n#pragma ompsomething\n".to_owned();
        assert_eq!(left, Some(Some(expected)));
        assert_eq!(without_directives(text, &[OPENACC]), None);
        assert_eq!(without_directives(text, &[OPENACC, OPENMP]), None);
    }

    #[test]
    fn switches_are_told_from_flags_that_only_begin_alike() {
        let openmp = Switch { dialect: OPENMP, on: true, host: "-fopenmp" };
        for flag in ["-fopenmp", "-fopenmp=libomp", "-mp=gpu", "-qopenmp", "-fiopenmp", "-qsmp=omp"]
        {
            assert_eq!(switch(flag), Some(openmp), "{flag}");
        }
        assert_eq!(switch("-fno-openacc").map(|it| (it.dialect, it.on)), Some((OPENACC, false)));
        for flag in ["-fopenmp-simd", "-fopenacc-kernels", "-mpopcnt", "-account"] {
            assert_eq!(switch(flag), None, "{flag}");
        }
    }
}
