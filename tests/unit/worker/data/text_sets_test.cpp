// Messages, characters and trees: from files to examples.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/message.h"
#include "worker/data/text/tokenizer.h"
#include "worker/data/text/tree.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {
namespace {

using namespace testing;
using Tokens = std::vector<std::int32_t>;

std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for_each_token(text, [&](std::string_view token) {
    tokens.emplace_back(token);
    return true;
  });
  return tokens;
}

TEST_CASE("text becomes words in lower case and single signs") {
  using Words = std::vector<std::string>;
  CHECK(tokens_of("Don't PANIC, it's 42%!\n\t'quoted' o'") ==
        Words{"don't", "panic", ",", "it's", "42", "%", "!", "'", "quoted", "'", "o", "'"});
  CHECK(tokens_of("\xC3\x89t\xC3\xA9 \xC3\x97 \xC2\xA0x\xE2\x80\x94y") ==
        Words{"\xC3\xA9t\xC3\xA9", "\xC3\x97", "x", "\xE2\x80\x94", "y"});
  CHECK(tokens_of("a\xFF"
                  "b") == Words{"a", "b"});  // no UTF-8: parts tokens
  CHECK(tokens_of(" \n").empty());
  std::size_t taken = 0;
  for_each_token("a b c d", [&](std::string_view) { return ++taken < 2; });
  CHECK(taken == 2);
}

TEST_CASE("bytes that are no UTF-8 are read as ISO-8859-1") {
  CHECK(message_text("caf\xE9\r\nx\r") == "caf\xC3\xA9\nx\r");
  CHECK(message_text("caf\xC3\xA9") == "caf\xC3\xA9");
}

TEST_CASE("headers, signature and quotes are taken off a message, each by its key") {
  const std::string text =
      "From: a@b\nSubject: x\n\nIn article <1> c writes:\n> old\n| older\nnew words\nc wrote: that\nmore\n\n--\nme\n";
  CHECK(strip_message(text, {}) == text);
  CHECK(strip_message(text, {.headers = true}).starts_with("In article"));
  CHECK(strip_message(text, {.headers = true, .signature = true}).ends_with("more\n"));
  CHECK(strip_message(text, {.headers = true, .quotes = true, .signature = true}) == "new words\nmore\n");
  CHECK(strip_message("no headers", {.headers = true}) == "no headers");
  CHECK(strip_message("one line", {.signature = true}) == "one line");
  CHECK(strip_message("", {.headers = true, .quotes = true, .signature = true}).empty());
}

TEST_CASE("a vocabulary has the most frequent words, equal ones in the order of their bytes") {
  WordCounts counts;
  for (const char* word : {"b", "a", "c", "a", "c", "d"}) {
    counts.add(word);
  }
  counts.add(std::string(kMaxWord + 1, 'x'));
  CHECK(counts.most_frequent(5, 1) == std::vector<std::string>{"<pad>", "<unk>", "a", "c", "b"});
  CHECK(counts.most_frequent(100, 2) == std::vector<std::string>{"<pad>", "<unk>", "a", "c"});
}

TEST_CASE("a vocabulary file that is none is refused with its line") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, std::uint32_t tokens, const std::string& why) {
    const auto path = folder.write("v.txt", bytes(text));
    CAPTURE(text);
    CHECK(contains(error_of([&] { Vocabulary(path, tokens); }), why));
  };
  refused("a\nb\nc\n", 3, "its first two lines must be <pad> and <unk>");
  refused("<pad>\n<unk>\na\n\nb\n", 5, "line 4: an empty line is no word");
  refused("<pad>\n<unk>\na\nb\na\n", 5, "line 5: 'a' stands there a second time");
  refused("<pad>\n<unk>\na\n", 4, "has 3 lines where data.vocabulary counts on 4");
  const Vocabulary good(folder.write("v.txt", bytes("<pad>\r\n<unk>\r\nword")), 3);
  CHECK(good.token("word") == 2);
  CHECK(good.token("other") == kUnknownToken);
}

DataSpec text_spec(const std::string& path) {
  DataSpec spec;
  spec.name = "text";
  spec.path = path;
  spec.train = "train";
  spec.test = "test";
  spec.classes = {"cats", "dogs"};
  spec.steps = 4;
  spec.vocabulary = 5;
  spec.vocabulary_file = "words.txt";
  spec.train_examples = 3;
  spec.test_examples = 1;
  return spec;
}

void write_messages(const TemporaryFolder& folder) {
  folder.write("words.txt", bytes("<pad>\n<unk>\ncat\ndog\n.\n"));
  folder.write("train/dogs/1", bytes("Dog. A dog dog dog"));
  folder.write("train/cats/2", bytes("cat"));
  folder.write("train/cats/1", bytes(""));
  folder.write("train/cats/.hidden", bytes("dog"));
  folder.write("train/stray", bytes("dog"));
  folder.write("test/dogs/9", gzip(bytes("dog cat")));
}

