"""packaging/slurm/ballast.sbatch on a Slurm of its own: a controller and two node daemons on this machine, on loopback.

Needs root and Debian's slurm-wlm and munge, which nothing else needs. Exit code 77: it cannot be tried here.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import harness
import jobs

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "slurm" / "ballast.sbatch"
PATIENCE = 3 * harness.PATIENCE
STEPS = 300

CONFIGURATION = """
ClusterName=ballast
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmctldTimeout=600
SlurmdTimeout=600
MessageTimeout=60
KillWait=120
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class Slurm(harness.ClusterCase):
    patience = PATIENCE

    def setUp(self):
        super().setUp()
        self.slurm = self.folder / "slurm"
        (self.slurm / "state").mkdir(parents=True)
        self.folder.chmod(0o755)
        self.environment = {**os.environ, "SLURM_CONF": str(self.slurm / "slurm.conf"),
                            "PATH": f"{self.link_programs()}:{os.environ['PATH']}:/usr/sbin:/sbin"}
        self.start_slurm()

    def start_slurm(self):
        key = self.slurm / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        names = {name: f"{self.slurm}/munge.{name.split('-')[0]}" for name in ("pid-file", "log-file", "seed-file")}
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.slurm}/munge.sock",
                    *(f"--{name}={file}" for name, file in names.items()))
        self.wait_for("munge", (self.slurm / "munge.sock").exists)
        host = socket.gethostname().split(".")[0]
        (self.slurm / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.slurm, ports=harness.free_ports(3)))
        self.daemon("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", node)
        self.wait_for("two idle nodes", lambda: self.say("sinfo", "-h", "-o", "%D %t") == "2 idle")

    def daemon(self, name, *words):
        process = self.start_process(name, *words, out=self.slurm / f"{name}{words[-1][-3:].replace('/', '_')}.log",
                                     env=self.environment, cwd=self.slurm)
        self.addCleanup(self.end_daemon, process)

    def end_daemon(self, process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=harness.PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def say(self, *words):
        """What a command of Slurm's says; nothing if it cannot."""
        ran = harness.call(*words, env=self.environment, timeout=PATIENCE)
        return ran.stdout.strip() if ran.returncode == 0 else ""

    def logs(self):
        files = [*sorted(self.work.glob("*.out")), *sorted(self.work.glob("logs/*.log"))] if hasattr(self, "work") else []
        files += sorted(self.slurm.glob("*.log"))
        return harness.ends_of(files, self.folder)

    def submit(self, *more):
        ident = self.say("sbatch", "--parsable", *more, "--nodes=2", f"--chdir={self.work}", f"--output={self.work}/%j.out",
                         str(SCRIPT), str(self.file), "1")
        self.assertTrue(ident, self.logs())
        self.addCleanup(self.say, "scancel", ident)
        return ident

    def status(self):
        address = self.work / "lead.address"
        return (harness.status_of(address.read_text().strip(), ["--keys", self.work / "keys" / "operator.key"]) if address.exists() else None) or {}

    def trained_to(self, ident, step):
        def reached():
            self.assertTrue(self.say("squeue", "-h", "-j", ident), f"the job has ended\n{self.logs()}")
            status = self.status()
            return status.get("phase") == "training" and status["step"] >= step and status["snapshot"] >= step - 25
        self.wait_for(f"step {step}", reached)

    def ended(self, ident):
        self.wait_for(f"the end of job {ident}", lambda: not self.say("squeue", "-h", "-j", ident))
        return (self.work / f"{ident}.out").read_text(errors="replace")

    def work_on(self, steps):
        self.file = self.job(jobs.emulated(steps=steps, compute_ms=20, every_steps=20).replace(
            "cluster: {shards: 1", "cluster: {shards: 2"))
        self.work = self.folder / "work"
        self.work.mkdir()

    def test_stops_with_a_snapshot_before_its_time_is_over_and_goes_on(self):
        self.work_on(steps=100000)
        first = self.submit("--time=4")  # minutes; the script asks for a word three minutes ahead
        said = self.ended(first)
        stopped = re.search(r"stopped at step (\d+) of 100000, with a snapshot of step (\d+)", said)
        self.assertTrue(stopped, self.logs())
        self.assertNotIn("DUE TO TIME LIMIT", said)
        self.assertIn("JobState=COMPLETED", self.say("scontrol", "show", "job", first))

        second = self.submit("--time=4")
        self.trained_to(second, int(stopped[1]) + 1)
        log = (self.work / "logs" / "shard-0.log").read_text()
        self.assertRegex(log, rf"serves timeline \d+ from step {stopped[2]} ")
        self.say("scancel", "--signal=TERM", "--batch", second)
        self.assertRegex(self.ended(second), r"stopped at step \d+ of 100000, with a snapshot")

    def test_trains_survives_a_stop_and_a_signal_and_goes_on(self):
        self.work_on(STEPS)
        first = self.submit()
        self.trained_to(first, 30)
        self.say("scancel", "--signal=TERM", "--batch", first)
        said = self.ended(first)
        self.assertRegex(said, r"stopped at step \d+ of 300, with a snapshot")

        second = self.submit()
        self.trained_to(second, 90)
        self.say("scancel", "--signal=TERM", second)  # to servers and workers, past the script
        self.ended(second)

        third = self.submit()
        said = self.ended(third)
        self.assertIn("finished: 300 steps", said, self.logs())
        self.expect_equal_bits(self.digest_of(self.work), self.reference(self.file, jobs.AT_ONCE))
        events = [json.loads(line)["event"] for line in (self.work / "events.jsonl").read_text().splitlines()]
        self.assertEqual(events.count("begin"), 3)


def unfit():
    """Why it cannot be tried here; None if it can."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name, path=path) is None]
    if os.geteuid() != 0 or missing:
        return "needs root and the Debian packages slurm-wlm and munge" + (f": no {missing[0]}" if missing else "")
    return None


if __name__ == "__main__":
    harness.main(unfit)
