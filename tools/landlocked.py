"""Run a command that may read and execute only below one folder: a Landlock demonstration for tools/take_apart.py.

Usage: python3 landlocked.py FOLDER COMMAND [ARGUMENT...]

Landlock's system calls have no wrapper in Python, so they are made by number here (the same on every architecture).
Everything that the first version of Landlock can refuse is refused, and reading and executing below FOLDER allowed.
"""

import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
ALL_OF_ABI_1 = (1 << 13) - 1
RULE_PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """A system call; leaves with the kernel's answer where it fails."""
    answer = libc.syscall(number, *arguments)
    if answer < 0:
        sys.exit(f"landlocked.py: system call {number}: {os.strerror(ctypes.get_errno())}")
    return int(answer)


def restrict(folder: str) -> None:
    """Leave this process, and all that it starts, with `folder` alone."""
    ruleset = call(CREATE_RULESET, struct.pack("=Q", ALL_OF_ABI_1), ctypes.c_size_t(8), 0)
    below = struct.pack("=Qi", EXECUTE | READ_FILE | READ_DIR, os.open(folder, os.O_PATH))
    call(ADD_RULE, ruleset, RULE_PATH_BENEATH, below, 0)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call(RESTRICT_SELF, ruleset, 0)


if __name__ == "__main__":
    restrict(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
