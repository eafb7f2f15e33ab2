//! Flags of other compilers, as build files carry them: given their meaning, or told in one line.

use std::fs;

use super::support::{FERRY, Folder, Ran};

const PROGRAM: &str = "\
#include <stdio.h>
#ifndef VERSION
#define VERSION 202111
#endif
int main(void) {
    int sum = 0;
#pragma omp target teams distribute parallel for map(tofrom: sum) reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += i;
    printf(\"%d\\n\", sum);
    return sum != 45 || _OPENMP != VERSION;
}
";

fn ran(folder: &Folder, settings: &[(&str, &str)]) -> Ran {
    let mut command = std::process::Command::new(folder.path("a"));
    command.env_remove("FERRY_INFO").env_remove("OMP_TARGET_OFFLOAD").env_remove("FERRY_DEVICE");
    Ran::of(command.envs(settings.iter().copied()).output().expect("it runs"))
}

#[test]
fn flags_without_a_meaning_here_are_told_in_one_line() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let line = [
        "-fast",
        "-Minfo=all",
        "-Minfo=all",
        "-tp=zen3",
        "-fopenmp-cuda-mode",
        "--cuda-path=/opt/x",
    ];
    let built = folder.ferry(&[&["cc"], &line[..], &["a.c", "-o", "a"]].concat());
    built.says(
        "ferry cc: warning: flags of another compiler, which mean nothing here: -Minfo=all, -tp=zen3, \
         -fopenmp-cuda-mode, --cuda-path=/opt/x\n",
    );
    assert_eq!((built.status, ran(&folder, &[]).status), (Some(0), Some(0)));
    folder.ferry(&[&["cc", "-w"], &line[..], &["a.c", "-o", "a"]].concat()).is_clean();
}

#[test]
fn words_that_belong_to_a_flag_are_no_inputs() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let line = [
        "-tp",
        "host",
        "-Xopenmp-target",
        "-O9",
        "-Xopenmp-target=x86_64",
        "-ffoo",
        "a.c",
        "-o",
        "a",
    ];
    let words = ["-tp host, -Xopenmp-target -O9, -Xopenmp-target=x86_64 -ffoo\n"];
    folder.ferry(&[&["cc"], &line[..]].concat()).fails(0, &words);
    folder.ferry(&["cc", "a.c", "-Xopenmp-target"]).fails(1, &["needs a value"]);
}

#[test]
fn versions_of_the_standard_are_those_that_are_asked_for() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    for (flag, version) in [("45", "201511"), ("50", "201811"), ("51", "202011"), ("52", "202111")]
    {
        let (flag, version) = (format!("-fopenmp-version={flag}"), format!("-DVERSION={version}"));
        folder.ferry(&["cc", &flag, &version, "a.c", "-o", "a"]).is_clean();
        assert_eq!(ran(&folder, &[]).status, Some(0), "{flag}");
    }
    folder
        .ferry(&["cc", "-fopenmp-version=99", "a.c", "-o", "a"])
        .fails(0, &["-fopenmp-version=99"]);
}

#[test]
fn offload_that_a_flag_makes_mandatory_is() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    folder.ferry(&["cc", "a.c", "-o", "a"]).is_clean();
    let none = ("FERRY_DEVICE", "none");
    assert_eq!(ran(&folder, &[none]).status, Some(0));
    folder.ferry(&["cc", "-fopenmp-offload-mandatory", "a.c", "-o", "a"]).is_clean();
    assert_eq!(ran(&folder, &[]).status, Some(0));
    assert_eq!(ran(&folder, &[none]).status, Some(1));
    // Who runs it has the last word.
    assert_eq!(ran(&folder, &[none, ("OMP_TARGET_OFFLOAD", "DISABLED")]).status, Some(0));
}

#[test]
fn devices_that_flags_name_are_compiled_for_where_that_is_possible() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let report = |flags: &[&str]| {
        let line = [&["cc", "--ferry-report=json", "-c", "a.c"], flags].concat();
        let mut command = folder.command(&line);
        let built = Ran::of(
            command.env("FERRY_NVRTC", "/nowhere/libnvrtc.so").output().expect("ferry runs"),
        );
        assert_eq!(built.status, Some(0), "{built:?}");
        let devices = built.out.split("\"devices\":[").nth(1).and_then(|it| it.split(']').next());
        (devices.unwrap_or_default().replace('"', ""), built.err)
    };
    assert_eq!(report(&["-fopenmp-targets=spir64"]), ("cpu,opencl".into(), String::new()));
    assert_eq!(report(&["-fopenmp-targets=x86_64-pc-linux-gnu"]), ("cpu".into(), String::new()));
    assert_eq!(report(&["-acc=multicore", "-mp"]), ("cpu".into(), String::new()));
    let (devices, said) =
        report(&["-fopenmp-targets=nvptx64-nvidia-cuda", "-Xopenmp-target", "-march=sm_80"]);
    assert_eq!(devices, "cpu");
    assert!(said.contains("warning: flags name a device that is left out: FERRY_NVRTC"), "{said}");
    // Our own word is the one that counts.
    let own = report(&["-mp=gpu", "-gpu=cc80", "--device", "cpu"]);
    assert_eq!(own, ("cpu".into(), String::new()));
}

/// As the benchmarks of neutron transport have them: five compilers, one of which is chosen.
const MAKEFILE: &str = "\
COMPILER ?= llvm
CFLAGS := -std=gnu99 -Wall
ifeq ($(COMPILER),intel)
  CFLAGS += -fiopenmp -fopenmp-targets=spir64 -D__STRICT_ANSI__
endif
ifeq ($(COMPILER),llvm)
  CFLAGS += -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target -march=sm_80
endif
ifeq ($(COMPILER),ibm)
  CFLAGS += -qsmp=omp -qoffload
endif
ifeq ($(COMPILER),nvidia)
  CFLAGS += -mp=gpu -Minfo=mp -gpu=cc80
endif
ifeq ($(COMPILER),amd)
  CFLAGS += -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a
endif
CFLAGS += -O3
a: a.o
\t$(CC) $(CFLAGS) $^ -o $@ -lm
%.o: %.c
\t$(CC) $(CFLAGS) -c $< -o $@
";

#[test]
fn makefiles_for_five_compilers_build_with_ours() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM).write("Makefile", MAKEFILE);
    for compiler in ["llvm", "intel", "ibm", "nvidia", "amd"] {
        let made =
            folder.run("make", &["-B", &format!("CC={FERRY} cc"), &format!("COMPILER={compiler}")]);
        assert_eq!(made.status, Some(0), "{compiler}: {made:?}");
        let told = ran(&folder, &[("FERRY_DEVICE", "cpu")]);
        assert_eq!((told.status, told.out.as_str()), (Some(0), "45\n"), "{compiler}: {told:?}");
        fs::remove_file(folder.path("a")).expect("it was made");
    }
}
