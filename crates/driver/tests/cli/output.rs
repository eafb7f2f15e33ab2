//! Where reports go, and what is left when they cannot get there.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::support::{BAD, Folder, GOOD, REGION, Ran, examples};

/// Every command that writes, on a program with one region.
const WRITERS: &[&[&str]] = &[
    &["check", "--json", "a.c"],
    &["check", "--sarif", "a.c"],
    &["explain", "a.c"],
    &["explain", "--json", "a.c"],
    &["explain", "--sarif", "a.c"],
    &["print", "a.c"],
    &["print", "--typed", "a.c"],
];

#[test]
fn a_file_gets_what_the_screen_would() {
    for arguments in WRITERS {
        let folder = Folder::new();
        folder.write("a.c", REGION);
        let shown = folder.ferry(arguments);
        let written = folder.ferry(&[arguments, &["-o", "report"][..]].concat());
        written.is_clean();
        assert_eq!(written.out, "");
        assert_eq!(fs::read_to_string(folder.path("report")).expect("written"), shown.out);
        assert_eq!(folder.names(), ["a.c", "report"], "{arguments:?}");
    }
}

#[test]
fn a_dash_is_standard_output() {
    let translate: &[&str] = &["translate", "--to", "openacc", "a.c"];
    for arguments in WRITERS.iter().copied().chain([translate]) {
        let folder = Folder::new();
        folder.write("a.c", REGION);
        let shown = folder.ferry(arguments);
        let dashed = folder.ferry(&[arguments, &["-o", "-"][..]].concat());
        assert_eq!(dashed.out, shown.out, "{arguments:?}");
        assert_eq!(folder.names(), ["a.c"], "{arguments:?}");
    }
    let folder = Folder::new();
    folder.write("a.c", BAD);
    let faults = folder.ferry(&["check", "-o", "-", "a.c"]);
    assert!(faults.out.contains("error") && faults.err.is_empty(), "{faults:?}");
}

#[test]
fn output_that_cannot_be_written_leaves_nothing() {
    for arguments in WRITERS {
        let folder = Folder::new();
        folder.write("a.c", REGION);
        let to = |file: &str| folder.ferry(&[arguments, &["-o", file][..]].concat());
        to("nowhere/x").fails(1, &["ferry: cannot write `nowhere/x`: No such file or directory"]);
        to("a.c/x").fails(1, &["ferry: cannot write `a.c/x`: Not a directory"]);
        to(".").fails(1, &["ferry: cannot write `.`: Is a directory"]);
        assert_eq!(folder.names(), ["a.c"], "{arguments:?}");
    }
}

#[test]
fn devices_are_written_in_place() {
    let folder = Folder::new();
    folder.write("a.c", REGION);
    folder.ferry(&["explain", "-o", "/dev/null", "a.c"]).is_clean();
    let full = folder.ferry(&["explain", "-o", "/dev/full", "a.c"]);
    full.fails(1, &["cannot write `/dev/full`: No space left on device"]);
    assert!(fs::metadata("/dev/null").is_ok_and(|it| !it.is_file()), "still a device");
}

#[test]
fn a_full_screen_is_an_error() {
    for arguments in WRITERS.iter().filter(|it| **it != ["check", "--json", "a.c"]) {
        let folder = Folder::new();
        folder.write("a.c", REGION);
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = folder.command(arguments).stdout(full).output().expect("ferry runs");
        Ran::of(output).fails(1, &["cannot write the report: No space left on device"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let many: String = (0..2000).map(|it| REGION.replace("scale", &format!("f{it}"))).collect();
    folder.write("a.c", many);
    for command in ["explain", "print"] {
        let mut child = folder.command(&[command, "a.c"]);
        let mut child =
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ferry runs");
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut first).expect("a line");
        drop(out);
        Ran::of(child.wait_with_output().expect("ferry ends")).is_clean();
        assert!(!first.is_empty());
    }
}

#[test]
fn a_program_is_not_overwritten_by_its_report() {
    for arguments in WRITERS {
        let folder = Folder::new();
        folder.write("a.c", REGION);
        let ran = folder.ferry(&[arguments, &["-o", "./a.c"][..]].concat());
        ran.fails(1, &[]).says("ferry: `a.c` is read: `-o` cannot write to it\n");
        assert_eq!(fs::read_to_string(folder.path("a.c")).expect("kept"), REGION);
    }
}

#[test]
fn an_old_report_stays_until_the_new_one_is_whole() {
    let folder = Folder::new();
    folder.write("good.c", GOOD).write("bad.c", BAD).write("report", "old\n");
    folder.ferry(&["print", "--typed", "-o", "report", "bad.c"]).fails(1, &["`nothing`"]);
    folder.ferry(&["print", "--typed", "-o", "report", "good.c", "bad.c"]).fails(1, &["`nothing`"]);
    assert_eq!(fs::read_to_string(folder.path("report")).expect("kept"), "old\n");
    folder.ferry(&["print", "-o", "report", "good.c"]).is_clean();
    assert_ne!(fs::read_to_string(folder.path("report")).expect("written"), "old\n");
    assert_eq!(folder.names(), ["bad.c", "good.c", "report"]);
}

#[test]
fn faults_of_a_program_are_reported_in_a_file_too() {
    let folder = Folder::new();
    folder.write("bad.c", BAD);
    let ran = folder.ferry(&["check", "-o", "report", "bad.c"]);
    ran.fails(1, &[]).says("");
    let report = fs::read_to_string(folder.path("report")).expect("written");
    assert!(report.contains("error[F0401]"), "{report}");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |folder: &Folder, name: &str| {
        fs::metadata(folder.path(name)).expect("there").permissions().mode() & 0o777
    };
    let folder = Folder::new();
    folder.write("a.c", GOOD).write("real", "old\n").write("plain", "");
    fs::set_permissions(folder.path("real"), fs::Permissions::from_mode(0o600)).expect("set");
    symlink("real", folder.path("link")).expect("linked");
    folder.ferry(&["print", "-o", "link", "a.c"]).is_clean();
    assert!(fs::symlink_metadata(folder.path("link")).expect("there").is_symlink());
    assert_ne!(fs::read_to_string(folder.path("real")).expect("there"), "old\n");
    assert_eq!(mode(&folder, "real"), 0o600);
    folder.ferry(&["print", "-o", "new", "a.c"]).is_clean();
    assert_eq!(mode(&folder, "new"), mode(&folder, "plain"), "as any new file");
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = Folder::new();
    folder.write("bad.c", format!("{REGION}{BAD}"));
    let bad = folder.path("bad.c");
    let mut files = examples();
    files.push(bad);
    let files: Vec<&str> = files.iter().map(|it| it.to_str().expect("UTF-8")).collect();
    for command in [
        &["check", "--json"][..],
        &["check", "--sarif"],
        &["explain"],
        &["explain", "--json"],
        &["explain", "--sarif"],
        &["print"],
        &["print", "--typed"],
    ] {
        let arguments = [command, &files].concat();
        let first = folder.ferry(&arguments);
        assert_eq!(first, folder.ferry(&arguments), "{command:?}");
    }
}
