"""Whose turn it is: of what is too dear for every day, another part with each commit. A nightly run has all of it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def commit_count():
    """0 where there is no history, as in a tar file. Root counts in somebody's checkout, too."""
    found = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "rev-list", "--count", "HEAD"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
    return int(found.stdout) if found.returncode == 0 and found.stdout.strip().isdigit() else 0
