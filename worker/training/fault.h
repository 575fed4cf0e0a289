// Deaths on demand, so that tests can kill a worker at an exact point of the protocol.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "protocol/ids.h"

namespace ballast {

struct Fault {
  enum class Point : std::uint8_t {
    before_push,     // all is computed, nothing sent
    between_chunks,  // the shard has accepted one chunk and gets no other
    after_receipt,
  };
  Point point = Point::before_push;
  Step step = 0;  // the first step at which it strikes

  // "POINT@STEP", for example "between-chunks@3". Throws std::runtime_error.
  static Fault parse(const std::string& text);
};

inline Fault Fault::parse(const std::string& text) {
  const auto at = text.find('@');
  const auto point = text.substr(0, at);
  Fault fault;
  if (point == "before-push") {
    fault.point = Point::before_push;
  } else if (point == "between-chunks") {
    fault.point = Point::between_chunks;
  } else if (point == "after-receipt") {
    fault.point = Point::after_receipt;
  } else {
    throw std::runtime_error("--fault " + text + ": points are before-push, between-chunks and after-receipt");
  }
  const auto digits = at == std::string::npos ? std::string{} : text.substr(at + 1);
  if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) {
    throw std::runtime_error("--fault " + text + ": say the step after an @, for example " + point + "@3");
  }
  fault.step = std::stoull(digits);
  return fault;
}

// What a fault asks of a worker, push by push and receipt by receipt.
class PlannedDeath {
 public:
  enum class Course : std::uint8_t {
    go_on,
    keep,  // it is not sent
    die,
  };

  explicit PlannedDeath(std::optional<Fault> fault) : fault_(fault) {}

  Course before_push(Step step) {
    if (!fault_ || step < fault_->step) {
      return Course::go_on;
    }
    if (fault_->point == Fault::Point::before_push) {
      return Course::die;
    }
    // All but the first chunk stay; its receipt then brings the end.
    const bool is_first = !std::exchange(pushed_, true);
    return fault_->point == Fault::Point::between_chunks && !is_first ? Course::keep : Course::go_on;
  }
  [[nodiscard]] Course at_receipt(Step step) const {
    const bool strikes = fault_ && step >= fault_->step && fault_->point != Fault::Point::before_push;
    return strikes ? Course::die : Course::go_on;
  }

 private:
  std::optional<Fault> fault_;
  bool pushed_ = false;  // a chunk, where the fault strikes
};

[[noreturn]] inline void die_now() {
  std::raise(SIGKILL);
  std::abort();
}

}  // namespace ballast
