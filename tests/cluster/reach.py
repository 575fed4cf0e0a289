"""Addresses that do not reach: who can't talk to whom says so, with its name and address."""

import os
import signal
import time

import harness
import jobs

NO_HOST = "no-such-host.invalid"
DOUBT = 5  # seconds after which a lead that is not reached is told of (common/net/lead_reach.cpp)


class Reach(harness.ClusterCase):
    def start_logging(self, name, *words):
        """Its log, as a function."""
        return self.start_by_hand(name, *words)[1]

    def worker_of_a_server_at(self, advertised):
        """The worker's log and the lead's address, where lanes of shard 1 are said to be reached at this host."""
        lead = f"tcp://127.0.0.1:{harness.free_port()}"
        job = self.job(jobs.emulated(steps=100).replace("shards: 1", "shards: 2"))
        for shard in range(2):
            more = ["--advertise", advertised] if shard == 1 else []
            self.start_logging(f"shard-{shard}", harness.SERVER, "--job", job, "--shard", shard, "--lead", lead, "--bind",
                               "tcp://127.0.0.1:*", "--database", self.folder / f"shard-{shard}", *more)
        return self.start_logging("worker", harness.WORKER, "--lead", lead, "--name", "far"), lead

    def test_a_lane_that_does_not_answer_is_named_with_its_address(self):
        log, lead = self.worker_of_a_server_at("127.0.0.77")  # where nobody listens
        self.wait_for("the worker's word", lambda: "waits for lane 0 of shard 1 at tcp://127.0.0.77:" in log())
        self.assertIn("which does not answer", log())
        told = "waits for: worker far, which waits for lane 0 of shard 1 at tcp://127.0.0.77:"
        self.wait_for("the status", lambda: told in harness.ballast("status", lead).stdout)

    def test_so_is_one_whose_name_does_not_resolve(self):
        log, lead = self.worker_of_a_server_at(NO_HOST)
        told = f"which does not answer: the name {NO_HOST} does not resolve here"
        self.wait_for("the worker's word", lambda: told in log())
        self.wait_for("the status", lambda: told in harness.ballast("status", lead).stdout)

    def test_and_a_lead(self):
        log = self.start_logging("worker", harness.WORKER, "--lead", f"tcp://{NO_HOST}:7070", "--name", "far")
        self.wait_for("the worker's word",
                      lambda: f"cannot reach the lead at tcp://{NO_HOST}:7070: the name {NO_HOST} does not" in log())

    def server(self, name, shard, *words):
        """Its log, as a function, of a server of a job with two shards."""
        job = self.job(jobs.emulated(steps=100).replace("shards: 1", "shards: 2"))
        return self.start_logging(name, harness.SERVER, "--job", job, "--shard", shard, "--database", self.folder / name,
                                  *words)

    def test_a_server_says_that_its_leads_name_does_not_resolve(self):
        log = self.server("shard-1", 1, "--lead", f"tcp://{NO_HOST}:7070", "--bind", "tcp://127.0.0.1:*", "--advertise",
                          "192.0.2.8")
        self.wait_for("the server's word",
                      lambda: f"cannot reach the lead at tcp://{NO_HOST}:7070: the name {NO_HOST} does not" in log())

    def test_a_server_says_that_no_lead_answers_and_that_one_does(self):
        lead = f"tcp://127.0.0.1:{harness.free_port()}"
        log = self.server("shard-1", 1, "--lead", lead)
        self.wait_for("the server's word", lambda: f"no lead has answered at {lead} for " in log())
        self.assertIn("and the server goes on asking; is this where others reach the server of shard 0", log())
        self.server("shard-0", 0, "--lead", lead)
        self.wait_for("its second word", lambda: "the lead answers, after " in log())

    def test_a_server_that_waits_with_its_lead_for_others_does_not_doubt_the_lead(self):
        """The lead says nothing to anybody before all shards are there."""
        lead = f"tcp://127.0.0.1:{harness.free_port()}"
        job = self.job(jobs.emulated(steps=100).replace("shards: 1", "shards: 3"))
        for shard in (0, 1):
            log = self.start_logging(f"shard-{shard}", harness.SERVER, "--job", job, "--shard", shard, "--lead", lead,
                                     "--database", self.folder / f"shard-{shard}")
            self.wait_for("its lane", lambda log=log: "lane 0 listens on" in log())
        time.sleep(DOUBT + 1)
        self.assertNotIn("has answered", log())

    def test_shard_0_reaches_its_own_lead_though_the_address_for_others_leads_elsewhere(self):
        job = self.job(jobs.emulated(steps=100))
        # An address of another machine, as a router has that forwards ports; and a name that resolves only elsewhere.
        for case, host in enumerate(("192.0.2.7", NO_HOST)):
            log = self.start_logging(f"server-{case}", harness.SERVER, "--job", job, "--shard", "0", "--lead",
                                     "tcp://127.0.0.1:*", "--advertise", host, "--database", self.folder / f"shard-{case}")
            self.wait_for("its lanes", lambda log=log: "lane 0: serves timeline 1 from step 0" in log())
            self.assertIn(f"lead listens on tcp://{host}:", log())

    def test_lanes_on_loopback_under_a_lead_that_others_reach_are_refused(self):
        job = self.job(jobs.emulated(steps=4).replace("shards: 1", "shards: 2"))
        for bind in ("tcp://127.0.0.1:*", f"ipc://{self.folder}/lane"):
            answer = harness.call(harness.SERVER, "--job", job, "--shard", "1", "--lead", "tcp://192.0.2.7:7070",
                                  "--bind", bind, "--database", self.folder / "database")
            self.assertEqual(answer.returncode, 1, answer.stderr)
            self.assertIn("which only this machine reaches, and the lead is at tcp://192.0.2.7:7070", answer.stderr)
            self.assertIn("--bind tcp://HOST:*", answer.stderr)

    def test_a_worker_that_was_lost_and_is_back_says_both(self):
        run = self.start(self.job(jobs.emulated(steps=3000)), options=["--workers", "2", "--hold-start"])
        run.wait_for_step(1)
        pid = run.entry("worker", 1)["pid"]

        def live():
            sessions = (run.status() or {}).get("sessions", [])
            return [session["name"] for session in sessions if session["live"]]

        os.kill(pid, signal.SIGSTOP)
        try:
            run.wait_until("a lost worker", lambda: live() == ["worker-0"])
        finally:
            os.kill(pid, signal.SIGCONT)
        log = run.folder / "logs" / "worker-1.log"
        run.wait_until("its word", lambda: "back: the lead knows this worker again" in log.read_text())
        self.assertIn("lost: the lead does not know this worker any more", log.read_text())
        self.assertEqual(run.control("stop").returncode, 0)
        run.wait()


if __name__ == "__main__":
    harness.main()
