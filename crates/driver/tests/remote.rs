//! Other machines as devices: what differs is made the same or refused, and what goes wrong is told, soon.
//!
//! This machine stands for another one: its compiler and a file that describes it are enough. `support/faults.rs` has the faults.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/faults.rs"]
mod faults;
#[path = "support/machines.rs"]
mod machines;
mod support;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use faults::{ANSWER, WORK};
use machines::has_arm;
use support::{ferry, told};
use tempfile::TempDir;

/// This machine, as if it were another one, with lines in place of the usual.
fn described(flags: &str, runner: &str, shares_files: bool) -> String {
    format!(
        "about = \"this machine\"\npackages = \"gcc\"\nis-tested = true\ncompiler = [\"gcc\"]\nknows-gcc-flags = true\n\
         flags = [{flags}]\nlink = [\"-static\", \"-fopenmp\", \"-lm\"]\nrunner = [{runner}]\nshares-files = {shares_files}\n"
    )
}

/// How a program gets to a machine that shares nothing with this one.
const SENT: &str =
    r#""sh", "-c", "f=$(mktemp) && head -c {size} >$f && chmod 700 $f && { $f; rm -f $f; }""#;

/// A folder with `m.toml` and `a.c`.
fn folder(description: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("m.toml"), description).expect("a file");
    fs::write(folder.path().join("a.c"), text).expect("a file");
    folder
}

/// Builds `a.c` for these devices.
fn build(folder: &Path, devices: &str, more: &[&str]) -> Output {
    let line = ["cc", "-w", "--device", devices, "a.c", "-o", "a", "-lm"];
    ferry(&[&line, more].concat(), folder)
}

/// Runs it with these settings, for a minute at most.
fn run(folder: &Path, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "60", "./a"]).current_dir(folder);
    command.env_remove("FERRY_DEVICE").env_remove("FERRY_INFO");
    command.envs(settings.iter().copied()).output().expect("timeout runs")
}

/// The program, built for this machine as another and run there.
fn there(text: &str, settings: &[(&str, &str)]) -> Output {
    let folder = folder(&described("", "", true), text);
    let built = build(folder.path(), "remote:m.toml", &[]);
    assert!(built.status.success(), "{}", told(&built));
    run(folder.path(), settings)
}

