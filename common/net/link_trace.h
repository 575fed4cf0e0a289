// What the kernel says of connections, as records of a trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/net/link_info.h"
#include "protocol/messages/trace.h"

namespace ballast {

// What the machine's link carries, as it was declared.
struct DeclaredLine {
  std::uint64_t bytes_per_second = 0;  // each way; 0: nothing was
  std::uint64_t machine = 0;           // who shares it: common/machine/machine_id.h
};

// Of all peers of one thread; it remembers those of the last look alone. However many they are, a hundred a second: a
// trace is to have room for others.
class LinkTrace {
 public:
  explicit LinkTrace(DeclaredLine line = {}) : line_(line) {}

  static constexpr Micros kEvery = 1'000'000;
  static constexpr Micros kForEach = 10'000;

  // Whether it is time for another look at all links, which begins with this.
  bool is_due(Micros now) {
    if (now < looked_at_ + std::max<Micros>(kEvery, kForEach * seen_.size())) {
      return false;
    }
    looked_at_ = now;
    before_ = std::exchange(seen_, {});
    return true;
  }

  // With each look. Nothing where none was declared.
  [[nodiscard]] std::optional<TraceRecord> line(Step step, Micros now) const {
    if (line_.bytes_per_second == 0) {
      return std::nullopt;
    }
    return TraceRecord{
        .step = step, .peer = line_.machine, .first = now, .second = line_.bytes_per_second, .kind = TraceKind::line};
  }

  // Nothing at the first look at a peer: what was sent again by then is of no time that is known. A connection that
  // began since begins at 0.
  std::optional<TraceRecord> record(Step step, std::uint64_t peer, const LinkInfo& info, Micros now) {
    seen_[peer] = info.retransmitted;
    const auto known = before_.find(peer);
    if (known == before_.end()) {
      return std::nullopt;
    }
    return TraceRecord{.step = step,
                       .peer = peer,
                       .first = now,
                       .second = info.round_trip,
                       .third = info.retransmitted - (known->second > info.retransmitted ? 0 : known->second),
                       .fourth = info.delivery_rate,
                       .kind = TraceKind::link};
  }

 private:
  DeclaredLine line_;
  Micros looked_at_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> before_;  // bytes sent again, by peer
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;
};

}  // namespace ballast
