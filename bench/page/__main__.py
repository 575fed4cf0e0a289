"""What the job's web page costs the lead's process: its processor time without a page, with one that nobody looks at, and with
ten viewers; and an analysis. Two runs of the same job beside each other, one of them with a page, are looked at in turn, stretch by stretch:

    python3 bench/page [--seconds 10] [--rounds 5] [--viewers 10] [--workers 4]
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import sys
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "cluster"))

import harness  # pylint: disable=wrong-import-position
import jobs  # pylint: disable=wrong-import-position

TICK = os.sysconf("SC_CLK_TCK")
OF_THE_PAGE = ("http", "page-analyst")  # threads' names


def seconds_of(stat):
    """Of a stat file of /proc: processor time, of user and system."""
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def time_of_process(pid):
    return seconds_of(pathlib.Path(f"/proc/{pid}/stat"))


def time_of_page(pid):
    """Of the page's own threads, by the scheduler's clock, which is finer than ticks."""
    spent = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (thread / "comm").read_text().strip() in OF_THE_PAGE:
            spent += int((thread / "schedstat").read_text().split()[0]) / 1e9
    return spent


class Viewer(threading.Thread):
    """Asks as the page does."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.host = urllib.parse.urlsplit(address).netloc
        self.ended = threading.Event()
        self.told = self.bytes = 0

    def run(self):
        mark, pause = "", 0
        while not self.ended.wait(pause):
            connection = http.client.HTTPConnection(self.host, timeout=30)
            connection.request("GET", f"/job.json?since={mark}")
            text = connection.getresponse().read()
            connection.close()
            answer = json.loads(text)
            mark, pause = answer["mark"], answer["again_ms"] / 1000
            self.told += 1
            self.bytes += len(text)


class Cost(harness.ClusterCase):
    wanted = None

    def begin(self, name, *options):
        job = self.job(jobs.emulated(steps=1000000, slots=24, compute_ms=10), name=f"{name}.yaml")
        run = self.start(job, name=name, options=["--workers", str(self.wanted.workers), "--shards", "1", *options])
        run.wait_for_step(20)
        return run

    def stretch(self, pid, viewers=()):
        """Processor time in parts of a core: of the process, and of the page's threads in it."""
        for viewer in viewers:
            viewer.start()
        began, process, page = time.monotonic(), time_of_process(pid), time_of_page(pid)
        time.sleep(self.wanted.seconds)
        process, page, took = time_of_process(pid) - process, time_of_page(pid) - page, time.monotonic() - began
        for viewer in viewers:
            viewer.ended.set()
            viewer.join()
        return process / took, page / took

    def analysis(self, pid, address):
        """Processor time of the page's threads for one, in seconds."""
        def ask(query):
            asked = urllib.request.Request(f"{address}analysis.json{query}", headers={"X-Requested-With": "bench"})
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return json.load(answer)
        before = time_of_page(pid)
        self.assertTrue(ask("?ask=1")["asking"])
        self.wait_for("an analysis", lambda: not ask("")["asking"])
        return time_of_page(pid) - before

    def test_cost(self):
        plain, with_page = self.begin("plain"), self.begin("page", "--page")
        address = with_page.entry("server", 0)["addresses"]["page"]
        of_plain, of_page = (run.entry("server", 0)["pid"] for run in (plain, with_page))
        found = {"no page": [], "page, nobody looks": [], f"page, {self.wanted.viewers} viewers": []}
        bytes_told = told = 0
        for _ in range(self.wanted.rounds):
            viewers = [Viewer(address) for _ in range(self.wanted.viewers)]
            for kind, look in zip(found, (lambda: self.stretch(of_plain), lambda: self.stretch(of_page),
                                          lambda: self.stretch(of_page, viewers))):
                found[kind].append(look())
            told += sum(viewer.told for viewer in viewers)
            bytes_told += sum(viewer.bytes for viewer in viewers)
        print(f"{'':24} {'process':>10} {'of that the page':>18}   parts of a core, medians of {self.wanted.rounds}")
        for kind, parts in found.items():
            process, page = (statistics.median(part[i] for part in parts) for i in (0, 1))
            print(f"{kind:24} {100 * process:8.2f} % {100 * page:16.3f} %")
        print(f"{told} answers of {bytes_told / max(told, 1) / 1000:.1f} kB")
        print(f"an analysis: {1000 * self.analysis(of_page, address):.0f} ms of a core")
        for run in (plain, with_page):
            self.assertEqual(run.control("stop").returncode, 0)


def main():
    parser = argparse.ArgumentParser(prog="bench/page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="of a stretch (10)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--viewers", type=int, default=10)
    parser.add_argument("--workers", type=int, default=4)
    Cost.wanted = parser.parse_args()
    sys.argv = sys.argv[:1]
    harness.main()


if __name__ == "__main__":
    main()
