#include "worker/data/text/vocabulary.h"

#include <algorithm>
#include <stdexcept>

#include "common/job/words.h"
#include "worker/data/lines.h"

namespace ballast {

Vocabulary::Vocabulary(const std::filesystem::path& path, std::uint32_t tokens) {
  LineReader lines(path);
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(lines.where() + ": " + what + "; make the file anew with `ballast data vocabulary`");
  };
  while (const auto line = lines.next()) {
    if (line->empty() || line->size() > kMaxWord) {
      refuse(line->empty() ? "an empty line is no word"
                           : "a word is longer than " + std::to_string(kMaxWord) + " bytes");
    }
    words_.emplace_back(*line);
    if (words_.size() > kMaxVocabulary) {
      refuse("more than " + std::to_string(kMaxVocabulary) + " words");
    }
  }
  if (words_.size() < 3 || words_[0] != kPaddingWord || words_[1] != kUnknownWord) {
    throw std::runtime_error(path.string() + ": is no vocabulary: its first two lines must be " + kPaddingWord +
                             " and " + kUnknownWord + ", and words follow; make it with `ballast data vocabulary`");
  }
  if (tokens != 0 && words_.size() != tokens) {
    throw std::runtime_error(path.string() + " has " + std::to_string(words_.size()) +
                             " lines where data.vocabulary counts on " + std::to_string(tokens) + "; set it to " +
                             std::to_string(words_.size()) + ", or name another file");
  }
  tokens_.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!tokens_.emplace(words_[i], static_cast<std::int32_t>(i)).second) {
      throw std::runtime_error(path.string() + ", line " + std::to_string(i + 1) + ": " + shown(words_[i]) +
                               " stands there a second time; remove it, and count data.vocabulary anew");
    }
  }
}

std::int32_t Vocabulary::token(std::string_view word) const {
  const auto found = tokens_.find(word);
  return found == tokens_.end() ? kUnknownToken : found->second;
}

void WordCounts::add(std::string_view word) {
  if (word.size() > kMaxWord) {
    return;
  }
  ++counts_[std::string(word)];
  if (counts_.size() > kMaxCounted) {
    throw std::runtime_error("more than " + std::to_string(kMaxCounted) +
                             " different words; is this text? Name fewer or other files");
  }
}

std::vector<std::string> WordCounts::most_frequent(std::uint32_t size, std::uint64_t least) const {
  using Count = std::pair<const std::string, std::uint64_t>;
  std::vector<const Count*> ranked;
  for (const auto& count : counts_) {
    if (count.second >= least) {
      ranked.push_back(&count);
    }
  }
  std::ranges::sort(ranked, [](const Count* a, const Count* b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  std::vector<std::string> words = {kPaddingWord, kUnknownWord};
  for (const auto* count : ranked) {
    if (words.size() == size) {
      break;
    }
    words.push_back(count->first);
  }
  return words;
}

}  // namespace ballast
