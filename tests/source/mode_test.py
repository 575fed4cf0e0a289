"""Where a machine's mode is chosen: once, when it is made. Elsewhere its files know only what was chosen."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Asking for the mode, or which alternative of a choice there is.
CHOICE = r"(?:Round|Item)(?:Applier|Course|Work)(?:::Rules)?"
MODE = re.compile(r"\bis_item_mode\b|\bMode::\w+|\bconfig_?\.items\b|\blayout_?\.mode\b"
                  rf"|\b(?:holds_alternative|get|get_if)<\s*{CHOICE}\s*>")

# For each folder: in which files the mode may stand, and how often. There it chooses what is made.
CHOSEN = {
    "protocol/lane": {"lane_applier.h": 1, "item_applier.cpp": 1},
    "protocol/lead": {"lead.cpp": 5},
    "protocol/worker": {"worker.cpp": 1},
    "server": {"shard.cpp": 3, "lane_loop.cpp": 1, "lead_config.cpp": 6, "base_loader.cpp": 1, "weights.cpp": 1},
    "worker": {"welcome.cpp": 2},
    "worker/training": {"contributions.cpp": 2, "fingerprint.cpp": 1, "trainer.cpp": 1},
}
# Where the choice is looked into, in one function (and its twin for what changes it).
VISITORS = {"lane_applier.h", "course.h", "worker_plan.h"}
# Functions of the job file alone, which the core gets with its configuration.
FUNCTIONS = {"lead.h": 2, "step_decisions.h": 1, "step_planner.h": 1}
VIEWS = {"snapshot_view.h", "slot_division.cpp"}  # made for one question, and kept by nobody


def without_comments(text):
    return re.sub(r"//.*", "", text)


def files_of(folder):
    return sorted([*(ROOT / folder).glob("*.h"), *(ROOT / folder).glob("*.cpp")])


class Mode(unittest.TestCase):
    def test_the_mode_is_asked_for_only_where_it_is_chosen(self):
        for folder, allowed in CHOSEN.items():
            self.assertGreater(len(files_of(folder)), 1, folder)
            for file in files_of(folder):
                with self.subTest(folder=folder, file=file.name):
                    found = MODE.findall(without_comments(file.read_text()))
                    self.assertEqual(len(found), allowed.get(file.name, 0), found)

    def test_a_choice_is_looked_into_in_one_place(self):
        for file in sorted((ROOT / "protocol").glob("*/*")):
            with self.subTest(file=file.name):
                text = without_comments(file.read_text())
                visits = re.findall(r"std::visit\(std::forward<Call>\(call\), (?:kind_|course_|work_)\)", text)
                self.assertEqual(len(visits), 2 if file.name in VISITORS else 0)
                others = re.findall(r"std::visit\([^;]*?(?:kind_|course_|work_)\)", text)
                self.assertEqual(len(others), len(visits), others)

    def test_nobody_holds_a_machine(self):
        """No object of a machine holds a reference to it, is its friend, or calls it back."""
        for folder in ("protocol", "protocol/lane", "protocol/lead", "protocol/worker"):
            for file in files_of(folder):
                with self.subTest(file=file.name):
                    text = without_comments(file.read_text())
                    functions = len(re.findall(r"\bstd::function\b", text))
                    self.assertEqual(functions, FUNCTIONS.get(file.name, 0))
                    self.assertNotRegex(text, r"\bfriend\b")
                    self.assertNotRegex(text, r"\bunordered_\w+<")
                    references = re.findall(r"(?m)^ +(?:const )?[\w:]+(?:<[^;]*>)?[&*] \w+;", text)
                    self.assertEqual(references, references if file.name in VIEWS else [])


if __name__ == "__main__":
    unittest.main()
