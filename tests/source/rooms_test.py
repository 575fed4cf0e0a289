"""The folders of the source are rooms: who includes whom has a direction, and no way leads back."""

import pathlib
import posixpath
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

TREES = ("cli", "common", "protocol", "server", "storage", "worker")
ENDINGS = {".h", ".cpp", ".cu", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)

# Files that gather what lies in a folder, for all who are outside of it: that they include it makes no cycle. The files
# of protocol/messages/ need ids.h and job_phase.h, which stand beside messages.h.
DOORS = {"protocol/messages.h": "protocol/messages"}


def room_of(file):
    """A folder and its subfolder are two rooms."""
    return posixpath.dirname(file)


def is_in_trees(file):
    return file.split("/")[0] in TREES


def sources():
    return {file.relative_to(ROOT).as_posix(): file.read_text()
            for tree in TREES for file in sorted((ROOT / tree).rglob("*")) if file.suffix in ENDINGS}


def includes(files, doors):
    """For each two rooms, of which the first includes the second: the lines that do."""
    found = {}
    for file, text in files.items():
        for included in INCLUDE.findall(text):
            target = included if is_in_trees(included) else posixpath.normpath(posixpath.join(room_of(file), included))
            pair = (room_of(file), room_of(target))
            if is_in_trees(target) and pair[0] != pair[1] and doors.get(file) != pair[1]:
                found.setdefault(pair, []).append(f'{file}: #include "{included}"')
    return found


def way(found, start, end):
    """The shortest way from a room to another, as rooms; none: no way."""
    ways = [[start]]
    seen = set()
    for so_far in ways:
        for here, there in sorted(found):
            if here == so_far[-1] and there == end:
                return [*so_far, there]
            if here == so_far[-1] and there not in seen:
                seen.add(there)
                ways.append([*so_far, there])
    return []


def cycles(files, doors):
    """Each cycle with the lines that make it, as text; a room is in one of them at most."""
    found = includes(files, doors)
    texts = []
    told = set()
    for room in sorted({room for pair in found for room in pair}):
        rooms = way(found, room, room)
        if rooms and not told & set(rooms):
            told |= set(rooms)
            lines = [line for pair in zip(rooms, rooms[1:]) for line in found[pair]]
            texts.append("\n  ".join([" -> ".join(rooms), *lines]))
    return texts


class Rooms(unittest.TestCase):
    def test_rooms_do_not_include_each_other_in_a_cycle(self):
        files = sources()
        self.assertGreater(len(files), 400)
        found = cycles(files, DOORS)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_each_door_is_needed(self):
        files = sources()
        for door in DOORS:
            with self.subTest(door=door):
                self.assertTrue(cycles(files, {file: room for file, room in DOORS.items() if file != door}))

    def test_a_cycle_is_seen(self):
        files = {
            "worker/loop.h": '#include "worker/data/order.h"\n',
            "worker/data/order.h": '#include <vector>\n\n#include "worker/data/idx.h"\n',
            "worker/data/idx.h": '  # include "common/net/socket.h"  // for the address\n',
            "cli/main.cpp": '#include "worker/loop.h"\n',
        }
        self.assertEqual(cycles(files, {}), [])
        self.assertEqual(cycles(files | {"common/net/socket.h": '#include "common/net/clock.h"'}, {}), [])
        # Between a folder and its subfolder, by a path from the file itself.
        self.assertEqual(cycles(files | {"worker/data/mnist.cpp": '#include "../loop.h"\n'}, {}),
                         ['worker -> worker/data -> worker\n  worker/loop.h: #include "worker/data/order.h"\n'
                          '  worker/data/mnist.cpp: #include "../loop.h"'])
        # By way of a third room. Who only includes a room of the cycle is not in it.
        (three,) = cycles(files | {"common/net/socket.h": '#include "worker/loop.h"\n'}, {})
        self.assertEqual(three.splitlines()[0], "common/net -> worker -> worker/data -> common/net")
        self.assertEqual(len(three.splitlines()), 4)
        # Each of several.
        two = files | {"worker/data/mnist.cpp": '#include "worker/loop.h"', "server/a.h": '#include "storage/a.h"',
                       "storage/a.h": '#include "server/a.h"'}
        self.assertEqual([text.splitlines()[0] for text in cycles(two, {})],
                         ["server -> storage -> server", "worker -> worker/data -> worker"])

    def test_a_door_opens_its_folder_only(self):
        files = {"worker/all.h": '#include "worker/data/idx.h"\n', "worker/data/idx.h": '#include "worker/ids.h"\n'}
        doors = {"worker/all.h": "worker/data"}
        self.assertEqual(len(cycles(files, {})), 1)
        self.assertEqual(cycles(files, doors), [])
        self.assertEqual(len(cycles(files | {"worker/loop.h": '#include "worker/data/idx.h"\n'}, doors)), 1)


if __name__ == "__main__":
    unittest.main()
