"""A server that is ended while it loads a gigabyte of weights ends at once, and says what is left."""

import json
import math
import pathlib
import re
import shutil
import signal
import struct

import big_model
import harness

SHAPE = (8192, 4096)  # of big_model's parameters
BYTES = big_model.PARAMETERS * math.prod(SHAPE) * 4
STARTS = 5


def write_zeros(path):
    """All of big_model's parameters, as safetensors; the file has holes in the place of zeros."""
    size = math.prod(SHAPE) * 4
    header = json.dumps({f"p{i}.weight": {"dtype": "F32", "shape": SHAPE, "data_offsets": [i * size, (i + 1) * size]}
                         for i in range(big_model.PARAMETERS)}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + BYTES)


def resident(pid):
    """Bytes; none once it has ended."""
    found = re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) * 1024 if found else 0


class Loading(harness.ClusterCase):
    patience = big_model.PATIENCE

    def setUp(self):
        super().setUp()
        self.lead = self.folder / "lead.address"
        self.served = 0

    def serve(self, text):
        """The one server of the job, and its log as a function."""
        self.served += 1
        self.lead.unlink(missing_ok=True)
        return self.start_by_hand(f"server-{self.served}", harness.SERVER, "--job", self.job(text), "--shard", "0", "--lead",
                                  "tcp://127.0.0.1:*", "--address-file", self.lead, "--database", self.folder / "database")

    def has_snapshot(self):
        status = harness.status_of(self.lead.read_text().strip())
        return status and status["snapshot"] > 0

    def in_memory(self, process):
        return resident(process.pid)

    def on_disk(self, _):
        """What `du` says of the database, whose files come and go."""
        said = harness.call("du", "-sk", self.folder / "database").stdout
        return int(said.split()[0]) * 1024 if said else 0

    def stopped_while_loading(self, text, so_far, loaded, keep=False):
        """A server that stands still with some of its weights where they go, and before its log says `loaded`."""
        for _ in range(STARTS):  # this machine may have given the test no time at the right moment
            process, log = self.serve(text)
            self.wait_for("some weights", lambda process=process: so_far(process) > BYTES // 5)
            process.send_signal(signal.SIGSTOP)
            if loaded not in log():
                return process, log
            process.kill()
            process.wait()
            if not keep:
                shutil.rmtree(self.folder / "database")
        return self.fail(f"it was always too late, {STARTS} times")

    def expect_ended(self, process, log, loaded):
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(timeout=harness.PATIENCE), 0, log())  # nothing is lost by it
        self.assertNotIn(loaded, log())
        self.assertIn("stopped by SIGTERM: ", log())
        self.assertNotIn(" error ", log())

    def test_its_first_weights(self):
        loaded = "serves timeline"
        process, log = self.stopped_while_loading(big_model.big(steps=2), self.in_memory, loaded)
        self.expect_ended(process, log, loaded)

    def test_its_first_weights_from_a_file(self):
        file = self.folder / "first.safetensors"
        write_zeros(file)
        text = big_model.big(steps=2).replace("  slots: 1\n", f"  slots: 1\n  init_from: {file}\n")
        loaded = "initial weights taken from"
        process, log = self.stopped_while_loading(text, self.on_disk, loaded)
        self.expect_ended(process, log, loaded)
        self.assertIn("nothing of the job is in its database yet", log())
        process, log = self.serve(text)
        self.wait_for("all of them", lambda: "serves timeline 1 from step 0" in log())

    def test_a_snapshot(self):
        text = big_model.big(steps=1000) + "durability: {every_steps: 1}\n"
        process, log = self.serve(text)
        self.wait_for("the lead", self.lead.exists)
        worker, _ = self.start_by_hand("worker", harness.WORKER, "--lead", self.lead.read_text().strip())
        self.wait_for("a snapshot", self.has_snapshot)
        process.kill()
        worker.kill()
        process.wait()
        loaded = "serves timeline"
        process, log = self.stopped_while_loading(text, self.in_memory, loaded, keep=True)
        self.expect_ended(process, log, loaded)
        self.assertRegex(log(), "goes on from the snapshot of step [1-9]")
        process, log = self.serve(text)
        self.wait_for("the snapshot", lambda: loaded in log())
        self.assertRegex(log(), r"serves timeline \d+ from step [1-9]")


if __name__ == "__main__":
    harness.main()
