"""What packed.py packs comes out of it as it was."""

import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import packed  # pylint: disable=wrong-import-position

KINDS = {"worker": packed.KINDS[:5] + packed.KINDS[-2:], "lane": packed.KINDS[5:11] + packed.KINDS[-2:], "lead": ("decision",)}


def process(name, role, records, shard=0, session=0):
    return {"name": name, "role": role, "shard": shard, "lane": 0, "session": session, "lost": 0, "clock": [5, 7, 1, 40], "records": records}


def trace_of(processes):
    return {"format": 1, "job": "ä job", "rules": {"slots": 8}, "mode": "sync", "processes": processes}


class Packed(unittest.TestCase):
    def expect_as_it_was(self, trace):
        data = packed.pack(trace)
        self.assertEqual(packed.unpack(data), trace)
        return len(data)

    def test_of_anything_nothing_is_lost(self):
        draw = random.Random(5)
        for _ in range(20):
            large = draw.choice([3, 1000, 2**40, 2**64 - 1])
            processes = []
            for number in range(draw.randrange(5)):
                role = draw.choice(list(KINDS))
                records = [[draw.choice(KINDS[role])] + [draw.randint(0, large) for _ in range(9)] for _ in range(draw.randrange(40))]
                processes.append(process(f"p{number}", role, records, session=draw.randrange(3)))
            self.expect_as_it_was(trace_of(processes))

    def test_what_two_processes_have_written_is_there_once(self):
        draw = random.Random(6)
        messages = [(step, chunk, draw.randrange(2**40)) for step in range(40) for chunk in range(20)]

        def trace(differs):
            return trace_of([
                process("worker a", "worker", [["push", step, 0, at, at + 9, at + 20, 100, chunk, 0, 4] for step, chunk, at in messages], session=77),
                process("shard 0 lane 0", "lane", [["contribution", step, 77, at + 9 + differs * draw.randrange(2**30), 500, 600, 550, chunk, 0, 4]
                                                   for step, chunk, at in messages])])
        same = self.expect_as_it_was(trace(0))
        self.assertLess(same, 0.8 * self.expect_as_it_was(trace(1)))
        self.assertLess(2 * same, len(json.dumps(trace(0))) / 4)


if __name__ == "__main__":
    unittest.main()
