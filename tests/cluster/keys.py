"""Keys on real processes: who has none, or one for something else, is refused in words; keys and the servers' own key are
changed while the job trains; a run over tcp makes its own; and no secret is found where it does not belong. Equal bits."""

import os
import pathlib
import re
import shutil
import signal

import copies
import harness
import jobs

SECRET = re.compile(r"^secret (\S+)$", re.M)


def secret_of(file):
    return SECRET.search(file.read_text())[1]


class ByHand(harness.ClusterCase):
    """Two servers and workers, started by hand, each with what it needs of a folder of keys."""

    def setUp(self):
        super().setUp()
        self.made = self.folder / "made"
        self.ballast("keygen", self.made)
        self.at_servers = self.folder / "at-servers"
        self.at_servers.mkdir()
        self.hand_out()
        self.address_file = self.folder / "lead"
        self.logs_of = {}
        self.servers = {}

    def hand_out(self):
        """What servers have of it. In place, as a mounted Secret changes."""
        for name in ("server.key", "allowed.keys"):
            shutil.copyfile(self.made / name, self.at_servers / f"{name}.new")
            (self.at_servers / f"{name}.new").chmod(0o600)
            os.replace(self.at_servers / f"{name}.new", self.at_servers / name)

    def begin(self, steps=100_000, compute_ms=10):
        self.file = self.job(jobs.emulated(steps=steps, compute_ms=compute_ms).replace("shards: 1", "shards: 2"))
        self.server(0)
        self.wait_for("the lead", self.address_file.exists)
        self.lead = self.address_file.read_text().strip()
        self.server(1)

    def server(self, shard, name=None, keys=None):
        name = name or f"server-{shard}"
        again = shard == 0 and self.address_file.exists()
        self.servers[shard], self.logs_of[name] = self.start_by_hand(
            name, harness.SERVER, "--job", self.file, "--shard", shard, "--lead",
            self.lead if shard > 0 or again else "tcp://127.0.0.1:*", "--database", self.folder / f"shard-{shard}",
            "--keys", keys or self.at_servers, *(["--address-file", self.address_file] if shard == 0 else []))
        return self.servers[shard]

    def worker(self, name, key="worker.key", *options):
        words = ["--keys", self.made / key] if key else []
        process, self.logs_of[name] = self.start_by_hand(name, harness.WORKER, "--lead", self.lead, "--name", name, *words,
                                                         *options)
        return process

    def status(self):
        return harness.status_of(self.lead, ["--keys", self.made / "operator.key"])

    def step(self):
        return (self.status() or {"step": 0})["step"]

    def train_on(self):
        before = self.step()
        self.wait_for("more steps", lambda: self.step() > before + 2)

    def ask(self, command, key, code):
        answer = harness.ballast(command, self.lead, *(["--keys", self.made / key] if key else []))
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        return answer.stdout + answer.stderr


class Made(harness.ClusterCase):
    def test_each_worker_has_one_of_its_own(self):
        made = self.folder / "made"
        self.ballast("keygen", made, "--workers", 3)
        files = [made / f"worker-{number}.key" for number in (1, 2, 3)]
        self.assertEqual(sorted(made.glob("worker*")), files)
        public = [re.search(r"^public (\S+)$", file.read_text(), re.M)[1] for file in files]
        self.assertEqual(len(set(public)), 3, public)
        self.assertEqual(len({secret_of(file) for file in files}), 3)
        lines = [line for line in (made / "allowed.keys").read_text().splitlines() if line.startswith("worker ")]
        self.assertEqual(lines, [f"worker {key} {file.stem}" for file, key in zip(files, public)])


