#include "worker/data/text/byte_pairs.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "common/job/words.h"
#include "worker/data/lines.h"

namespace ballast {
namespace {

constexpr const char* kFirstLine = "ballast byte pairs 1";
constexpr std::size_t kLongestPiece = 64;
constexpr std::size_t kMostKnown = 1U << 18U;  // pieces that an encoder remembers

using Tokens = std::vector<std::int32_t>;

bool is_word(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || byte >= 0x80U;
}

// The length of the piece that `text`, which is not empty, begins with.
std::size_t piece_length(std::string_view text) {
  const bool spaced = text[0] == ' ' && text.size() > 1 && is_word(text[1]);
  const bool word = spaced || is_word(text[0]);
  std::size_t length = 1;
  while (length < std::min(text.size(), kLongestPiece) && is_word(text[length]) == word) {
    const bool begins_next = !word && text[length] == ' ' && length + 1 < text.size() && is_word(text[length + 1]);
    if (begins_next) {
      break;
    }
    ++length;
  }
  return length;
}

template <typename Take>
void for_each_piece(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto length = piece_length(text);
    take(text.substr(0, length));
    text.remove_prefix(length);
  }
}

Tokens bytes_of(std::string_view piece) {
  Tokens tokens;
  for (const char c : piece) {
    tokens.push_back(static_cast<std::uint8_t>(c));
  }
  return tokens;
}

// From left to right, without overlap.
void merge(Tokens& tokens, const BytePair& pair, std::int32_t made) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i, ++kept) {
    const bool found = i + 1 < tokens.size() && tokens[i] == pair.first && tokens[i + 1] == pair.second;
    tokens[kept] = found ? made : tokens[i];
    i += found ? 1 : 0;
  }
  tokens.resize(kept);
}

// The different pieces of a text, and how often each pair stands in them.
class PairCounts {
 public:
  explicit PairCounts(std::string_view text) {
    std::map<std::string_view, std::uint64_t> pieces;
    for_each_piece(text, [&](std::string_view piece) { ++pieces[piece]; });
    for (const auto& [piece, times] : pieces) {
      pieces_.push_back({bytes_of(piece), times});
      count(pieces_.size() - 1);
    }
  }

  // nullptr: no pair stands there twice. Equally frequent pairs stand in the order of their tokens.
  [[nodiscard]] const BytePair* most_frequent() const {
    const auto best =
        std::ranges::max_element(counts_, [](const auto& a, const auto& b) { return a.second.times < b.second.times; });
    return best == counts_.end() || best->second.times < 2 ? nullptr : &best->first;
  }

  void merge_all(const BytePair& pair, std::int32_t made) {
    const auto within = counts_.at(pair).pieces;
    for (const auto index : within) {
      uncount(index);
      merge(pieces_[index].tokens, pair, made);
      count(index);
    }
  }

 private:
  struct Piece {
    Tokens tokens;
    std::uint64_t times = 0;
  };
  struct Count {
    std::uint64_t times = 0;
    std::set<std::size_t> pieces;  // that hold the pair
  };

  void count(std::size_t index) {
    const auto& [tokens, times] = pieces_[index];
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      auto& held = counts_[{tokens[i], tokens[i + 1]}];
      held.times += times;
      held.pieces.insert(index);
    }
  }
  void uncount(std::size_t index) {
    const auto& [tokens, times] = pieces_[index];
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto held = counts_.find({tokens[i], tokens[i + 1]});
      held->second.times -= times;
      held->second.pieces.erase(index);
      if (held->second.times == 0) {
        counts_.erase(held);
      }
    }
  }

  std::vector<Piece> pieces_;
  std::map<BytePair, Count> counts_;
};

}  // namespace

std::vector<BytePair> learn_byte_pairs(std::string_view text, std::uint32_t merges) {
  PairCounts counts(text);
  std::vector<BytePair> learnt;
  while (learnt.size() < merges) {
    const auto* best = counts.most_frequent();
    if (best == nullptr) {
      break;
    }
    const auto pair = *best;
    counts.merge_all(pair, static_cast<std::int32_t>(kByteTokens + learnt.size()));
    learnt.push_back(pair);
  }
  return learnt;
}

std::string byte_pairs_text(const std::vector<BytePair>& merges) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto& [left, right] : merges) {
    text += std::to_string(left) + " " + std::to_string(right) + "\n";
  }
  return text;
}

std::vector<BytePair> read_byte_pairs(const std::filesystem::path& path) {
  LineReader lines(path);
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(lines.where() + ": " + what + "; make the file anew with `ballast data byte_pairs`");
  };
  auto line = lines.next();
  if (!line || *line != kFirstLine) {
    throw std::runtime_error(path.string() + ": is no file of byte pairs: it does not begin with the line '" +
                             kFirstLine + "'; make it with `ballast data byte_pairs`");
  }
  std::vector<BytePair> merges;
  while ((line = lines.next())) {
    BytePair pair;
    const auto* end = line->data() + line->size();
    const auto left = std::from_chars(line->data(), end, pair.first);
    const bool parted = left.ec == std::errc() && left.ptr != end && *left.ptr == ' ';
    const auto right = parted ? std::from_chars(left.ptr + 1, end, pair.second) : left;
    const auto known = static_cast<std::int32_t>(kByteTokens + merges.size());
    if (!parted || right.ec != std::errc() || right.ptr != end || pair.first < 0 || pair.second < 0 ||
        pair.first >= known || pair.second >= known) {
      refuse(shown(std::string(*line)) + " is no pair of tokens below " + std::to_string(known));
    }
    if (merges.size() == kMostMerges) {
      refuse("more than " + std::to_string(kMostMerges) + " pairs");
    }
    merges.push_back(pair);
  }
  return merges;
}

BytePairEncoder::BytePairEncoder(const std::vector<BytePair>& merges) {
  for (const auto& pair : merges) {
    merges_.emplace(pair, static_cast<std::int32_t>(kByteTokens + merges_.size()));
  }
}

Tokens BytePairEncoder::encode_piece(std::string_view piece) const {
  auto tokens = bytes_of(piece);
  while (true) {
    auto earliest = merges_.end();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto found = merges_.find({tokens[i], tokens[i + 1]});
      if (found != merges_.end() && (earliest == merges_.end() || found->second < earliest->second)) {
        earliest = found;
      }
    }
    if (earliest == merges_.end()) {
      return tokens;
    }
    merge(tokens, earliest->first, earliest->second);
  }
}

void BytePairEncoder::encode(std::string_view text, Tokens& tokens) {
  for_each_piece(text, [&](std::string_view piece) {
    auto known = known_.find(std::string(piece));
    if (known == known_.end()) {
      if (known_.size() == kMostKnown) {
        known_.clear();
      }
      known = known_.emplace(piece, encode_piece(piece)).first;
    }
    tokens.insert(tokens.end(), known->second.begin(), known->second.end());
  });
}

}  // namespace ballast
