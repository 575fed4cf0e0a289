// How a server goes that is told to end, by what its lanes say.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace ballast {

enum class Departure : std::uint8_t {
  none,  // it was not told to end, or the job ended before
  held,  // the job holds for it
  at_once,
  out_of_patience,
};

// Pure. Not thread-safe.
class DepartureRecord {
 public:
  void told_to_end(std::string reason) { reason_ = std::move(reason); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool is_told() const { return !reason_.empty(); }
  // A lane is out of patience. Several may be, each with words of its own, before the first one's end the others.
  void lost(const std::string& what) { lost_.insert(what); }
  // A lane lets the server go.
  void let_go() { is_let_go_ = true; }
  [[nodiscard]] bool is_let_go() const { return is_let_go_; }

  // `failure`: the first for which the server ended; empty: it ended without.
  [[nodiscard]] Departure of(const std::string& failure) const {
    if (failure.empty()) {
      return is_let_go_ ? Departure::held : Departure::none;
    }
    return failure == reason_        ? Departure::at_once
           : lost_.contains(failure) ? Departure::out_of_patience
                                     : Departure::none;
  }

 private:
  std::string reason_;
  std::set<std::string> lost_;
  bool is_let_go_ = false;
};

}  // namespace ballast
