#include "cli/data/make_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/safetensors/reader.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {
namespace {

using testing::Bytes;
using testing::bytes;
using testing::contains;
using testing::error_of;
using testing::gzip;
using Words = std::vector<std::string>;

TEST_CASE("a vocabulary is of the train split alone, stripped as the job's examples are") {
  const testing::TemporaryFolder folder;
  folder.write("train/x/1", bytes("From: q q q q\n\nb a a.\n> c c c c"));
  folder.write("train/y/1", bytes("a B"));
  folder.write("test/x/1", bytes("z z z z z z"));
  VocabularyOptions options;
  options.path = folder.path();
  options.train = "train";
  options.strip = {.headers = true, .quotes = true};
  options.size = 4;
  options.output = folder.path() / "words.txt";
  const auto said = captured([&] { make_vocabulary(options); });
  CHECK(contains(said, "4 tokens written to"));
  CHECK(contains(said, "2 of the split's 3 different words, which are 6 in all"));
  CHECK(Vocabulary(options.output, 4).words() == Words{"<pad>", "<unk>", "a", "b"});
  folder.write("trees.gz", gzip(bytes("(1 (1 Good) (0 (0 good) (0 a)))\n(2 b\n")));
  options.kind = "trees";
  options.train = "trees";
  captured([&] { make_vocabulary(options); });
  CHECK(Vocabulary(options.output, 4).words() == Words{"<pad>", "<unk>", "good", "a"});
}

TEST_CASE("byte pairs are written as they are learnt") {
  const testing::TemporaryFolder folder;
  const BytePairOptions options{folder.write("text", bytes("abab abab")), 10, folder.path() / "pairs"};
  CHECK(contains(captured([&] { make_byte_pairs(options); }), "no other pair occurs twice"));
  CHECK(read_byte_pairs(options.output) == learn_byte_pairs("abab abab", 10));
}

std::vector<float> values_of(const std::string& path) {
  const auto reader = safetensors::Reader::open(path);
  REQUIRE_MESSAGE(reader.ok(), reader.status().text());
  const auto& tensor = reader.value().header().tensors.at(0);
  CHECK(tensor.name == "embedding.weight");
  CHECK(tensor.shape == std::vector<std::uint64_t>{5, 2});
  std::vector<float> values(10);
  REQUIRE(reader.value().read(tensor, 0, values).ok());
  return values;
}

TEST_CASE("embeddings have the vectors of words, zeros for padding, and others drawn the same each time, or zero") {
  const testing::TemporaryFolder folder;
  EmbeddingOptions options;
  options.vectors = folder.write("glove.gz", gzip(bytes("the 1 -2.5\nother 9 9\ncat 3e-1 4\n")));
  options.vocabulary = folder.write("words.txt", bytes("<pad>\n<unk>\ncat\nthe\nrare\n"));
  options.missing = "zero";
  options.output = folder.path() / "a.safetensors";
  CHECK(contains(captured([&] { make_embeddings(options); }), "2 of 3 words found, 1 and the unknown word 0"));
  CHECK(values_of(options.output) == std::vector<float>{0, 0, 0, 0, 0.3F, 4, 1, -2.5F, 0, 0});
  options.missing = "drawn";
  captured([&] { make_embeddings(options); });
  const auto drawn = values_of(options.output);
  captured([&] { make_embeddings(options); });
  CHECK(values_of(options.output) == drawn);
  CHECK(std::count(drawn.begin(), drawn.end(), 0.0F) == 2);
  CHECK(drawn[4] == 0.3F);
  CHECK(std::abs(drawn[8]) < 5);
}

TEST_CASE("vectors that are none are refused with their line") {
  const testing::TemporaryFolder folder;
  EmbeddingOptions options;
  options.vocabulary = folder.write("words.txt", bytes("<pad>\n<unk>\ncat\n"));
  options.output = folder.path() / "a.safetensors";
  const auto refused = [&](const std::string& text, const std::string& why) {
    options.vectors = folder.write("glove", bytes(text));
    CHECK(contains(error_of([&] { make_embeddings(options); }), why));
  };
  refused("400000 50\nthe 1 2 3\n", "line 2: has 3 numbers, and the lines before 1");
  refused("the 1 x\n", "line 1: 'x' is no number");
  refused("the 1 inf\n", "line 1: 'inf' is no number");
  refused("the\n", "line 1: a word and its numbers are needed");
  refused("", "holds no vector");
}

}  // namespace
}  // namespace ballast
