"""File systems of a few megabytes, in memory, which somebody else's file fills up. They need root, for the mount."""

import os
import subprocess
import threading


class SmallDisk:
    """A file system of a few megabytes at `folder`."""

    def __init__(self, case, folder, megabytes):
        self.folder = folder
        folder.mkdir(parents=True)
        answer = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder],
                                capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            case.skipTest(f"no file system of a chosen size can be mounted here (needs root): {answer.stderr.strip()}")
        case.addCleanup(subprocess.run, ["umount", "--lazy", folder], check=False)  # its server may still run
        self._room = threading.Event()
        self._filling = None
        case.addCleanup(self._stop_filling)

    def fill(self):
        """From now on the disk is full: what somebody gives back is taken as well."""
        self._room.clear()
        filler = os.open(self.folder / "filler", os.O_WRONLY | os.O_CREAT)
        self._take_all(filler)
        self._filling = threading.Thread(target=self._keep_full, args=(filler,))
        self._filling.start()

    @staticmethod
    def _take_all(filler):
        for size in (1 << 20, 4096):
            try:
                while True:
                    os.write(filler, bytes(size))
            except OSError:
                pass

    def _keep_full(self, filler):
        while not self._room.wait(0.005):
            self._take_all(filler)
        os.close(filler)

    def _stop_filling(self):
        self._room.set()
        if self._filling:
            self._filling.join()
            self._filling = None

    def make_room(self):
        self._stop_filling()
        (self.folder / "filler").unlink()
