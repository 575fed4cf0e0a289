// What a session has pulled of a lane and was not sent yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/chunk_places.h"
#include "protocol/state_list.h"

namespace ballast {

// Which weights of a chunk a session wants.
struct WantedVersion {
  Version version = 0;  // or kNewestVersion
  LeadNumber clock = {};
  bool averages = false;  // the moving average of the weights
  bool operator==(const WantedVersion&) const = default;
};

// Chunks either wait for a version that is to come, or are deferred: it is there, and there is no room to send it. Of a
// chunk's weights, and of its average, one version waits and one is deferred, whichever was asked for last. A session
// computes from one version of everything at a time, so what it wants is kept by version, with two bits for each chunk;
// of more than kMost versions the one that was asked for longest ago is forgotten, and asked for again by who needs it.
// Chunks are named by their places in the order of the lane's ids. Pure and copyable.
class OpenPulls {
 public:
  static constexpr std::size_t kMost = 8;

  void wait(std::uint32_t place, const WantedVersion& wanted);
  void wait_no_more(std::uint32_t place, bool averages);
  // The chunk has come to that version: what waited for it, or for an older one, waits no more.
  std::vector<WantedVersion> came_to(std::uint32_t place, Version newest);

  struct Deferred {
    std::uint32_t place = 0;
    WantedVersion wanted;
  };
  void defer(std::uint32_t place, const WantedVersion& wanted);
  // Of the version that was asked for first, the chunk with the lowest id.
  [[nodiscard]] std::optional<Deferred> first_deferred() const;
  void take(const Deferred& deferred);

  // The lowest version that some chunk waits for; nothing: none waits.
  [[nodiscard]] std::optional<Version> lowest_awaited() const;
  [[nodiscard]] std::size_t deferred() const { return deferred_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(asked_), listed::fixed(deferred_));
  }

 private:
  struct Asked {
    WantedVersion wanted;
    ChunkPlaces waiting;
    ChunkPlaces deferred;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(wanted.version), listed::names(wanted.clock), listed::plain(wanted.averages),
                         listed::parts(waiting, deferred));
    }
  };

  Asked& asked(const WantedVersion& wanted);
  void forget_answered();

  std::deque<Asked> asked_;  // in the order in which they were asked for first
  std::size_t deferred_ = 0;
};

}  // namespace ballast
