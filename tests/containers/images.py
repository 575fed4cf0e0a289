"""The images: how large they are, and what is in them, read from what the engine exports."""

import re
import subprocess
import tarfile
import tempfile
import unittest

import engine

# Of everything, the base included, in MB: what they came to, with room for a new library. An image that grows by more
# has something in it that it does not need.
MOST_MEGABYTES = {"server": 140, "worker-cpu": 175, "cli": 210, "prometheus": 230}
OWNERS = {0, 10001}
PROGRAMS = {
    "server": ["ballast-server"],
    "worker-cpu": ["ballast-worker"],
    "cli": ["ballast", "ballast-server", "ballast-worker"],
    "prometheus": [],
}
# What builds programs, or fetches and unpacks what nobody checked, has no place beside them.
UNWANTED = re.compile(r"^(?!gcc-\d+-base$)(g\+\+|gcc|cpp|make|python3?|git|ccache|binutils|meson|cmake|curl|wget|openssh.*|sudo)(-.*)?$|-dev$")


def setUpModule():
    engine.make_images()


def tearDownModule():
    engine.remove_images()


class Image:
    def __init__(self, target):
        self.name = f"ballast/{target}:{engine.TAG}"
        self.about = engine.inspect(self.name)
        container = engine.docker("create", self.name).strip()
        try:
            self.archive = tempfile.TemporaryFile()
            subprocess.run([engine.client(), "export", container], stdout=self.archive, timeout=engine.COMMAND_PATIENCE,
                           check=True)
        finally:
            engine.docker("rm", container)

    def members(self):
        self.archive.seek(0)
        with tarfile.open(fileobj=self.archive) as files:
            yield from files

    def content(self, path):
        self.archive.seek(0)
        with tarfile.open(fileobj=self.archive) as files:
            return files.extractfile(path).read()

    def packages(self):
        return re.findall(r"^Package: (\S+)$", self.content("var/lib/dpkg/status").decode(), re.M)


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = {target: Image(target) for target in engine.TARGETS}

    @classmethod
    def tearDownClass(cls):
        for image in cls.images.values():
            image.archive.close()

    def each(self):
        for target, image in self.images.items():
            with self.subTest(image=target):
                yield target, image

    def test_they_are_small(self):
        for target, image in self.each():
            size = image.about["Size"] / 1e6
            print(f"{target}: {size:.0f} MB, {len(image.packages())} packages")
            self.assertLessEqual(size, MOST_MEGABYTES[target])

    def test_nothing_in_them_builds_or_fetches(self):
        for _, image in self.each():
            self.assertEqual([package for package in image.packages() if UNWANTED.search(package)], [])

    def test_no_file_gives_rights_to_who_runs_it(self):
        for _, image in self.each():
            files = list(image.members())
            self.assertGreater(len(files), 1000)
            self.assertEqual([file.name for file in files if file.isfile() and file.mode & 0o6000], [])
            self.assertEqual([file.name for file in files if "SCHILY.xattr.security.capability" in file.pax_headers], [])

    def test_their_user_can_change_nothing_but_its_own_folder(self):
        for _, image in self.each():
            self.assertEqual(image.about["Config"]["User"], "10001:10001")
            own = {file.name for file in image.members() if file.uid == 10001 or file.gid == 10001}
            self.assertLessEqual(own, {"var/lib/ballast", "data", "copies", "prometheus", "keys", "keyring", "keyring/server",
                                       "keyring/worker", "keyring/operator"})
            writable = [file.name for file in image.members()
                        if file.mode & 0o002 and not file.issym() and not (file.isdir() and file.mode & 0o1000)
                        and not file.name.startswith("dev/")]
            self.assertEqual(writable, [])

    def test_only_that_user_is_there_beside_those_of_the_system(self):
        for _, image in self.each():
            users = [line.split(":") for line in image.content("etc/passwd").decode().splitlines()]
            self.assertEqual([user[0] for user in users if int(user[2]) >= 1000 and user[0] != "nobody"], ["ballast"])
            shadow = [line.split(":") for line in image.content("etc/shadow").decode().splitlines()]
            self.assertEqual([entry[0] for entry in shadow if entry[1] and entry[1][0] not in "*!"], [])

    def test_programs_are_there_and_stripped(self):
        for target, image in self.each():
            for program in PROGRAMS[target]:
                with tempfile.NamedTemporaryFile() as file:
                    file.write(image.content(f"usr/bin/{program}"))
                    file.flush()
                    sections = engine.call("readelf", "--section-headers", "--wide", file.name).stdout
                self.assertIn(".dynsym", sections)
                self.assertNotIn(".symtab", sections)
                self.assertNotIn(".debug", sections)

    def test_they_run_without_any_right_or_network_or_a_file_to_write(self):
        for target, image in self.each():
            for program in PROGRAMS[target]:
                words = engine.docker("run", "--rm", "--read-only", "--cap-drop", "ALL", "--security-opt",
                                      "no-new-privileges:true", "--network", "none", "--entrypoint", program, image.name,
                                      "--version")
                self.assertTrue(words.startswith(f"{program} "), words)

    def test_a_whole_job_runs_in_one_container(self):
        image = self.images["cli"].name
        ran = engine.docker("run", "--rm", "--read-only", "--cap-drop", "ALL", "--network", "none", "--tmpfs",
                            "/var/lib/ballast:uid=10001,gid=10001", image, "run",
                            "/usr/share/ballast/configs/quickstart.yaml", "--set", "training.epochs=1", "--set",
                            "data.train_examples=640", "--run-dir", "/var/lib/ballast/run")
        self.assertRegex(ran, r"weights [^\n]*[0-9a-f]{64}|[0-9a-f]{64}")


if __name__ == "__main__":
    engine.harness.main(engine.why_not)
