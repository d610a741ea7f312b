"""The first process of a sandbox: it builds the candidate's world, starts the candidate in it, and hands back its file.

It is a script of its own, started with `python -I -S`, and imports nothing but the standard library. What it is to do
comes as JSON on standard input. What it has to tell goes to the pipe `plan["report"]`: a line of JSON with the number
of the process that ends all others when it is killed; then one that says why there can be no sandbox, or how the
candidate ended; then the bytes of the candidate's file. The candidate has neither of the two pipes.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import sys
from pathlib import Path
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE, MNT_DETACH = 16384, 1 << 18, 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
#: `mount_setattr` has one number everywhere; others have not.
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_KEYCTL, KEYCTL_JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}, 1
#: How the kernel calls each machine, and the numbers of `socket` and `socketpair` there.
ARCHITECTURE = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}
#: Kinds of sockets that a network namespace keeps apart: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Others reach further:
#: AF_VSOCK, for example, the host of a virtual machine.
SOCKETS = (1, 2, 10, 16)
#: What no candidate needs: `shmget`, whose memory no process has; `io_uring_setup`, which makes sockets beside these
#: rules; `bpf`, `perf_event_open` and `userfaultfd`, by which kernels were broken into.
REFUSED = {"x86_64": (29, 425, 321, 298, 323), "aarch64": (194, 425, 280, 241, 282)}
#: Who the candidate is inside.
UID = 1000
DEVICES = ("null", "zero", "full", "random", "urandom")

libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """The system does not give what a sandbox is made of."""


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def _call(what: str, code: int) -> None:
    if code != 0:
        raise RefusedError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())
    _call(f"mount of {kind or source}", libc.mount(*arguments))


def main() -> int:
    """Do what the plan says."""
    plan = json.load(sys.stdin)
    Path("/proc/self/oom_score_adj").write_text("1000")  # where memory runs out, the candidate is ended first
    report = os.fdopen(plan["report"], "wb", buffering=0)
    try:
        if not plan["protected"]:
            return _unprotected(plan, report)
        _enter_namespaces(plan["outer"])
        init = os.fork()
        if init == 0:
            _first_process(plan, report)
        _tell(report, {"init": init})
        return os.waitstatus_to_exitcode(os.waitpid(init, 0)[1])
    except RefusedError as error:
        _tell(report, {"refused": str(error)})
        return 1


def _tell(report: Any, what: dict[str, Any]) -> None:
    report.write(json.dumps(what).encode() + b"\n")


def _enter_namespaces(outer: int | None) -> None:
    """Namespaces of all kinds for this process and its children. Root stays root inside, which is worth nothing outside
    of them, and the candidate becomes `outer`; anybody else is mapped to the candidate alone."""
    uid, gid, waiting, go = os.getuid(), os.getgid(), *os.pipe()
    writer = os.fork() if outer is not None else 0
    if outer is not None and writer == 0:  # only a process outside may map more than itself
        os.close(go)
        os.read(waiting, 1)
        os._exit(_write_maps(os.getppid(), f"0 0 1\n{UID} {outer} 1\n", f"0 0 1\n{UID} {outer} 1\n"))
    _call("new namespaces", libc.unshare(ALL_NAMESPACES))
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if outer is None:
        Path("/proc/self/setgroups").write_text("deny")
        failed = _write_maps(os.getpid(), f"{UID} {uid} 1\n", f"{UID} {gid} 1\n")
    else:
        os.close(go)
        failed = os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1])
    if failed:
        raise RefusedError(f"map of users: {os.strerror(failed)}")


def _write_maps(process: int, users: str, groups: str) -> int:
    try:
        for name, text in (("gid_map", groups), ("uid_map", users)):
            handle = os.open(f"/proc/{process}/{name}", os.O_WRONLY)
            os.write(handle, text.encode())
            os.close(handle)
    except OSError as error:
        return error.errno or 1
    return 0


def _first_process(plan: dict[str, Any], report: Any) -> NoReturn:
    """Process 1 of the sandbox; when it ends, so does every other process in it."""
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(PR_SET_DUMPABLE, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # which process 1 does not get from inside
        libc.sethostname(b"judge", 5)
        _build_world(plan)
        _refuse_calls()
    except (RefusedError, OSError) as error:
        _tell(report, {"refused": str(error)})
        os._exit(1)
    try:
        _oversee(plan, report)
    finally:  # the copy of stage 1 that a fork makes must not go on as if it were stage 1
        os._exit(0)


def _build_world(plan: dict[str, Any]) -> None:
    """A root of its own, with what the plan lists and nothing else of the disk."""
    root = plan["root"]
    _call("private mounts", libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None))
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,nr_inodes=20000,mode=755")
    for path in ("proc", "dev", "tmp", "out", "old"):
        Path(root, path).mkdir()
    _mount("tmpfs", f"{root}/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,nr_inodes=64,mode=755")
    Path(root, "dev/shm").mkdir()
    room = f"size={plan['room']},nr_inodes=100000,mode=1777"
    for path, options in (("dev/shm", room), ("tmp", room), ("out", f"size={plan['output']},nr_inodes=1000,mode=1777")):
        _mount("tmpfs", f"{root}/{path}", "tmpfs", MS_NOSUID | MS_NODEV, options)
    for name in DEVICES:
        _bind(f"/dev/{name}", f"{root}/dev/{name}")
    for name, text in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(root, "dev", name).symlink_to(text)
    for path, text in plan["links"]:
        _place(f"{root}{path}").symlink_to(text)
    for path, text in plan["files"]:
        _place(f"{root}{path}").write_text(text)
    for source, target in plan["binds"]:
        _bind(source, f"{root}{target}")
        _make_read_only(f"{root}{target}")
    for path in plan["hidden"]:
        _hide(f"{root}{path}")
    _mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    # Whoever can make a user namespace can mount a tmpfs of any size in it, beyond every limit on memory.
    Path(root, "proc/sys/user/max_user_namespaces").write_text("0")
    number = SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise RefusedError(f"pivot_root: no number known for {os.uname().machine}")
    _call("pivot_root", libc.syscall(ctypes.c_long(number), root.encode(), f"{root}/old".encode()))
    os.chdir("/")
    _call("umount of the old root", libc.umount2(b"/old", MNT_DETACH))
    Path("/old").rmdir()
    _mount("none", "/", "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


class _Rule(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class _Rules(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint16), ("rules", ctypes.POINTER(_Rule))]


def _refuse_calls() -> None:
    """A filter on system calls, for this process and all that come from it; it cannot be taken off."""
    rules = _filter(os.uname().machine)
    program = _Rules(len(rules), (_Rule * len(rules))(*(_Rule(*rule) for rule in rules)))
    _call("no new privileges", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _call("filter of system calls", libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


def _filter(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter as a program of the kernel's: each step is a code, how many steps to leave out where its answer is yes
    and where it is no, and an operand."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | errno.EPERM
    about, single, pair = ARCHITECTURE[machine]
    # Another architecture, such as 32 bit, has numbers of its own, and so has x32, from 1 << 30 on.
    steps = [(load, 0, 0, 4), (equal, 1, 0, about), (give, 0, 0, refuse)]
    steps += [(load, 0, 0, 0), (at_least, 0, 1, 1 << 30), (give, 0, 0, refuse)]
    for number in REFUSED[machine]:
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    steps += [(equal, 2, 0, single), (equal, 1, 0, pair), (give, 0, 0, allow), (load, 0, 0, 16)]
    for kind in SOCKETS:
        steps += [(equal, 0, 1, kind), (give, 0, 0, allow)]
    return [*steps, (give, 0, 0, refuse)]


def _place(path: str) -> Path:
    """A path whose folder is there."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Path(path)


