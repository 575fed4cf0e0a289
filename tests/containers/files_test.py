"""docker/ as it is written: what can be held to something without an engine."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
BALLAST = pathlib.Path(os.environ.get("BALLAST_BUILD") or ROOT / "build") / "cli" / "ballast"

# A limit has this much room above what a plan says at most, and no more than that. The plan leaves out activations and
# what the system's allocator keeps.
LEAST_ROOM = 1.25
LEAST_ROOM_OF_SERVERS = 2  # of which they take half at most
MOST_ROOM = 4
UNITS = {"m": 2**20, "g": 2**30}


def blocks(text, indent):
    """The parts of a file that begin with a key at this depth, by the key."""
    begin = re.compile(rf"^{' ' * indent}([\w-]+):.*$", re.M)
    found = [(match.group(1), match.start()) for match in begin.finditer(text)]
    return {key: text[start:end] for (key, start), (_, end) in zip(found, [*found[1:], ("", len(text))])}


def services(file="compose.yaml"):
    return blocks(blocks((DOCKER / file).read_text(), 0)["services"].split("\n", 1)[1], 2)


def words_of(block):
    """Of its command."""
    return re.split(r",\s+", re.search(r"^ +command: \[(.*?)\]$", block, re.M | re.S).group(1))


def memory_limit(block):
    number, unit = re.search(r"^ +mem_limit: (\d+)([mg])$", block, re.M).groups()
    return int(number) * UNITS[unit]


class Compose(unittest.TestCase):
    def plan(self):
        ran = subprocess.run([BALLAST, "plan", "--json", DOCKER / "job.yaml"], capture_output=True, text=True, timeout=60,
                             check=True)
        return json.loads(ran.stdout)

    def check_limit(self, limit, most, whose, least_room=LEAST_ROOM):
        with self.subTest(whose=whose):
            self.assertGreaterEqual(limit, least_room * most)
            self.assertLessEqual(limit, MOST_ROOM * most)

    def test_memory_limits_agree_with_the_plan(self):
        plan = self.plan()
        of_servers = memory_limit(blocks((DOCKER / "compose.yaml").read_text(), 0)["x-server"])
        for number, shard in enumerate(plan["shards"]):
            most = shard["memory"]["most"]
            self.check_limit(of_servers, most + shard["unended_messages"]["most"], f"shard {number}")
            self.assertGreaterEqual(of_servers, LEAST_ROOM_OF_SERVERS * most)
        for worker in plan["workers"]:
            self.check_limit(memory_limit(services()["worker"]), worker["memory"]["most"], "a worker")

    def test_there_are_as_many_servers_and_workers_as_the_job_has(self):
        plan = self.plan()
        servers = sorted(name for name in services() if re.fullmatch(r"server-\d+", name))
        self.assertEqual(servers, [f"server-{i}" for i in range(len(plan["shards"]))])
        for shard, name in enumerate(servers):
            self.assertIn(f'--shard, "{shard}"', services()[name])
            self.assertIn(f"--advertise, {name},", services()[name])
            self.assertIn(f"- shard-{shard}:/var/lib/ballast\n", services()[name])
            self.assertIn("- ${BALLAST_COPIES:-copies}:/copies\n", services()[name])
        self.assertIn(f"scale: {len(plan['workers'])}\n", services()["worker"])

    def test_ports_are_published_to_this_machine_alone(self):
        for name, block in services().items():
            published = re.findall(r"^ +ports:(.*)$", block, re.M)
            self.assertEqual(len(published), 1 if name in ("prometheus", "grafana") else 0, name)
            for ports in published:
                self.assertRegex(ports, r'^ \["127\.0\.0\.1:[^",]+"\]$')
        self.assertNotIn("ports:", blocks((DOCKER / "compose.yaml").read_text(), 0)["x-process"])

    def test_the_network_of_the_job_leads_nowhere(self):
        networks = blocks(blocks((DOCKER / "compose.yaml").read_text(), 0)["networks"].split("\n", 1)[1], 2)
        self.assertIn("internal: true", networks["job"])
        inside = {name for name, block in services().items()
                  if "network_mode: none" not in block
                  and ("networks: [" not in block or "job" in re.search(r"networks: \[(.*)\]", block).group(1))}
        self.assertEqual(inside, {"server-0", "server-1", "server-2", "worker", "ballast", "prometheus"})

    def test_the_page_is_served_only_by_the_file_that_asks_for_it(self):
        for block in services().values():
            self.assertNotIn("page", block)
        text = (DOCKER / "compose.page.yaml").read_text()
        asked = services("compose.page.yaml")
        self.assertEqual(list(asked), ["server-0"])
        self.assertIn('    ports: ["127.0.0.1:${PAGE_PORT:-8080}:8080"]\n    networks: [job, page]\n', asked["server-0"])
        self.assertIn('enable_ip_masquerade: "false"', blocks(text, 0)["networks"])
        self.assertEqual(words_of(asked["server-0"]), [*words_of(services()["server-0"]), "--page", '"0.0.0.0:8080"'])

    def test_each_service_has_the_keys_of_its_role_and_no_others(self):
        top = blocks((DOCKER / "compose.yaml").read_text(), 0)
        mounts = {name: re.findall(r"^ +- (keys-[\w-]+:\S+)$", block, re.M) for name, block in services().items()}
        self.assertEqual({name: found for name, found in mounts.items() if found}, {
            **{f"server-{shard}": ["keys-server:/keys:ro"] for shard in range(3)},
            "worker": ["keys-worker:/keys:ro"],
            "ballast": ["keys-operator:/keys:ro"],
            "keys": ["keys-server:/keyring/server", "keys-worker:/keyring/worker", "keys-operator:/keyring/operator"],
        })
        self.assertEqual(set(re.findall(r"^  (keys-\w+):$", top["volumes"], re.M)),
                         {"keys-server", "keys-worker", "keys-operator"})
        for name, file in {"server-0": "/keys", "server-1": "/keys", "server-2": "/keys", "worker": "/keys/worker.key",
                           "ballast": "/keys/operator.key"}.items():
            self.assertRegex(services()[name], rf"--keys, {re.escape(file)}\]", name)
        self.assertIn("--keys, /keys/worker.key,", (DOCKER / "compose.gpu.yaml").read_text())

    def test_keys_are_made_without_a_network_before_anybody_needs_them(self):
        top = blocks((DOCKER / "compose.yaml").read_text(), 0)
        keys = services()["keys"]
        self.assertIn("<<: *confined\n", keys)
        self.assertIn("network_mode: none\n", keys)
        self.assertNotIn("networks:", keys + top["x-confined"])
        for block in (top["x-server"], services()["worker"]):
            self.assertIn("keys: {condition: service_completed_successfully}\n", block)

    def test_render_makes_keys_as_this_file_does(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BALLAST, "render", "compose", DOCKER / "job.yaml", "--data", folder, "-o", folder], check=True,
                           capture_output=True, timeout=60)
            rendered = (pathlib.Path(folder) / "compose.yaml").read_text()
        written = re.search(r"^    command:\n      - >-\n((?: {8}.*\n)+)", services()["keys"], re.M).group(1)
        self.assertIn(f'- "{" ".join(written.split())}"\n', rendered)

    def test_nobody_listens_without_keys(self):
        for file in DOCKER.iterdir():
            if file.is_file():
                self.assertNotIn("--insecure", file.read_text(), file)

    def test_everything_is_started_with_as_few_rights_as_it_needs(self):
        top = blocks((DOCKER / "compose.yaml").read_text(), 0)
        for right in ("cap_drop: [ALL]", "no-new-privileges:true", "read_only: true"):
            self.assertIn(right, top["x-confined"])
            self.assertIn(right, services()["prometheus"])
        for name, block in services().items():
            if name not in ("prometheus", "grafana"):
                self.assertRegex(block, r"<<: \*(server|process|confined)\n", name)
        for name in ("x-process", "x-server"):
            self.assertRegex(top[name], r"<<: \*(process|confined)\n", name)


class Images(unittest.TestCase):
    def test_no_step_needs_anything_that_only_one_builder_has(self):
        text = (DOCKER / "Dockerfile").read_text()
        self.assertNotIn("--mount", text)
        self.assertNotIn("# syntax", text)
        self.assertIn("RUN BALLAST_SKIP_SETUP", text)  # where ./dev image puts the compiler's cache

    def test_every_image_has_a_user_of_its_own(self):
        stages = re.split(r"^FROM ", (DOCKER / "Dockerfile").read_text(), flags=re.M)[1:]
        for stage in stages:
            with self.subTest(stage=stage.split("\n", 1)[0]):
                self.assertEqual("ENTRYPOINT" in stage, "USER 10001:10001" in stage)


if __name__ == "__main__":
    unittest.main(verbosity=2)
