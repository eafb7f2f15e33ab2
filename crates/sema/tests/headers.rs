//! The headers of the C library and of the compiler are typed without a word of complaint, and
//! what they declare can be used.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::io::Write;
use std::process::{Command, Stdio};

use directive::Directives;
use ir::layout::LP64;

/// C's own, then POSIX's and the compiler's.
const HEADERS: &str = "
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
    wchar wctype
    aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary
    mqueue net/if netdb netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore
    spawn strings sys/epoll sys/ioctl sys/ipc sys/mman sys/msg sys/resource sys/select sys/sem sys/shm
    sys/socket sys/stat sys/statvfs sys/time sys/times sys/types sys/uio sys/un sys/utsname sys/wait
    syslog tar termios ucontext ulimit unistd utime utmpx wordexp omp";

const USE: &str = "
int use(double d, float f, double complex z, long double e, int i) {
  double r = sqrt(d) + sqrt(f) + cabs(z) + fabs(e) + pow(f, i) + fmax(d, f) + ldexp(f, i);
  _Static_assert(_Generic(sqrt(f), float: 1, default: 0), \"float\");
  _Static_assert(_Generic(sqrt(z), double complex: 1, default: 0), \"complex\");
  _Static_assert(_Generic(pow(f, i), double: 1, default: 0), \"double\");
  if (isnan(r) || isinf(f) || signbit(e) || isgreater(d, f)) return fpclassify(r);
  atomic_int a = 0; atomic_fetch_add(&a, 1); atomic_store(&a, 3);
  assert(i > 0);
  errno = 0;
  fd_set s; FD_ZERO(&s); FD_SET(0, &s);
  return htonl(3) + INT32_C(4) + atomic_load(&a) + (int)offsetof(struct stat, st_size);
}
";

fn preprocess(text: &str, flags: &[&str]) -> Vec<u8> {
    let mut cc = Command::new("gcc")
        .args(["-E", "-fopenmp", "-xc", "-"])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gcc is installed");
    cc.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("gcc reads");
    cc.wait_with_output().expect("gcc ends").stdout
}

#[track_caller]
fn accepted(flags: &[&str]) {
    let includes: String =
        HEADERS.split_whitespace().map(|it| format!("#include <{it}.h>\n")).collect();
    let text = preprocess(&format!("#define _GNU_SOURCE\n{includes}{USE}"), flags);
    let mut directives = Directives::new();
    let parsed = syntax::parse(&text, 1, &mut directives);
    assert_eq!(parsed.diagnostics.errors(), 0);
    let checked = sema::check(parsed.tree, &directives, &LP64);
    let faults: Vec<_> = checked.diagnostics.iter().map(|it| &it.message).collect();
    assert!(faults.is_empty(), "{flags:?}: {faults:#?}");
    assert_eq!(ir::verify::verify(&checked.program), [], "{flags:?}");
}

#[test]
fn headers_as_they_are() {
    accepted(&[]);
}

#[test]
fn headers_with_checks_and_inline_functions() {
    accepted(&["-O2", "-D_FORTIFY_SOURCE=2"]);
}

#[test]
fn headers_of_other_standards() {
    accepted(&["-std=c11"]);
    accepted(&["-std=gnu2x"]);
}
