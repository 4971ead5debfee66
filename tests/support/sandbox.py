"""Namespaces of one's own for scripts that bring labs up: whatever they make goes with them.

Mounts (with an empty /run), processes and the network are private, so two scripts at once cannot meet,
and nothing is left behind when any of it is killed.
"""

import ctypes
import os
import signal
import subprocess
import sys

SANDBOX = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child=KILL", "--mount-proc",
           "--propagation", "private", "--", "bash", "-c",
           # As process 1 bash reaps orphans; it must not exec its command away.
           'mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/lock /run/bench && '
           'ip link set lo up && "$@"; exit $?', "sandbox"]


def die_with_parent(parent=None):
    """For preexec_fn: SIGKILL when the parent goes (PR_SET_PDEATHSIG). `parent` is its number, where it may be gone
    already: then another process is the parent now."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def start_again_inside(mark):
    """Runs this script again in the sandbox, with `mark` in its environment, and ends with its exit code."""
    command = [*SANDBOX, sys.executable, *sys.argv]
    child = subprocess.Popen(command, env=dict(os.environ, **mark), preexec_fn=die_with_parent)

    def stop(number, _):
        sys.exit(128 + number)  # not more here: the wait() below holds its lock while a signal is handled

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    try:
        sys.exit(child.wait())
    finally:
        child.kill()  # of unshare: everything inside goes with it
        child.wait()