class Refused(ByHand):
    def test_who_has_no_key_or_one_for_something_else(self):
        self.begin()
        self.worker("good")
        self.train_on()
        # Asked by somebody who may not.
        self.assertIn("or one that has keys, and this process has none (--keys)", self.ask("status", None, 1))
        for command in ("status", "stop", "pause"):
            self.assertIn("the key worker is of role worker in the servers' allowed.keys, and a command line needs one of role "
                          "operator", self.ask(command, "worker.key", 1))
        self.assertIn("the key server is of role shard", self.ask("stop", "server.key", 1))
        self.ballast("keygen", self.folder / "elsewhere")
        shutil.copyfile(self.folder / "elsewhere" / "worker.key", self.made / "misled.key")
        self.assertIn("its key is none of the server keys in", self.ask("status", "misled.key", 1))
        stranger = (self.made / "worker.key").read_text().replace(
            secret_of(self.made / "worker.key"), secret_of(self.folder / "elsewhere" / "worker.key"))
        (self.made / "stranger.key").write_text(re.sub("^public .*\n", "", stranger, flags=re.M))
        self.assertIn("it does not allow the key of this process", self.ask("stop", "stranger.key", 1))
        # Workers go on asking: the key may be let in later.
        self.worker("without", None)
        self.worker("stranger", "stranger.key")
        self.worker("boss", "operator.key")
        self.wait_for("words", lambda: "this process has none (--keys)" in self.logs_of["without"]())
        self.wait_for("words", lambda: "does not allow the key" in self.logs_of["stranger"]())
        self.wait_for("words", lambda: "the key operator is of role operator in the servers' allowed.keys"
                      in self.logs_of["boss"]())
        lead_log = self.logs_of["server-0"]()
        self.assertIn("one end has keys, and the other has none", lead_log)
        self.assertIn("a key that is not allowed", lead_log)
        # A worker's key does not make a shard.
        shutil.copytree(self.at_servers, self.folder / "posing")
        shutil.copyfile(self.made / "worker.key", self.folder / "posing" / "server.key")
        answer = harness.call(harness.SERVER, "--job", self.file, "--shard", "1", "--lead", self.lead, "--database",
                              self.folder / "another", "--keys", self.folder / "posing")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("does not let in this server itself", answer.stderr)
        # Nor if its own list says so.
        allowed = self.folder / "posing" / "allowed.keys"
        allowed.write_text("".join(line.replace("worker ", "shard ", 1) if line.endswith(" worker\n") else line
                                   for line in allowed.read_text().splitlines(True)))
        poser, log = self.start_by_hand(
            "poser", harness.SERVER, "--job", self.file, "--shard", "1", "--lead", self.lead, "--database",
            self.folder / "another", "--keys", self.folder / "posing")
        self.wait_for("words", lambda: "is of role worker in the servers' allowed.keys, and shard 1, lane 0 needs one" in log())
        poser.send_signal(signal.SIGTERM)
        self.assertEqual(self.status()["timeline"], 1)
        self.train_on()
        self.assertIn("with a snapshot", self.ask("stop", "operator.key", 0))

    def test_what_cannot_be_read_is_said_and_nothing_begins(self):
        job = self.job(jobs.emulated(steps=2))
        server = [harness.SERVER, "--job", job, "--shard", "0", "--lead", "tcp://127.0.0.1:*", "--database", self.folder / "d"]
        (self.folder / "empty").mkdir()
        for words, told in (
                ([*server, "--keys", self.folder / "empty"], "server.key: cannot be read (No such file or directory)"),
                ([*server, "--bind", "tcp://0.0.0.0:*"], "Pass --keys FOLDER (`ballast keygen` makes one)"),
                ([harness.WORKER, "--lead", "tcp://127.0.0.1:1", "--keys", self.at_servers / "allowed.keys"],
                 "its first word is none of secret, public, server"),
                ([harness.BALLAST, "keygen", self.made], "has keys already"),
                ([harness.BALLAST, "keygen", self.made, "--add-worker", "../x"], "is no name for a key"),
                ([harness.BALLAST, "keygen", "--copies", self.made / "server.key"], "exists: --next puts a new key before"),
                ([harness.BALLAST, "keygen"], "a folder, or --copies with a file"),
                ([harness.BALLAST, "keygen", self.made, "--copies", "x"], "folder excludes --copies")):
            answer = harness.call(*words)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(told, answer.stderr)
            self.assertNotIn(secret_of(self.made / "server.key"), answer.stderr)
        self.assertFalse((self.folder / "d").exists())
        others = self.folder / "others"
        self.ballast("keygen", others)
        shutil.copyfile(self.made / "server.key", others / "server.key")
        answer = harness.call(*server, "--keys", others)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("allowed.keys: does not let in this server itself", answer.stderr)
        answer = harness.ballast("restore", self.folder, "--list", "--copy-key-file", self.made / "server.key")
        self.assertIn("server.key: line 2 is neither a remark nor: secret, and 64 hexadecimal digits", answer.stderr)
        self.assertNotIn(secret_of(self.made / "server.key"), answer.stderr)

    def test_a_server_warns_of_what_does_nothing_and_of_memory_that_is_not_there(self):
        job = self.job(jobs.emulated(steps=2).replace("shards: 1", "shards: 1, memory_mib: 16777216"))
        _, log = self.start_by_hand("server", harness.SERVER, "--job", job, "--shard", "0", "--lead", "tcp://127.0.0.1:*",
                                    "--database", self.folder / "d", "--keys", self.at_servers, "--insecure")
        self.wait_for("its lane", lambda: "lane 0 listens on" in log())
        self.assertIn("--insecure changes nothing beside --keys", log())
        self.assertRegex(log(), r"cluster\.memory_mib is more than the \d+ MiB of this machine or control group")


