"""Groups of processes that have no more than a share of the processors, or so much memory, by the kernel's control groups.

Needs root. `unfit()` says why they cannot be had here.
"""

import os
import pathlib

_ROOT = pathlib.Path("/sys/fs/cgroup")  # version 1 has a folder there for each controller
_PERIOD = 100_000  # microseconds


def _root(controller):
    if (_ROOT / controller / "cgroup.procs").exists():
        return _ROOT / controller
    controllers = _ROOT / "cgroup.subtree_control"
    return _ROOT if controllers.exists() and controller in controllers.read_text().split() else None


def _unfit(group, what, *limit):
    """Why such groups cannot be had here; None if they can."""
    if _root(group.controller) is None:
        return (f"needs control groups of {what} (cgroup v1, or v2 with the controller {group.controller} for children of the "
                "root)")
    try:
        group(*limit, "probe").remove()
    except OSError as refused:
        return f"control groups cannot be made here: {refused}"
    return None


def unfit():
    return _unfit(Processors, "processors", 0.5)


def unfit_for_memory():
    return _unfit(Memory, "memory", 1 << 30)


class _Group:
    """With a controller's limit: files in the group's folder and what is written to them, of version 2 if it has them."""

    def __init__(self, name, new, old):
        self.folder = _root(self.controller) / f"ballast-{os.getpid()}-{name}"
        self.folder.mkdir()
        try:
            is_new = all((self.folder / file).exists() for file in new)
            for file, limit in (new if is_new else old).items():
                (self.folder / file).write_text(str(limit))
        except OSError:
            self.remove()
            raise

    def enter(self, pid=None):
        """By a process that is to be in it, before it begins its work; or of one that runs."""
        (self.folder / "cgroup.procs").write_text(str(pid or os.getpid()))

    def enter_thread(self, tid):
        """Of one of a process that runs; the others stay where they are. By version 1 alone."""
        tasks = self.folder / "tasks"
        if not tasks.exists():
            raise RuntimeError("one thread alone can be held back by control groups of version 1 only")
        tasks.write_text(str(tid))

    def remove(self):
        """Once all in it have ended."""
        self.folder.rmdir()


class Processors(_Group):
    """`share`: of one processor, for all in the group together. Of each `period` microseconds they stand still for what is left
    once they have used that part of it, which is to be a thousand at least."""

    controller = "cpu"

    def __init__(self, share, name, period=_PERIOD):
        quota = int(share * period)
        super().__init__(name, {"cpu.max": f"{quota} {period}"},
                         {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota})


class Memory(_Group):
    """So many bytes for all in the group together."""

    controller = "memory"

    def __init__(self, size, name):
        super().__init__(name, {"memory.max": size}, {"memory.limit_in_bytes": size})
