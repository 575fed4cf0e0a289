"""Pictures of the job's web page for docs/, of a real run: page_pictures.py [FOLDER]. A worker is slow, one dies and comes
back, and so does a shard; a headless browser looks at all of it, as a wall does in the light and a phone in the dark."""

import pathlib
import signal
import sys
import threading
import time

import browser
import harness
import jobs

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "pictures"
TRAINED = 60  # seconds of the run, about


def hold_up(process):
    """Lets it run half of the time, as a machine does that others use."""
    while process.poll() is None:
        for signum in (signal.SIGSTOP, signal.SIGCONT):
            process.send_signal(signum)
            time.sleep(0.02)


class Pictures(harness.ClusterCase):
    folder_of_pictures = PICTURES

    def look(self, view, page, name):
        view.open(page)
        self.wait_for("the page", lambda: view.value("state.job !== null"))
        view.value("byId('ask').click()")
        self.wait_for("an analysis", lambda: view.value("analysis !== null && !byId('ask').disabled"))
        self.wait_for("slots a second", lambda: view.value("state.workers.every((worker) => worker.rate > 0)"))
        view.value("cursorAt = null; draw()")
        view.picture(self.folder_of_pictures / name, quality=70)

    def test_pictures(self):
        job = self.job(jobs.emulated(steps=1000000, slots=24, compute_ms=12, every_steps=100, job="emulated-six"))
        run = self.start(job, options=["--workers", "5", "--shards", "2", "--page"])
        run.wait_for_step(3)
        slow = self.start_worker(run, "worker-slow")
        threading.Thread(target=hold_up, args=(slow,), daemon=True).start()
        page = run.entry("server", 0)["addresses"]["page"]
        view = browser.Browser(self)
        view.look(1600, 1000, "light")
        time.sleep(TRAINED / 3)
        run.kill("worker", 3)
        time.sleep(TRAINED / 3)
        run.kill("server", 1)
        time.sleep(TRAINED / 3)
        self.look(view, page, "page.webp")
        view.look(390, 844, "dark", ratio=1.5)
        self.look(view, page, "page-phone.webp")
        self.assertEqual(run.control("stop").returncode, 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Pictures.folder_of_pictures = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.main(browser.unfit)
