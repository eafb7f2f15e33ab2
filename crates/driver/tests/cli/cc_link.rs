//! `ferry cc` as a linker: libraries, order, the runtime, and device code in objects.

use std::fs;
use std::path::Path;
use std::process::Command;

use abi::image::{Container, ImageKind};

use super::support::{FERRY, Folder};

const ONE: &str = "static int half(void) { return 1; }\nint one(void) { return half(); }\n";
const TWO: &str = "static int half(void) { return 2; }\nint two(void) { return half(); }\n";
const SUM: &str = "int one(void); int two(void); int main(void) { return one() + two() - 3; }\n";

fn parts() -> Folder {
    let folder = Folder::new();
    folder.write("one.c", ONE).write("two.c", TWO).write("main.c", SUM);
    folder
}

#[test]
fn separate_compilation_keeps_static_names_apart() {
    let folder = parts();
    folder.ferry(&["cc", "-c", "one.c", "two.c", "main.c"]).is_clean();
    folder.ferry(&["cc", "one.o", "two.o", "main.o", "-o", "sum"]).is_clean();
    assert_eq!(folder.run("sum", &[]).status, Some(0));
    folder.ferry(&["cc", "one.o", "two.c", "main.c", "-o", "mixed"]).is_clean();
    assert_eq!(folder.run("mixed", &[]).status, Some(0));
}

#[test]
fn inputs_of_one_name_do_not_meet() {
    let folder = parts();
    for (place, file) in [("a", "one.c"), ("b", "two.c")] {
        fs::create_dir(folder.path(place)).expect("a folder");
        fs::rename(folder.path(file), folder.path(&format!("{place}/same.c"))).expect("moved");
    }
    folder.ferry(&["cc", "a/same.c", "b/same.c", "main.c", "-o", "sum"]).is_clean();
    assert_eq!(folder.run("sum", &[]).status, Some(0));
}

#[test]
fn static_and_shared_libraries_are_found_in_their_places() {
    let folder = parts();
    folder.ferry(&["cc", "-c", "one.c", "two.c"]).is_clean();
    folder.run("ar", &["rcs", "libboth.a", "one.o", "two.o"]);
    folder.ferry(&["cc", "main.c", "-L.", "-lboth", "-o", "static"]).is_clean();
    assert_eq!(folder.run("static", &[]).status, Some(0));
    folder.ferry(&["cc", "-L.", "-lboth", "main.c", "-o", "x"]).fails(1, &["undefined reference"]);
    let all = [
        "cc",
        "-Wl,--whole-archive",
        "libboth.a",
        "-Wl,--no-whole-archive",
        "main.c",
        "-o",
        "whole",
    ];
    folder.ferry(&all).is_clean();
    folder.ferry(&["cc", "-shared", "-fPIC", "one.c", "two.c", "-o", "libshared.so"]).is_clean();
    let shared = [
        "cc", "main.c", "-L", ".", "-lshared", "-Xlinker", "-rpath", "-Xlinker", ".", "-o",
        "dynamic",
    ];
    folder.ferry(&shared).is_clean();
    assert_eq!(folder.run("dynamic", &[]).status, Some(0));
    // The linker warns of what a static C library cannot do.
    let alone = folder.ferry(&["cc", "-static", "main.c", "libboth.a", "-o", "alone"]);
    assert_eq!(alone.status, Some(0));
    assert_eq!(folder.run("alone", &[]).status, Some(0));
    folder.ferry(&["cc", "-r", "one.o", "two.o", "-o", "joined.o"]).is_clean();
    folder.ferry(&["cc", "joined.o", "main.c", "-o", "joined"]).is_clean();
    assert_eq!(folder.run("joined", &[]).status, Some(0));
}

/// Wrong unless the host's tasks, regions that are not waited for and the device of every thread are known
/// in a program that has its libraries in itself.
const TASKS: &str = "#include <omp.h>
int main(void) {
  int x = 0, seen = 0, is_in_task = 0, on_host = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(is_in_task)
    is_in_task = omp_in_explicit_task();
#pragma omp target nowait map(tofrom : x) depend(inout : x)
    x += 1;
#pragma omp taskwait
  }
