"""The memory of servers, and how far each is, looked at while they run."""

import re
import threading
import time

import harness
import metrics

MEBIBYTE = 1 << 20
TOO_LITTLE = re.compile(r"cluster\.memory_mib: 1 is too little: shard \d+ needs (\d+) MiB")


def least_memory(case, text):
    """The MiB with which `check` lets the job begin."""
    answer = harness.ballast("check", case.job(text, name="least.yaml"), "--set", "cluster.memory_mib=1")
    case.assertEqual(answer.returncode, 2, answer.stdout)
    return int(TOO_LITTLE.search(answer.stderr)[1])


class Peaks:
    """What servers have, looked at by their pages and the kernel until it is told to end."""

    def __init__(self, servers, pages):
        self.servers, self.pages = servers, pages
        self.resident = [{} for _ in servers]       # by step: bytes
        self.contributions = [{} for _ in servers]  # likewise
        self.waits = 0
        self.taken_back = 0
        self.kept = 0                               # most bytes of older weights, for readers
        self.held_up = 0                            # updates, by readers
        self.cut = 0                                # connections, for what was not read
        self.beyond = []                            # what was above a lane's memory
        self.seen = [[] for _ in servers]           # when each open step was seen first, and which
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.look_on, daemon=True)
        self.thread.start()

    def look_on(self):
        while not self.ending.wait(0.05):
            waits = taken_back = 0
            for index, (server, address) in enumerate(zip(self.servers, self.pages)):
                try:
                    page = metrics.scrape(f"http://{address}/metrics")
                    resident = self.resident_bytes(server)
                except (OSError, StopIteration):
                    continue  # not there yet, or no more
                if "ballast_shard_open_step{" not in page:
                    continue
                step = int(metrics.value(page, "ballast_shard_open_step"))
                if not self.seen[index] or self.seen[index][-1][1] != step:
                    self.seen[index].append((time.monotonic(), step))
                held = metrics.value(page, "ballast_shard_contribution_bytes")
                memory = metrics.value(page, "ballast_shard_contribution_memory_bytes")
                if held > memory:
                    self.beyond.append((index, step, held, memory))
                self.note(self.resident[index], step, resident)
                self.note(self.contributions[index], step, held)
                self.kept = max(self.kept, metrics.value(page, "ballast_shard_kept_weights_bytes"))
                self.held_up = max(self.held_up, metrics.value(page, "ballast_shard_waited_for_readers_total"))
                self.cut = max(self.cut, metrics.value(page, "ballast_shard_readers_cut_total"))
                waits += metrics.value(page, "ballast_shard_waited_for_room_total")
                taken_back += metrics.value(page, "ballast_shard_calls_taken_back_total")
            self.waits, self.taken_back = max(self.waits, waits), max(self.taken_back, taken_back)

    @staticmethod
    def note(peaks, step, value):
        peaks[step] = max(peaks.get(step, 0), value)

    @staticmethod
    def resident_bytes(process):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024

    def end(self):
        self.ending.set()
        self.thread.join()
