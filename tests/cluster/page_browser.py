"""The job's web page in a headless browser: drawn from a real run, at the width of a phone and of a wall, light and dark."""

import json
import re

import browser
import harness
import jobs

HOSTILE = "<img src=x onerror=\"window.harmed = 1\">"
CURVES = ("loss", "speed", "timeline")


class PageInBrowser(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.run_ = self.start(self.job(jobs.emulated(steps=100000, slots=6, every_steps=20)),
                               options=["--workers", "2", "--shards", "2", "--page"])
        self.run_.wait_for_step(3)
        self.page = self.run_.entry("server", 0)["addresses"]["page"]
        self.browser = browser.Browser(self)

    def colours(self, canvas):
        return self.browser.value(f"{browser.COLOURS}('{canvas}')")

    def tint(self, name):
        return self.browser.value(f"colour('{name}')")

    def text(self, element):
        return self.browser.value(f"document.getElementById('{element}').textContent")

    def expect_no_overflow(self):
        wide, window = self.browser.value("[document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(wide, window)

    def expect_contrast(self):
        told = self.browser.value(browser.CONTRAST)
        self.assertGreater(told["looked"], 40)
        self.assertEqual(told["found"], [])

    def expect_drawn(self):
        for canvas, tints in (("loss", ["loss"]), ("speed", ["speed"]), ("timeline", ["news", "snapshot"]),
                              ("late", ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5", "heat-behind"])):
            drawn = self.colours(canvas)
            self.assertTrue(any(drawn.get(self.tint(tint), 0) > 10 for tint in tints), f"{canvas}: {drawn}")

    def test_is_drawn_from_the_run_and_can_be_read(self):
        self.start_worker(self.run_, HOSTILE)
        self.browser.look(390, 844)
        self.browser.open(self.page)
        self.wait_for("all workers", lambda: self.text("workers-count").startswith("3 live"))
        self.wait_for("a snapshot and points",
                      lambda: self.browser.value("state.snapshots.length > 0 && state.points.length > 3 && "
                                                 "state.columns.length > 3 && heatLines.length === 3"))
        self.assertIn(HOSTILE, self.text("workers"))  # as text
        self.assertEqual(self.browser.value("document.querySelectorAll('main img').length"), 0)

        self.browser.value("byId('ask').click()")
        self.wait_for("an analysis", lambda: "advice: " in self.text("words"))
        self.assertRegex(self.text("step-title"), r"^Step [\d,]+: ")
        works = self.colours("waterfall")
        self.assertTrue(all(works.get(self.tint(f"work-{work}"), 0) > 5 for work in (1, 3)), works)

        for scheme in ("light", "dark"):
            for width in (390, 1280, 2560):
                self.browser.look(width, 900, scheme)
                self.browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                self.browser.value("draw()")
                self.expect_no_overflow()
                self.expect_contrast()
                self.expect_drawn()
        self.assertIsNone(self.browser.value("window.harmed"))
        self.assertEqual(self.browser.errors, [])

    def test_is_used_by_the_keyboard(self):
        self.browser.look(1280, 900)
        self.browser.open(self.page)
        self.wait_for("columns", lambda: self.browser.value("state.columns.length > 1 && heatLines.length === 2"))

        def press(element, key):
            self.browser.value(f"byId('{element}').focus()")
            for kind in ("keyDown", "keyUp"):
                self.browser.call("Input.dispatchKeyEvent", type=kind, key=key)
        press("loss", "ArrowLeft")
        self.assertRegex(self.text("loss-readout"), r"^\d+:\d\d, step [\d,]+: loss ")
        press("late", "ArrowLeft")
        self.assertRegex(self.text("late-readout"), r"^worker-0, steps? [\d,]+")
        press("late", "ArrowDown")
        self.assertRegex(self.text("late-readout"), r"^worker-1, ")
        names = "[...document.querySelectorAll('#workers td:first-child')].map((cell) => cell.textContent)"
        self.assertEqual(self.browser.value(names), ["worker-0", "worker-1"])
        self.browser.value("document.querySelector('#workers-head button').click()")
        self.assertEqual(self.browser.value(names), ["worker-1", "worker-0"])
        self.assertEqual(self.browser.errors, [])

    def test_says_when_the_lead_does_not_answer(self):
        self.browser.look(1280, 900)
        self.browser.open(self.page)
        self.wait_for("an answer", lambda: self.text("contact").startswith("as of "))
        self.assertEqual(self.run_.control("stop").returncode, 0)
        self.assertEqual(self.run_.wait(), 3)
        self.wait_for("word of it", lambda: re.match(r"The lead has not answered for \d+:\d\d; asked again in \d+ s",
                                                     self.text("contact")))
        self.assertTrue(self.text("name"), "what was known stays")

    def test_a_thousand_workers_stay_usable(self):
        """As the lead would tell them: no machine here runs so many."""
        self.browser.look(1280, 900)
        self.browser.open(self.page)
        self.wait_for("an answer", lambda: self.browser.value("state.job !== null"))
        workers = [[f"w{number}", str(number), number, True, 5, 10, [1, 2, 3, 4, 5], 100, 0, 0, ""] for number in range(1000)]
        columns = [[step, step, step, 1, "x" * 1336] for step in range(200)]
        self.browser.value(f"""(() => {{
          const answer = {{mark: '', all: true, now: 300, again_ms: 60000, job: state.job, workers: {json.dumps(workers)},
            workers_beyond: 0, shards: [], points: {{from: 0, list: []}}, events: {{from: 0, list: []}},
            snapshots: {{from: 0, list: []}}, late: {{from: 0, list: {json.dumps(columns)}}}}};
          isLooking = true;  // the run's own answers are not to come between
          takeAnswer(answer);
          draw();
        }})()""")
        self.assertLess(self.browser.value("document.querySelectorAll('#workers tr').length"), 60)
        self.assertEqual(self.browser.value("heatLines.length"), 1000)
        self.browser.value("byId('workers-scroll').scrollTop = 1e9")
        self.wait_for("the last rows", lambda: "w999" in self.text("workers"))
        self.assertGreater(self.browser.value("byId('late').clientHeight"), 1000)
        self.expect_no_overflow()
        self.assertEqual(self.browser.errors, [])


if __name__ == "__main__":
    harness.main(browser.unfit)
