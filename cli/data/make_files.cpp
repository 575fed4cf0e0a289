#include "cli/data/make_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/files/new_file.h"
#include "common/job/words.h"
#include "common/numeric/philox.h"
#include "common/safetensors/writer.h"
#include "worker/data/example_files.h"
#include "worker/data/lines.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/message.h"
#include "worker/data/text/text_files.h"
#include "worker/data/text/tokenizer.h"
#include "worker/data/text/tree.h"
#include "worker/data/text/vocabulary.h"
#include "worker/data/text/whole_text.h"

namespace ballast {
namespace {

constexpr std::size_t kMostDimensions = 4096;
constexpr std::uint64_t kMostNumbers = 1U << 30U;  // of all vectors: 4 GiB
constexpr std::uint64_t kSeed = 1;

void write_file(const std::string& path, std::string_view text) {
  NewFile file;
  auto refused = file.create(path, {.synced = true, .through_special = true});
  if (!refused) {
    refused = file.append(text);
  }
  if (!refused) {
    refused = file.finish();
  }
  if (refused) {
    throw std::runtime_error(path + ": cannot be written: " + refused.message());
  }
}

class Counted {
 public:
  void add(std::string_view word) {
    words.add(word);
    ++total;
  }
  void add_tree(const std::string& where, std::string_view line) {
    try {
      for (const auto& node : parse_tree(line)) {
        if (!node.word.empty()) {
          add(lower_case(node.word));
        }
      }
    } catch (const BadTree& bad) {
      std::fprintf(stderr, "corrupt: %s, column %zu: %s\n", where.c_str(), bad.column, bad.what());
    }
  }
  void add_message(const std::string& text) {
    for_each_token(text, [&](std::string_view word) {
      add(word);
      return true;
    });
  }

  WordCounts words;
  std::uint64_t total = 0;
};

Counted count_words(const VocabularyOptions& options) {
  Counted counted;
  if (options.kind == "trees") {
    LineReader lines(example_file(options.path, options.train, "train"));
    while (const auto line = lines.next()) {
      if (line->find_first_not_of(" \t") != std::string_view::npos) {
        counted.add_tree(lines.where(), *line);
      }
    }
    return counted;
  }
  read_text_files(options.path, {options.train},
                  [&](const TextFile& file, std::string bytes, const std::string& fault) {
                    if (!fault.empty()) {
                      std::fprintf(stderr, "corrupt: %s/%s/%s: %s\n", file.split.c_str(), file.folder.c_str(),
                                   file.name.c_str(), fault.c_str());
                      return;
                    }
                    counted.add_message(strip_message(message_text(std::move(bytes)), options.strip));
                  });
  return counted;
}

// Vectors by the tokens of a vocabulary.
class Vectors {
 public:
  explicit Vectors(const Vocabulary& vocabulary) : vocabulary_(vocabulary), found_(vocabulary.words().size()) {}

  void read(const std::string& path) {
    LineReader lines(path);
    while (const auto line = lines.next()) {
      const auto blank = line->find(' ');
      if (blank == std::string_view::npos) {
        throw std::runtime_error(lines.where() + ": a word and its numbers are needed, parted by single blanks");
      }
      parse(lines, line->substr(blank + 1));
      const auto token = vocabulary_.token(line->substr(0, blank));
      if (token != kUnknownToken && token != kPaddingToken && !found_[static_cast<std::size_t>(token)]) {
        found_[static_cast<std::size_t>(token)] = true;
        std::ranges::copy(numbers_, values_.begin() + static_cast<std::ptrdiff_t>(token) * dimensions());
      }
    }
    if (numbers_.empty()) {
      throw std::runtime_error(path + ": holds no vector");
    }
  }

  [[nodiscard]] std::size_t found() const { return static_cast<std::size_t>(std::ranges::count(found_, true)); }
  [[nodiscard]] std::ptrdiff_t dimensions() const { return static_cast<std::ptrdiff_t>(numbers_.size()); }
  [[nodiscard]] std::span<const float> values() const { return values_; }

  // All that were not found, but for padding.
  void draw() {
    const auto bound = std::sqrt(3.0F) * deviation();
    const auto size = static_cast<std::size_t>(dimensions());
    for (std::size_t token = kUnknownToken; token < found_.size(); ++token) {
      const RandomStream random({kSeed, Purpose::weights, 0, static_cast<std::uint32_t>(token)});
      for (std::size_t i = 0; i < size && !found_[token]; ++i) {
        values_[token * size + i] = bound * (2 * random.uniform(i) - 1);
      }
    }
  }

