//! For which of NVIDIA's GPUs kernels are made where none is named: the oldest that the compiler knows.
//!
//! The compiler is a library of a few lines, which tells what it was asked.

use super::support::{Folder, Ran};

/// NVRTC that knows some GPUs, and whose products are the options it got.
const NVRTC: &str = r#"#include <string.h>
static const int known[] = { KNOWN };
static char option[100];
int nvrtcVersion(int *major, int *minor) { *major = 13, *minor = 0; return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = sizeof known / sizeof known[0]; return 0; }
int nvrtcGetSupportedArchs(int *list) { memcpy(list, known, sizeof known); return 0; }
int nvrtcCreateProgram(void **it, const char *a, const char *b, int c, void *d, void *e) { *it = option; return 0; }
int nvrtcCompileProgram(void *it, int n, const char *const *words) { strncpy(option, words[0], 99); return 0; }
int nvrtcGetPTXSize(void *it, unsigned long *n) { *n = strlen(option) + 1; return 0; }
int nvrtcGetPTX(void *it, char *to) { strcpy(to, option); return 0; }
int nvrtcGetCUBINSize(void *it, unsigned long *n) { *n = strlen(option); return 0; }
int nvrtcGetCUBIN(void *it, char *to) { memcpy(to, option, strlen(option)); return 0; }
int nvrtcDestroyProgram(void **it) { return 0; }
"#;

const KERNEL: &str = "void f(int *a) {\n#pragma omp target map(tofrom: a[0:4])\na[0]++;\n}\n";

/// A compiler that knows these GPUs asked for those devices.
fn asked(folder: &Folder, known: &str, devices: &str) -> Ran {
    folder.write("nvrtc.c", NVRTC.replace("KNOWN", known)).write("a.c", KERNEL);
    let made = folder.run("gcc", &["-shared", "-fPIC", "-w", "nvrtc.c", "-o", "libnvrtc.so.13"]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    let flags = ["cc", "-c", "--ferry-save-temps=t", "--device", devices, "a.c"];
    let mut command = folder.command(&flags);
    command.env("FERRY_NVRTC", folder.path("libnvrtc.so.13"));
    command.env("FERRY_CACHE", folder.path("cache"));
    Ran::of(command.output().expect("ferry runs"))
}

#[test]
fn assembly_is_made_for_the_oldest_gpus_that_the_compiler_knows() {
    for (known, devices, oldest) in [
        ("75, 80, 90, 100", "cuda", "sm_75"),
        ("90, 75, 80", "cuda,cuda:sm_90", "sm_75"),
        ("50, 60, 70, 75", "cuda", "sm_70"),
        ("75, 80, 90", "cuda:sm_80", "sm_80"),
    ] {
        let folder = Folder::new();
        let made = asked(&folder, known, devices);
        assert_eq!(made.status, Some(0), "{known} for {devices}: {}", made.err);
        let text = folder.read(&format!("t/a.{oldest}.ptx"));
        assert_eq!(text, format!("--gpu-architecture={oldest}"), "{known} for {devices}");
    }
    // What is named is made, or refused by name.
    asked(&Folder::new(), "75, 80", "cuda:sm_70")
        .fails(1, &["does not know sm_70; it knows sm_75"]);
}
