// Feeds arbitrary frames to the decoder. Run: wire-decode-fuzz -max_len=4096 CORPUS_FOLDER
//
// The first byte chooses the payload frame, the rest is the header. Beyond not crashing, what decodes must be fit to be
// sent again: the decoder accepts what the encoder makes of it, and it says the same (compared as bytes, because a loss
// may be NaN, which equals nothing).
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "common/wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast;
  if (size == 0) {
    return 0;
  }
  const bool has_payload = data[0] % 2 != 0;
  const std::uint64_t payload_bytes = has_payload ? std::uint64_t{data[0]} * 4 : 0;
  const auto header = std::as_bytes(std::span(data + 1, size - 1));
  const auto decoded = decode(header, payload_bytes, has_payload);
  if (const auto* message = std::get_if<Message>(&decoded)) {
    Encoder encoder;
    const auto sent = encoder.encode(*message);
    const auto again = decode(sent, payload_bytes, has_payload);
    if (!std::holds_alternative<Message>(again)) {
      std::abort();
    }
    Encoder another;
    if (!std::ranges::equal(another.encode(std::get<Message>(again)), sent)) {
      std::abort();
    }
  }
  return 0;
}
