"""Disks whose power can be cut: what was written and not synced is gone then. They need root and a loop device."""

import functools
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
        self.kind = kind
        self.loop = None
        self.image = folder.with_name(folder.name + ".image")
        folder.mkdir(parents=True)
        with open(self.image, "wb") as image:
            image.truncate(MEGABYTES << 20)
        case.addCleanup(self.drop)
        command(f"mkfs.{kind}", "-q", self.image)
        self.mount()
        command("sync", "-f", self.folder)

    def mount(self):
        self._mount_image(self.image)

    def _mount_image(self, image):
        """On a loop device of its own, whatever `mount` would find: a mount namespace that was made meanwhile, as
        `ip netns exec` makes one, holds the file system that lost its power, and its device with it."""
        self.loop = command("losetup", "--find", "--show", image)
        command("mount", *(("-o", "nouuid") if self.kind == "xfs" else ()), self.loop, self.folder)

    def cut(self):
        command("xfs_io", "-x", "-c", "shutdown", self.folder)

    def unmount(self):
        """Waits for the last process that has a file open: the kernel takes a moment to let go of the killed."""
        limit = time.monotonic() + harness.PATIENCE
        while True:
            try:
                command("umount", self.folder)
                return self._take_down()
            except RuntimeError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.02)

    def _take_down(self):
        if self.loop:
            subprocess.run(["losetup", "--detach", self.loop], capture_output=True, check=False)
            self.loop = None

    def power_up(self):
        self.unmount()
        self.mount()

    def drop(self):
        subprocess.run(["umount", "--lazy", self.folder], capture_output=True, check=False)  # its server may still run
        self._take_down()


XFS = functools.partial(PowerDisk, kind="xfs")
EXT4 = functools.partial(PowerDisk, kind="ext4")


class LyingDisk(PowerDisk):
    """From a moment on it acknowledges what it does not keep: after the next power cut it is as it was then."""

    def __init__(self, case, folder):
        super().__init__(case, folder, "xfs")

    def lie(self):
        command("fsfreeze", "--freeze", self.folder)
        try:
            command("cp", "--sparse=always", self.image, self.image.with_suffix(".then"))
        finally:
            command("fsfreeze", "--unfreeze", self.folder)

    def power_up(self):
        self.unmount()
        if self.image.with_suffix(".then").exists():
            self.image.with_suffix(".then").rename(self.image)
        self.mount()


class CachedDisk(PowerDisk):
    """A disk with a volatile cache, ext4 on it; nbdkit is the disk, and its death the loss of the cache."""

    def __init__(self, case, folder):
        self.device = folder.with_name(folder.name + ".device")
        self.socket = folder.with_name(folder.name + ".socket")
        self.processes = []
        super().__init__(case, folder, "ext4")

    @staticmethod
    def missing():
        for program, package in (("nbdkit", "nbdkit"), ("nbdfuse", "libnbd-bin")):
            if shutil.which(program) is None:
                return f"disks with a volatile cache need {program}, of the package {package}"
        return missing()

    def _start(self, *words, ready):
        process = subprocess.Popen([os.fspath(word) for word in words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        harness.wait_for(lambda: ready() or process.poll() is not None)
        if not ready():
            raise RuntimeError(f"{words[0]} does not come up")

    def mount(self):
        self.socket.unlink(missing_ok=True)
        self.device.touch()
        self._start("nbdkit", "-f", "-U", self.socket, "--filter=cache", "file", self.image, "cache=writeback",
                    ready=self.socket.exists)
        self._start("nbdfuse", self.device, f"nbd+unix:///?socket={self.socket}",
                    ready=lambda: os.path.ismount(self.device))
        self._mount_image(self.device)

    def cut(self):
        self.processes[0].kill()
        self.processes[0].wait()

    def _take_down(self):
        super()._take_down()
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.processes = []
        # Left mounted when nbdfuse does not survive the disk's death.
        subprocess.run(["umount", "--lazy", self.device], capture_output=True, check=False)
