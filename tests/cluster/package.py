"""packaging/deb, and what it installs: the programs, their pages, and the systemd units, whose command lines run as written.

The package is installed by dpkg into a machine of its own: this one's file system with a layer above it that takes all
changes, and a network of its own. Needs root, overlay file systems and dpkg-dev. Exit code 77: it cannot be tried here.
"""

import ctypes
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import tempfile

import harness
import jobs
import page

PROJECT = pathlib.Path(__file__).resolve().parents[2]
UNITS = PROJECT / "packaging" / "systemd"
PATIENCE = 3 * harness.PATIENCE
NETWORK = f"ballast-{os.getpid()}-package"
CLONE_NEWNS = 0x00020000


def must(*words):
    ran = harness.call(*words, timeout=PATIENCE)
    if ran.returncode != 0:
        raise AssertionError(f"{words}: {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


class Machine:
    """This machine with another layer: what is written there, nobody else sees. One for all cases."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-test-package-"))
        must("mount", "-t", "tmpfs", "ballast-test", self.folder)
        for name in ("changes", "work", "root", "out"):
            (self.folder / name).mkdir()
        self.root = self.folder / "root"
        must("mount", "-t", "overlay", "ballast-test", "-o",
             f"lowerdir=/,upperdir={self.folder}/changes,workdir={self.folder}/work", self.root)
        must("mount", "--rbind", "/dev", self.root / "dev")
        must("mount", "--rbind", "/proc", self.root / "proc")
        must("ip", "netns", "add", NETWORK)
        must("ip", "-n", NETWORK, "addr", "add", "10.77.0.1/32", "dev", "lo")
        must("ip", "-n", NETWORK, "link", "set", "lo", "up")

    def install(self):
        package = must(PROJECT / "packaging" / "deb", harness.BUILD, self.folder / "out").strip()
        shutil.copy(package, self.root / "srv")
        self.package = pathlib.Path(package)
        must("chroot", self.root, "dpkg", "-i", f"/srv/{self.package.name}")

    def here(self, *words):
        """The words as a command on it."""
        return ["ip", "netns", "exec", NETWORK, "chroot", str(self.root), *map(str, words)]

    def remove(self):
        subprocess.run(["ip", "netns", "del", NETWORK], check=False)
        subprocess.run(["umount", "--recursive", "--lazy", str(self.folder)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


MACHINE = None


def setUpModule():
    MACHINE.install()


def unit_lines(name):
    """KEY=VALUE of a unit."""
    lines = [line for line in (UNITS / name).read_text().splitlines() if line and line[0] not in "#["]
    return dict(line.split("=", 1) for line in lines)


def environment_of(name):
    lines = [line for line in (UNITS / name).read_text().splitlines() if line and line[0] != "#"]
    return dict(line.split("=", 1) for line in lines)


def command_of(unit, instance, variables):
    """ExecStart as systemd reads it: %i, %H and ${NAME} within words, a $NAME by itself as many words as it has."""
    words = []
    for word in shlex.split(unit["ExecStart"]):
        word = word.replace("%i", instance).replace("%H", socket.gethostname())
        if re.fullmatch(r"\$[A-Z_]+", word):
            words += variables[word[1:]].split()
        else:
            words.append(re.sub(r"\$\{([A-Z_]+)\}", lambda found: variables[found[1]], word))
    assert not any("$" in word or "%" in word for word in words), words
    return words


class Package(harness.ClusterCase):
    patience = PATIENCE

    def test_what_it_holds(self):
        listed = must("dpkg-deb", "--contents", MACHINE.package)
        for path in ("usr/bin/ballast", "usr/bin/ballast-server", "usr/bin/ballast-worker", "usr/share/man/man1/ballast.1.gz",
                     "usr/share/man/man1/ballast-worker.1.gz", "usr/share/bash-completion/completions/ballast",
                     "usr/share/zsh/vendor-completions/_ballast", "usr/share/fish/vendor_completions.d/ballast.fish",
                     "usr/lib/systemd/system/ballast-server@.service", "usr/share/doc/ballast/copyright",
                     "usr/share/doc/ballast/docs/machines.md", "usr/share/doc/ballast/examples/ballast.sbatch"):
            self.assertRegex(listed, rf"(?m) \./{re.escape(path)}$")
        self.assertNotRegex(listed, r"(?m)usr/local|/tests/|\.a$")
        self.assertIn("librocksdb", must("dpkg-deb", "--field", MACHINE.package, "Depends"))

    def test_lintian_finds_no_error(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        ran = harness.call("lintian", "--fail-on", "error", "--allow-root", MACHINE.package, timeout=PATIENCE)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_job_runs_from_it(self):
        job = jobs.glyphs(steps=3)
        (MACHINE.root / "srv" / "job.yaml").write_text(job)
        must(*MACHINE.here("ballast", "run", "/srv/job.yaml", "--run-dir", "/srv/run", "--summary", "/srv/summary.json"))
        summary = json.loads((MACHINE.root / "srv" / "summary.json").read_text())
        self.expect_equal_bits(summary, self.reference(self.job(job)))

    def test_its_pages_and_completions_can_be_read(self):
        pages = must(*MACHINE.here("zcat", "/usr/share/man/man1/ballast.1.gz"))
        self.assertIn(".SS \\fBballast run\\fR", pages)
        if shutil.which("man"):
            said = must(*MACHINE.here("env", "MANWIDTH=200", "LC_ALL=C", "man", "-P", "cat", "ballast-server"))
            self.assertRegex(said, r"--database")
        must(*MACHINE.here("bash", "-c", "source /usr/share/bash-completion/completions/ballast; complete -p ballast"))

    def test_every_option_is_in_the_documentation(self):
        pages_of_options = ("cli", "machines", "configuration", "backends", "data", "data-text", "tracing", "advise")
        said = "".join((PROJECT / "docs" / f"{name}.md").read_text() for name in pages_of_options)
        pages = must("zcat", MACHINE.root / "usr/share/man/man1/ballast.1.gz")
        options = set(re.findall(r"\\-\\-([a-z0-9\\-]+)\\fR", pages))
        self.assertIn("events", options)
        missing = [option for option in sorted(options - {"help"}) if "--" + option.replace("\\", "") not in said]
        self.assertEqual(missing, [])

    # ---- systemd

    def test_the_units_pass_systemds_own_check(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd is not installed")
        for name in ("ballast-server@.service", "ballast-worker@.service"):
            ran = harness.call(*MACHINE.here("systemd-analyze", "verify", f"/usr/lib/systemd/system/{name}"),
                               timeout=PATIENCE)
            said = [line for line in (ran.stdout + ran.stderr).splitlines() if "ballast" in line]
            self.assertEqual((ran.returncode, said), (0, []), ran.stdout + ran.stderr)

    def start_unit(self, name, instance):
        """As systemd would, by the unit and the environment file that comes with it."""
        unit = unit_lines(f"{name}@.service")
        variables = environment_of("server.env" if "server" in name else "worker.env")
        if "StateDirectory" in unit:
            state = MACHINE.root / "var" / "lib" / unit["StateDirectory"].replace("%i", instance)
            state.mkdir(parents=True, exist_ok=True)
        return self.start_process(*MACHINE.here(*command_of(unit, instance, variables)),
                                  out=self.folder / f"{name}-{instance}.log")

    def test_a_job_runs_by_the_units(self):
        (job,) = [block.text for block in page.blocks("machines.md") if block.language == "yaml"]
        etc = MACHINE.root / "etc" / "ballast"
        etc.mkdir()
        (etc / "job.yaml").write_text(job)
        must(*MACHINE.here("ballast", "keygen", "/etc/ballast/keys"))
        servers = {instance: self.start_unit("ballast-server", instance) for instance in ("0", "1")}
        workers = [self.start_unit("ballast-worker", instance) for instance in ("0", "1")]
        lead = self.folder / "ballast-server-0.log"
        self.wait_for("training", lambda: "training at step" in lead.read_text())
        servers["1"].kill()  # and systemd starts it again
        servers["1"].wait()
        servers["1"] = self.start_unit("ballast-server", "1")
        for process in [*servers.values(), *workers]:
            self.assertEqual(process.wait(timeout=PATIENCE), 0, self.logs())
        must(*MACHINE.here("ballast", "gather", "/var/lib/ballast/shard-0", "/var/lib/ballast/shard-1", "--run-dir",
                           "/srv/digits"))
        digest = json.loads(must(*MACHINE.here("ballast", "digest", "/srv/digits")))
        self.expect_equal_bits(digest, self.reference(self.job(job)))


def unfit():
    """Why it cannot be tried here; None if it can."""
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("dpkg-shlibdeps") is None:
        return "needs root, iproute2 and dpkg-dev"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"mount namespaces cannot be made here: {os.strerror(ctypes.get_errno())}"
    must("mount", "--make-rprivate", "/")
    global MACHINE  # pylint: disable=global-statement
    try:
        MACHINE = Machine()
    except AssertionError as refused:
        return f"a machine of its own cannot be made here: {refused}"
    return None


if __name__ == "__main__":
    try:
        harness.main(unfit)
    finally:
        if MACHINE:
            MACHINE.remove()