/// It ended so, and said all of these words.
#[track_caller]
fn ends(output: &Output, status: i32, words: &[&str]) {
    let text = told(output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    for word in words {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
}

#[test]
fn machines_that_differ_too_much_are_refused_by_name() {
    let text = "int main(void) {\n  double x = 1;\n#pragma omp target map(x)\n  x++;\n  return x != 2;\n}\n";
    let refused = |flags: &str, words: &[&str]| {
        let folder = folder(&described(flags, "", true), text);
        ends(&build(folder.path(), "remote:m.toml", &[]), 1, words);
    };
    let help = "64-bit addresses and little-endian";
    refused("\"-m32\"", &["`remote:m.toml`", "pointers do not have 8 bytes", help]);
    refused("\"-mx32\"", &["pointers do not have 8 bytes", help]);
    let order = "\"-U__BYTE_ORDER__\", \"-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__\"";
    refused(order, &["`remote:m.toml`", "bytes of its numbers are in another order", help]);
    let folder = folder(&described("", "", true), text);
    ends(&build(folder.path(), "remote:m.toml", &["-mlong-double-64"]), 1, &["`-mlong-double-64`"]);
    let shared = build(folder.path(), "remote:m.toml", &["-shared", "-fPIC"]);
    ends(&shared, 1, &["shared library", "static library"]);
    ends(&build(folder.path(), "remote:none.toml", &[]), 1, &["none.toml", "cannot read"]);
    for (machine, why) in [
        ("i686", "pointers do not have 8 bytes"),
        ("s390x", "bytes of its numbers are in another order"),
    ] {
        let compiler = format!("{machine}-linux-gnu-gcc");
        if !machines::has(&[&compiler], &format!("gcc-{machine}-linux-gnu")) {
            continue;
        }
        let there = described("", "", true).replace("[\"gcc\"]", &format!("[\"{compiler}\"]"));
        fs::write(folder.path().join("m.toml"), there).expect("a file");
        ends(&build(folder.path(), "remote:m.toml", &[]), 1, &["`remote:m.toml`", why, help]);
    }
}

/// A function for each body, in lines of their own from the ninth: types before it, and a region around it.
fn functions(bodies: &[(&str, &str)]) -> String {
    let headers = ["fenv", "math", "pthread", "setjmp", "stdio", "sys/stat", "unistd"];
    let mut text: String = headers.iter().map(|it| format!("#include <{it}.h>\n")).collect();
    text += "#pragma omp requires reverse_offload\n";
    for (number, (types, body)) in bodies.iter().enumerate() {
        text += &format!(
            "{types} int f{number}(double x, int n) {{ _Pragma(\"omp target map(tofrom: x, n)\") {{ {body} }} return n; }}\n"
        );
    }
    text + "int main(void) { return 0; }\n"
}

/// What both compilers take and other machines compute otherwise: numbers, records, and what the library lays out for a machine.
#[test]
fn what_means_something_else_there_is_refused_by_name() {
    let odd = "struct odd { char a; int : 0; char b; };";
    let deep = "struct deep { struct { char a; int : 5; } list[2]; };";
    let vector = "typedef int wide_vector __attribute__((vector_size(32))); struct of_vector { char a; wide_vector b; };";
    let refused = [
        ("", "long double y = x; x = y;", "`long double`"),
        ("", "x = x / 10.0L - 0.3;", "`long double`"),
        ("typedef __typeof__(1.0L) wide;", "wide y = x; x = y;", "`long double`"),
        ("", "_Float64x y = x; x = y;", "`long double`"),
        ("", "_Complex long double y = x; x = (double)y;", "a complex number"),
        ("", "fesetround(FE_UPWARD);", "a call of `fesetround`"),
        ("", "fenv_t here; n = feholdexcept(&here);", "a call of `feholdexcept`"),
        ("", "n = ilogb(x) == FP_ILOGB0;", "a call of `ilogb`"),
        ("", "jmp_buf to; if (!setjmp(to)) longjmp(to, 1);", "`_setjmp`"),
        ("", "struct stat it; n = stat(\"a.c\", &it);", "`struct stat`"),
        ("", "pthread_mutex_t it; pthread_mutex_init(&it, 0);", "`pthread_mutex_init`"),
        ("", "n = syscall(39) > 0;", "a call of `syscall`"),
        (odd, "struct odd it = { 1, 2 }; n = it.b;", "a bit-field that has no name"),
        (
            "struct wide { char a; long : 40; };",
            "n = sizeof(struct wide);",
            "a bit-field that has no name",
        ),
        (deep, "struct deep it; n = sizeof it;", "a bit-field that has no name"),
        (
            "struct gap { char a; int : 0; char b; };",
            "n = __builtin_offsetof(struct gap, b);",
            "a bit-field that has no name",
        ),
        (vector, "struct of_vector it; it.a = 1; n = it.a;", "a vector of more than 16 bytes"),
        (
            "",
            "n = _Alignof(int __attribute__((vector_size(32))));",
            "a vector of more than 16 bytes",
        ),
        ("struct list { __builtin_va_list it; };", "struct list it; n = sizeof it;", "`va_list`"),
        ("", "n = sizeof(__builtin_va_list);", "`va_list`"),
        ("int open(const char *, int, ...);", "n = open(\"a.c\", 0);", "a call of `open`"),
        ("", "pthread_mutexattr_t it; pthread_mutexattr_init(&it);", "`pthread_mutexattr_init`"),
    ];
    let folder = folder(&described("", "", true), &functions(&refused.map(|it| (it.0, it.1))));
    let built = build(folder.path(), "remote:m.toml", &[]);
    assert_eq!(built.status.code(), Some(1), "{}", told(&built));
    let said = told(&built);
    for (number, (_, body, what)) in refused.iter().enumerate() {
        let place = format!("--> a.c:{}:", number + 9);
        let mut faults = said.split("error[F0710]: ");
        let is_said = faults
            .any(|it| it.contains(&place) && it.contains(what) && it.contains("for `remote`"));
        assert!(is_said, "{body}: {said}");
    }
    // Where the host computes, it is what it was; and words are not what they name.
    let taken = [
        ("", "printf(\"no long double, no fesetround\\n\");"),
        ("static int ilogb_of(int x) { return x; }", "n = ilogb_of(2);"),
        ("", "char *to; size_t size; n = open_memstream(&to, &size) != 0;"),
        (
            "struct even { int a __attribute__((vector_size(16))), b __attribute__((vector_size(32), aligned(32))); };",
            "struct even it; n = sizeof it;",
        ),
        (
            "struct even_bits { unsigned a : 3, : 5; int b; };",
            "struct even_bits it = { 1, 2 }; n = it.b;",
        ),
        (
            "",
            "_Pragma(\"omp target device(ancestor: 1) map(n)\") { long double y = x; n = y > 0; }",
        ),
    ];
    fs::write(folder.path().join("a.c"), functions(&taken)).expect("a file");
    let built = build(folder.path(), "remote:m.toml", &[]);
    assert!(built.status.success(), "{}", told(&built));
}

/// Numbers mean there what they mean here, whatever the compiler there would do by itself.
#[test]
fn signs_of_char_and_roundings_are_those_of_the_host() {
    if !has_arm() {
        return;
    }
    let text = "#include <stdio.h>
int main(void) {
  volatile double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30, c = -1.0;
  volatile signed char from = -1;
  for (int away = 0; away < 2; away++) {
    double rest = 0; int is_below = 0;
#pragma omp target if(away) map(from: rest, is_below) map(to: a, b, c, from)
    { char x = from; is_below = x < 0; rest = a * b + c; }
    printf(\"%d %a\\n\", is_below, rest);
  }
  return 0;
}
";
    for (flags, expect) in
        [(&["-O2"][..], "1 0x0p+0\n"), (&["-O2", "-funsigned-char"], "0 0x0p+0\n")]
    {
        let folder = folder("", text);
        let built = build(folder.path(), "remote:aarch64", flags);
        assert!(built.status.success(), "{}", told(&built));
        let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expect.repeat(2), "{}", told(&ran));
    }
    // A fused operation is what the user asks for.
    let folder = folder("", text);
    let built = build(folder.path(), "remote:aarch64", &["-O2", "-ffp-contract=fast"]);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path(), &[]);
    assert!(String::from_utf8_lossy(&ran.stdout).ends_with("1 -0x1p-60\n"), "{}", told(&ran));
}

/// `wchar_t` has no sign on ARM; in regions it has that of the host, and so have constants, strings and what compares them.
#[test]
fn wide_characters_are_those_of_the_host() {
    if !has_arm() {
        return;
    }
    let folder = folder("", include_str!("support/wide.c"));
    let built = build(folder.path(), "remote:aarch64", &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
    let expect = "7fff 11 54 9 44 -1\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expect.repeat(2), "{}", told(&ran));
}

/// Kernels read files, and do nothing else to the system.
#[test]
fn kernels_have_no_rights_that_they_do_not_need() {
    let text = "#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
  for (int away = 0; away < 2; away++) {
    int written = 0, read = 0, opened = 0, ran = 0;
#pragma omp target if(away) map(from: written, read, opened, ran)
    {
      FILE *file = fopen(\"made\", \"w\");
      if ((written = file != 0)) fclose(file);
      if ((read = (file = fopen(\"a.c\", \"r\")) != 0)) fclose(file);
      int it = socket(AF_UNIX, SOCK_STREAM, 0);
      if ((opened = it >= 0)) close(it);
      ran = system(\"true\") == 0;
    }
    printf(\"%d %d %d %d\\n\", written, read, opened, ran);
  }
  return 0;
}
";
    let folder = folder(&described("", "", true), text);
    let built = build(folder.path(), "remote:m.toml", &[]);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path(), &[("FERRY_INFO", "1")]);
    let said = told(&ran);
    let has = |word: &str| said.contains("kernels are confined") && said.contains(word);
    assert!(has("no_new_privs"), "{said}");
    let free = |word: &str| u8::from(!has(word));
    let (files, calls) = (free("landlock"), free("seccomp"));
    // What the system cannot do is told, and nothing is expected of it.
    let expected = format!("1 1 1 1\n{files} 1 {calls} {}\n", files.min(calls));
    assert!(said.contains(&expected), "no {expected} in {said}");
}

/// Types without names, and four devices at once: what plugins for such machines have failed at.
#[test]
fn four_machines_work_at_once_on_types_without_names() {
    let text = "#include <stdio.h>
#include <omp.h>
#define N 1000
enum { FIRST = 7, SECOND };
struct { int at; union { int i; float f; }; struct { short low, high; } both; } list[4][N];
typedef struct { enum { UP, DOWN } way; } arrow;
int main(void) {
  int right = 0, numbers = 0;
  arrow arrows[4] = { { UP }, { DOWN }, { UP }, { DOWN } };
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int d = 0; d < omp_get_num_devices(); d++)
#pragma omp target teams distribute parallel for nowait device(d) map(tofrom: list[d]) map(to: arrows[d])
    for (int i = 0; i < N; i++) {
      list[d][i].at = i + SECOND;
      list[d][i].i = arrows[d].way == DOWN ? -i : i;
      list[d][i].both.high = (short)(omp_is_initial_device() ? 0 : d + 1);
    }
#pragma omp taskwait
  for (int d = 0; d < 4; d++)
    for (int i = 0; i < N; i++)
      right += list[d][i].at == i + 8 && list[d][i].i == (d % 2 ? -i : i) && list[d][i].both.high == d + 1;
  for (int d = 0; d < 4; d++) {
    int number = -1;
#pragma omp target device(d) map(from: number)
    number = omp_get_device_num();
    numbers += number == d;
  }
  printf(\"%d of %d on %d, %d numbers\\n\", right, 4 * N, omp_get_num_devices(), numbers);
  return 0;
}
";
    let expect = "4000 of 4000 on 4, 4 numbers\n";
    let folder = folder(&described("", "", true), text);
    let mut devices = vec!["remote:m.toml*4"];
    devices.extend(has_arm().then_some("remote:aarch64*4"));
    for device in devices {
        let built = build(folder.path(), device, &[]);
        assert!(built.status.success(), "{}", told(&built));
        let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expect, "{device}: {}", told(&ran));
    }
}

/// Each machine whose toolchain comes with Ferry runs code of its own, with regions that go back to the host and have its data.
#[test]
fn ready_machines_run_regions_and_hand_some_back() {
    let text = "#include <stdio.h>
#include <sys/utsname.h>
#pragma omp requires reverse_offload
struct work { int n; double *list; };
int main(void) {
  double list[64], sum = 0;
  char there[65];
  int wrong = 0;
  struct work work = { 64, list };
  for (int i = 0; i < 64; i++) list[i] = i;
#pragma omp target enter data map(to: work, work.list[:64])
#pragma omp target map(from: there) map(tofrom: wrong)
  {
    struct utsname it;
    uname(&it);
    for (int i = 0; i < 65; i++) there[i] = it.machine[i];
    for (int i = 0; i < 64; i++) work.list[i] *= 2;
    int here = 5;
    double part[10];
    for (int i = 0; i < 10; i++) part[i] = i;
#pragma omp target device(ancestor: 1) map(tofrom: here, part[2:6])
    { here = uname(&it) == 0 && it.machine[0] == 'x' ? 3 * here : -1; for (int i = 2; i < 8; i++) part[i] += 100; }
    wrong = here != 15;
    for (int i = 0; i < 10; i++) wrong += part[i] != (i < 2 || i > 7 ? i : 100 + i);
  }
#pragma omp target teams distribute parallel for reduction(+: sum)
  for (int i = 0; i < 64; i++) sum += work.list[i];
#pragma omp target exit data map(from: work.list[:64]) map(release: work)
  printf(\"%s %d %g %g\\n\", there, wrong, sum, list[63]);
  return 0;
}
";
    for (machine, compiler) in
        [("aarch64", "aarch64"), ("riscv64", "riscv64"), ("ppc64le", "powerpc64le")]
    {
        let needed = [format!("{compiler}-linux-gnu-gcc"), format!("qemu-{machine}")];
        let packages = format!("gcc-{compiler}-linux-gnu and its C library, qemu-user");
        if !machines::has(&needed.each_ref().map(String::as_str), &packages) {
            continue;
        }
        let folder = folder("", text);
        let built = build(folder.path(), &format!("remote:{machine}"), &["-O1"]);
        assert!(built.status.success(), "{}", told(&built));
        let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
        ends(&ran, 0, &[&format!("{machine} 0 4032 126\n")]);
    }
}

#[test]
fn what_kernels_print_comes_in_order() {
    let text = "#include <stdio.h>
#pragma omp requires reverse_offload
int main(void) {
  printf(\"1\\n\");
#pragma omp target
  {
    printf(\"2\\n\");
#pragma omp target device(ancestor: 1)
    printf(\"3\\n\");
    printf(\"4\\n\");
  }
  printf(\"5\\n\");
#pragma omp target
  for (int i = 0; i < 40000; i++) printf(\"line %d\\n\", i);
  printf(\"6\\n\");
  return 0;
}
";
    let ran = there(text, &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
    let lines: String = (0..40000).map(|it| format!("line {it}\n")).collect();
    let expect = format!("1\n2\n3\n4\n5\n{lines}6\n");
    assert!(ran.status.success(), "{}", told(&ran));
    assert!(ran.stdout == expect.as_bytes(), "{} bytes in another order", ran.stdout.len());
}

/// Data in pieces, each way, where nothing is shared; the program goes there with them.
#[test]
fn a_machine_that_shares_nothing_gets_programs_and_data_by_the_link() {
    let text = "#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
int table[3000000];
#pragma omp declare target enter(table)
int main(void) {
  long n = 20000003, wrong = 0;
  unsigned char *a = malloc(n);
  for (long i = 0; i < n; i++) a[i] = (unsigned char)(i * 7 + i / 251);
  for (int i = 0; i < 3000000; i++) table[i] = i;
#pragma omp target update to(table)
#pragma omp target enter data map(to: a[:n])
#pragma omp target parallel for
  for (long i = 0; i < n; i++) a[i] ^= 0x5a;
#pragma omp target parallel for
  for (int i = 0; i < 3000000; i++) table[i] += omp_is_initial_device() ? 0 : 1;
#pragma omp target update from(table)
#pragma omp target exit data map(from: a[:n])
  for (long i = 0; i < n; i++) wrong += a[i] != ((unsigned char)(i * 7 + i / 251) ^ 0x5a);
  for (int i = 0; i < 3000000; i++) wrong += table[i] != i + 1;
  char *d = omp_target_alloc(1 << 20, 0), back[64];
  omp_target_memset(d, 3, 1 << 20, 0);
  omp_target_memcpy(d + 10, d, 1000, 0, 0, 0, 0);
  omp_target_memcpy(back, d + 100, 64, 0, 0, omp_get_initial_device(), 0);
  for (int i = 0; i < 64; i++) wrong += back[i] != 3;
  printf(\"%ld wrong\\n\", wrong);
  return wrong != 0;
}
";
    let folder = folder(&described("", SENT, false), text);
    let built = build(folder.path(), "remote:m.toml", &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    let place = folder.path().join("place");
    fs::create_dir(&place).expect("a folder");
    let place = place.to_str().expect("a path");
    let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY"), ("TMPDIR", place)]);
    ends(&ran, 0, &["0 wrong"]);
    let left: Vec<_> = fs::read_dir(place).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A server of `ssh` for this user alone, on an address of this machine; ended when it is dropped.
struct Ssh(Child);

impl Drop for Ssh {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one whose keys, and the words for a client, are in the folder; nothing where there is none to start.
fn ssh(folder: &Path) -> Option<Ssh> {
    let is_there = |it: &&str| Path::new(it).exists();
    let Some(server) = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(is_there) else {
        eprintln!("skipped: there is no server of ssh here (Debian: openssh-server)");
        return None;
    };
    for key in ["server", "client"] {
        let mut make = Command::new("ssh-keygen");
        let made =
            make.args(["-q", "-t", "ed25519", "-N", "", "-f", key]).current_dir(folder).status();
        assert!(made.expect("ssh-keygen runs").success());
    }
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let (port, at) = (free.port(), folder.display());
    let words = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/server\nAuthorizedKeysFile {at}/client.pub\nPidFile none\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\n"
    );
    fs::write(folder.join("sshd_config"), words).expect("a file");
    let words = format!(
        "Host lab\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {at}/client\n  IdentitiesOnly yes\n  \
         UserKnownHostsFile {at}/known\n  StrictHostKeyChecking accept-new\n  BatchMode yes\n  LogLevel ERROR\n"
    );
    fs::write(folder.join("client_config"), words).expect("a file");
    let mut command = Command::new(server);
    command.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
    let log = fs::File::create(folder.join("log")).expect("a file");
    let server = Ssh(command.stderr(log).spawn().expect("sshd starts"));
    let limit = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > limit {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            eprintln!("skipped: sshd does not serve this user: {log}");
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Some(server)
}

/// The way to another machine that is on a network: by keys, with the program and all data through the link.
#[test]
fn a_machine_behind_ssh_is_a_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let Some(_server) = ssh(folder) else { return };
    let sent = "f=$(mktemp) && head -c {size} >$f && chmod 700 $f && { $f; rm -f $f; }";
    let runner = format!(r#""ssh", "-F", "{}/client_config", "lab", "{sent}""#, folder.display());
    fs::write(folder.join("m.toml"), described("", &runner, false)).expect("a file");
    fs::write(folder.join("a.c"), WORK).expect("a file");
    let built = build(folder, "remote:m.toml", &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    let settings = [("FERRY_DEVICE", "remote"), ("OMP_TARGET_OFFLOAD", "MANDATORY")];
    let ran = run(folder, &settings);
    let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(ran.status.success(), "{}\n{}", told(&ran), log());
    assert_eq!(String::from_utf8_lossy(&ran.stdout), ANSWER, "{}", told(&ran));
    // Without the key nobody gets in, and the program says so.
    fs::remove_file(folder.join("client")).expect("the key is there");
    ends(&run(folder, &settings), 1, &["cannot be used"]);
}

/// A program without a kernel has the device nevertheless: for memory by hand.
#[test]
fn a_program_without_regions_has_the_device() {
    let text = "#include <stdio.h>\n#include <omp.h>\nint main(void) {\n  char from[9] = \"by hand\", to[9] = \"\";\n  int h = \
                omp_get_initial_device();\n  char *there = omp_target_alloc(9, 0);\n  omp_target_memcpy(there, from, 9, 0, 0, \
                0, h);\n  omp_target_memcpy(to, there, 9, 0, 0, h, 0);\n  printf(\"%s on %d\\n\", to, omp_get_num_devices());\n  \
                omp_target_free(there, 0);\n  return 0;\n}\n";
    let settings = [("OMP_TARGET_OFFLOAD", "MANDATORY"), ("FERRY_DEVICE", "remote")];
    ends(&there(text, &settings), 0, &["by hand on 1\n"]);
    let lowered = text
        .replace("  omp_target_free", "#pragma omp target update to(to) if(0)\n  omp_target_free");
    ends(&there(&lowered, &settings), 0, &["by hand on 1\n"]);
}

/// Each fault of a kernel is told with its region, its line and what is known.
#[test]
fn kernels_that_die_are_told_with_region_and_line() {
    let check = |body: &str, status: i32, words: &[&str]| {
        let text = format!(
            "#include <stdlib.h>\n#include <stdio.h>\nstatic int deep(int n) {{ volatile char room[4096]; room[n % 4096] = \
             1; return n < 0 ? 0 : deep(n + 1) + room[7]; }}\n#pragma omp declare target enter(deep)\nint main(void) {{\n  \
             int x = 0, *p = malloc(400);\n#pragma omp target map(tofrom: x)\n  {{ {body} }}\n  return x;\n}}\n"
        );
        ends(&there(&text, &[]), status, words);
    };
    check("x = p[5];", 1, &["a.c:7:", "`main:7`", "SIGSEGV", "which comes from `p`", "help: map"]);
    let on = "int *q = &x; for (long i = 0; i < 1L << 28; i++) q[i] = 1;";
    check(on, 1, &["a.c:7:", "`main:7`", "SIGBUS"]);
    check("abort();", 1, &["a.c:7:", "`main:7`", "abort()", "SIGABRT"]);
    check("x = 5 / x;", 1, &["a.c:7:", "`main:7`", "division by zero"]);
    check("x = deep(0);", 1, &["a.c:7:", "`main:7`", "stack is used up"]);
    check("printf(\"bye\\n\"); exit(7);", 7, &["bye", "a.c:7:", "exit(7)"]);
    check("quick_exit(7);", 1, &["a.c:7:", "`main:7`", "its process ended"]);
    let threads = "\n#pragma omp parallel num_threads(2)\n  x = p[5];\n";
    check(threads, 1, &["a.c:7:", "`main:7`", "SIGSEGV"]);
}

/// A kernel that computes longer than a program may be silent, and one that never ends.
#[test]
fn kernels_take_their_time_unless_it_is_limited() {
    let text = |end: &str| {
        format!(
            "#include <stdio.h>\n#include <time.h>\nint main(void) {{\n  int x = 0;\n#pragma omp target map(tofrom: x)\n  {{ \
             time_t end = time(0) + 4; while ({end}) x ^= 1; x = 42; }}\n  printf(\"%d\\n\", x);\n  return 0;\n}}\n"
        )
    };
    let folder = folder(&described("", "", true), &text("time(0) < end"));
    let devices = "cpu:separate,remote:m.toml";
    let built = build(folder.path(), devices, &[]);
    assert!(built.status.success(), "{}", told(&built));
    ends(&run(folder.path(), &[("FERRY_DEVICE", "remote")]), 0, &["42\n"]);
    fs::write(folder.path().join("a.c"), text("end")).expect("a file");
    assert!(build(folder.path(), devices, &[]).status.success());
    for device in ["remote", "cpu:separate"] {
        let start = Instant::now();
        let ran = run(folder.path(), &[("FERRY_DEVICE", device), ("FERRY_KERNEL_TIMEOUT", "1")]);
        let words = ["a.c:5:", "`main:5`", "stopped", "FERRY_KERNEL_TIMEOUT", "help: "];
        ends(&ran, 1, &words);
        assert!(start.elapsed() < Duration::from_secs(10), "{device}: {:?}", start.elapsed());
    }
}

/// Who waits for a team keeps no processor from others, unless the user wants it so.
#[test]
fn threads_that_wait_sleep_soon_unless_the_user_says_how() {
    let text = "#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int looks = 0;
#pragma omp target map(from: looks)
  { const char *it = getenv(\"GOMP_SPINCOUNT\"); looks = it ? atoi(it) : -1; }
  printf(\"%d looks\\n\", looks);
  return 0;
}
";
    let folder = folder(&described("", "", true), text);
    let built = build(folder.path(), "cpu:separate,remote:m.toml", &[]);
    assert!(built.status.success(), "{}", told(&built));
    for device in ["cpu:separate", "remote"] {
        let looks = |setting: (&str, &str), expect: &str| {
            let ran = run(folder.path(), &[("FERRY_DEVICE", device), setting]);
            ends(&ran, 0, &[expect]);
        };
        looks(("OMP_DYNAMIC", "false"), "1000 looks\n");
        looks(("GOMP_SPINCOUNT", "77"), "77 looks\n");
        looks(("OMP_WAIT_POLICY", "active"), "-1 looks\n");
    }
}

/// A machine that has no memory left, or is not let have any, says so with the line that wanted it.
#[test]
fn memory_that_a_machine_has_not_is_told() {
    let text = "#include <stdlib.h>\nint main(void) {\n  char *a = malloc(1L << 28);\n#pragma omp target map(a[:1L << 28])\n  a[7] = \
                1;\n  return a[7] != 1;\n}\n";
    let few = r#""sh", "-c", "ulimit -v 300000 && exec {program}""#;
    for shares in [true, false] {
        let folder = folder(&described("", few, shares), text);
        assert!(build(folder.path(), "remote:m.toml", &[]).status.success());
        let must = ("OMP_TARGET_OFFLOAD", "MANDATORY");
        let ran = run(folder.path(), &[must]);
        ends(&ran, 1, &["a.c:4:", "no device", "memory cannot be reserved"]);
        let ran = run(folder.path(), &[must, ("FERRY_DEVICE_MEMORY", "100000000")]);
        ends(&ran, 1, &["a.c:4:", "`a[:1L << 28]`", "no memory for 268435456 more bytes"]);
    }
}

/// The first words of a program that speaks a version.
fn greeting(version: u64) -> Vec<u8> {
    let words: Vec<u8> = [version, 4096, 1 << 20].iter().flat_map(|it| it.to_le_bytes()).collect();
    let value = abi::remote::mixed(abi::remote::MIXED, &words);
    [abi::remote::GREETING.as_slice(), &words, &value.to_le_bytes()].concat()
}

/// What cannot be started is replaced, which is said, or is an error where it must not be.
#[test]
fn a_machine_that_is_not_there_is_replaced_as_the_policy_says() {
    let text = "#include <stdio.h>\n#include <omp.h>\nint main(void) {\n  int away = 0;\n#pragma omp target map(from: away)\n  \
                away = !omp_is_initial_device();\n  printf(\"away %d\\n\", away);\n  return 0;\n}\n";
    for (runner, why) in [
        ("\"no-such-runner\"", "cannot be run"),
        ("\"false\"", "has not greeted"),
        ("\"sh\", \"-c\", \"echo hello hello hello hello hello hello hello\"", "first words"),
        ("\"cat\", \"greeting\"", "speaks version 7"),
        ("\"sh\", \"-c\", \"sleep 1000\"", "no sign of life"),
    ] {
        let folder = folder(&described("", runner, true), text);
        fs::write(folder.path().join("greeting"), greeting(7)).expect("a file");
        assert!(build(folder.path(), "remote:m.toml", &[]).status.success());
        ends(&run(folder.path(), &[]), 0, &["away 1", "runs on `cpu`", "`remote`", why]);
        if why == "no sign of life" {
            continue;
        }
        let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
        ends(&ran, 1, &["a.c:5:", "no device", why]);
        let ran = run(folder.path(), &[("FERRY_DEVICE", "remote")]);
        ends(&ran, 1, &["device 0, `remote`, cannot be used", why]);
    }
    // A disk without room for the program, and a program that was not built for it.
    let folder = folder(&described("", "", true), text);
    assert!(build(folder.path(), "remote:m.toml", &[]).status.success());
    ends(&run(folder.path(), &[("TMPDIR", "/nowhere/at/all")]), 0, &["runs on `cpu`", "written"]);
    let ran = run(folder.path(), &[("FERRY_DEVICE", "remote:aarch64")]);
    ends(&ran, 1, &["not built for it", "--device remote:aarch64"]);
}

#[test]
fn faults_of_the_link_are_found_in_time_and_never_make_a_wrong_answer() {
    let made = folder(&described("", "\"./relay\"", false), WORK);
    let folder = made.path();
    faults::relay(folder);
    let built = build(folder, "remote:m.toml", &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    faults::of_links(Duration::from_secs(20), |settings| run(folder, settings));
}

#[test]
fn full_disks_are_told_and_never_make_a_wrong_answer() {
    let made = folder(&described("", "", true), WORK);
    let folder = made.path();
    let built = build(folder, "cpu:separate,remote:m.toml", &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    let places = [("cpu:separate", "/dev/shm"), ("remote", "/dev/shm"), ("remote", "disk")];
    faults::of_disks(folder, &places, "./a");
}

#[test]
fn signals_to_the_process_of_a_device_are_found_in_time() {
    let folder = folder(&described("", "", true), &faults::lasting());
    let mut devices = vec!["cpu:separate", "remote:m.toml"];
    devices.extend(has_arm().then_some("remote:aarch64"));
    let built = build(folder.path(), &devices.join(","), &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    for device in devices {
        faults::of_processes(device.strip_suffix(":m.toml").unwrap_or(device), || {
            let mut command = Command::new("./a");
            command.current_dir(folder.path());
            command
        });
    }
}

/// The thread that answers for the process spins, so that it has work and a processor and says nothing; the kernel sleeps.
#[test]
fn a_server_that_spins_is_given_up() {
    let text = "#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
static void spin(int signal) { for (;;) ; }
#pragma omp declare target enter(spin)
int main(void) {
  int x = 1;
#pragma omp target map(tofrom: x)
  { signal(SIGUSR1, spin); tgkill(getpid(), getpid(), SIGUSR1); sleep(50); }
  return 0;
}
";
    let folder = folder(&described("", "", true), text);
    let mut devices = vec!["cpu:separate", "remote:m.toml"];
    devices.extend(has_arm().then_some("remote:aarch64"));
    let built = build(folder.path(), &devices.join(","), &[]);
    assert!(built.status.success(), "{}", told(&built));
    for device in devices {
        let device = device.strip_suffix(":m.toml").unwrap_or(device);
        let start = Instant::now();
        let ran = run(folder.path(), &[("FERRY_DEVICE", device)]);
        ends(&ran, 1, &["a.c:8:", "`main:8`", "no sign of life"]);
        assert!(start.elapsed() < Duration::from_secs(20), "{device}: {:?}", start.elapsed());
    }
}