TEST_CASE("messages are spread over their classes, cut to the longest length, and an empty one is an unknown word") {
  const TemporaryFolder folder;
  write_messages(folder);
  const auto dataset = open_dataset(text_spec(folder.path()), "");
  const auto train = read_examples(*dataset, DataSplit::train, 0, 3);
  CHECK(train.labels == Tokens{0, 1, 0});
  CHECK(train.lengths == std::vector<std::uint32_t>{1, 4, 1});
  CHECK(train.steps == 4);
  CHECK(train.tokens == Tokens{1, 0, 0, 0, 3, 4, 1, 3, 2, 0, 0, 0});
  CHECK(read_examples(*dataset, DataSplit::test, 0, 1).tokens == Tokens{3, 2, 0, 0});
  CHECK(dataset->label(DataSplit::train, 1) == 1);
}

TEST_CASE("what does not fit the job's messages is told with its path") {
  const TemporaryFolder folder;
  write_messages(folder);
  auto spec = text_spec(folder.path());
  spec.train_examples = 4;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "train holds 3 good examples where data.train_examples counts on 4"));
  spec.train_examples = 3;
  spec.classes = {"cats", "birds"};
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "train/dogs/1 lies in a folder that is none of data.classes"));
  spec.test = "tests";
  spec.classes = {"cats", "dogs"};
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "tests"));
  spec.path = folder.path() / "nowhere";
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "nowhere: there is no such file or folder; correct data.path"));
  spec.path = folder.path();
  spec.vocabulary_file = "missing.txt";
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "missing.txt[.gz]: there is no such file"));
}

TEST_CASE("a tree's nodes stand in post-order, however deep it is") {
  const auto nodes = parse_tree("(3 (2 It) (4 (3 works)  (2 .)))");
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[0].word == "It");
  CHECK(nodes[2].word == ".");
  CHECK(nodes[3].left == 1);
  CHECK(nodes[3].right == 2);
  CHECK(nodes[4].label == 3);
  CHECK(nodes[4].left == 0);
  CHECK(nodes[4].right == 3);
  CHECK(parse_tree("(1 word)").size() == 1);
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "(0 (1 a) ";
  }
  deep += "(2 b)" + std::string(100000, ')');
  CHECK(parse_tree(deep).size() == 200001);
}

TEST_CASE("what is no binary tree is refused with its column") {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> bad = {
      {"", 1, "a tree begins with '('"},
      {"word", 1, "a tree begins with '('"},
      {"(3", 2, "a label is needed"},
      {"(x a)", 2, "a label is needed"},
      {"(-1 a)", 2, "a label is needed"},
      {"(3 )", 4, "neither a word nor children"},
      {"(3 (2 a))", 9, "one child"},
      {"(3 (2 a) (2 b) (2 c))", 16, "a third child"},
      {"(3 (2 a) b)", 10, "a word stands beside a child"},
      {"(3 a b)", 6, "a word is followed by ')'"},
      {"(3 (2 a) (2 b)", 15, "1 ')' are missing"},
      {"(3 a) (2 b)", 7, "text follows"},
      {"(3 a", 5, "the line ends within a tree"}};
  for (const auto& [line, column, what] : bad) {
    CAPTURE(line);
    try {
      parse_tree(line);
      CHECK_MESSAGE(false, "it was taken");
    } catch (const BadTree& error) {
      CHECK(error.column == column);
      CHECK(contains(error.what(), what));
    }
  }
}

DataSpec tree_spec(const std::string& path) {
  DataSpec spec;
  spec.name = "trees";
  spec.path = path;
  spec.train = "train.txt";
  spec.classes = {"--", "-", "0", "+", "++"};
  spec.steps = 5;
  spec.vocabulary = 4;
  spec.vocabulary_file = "words.txt";
  spec.train_examples = 3;
  return spec;
}

TEST_CASE("trees are read with a label for each node, or with two classes and none in the middle") {
  const TemporaryFolder folder;
  folder.write("words.txt", bytes("<pad>\n<unk>\nit\nworks\n"));
  folder.write("train.txt.gz", gzip(bytes("(3 (2 It) (4 works))\n\n(2 works)\n(0 (1 It) (2 (2 not) (1 works)))")));
  auto spec = tree_spec(folder.path());
  const auto five = open_dataset(spec, "");
  const auto all = read_examples(*five, DataSplit::train, 0, 3);
  CHECK(all.steps == 5);
  CHECK(all.tokens == Tokens{2, 3, 0, 0, 0, 3, 0, 0, 0, 0, 2, 1, 3, 0, 0});
  CHECK(all.labels == Tokens{2, 4, 3, -1, -1, 2, -1, -1, -1, -1, 1, 2, 1, 2, 0});
  CHECK(Tokens(all.children.begin() + 4, all.children.begin() + 6) == Tokens{0, 1});
  CHECK(five->label(DataSplit::train, 2) == 0);
  spec.tree_labels = "polarity";
  spec.classes = {"bad", "good"};
  spec.train_examples = 2;
  const auto two = read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2);
  CHECK(two.labels == Tokens{-1, 1, 1, -1, -1, 0, -1, 0, -1, 0});
  CHECK(two.lengths == std::vector<std::uint32_t>{3, 5});
}

