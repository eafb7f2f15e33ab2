//! `ferry cc` and files: what is written, when, and what is left when something fails.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::support::{Folder, GOOD};

const BROKEN: &str = "int main(void) { return nothing; }\n";

#[test]
fn a_failure_keeps_the_old_file() {
    let folder = Folder::new();
    folder.write("a.c", BROKEN).write("a.o", "old").write("a.out", "old");
    folder.ferry(&["cc", "-c", "a.c"]).fails(1, &["nothing"]);
    folder.ferry(&["cc", "a.c"]).fails(1, &["nothing"]);
    folder.write("b.c", "int missing(void); int main(void) { return missing(); }\n");
    folder.ferry(&["cc", "b.c"]).fails(1, &["undefined reference to `missing'"]);
    assert_eq!((folder.read("a.o"), folder.read("a.out")), ("old".into(), "old".into()));
    assert_eq!(folder.names(), ["a.c", "a.o", "a.out", "b.c"]);
}

#[test]
fn one_bad_input_does_not_hide_what_is_said_of_others() {
    let folder = Folder::new();
    folder.write("a.c", "int a = b;\n").write("good.c", "int good;\n").write("c.c", "int c = d;\n");
    let ran = folder.ferry(&["cc", "-c", "a.c", "good.c", "c.c"]);
    ran.fails(1, &["a.c:1", "c.c:1"]);
    assert!(ran.err.find("a.c:1") < ran.err.find("c.c:1"), "in order: {}", ran.err);
    assert_eq!(folder.names(), ["a.c", "c.c", "good.c", "good.o"]);
}

#[test]
fn new_files_have_the_permissions_of_gccs() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    folder.ferry(&["cc", "-c", "a.c"]).is_clean();
    folder.ferry(&["cc", "a.o", "-o", "a"]).is_clean();
    folder.run("cc", &["-c", "a.c", "-o", "host.o"]);
    folder.run("cc", &["a.o", "-o", "host"]);
    let mode = |name: &str| fs::metadata(folder.path(name)).expect("made").permissions().mode();
    assert_eq!((mode("a.o"), mode("a")), (mode("host.o"), mode("host")));
}

#[test]
fn read_only_files_links_and_devices_are_written_as_they_should() {
    let folder = Folder::new();
    folder.write("a.c", GOOD).write("a.o", "old").write("real.o", "old");
    fs::set_permissions(folder.path("a.o"), fs::Permissions::from_mode(0o444)).expect("set");
    folder.ferry(&["cc", "-c", "a.c"]).is_clean();
    symlink("real.o", folder.path("link.o")).expect("a link");
    folder.ferry(&["cc", "-c", "a.c", "-o", "link.o"]).is_clean();
    assert!(fs::symlink_metadata(folder.path("link.o")).expect("there").is_symlink());
    assert!(fs::read(folder.path("real.o")).expect("there").starts_with(b"\x7fELF"));
    folder.ferry(&["cc", "-c", "a.c", "-o", "/dev/null"]).is_clean();
    fs::create_dir(folder.path("dir.o")).expect("a folder");
    assert_eq!(folder.ferry(&["cc", "-c", "a.c", "-o", "dir.o"]).status, Some(1));
}

#[test]
fn objects_are_the_same_each_time_and_those_of_the_host_compiler() {
    let folder = Folder::new();
    folder.write("a.c", "#include <stdio.h>\nvoid f(void) { puts(__FILE__); }\n");
    let object = |name: &str| fs::read(folder.path(name)).expect("made");
    for flags in [&["-O2"][..], &["-g"], &["-g3", "-O1"]] {
        folder.ferry(&[&["cc", "-c", "a.c", "-o", "1.o"], flags].concat()).is_clean();
        folder.ferry(&[&["cc", "-c", "a.c", "-o", "2.o"], flags].concat()).is_clean();
        assert_eq!(object("1.o"), object("2.o"), "{flags:?}");
    }
    folder.run("cc", &["-c", "a.c", "-O2", "-fopenmp", "-o", "host.o"]);
    folder.ferry(&["cc", "-c", "a.c", "-O2", "-o", "ours.o"]).is_clean();
    assert_eq!(object("ours.o"), object("host.o"));
}

