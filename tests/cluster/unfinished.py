"""For what starts processes again by their exit codes alone (Kubernetes Jobs): who ends before the job does ends with
--unfinished-code, who has seen its end with 0; and a lead that stays after the end (--linger) tells it to who comes late."""

import json
import re
import signal
import socket

import harness
import jobs
import small_disks

ENDLESS = 100_000
CODE = 143
LINGER = 8  # seconds


class Unfinished(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.port = harness.free_ports(1)[0]
        self.log_of = {}

    def write_job(self, epochs):
        self.job_file = self.job(jobs.short_epochs(epochs))

    def server(self, shard, *options):
        process, self.log_of[shard] = self.start_by_hand(
            f"shard-{shard}", harness.SERVER, "--job", self.job_file, "--shard", shard, "--lead",
            f"tcp://127.0.0.1:{self.port}", "--database", self.folder / f"shard-{shard}", "--unfinished-code", CODE, *options)
        return process

    def worker(self, name, *options):
        process, _ = self.start_by_hand(name, harness.WORKER, "--lead", f"tcp://127.0.0.1:{self.port}", "--name", name,
                                        "--unfinished-code", CODE, *options)
        return process

    def test_who_is_told_to_end_before_the_jobs_end_says_so_by_its_code(self):
        self.write_job(ENDLESS)
        lead, other = self.server(0), self.server(1)
        going, staying = self.worker("going"), self.worker("staying")
        self.wait_for("training", lambda: "training at step" in self.log_of[0]())
        for process in (going, other):
            process.send_signal(signal.SIGUSR1)  # which batch systems may send first
        going.send_signal(signal.SIGTERM)
        self.assertEqual(going.wait(self.patience), CODE, self.logs())
        other.send_signal(signal.SIGTERM)
        self.assertEqual(other.wait(self.patience), CODE, self.logs())
        self.assertIn("the job holds at its newest snapshot", self.log_of[1]())
        for process in (lead, staying):
            self.assertIsNone(process.poll())

    def test_a_server_that_waits_for_the_place_of_copies_says_so_too(self):
        """Shard 0 of a job that names its run has no lead before it has seen whether the run has begun."""
        copies = {"copy_to": f"{self.folder}/not-mounted", "run": "the-first", "every_steps": 10}
        self.job_file = self.job(jobs.short_epochs(1).replace("{every_steps: 10}", json.dumps(copies)))
        lead = self.server(0)
        self.wait_for("the place to be named", lambda: "there is no such folder" in self.log_of[0]())
        lead.send_signal(signal.SIGTERM)
        self.assertEqual(lead.wait(self.patience), CODE, self.logs())

    def test_a_lead_that_lingers_goes_when_it_is_told_to_and_its_lanes_let_nobody_in(self):
        self.write_job(1)
        lead, other, worker = self.server(0, "--linger", 600), self.server(1), self.worker("early")
        for process in (other, worker):
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        lanes = [int(port) for port in re.findall(r"lane \d+ listens on tcp://127.0.0.1:(\d+)", self.log_of[0]())]
        self.assertTrue(lanes)
        for port in lanes:
            self.wait_for("a lane that nobody reads to be closed", lambda port=port: not self.lets_in(port))
        self.assertIsNone(lead.poll())
        lead.send_signal(signal.SIGTERM)
        self.assertEqual(lead.wait(self.patience), 0, self.logs())

    @staticmethod
    def lets_in(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    def test_a_server_that_waits_for_room_at_its_start_says_so_too(self):
        self.write_job(1)
        disk = small_disks.SmallDisk(self, self.folder / "shard-0", 1)
        disk.fill()
        lead = self.server(0)
        self.wait_for("a full disk", lambda: "waits for room on the disk" in self.log_of[0]())
        lead.send_signal(signal.SIGTERM)
        self.assertEqual(lead.wait(self.patience), CODE, self.logs())

    def test_a_worker_that_hears_no_lead_says_that_it_has_not_seen_the_end(self):
        self.assertEqual(self.worker("lonely", "--lead-patience", 1).wait(self.patience), CODE)

    def test_who_has_seen_the_end_ends_with_0_also_when_it_comes_late(self):
        self.write_job(1)
        lead, other, worker = self.server(0, "--linger", LINGER), self.server(1), self.worker("early")
        for process in (other, worker):
            self.assertEqual(process.wait(self.patience), 0, self.logs())
        self.assertIsNone(lead.poll())
        self.assertEqual(self.worker("late").wait(self.patience), 0, self.logs())
        self.assertEqual(self.server(1).wait(self.patience), 0, self.logs())
        self.assertIsNone(lead.poll())
        self.assertEqual(lead.wait(self.patience), 0, self.logs())


if __name__ == "__main__":
    harness.main()
