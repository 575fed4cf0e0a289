"""What `ballast advise` says of a job on hosts of its own, and how long its steps take there when it runs."""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "stragglers"))

import cluster  # pylint: disable=wrong-import-position

import cgroups  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

PORT = 7300
SIZE = 8e6       # bytes of the model
CHUNKS = 8 + 1   # a megabyte each, and the statistics'
LEARNING = 15    # steps before any is timed
STEPS = 30       # that are


class Case:
    """`link`, `server`: bytes a second of each worker's link and the servers' one; `share`: of a processor, of each server;
    None: as many as there are. `items`: each slot makes an update."""

    def __init__(self, name, workers, slots, slot, link, server, share=None, items=False):
        self.name, self.workers, self.slots, self.slot = name, workers, slots, slot
        self.link, self.server, self.share, self.items = link, server, share, items

    def text(self):
        return cluster.job_text(self.slots, self.workers, self.slot, SIZE, "", "  mode: async\n" if self.items else "")


@contextlib.contextmanager
def running(case, folder):
    job = cluster.Cluster(folder, case.text(), [case.link] * case.workers, {}, watcher=0, chunks=CHUNKS, servers=case.server)
    try:
        yield job
    finally:
        job.end()


class Asked:
    """`ballast` on a host, for an answer."""

    def __init__(self, job):
        self._job = job

    def __call__(self, host, *words):
        answer = self._job.hosts.call(host, harness.BALLAST, *words, check=False)
        if answer.returncode != 0:
            raise RuntimeError(f"ballast {' '.join(map(str, words))}: {answer.returncode}\n{answer.stderr}")
        return answer.stdout


def _probe_server(job, share, output):
    """With as much of a processor as a server will have. Not on its host: there nobody sees the files of control groups."""
    command = ["sh", "-c", 'read -r go && exec "$@"', "sh", harness.BALLAST, "probe", job.job, "--as", "server", "-o", output]
    with contextlib.ExitStack() as stack:
        group = None
        if share is not None:
            group = cgroups.Processors(share, "probe")
            stack.callback(group.remove)
        # Whatever fails here, it ends when its standard input does, and before its group is removed.
        process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
        if group is not None:
            group.enter(process.pid)
        process.communicate(b"go\n")
    if process.returncode != 0:
        raise RuntimeError(f"ballast probe ended with {process.returncode}")


def advice(case, job):
    """What is said of the job before it runs, by probes of a server's host and one worker's."""
    ask = Asked(job)
    server, worker = job.folder / "server.json", job.folder / "worker.json"
    _probe_server(job, case.share, server)
    address = f"{job.hosts.address['servers']}:{PORT}"
    listener = subprocess.Popen(list(map(str, job.hosts.on("servers", harness.BALLAST, "probe", "--listen", address))),
                                stderr=subprocess.PIPE, text=True)
    try:
        if not re.match("listens on", listener.stderr.readline()):
            raise RuntimeError("ballast probe --listen does not listen")
        ask("w0", "probe", job.job, "--as", "worker", "--to", address, "-o", worker)
    finally:
        listener.terminate()
        listener.communicate()
    # With a share of their own each server is a machine.
    machines = 1 if case.share is None else cluster.SHARDS
    return json.loads(ask("w0", "advise", job.job, "--json", "--server", server, "--worker", worker, "--servers", machines,
                          "--workers", case.workers, "--server-mbit", case.server * 8 / 1e6))


def measured(case, job):
    """Seconds of a step, the mean."""
    job.start()
    if case.share is not None:
        for shard in range(cluster.SHARDS):
            job.limit_processor(f"s{shard}", case.share)
    job.wait_until_all_train()
    first, begun = _passes(case, job, LEARNING)
    last, ended = _passes(case, job, first + STEPS)
    return (ended - begun) / (last - first)


def _passes(case, job, wanted):
    """A step no sooner than that one, and when it was over: a worker to which the lead gives no slots does not hear of each."""
    def over():
        return len(job.closes.times) // case.slots if case.items else (job.lead_page() or {}).get("ballast_lead_step", 0)
    limit = time.monotonic() + cluster.PATIENCE
    before = over()
    while (now := over()) < wanted or now == before:
        before = now
        job.check()
        if time.monotonic() > limit:
            raise RuntimeError(f"waited {cluster.PATIENCE} s for step {wanted}\n{job.logs()}")
        time.sleep(0.2)
    return now, time.monotonic()


def compare(case, folder):
    """The advice, and the step's milliseconds as foretold and as measured."""
    with running(case, folder) as job:
        said = advice(case, job)
        return said, said["own"]["step_ms"], 1e3 * measured(case, job)
