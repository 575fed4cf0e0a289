"""The job's web page, as whoever asks for it has it: its answers, its bounds, and that it gives no orders."""

import concurrent.futures
import http.client
import json
import socket
import urllib.parse

import harness
import jobs

HOSTILE = "<img src=x onerror=alert(1)>"
VIEWERS = 10
MEANT = {"X-Requested-With": "test"}  # which another site's page cannot send


def host_and_port(address):
    return urllib.parse.urlsplit(address).netloc.split(":")


class Page(harness.ClusterCase):
    def begin(self, **overrides):
        self.run_ = self.start(self.job(jobs.emulated(steps=100000, slots=6, every_steps=20)),
                               options=["--workers", "2", "--shards", "2", "--page"], **overrides)
        self.run_.wait_for_step(3)
        self.host, self.port = host_and_port(self.run_.entry("server", 0)["addresses"]["page"])

    def ask(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection(self.host, int(self.port), timeout=harness.PATIENCE)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def json(self, path, **headers):
        status, _, text = self.ask(path, headers=headers)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def say(self, data):
        """What comes back for these bytes, and no others."""
        with socket.create_connection((self.host, int(self.port)), timeout=harness.PATIENCE) as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def test_every_request(self):
        self.begin()
        self.assertIn(f"the job's page is at http://{self.host}:{self.port}/", harness.text_of(self.run_.out))
        self.assertNotIn("page", self.run_.entry("server", 1)["addresses"])
        status, headers, page = self.ask("/")
        self.assertEqual(status, 200)
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("://", page.replace("http://www.w3.org", ""), "it needs something from elsewhere")

        self.start_worker(self.run_, HOSTILE)

        def all_known():
            told = self.json("/job.json")
            steps = sum(worker[2] >= 0 for worker in told["workers"])
            return told if steps == 3 and len(told["points"]["list"]) > 1 else None
        known = self.wait_for("all workers and a curve", all_known)
        self.assertTrue(known["all"])
        self.assertEqual({worker[0] for worker in known["workers"]}, {"worker-0", "worker-1", HOSTILE})
        self.assertEqual([shard[:2] for shard in known["shards"]], [[1, 1], [1, 1]])
        self.assertEqual(known["job"]["mode"], "sync")
        self.assertIn("worker worker-0 joined", [event[3] for event in known["events"]["list"]])
        self.assertTrue(known["late"]["list"])

        def since():
            return self.json(f"/job.json?since={known['mark']}")
        newer = self.wait_for("news", lambda: (lambda told: told if told["mark"] != known["mark"] else None)(since()))
        self.assertFalse(newer["all"])
        self.assertGreater(newer["points"]["from"], 0, "points that were known are sent again")
        self.assertGreaterEqual(newer["late"]["from"], known["late"]["from"])
        self.wait_for("a snapshot", lambda: self.json("/job.json")["snapshots"]["list"])

        self.assertEqual(self.ask("/analysis.json?ask=1")[0], 403, "as any site's page can")
        self.assertFalse(self.json("/analysis.json")["asking"])
        self.assertTrue(self.json("/analysis.json?ask=1", **MEANT)["asking"])
        result = self.wait_for("an analysis", lambda: self.json("/analysis.json")["result"])
        self.assertNotIn("failure", result)
        self.assertIn("job emulated, steps ", result["text"])
        self.assertRegex(result["text"], r"(?m)^advice: ")
        rows = {row[0] for row in result["waterfall"]["rows"]}
        self.assertLessEqual({"lead", "worker worker-0", f"worker {HOSTILE}", "shard 1 lane 0"}, rows)
        self.assertFalse(self.json("/analysis.json?ask=1", **MEANT)["asking"], "the last one has just ended")

    def test_what_is_refused(self):
        self.begin()
        before = self.run_.status()["timeline"]
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, headers, _ = self.ask("/job.json", method, body="stop" if method != "OPTIONS" else None)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        for path in ("/nothing", "/stop", "/../job.json", "/job.json/", "//"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/job.json", headers={"Host": "evil.example"})[0], 421)
        self.assertEqual(self.ask("/job.json", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
        self.assertIn(" 400 ", self.say(b"\x16\x03\x01\x02\x00\r\n\r\n"))
        self.assertIn(" 431 ", self.say(b"GET / HTTP/1.1\r\nX: " + b"x" * 9000))
        self.assertIn(" 408 ", self.say(b"GET / HTTP/1.1\r\n"))  # and no more, ever
        head = self.say(b"HEAD /job.json HTTP/1.1\r\n\r\n")
        self.assertTrue(head.endswith("\r\n\r\n"), head)
        self.assertEqual(self.run_.status()["phase"], "training")
        self.assertEqual(self.run_.status()["timeline"], before)

    def test_many_viewers_are_told_the_same(self):
        self.begin()
        slow = [socket.create_connection((self.host, int(self.port))) for _ in range(3 * VIEWERS)]
        for connection in slow:
            self.addCleanup(connection.close)
            connection.sendall(b"GET /job.json")
        with concurrent.futures.ThreadPoolExecutor(VIEWERS) as pool:
            for _ in range(5):
                told = [json.loads(answer[2]) for answer in pool.map(lambda _: self.ask("/job.json"), range(VIEWERS))]
                self.assertLessEqual(len({answer["mark"] for answer in told}), 2)
        process = self.run_.entry("server", 0)["pid"]
        open_files = len(list(harness.pathlib.Path(f"/proc/{process}/fd").iterdir()))
        self.assertLess(open_files, 300)

    def test_goes_on_where_it_was_when_the_lead_has_died(self):
        self.begin()
        mark = self.json("/job.json")["mark"]
        self.run_.kill("server", 0)

        def told():
            try:
                return self.json(f"/job.json?since={mark}")
            except OSError:
                return None
        newer = self.wait_for("another lead's answer", told)
        self.assertTrue(newer["all"], "what another life has told is not known to this one")
        self.assertEqual(self.run_.control("stop").returncode, 0)
        self.assertEqual(self.run_.wait(), 3)


if __name__ == "__main__":
    harness.main()