def _bind(source: str, target: str) -> None:
    if Path(source).is_dir():
        Path(target).mkdir(parents=True, exist_ok=True)
    else:
        _place(target).touch()
    # A folder with mounts below it, which a user namespace may not leave out, comes with them.
    if libc.mount(source.encode(), target.encode(), None, ctypes.c_ulong(MS_BIND), None) != 0:
        _mount(source, target, "", MS_BIND | MS_REC)


def _hide(path: str) -> None:
    """Something below a folder that is bound, covered by nothing."""
    if Path(path).is_dir():
        _mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,nr_inodes=2,mode=555")
    elif Path(path).exists():
        _mount("/dev/null", path, "", MS_BIND)


def _make_read_only(path: str) -> None:
    """What is bound, with the mounts that came with it."""
    attributes = _Attributes(MS_RDONLY | MS_NOSUID | MS_NODEV, 0, 0, 0)
    arguments = (ctypes.c_int(AT_FDCWD), path.encode(), ctypes.c_uint(AT_RECURSIVE), ctypes.byref(attributes))
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _call("mount_setattr", libc.syscall(ctypes.c_long(SYS_MOUNT_SETATTR), *arguments, size))


def _unprotected(plan: dict[str, Any], report: Any) -> int:
    """The same without a world of its own."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    _tell(report, {"init": os.getpid()})
    _oversee(plan, report)
    return 0


def _oversee(plan: dict[str, Any], report: Any) -> None:
    """Start the candidate, wait until it ends, end whatever it has left behind, and hand back its file."""
    candidate = os.fork()
    if candidate == 0:
        _become_candidate(plan)
    status, left = 0, True
    while left:
        try:
            ended, code = os.wait()
        except ChildProcessError:
            left = False
        else:
            if ended == candidate:
                status = os.waitstatus_to_exitcode(code)
                if plan["protected"]:
                    _kill_the_others()
    full = plan["protected"] and os.statvfs("/out").f_bavail == 0
    content, why = _output(plan["out"], plan["output"])
    _tell(report, {"ended": status, "full": full, "why": why, "size": len(content)})
    report.write(content)
    report.close()


def _kill_the_others() -> None:
    try:
        os.kill(-1, signal.SIGKILL)  # as process 1: all that there are in its namespace
    except ProcessLookupError:
        return


def _output(path: str, most: int) -> tuple[bytes, str]:
    """The candidate's file, or why it is not taken: only a plain file of bounded size is."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return b"", f"cannot be opened as a file: {error.strerror}"
    kind = os.fstat(handle)
    if not stat.S_ISREG(kind.st_mode):
        return b"", "is no plain file"
    if kind.st_size > most:
        return b"", f"has {kind.st_size:,} bytes; at most {most:,} are taken"
    with os.fdopen(handle, "rb") as file:
        return file.read(most), ""


def _become_candidate(plan: dict[str, Any]) -> NoReturn:
    """The candidate's program, with no privilege, no open file and no word of ours but the plan's own."""
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(plan["log"], 1)
        os.dup2(plan["log"], 2)
        os.closerange(3, 1 << 16)
        for name, most in plan["limits"]:
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
        if plan["protected"]:
            _drop_privileges(plan["outer"] is not None)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        os.umask(0o022)
        os.chdir(plan["folder"])
        os.execvpe(plan["command"][0], plan["command"], plan["environment"])
    except (OSError, ValueError, RefusedError) as error:
        os.write(2, f"{plan['command'][0]}: cannot be started: {error}\n".encode())
    finally:  # whatever happens, no second copy of process 1 goes on from here
        os._exit(127)


def _drop_privileges(was_root: bool) -> None:
    keyring = SYS_KEYCTL[os.uname().machine]  # one of its own: the caller's session may have keys
    libc.syscall(ctypes.c_long(keyring), ctypes.c_int(KEYCTL_JOIN_SESSION_KEYRING), None)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if was_root:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call("capset", libc.capset(header, (ctypes.c_uint32 * 6)()))


if __name__ == "__main__":
    sys.exit(main())
