"""The entry script, with stand-ins for meson and ninja that only note how they were called."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DEV = pathlib.Path(__file__).resolve().parents[2] / "dev"

MESON = """#!/bin/sh
mkdir -p "$2" && : >"$2/build.ninja" && echo "meson $*" >>"$CALLS"
"""
NINJA = """#!/bin/sh
echo "ninja $*" >>"$CALLS"
"""


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-dev-"))
        self.addCleanup(shutil.rmtree, self.folder)
        programs = self.folder / "programs"
        programs.mkdir()
        for name, text in (("meson", MESON), ("ninja", NINJA)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.calls_file = self.folder / "calls"
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "BALLAST_SKIP_SETUP": "1",
                            "CALLS": str(self.calls_file)}
        self.checkout = self.folder / "checkout"
        self.checkout.mkdir()
        shutil.copy(DEV, self.checkout / "dev")

    def dev(self, checkout, *words):
        """What it printed, on either stream, and which programs it called."""
        self.calls_file.write_text("")
        answer = subprocess.run([checkout / "dev", *words], env=self.environment, cwd=self.folder, capture_output=True,
                                text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout + answer.stderr, self.calls_file.read_text().splitlines()

    def test_help_is_help_behind_every_command_that_builds(self):
        before = sorted(path.name for path in self.folder.iterdir()) + ["calls"]
        for words in (["help"], ["--help"], ["bundle", "--help"], ["bundle", "-h"], ["build", "--help"], ["setup", "-h"],
                      ["test", "--asan", "--help"], ["lint", "--changed", "--help"], ["fuzz", "--help"],
                      ["format", "--help"], ["image", "--help"]):
            with self.subTest(words=words):
                text, calls = self.dev(self.checkout, *words)
                self.assertIn("./dev COMMAND [ARGUMENTS]", text)
                self.assertEqual(calls, [])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(before))
        self.assertFalse((self.checkout / "build").exists())

    def test_a_build_folder_is_configured_once(self):
        self.assertEqual(self.dev(self.checkout, "build")[1],
                         [f"meson setup {self.checkout}/build {self.checkout} -Dprecompiled_for=tests",
                          f"ninja -C {self.checkout}/build"])
        self.assertEqual(self.dev(self.checkout, "build", "target")[1], [f"ninja -C {self.checkout}/build target"])

    def test_headers_that_are_precompiled_are_so_before_all_else(self):
        headers = self.checkout / "build-tsan" / "tests" / "precompiled" / "ballast_precompiled.h"
        self.assertIn("-Dprecompiled_for=all", self.dev(self.checkout, "build", "--tsan")[1][0])
        headers.parent.mkdir(parents=True)
        headers.touch()
        self.assertEqual(self.dev(self.checkout, "build", "--tsan", "target")[1],
                         [f"ninja -C {self.checkout}/build-tsan --quiet precompiled-headers",
                          f"ninja -C {self.checkout}/build-tsan target"])

    def test_a_folder_of_before_there_was_that_choice_gets_it(self):
        self.dev(self.checkout, "build")
        build = self.checkout / "build"
        (build / ".dev-precompiled").unlink()
        self.assertEqual(self.dev(self.checkout, "build")[1],
                         [f"ninja -C {build} build.ninja", f"meson configure {build} -Dprecompiled_for=tests",
                          f"ninja -C {build}"])
        self.assertEqual(self.dev(self.checkout, "build")[1], [f"ninja -C {build}"])

    def check_configured_anew(self, checkout):
        text, calls = self.dev(checkout, "build")
        self.assertEqual(calls, [f"meson setup {checkout}/build {checkout} -Dprecompiled_for=tests",
                                  f"ninja -C {checkout}/build"])
        self.assertEqual(self.dev(checkout, "build")[1], [f"ninja -C {checkout}/build"])
        return text

    def test_a_copied_or_moved_checkout_builds_its_own_sources(self):
        self.dev(self.checkout, "build")
        copied = self.folder / "copied"
        shutil.copytree(self.checkout, copied)
        self.assertIn(f"was configured for {self.checkout}; configuring it anew for {copied}",
                      self.check_configured_anew(copied))
        moved = self.folder / "moved"
        self.checkout.rename(moved)
        self.check_configured_anew(moved)

    def test_a_folder_that_meson_made_by_hand(self):
        build = self.checkout / "build"
        (build / "meson-info").mkdir(parents=True)
        (build / "build.ninja").touch()
        info = build / "meson-info" / "meson-info.json"
        info.write_text(f'{{"directories": {{"source": "{self.checkout}", "build": "{build}"}}}}')
        self.assertEqual(self.dev(self.checkout, "build")[1], [f"ninja -C {build}"])
        info.write_text('{"directories": {"source": "/elsewhere", "build": "/elsewhere/build"}}')
        self.check_configured_anew(self.checkout)


DOCKER = """#!/bin/sh
case "$1" in
  version) echo "$VERSION" ;;
  buildx) exit 1 ;;
  info | image) ;;
  build) echo "docker $* BUILDKIT=$DOCKER_BUILDKIT" >>"$CALLS"; cat >>"$CALLS.dockerfile" ;;
