"""Run a command that never outlives the process that started it.

``python -m reorderer.watchdog -- CMD ARG...`` runs CMD in a process group of its own and watches its own standard
input, the lifeline: a pipe whose other end the parent holds. When the parent ends, however it ends (SIGKILL as well),
the kernel closes the pipe and the watchdog stops CMD. SIGTERM does the same. Stopping means SIGTERM to CMD, so that it
can end its own children in its own order; then SIGTERM to whatever is left of the group, and SIGKILL to what is left
after the grace. The exit code is CMD's (128 + n when signal n ended it).

SIGINT is ignored: Ctrl-C also reaches the parent, and the order in which things end is for the parent to say.

Standard library only, and no import of the package: `Guarded` runs this file by its path.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

GRACE_S = 10.0


class Guarded:
    """A running command under a watchdog. It ends with this process at the latest.

    `remove` names a folder that the watchdog deletes if this process dies before it stops the command.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        grace_s: float = GRACE_S,
        remove: Path | None = None,
    ) -> None:
        self._read_fd, write_fd = os.pipe()
        options = ["--grace", str(grace_s), "--pid-fd", str(write_fd), *(["--remove", str(remove)] if remove else [])]
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, write_fd)
            output = None if log is None else stack.enter_context(log.open("ab"))
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", __file__, *options, "--", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output and subprocess.STDOUT,
                env=None if env is None else dict(env),
                cwd=cwd,
                pass_fds=(write_fd,),
                start_new_session=True,
            )
        self.pid = self._read_pid()

    def _read_pid(self) -> int:
        with os.fdopen(self._read_fd) as pipe:
            line = pipe.readline()
        if not line:
            raise OSError(f"the command did not start (watchdog exit code {self.wait()})")
        return int(line)

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        return self._watchdog.poll()

    def wait(self, timeout_s: float | None = None) -> int:
        """Return the exit code once the command has ended; raises subprocess.TimeoutExpired."""
        code = self._watchdog.wait(timeout_s)
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()
        return code

    def terminate(self) -> None:
        """Ask the watchdog to stop the command; `wait` tells when it has."""
        self._watchdog.terminate()

    def stop(self) -> int:
        """Stop the command (SIGTERM, after the grace SIGKILL); return its exit code once its whole group is gone."""
        self.terminate()
        return self.wait()

    def kill(self) -> int:
        """End the command's whole group with SIGKILL; return its exit code once it is gone."""
        if self.poll() is None:
            _signal_group(self.pid, signal.SIGKILL)
        return self.wait()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command of `argv` and return its exit code once its process group is gone."""
    args = _parse(argv)
    with contextlib.suppress(PermissionError):  # already a leader: out of reach of the parent's group either way
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _adopt_orphans()
    wake_fd = _wake_on(signal.SIGTERM, signal.SIGCHLD)
    try:
        child = subprocess.Popen(args.command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=_default_sigint)
    except OSError as error:
        print(f"watchdog: cannot run {args.command[0]!r}: {error.strerror}", file=sys.stderr)
        return 127
    if args.pid_fd is not None:
        with os.fdopen(args.pid_fd, "w") as pipe:
            print(child.pid, file=pipe)
    orphaned = _watch(child, wake_fd)
    _end(child, args.grace)
    if orphaned and args.remove is not None:
        shutil.rmtree(args.remove, ignore_errors=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m reorderer.watchdog",
        description="Run CMD until it ends, standard input closes or SIGTERM arrives; then nothing of it stays behind.",
    )
    parser.add_argument("--grace", type=float, default=GRACE_S, metavar="S", help="seconds from SIGTERM to SIGKILL")
    parser.add_argument("--pid-fd", type=int, metavar="FD", help="write CMD's process id to this file descriptor")
    parser.add_argument(
        "--remove", type=Path, metavar="DIR", help="delete DIR if standard input closes before CMD ends"
    )
    parser.add_argument("command", nargs="+", metavar="CMD", help="the command and its arguments, after --")
    return parser.parse_args(argv)


def _default_sigint() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an ignored signal would be inherited over exec


def _wake_on(*signals: signal.Signals) -> int:
    """Return a file descriptor on which each of these signals arrives as a byte."""
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    signal.set_wakeup_fd(write_fd)
    for signum in signals:
        signal.signal(signum, lambda *_: None)
    return read_fd


def _watch(child: subprocess.Popen[bytes], wake_fd: int) -> bool:
    """Return once the child has ended or is to be stopped; True if standard input has closed."""
    lifeline_fd = sys.stdin.fileno()
    while child.poll() is None:
        ready, _, _ = select.select([lifeline_fd, wake_fd], [], [])
        if lifeline_fd in ready and not os.read(lifeline_fd, 4096):
            return True
        if wake_fd in ready and signal.SIGTERM in os.read(wake_fd, 4096):
            return False
    return False


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the child, then the rest of its group, then by force what is left of either when the grace is over."""
    deadline = time.monotonic() + grace_s
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace_s)
        _signal_group(child.pid, signal.SIGTERM)
        while _is_group_alive(child.pid) and time.monotonic() < deadline:
            time.sleep(0.02)  # they may not be our children: there is no event to wait for
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _adopt_orphans() -> None:
    """Become the parent of what the command leaves behind, so that it can be reaped: not every init does."""
    if sys.platform == "linux":
        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def _is_group_alive(group: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    return _signal_group(group, 0)


def _signal_group(group: int, signum: int) -> bool:
    """Signal a process group; False if it is gone."""
    try:
        os.killpg(group, signum)
    except (ProcessLookupError, PermissionError):  # macOS reports a group of zombies as not permitted
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
