"""The container engine of this machine, and what the tests ask of it. All images, containers, networks and volumes that
they make are known by a word of this run, and are gone at its end. What stays is the base of the images, and the newest of
each image under the tag `test-cache`: who builds again need not install packages again."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import harness  # noqa: E402

TAG = f"test-{os.getpid()}"
CACHE = "test-cache"
TARGETS = ("server", "worker-cpu", "cli", "prometheus")
BUILD_PATIENCE = 1500  # seconds, of images: packages are fetched
COMMAND_PATIENCE = 300


def call(*words, patience=COMMAND_PATIENCE, check=True, **options):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=patience, check=False,
                         stdin=subprocess.DEVNULL, **options)
    if check and ran.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}")
    return ran


def client():
    """The Docker client: $DOCKER, or the first in PATH; None if it is not there."""
    return shutil.which(os.environ.get("DOCKER") or "docker")


def docker(*words, **options):
    return call(client(), *words, **options).stdout


def compose_program():
    """`docker compose` (version 2), or docker-compose; None if there is neither."""
    asked = os.environ.get("BALLAST_COMPOSE")
    if asked:
        return asked.split()
    if call(client(), "compose", "version", check=False).returncode == 0:
        return [client(), "compose"]
    found = shutil.which("docker-compose")
    return [found] if found else None


def suite():
    """The release of this machine, whose programs the images get; None if it is not Debian."""
    known = platform.freedesktop_os_release()
    return known.get("VERSION_CODENAME") if known.get("ID") == "debian" else None


def base():
    return os.environ.get("BALLAST_IMAGE_BASE") or f"debian:{suite()}-slim"


def has_image(name):
    return call(client(), "image", "inspect", name, check=False).returncode == 0


def why_not():
    """Why containers can't be tried here; None if they can."""
    if not client():
        return "there is no docker (docker.io), so containers are not tried"
    if call(client(), "info", check=False).returncode != 0:
        return "no Docker daemon answers, so containers are not tried"
    if not compose_program():
        return "there is no docker-compose, so containers are not tried"
    if suite() is None and not os.environ.get("BALLAST_IMAGE_BASE"):
        return "this is not Debian, so its programs fit into no base that could be made"
    if not has_image(base()) and not shutil.which("debootstrap"):
        return f"there is no image {base()} and no debootstrap to make it, so containers are not tried"
    if os.geteuid() != 0:
        return "processes in containers are killed from outside, which needs root"
    return None


def make_base():
    if not has_image(base()):
        kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ballast"
        kept.mkdir(parents=True, exist_ok=True)
        call(ROOT / "docker" / "base", base(), suite(), patience=BUILD_PATIENCE,
             env={**os.environ, "DOCKER": client(), "BALLAST_DEBOOTSTRAP": str(kept / f"debootstrap-{suite()}")})


def remove_left_over():
    """What runs have left that were killed before they could clear up."""
    kinds = {("container", "rm", "--force"): ("ps", "--all", "--format", "{{.Names}}"),
             ("volume", "rm"): ("volume", "ls", "--quiet"),
             ("network", "rm"): ("network", "ls", "--format", "{{.Name}}"),
             ("image", "rm"): ("image", "ls", "--format", "{{.Repository}}:{{.Tag}}")}
    for remove, listing in kinds.items():
        for name in docker(*listing).split():
            of = re.match(r"(?:ballasttest|ballast/[\w-]+:test-)(\d+)", name)
            if of and not harness.is_alive(int(of.group(1))):
                call(client(), *remove, name, check=False)


def make_images():
    """Of the programs of $BALLAST_BUILD."""
    remove_left_over()
    make_base()
    call(ROOT / "dev", "image", *TARGETS, "--tag", TAG, "--base", base(), "--programs", harness.BUILD,
         patience=BUILD_PATIENCE, env={**os.environ, "DOCKER": client(), "BALLAST_SKIP_SETUP": "1"})
    for target in TARGETS:
        keep_layers(target)


def keep_layers(target):
    """In place of those of the run before, which go as far as the new image does not have them."""
    kept = f"ballast/{target}:{CACHE}"
    before = call(client(), "image", "inspect", "--format", "{{.Id}}", kept, check=False).stdout.strip()
    docker("tag", f"ballast/{target}:{TAG}", kept)
    if before and before != inspect(kept)["Id"]:
        call(client(), "image", "rm", before, check=False)  # refused as long as it has another name


def remove_images():
    for target in (*TARGETS, "programs"):
        call(client(), "image", "rm", f"ballast/{target}:{TAG}", check=False)


def inspect(name):
    (found,) = json.loads(docker("inspect", name))
    return found


class Composed:
    """The services of docker/compose.yaml, changed by further files, under a name of their own."""

    def __init__(self, name, environment, further=()):
        self.name = f"ballast{TAG}{name}".replace("-", "")
        self.files = [word for file in (ROOT / "docker" / "compose.yaml", *further) for word in ("-f", file)]
        self.program = compose_program()
        self.environment = {**os.environ, "BALLAST_TAG": TAG, "BALLAST_BASE": base(), "COMPOSE_PROJECT_NAME": self.name,
                            "COMPOSE_HTTP_TIMEOUT": str(COMMAND_PATIENCE), **environment}

    def __call__(self, *words, **options):
        return call(*self.program, *self.files, *words, env=self.environment, **options)

    def ballast(self, *words, **options):
        """The command line inside the job's network."""
        return self("run", "--rm", "-T", "ballast", *words, **options)

    def containers(self, service):
        """The ids of a service's containers, whatever became of them, in the order of their numbers."""
        found = docker("ps", "--all", "--no-trunc", "--filter", f"label=com.docker.compose.project={self.name}", "--filter",
                       f"label=com.docker.compose.service={service}", "--format",
                       '{{.Label "com.docker.compose.container-number"}} {{.ID}}').splitlines()
        return [one.split()[1] for one in sorted(found, key=lambda one: int(one.split()[0]))]

    def container(self, service, number=0):
        return self.containers(service)[number]

    def address(self, service, number=0):
        """In the network of the job; of this machine, which is its gateway, it can be reached."""
        return inspect(self.container(service, number))["NetworkSettings"]["Networks"][f"{self.name}_job"]["IPAddress"]

    def volume(self, name):
        """Its folder on this machine."""
        return pathlib.Path(inspect(f"{self.name}_{name}")["Mountpoint"])

    def down(self):
        self("down", "--volumes", "--remove-orphans", "--timeout", "5", check=False)
