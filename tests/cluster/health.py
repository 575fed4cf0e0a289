"""What --health and --alive say of real processes, and who stops looking for a lead that is gone (--lead-patience)."""

import os
import signal
import time

import harness
import jobs

ENDLESS = 100_000
PATIENCE = 2  # seconds that a process is told to look for its lead


class Health(harness.ClusterCase):
    def setUp(self):
        super().setUp()
        self.lead, *ports = harness.free_ports(4)
        self.pages = dict(zip(("0", "1", "w"), (f"127.0.0.1:{port}" for port in ports)))

    def write_job(self, epochs):
        self.job_file = self.job(jobs.short_epochs(epochs))

    def server(self, shard, *options):
        process, _ = self.start_by_hand(f"shard-{shard}", harness.SERVER, "--job", self.job_file, "--shard", shard, "--lead",
                                        f"tcp://127.0.0.1:{self.lead}", "--database", self.folder / f"shard-{shard}",
                                        "--metrics", self.pages[str(shard)], *options)
        return process

    def worker(self, *options):
        process, log = self.start_by_hand("worker", harness.WORKER, "--lead", f"tcp://127.0.0.1:{self.lead}", "--name", "w",
                                          "--metrics", self.pages["w"], *options)
        self.worker_log = log
        return process

    def ask(self, whom, question):
        program = harness.WORKER if whom == "w" else harness.SERVER
        return harness.call(program, question, self.pages[whom])

    def says(self, whom, question, code, text):
        answer = self.ask(whom, question)
        return (answer.returncode, text in answer.stdout) == (code, True)

    def expect(self, whom, question, code, text):
        self.wait_for(f"{question} of {whom}: {text}", lambda: self.says(whom, question, code, text))

    def test_who_waits_is_alive_and_not_well_yet(self):
        self.write_job(ENDLESS)
        worker, lead = self.worker(), self.server(0)
        self.expect("w", "--alive", 0, "alive")
        self.expect("w", "--health", 1, "the lead has not given it the job yet")
        self.expect("0", "--alive", 0, "alive")
        self.expect("0", "--health", 1, "lane 0 does not serve")
        self.expect("1", "--alive", 1, "Connection refused")
        other = self.server(1)
        for whom in self.pages:
            self.expect(whom, "--health", 0, "ready")
            self.expect(whom, "--alive", 0, "alive")
        for process in (worker, lead, other):
            self.assertIsNone(process.poll())

    def test_a_lead_that_is_not_heard_and_a_process_that_stands_still(self):
        self.write_job(ENDLESS)
        self.worker()
        lead = self.server(0)
        self.server(1)
        self.expect("w", "--health", 0, "ready")
        lead.send_signal(signal.SIGSTOP)
        self.addCleanup(os.kill, lead.pid, signal.SIGCONT)
        self.expect("w", "--health", 1, "the lead was not heard for")
        self.assertTrue(self.says("w", "--alive", 0, "alive"))
        self.assertTrue(self.says("0", "--alive", 1, "does not answer"))
        lead.send_signal(signal.SIGCONT)
        for whom in self.pages:
            self.expect(whom, "--health", 0, "ready")

    def test_the_page_of_another_role_is_refused(self):
        self.write_job(ENDLESS)
        self.server(0)
        self.expect("0", "--alive", 0, "alive")
        answer = harness.call(harness.WORKER, "--alive", self.pages["0"])
        self.assertEqual((answer.returncode, answer.stdout), (1, "this is the page of a shard\n"))
        self.assertEqual(harness.call(harness.WORKER, "--alive", "9100").returncode, 2)

    def finish_a_job(self):
        self.write_job(1)
        processes = [self.server(0), self.server(1), self.worker()]
        for process in processes:
            self.assertEqual(process.wait(self.patience), 0, self.logs())

    def test_who_is_started_when_the_job_is_over_ends(self):
        self.finish_a_job()
        worker = self.worker("--lead-patience", PATIENCE)
        server = self.server(1, "--lead-patience", PATIENCE)
        self.assertEqual(worker.wait(self.patience), 0)
        self.assertIn("no lead was heard for 2 s (--lead-patience)", self.worker_log())
        self.assertEqual(server.wait(self.patience), 0)

    def test_a_server_whose_job_has_not_finished_says_so(self):
        self.write_job(ENDLESS)
        server = self.server(1, "--lead-patience", PATIENCE)
        self.assertEqual(server.wait(self.patience), 1)
        self.assertIn("no lead was there for 2 s (--lead-patience)", self.logs())

    def test_time_in_which_a_worker_did_not_run_is_not_the_leads_silence(self):
        self.write_job(ENDLESS)
        worker = self.worker("--lead-patience", 2 * PATIENCE)
        self.server(0)
        self.server(1)
        self.expect("w", "--health", 0, "ready")
        worker.send_signal(signal.SIGSTOP)
        time.sleep(4 * PATIENCE)
        worker.send_signal(signal.SIGCONT)
        self.expect("w", "--health", 0, "ready")
        self.assertIsNone(worker.poll())


if __name__ == "__main__":
    harness.main()
