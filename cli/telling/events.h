// A run as JSON lines for programs: one object a line, with `time` (UTC), `event` and what belongs to it. docs/cli.md
// lists the events.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace ballast {

// One thread. Never waits for who reads: what a pipe or a full disk does not take is kept, up to a bound, and then left
// out; the next line that is written says how many were (`left_out`).
class EventStream {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr std::size_t kMostPending = 1 << 20;  // bytes

  // Appends to the file, which is made if need be; a pipe must have a reader. Throws std::runtime_error naming the file
  // and the reason.
  explicit EventStream(const std::string& file);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // `fields`: an object.
  void tell(const std::string& event, Json fields);
  // Why lines are not written now; empty: all are.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  void write_pending();

  std::string file_;
  int fd_;
  std::string pending_;
  std::uint64_t left_out_ = 0;
  std::string trouble_;
};

// Null if no file is named.
std::unique_ptr<EventStream> open_events(const std::string& file);

// "2026-01-31T12:34:56.789Z"
std::string utc_time(int fraction_digits);

}  // namespace ballast
