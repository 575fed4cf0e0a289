"""Disks whose power can be cut: what was written and not synced is gone then. They need root and a loop device."""

import os
import pathlib
import shutil
import subprocess
import time

import harness

MEGABYTES = 512  # of a sparse file; xfs wants 300 at least


def missing():
    """Why no such disk can be had here; empty if it can."""
    if os.geteuid() != 0:
        return "power cuts need root, for loop devices and mounts"
    for program, package in (("losetup", "mount"), ("mkfs.ext4", "e2fsprogs"), ("mkfs.xfs", "xfsprogs"),
                             ("xfs_io", "xfsprogs")):
        if shutil.which(program) is None:
            return f"power cuts need {program}, of the package {package}"
    if not pathlib.Path("/dev/loop-control").exists():
        return "power cuts need loop devices, which this kernel does not have"
    return ""


def command(*words):
    answer = subprocess.run([os.fspath(word) for word in words], capture_output=True, text=True,
                            timeout=harness.PATIENCE, check=False)
    if answer.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {answer.stderr.strip()}")
    return answer.stdout.strip()


class PowerDisk:
    """A file system of its own in an image; the shutdown of a file system drops all that it has not written yet."""

    def __init__(self, case, folder, kind):
        self.folder = folder
        self.image = folder.with_name(folder.name + ".image")
        folder.mkdir(parents=True)
        with open(self.image, "wb") as image:
            image.truncate(MEGABYTES << 20)
        case.addCleanup(self.drop)
        command(f"mkfs.{kind}", "-q", self.image)
        self.mount()
        command("sync", "-f", self.folder)

    def mount(self):
        command("mount", "-o", "loop", self.image, self.folder)

    def cut(self):
        command("xfs_io", "-x", "-c", "shutdown", self.folder)

    def unmount(self):
        """Waits for the last process that has a file open: the kernel takes a moment to let go of the killed."""
        limit = time.monotonic() + harness.PATIENCE
        while True:
            try:
                return command("umount", self.folder)
            except RuntimeError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.02)

    def power_up(self):
        self.unmount()
        self.mount()

    def drop(self):
        subprocess.run(["umount", "--lazy", self.folder], capture_output=True, check=False)  # its server may still run
