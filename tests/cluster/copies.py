"""What cases of copies share: the place, which copies are there, and a storage that speaks S3."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import harness
import jobs

S3_SERVER = pathlib.Path(__file__).resolve().parents[1] / "unit" / "storage" / "copies" / "s3_server.py"
STEPS = 60
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret/+KEY",
        "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Pace:
    """Tells the storage how many snapshots a run has come by, so that an upload's time is measured in them."""

    def __init__(self, case, every):
        self.file = case.folder / "pace"
        self.every = every
        self.over = threading.Event()
        self.thread = None
        self.write("0")
        case.addCleanup(self.end)

    def write(self, text):
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.rename(self.file)

    def follow(self, run):
        self.thread = threading.Thread(target=self._follow, args=[run])
        self.thread.start()

    def _follow(self, run):
        while not self.over.wait(0.02):
            status = run.status()
            if status:
                self.write(str(status["step"] / self.every))

    def end(self):
        self.over.set()
        if self.thread:
            self.thread.join()
        self.write("end")


class CopiesCase(harness.ClusterCase):
    """A job of 60 steps whose snapshots, each tenth step's, are copied into a folder or a storage."""

    def setUp(self):
        super().setUp()
        self.job_file = self.job(jobs.emulated(steps=STEPS, compute_ms=20))
        self.copies = self.folder / "copies"
        self.place = [str(self.copies)]
        self.durability = {"durability.every_steps": 10, "durability.copy_to": self.copies}

    def start_two_shards(self, **arguments):
        return self.start(self.job_file, options=["--workers", "2", "--shards", "2"], overrides=self.durability, **arguments)

    def lose_the_run(self, run):
        run.wait_until("a copy", self.listed)
        run.end()
        shutil.rmtree(run.folder)

    def restore(self, folder, code=0):
        """All that `ballast restore` prints."""
        answer = self.ballast("restore", *self.place, "--run-dir", folder, code=code)
        return answer.stdout + answer.stderr

    def rows(self):
        """The list of copies: step, timeline, shards, run, and whether it is incomplete."""
        answer = harness.ballast("restore", "--list", *self.place)
        return [line.split() for line in answer.stdout.splitlines()[2:]]

    def sets(self):
        """The steps of the sets of copies."""
        found = {"complete": [], "incomplete": []}
        for row in self.rows():
            found["incomplete" if "incomplete:" in row else "complete"].append(int(row[0]))
        return found

    def listed(self):
        return self.sets()["complete"]

    def runs(self):
        return [row[3] for row in self.rows()]

    def start_storage(self, *options, credentials=None):
        """Its keys are in the environment; with `credentials` in this file instead."""
        os.environ.update(KEYS)
        if credentials:
            secret = "".join(f"{name.lower()} = {os.environ.pop(name)}\n" for name in KEYS if name.startswith("AWS_"))
            credentials.write_text(f"[default]\n{secret}")
        server = self.start_process(sys.executable, S3_SERVER, KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"],
                                    *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None, text=True)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        endpoint = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        self.place = ["s3://models/copies", "--s3-endpoint", endpoint]
        self.durability |= {"durability.copy_to": self.place[0], "durability.s3_endpoint": endpoint}
        if credentials:
            self.place += ["--s3-credentials-file", str(credentials)]
            self.durability |= {"durability.s3_credentials_file": credentials}

    def encrypt(self):
        """Copies are encrypted by a key of their own from now on; returns its file and its id."""
        file = self.folder / "copies.key"
        told = self.ballast("keygen", "--copies", file).stdout
        self.place += ["--copy-key-file", str(file)]
        self.durability |= {"durability.copy_key_file": file}
        return file, re.match("key ([0-9a-f]{16}):", told)[1]