class Changed(ByHand):
    def test_a_list_of_other_servers_changes_nothing(self):
        self.begin()
        self.worker("one")
        self.train_on()
        self.ballast("keygen", self.folder / "others")
        mended = (self.at_servers / "allowed.keys").read_text()
        (self.at_servers / "allowed.keys").write_text((self.folder / "others" / "allowed.keys").read_text())
        self.wait_for("word of it", lambda: "allowed keys stay as they were" in self.logs())
        self.assertIn("does not let in this server itself", self.logs())
        self.train_on()
        (self.at_servers / "allowed.keys").write_text(mended)
        self.assertIn("with a snapshot", self.ask("stop", "operator.key", 0))

    def test_the_next_keys_may_be_read_by_who_may_read_the_ones_before(self):
        os.chmod(self.made / "server.key", 0o640)
        self.ballast("keygen", self.made, "--next-server")
        self.assertEqual((self.made / "server.next.key").stat().st_mode & 0o777, 0o640)
        self.assertEqual((self.made / "server.key").stat().st_mode & 0o777, 0o640)
        self.assertEqual((self.made / "worker.key").stat().st_mode & 0o777, 0o600)

    def test_a_name_that_the_list_has_is_not_given_twice(self):
        os.remove(self.made / "worker.key")  # it was handed out
        answer = harness.ballast("keygen", self.made, "--add-worker", "worker")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("has a key of the name worker", answer.stderr)

    def test_a_workers_key_is_replaced_while_the_job_trains(self):
        self.begin()
        old = self.worker("old")
        self.train_on()
        self.ballast("keygen", self.made, "--add-worker", "next")
        self.hand_out()
        self.worker("next", "next.key")
        self.wait_for("both", lambda: sorted(s["name"] for s in self.status()["sessions"] if s["live"]) == ["next", "old"])
        allowed = self.made / "allowed.keys"
        allowed.write_text("".join(line for line in allowed.read_text().splitlines(True) if not line.endswith(" worker\n")))
        self.hand_out()
        self.assertEqual(old.wait(self.patience), 4, self.logs())  # it would hear the same in its next life
        self.assertIn("its key (worker) is no longer allowed", self.logs_of["old"]())
        self.train_on()
        self.assertEqual(self.status()["timeline"], 1)
        stopped = self.ask("stop", "operator.key", 0)
        self.expect_bits_so_far(self.file, stopped, self.databases_of_all())

    def databases_of_all(self):
        """Once their servers have ended."""
        for server in self.servers.values():
            self.assertEqual(server.wait(self.patience), 0, self.logs())
        return [self.folder / f"shard-{shard}" for shard in self.servers]

    def test_the_servers_key_is_replaced_while_the_job_trains(self):
        steps = 700
        self.begin(steps)
        workers = [self.worker("one"), self.worker("two")]
        self.train_on()
        self.ballast("keygen", "--copies", self.made / "copies.key")  # beside the others, and none of them
        of_copies = (self.made / "copies.key").read_text()
        self.ballast("keygen", self.made, "--next-server")
        self.hand_out()
        os.replace(self.made / "server.next.key", self.made / "server.key")
        self.hand_out()
        for shard in (1, 0):
            server = self.servers[shard]
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(self.patience), 0, self.logs())
            self.server(shard)
            self.train_on()
        self.ballast("keygen", self.made, "--forget-servers")
        self.hand_out()
        self.assertEqual(len(re.findall("^server ", (self.made / "worker.key").read_text(), re.M)), 1)
        self.assertEqual((self.made / "copies.key").read_text(), of_copies)
        self.train_on()
        for process in [*workers, *self.servers.values()]:
            self.assertEqual(process.wait(2 * self.patience), 0, self.logs())
        self.ballast("gather", self.folder / "shard-0", self.folder / "shard-1", "--run-dir", self.folder / "gathered")
        digests = self.digest_of(self.folder / "gathered")
        expected = self.reference(self.file, jobs.AT_ONCE, patience=3 * self.patience)
        self.assertEqual(digests["weights_sha256"], expected["weights_sha256"])


