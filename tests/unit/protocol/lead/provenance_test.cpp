#include "protocol/lead/provenance.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

const ProvenanceRules kNoRules;
const ProvenanceRules kExact{"", true};
const ProvenanceRules kFile{"d0", false};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the first ready worker says which data and arithmetic count, unless the job file names the data") {
  const auto first = with_worker({}, kNoRules, {"a", "d1", "x"});
  CHECK(first.data == Told{"d1", "worker a"});
  CHECK(first.arithmetics == std::vector<Told>{{"x", "worker a"}});
  CHECK(with_worker(first, kNoRules, {"b", "d1", "x"}) == first);
  CHECK(with_worker({}, kFile, {"a", "d0", "x"}).data == Told{"d0", "data.digest of the job file"});
}

TEST_CASE("other data are refused always, naming both digests, both workers and the remedy") {
  const auto known = with_worker({}, kNoRules, {"a", "d1", "x"});
  CHECK(why_refused({}, kNoRules, {"b", "d2", "x"}).empty());
  CHECK(why_refused(known, kNoRules, {"b", "d1", "x"}).empty());
  const auto why = why_refused(known, kNoRules, {"b", "d2", "x"});
  for (const auto* part : {"worker b", "d2", "d1 (worker a)", "the same files", "data.digest"}) {
    CHECK(has(why, part));
  }
  CHECK(has(why_refused({}, kFile, {"b", "d2", "x"}), "d0 (data.digest of the job file)"));
  CHECK(why_refused({}, kFile, {"b", "d0", "x"}).empty());
  CHECK(has(why_refused(known, kNoRules, {"b", "", "x"}), "missing"));
}

TEST_CASE("another arithmetic is refused where the job is exact, and remembered where it is not") {
  const auto known = with_worker({}, kNoRules, {"a", "d1", "x"});
  CHECK(why_refused(known, kNoRules, {"b", "d1", "y"}).empty());
  const auto why = why_refused(known, kExact, {"b", "d1", "y"});
  for (const auto* part : {"worker b", "y", "x (worker a)", "training.exact: required", "training.exact=prefer"}) {
    CHECK(has(why, part));
  }
  const auto both = with_worker(known, kNoRules, {"b", "d1", "y"});
  CHECK(both.arithmetics == std::vector<Told>{{"x", "worker a"}, {"y", "worker b"}});
  CHECK(both.data == known.data);
  CHECK(why_refused(both, kExact, {"c", "d1", "x"}).empty());
  CHECK_FALSE(why_refused(both, kExact, {"c", "d1", "y"}).empty());
}

TEST_CASE("kinds of arithmetic are remembered up to a number") {
  Provenance known;
  for (std::uint32_t i = 0; i < kMaxArithmetics + 3; ++i) {
    known = with_worker(known, kNoRules, {"a", "d", std::to_string(i)});
  }
  CHECK(known.arithmetics.size() == kMaxArithmetics);
  CHECK(known.arithmetics.front().value == "0");
}

TEST_CASE("shards that have read other initial weights are refused by name") {
  CHECK(why_refused(Told{}, 1, "i1").empty());
  CHECK(why_refused(Told{"i1", "shard 0"}, 1, "i1").empty());
  CHECK(why_refused(Told{"i1", "shard 0"}, 1, "").empty());  // it had them in its database
  const auto why = why_refused(Told{"i1", "shard 0"}, 1, "i2");
  for (const auto* part : {"shard 1", "i2", "i1 (shard 0)", "training.init_from"}) {
    CHECK(has(why, part));
  }
}

TEST_CASE("a job file that names other data than the job was trained on is told so") {
  const auto known = with_worker({}, kNoRules, {"a", "d1", "x"});
  CHECK(why_contradicted(known, kNoRules).empty());
  CHECK(why_contradicted({}, kFile).empty());
  const auto why = why_contradicted(known, kFile);
  CHECK(has(why, "d0"));
  CHECK(has(why, "d1 (worker a)"));
}
