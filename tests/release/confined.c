// SPDX-License-Identifier: Apache-2.0
// confined ROOT UID MEMORY_KIB PROGRAM ARGUMENT...: executes the program as a cluster with strict
// rules does. ROOT is its whole file system, and UID a user without a name. It has no capabilities,
// and cannot get any. MEMORY_KIB limits its address space, and a seccomp filter allows only the
// calls in system_calls.h.
//
// A container runtime answers EPERM to other calls. Here they end the program by SIGSYS, so that
// none is overlooked. clone3 gets ENOSYS, as with runtimes. With --try in the program's place it
// makes such calls itself, checks that they are refused, and ends by SIGSYS.
#define _GNU_SOURCE
#include "system_calls.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

// The flags of clone(2) that create namespaces, which need a capability.
#define NAMESPACE_FLAGS                                                                         \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
   CLONE_NEWNET)

enum { kMaxInstructions = 512 };

static struct sock_filter instructions[kMaxInstructions];
static unsigned short count;

static void add(unsigned short code, unsigned value, unsigned char if_true,
                unsigned char if_false) {
  if (count == kMaxInstructions) abort();
  instructions[count++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0); }

static void answer(unsigned action) { add(BPF_RET | BPF_K, action, 0, 0); }

static void answer_if_equal(unsigned value, unsigned action) {
  add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  answer(action);
}

// A call whose first argument decides: it is refused if any of `bits` is set, else allowed. With no
// bits, only the families of sockets that leave the network namespace are refused.
static void judge_by_argument(int call, unsigned bits) {
  const unsigned short at = count;
  add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 0);  // the jump over it is set below
  load(offsetof(struct seccomp_data, args[0]));
  if (bits != 0) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(SECCOMP_RET_ERRNO | EPERM);
  } else {
    answer_if_equal(AF_VSOCK, SECCOMP_RET_ERRNO | EPERM);
    answer_if_equal(AF_ALG, SECCOMP_RET_ERRNO | EPERM);
  }
  answer(SECCOMP_RET_ALLOW);
  instructions[at].jf = (unsigned char)(count - at - 1);
}

static int install_filter(void) {
  load(offsetof(struct seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
  answer(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(struct seccomp_data, nr));
  judge_by_argument(SYS_clone, NAMESPACE_FLAGS);
  judge_by_argument(SYS_socket, 0);
  answer_if_equal(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  for (size_t i = 0; i < sizeof kSystemCalls / sizeof *kSystemCalls; ++i) {
    answer_if_equal((unsigned)kSystemCalls[i], SECCOMP_RET_ALLOW);
  }
  answer(SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {.len = count, .filter = instructions};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int drop_privileges(unsigned id) {
  // Up to the first that the kernel does not know.
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability) == 0; ++capability) {
  }
  if (setgroups(0, NULL) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
    return -1;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int fail(const char* what) {
  fprintf(stderr, "confined: ");
  perror(what);
  return 126;
}

static int is_refused(long result, int error) { return result == -1 && errno == error; }

static int try_calls(void) {
  if (!is_refused(syscall(SYS_clone, CLONE_NEWUSER, NULL, NULL, NULL, 0), EPERM)) return 1;
  if (!is_refused(syscall(SYS_clone3, NULL, 0), ENOSYS)) return 2;
  if (!is_refused(socket(AF_VSOCK, SOCK_STREAM, 0), EPERM)) return 3;
  if (!is_refused(socket(AF_ALG, SOCK_SEQPACKET, 0), EPERM)) return 4;
  syscall(SYS_sysinfo, NULL);
  return 5;
}

int main(int argc, char** argv) {
  const unsigned id = argc < 5 ? 0 : (unsigned)strtoul(argv[2], NULL, 10);
  const rlim_t bytes = argc < 5 ? 0 : strtoul(argv[3], NULL, 10) * 1024;
  const struct rlimit memory = {.rlim_cur = bytes, .rlim_max = bytes};
  if (id == 0 || bytes == 0) {
    fputs("usage: confined ROOT UID MEMORY_KIB PROGRAM [ARGUMENT]...\n", stderr);
    return 126;
  }
  if (chroot(argv[1]) != 0 || chdir("/") != 0) return fail(argv[1]);
  if (drop_privileges(id) != 0) return fail("cannot drop privileges");
  if (setrlimit(RLIMIT_AS, &memory) != 0) return fail("cannot bound the memory");
  if (install_filter() != 0) return fail("cannot install the filter");
  if (strcmp(argv[4], "--try") == 0) return try_calls();
  execv(argv[4], argv + 4);
  return 126;  // anything else might be a call that is not allowed
}
