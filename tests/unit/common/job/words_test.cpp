#include "common/job/words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace ballast {
namespace {

// The definition of optimal string alignment, written down as it is read.
std::size_t plain_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) {
    return std::max(a.size(), b.size());
  }
  const std::string a_rest = a.substr(1);
  const std::string b_rest = b.substr(1);
  std::size_t best = std::min({plain_distance(a_rest, b) + 1, plain_distance(a, b_rest) + 1,
                               plain_distance(a_rest, b_rest) + (a[0] == b[0] ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, plain_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

TEST_CASE("edit distance equals its definition on all short words of two letters") {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; words[i].size() < 4; ++i) {
    words.push_back(words[i] + "a");
    words.push_back(words[i] + "b");
  }
  for (const auto& a : words) {
    for (const auto& b : words) {
      REQUIRE(edit_distance(a, b) == plain_distance(a, b));
    }
  }
  CHECK(edit_distance("momentum", "momnetum") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest word, or none") {
  const std::vector<std::string> keys = {"training.slots", "training.seed", "cluster.shards", "job"};
  CHECK(nearest("training.slot", keys) == "training.slots");
  CHECK(nearest("shards", keys) == "cluster.shards");
  CHECK(nearest("cluster.slots", keys) == "training.slots");
  CHECK(nearest("jbo", keys) == "job");
  CHECK(nearest("trianing.slots", keys) == "training.slots");
  CHECK(nearest("training.optimizer.inner", {"training.optimizer.steps"}).empty());
  CHECK(nearest("training.clip.norm", {"training.clip.value", "training.clip.tensor_norm"}).empty());
  CHECK(nearest("entirely.different", keys).empty());
  CHECK(nearest("", keys).empty());
  CHECK(nearest(std::string(100000, 's'), keys).empty());
}

TEST_CASE("long texts are cut between characters") {
  CHECK(shown("short") == "'short'");
  CHECK(shown("a\x1b[2J\n\xFF") == "'a [2J  '");
  const std::string umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 100; ++i) {
      text += "\xC3\xA4";
    }
    return text;
  }();
  const std::string cut = shown(umlauts);
  CHECK(cut.size() < 70);
  CHECK(cut.ends_with("\xA4...'"));
}

TEST_CASE("numbers as their shortest text") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(1e-12) == "1e-12");
  CHECK(number_text(5) == "5");
}

}  // namespace
}  // namespace ballast
