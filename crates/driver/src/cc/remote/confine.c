/* What kernels never need is taken from the process before the first of them runs: to start programs, to write, make or
   remove files, to open sockets, to look into other processes, to change the system. Systems differ in what they offer for
   that; the host is told what was done. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#ifdef __linux__
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/seccomp.h>) && __has_include(<linux/filter.h>) && __has_include(<linux/audit.h>)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#if defined(__x86_64__)
#define FERRY_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FERRY_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && defined(AUDIT_ARCH_RISCV64)
#define FERRY_ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__)
#define FERRY_ARCH AUDIT_ARCH_PPC64LE
#endif
#endif
#endif

#ifdef FERRY_ARCH
/* Calls that answer EPERM; what is not named here stays. */
static const unsigned ferry_denied[] = {
  SYS_execve, SYS_execveat, SYS_socket, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2,
  SYS_chroot, SYS_pivot_root, SYS_setns, SYS_unshare, SYS_bpf, SYS_perf_event_open, SYS_init_module, SYS_finit_module,
  SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_add_key, SYS_keyctl, SYS_request_key,
  SYS_userfaultfd, SYS_open_by_handle_at, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
  SYS_sethostname, SYS_setdomainname, SYS_quotactl, SYS_personality,
#ifdef SYS_io_uring_setup
  SYS_io_uring_setup,
#endif
#ifdef SYS_iopl
  SYS_iopl, SYS_ioperm,
#endif
};

static int ferry_calls_denied(void) {
  enum { COUNT = sizeof ferry_denied / sizeof *ferry_denied };
  struct sock_filter code[COUNT + 8];
  unsigned short at = 0;
  struct sock_filter denied = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  struct sock_filter allowed = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FERRY_ARCH, 1, 0);
  code[at++] = denied;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  /* The numbers of x32, which mean other calls. */
  code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, COUNT + 1, 0);
  for (unsigned i = 0; i < COUNT; i++)
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ferry_denied[i], (unsigned char)(COUNT - i), 0);
  code[at++] = allowed;
  code[at++] = denied;
  struct sock_fprog program = {at, code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#else
static int ferry_calls_denied(void) { return 0; }
#endif

#ifdef __linux__
/* Files may be read, and nothing else. The numbers of the calls are the same on all processors. */
static int ferry_files_kept(void) {
  enum { CREATE = 444, RESTRICT = 446 };
  /* Run, write, remove and make files of all kinds: what the first version knows, but for reading. */
  uint64_t handled = ((uint64_t)1 << 13) - 1 - (1 << 2) - (1 << 3);
  int rules = (int)syscall(CREATE, &handled, sizeof handled, 0);
  if (rules < 0) return 0;
  int is_kept = syscall(RESTRICT, rules, 0) == 0;
  close(rules);
  return is_kept;
}
#endif

/* Bits: no more rights, calls denied, files kept. Threads that are there already stay as they are. */
static uint64_t ferry_confine(void) {
  uint64_t done = 0;
#ifdef __linux__
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) done |= 1;
  if (done && ferry_files_kept()) done |= 4;
  if (done && ferry_calls_denied()) done |= 2;
#endif
  return done;
}
