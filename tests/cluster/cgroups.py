"""Groups of processes that have no more than a share of the processors, by the kernel's control groups.

Needs root. `unfit()` says why they cannot be had here.
"""

import os
import pathlib

_OLD = pathlib.Path("/sys/fs/cgroup/cpu")  # version 1
_NEW = pathlib.Path("/sys/fs/cgroup")      # version 2
_PERIOD = 100_000  # microseconds


def _root():
    if (_OLD / "cpu.cfs_quota_us").exists() or (_OLD / "cgroup.procs").exists():
        return _OLD
    controllers = _NEW / "cgroup.subtree_control"
    return _NEW if controllers.exists() and "cpu" in controllers.read_text().split() else None


def unfit():
    """Why they cannot be had here; None if they can."""
    root = _root()
    if root is None:
        return "needs control groups of processors (cgroup v1, or v2 with the controller cpu for children of the root)"
    try:
        Processors(0.5, "probe").remove()
    except OSError as refused:
        return f"control groups cannot be made here: {refused}"
    return None


class Processors:
    """`share`: of one processor, for all in the group together."""

    def __init__(self, share, name):
        self.folder = _root() / f"ballast-{os.getpid()}-{name}"
        self.folder.mkdir()
        quota = int(share * _PERIOD)
        if (self.folder / "cpu.max").exists():
            (self.folder / "cpu.max").write_text(f"{quota} {_PERIOD}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))

    def enter(self):
        """By a process that is to be in it, before it begins its work."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        """Once all in it have ended."""
        self.folder.rmdir()
