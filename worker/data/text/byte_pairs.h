// Byte pairs: tokens 0 to 255 are bytes, token 256 + k is the k-th merge of two earlier tokens.
//
// P. Gage, "A New Algorithm for Data Compression", The C Users Journal, 1994; R. Sennrich et al., "Neural Machine
// Translation of Rare Words with Subword Units", ACL 2016.
//
// Text is first cut into pieces, within which pairs are merged: runs of word bytes (ASCII letters and digits, bytes
// from 0x80 on) with the one space before them, and runs of all others; after 64 bytes a piece ends. A piece is encoded
// by merging, again and again, all neighbours that make the earliest merge there is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ballast {

inline constexpr std::uint32_t kByteTokens = 256;
inline constexpr std::uint32_t kMostMerges = 1U << 20U;

using BytePair = std::pair<std::int32_t, std::int32_t>;

// Each merge is the pair that occurs most often then, within all pieces of the text; of equally frequent ones that of
// the smallest left token, then of the smallest right one. Fewer if no pair occurs twice any more. A function of the
// text alone.
std::vector<BytePair> learn_byte_pairs(std::string_view text, std::uint32_t merges);

// A file of merges: a line that says what it is, then "LEFT RIGHT" for each.
std::string byte_pairs_text(const std::vector<BytePair>& merges);
// Throws std::runtime_error naming the file, the line and the remedy.
std::vector<BytePair> read_byte_pairs(const std::filesystem::path& path);

// Not thread-safe: remembers pieces.
class BytePairEncoder {
 public:
  explicit BytePairEncoder(const std::vector<BytePair>& merges);
  // Appends the tokens of `text` to `tokens`.
  void encode(std::string_view text, std::vector<std::int32_t>& tokens);

 private:
  std::vector<std::int32_t> encode_piece(std::string_view piece) const;

  std::map<BytePair, std::int32_t> merges_;  // to the token that they make
  std::unordered_map<std::string, std::vector<std::int32_t>> known_;
};

}  // namespace ballast
