// What the shells have in common: a name, and an end.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace ballast::simulation {

// At first the lead is 0, the lanes follow in order of shard and lane, then the workers, whose sessions bear this
// number. Who comes later, later lives of lead and lanes included, gets the next number.
using ProcessId = std::uint32_t;
inline constexpr ProcessId kLead = 0;
inline constexpr ProcessId kNobody = ~ProcessId{0};

class Host;

class Process {
 public:
  Process(ProcessId id, std::string name) : id_(id), name_(std::move(name)) {}

  [[nodiscard]] ProcessId id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool crashed() const { return !alive_ && !ended_; }
  // It has left by its own will, well or not.
  [[nodiscard]] bool ended() const { return ended_; }
  // Empty while it runs, after a crash, and if it ended well.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  void die() { alive_ = false; }

  // It need not learn of the job's end: it could not hear of it, or is told to go before.
  void excuse() { excused_ = true; }
  [[nodiscard]] bool excused() const { return excused_; }

 protected:
  void end(const Host& host, const std::string& failure);

 private:
  ProcessId id_;
  std::string name_;
  bool alive_ = true;
  bool ended_ = false;
  bool excused_ = false;
  std::string failure_;
};

}  // namespace ballast::simulation