class OfARun(copies.CopiesCase):
    """That makes its own keys, and copies to a storage, encrypted."""

    def begin(self):
        self.job_file = self.job(jobs.emulated(steps=150, compute_ms=25, every_steps=50))
        del self.durability["durability.every_steps"]
        self.copies.mkdir()
        self.credentials = self.folder / "credentials"
        self.start_storage("--keep", self.copies, credentials=self.credentials)
        self.key_of_copies, _ = self.encrypt()
        run = self.start(self.job_file, options=["--workers", "2", "--shards", "2", "--metrics"],
                         overrides={"cluster.transport": "tcp", **self.durability})
        run.wait_for_step(5)
        return run

    def secrets(self, run):
        """All that there are."""
        of_the_run = [secret_of(file) for file in (run.folder / "keys").glob("*.key")]
        self.assertEqual(len(of_the_run), 3)
        of_storage = re.search(r"^aws_secret_access_key = (\S+)$", self.credentials.read_text(), re.M)[1]
        return [*of_the_run, secret_of(self.key_of_copies), of_storage]

    def while_it_lives(self, run):
        """What it prints, tells and has in its processes."""
        seen = [run.out, run.err]
        for pid in [run.process.pid, *(entry["pid"] for entry in run.processes())]:
            seen += [pathlib.Path(f"/proc/{pid}/environ"), pathlib.Path(f"/proc/{pid}/cmdline")]
        text = harness.ballast("status", run.folder).stdout + harness.ballast("status", "--json", run.folder).stdout
        for entry in run.processes():
            text += harness.call("python3", "-c", "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())",
                                 entry["addresses"]["metrics"]).stdout
        self.assertIn("ballast_lead_step", text)
        found = text.encode() + b"".join(file.read_bytes() for file in seen)
        self.assertIn(str(run.folder / "keys").encode(), found)     # the arguments are there
        self.assertIn(b"BALLAST_CUDA_MODULE=none", found)           # and the environment
        return found

    def left_by(self, run):
        files = [file for root in (run.folder, self.copies) for file in root.rglob("*") if file.is_file()]
        self.assertTrue(any(file.suffix == ".log" for file in files))
        self.assertTrue(any("copies" in file.parts for file in files))
        return b"".join(file.read_bytes() for file in [*files, run.out, run.err, run.summary_file])

    def test_a_run_over_tcp_makes_its_own_and_no_secret_is_elsewhere(self):
        run = self.begin()
        folder = run.folder / "keys"
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        for file in [*folder.glob("*.key"), self.key_of_copies]:
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        secrets = self.secrets(run)
        while_it_lives = self.while_it_lives(run)
        self.expect_loopback_alone(run)
        summary = run.finish()
        self.expect_equal_bits(summary, self.reference(self.job_file, jobs.AT_ONCE))
        self.assertFalse(folder.exists())
        left = self.left_by(run)
        for secret in [*map(str.encode, secrets), bytes.fromhex(secret_of(self.key_of_copies))]:
            self.assertNotIn(secret, while_it_lives)
            self.assertNotIn(secret, left)

    def expect_loopback_alone(self, run):
        """Whatever it listens on: nobody asked for more."""
        addresses = [address for entry in run.processes() for address in entry["addresses"].values()]
        addresses += re.findall(r"listens on (\S+)", "".join(file.read_text() for file in run.folder.glob("logs/shard-*.log")))
        self.assertGreaterEqual(len(addresses), 4 + 3 + 3, addresses)  # pages; of servers; lead and lanes by their own word
        for address in addresses:
            self.assertRegex(address, r"^(tcp|http)://127\.0\.0\.1:")


if __name__ == "__main__":
    harness.main()
