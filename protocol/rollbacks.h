// Why a job goes back to its newest complete snapshot, and how often it has, as people and programs are told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ballast {

enum class RollbackCause : std::uint8_t {
  shard,       // one that cannot go on has come in the place of a shard, or of shard 0 and the lead with it
  mark,        // work rested on what a shard has lost
  below_cut,   // a shard has come back with less than a cut that all had come to
  lives,       // a shard has had more lives in the timeline than are remembered
  non_finite,  // a gradient was not finite, and training.non_finite is rollback
  torn,        // contributions that no honest session can have made brought a lane ahead of the others
  unknown,     // counted in a ledger that did not tell causes; none begins for it
};

// Rollbacks of a job, by cause.
struct RollbackCounts {
  std::uint64_t shard = 0;
  std::uint64_t mark = 0;
  std::uint64_t below_cut = 0;
  std::uint64_t lives = 0;
  std::uint64_t non_finite = 0;
  std::uint64_t unknown = 0;
  std::uint64_t torn = 0;

  [[nodiscard]] std::uint64_t of(RollbackCause cause) const;
  void count(RollbackCause cause);
  [[nodiscard]] std::uint64_t total() const { return shard + mark + below_cut + lives + non_finite + unknown + torn; }
  bool operator==(const RollbackCounts&) const = default;
};

// What is told of a cause.
struct RollbackWords {
  RollbackCause cause = RollbackCause::unknown;
  const char* name = "";   // in JSON and as a metric's label
  const char* words = "";  // for people
};

// Of each cause, in order.
inline constexpr std::array<RollbackWords, 7> kRollbackWords = {{
    {RollbackCause::shard, "shard", "a shard could not go on"},
    {RollbackCause::mark, "mark", "something lost had been built upon"},
    {RollbackCause::below_cut, "below_cut", "a shard came back with less than a cut"},
    {RollbackCause::lives, "lives", "a shard had come back too often"},
    {RollbackCause::non_finite, "non_finite", "a gradient was not finite"},
    {RollbackCause::torn, "torn",
     "a lane was brought ahead of the others by contributions that no session can have made"},
    {RollbackCause::unknown, "unknown", "cause not recorded"},
}};

inline constexpr std::array kRollbackCounts = {
    &RollbackCounts::shard,      &RollbackCounts::mark, &RollbackCounts::below_cut, &RollbackCounts::lives,
    &RollbackCounts::non_finite, &RollbackCounts::torn, &RollbackCounts::unknown};
static_assert(kRollbackWords.size() == static_cast<std::size_t>(RollbackCause::unknown) + 1);
static_assert(kRollbackCounts.size() == kRollbackWords.size());
static_assert(sizeof(RollbackCounts) == kRollbackWords.size() * sizeof(std::uint64_t), "each cause has its count");

inline std::uint64_t RollbackCounts::of(RollbackCause cause) const {
  return this->*kRollbackCounts[static_cast<std::size_t>(cause)];
}
inline void RollbackCounts::count(RollbackCause cause) { ++(this->*kRollbackCounts[static_cast<std::size_t>(cause)]); }

}  // namespace ballast