 private:
  void parse(const LineReader& lines, std::string_view text) {
    std::vector<float> numbers;
    while (!text.empty()) {
      float value = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      const auto size = static_cast<std::size_t>(stop - text.data());
      if (error != std::errc() || !std::isfinite(value) || (size < text.size() && text[size] != ' ') ||
          numbers.size() == kMostDimensions) {
        throw std::runtime_error(lines.where() + ": " + shown(std::string(text.substr(0, 24))) +
                                 " is no number, or beyond the " + std::to_string(kMostDimensions) + " of a vector");
      }
      numbers.push_back(value);
      text.remove_prefix(std::min(size + 1, text.size()));
    }
    if (!numbers_.empty() && numbers.size() != numbers_.size()) {
      throw std::runtime_error(lines.where() + ": has " + std::to_string(numbers.size()) +
                               " numbers, and the lines before " + std::to_string(numbers_.size()) +
                               "; does the file begin with a line that counts them? Remove that line");
    }
    numbers_ = std::move(numbers);
    const auto size = found_.size() * numbers_.size();
    if (size > kMostNumbers) {
      throw std::runtime_error(lines.where() + ": all vectors would have more than " + std::to_string(kMostNumbers) +
                               " numbers (4 GiB); use a smaller vocabulary");
    }
    values_.resize(size);
  }

  [[nodiscard]] float deviation() const {
    const auto count = std::max<std::size_t>(found(), 1) * static_cast<std::size_t>(dimensions());
    double sum = 0;
    double squares = 0;
    for (const auto value : values_) {  // those that are missing are 0
      sum += value;
      squares += double{value} * value;
    }
    const auto mean = sum / static_cast<double>(count);
    return static_cast<float>(std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean)));
  }

  const Vocabulary& vocabulary_;
  std::vector<bool> found_;  // by token
  std::vector<float> numbers_;
  std::vector<float> values_;
};

void write_tensor(const EmbeddingOptions& options, std::size_t words, const Vectors& vectors) {
  const auto check = [](const StoreStatus& status) {
    if (!status.ok()) {
      throw std::runtime_error(status.text());
    }
  };
  auto writer = safetensors::Writer::create(
      options.output, {{options.tensor, {words, static_cast<std::uint64_t>(vectors.dimensions())}}}, {});
  check(writer.ok() ? StoreStatus{} : writer.status());
  check(writer.value().append(std::as_bytes(vectors.values())));
  check(writer.value().finish());
}

}  // namespace

int make_vocabulary(const VocabularyOptions& options) {
  const auto counted = count_words(options);
  const auto words = counted.words.most_frequent(options.size, options.least);
  std::string text;
  for (const auto& word : words) {
    text += word + "\n";
  }
  write_file(options.output, text);
  std::printf("%zu tokens written to %s: %zu of the split's %zu different words, which are %llu in all\n", words.size(),
              options.output.c_str(), words.size() - 2, counted.words.different(),
              static_cast<unsigned long long>(counted.total));
  return 0;
}

int make_byte_pairs(const BytePairOptions& options) {
  const auto merges = learn_byte_pairs(read_whole_text(options.file), options.merges);
  write_file(options.output, byte_pairs_text(merges));
  std::printf("%zu pairs written to %s; data.vocabulary is %zu\n", merges.size(), options.output.c_str(),
              kByteTokens + merges.size());
  if (merges.size() < options.merges) {
    std::printf("no other pair occurs twice\n");
  }
  return 0;
}

int make_embeddings(const EmbeddingOptions& options) {
  const Vocabulary vocabulary(options.vocabulary, 0);
  Vectors vectors(vocabulary);
  vectors.read(options.vectors);
  const auto words = vocabulary.words().size();
  const auto found = vectors.found();
  if (options.missing == "drawn") {
    vectors.draw();
  }
  write_tensor(options, words, vectors);
  std::printf("%s: %zu x %td written to %s; %zu of %zu words found, %zu %s\n", options.tensor.c_str(), words,
              vectors.dimensions(), options.output.c_str(), found, words - 2, words - 2 - found,
              options.missing == "drawn" ? "drawn, and the unknown word" : "and the unknown word 0");
  return 0;
}

}  // namespace ballast
