"""docs/machines.md, tried word for word: two machines, made of network namespaces, with a cable between them.

Every command, file and output is read from the page. Needs root and iproute2. Exit code 77: it cannot be tried here.
"""

import itertools
import json
import os
import shutil
import subprocess
import time

import harness
import page

ADDRESSES = {"alpha": "10.77.0.1", "beta": "10.77.0.2"}
PATIENCE = 3 * harness.PATIENCE
BLOCKS = page.blocks("machines.md")


def ip(*words):
    return harness.call("ip", *words)


class Terminal:
    """A command that runs on a machine; ended with the case."""

    def __init__(self, case, machine, name, command):
        self.case = case
        self.name = f"{machine}:{name}"
        self.file = case.folder / f"{machine}-{name}.out"
        self.process = case.start_process(*case.on(machine, command), out=self.file, cwd=case.folder / machine,
                                          env=case.environment)

    def output(self):
        return self.file.read_text(errors="replace")


class Machines(harness.ClusterCase):
    patience = PATIENCE

    def setUp(self):
        super().setUp()
        self.terminals = {}
        self.names = {machine: f"ballast-{os.getpid()}-{machine}" for machine in ADDRESSES}
        programs = self.link_programs()
        self.write_scp(programs / "scp")
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        self.connect()
        for block in BLOCKS:
            if block.language == "yaml":
                for machine in block.machine.split(","):
                    (self.folder / machine / block.terminal).write_text(block.text)
        for block in self.blocks_under("Keys"):
            self.type(block)

    def write_scp(self, file):
        """In the place of ssh's copy, for there is no ssh between the two: HOST:PATH is a path in that machine's folder."""
        file.write_text(f'#!/bin/sh\n[ "$1" = -r ] || exit 2\nexec cp -r "{self.folder}/${{2%%:*}}/${{2#*:}}" "$3"\n')
        file.chmod(0o755)

    def connect(self):
        self.cables = {machine: f"bl{os.getpid() % 100000}{machine[0]}" for machine in ADDRESSES}
        cables = self.cables
        for machine, name in self.names.items():
            (self.folder / machine).mkdir()
            self.addCleanup(ip, "netns", "del", name)
            self.must(ip("netns", "add", name))
        self.must(ip("link", "add", cables["alpha"], "type", "veth", "peer", "name", cables["beta"]))
        for machine, name in self.names.items():
            self.must(ip("link", "set", cables[machine], "netns", name))
            for words in (["addr", "add", f"{ADDRESSES[machine]}/24", "dev", cables[machine]],
                          ["link", "set", cables[machine], "up"], ["link", "set", "lo", "up"]):
                self.must(ip("-n", name, *words))

    def must(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def on(self, machine, command):
        """`exec`: the command is the process that we know, and end."""
        return ["ip", "netns", "exec", self.names[machine], "sh", "-c", f"exec {command}"]

    def call_on(self, machine, command):
        return harness.call(*self.on(machine, command), cwd=self.folder / machine, env=self.environment, timeout=PATIENCE)

    # ---- the page's blocks

    def blocks_under(self, *headings, language="sh", case=""):
        found = [block for block in BLOCKS
                 if block.heading in headings and block.language == language and block.case == case]
        self.assertTrue(found, headings)
        return found

    def open_terminals(self, blocks, suffix=""):
        for block in blocks:
            name = block.terminal + suffix
            (command,) = block.lines
            self.terminals[f"{block.machine}:{name}"] = Terminal(self, block.machine, name, command)

    def type(self, block):
        """Commands that end by themselves, and what they print."""
        said = ""
        for command in block.lines:
            ran = self.call_on(block.machine, command)
            self.assertEqual(ran.returncode, 0, f"{command}\n{ran.stdout}{ran.stderr}\n{self.logs()}")
            said += ran.stdout
        return said

    def logs(self):
        return "\n".join(f"---- {name}\n{terminal.output()[-3000:]}" for name, terminal in self.terminals.items())

    def wait_until(self, what, holds):
        """Fails as well if a terminal's command fails before."""
        def checked():
            if holds():
                return True
            for name, terminal in self.terminals.items():
                if terminal.process.poll():
                    self.fail(f"{name} ended with {terminal.process.returncode}\n{self.logs()}")
            return False
        self.wait_for(what, checked)

    def expect_printed(self, blocks):
        for block in blocks:
            terminal = self.terminals[f"{block.machine}:{block.terminal}"]
            self.wait_until(f"{terminal.name} to print {block.text}",
                            lambda: page.missing(block.lines, terminal.output()) is None)

    def expect_said(self, block, said):
        self.assertIsNone(page.missing(block.lines, said), said)

    def expect_all_ended(self, code=0, but=()):
        for name, terminal in self.terminals.items():
            if name in but:
                continue
            try:
                self.assertEqual(terminal.process.wait(timeout=PATIENCE), code, f"{name}\n{self.logs()}")
            except subprocess.TimeoutExpired:
                self.fail(f"{name} has not ended\n{self.logs()}")

    # ---- cases

    def test_the_page(self):
        start = self.blocks_under("Start")
        (watch,) = self.blocks_under("Watch")
        self.open_terminals(start)
        self.open_terminals([watch])
        self.expect_printed(self.blocks_under("Start", "Watch", language="text"))

        (stop,) = self.blocks_under("Stop, and go on")
        (stopped,) = self.blocks_under("Stop, and go on", language="text")
        self.expect_said(stopped, self.type(stop))
        self.assertEqual(self.terminals["beta:watch"].process.wait(timeout=PATIENCE), 3, self.logs())
        self.expect_all_ended(but=["beta:watch"])

        self.terminals = {}
        self.open_terminals([watch], "-again")
        self.open_terminals(reversed(start))  # in any order
        self.expect_all_ended()
        self.expect_printed(self.blocks_under("The end", language="text"))

        gathering, using = self.blocks_under("The weights")
        (gathered,) = self.blocks_under("The weights", language="text")
        self.expect_said(gathered, self.type(gathering))
        said = self.type(using)
        digest = json.loads(said[:said.index("}") + 1])
        self.expect_equal_bits(digest, self.reference(self.folder / "alpha" / "job.yaml"))
        self.assertTrue((self.folder / "alpha" / "digits.safetensors").is_file())

    def test_in_any_order(self):
        """Whoever comes first waits for the others."""
        start = self.blocks_under("Start")
        for number, order in enumerate(itertools.islice(itertools.permutations(start), 0, 24, 7)):
            self.terminals = {}
            for block in order:
                self.open_terminals([block], f"-{number}")
                time.sleep(0.3)
            lead = self.terminals[f"alpha:server-0-{number}"]
            self.wait_until("training", lambda: "training at step" in lead.output())  # pylint: disable=cell-var-from-loop
            for terminal in self.terminals.values():
                terminal.process.kill()
                terminal.process.wait()
            for machine in ADDRESSES:
                for database in (self.folder / machine).glob("shard-*"):
                    shutil.rmtree(database)

    def connections(self):
        """Those of alpha with beta that alpha takes for whole."""
        ss = f"ss --no-header --tcp --numeric state established dst {ADDRESSES['beta']}"
        return self.must(self.call_on("alpha", ss)).stdout

    def test_a_cable_that_is_pulled(self):
        """Connections that are dead without a word are cut, others take their places when the cable is back, and the job
        ends with the same bits."""
        self.open_terminals(self.blocks_under("Start"))
        lead = self.terminals["alpha:server-0"]
        self.wait_until("training", lambda: "training at step" in lead.output())
        self.assertTrue(self.connections())
        self.must(ip("-n", self.names["beta"], "link", "set", self.cables["beta"], "down"))
        self.wait_until("alpha to cut its dead connections", lambda: not self.connections())
        self.must(ip("-n", self.names["beta"], "link", "set", self.cables["beta"], "up"))
        self.expect_all_ended()
        gathering, using = self.blocks_under("The weights")
        self.type(gathering)
        said = self.type(using)
        self.expect_equal_bits(json.loads(said[:said.index("}") + 1]), self.reference(self.folder / "alpha" / "job.yaml"))

    def test_an_address_that_is_not_the_machines_own(self):
        servers = self.blocks_under("Addresses", case="everywhere") + self.blocks_under("Start")[1:]
        self.open_terminals(servers)
        self.expect_printed(self.blocks_under("Addresses", language="text", case="everywhere"))
        self.expect_all_ended()

    def test_what_is_refused_without_the_word(self):
        """A server does not listen beyond its machine unless it is told to, and a database in use is not gathered."""
        start = self.blocks_under("Start")
        bold = start[0].text.replace(" --keys keys", "").strip()
        ran = self.call_on("alpha", bold)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("refusing to listen on tcp://10.77.0.1:", ran.stderr)
        self.open_terminals(start[:2])
        for terminal in list(self.terminals.values()):  # when it serves, its database says whose it is
            self.wait_until(f"{terminal.name} to serve",
                            lambda: "serves timeline" in terminal.output())  # pylint: disable=cell-var-from-loop
        words = [self.folder / "alpha" / "shard-0", self.folder / "beta" / "shard-1", "--run-dir", self.folder / "both"]
        refused = self.ballast("gather", *words, code=1)
        self.assertIn("a server has the database open", refused.stderr)
        self.assertEqual(list((self.folder / "both").glob("shard-*")), [])


def unfit():
    """Why it cannot be tried here; None if it can."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "needs root and iproute2, for network namespaces"
    probe = f"ballast-{os.getpid()}-probe"
    made = ip("netns", "add", probe)
    ip("netns", "del", probe)
    return None if made.returncode == 0 else f"network namespaces cannot be made here: {made.stderr.strip()}"


if __name__ == "__main__":
    harness.main(unfit)
