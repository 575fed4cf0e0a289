// The encryption of one object, in pieces, so that objects of any size pass through little memory.
//
//   object := head piece+
//   head   := "BLSTSEAL" u32 format (1), 8 bytes: the key's id, 32 bytes drawn at random, u32 size of the name, name,
//             u32 CRC-32C of what is before it
//   piece  := AES-256-GCM of kSealedPiece bytes, of the last piece of at most so many; its tag of 16 bytes
//
// Each object has a key of its own: HKDF-SHA256 of the key, with the random bytes as salt, and the head, which has the
// object's name, as information. The nonce of a piece is its number, and whether it is the last. So whatever is
// changed, left out, moved within an object, cut off, or brought under another object's name is noticed before a byte
// of it is given out (the STREAM construction: Hoang, Reyhanitabar, Rogaway, Vizár, "Online authenticated-encryption
// and its nonce-reuse misuse-resistance", 2015). That an object was replaced by an earlier one of its own name is not.
//
// All numbers are little-endian. libcrypto that fails (no memory, a policy that forbids the algorithm) throws
// std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/files/status.h"
#include "storage/copies/copy_keys.h"

namespace ballast {

inline constexpr std::size_t kSealedPiece = 64U << 10U;
inline constexpr std::size_t kSealTag = 16;

struct SealHead {
  std::string bytes;
  std::string key_id;
  std::string name;
};

// Of an object that is to be written.
SealHead make_seal_head(const CopyKey& key, const std::string& name);

// What an object begins with, as far as it is here.
struct SealBegin {
  enum class Kind : std::uint8_t { unknown, other, sealed };
  Kind kind = Kind::unknown;   // unknown: more bytes tell; other: it is no encrypted object
  std::size_t head_bytes = 0;  // of a sealed one, as far as that is known; otherwise so many bytes as tell more
};
SealBegin begin_of(std::string_view bytes);
// A whole one. `corrupt` if it is damaged, `mismatch` if it is of a later format.
StoreResult<SealHead> decode_seal_head(std::string_view bytes);

// One object's pieces, either way, in order. One thread.
class PieceCipher {
 public:
  enum class Way : std::uint8_t { seal, open };

  PieceCipher(Way way, const CopyKey& key, const SealHead& head);
  ~PieceCipher();
  PieceCipher(const PieceCipher&) = delete;
  PieceCipher& operator=(const PieceCipher&) = delete;

  // The next piece, encrypted, with its tag. Valid until the next call.
  std::string_view seal(std::string_view plain, bool is_last);
  // The next piece, decrypted; `corrupt` if it is not as it was written, of this object and in this place.
  StoreResult<std::string_view> open(std::string_view sealed, bool is_last);

 private:
  struct Context;
  void next_nonce(bool is_last);
  void update(std::string_view from, std::size_t size);

  std::unique_ptr<Context> context_;
  std::string piece_;
  std::uint64_t number_ = 0;
};

}  // namespace ballast
