// Prints the words that a target's inputs are made of, as a dictionary for libFuzzer: fuzz-dictionary TARGET
//
// Keys and values come from the schema and the database's grammar, so that new ones are fuzzed from the first day on.
// Prints nothing for a target whose inputs hold no words.
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "common/job/layer_kinds.h"
#include "common/job/schema.h"
#include "storage/journal/journal_records.h"
#include "storage/store/records.h"

namespace ballast::fuzz {
namespace {

using Words = std::set<std::string>;

void add_parts(Words& words, const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    words.insert(path.substr(begin, end - begin) + ": ");
    begin = end + 1;
  }
}

Words configuration_words(const Schema& schema) {
  Words words = {"\n",         "\n  ",
                 "\n    ",     ": ",
                 "- ",         "{",
                 "}",          "[",
                 "]",          ", ",
                 "#",          "\"",
                 "'",          "\\n",
                 "\\x7F",      "\\u2028",
                 "|\n",        ">\n",
                 "&a ",        "*a",
                 "!!int ",     "---\n",
                 "null",       "~",
                 "true",       "false",
                 "0",          "1",
                 "-1",         "0.5",
                 "1e308",      "1e-320",
                 ".inf",       ".nan",
                 "0x10",       "4294967295",
                 "4294967296", "18446744073709551615",
                 "tcp://h:1",  "ipc://a",
                 "s3://b/c",   "http://h",
                 "name: ",     "shape: ",
                 "\x1E",       "="};
  for (const auto& key : schema.keys) {
    add_parts(words, key.path);
    words.insert(key.path + "=");
    words.insert(key.choices.begin(), key.choices.end());
  }
  for (const auto& kind : layer_kinds()) {
    words.insert(kind.name);
    LayerSpec spec;
    spec.layer = kind.layer;
    for (const auto& key : kind.settings(spec)) {
      add_parts(words, key.path);
      words.insert(key.choices.begin(), key.choices.end());
    }
  }
  words.insert({"from: ", "tied_to: ", "example"});
  return words;
}

Words record_words() {
  Words words = {"BLST", "/", "test", "validation", "0000000000000001"};
  for (const auto key : {kIdentityKey, kTimelineKey, kFinishedKey, kLedgerKey, kHeldKey, kSnapshotPrefix,
                         kEvaluationPrefix, kStatisticsPrefix, to_string(TensorKind::weights)}) {
    words.emplace(key);
  }
  for (std::size_t index = 0; index < kMaxStates; ++index) {
    words.emplace(to_string(state_kind(index)));
  }
  return words;
}

Words journal_words() { return {std::string(kJournalHeaderMagic), std::string(kJournalRecordMagic)}; }

Words safetensors_words() {
  return {"\"dtype\":",
          "\"shape\":",
          "\"data_offsets\":",
          "\"__metadata__\":",
          "\"BOOL\"",
          "\"U8\"",
          "\"I8\"",
          "\"F16\"",
          "\"BF16\"",
          "\"F32\"",
          "\"I64\"",
          "{",
          "}",
          "[",
          "]",
          "[0,0]",
          "\\u0000",
          "\\ud800",
          "1e3",
          "-1",
          "18446744073709551615"};
}

Words words_of(std::string_view target) {
  JobSpec job;
  WorkerSpec worker;
  return target == "job"           ? configuration_words(job_schema(job))
         : target == "worker"      ? configuration_words(worker_schema(worker))
         : target == "journal"     ? journal_words()
         : target == "records"     ? record_words()
         : target == "safetensors" ? safetensors_words()
                                   : Words{};
}

// libFuzzer's syntax: in quotes, all that is not plain as \xNN.
void print(std::string_view word) {
  std::printf("\"");
  for (const char c : word) {
    if (c < 0x20 || c > 0x7E || c == '"' || c == '\\') {
      std::printf("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      std::printf("%c", c);
    }
  }
  std::printf("\"\n");
}

}  // namespace
}  // namespace ballast::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz-dictionary TARGET\n");
    return 2;
  }
  for (const auto& word : ballast::fuzz::words_of(arguments[1])) {
    ballast::fuzz::print(word);
  }
  return 0;
}
