// Words by their numbers: a file of UTF-8 lines, of which line n (from 0) is token n.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ballast {

inline constexpr std::int32_t kPaddingToken = 0;
inline constexpr std::int32_t kUnknownToken = 1;
inline constexpr const char* kPaddingWord = "<pad>";  // the first two lines: no tokenizer makes them
inline constexpr const char* kUnknownWord = "<unk>";
inline constexpr std::size_t kMaxWord = 1024;  // bytes
inline constexpr std::uint32_t kMaxVocabulary = 1U << 24U;

// Immutable, hence thread-safe.
class Vocabulary {
 public:
  // Throws std::runtime_error naming the file, the line and the remedy: no padding or unknown word at its beginning, an
  // empty line, a word that is too long or stands there twice, or another number of lines than `tokens` (0: any).
  Vocabulary(const std::filesystem::path& path, std::uint32_t tokens);

  [[nodiscard]] std::int32_t token(std::string_view word) const;  // kUnknownToken if there is none
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, std::int32_t> tokens_;  // of words_
};

// How often words occur. Memory: all different words, at most kMaxCounted.
class WordCounts {
 public:
  static constexpr std::size_t kMaxCounted = std::size_t{1} << 25U;

  // Throws std::runtime_error for more different words than are counted. Words longer than kMaxWord are left out.
  void add(std::string_view word);
  // The `size` - 2 most frequent words that occur at least `least` times, the most frequent first, equally frequent
  // ones in the order of their bytes; before them padding and unknown. Fewer if there are not as many.
  [[nodiscard]] std::vector<std::string> most_frequent(std::uint32_t size, std::uint64_t least) const;
  [[nodiscard]] std::size_t different() const { return counts_.size(); }

 private:
  std::unordered_map<std::string, std::uint64_t> counts_;
};

}  // namespace ballast
