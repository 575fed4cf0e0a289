// A text as sequences of one length, each step labelled with the token that follows it.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/example_files.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/whole_text.h"

namespace ballast {
namespace {

using Tokens = std::vector<std::int32_t>;

// Sequence i of a split: tokens [begin + i * steps, begin + (i + 1) * steps) and, as labels, those one further.
class CharacterSplit {
 public:
  CharacterSplit() = default;
  CharacterSplit(std::shared_ptr<const Tokens> tokens, std::size_t begin, std::uint32_t count, std::uint32_t steps)
      : tokens_(std::move(tokens)), begin_(begin), count_(count), steps_(steps) {}

  [[nodiscard]] std::uint32_t count() const { return count_; }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    const auto from = tokens_->begin() + static_cast<std::ptrdiff_t>(begin_ + std::size_t{index} * steps_);
    std::copy_n(from, steps_, room.tokens.begin());
    std::copy_n(from + 1, steps_, room.labels.begin());
  }
  [[nodiscard]] std::int32_t label(std::uint32_t /*index*/) const { return -1; }
  [[nodiscard]] static std::string source(std::uint32_t /*index*/) { return {}; }
  void keep_first(std::uint32_t count) { count_ = std::min(count_, count); }
  void add_to(Sha256& digest) const {
    if (count_ > 0) {
      digest.update(std::as_bytes(std::span(*tokens_).subspan(begin_, std::size_t{count_} * steps_ + 1)));
    }
  }

 private:
  std::shared_ptr<const Tokens> tokens_;
  std::size_t begin_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t steps_ = 0;
};

class CharacterReader {
 public:
  CharacterReader(const DataSpec& spec, const std::string& worker_path)
      : spec_(spec), root_(example_root(spec, worker_path)), encoder_(merges()) {}

  std::shared_ptr<const Tokens> read(const std::filesystem::path& path, std::uint64_t sequences) {
    auto tokens = std::make_shared<Tokens>();
    encoder_.encode(read_whole_text(path), *tokens);
    const auto held = tokens->empty() ? 0 : (tokens->size() - 1) / spec_.steps;
    if (held < sequences) {
      throw std::runtime_error(path.string() + " has " + std::to_string(tokens->size()) + " tokens, which make " +
                               std::to_string(held) + " sequences of data.steps (" + std::to_string(spec_.steps) +
                               ") and one more token; the job counts on " + std::to_string(sequences) +
                               "; lower data.train_examples or data.test_examples, or name another file");
    }
    return tokens;
  }

  std::unique_ptr<Dataset> open() {
    const auto path = example_file(root_, spec_.train, "train");
    const bool own_test = !spec_.test.empty();
    const auto train = read(path, std::uint64_t{spec_.train_examples} + (own_test ? 0 : spec_.test_examples));
    const auto test = own_test ? read(example_file(root_, spec_.test, "test"), spec_.test_examples) : train;
    const auto cut = own_test ? 0 : std::size_t{spec_.train_examples} * spec_.steps;
    return std::make_unique<SplitDataset<CharacterSplit>>(spec_,
                                                          CharacterSplit(train, 0, spec_.train_examples, spec_.steps),
                                                          CharacterSplit(test, cut, spec_.test_examples, spec_.steps));
  }

 private:
  [[nodiscard]] std::vector<BytePair> merges() const {
    if (spec_.vocabulary_file.empty()) {
      return {};
    }
    const auto path = vocabulary_path(root_, spec_);
    auto merges = read_byte_pairs(path);
    if (kByteTokens + merges.size() != spec_.vocabulary) {
      throw std::runtime_error(path.string() + " has " + std::to_string(merges.size()) + " pairs, which make " +
                               std::to_string(kByteTokens + merges.size()) +
                               " tokens with the bytes; data.vocabulary is " + std::to_string(spec_.vocabulary) +
                               "; set it to that, or name another file");
    }
    return merges;
  }

  const DataSpec& spec_;
  std::filesystem::path root_;
  BytePairEncoder encoder_;
};

}  // namespace

std::unique_ptr<Dataset> open_characters(const DataSpec& spec, const std::string& worker_path) {
  return CharacterReader(spec, worker_path).open();
}

}  // namespace ballast