#pragma omp target parallel num_threads(4) map(tofrom : on_host) reduction(+ : on_host)
  on_host += omp_is_initial_device();
#pragma omp target nowait map(tofrom : x) depend(out : x)
  x += 1;
#pragma omp task depend(in : x) shared(x, seen)
  seen = x;
#pragma omp taskwait
  return x != 2 || seen != 2 || !is_in_task || on_host;
}
";

#[test]
fn programs_without_shared_libraries_have_tasks() {
    let folder = Folder::new();
    folder.write("tasks.c", TASKS);
    for flags in [&[][..], &["-static"], &["--ferry-static-runtime"]] {
        let words = [&["cc", "-O1", "tasks.c", "-o", "tasks"], flags].concat();
        // The linker warns of what a static C library cannot do.
        assert_eq!(folder.ferry(&words).status, Some(0), "{flags:?}");
        assert_eq!(folder.run("tasks", &[]).status, Some(0), "{flags:?}");
    }
}

/// Wrong if the routines are those of the host compiler's runtime, which has most of them too.
const ROUTINES: &str = "#include <openacc.h>
#include <string.h>
int main(void) {
  int a[4] = {1, 2, 3, 4}, on = -1;
  acc_copyin(a, sizeof a);
#pragma acc parallel loop present(a) copyout(on)
  for (int i = 0; i < 4; i++) { a[i] *= 2; if (i == 0) on = acc_on_device(acc_device_not_host); }
  acc_wait_all();
  acc_copyout(a, sizeof a);
  const char *vendor = acc_get_property_string(0, acc_device_default, acc_property_vendor);
  return a[3] != 8 || on != 1 || acc_get_num_devices(acc_device_not_host) != 1 ||
         acc_is_present(a, sizeof a) || strcmp(vendor, \"Ferry\") != 0;
}
";

#[test]
fn routines_are_ours_however_a_program_is_linked() {
    let folder = Folder::new();
    folder.write("routines.c", ROUTINES);
    for flags in [&[][..], &["-lgomp"], &["-static"], &["--ferry-static-runtime"]] {
        let words = [&["cc", "-O1", "routines.c", "-o", "routines"], flags].concat();
        assert_eq!(folder.ferry(&words).status, Some(0), "{flags:?}");
        assert_eq!(folder.run("routines", &[]).status, Some(0), "{flags:?}");
    }
}

#[test]
fn programs_end_with_their_devices_however_they_are_linked() {
    let folder = Folder::new();
    folder.write(
        "end.c",
        "int main(void) {\n  int x = 1;\n#pragma omp target map(tofrom: x)\n  x++;\n  return x != 2;\n}\n",
    );
    for flags in [&[][..], &["-static"], &["--ferry-static-runtime"]] {
        let device = ["--device", "cpu:separate"];
        let words = [&["cc", "-O1", "end.c", "-o", "end"], &device[..], flags].concat();
        assert_eq!(folder.ferry(&words).status, Some(0), "{flags:?}");
        // Without a library there is nothing that the device's program lies beside.
        let beside = Path::new(FERRY).parent().unwrap().display();
        let beside = format!("FERRY_LIBEXEC={beside}");
        let words = [beside.as_str(), "FERRY_DEVICE=cpu:separate", "timeout", "60", "./end"];
        assert_eq!(folder.run("env", &words).status, Some(0), "{flags:?}");
    }
}

#[test]
fn languages_that_are_not_ours_are_the_host_compilers() {
    let folder = parts();
    folder.write(
        "one.s",
        "\t.globl one\none:\n\tmovl $1, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n",
    );
    folder.write("two.S", "#define N 2\n\t.globl two\ntwo:\n\tmovl $N, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n");
    if cfg!(target_arch = "x86_64") {
        folder.ferry(&["cc", "main.c", "one.s", "two.S", "-o", "sum"]).is_clean();
        assert_eq!(folder.run("sum", &[]).status, Some(0));
    }
    folder.write(
        "two.cpp",
        "namespace { int n() { return 2; } }\nextern \"C\" int two() { return n(); }\n",
    );
    if folder.run("cc", &["-c", "two.cpp", "-o", "host.o"]).status == Some(0) {
        folder.ferry(&["cc", "main.c", "one.c", "two.cpp", "-o", "mixed"]).is_clean();
        assert_eq!(folder.run("mixed", &[]).status, Some(0));
    } else {
        folder.ferry(&["cc", "-c", "two.cpp"]).fails(1, &["cc1plus"]);
    }
}

#[test]
fn a_program_that_calls_no_runtime_does_not_depend_on_one() {
    let folder = parts();
    folder.ferry(&["cc", "main.c", "one.c", "two.c", "-o", "plain"]).is_clean();
    let needs = folder.run("readelf", &["-d", "plain"]).out;
    assert!(!needs.contains("libgomp") && !needs.contains("libferry"), "{needs}");
    folder.write("par.c", "int main(void) {\nint n = 0;\n#pragma omp parallel reduction(+: n)\nn++;\nreturn n < 1; }\n");
    folder.ferry(&["cc", "par.c", "-o", "par", "-lgomp"]).is_clean();
    assert!(folder.run("readelf", &["-d", "par"]).out.contains("libgomp"));
    assert_eq!(folder.run("par", &[]).status, Some(0));
}

// ---------------------------------------------------------------- regions

const LIBRARY: &str = "\
#pragma omp declare target
static int factor = 2;
int scale(int x) { return x * factor; }
#pragma omp end declare target
int region(int n) {
#pragma omp target map(tofrom: n)
    n = scale(n);
    return n;
}
";

/// Wrong unless both regions run on a device, with the static variable of their own file.
const PROGRAM: &str = "\
#include <omp.h>
#include <stdio.h>
#pragma omp declare target
int scale(int);
static int factor = 5;
#pragma omp end declare target
int region(int);
int main(void) {
    int n = 3, on_host = 1;
#pragma omp target map(tofrom: n) map(from: on_host)
    {
        n = scale(n) + factor;
        on_host = omp_is_initial_device();
    }
    printf(\"%d %d %s\\n\", n, region(10), on_host ? \"host\" : \"device\");
    return 0;
}
";

#[test]
fn regions_run_on_devices_however_they_are_linked() {
    let folder = Folder::new();
    folder.write("lib.c", LIBRARY).write("main.c", PROGRAM);
    let build = |arguments: &[&str]| {
        folder.ferry(&[&["cc", "-Wall", "-Wextra"], arguments].concat()).is_clean();
    };
    build(&["-c", "-O2", "lib.c", "main.c"]);
    build(&["main.o", "lib.o", "-o", "objects"]);
    folder.run("ar", &["rcs", "libstatic.a", "lib.o"]);
    build(&["main.o", "-L.", "-lstatic", "-o", "archive"]);
    build(&["-shared", "-fPIC", "-g", "lib.c", "-o", "libdynamic.so"]);
    build(&["main.c", "-L.", "-ldynamic", "-Wl,-rpath,$ORIGIN", "-o", "shared"]);
    build(&["-r", "main.o", "lib.o", "-o", "joined.o"]);
    build(&["joined.o", "-o", "joined"]);
    build(&["--ferry-static-runtime", "main.c", "lib.c", "-o", "alone"]);
    build(&["-flto", "-O2", "main.c", "lib.c", "-o", "whole"]);
    for program in ["objects", "archive", "shared", "joined", "alone", "whole"] {
        assert_eq!(folder.run(program, &[]).out, "11 20 device\n", "{program}");
    }
    assert!(!folder.run("readelf", &["-d", "alone"]).out.contains("libferry"));
    let ran = folder.ferry(&["run", "--device", "cpu*2", "main.c", "lib.c"]);
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "11 20 device\n"), "{ran:?}");
}