esac
"""


class Image(unittest.TestCase):
    """`./dev image`, with a stand-in for the engine."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-dev-image-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.docker = self.folder / "docker"
        self.docker.write_text(DOCKER)
        self.docker.chmod(0o755)
        self.calls_file = self.folder / "calls"

    def image(self, *words, version="20.10.24", code=0):
        """The calls that build, and the Dockerfiles that they read."""
        for file in (self.calls_file, self.calls_file.with_suffix(".dockerfile")):
            file.write_text("")
        environment = {**os.environ, "DOCKER": str(self.docker), "CALLS": str(self.calls_file), "VERSION": version,
                       "BALLAST_JOBS": "2"}
        answer = subprocess.run([DEV, "image", *words], env=environment, capture_output=True, text=True, timeout=60,
                                stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(answer.returncode, code, answer.stderr)
        self.errors = answer.stderr
        return self.calls_file.read_text().splitlines(), self.calls_file.with_suffix(".dockerfile").read_text()

    def test_each_target_is_built_under_its_name(self):
        calls, _ = self.image("server", "cli", "--tag", "v1", "--base", "here:1", "--build-base", "there:2")
        self.assertEqual(len(calls), 2)
        for call, target in zip(calls, ("server", "cli")):
            self.assertIn(f"--target {target} --tag ballast/{target}:v1", call)
            self.assertIn("--build-arg BASE=here:1 --build-arg BUILD_BASE=there:2", call)
            self.assertIn("--build-arg JOBS=2", call)

    def test_all_but_cuda_by_default(self):
        calls, _ = self.image()
        self.assertEqual([call.split("--target ")[1].split()[0] for call in calls],
                         ["server", "worker-cpu", "cli", "prometheus"])
        self.assertIn("--tag ballast/server:latest", calls[0])

    def test_the_compilers_cache_is_mounted_where_the_builder_can(self):
        mount = "RUN --mount=type=cache,target=/root/.cache/ccache BALLAST_SKIP_SETUP=1"
        calls, files = self.image("server")
        self.assertIn("BUILDKIT=1", calls[0])
        self.assertIn(mount, files)
        calls, files = self.image("server", version="28.2.2")  # whose BuildKit is a plugin, which is not there
        self.assertIn("BUILDKIT=0", calls[0])
        self.assertNotIn("--mount", files)
        self.assertIn("RUN BALLAST_SKIP_SETUP=1", files)

    def test_what_it_does_not_know_is_refused(self):
        for words, text in ((["servre"], "'servre' is no target and no option"), (["--tag"], "--tag needs a value"),
                            (["--what"], "'--what' is no target"),
                            (["--programs", "/nowhere"], "/nowhere is no build folder")):
            with self.subTest(words=words):
                self.assertEqual(self.image(*words, code=1)[0], [])
                self.assertIn(text, self.errors)

    def test_without_an_engine_it_says_what_is_missing(self):
        self.docker.unlink()
        self.image("server", code=1)
        self.assertIn("there is no", self.errors)


class Commit(unittest.TestCase):
    """Which commit the programs' --version names: in a checkout, in an unpacked archive, and elsewhere."""

    SCRIPT = pathlib.Path("common/version/commit")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ballast-commit-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.checkout = self.folder / "checkout"
        (self.checkout / self.SCRIPT.parent).mkdir(parents=True)
        shutil.copy(DEV.parent / self.SCRIPT, self.checkout / self.SCRIPT)
        if "$Format" not in (self.checkout / self.SCRIPT).read_text():
            self.skipTest("these sources are an unpacked archive themselves")
        shutil.copy(DEV.parent / ".gitattributes", self.checkout)

    def git(self, *words):
        answer = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", self.checkout, *words],
                                capture_output=True, timeout=60, check=True)
        return answer.stdout

    def commit_of(self, sources):
        answer = subprocess.run([sources / self.SCRIPT, sources], capture_output=True, text=True, timeout=60, check=True)
        return answer.stdout

    def test_a_checkout_an_archive_and_neither(self):
        self.assertEqual(self.commit_of(self.checkout), "unknown\n")
        self.git("init", "-q")
        self.assertEqual(self.commit_of(self.checkout), "unknown\n")  # there is no commit yet
        self.git("add", "-A")
        self.git("commit", "-qm", "All")
        commit = self.git("rev-parse", "HEAD").decode()[:12]
        self.assertEqual(self.commit_of(self.checkout), commit + "\n")
        archived = self.folder / "archived"
        archived.mkdir()
        subprocess.run(["tar", "x", "-C", archived], input=self.git("archive", "HEAD"), timeout=60, check=True)
        self.assertEqual(self.commit_of(archived), commit + "\n")
        inside = self.checkout / "inside"  # sources that lie in somebody else's repository
        shutil.copytree(self.checkout / "common", inside / "common")
        self.assertEqual(self.commit_of(inside), "unknown\n")
        told = subprocess.run([self.checkout / self.SCRIPT, self.checkout], capture_output=True, text=True, timeout=60,
                              check=True, env={**os.environ, "BALLAST_COMMIT": "0123456789ab+"})
        self.assertEqual(told.stdout, "0123456789ab+\n")  # of whoever brings the sources without the repository
        with open(self.checkout / self.SCRIPT, "a", encoding="ascii") as script:
            script.write("\n")
        self.assertEqual(self.commit_of(self.checkout), commit + "+\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
