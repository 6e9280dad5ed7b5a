"""The first step of a student's process: limits that the student's code cannot lift,
then the student's half.

`python -I confined.py FD MEMORY` limits memory to MEMORY bytes, cuts off the network
and runs `student` on the socket FD by `exec`. It imports only the standard library,
because a process can create namespaces only while it has a single thread, and numpy
starts more.

If the kernel refuses namespaces, as in many containers, the network stays open, and a
process that leaves its session outlives the grading. The account and the limits still
apply.
"""

import contextlib
import ctypes
import os
import resource
import sys

# CLONE_* of Linux
NEW_USER = 0x10000000
NEW_PROCESSES = 0x20000000
NEW_NETWORK = 0x40000000
FILE = 2**28  # largest file, in bytes, that may be written


def limit(memory: int) -> None:
    """Limit memory and the size of files, and disable core dumps."""
    for kind, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def isolate() -> bool:
    """Move into namespaces without a network or other processes; True if the kernel
    lets this account do so.
    """
    user = os.getuid()
    group = os.getgid()
    try:
        if ctypes.CDLL(None).unshare(NEW_USER | NEW_PROCESSES | NEW_NETWORK):
            return False
    except (AttributeError, OSError):
        return False
    # The account keeps its number. Some systems refuse this, and the process then sees
    # itself as `nobody`.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with (
            contextlib.suppress(OSError),
            open(f"/proc/self/{name}", "w", encoding="ascii") as file,
        ):
            file.write(text)
    return True


def main() -> None:
    """Confine this process, then become the student's half."""
    descriptor, memory = sys.argv[1:]
    limit(int(memory))
    if isolate() and (child := os.fork()):
        # The child is the first process of its namespace: when it ends, the kernel ends
        # all that it has started.
        os.close(int(descriptor))
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
    os.execv(
        sys.executable,
        [sys.executable, "-m", "rankone_book.exercises.student", descriptor],
    )


if __name__ == "__main__":
    main()