#[test]
fn files_beside_the_object_are_called_after_it() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    fs::create_dir(folder.path("out")).expect("a folder");
    let listed = |place: &str| -> Vec<String> {
        let entries = fs::read_dir(folder.path(place)).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|it| format!("{place}/{}", it.expect("an entry").file_name().display()))
            .filter(|it| it != "./a.c" && it != "./b.c" && it != "./out")
            .collect();
        names.sort();
        names
    };
    folder.write("b.c", "int b;\n");
    let lines: &[&[&str]] = &[
        &["--coverage", "-c", "a.c", "-o", "out/b.o"],
        &["--coverage", "-c", "a.c"],
        &["-fstack-usage", "-c", "a.c"],
        &["--coverage", "a.c", "-o", "prog"],
        &["--coverage", "a.c", "b.c", "-o", "out/prog"],
        &["--coverage", "a.c", "-o", "out/a"],
        &["--coverage", "a.c"],
    ];
    for line in lines {
        let made = || {
            let all = [listed("."), listed("out")].concat();
            all.iter().for_each(|it| fs::remove_file(folder.path(it)).expect("removed"));
            all
        };
        folder.ferry(&[&["cc"], *line].concat()).is_clean();
        let ours = made();
        assert_eq!(folder.run("cc", line).status, Some(0));
        assert_eq!(ours, made(), "{line:?}");
    }
}

#[test]
fn generated_files_are_left_when_asked_for() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    folder.ferry(&["cc", "--ferry-save-temps=made/here", "-c", "a.c"]).is_clean();
    assert!(folder.read("made/here/a.i").contains("int main(void)"));
    folder.ferry(&["cc", "--ferry-save-temps", "-c", "a.c"]).is_clean();
    assert!(folder.names().contains(&"a.i".to_owned()));
}

#[test]
fn a_build_that_is_broken_off_leaves_nothing() {
    let folder = Folder::new();
    let slow = "#!/bin/sh\ncase \" $* \" in *\" -E \"*) exec cc \"$@\";; *) exec sleep 60;; esac\n";
    folder.write("a.c", GOOD).write("slow", slow);
    fs::set_permissions(folder.path("slow"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::create_dir(folder.path("tmp")).expect("a folder");
    let mut command = folder.command(&["cc", "--ferry-cc", "./slow", "-c", "a.c"]);
    let mut child = command.env("TMPDIR", folder.path("tmp")).spawn().expect("ferry runs");
    let is_begun = || folder.names().iter().any(|it| it.starts_with(".ferry-"));
    for _ in 0..500 {
        if is_begun() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(is_begun(), "{:?}", folder.names());
    folder.run("kill", &["-TERM", &child.id().to_string()]);
    let status = child.wait().expect("it ends");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert_eq!(folder.names(), ["a.c", "slow", "tmp"]);
    assert_eq!(fs::read_dir(folder.path("tmp")).expect("a folder").count(), 0);
}

#[test]
fn headers_are_precompiled_where_gcc_does_it() {
    let folder = Folder::new();
    folder.write("h.h", "#define H 1\n");
    folder.ferry(&["cc", "h.h"]).is_clean();
    assert_eq!(folder.names(), ["h.h", "h.h.gch"]);
    folder.ferry(&["cc", "-x", "c-header", "h.h", "-o", "other.gch"]).is_clean();
    assert_eq!(folder.names(), ["h.h", "h.h.gch", "other.gch"]);
}

/// A process that is killed removes nothing; the next one does that for it, and for no process that lives.
#[test]
fn what_a_killed_build_leaves_goes_with_the_next_build() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    // It says when it compiles: before that, temporary files come and go.
    let slow = "#!/bin/sh\ncase \" $* \" in *\" -E \"*) exec cc \"$@\";; *) : > began-$PPID; exec sleep 60;; esac\n";
    folder.write("slow", slow);
    fs::set_permissions(folder.path("slow"), fs::Permissions::from_mode(0o755)).expect("set");
    let is_left = |it: &String| it.starts_with(".ferry-");
    #[allow(
        clippy::zombie_processes,
        reason = "whoever calls it waits, unless the test has failed"
    )]
    let begun = || {
        let mut command = folder.command(&["cc", "--ferry-cc", "./slow", "-c", "a.c"]);
        let child = command.spawn().expect("ferry runs");
        let (name, began) = (format!("-{}-", child.id()), format!("began-{}", child.id()));
        for _ in 0..2000 {
            let names = folder.names();
            let has_left = names.iter().any(|it| is_left(it) && it.contains(&name));
            if has_left && names.contains(&began) {
                return child;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("no temporary file in {:?}", folder.names());
    };
    let (mut killed, mut living) = (begun(), begun());
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    folder.ferry(&["cc", "-c", "a.c", "-o", "b.o"]).is_clean();
    let left: Vec<String> = folder.names().into_iter().filter(is_left).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains(&format!("-{}-", living.id())), "{left:?}");
    folder.run("kill", &["-INT", &living.id().to_string()]);
    living.wait().expect("ended");
    assert!(!folder.names().iter().any(is_left), "{:?}", folder.names());
}
