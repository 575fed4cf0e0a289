"""A Prometheus beside a test's runs: it finds them as dashboards/targets tells, and has the rules of dashboards/."""

import pathlib
import shutil
import sys
import time

import harness

DASHBOARDS = pathlib.Path(__file__).resolve().parents[2] / "dashboards"
sys.path.append(str(DASHBOARDS))

import prometheus  # pylint: disable=wrong-import-position
import rules_file  # pylint: disable=wrong-import-position

SCRAPE = 1  # seconds


def unfit():
    """Why there can be none here; None if there can."""
    return None if shutil.which("prometheus") else "needs prometheus (Debian's package prometheus)"


class Monitor:
    """Ended with the case. Runs are those in the case's folder, under the names of their folders."""

    def __init__(self, case, pace=1.0):
        self.case = case
        folder = case.folder / "prometheus"
        for part in ("rules", "targets"):
            (folder / part).mkdir(parents=True)
        for name, text in rules_file.files(pace=pace).items():
            (folder / "rules" / name).write_text(text, encoding="utf-8")
        config = folder / "prometheus.yml"
        config.write_text(f"global: {{scrape_interval: {SCRAPE}s, evaluation_interval: {SCRAPE}s}}\n"
                          f"rule_files: ['{folder}/rules/*.yml']\n"
                          "scrape_configs:\n  - job_name: ballast\n"
                          f"    file_sd_configs: [{{files: ['{folder}/targets/*.json'], refresh_interval: 1s}}]\n", encoding="utf-8")
        address = f"127.0.0.1:{harness.free_port()}"
        self.begun = time.time()
        case.start_process("prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                           f"--web.listen-address={address}", out=case.folder / "prometheus.log")
        self.watch = case.start_process(sys.executable, DASHBOARDS / "targets", case.folder, "--watch", "0.5",
                                        "--out", folder / "targets" / "runs.json", out=case.folder / "targets.log")
        self.server = prometheus.Prometheus(f"http://{address}")
        case.wait_for("Prometheus", self.answers)

    def answers(self):
        try:
            return bool(self.server.instant("vector(1)"))
        except (OSError, prometheus.Refused):  # not there, or not ready
            return False

    def keep_targets(self):
        """From now on processes that are gone are asked in vain, as they are where targets are written down by hand."""
        self.watch.kill()
        self.watch.wait()

    def wait_for_targets(self, job, count):
        self.case.wait_for(f"{count} processes of {job} that answer",
                           lambda: self.server.instant(f'sum(up{{job="{job}"}} == 1)') == [({}, count)])

    def firing(self):
        """The labels of all alerts that fire."""
        return [alert["labels"] for alert in self.server.alerts() if alert["state"] == "firing"]

    def wait_for_alert(self, name, patience=120, **labels):
        """Its labels, once it fires with these."""
        def found():
            return [one for one in self.firing() if one["alertname"] == name and labels.items() <= one.items()]
        return harness.wait_for(found, patience) or self.case.fail(
            f"waited {patience} s for {name} {labels}; there are {self.server.alerts()}\n{self.case.logs()}")

    def seen(self):
        """The names of all alerts that have ever fired here."""
        found = self.server.range('ALERTS{alertstate="firing"}', self.begun, time.time(), SCRAPE)
        return {labels["alertname"] for labels, _ in found}