const USER: &str = "
#include <stdio.h>
extern int level;
int seen(void);
static void raise(void) { level += 3; }
#pragma omp declare target
void set(int x) { level = x; }
#pragma omp end declare target
int main(void) {
  #pragma omp target
  raise();
  #pragma omp target
  set(level * 10);
  printf(\"%d %d\\n\", level, seen());
  return 0;
}
";

const OWNER: &str = "
int level = 4;
int seen(void) {
  int result = 0;
  #pragma omp target map(tofrom: result)
  result = level;
  return result;
}
";

#[test]
fn functions_on_devices_and_regions_share_the_variables_of_files() {
    let folder = Folder::new();
    folder.write("user.c", USER).write("owner.c", OWNER);
    let flags = ["cc", "--device", "cpu,cpu:separate", "user.c", "owner.c", "-o", "program"];
    let built = folder.ferry(&flags);
    assert!(built.status == Some(0) && built.err.contains("warning[F0703]"), "{built:?}");
    for device in ["cpu", "cpu:separate"] {
        let ran = folder.run("env", &[&format!("FERRY_DEVICE={device}"), "./program"]);
        assert_eq!(ran.out, "70 70\n", "{device}: {ran:?}");
    }
}

#[test]
fn messages_and_debuggers_stay_with_the_written_lines() {
    let folder = Folder::new();
    let program = "\
int main(void) {
    int n = 0;
#pragma omp target map(tofrom: n)
    n++;
    int unused;
    return n - 1;
}
";
    folder.write("a.c", program);
    let warned = folder.ferry(&["cc", "-Wall", "-g", "-c", "a.c"]);
    warned.fails(0, &["a.c:5:9: warning: unused variable"]);
    let lines = folder.run("readelf", &["--debug-dump=decodedline", "a.o"]).out;
    for line in [1, 4, 6] {
        let has = |it: &str| {
            it.starts_with("a.c") && it.split_whitespace().nth(1) == Some(&line.to_string())
        };
        assert!(lines.lines().any(has), "line {line}: {lines}");
    }
}

