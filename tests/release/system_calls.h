// SPDX-License-Identifier: Apache-2.0
// The system calls that the release binaries make, in all their functions and failures. The
// default seccomp profile of container runtimes, which is Kubernetes' RuntimeDefault (containerd's
// contrib/seccomp, Docker's moby/profiles), allows all of them to a process without capabilities.
// confined.c stops a program that makes another.
#pragma once

#include <sys/syscall.h>

// clang-format off
static const int kSystemCalls[] = {
    // Of the process and its memory.
    SYS_brk, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap, SYS_madvise,
    SYS_set_tid_address, SYS_prctl, SYS_prlimit64, SYS_getrandom, SYS_sched_getaffinity,
    SYS_getpid, SYS_getppid, SYS_gettid, SYS_geteuid, SYS_getegid, SYS_getgroups, SYS_uname,
    SYS_umask, SYS_exit_group,
    // Signals and time.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_kill, SYS_setitimer,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_restart_syscall,
    // Files and directories.
    SYS_openat, SYS_close, SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_lseek,
    SYS_fstat, SYS_newfstatat, SYS_fstatfs, SYS_faccessat, SYS_readlinkat, SYS_getdents64,
    SYS_fcntl, SYS_ioctl, SYS_flock, SYS_fsync, SYS_fchmod, SYS_mkdirat, SYS_renameat,
    SYS_unlinkat, SYS_utimensat,
    // Sockets.
    SYS_socket, SYS_bind, SYS_connect, SYS_sendto, SYS_sendmsg, SYS_recvfrom, SYS_recvmsg,
    SYS_getsockname, SYS_getsockopt, SYS_setsockopt, SYS_shutdown,
    SYS_ppoll,
    // A plugin that execcred runs, a command that gives a subject token.
    SYS_clone, SYS_execve, SYS_wait4, SYS_waitid, SYS_pidfd_open, SYS_pipe2, SYS_dup3, SYS_setpgid,
    SYS_close_range,
    // The thread that resolves names.
    SYS_eventfd2, SYS_futex, SYS_exit,
#ifdef __x86_64__
    // Calls that other architectures have only under another name.
    SYS_arch_prctl, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rename,
    SYS_unlink, SYS_poll, SYS_dup2, SYS_vfork,
#endif
};
// clang-format on
