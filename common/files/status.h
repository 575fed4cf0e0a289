// How storage reports failure: error values with a text for a person. Nothing on a disk can throw or abort.
#pragma once

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace ballast {

enum class StoreCode : std::uint8_t {
  ok,
  missing,        // no database there
  in_use,         // another process has it open
  mismatch,       // a database of another job, shard, layout or format
  corrupt,        // bytes that are not what was written
  no_space,       // the disk is full, or the quota used up: the same may work once there is room
  no_descriptor,  // the process or the system has no file descriptor left: the same may work once one is free
  busy,           // what must be closed first is being read: the same may work once that is done
  no_key,  // encrypted by a key that is not at hand, or not encrypted where a key is: another key, or none, reads it
  io,      // the disk or the operating system refused for another reason
};

// Of a system call that failed with this errno.
inline StoreCode code_of(int error) {
  return error == ENOSPC || error == EDQUOT   ? StoreCode::no_space
         : error == EMFILE || error == ENFILE ? StoreCode::no_descriptor
                                              : StoreCode::io;
}

// Whether the same may work later though nobody starts anything again.
inline bool may_work_later(StoreCode code) {
  return code == StoreCode::no_space || code == StoreCode::no_descriptor || code == StoreCode::busy;
}

// What to do about a damaged database; the end of every text that tells of one.
inline constexpr std::string_view kDamageRemedy =
    "build a new run folder from a copy by `ballast restore`, or start the job again in a new one";

// What to do about another failure of a disk, before the same is tried again by itself or by a person.
inline constexpr std::string_view disk_remedy(StoreCode code) {
  switch (code) {
    case StoreCode::no_space:
      return "the disk is full: make room on it";
    case StoreCode::no_descriptor:
      return "it goes on when one is free; raise the limit of open files (ulimit -n)";
    default:
      return "see that the disk is well and that its file system may be written";
  }
}

// The outcome of a storage operation. A text names the database and, where there is one, the key and the remedy.
class [[nodiscard]] StoreStatus {
 public:
  StoreStatus() = default;
  StoreStatus(StoreCode code, std::string text) : code_(code), text_(std::move(text)) {}

  [[nodiscard]] bool ok() const { return code_ == StoreCode::ok; }
  [[nodiscard]] StoreCode code() const { return code_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  StoreCode code_ = StoreCode::ok;
  std::string text_;
};

// A value, or why there is none.
template <typename T>
class [[nodiscard]] StoreResult {
 public:
  StoreResult(T value) : state_(std::move(value)) {}              // NOLINT: both convert on return
  StoreResult(StoreStatus status) : state_(std::move(status)) {}  // NOLINT; never an ok status

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  [[nodiscard]] const StoreStatus& status() const { return std::get<StoreStatus>(state_); }
  [[nodiscard]] const T& value() const { return std::get<T>(state_); }
  [[nodiscard]] T& value() { return std::get<T>(state_); }

 private:
  std::variant<T, StoreStatus> state_;
};

// For programs' own courses, which end by an exception: the status' text as a std::runtime_error.
inline void throw_unless_ok(const StoreStatus& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.text());
  }
}
// The value, or the same of its status.
template <typename T>
T value_or_throw(StoreResult<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(result.status().text());
  }
  return std::move(result.value());
}

}  // namespace ballast
