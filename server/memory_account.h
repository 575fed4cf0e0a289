// Whether a server has more memory than its parts account for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/job/memory_budget.h"
#include "protocol/ids.h"

namespace ballast {

// The parts of a message that never ends pile up in the transport, where nobody sees them: they show as bytes that are
// allocated and that nobody has. What is allocated beside the account when the server begins is its own, as are
// kExcess more: tables of sessions and metrics, buffers of copies, batches on their way into the database, messages
// that have come since they were looked for. Beyond that the sockets are to be made anew. If that frees less than half,
// it was not theirs: it is taken for the server's own, so that a leak does not cut everybody for ever. Pure. One
// thread.
class MemoryAccount {
 public:
  static constexpr std::uint64_t kExcess = kUnendedBytes;
  static constexpr Micros kSettles = 1'000'000;  // so long it may take until what sockets had is freed

  enum class Verdict : std::uint8_t { fine, beyond, not_the_sockets };

  // `accounted`: of what is allocated, what the parts say they have, or may have.
  Verdict look(std::uint64_t allocated, std::uint64_t accounted, Micros now) {
    const auto rest = allocated - std::min(allocated, accounted);
    own_ = std::min(own_.value_or(rest), rest);
    if (!beyond_) {
      return judge(rest, now);
    }
    lowest_ = std::min(lowest_, rest);
    if (now - *beyond_ < kSettles) {
      return Verdict::fine;
    }
    beyond_.reset();
    if (lowest_ - *own_ > (was_ - *own_) / 2) {
      own_ = rest;
      return Verdict::not_the_sockets;
    }
    return judge(rest, now);
  }
  // Beside the account, by the newest look.
  [[nodiscard]] std::uint64_t excess() const { return was_ - own_.value_or(0); }

 private:
  Verdict judge(std::uint64_t rest, Micros now) {
    was_ = rest;
    if (rest - *own_ <= kExcess) {
      return Verdict::fine;
    }
    beyond_ = now;
    lowest_ = rest;
    return Verdict::beyond;
  }

  std::optional<std::uint64_t> own_;  // allocated beside the account, and the server's all the same
  std::uint64_t was_ = 0;             // beside the account, when last judged
  std::optional<Micros> beyond_;      // since when the sockets are being made anew
  std::uint64_t lowest_ = 0;          // since then
};

}  // namespace ballast
