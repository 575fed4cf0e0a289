// Headers that a fault or an enemy changed. Each lies in memory of exactly its size, for the address sanitizer to see.
#include <algorithm>
#include <memory>
#include <random>

#include "common/text/text.h"
#include "tests/unit/common/wire/random_message.h"
#include "tests/unit/common/wire/wire_test.h"

namespace ballast {
namespace {

Decoded decode_exactly(const std::vector<std::byte>& header, std::size_t size, bool has_payload) {
  const auto copy = std::make_unique<std::byte[]>(size);
  std::copy_n(header.begin(), size, copy.get());
  return decode({copy.get(), size}, has_payload ? 64 : 0, has_payload);
}

// What decodes can be sent again and says the same (compared as bytes: a loss may be NaN, which equals nothing); what
// is refused says why in a line that can be logged.
void check_sound(const Decoded& decoded) {
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    CHECK(!refused->text.empty());
    CHECK(refused->text.size() <= wire::kMaxTextBytes);
    CHECK(!text_fault(refused->text, TextKind::line));
    return;
  }
  const auto& message = std::get<Message>(decoded);
  const auto again = encoded(message);
  const auto back = decode_with_payload(again, message);
  REQUIRE(std::holds_alternative<Message>(back));
  CHECK(encoded(std::get<Message>(back)) == again);
}

TEST_CASE("a header cut short at any length is refused, or only lost its padding") {
  RandomMessages random(11);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto message = random.of_kind(kind);
    const auto header = encoded(message);
    for (std::size_t size = 0; size < header.size(); ++size) {
      const auto decoded = decode_exactly(header, size, carries_payload(message));
      check_sound(decoded);
      if (const auto* back = std::get_if<Message>(&decoded)) {
        CHECK(*back == message);
        CHECK(header.size() - size < 8);
      }
    }
  }
}

TEST_CASE("a header with flipped bits either decodes to a sound message or is refused") {
  constexpr int kHeaders = 100'000;
  RandomMessages messages(12);
  std::mt19937_64 random(13);
  int decodes = 0;
  for (int i = 0; i < kHeaders; ++i) {
    const auto message = messages.of_kind(random() % kKinds);
    auto header = encoded(message);
    for (auto flips = 1 + random() % 4; flips > 0; --flips) {
      header[random() % header.size()] ^= std::byte{1} << static_cast<int>(random() % 8);
    }
    const auto decoded = decode_exactly(header, header.size(), carries_payload(message));
    check_sound(decoded);
    decodes += std::holds_alternative<Message>(decoded) ? 1 : 0;
  }
  // Both happen often, or the test would not look where it means to.
  CHECK(decodes > kHeaders / 20);
  CHECK(kHeaders - decodes > kHeaders / 20);
}

TEST_CASE("offsets and sizes replaced by hostile ones are survived") {
  RandomMessages messages(14);
  std::mt19937_64 random(15);
  constexpr std::uint32_t kHostile[] = {0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC, 0x40000000};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto message = messages.of_kind(kind);
    const auto header = encoded(message);
    for (std::size_t at = 0; at + 4 <= header.size(); at += 2) {
      for (const auto hostile : kHostile) {
        auto changed = header;
        std::memcpy(changed.data() + at, &hostile, sizeof(hostile));
        check_sound(decode_exactly(changed, changed.size(), carries_payload(message)));
      }
    }
  }
}

TEST_CASE("noise behind a good beginning is survived") {
  std::mt19937_64 random(16);
  const auto good = encoded(Stale{1});
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> noise(random() % 200);
    for (auto& byte : noise) {
      byte = static_cast<std::byte>(random());
    }
    std::copy_n(good.begin(), std::min<std::size_t>(noise.size(), random() % 24), noise.begin());
    check_sound(decode_exactly(noise, noise.size(), random() % 2 == 0));
  }
}

}  // namespace
}  // namespace ballast
