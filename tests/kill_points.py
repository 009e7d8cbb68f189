"""Kill a process before each of its file-changing system calls, or half-way through a write.

The process is a fork of the test, stopped at its system calls by ``ptrace``: so the calls of SQLite
are seen like those of Python. What the kernel has been told stays, as after any ``kill -9``.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

_TRACEME, _SYSCALL, _SETOPTIONS, _GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
_TRACESYSGOOD, _EXITKILL = 1, 1 << 20
_STOPPED_AT_CALL: Final = signal.SIGTRAP | 0x80
_ENTRY: Final = 1
_CREATE_OR_CUT: Final = os.O_CREAT | os.O_TRUNC

_WRITES: Final = ("write", "pwrite64")
_OPENS: Final = {"open": 1, "openat": 2}  # which argument has the flags
_CALLS: Final[dict[str, dict[int, str]]] = {
    "x86_64": {
        1: "write", 18: "pwrite64", 20: "writev", 296: "pwritev", 328: "pwritev2",
        2: "open", 257: "openat", 85: "creat", 76: "truncate", 77: "ftruncate", 285: "fallocate",
        82: "rename", 264: "renameat", 316: "renameat2", 83: "mkdir", 258: "mkdirat", 84: "rmdir",
        86: "link", 265: "linkat", 87: "unlink", 263: "unlinkat", 88: "symlink", 266: "symlinkat",
        40: "sendfile", 326: "copy_file_range",
    },
    "aarch64": {
        64: "write", 68: "pwrite64", 66: "writev", 70: "pwritev", 287: "pwritev2",
        56: "openat", 45: "truncate", 46: "ftruncate", 47: "fallocate",
        38: "renameat", 276: "renameat2", 34: "mkdirat", 37: "linkat", 35: "unlinkat",
        36: "symlinkat", 71: "sendfile", 285: "copy_file_range",
    },
}  # fmt: skip
_CHANGES: Final = _CALLS.get(os.uname().machine, {})
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class _Info(ctypes.Structure):
    """What the kernel says of a stop at a system call."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("arch", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
        ("more", ctypes.c_uint64),
    )


def available() -> bool:
    """Whether a child can be traced here: on Linux, where nothing forbids it."""
    if sys.platform != "linux" or not _CHANGES:
        return False
    try:
        return killed_at(lambda: None, 1) is None
    except OSError:
        return False


def killed_at(work: Callable[[], None], point: int, *, torn: bool = False) -> str | None:
    """Run ``work`` in a fork that dies before its change number ``point``; which call that is.

    None if there are fewer. With ``torn`` half of the bytes are written first, and only writes to
    files count.
    """
    child = os.fork()
    if child == 0:
        try:
            _ptrace(_TRACEME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            work()
        finally:
            os._exit(0)  # whatever was raised: only the calls count
    try:
        os.waitpid(child, 0)
        _ptrace(_SETOPTIONS, child, 0, _TRACESYSGOOD | _EXITKILL)
        return _followed(child, point, torn)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.waitpid(child, 0)


def _followed(child: int, point: int, torn: bool) -> str | None:
    info, passed_on, seen = _Info(), 0, 0
    while True:
        _ptrace(_SYSCALL, child, 0, passed_on)
        status = os.waitid(os.P_PID, child, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
        assert status is not None
        if status.si_code in (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED):
            return None
        os.waitpid(child, 0)
        passed_on = 0 if status.si_status == _STOPPED_AT_CALL else status.si_status
        if passed_on:
            continue
        _ptrace(_GET_SYSCALL_INFO, child, ctypes.sizeof(info), ctypes.addressof(info))
        if info.op != _ENTRY or not _changes(child, info, torn):
            continue
        seen += 1
        if seen == point:
            if torn:
                _write_half(child, info)
            os.kill(child, signal.SIGKILL)  # at the entry: the call itself is not made
            return _CHANGES[info.number]


def _changes(child: int, info: _Info, torn: bool) -> bool:
    name = _CHANGES.get(info.number, "")
    if name in _OPENS:
        return not torn and bool(info.arguments[_OPENS[name]] & _CREATE_OR_CUT)
    if name in _WRITES:
        to_a_file = Path(f"/proc/{child}/fd/{info.arguments[0]}").is_file()
        return to_a_file and (not torn or info.arguments[2] > 1)
    return bool(name) and not torn


def _write_half(child: int, info: _Info) -> None:
    """In the child's place: the first half of the bytes, where it would have written them."""
    number, address, count, offset = info.arguments[:4]
    with open(f"/proc/{child}/mem", "rb") as memory:
        memory.seek(address)
        content = memory.read(count // 2)
    if _CHANGES[info.number] == "write":
        said = Path(f"/proc/{child}/fdinfo/{number}").read_text().split()
        appends = int(said[said.index("flags:") + 1], 8) & os.O_APPEND
        file = Path(f"/proc/{child}/fd/{number}")
        offset = file.stat().st_size if appends else int(said[said.index("pos:") + 1])
    target = os.open(f"/proc/{child}/fd/{number}", os.O_WRONLY)
    try:
        os.pwrite(target, content, offset)
    finally:
        os.close(target)


def _ptrace(request: int, child: int, address: int = 0, data: int = 0) -> None:
    pointers = ctypes.c_void_p(address), ctypes.c_void_p(data)
    if _LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(child), *pointers) == -1:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem))