TEST_CASE("corrupt trees end the reading, or are left out and the good ones counted") {
  const TemporaryFolder folder;
  folder.write("words.txt", bytes("<pad>\n<unk>\nit\nworks\n"));
  folder.write("train.txt", bytes("(3 it)\n(3 it\n(9 it)\n(1 (1 a) (1 (1 a) (1 (1 a) (1 a))))\n(2 works)\n"));
  auto spec = tree_spec(folder.path());
  spec.train_examples = 2;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "train.txt, line 2, column 6: "));
  spec.corrupt = "skip";
  const auto dataset = open_dataset(spec, "");
  CHECK(dataset->corrupt() == 3);
  const auto kept = read_examples(*dataset, DataSplit::train, 0, 2);
  CHECK(kept.labels.front() == 3);
  CHECK(kept.tokens.front() == 2);
  spec.train_examples = 3;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "holds 2 good examples where data.train_examples counts on 3 (3 were left out)"));
}

DataSpec character_spec(const std::string& path) {
  DataSpec spec;
  spec.name = "characters";
  spec.path = path;
  spec.train = "text";
  spec.steps = 3;
  spec.vocabulary = 256;
  spec.train_examples = 2;
  spec.test_examples = 1;
  return spec;
}

TEST_CASE(
    "a text is sequences whose steps are labelled with what follows, and the test split follows the train split") {
  const TemporaryFolder folder;
  folder.write("text", bytes("abcdefghij"));
  auto spec = character_spec(folder.path());
  const auto dataset = open_dataset(spec, "");
  const auto train = read_examples(*dataset, DataSplit::train, 0, 2);
  CHECK(train.tokens == Tokens{'a', 'b', 'c', 'd', 'e', 'f'});
  CHECK(train.labels == Tokens{'b', 'c', 'd', 'e', 'f', 'g'});
  CHECK(train.lengths.empty());
  CHECK(read_examples(*dataset, DataSplit::test, 0, 1).labels == Tokens{'h', 'i', 'j'});
  spec.test_examples = 2;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "has 10 tokens, which make 3 sequences"));
  folder.write("other", bytes("zyxw"));
  spec.test = "other";
  spec.test_examples = 1;
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::test, 0, 1).tokens == Tokens{'z', 'y', 'x'});
}

TEST_CASE("byte pairs merge what occurs most often, equal ones by their tokens, and encode the same text again") {
  const auto merges = learn_byte_pairs("low low lower newest newest widest", 4);
  // ("e","s") and ("s","t") occur three times, as does ("l","o"); 'e' is the smallest first token of these.
  REQUIRE(merges.size() == 4);
  CHECK(merges[0] == BytePair{'e', 's'});
  CHECK(merges[1] == BytePair{'l', 'o'});
  CHECK(merges[2] == BytePair{256, 't'});
  CHECK(merges[3] == BytePair{257, 'w'});
  BytePairEncoder encoder(merges);
  Tokens tokens;
  encoder.encode("lowest  low", tokens);
  CHECK(tokens == Tokens{259, 258, ' ', ' ', 259});
  const TemporaryFolder folder;
  const auto path = folder.write("pairs", bytes(byte_pairs_text(merges)));
  CHECK(read_byte_pairs(path) == merges);
  folder.write("text", bytes("lowest lowest lowest"));
  auto spec = character_spec(folder.path());
  spec.vocabulary_file = "pairs";
  spec.vocabulary = 260;
  spec.steps = 2;
  spec.train_examples = 3;
  spec.test_examples = 0;
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 3).tokens == Tokens{259, 258, ' ', 259, 258, ' '});
  spec.vocabulary = 261;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "has 4 pairs, which make 260 tokens"));
}

TEST_CASE("a file of byte pairs that is none is refused with its line") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, const std::string& why) {
    const auto path = folder.write("pairs", bytes(text));
    CHECK(contains(error_of([&] { read_byte_pairs(path); }), why));
  };
  refused("", "does not begin with the line");
  refused("ballast byte pairs 1\n1 2\n1\n", "line 3: '1' is no pair of tokens below 257");
  refused("ballast byte pairs 1\n256 2\n", "line 2: '256 2' is no pair of tokens below 256");
}

TEST_CASE("learning goes on as long as a pair occurs twice") {
  CHECK(learn_byte_pairs("", 5).empty());
  CHECK(learn_byte_pairs("abc", 5).empty());
  CHECK(learn_byte_pairs("aaaa", 5) == std::vector<BytePair>{{'a', 'a'}});
}

}  // namespace
}  // namespace ballast