// ---------------------------------------------------------------- device code

/// Finds the image of its binary, writes it to a file, opens it and calls `kernel` in it.
const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
struct image { const char *start, *end; void *entries, *entries_end; };
extern const struct image __ferry_images[] __attribute__((weak, visibility("hidden")));
extern const int __ferry_images_count __attribute__((weak, visibility("hidden")));
int unused(void);
int main(void) {
    if (!&__ferry_images_count) { puts("no image"); return 0; }
    const char *at = __ferry_images[0].start;
    unsigned long entry, place, size;
    memcpy(&entry, at + 16, 8);
    memcpy(&place, at + entry + 24, 8);
    memcpy(&size, at + entry + 32, 8);
    FILE *file = fopen("image.so", "w");
    fwrite(at + place, 1, size, file);
    fclose(file);
    void *image = dlopen("./image.so", RTLD_NOW | RTLD_GLOBAL);
    if (!image) { puts(dlerror()); return 1; }
    int (*kernel)(void) = (int (*)(void))dlsym(image, "kernel");
    printf("%d images, kernel %d, stray %s\n", __ferry_images_count, kernel(),
           dlsym(image, "stray") ? "linked" : "left out");
    return 0;
}
"#;

/// Compiles `host` to an object and puts what `device` compiles to into it.
fn fat_object(folder: &Folder, name: &str, host: &str, device: &str) {
    folder.write(&format!("{name}.c"), host).write("device.c", device);
    folder.ferry(&["cc", "-fPIC", "-c", &format!("{name}.c")]).is_clean();
    assert_eq!(folder.run("cc", &["-c", "-fPIC", "device.c"]).status, Some(0));
    let payload = fs::read(folder.path("device.o")).expect("made");
    let container = Container { kind: ImageKind::Object, triple: "x", arch: "", payload: &payload };
    folder.write("container", container.write());
    let section = abi::names::DEVICE_SECTION;
    let (add, flags) = (format!("{section}=container"), format!("{section}=exclude"));
    let object = format!("{name}.o");
    let ran =
        folder.run("objcopy", &["--add-section", &add, "--set-section-flags", &flags, &object]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

/// The test's host has no regions, so it needs no runtime.
const BARE: [&str; 3] = ["-nodefaultlibs", "-lc", "-ldl"];

#[test]
fn device_code_of_objects_and_of_used_archive_members_becomes_one_image() {
    let folder = Folder::new();
    fat_object(
        &folder,
        "main",
        HOST,
        "int helper(void); int kernel(void) { return helper() + 1; }\n",
    );
    fat_object(
        &folder,
        "used",
        "int used(void) { return 0; }\n",
        "int helper(void) { return 41; }\n",
    );
    fat_object(
        &folder,
        "idle",
        "int idle(void) { return 0; }\n",
        "int stray(void) { return 0; }\n",
    );
    folder.run("ar", &["rcs", "libparts.a", "used.o", "idle.o"]);
    let link = |arguments: &[&str]| folder.ferry(&[&["cc"], arguments, &BARE].concat());
    link(&["main.o", "-u", "used", "-L.", "-lparts", "-o", "program"]).is_clean();
    assert_eq!(folder.run("program", &[]).out, "1 images, kernel 42, stray left out\n");
    link(&["main.o", "used.o", "idle.o", "-o", "all"]).is_clean();
    assert_eq!(folder.run("all", &[]).out, "1 images, kernel 42, stray linked\n");
    let joined = folder.ferry(&["cc", "-r", "main.o", "used.o", "-o", "joined.o"]);
    joined.is_clean();
    link(&["joined.o", "-o", "from-joined"]).is_clean();
    assert_eq!(folder.run("from-joined", &[]).out, "1 images, kernel 42, stray left out\n");
    let plain = folder.run("cc", &["main.o", "-o", "plain"]);
    assert_eq!(plain.status, Some(0), "{plain:?}");
    assert_eq!(folder.run("plain", &[]).out, "no image\n", "another compiler links it too");
    let missing = link(&["main.o", "-o", "missing"]);
    missing.fails(
        1,
        &["linking the device code failed", "device code of main.o", "`helper'", "help:"],
    );
    assert!(!folder.path("missing").exists());
}

#[test]
fn device_code_finds_that_of_shared_libraries() {
    let folder = Folder::new();
    fat_object(
        &folder,
        "used",
        "int used(void) { return 0; }\n",
        "int helper(void) { return 6; }\n",
    );
    let library = ["cc", "-shared", "used.o", "-o", "libused.so"];
    folder.ferry(&[&library[..], &BARE].concat()).is_clean();
    fat_object(
        &folder,
        "main",
        HOST,
        "int helper(void); int kernel(void) { return helper() + 1; }\n",
    );
    let program = ["cc", "main.o", "-L.", "-lused", "-o", "program"];
    folder.ferry(&[&program[..], &BARE].concat()).is_clean();
    let image = ["-O", "binary", "--dump-section", ".ferry.images=bytes", "program", "/dev/null"];
    assert_eq!(folder.run("objcopy", &image).status, Some(0));
    let bytes = fs::read(folder.path("bytes")).expect("dumped");
    let container = Container::read(&bytes).expect("a container");
    folder.write("image.so", container.payload);
    let needs = folder.run("readelf", &["-d", "image.so"]).out;
    assert!(needs.matches("ferry-image-").count() == 2, "its own name and the library's: {needs}");
}

#[test]
fn device_builds_are_kept_and_the_same_each_time() {
    let folder = Folder::new();
    fat_object(&folder, "main", HOST, "int kernel(void) { return 5; }\n");
    let cache = folder.path("cache");
    let link = |name: &str, flags: &[&str]| {
        let line = [&["cc", "main.o", "-o", name], flags, &BARE].concat();
        let status = folder.command(&line).env("FERRY_CACHE", &cache).status();
        assert!(status.expect("ferry runs").success());
        fs::read(folder.path(name)).expect("made")
    };
    let first = link("first", &[]);
    let count = || fs::read_dir(&cache).map_or(0, Iterator::count);
    assert_eq!(count(), 1);
    assert_eq!(first, link("second", &[]));
    assert_eq!(count(), 1, "found again");
    assert_eq!(first, link("third", &["--ferry-no-cache"]), "and the same without");
}

#[test]
fn many_links_at_once_share_the_cache() {
    let folder = Folder::new();
    fat_object(&folder, "main", HOST, "int kernel(void) { return 5; }\n");
    let run = |number: usize| -> Command {
        let name = format!("p{number}");
        let line = [&["cc", "main.o", "-o", name.as_str()], &BARE[..]].concat();
        let mut command = folder.command(&line);
        command.env("FERRY_CACHE", folder.path("shared-cache"));
        command
    };
    let children: Vec<_> = (0..8).map(|it| run(it).spawn().expect("ferry runs")).collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    for number in 0..8 {
        let out = folder.run(&format!("p{number}"), &[]).out;
        assert!(out.starts_with("1 images, kernel 5"), "{out}");
    }
}
