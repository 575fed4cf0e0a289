"""Journals held against what workers sent and were told: promised within recovered within sent.

An account (worker/account.h) says what the workers sent and which receipts and weights they got; `ballast-replay`
(tests/reference) reads the journals independently of the servers and changes nothing in them.
"""

import collections
import contextlib
import errno
import json
import os
import pathlib
import signal
import threading
import time

import harness

REPLAY = harness.BUILD / "tests" / "reference" / "ballast-replay"
EXPIRED = 2  # a receipt's outcome: dropped, nothing promised

Record = collections.namedtuple("Record", "sequence item chunk version sha256")


class Account:
    """What the workers of a run wrote down, of one timeline."""

    def __init__(self, file, slots, timeline=1):
        self.sent = set()      # (item, chunk, sha256)
        self.promised = set()  # (item, chunk): received
        self.pulled = {}       # by chunk: the newest version and journal sequence of weights that somebody got
        for line in file.read_text().splitlines():
            kind, of, *words = line.split()
            if int(of) != timeline:
                continue
            if kind == "weights":
                chunk, version, sequence = map(int, words)
                newest = self.pulled.get(chunk, (0, 0))
                self.pulled[chunk] = (max(newest[0], version), max(newest[1], sequence))
                continue
            step, begin, _, chunk = map(int, words[:4])
            item = step * slots + begin
            if kind == "sent":
                self.sent.add((item, chunk, words[4]))
            elif int(words[4]) != EXPIRED:
                self.promised.add((item, chunk))


class Keeper:
    """Holds every segment of a run's journals by a second name, so that nothing that was recorded is ever gone."""

    def __init__(self, case, run, folders):
        """`folders`: for each shard one on the file system of its database."""
        self.run = run
        self.folders = folders
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep)
        case.addCleanup(self.end)
        self._thread.start()

    def take(self):
        with self._lock:
            self._take()

    def pausing(self):
        """Meanwhile nothing of the file systems is used, so that they can be unmounted."""
        return self._lock

    def _take(self):
        for shard, folder in enumerate(self.folders):
            for segment in self._segments(shard):
                try:
                    os.link(segment, folder / segment.name)
                except OSError as refused:
                    if refused.errno not in (errno.EEXIST, errno.ENOENT, errno.ENOSPC):  # of a full disk: next time
                        raise

    def _segments(self, shard):
        try:
            return list((self.run.folder / f"shard-{shard}" / "journal").glob("[0-9a-f]" * 16))
        except FileNotFoundError:  # the folder went while it was read
            return []

    def _keep(self):
        while not self._over.wait(0.02):
            self.take()

    def end(self):
        self._over.set()
        self._thread.join()


def _replay(case, run, shards, folders, *options):
    places = [f"{shard}={folder}" for shard, folder in folders.items()]
    answer = harness.call(REPLAY, run.folder / "job.yaml", shards, *places, *options)
    case.assertEqual(answer.returncode, 0, answer.stderr)
    return answer.stdout


def records(case, run, shards, shard, folder):
    """The records in the journal of one shard, in order."""
    found = []
    for line in _replay(case, run, shards, {shard: folder}, "--records").splitlines():
        words = line.split()
        found.append(Record(*map(int, words[1:5]), words[5]))
    return found


def chunks_of(case, run, shards):
    """The chunks of each shard."""
    owned = [set() for _ in range(shards)]
    for line in _replay(case, run, shards, {}).splitlines():
        chunk, shard = map(int, line.split())
        owned[shard].add(chunk)
    return owned


def replayed(case, run, shards, folders):
    """What all journals, from their first records on, make of the weights."""
    return json.loads(_replay(case, run, shards, folders))


@contextlib.contextmanager
def no_restarts(run):
    """Meanwhile nobody starts a dead process anew: the supervisor stands still."""
    run.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        run.process.send_signal(signal.SIGCONT)


def kill(run, shard):
    """SIGKILL to a server; returns once it is gone. Whether it was alive."""
    pid = run.kill("server", shard)
    while pid and harness.is_alive(pid):
        time.sleep(0.01)
    return pid is not None


def stand_still(run, shard):
    """Stops a server and waits until none of its threads is within a call. For Linux acknowledges a sync that meets the
    shutdown of its file system now and then, though what it was to write is lost."""
    pid = run.entry("server", shard)["pid"]
    os.kill(pid, signal.SIGSTOP)
    tasks = pathlib.Path(f"/proc/{pid}/task")
    while any((task / "stat").read_text().rsplit(")", 1)[1].split()[0] != "T" for task in tasks.iterdir()):
        time.sleep(0.01)


def go_on(run, shard):
    os.kill(run.entry("server", shard)["pid"], signal.SIGCONT)


def expect_kept(case, account, found, owned):
    """Of one shard, whose chunks are `owned`: what its workers were promised is in its records, and these hold nothing
    but what was sent; no weights went out that are made of more. Returns how many promises there were."""
    recovered = {(record.item, record.chunk) for record in found}
    promised = {contribution for contribution in account.promised if contribution[1] in owned}
    case.assertEqual(promised - recovered, set(), "promised, and not in the journal")
    case.assertEqual(len(recovered), len(found), "something is recorded twice")
    made_up = {(record.item, record.chunk, record.sha256) for record in found} - account.sent
    case.assertEqual(made_up, set(), "recorded, and never sent")
    versions = collections.Counter(record.chunk for record in found)
    last = found[-1].sequence if found else 0
    for chunk in owned & account.pulled.keys():
        version, sequence = account.pulled[chunk]
        case.assertLessEqual(version, versions[chunk], f"weights of chunk {chunk} that went out are forgotten")
        case.assertLessEqual(sequence, last, f"weights of chunk {chunk} rest on records that are gone")
    return len(promised)


def expect_all(case, run, keeper, summary, account, owned, updates):
    """Everything is recorded exactly once, `updates` for each chunk, and is what the final weights are made of."""
    shards = len(owned)
    for shard, chunks in enumerate(owned):
        expect_kept(case, account, records(case, run, shards, shard, keeper.folders[shard]), chunks)
    final = replayed(case, run, shards, dict(enumerate(keeper.folders)))
    case.assertEqual(set(final["updates"]), {updates}, final)
    case.expect_equal_bits(summary, final)
    case.expect_equal_bits(case.digest_of(run.folder), final)
