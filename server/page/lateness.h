// How late each worker was in the last steps, as one lane sees it: the heatmap of the lead's page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// A worker's lateness in a step: from the moment at which the lane had the first contribution of anybody to it until it
// had this worker's first one. A step, or as many as begin within kEach, is a column; it has each worker's largest
// lateness in them. A worker has a row for as long as there is no place for another one that contributes.
//
// One thread contributes, any may read. It takes kColumns * kRows bytes at most, and what a row needs.
class Lateness {
 public:
  static constexpr std::size_t kColumns = 200;
  static constexpr std::size_t kRows = kMaxSessions;
  static constexpr Micros kEach = 500'000;

  // What a column says of a worker: a logarithm, so that a byte holds microseconds and minutes.
  static constexpr std::uint8_t kAbsent = 0;        // it contributed to none of the steps
  static constexpr std::uint8_t kLongest = 254;     // about 230 s, or longer
  static constexpr std::uint8_t kStepBehind = 255;  // it contributed to a step when others did to a later one
  static std::uint8_t code_of(Micros late);         // 1 to kLongest: 1 + 12 * log2(1 + late / 100)

  void contributed(SessionId session, Timeline timeline, Step step, Micros now);

  struct Column {
    Step first = 0;
    Step last = 0;
    Micros began = 0;                 // when the first step did
    Micros ended = 0;                 // when the step after the last one began; 0: it has not
    std::vector<std::uint8_t> codes;  // by row; rows beyond are absent
  };
  struct Part {
    std::uint64_t from = 0;       // the number of the first one, counted from the first ever
    std::vector<Column> columns;  // the last one may still change
  };
  // The columns from a number on, as far as they are there.
  [[nodiscard]] Part read(std::uint64_t from) const;
  // How many there have been.
  [[nodiscard]] std::uint64_t columns() const;
  // Whose row each is now.
  [[nodiscard]] std::vector<SessionId> rows() const;

 private:
  struct Row {
    SessionId session = 0;
    Timeline timeline = 0;  // of the step that it contributed to last
    Step step = 0;
    bool has_contributed = false;
  };

  void begin(Timeline timeline, Step step, Micros now);
  std::size_t row_of(SessionId session);
  [[nodiscard]] std::size_t oldest_row() const;

  mutable std::mutex mutex_;
  std::deque<Column> columns_;
  std::uint64_t forgotten_ = 0;  // columns
  std::vector<Row> rows_;
  std::unordered_map<SessionId, std::size_t> row_by_session_;
  bool has_begun_ = false;
  Timeline timeline_ = 0;  // of the newest step
  Step newest_ = 0;
  Micros newest_at_ = 0;
  // Of the contributor alone: most contributions are further ones of the worker and step before.
  SessionId last_session_ = 0;
  Timeline last_timeline_ = 0;
  Step last_step_ = 0;
};

}  // namespace ballast
