"""What protocol/state_list.h asks of each class: its list names all members, in the order of their declaration.

The compiler compares sizes alone: it sees no member that fits into padding, and no list of a private struct.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSERTIONS = ROOT / "tests" / "unit" / "protocol" / "all_state_lists.cpp"
FOLDERS = ("protocol", "protocol/messages", "protocol/lane", "protocol/lead", "protocol/worker")

KINDS = {"plain", "names", "ages", "payloads", "accounts", "fixed", "parts"}
# Classes that have members and no list, and why.
WITHOUT = {
    "EndPrediction": "made for one question, and kept by nobody",
    "MoreWork": "made for one comparison, and kept by nobody",
    "PartialSums": "a part of shells, in no core",
    "SnapshotView": "made for one question, and kept by nobody",
    "WorkAhead": "made for one question, and kept by nobody",
}


class Unclear(Exception):
    """The source is written in a way that this test does not know."""


def simplified(text):
    """Without comments, directives, attributes and literals; all space is one space."""
    text = re.sub(r"//.*|(?m:^#.*)|\[\[\w+\]\]", "", text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    text = re.sub(r"(?<!\w)'(?:[^'\\]|\\.)'", "0", text)
    return re.sub(r"\s+", " ", text)


def without_arguments(head):
    """Without what is between < and >."""
    head = re.sub(r"^template <.*?>(?= \w)", "", head).strip()
    before = None
    while head != before:
        before, head = head, re.sub(r"<[^<>]*>", "", head)
    return head


def closing(text, at):
    """Where the bracket at `at` is closed."""
    opens, closes, depth = text[at], {"(": ")", "{": "}"}[text[at]], 0
    for place in range(at, len(text)):
        depth += (text[place] == opens) - (text[place] == closes)
        if depth == 0:
            return place
    raise Unclear(text[at:at + 60])


def is_function(head):
    return re.match(r"[^={]*(?:\(|\boperator\b)", without_arguments(head)) is not None


def statements(text):
    """Pairs: a declaration without what is in its braces, and what is in the last of them."""
    head, block, at = "", "", 0
    while at < len(text):
        if text[at] == "(":
            end = closing(text, at)
            head, at = head + text[at:end + 1], end + 1
        elif text[at] == "{":
            end = closing(text, at)
            goes_on = re.match(r" ?[,{]", text[end + 1:])  # behind a constructor's initialiser
            ends = not goes_on and (is_function(head) or re.match(r"(?:inline )?namespace\b", head.strip()))
            head, block, at = head + "{}", text[at + 1:end].strip(), end + 1
            if ends:
                yield head.strip(), block
                head, block = "", ""
        elif text[at] == ";":
            yield head.strip(), block
            head, block, at = "", "", at + 1
        elif text[at] == ":" and head.strip() in ("public", "private", "protected"):
            head, at = "", at + 1
        else:
            head, at = head + text[at], at + 1
    if head.strip():
        raise Unclear(head)


def member_of(head):
    """The name of the data member that is declared, if one is."""
    if not head or is_function(head) or re.match(r"(?:using|typedef|static|friend|enum|class|struct|template)\b", head):
        return None
    declared = re.split(r"[={]", without_arguments(head))[0].strip()
    found = re.fullmatch(r"(?:mutable )?(?:const )?[\w:]+[ &*]+(\w+)", declared)
    if found is None:
        raise Unclear(head)
    return found[1]


def listed_in(block):
    """(kind, member) as a state() has them; one whose own members are listed in its place once for each."""
    found = re.fullmatch(r"return listed::all\( ?(.*)\);", block)
    groups = re.findall(r"listed::(\w+)\(([\w., ]+)\)", found[1]) if found else []
    if not groups or ", ".join(f"listed::{kind}({names})" for kind, names in groups) != found[1]:
        raise Unclear(block)
    return [(kind, name) for kind, names in groups for name in names.split(", ")]


class Type:
    """A class or struct."""

    def __init__(self, body):
        self.members = []
        self.types = {}  # that each member has, if it is a plain word
        self.listed = None
        for head, block in statements(body):
            if re.fullmatch(r"template <typename = void> auto state\(\) const ?\{\}", head):
                self.listed = listed_in(block)
            elif name := member_of(head):
                self.members.append(name)
                self.types[name] = re.match(r"(?:const )?([\w:]+)", head)[1]

    def fault(self, types):
        """What is wrong with its list; none if nothing is, or it needs none."""
        if self.listed is None:
            return "no list" if any(member.endswith("_") for member in self.members) else None
        if unknown := {kind for kind, _ in self.listed} - KINDS:
            return f"no such kind: {unknown}"
        expected = []
        for member in self.members:
            own = [name for _, name in self.listed if name.startswith(member + ".")]
            if own:  # all of it, too
                expected += [f"{member}.{name}" for name in types[self.types[member]].members]
            else:
                expected.append(member)
        listed = [name for _, name in self.listed]
        return None if listed == expected else f"lists {listed}, has {expected}"


def types_in(text, around=""):
    """All classes and structs, with those inside of them, by their names."""
    found = {}
    for head, block in statements(text):
        head = without_arguments(head)
        if re.match(r"(?:inline )?namespace\b", head):
            found |= types_in(block, around)
        elif named := re.match(r"(?:class|struct) (\w+)[^(]*\{\}", head):
            if not head.endswith("{}"):
                raise Unclear(head)
            name = around + named[1]
            found[name] = Type(block)
            found |= types_in(block, name + "::")
    return found


def headers():
    return [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.h"))]


class State(unittest.TestCase):
    def test_lists_name_all_members_in_their_order(self):
        by_file = {file: types_in(simplified(file.read_text())) for file in headers()}
        all_types = {name: one for types in by_file.values() for name, one in types.items()}
        self.assertGreater(sum(one.listed is not None for one in all_types.values()), 50)
        for file, types in by_file.items():
            for name, one in types.items():
                with self.subTest(file=file.name, type=name):
                    self.assertEqual(one.fault(all_types), "no list" if name in WITHOUT else None)

    def test_the_compiler_is_asked_about_each_list(self):
        asked = set(re.findall(r"static_assert\(lists_all_members<(\w+)(?:<\d+>)?>\(\)\);", ASSERTIONS.read_text()))
        asked.add("ChunkTable")  # a template asks in its constructor
        for file in headers():
            for name, one in types_in(simplified(file.read_text())).items():
                if one.listed is not None and "::" not in name:
                    with self.subTest(file=file.name, type=name):
                        self.assertIn(name, asked)

    def fault_of(self, text, name="One"):
        types = types_in(simplified(text))
        return types[name].fault(types)

    def test_a_list_that_is_wrong_is_seen(self):
        text = """
            namespace ballast {
            struct Pair { int left = 0; int right{1}; bool operator==(const Pair&) const = default; };
            // {
            class One final : public Base {
             public:
              explicit One(int of) : a_{of}, pair_(of) {}
              [[nodiscard]] bool is_one() const { return a_ < b_ && c_ > 0; }
              std::vector<int> all() const;
              template <typename = void>
              [[nodiscard]] auto state() const {
                return listed::all(listed::plain(a_, b_, c_),
                                   listed::names(pair_.left), listed::plain(pair_.right), listed::ages(last_));
              }
             private:
              enum class Is : std::uint8_t { yes, no };
              struct Inner {
                Micros since = 0;
                bool last = false;
                template <typename = void>
                [[nodiscard]] auto state() const { return listed::all(listed::ages(since)); }
              };
              static constexpr int kMost = 3;
              std::map<std::pair<int, int>, int> a_;  // b_
              bool b_ = false;
              std::function<int(int, bool)> c_ = [](int of, bool) { return of; };
              Pair pair_;
              std::vector<int> last_ = {1, 2};
            };
            }
            """
        self.assertIsNone(self.fault_of(text))
        self.assertIn("has ['since', 'last']", self.fault_of(text, "One::Inner"))
        for listed, wrong in (("b_, c_", "c_"), ("b_, c_", "c_, b_"), (", listed::ages(last_)", ""),
                              ("listed::names", "listed::nouns"),
                              ("listed::plain(pair_.right), ", "")):
            with self.subTest(wrong=wrong):
                self.assertIn(listed, text)
                self.assertIsNotNone(self.fault_of(text.replace(listed, wrong)))
        self.assertEqual(self.fault_of(re.sub(r"(?s)template <typename = void>\s*\[\[nodiscard\]\] auto state.*?\}", "",
                                              text, count=1)), "no list")


if __name__ == "__main__":
    unittest.main()
