"""Where a machine's mode is chosen: once, when it is made. Elsewhere its files know only what was chosen."""

import pathlib
import re
import unittest

PROTOCOL = pathlib.Path(__file__).resolve().parents[2] / "protocol" / "lane"

# For each machine: its files; and by their names those in which the mode may stand, and how often.
MACHINES = {
    "the lane": (
        ["lane*", "*applier*", "applied_update*", "chunk_table*", "factor_plan*", "pending_items*", "round*"],
        {"lane_config.h": 1, "lane_applier.h": 1, "item_applier.h": 1, "item_applier.cpp": 1},
    ),
}
MODE = re.compile(r"\bis_ledgered\b|\bledgered\b|\bholds_alternative<\s*\w+(?:Applier|Course)\s*>"
                  r"|\bget(?:_if)?<\s*\w+(?:Applier|Course)\s*>")


class Mode(unittest.TestCase):
    def test_the_mode_is_asked_for_only_where_it_is_chosen(self):
        for machine, (patterns, allowed) in MACHINES.items():
            files = sorted({file for pattern in patterns for file in PROTOCOL.glob(pattern)})
            self.assertGreater(len(files), 1)
            for file in files:
                with self.subTest(machine=machine, file=file.name):
                    found = MODE.findall(file.read_text())
                    self.assertEqual(len(found), allowed.get(file.name, 0), found)

    def test_nobody_holds_a_machine(self):
        """No object of a machine holds a reference to it, is its friend, or calls it back."""
        for machine, (patterns, _) in MACHINES.items():
            for file in sorted({file for pattern in patterns for file in PROTOCOL.glob(pattern)}):
                with self.subTest(machine=machine, file=file.name):
                    text = file.read_text()
                    self.assertNotRegex(text, r"\bfriend\b|\bstd::function\b")
                    self.assertNotRegex(text, r"^ +(?:const )?\w+[&*] \w+_;", "a member that refers to something else")
                    self.assertNotRegex(text, r"\bunordered_\w+<")


if __name__ == "__main__":
    unittest.main()
