// A shell, what it has pending and its world are values: a copy goes its own way, and whoever runs it chooses what
// happens next.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/simulation/shells.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

static_assert(std::is_copy_constructible_v<World>);
static_assert(std::is_copy_constructible_v<LaneShell>);
static_assert(std::is_copy_constructible_v<WorkerShell>);
static_assert(std::is_copy_constructible_v<Pending>);

// Keeps what is pending and sent; nothing fails.
class Shelf final : public Host {
 public:
  struct Kept {
    ProcessId whose = kNobody;
    Wait wait;
    Pending what;
  };

  explicit Shelf(const LifeSpec& life) : Host(life) {}
  Shelf(const Shelf& other) : Host(other.world_), pending(other.pending), sent(other.sent) {}
  Shelf& operator=(const Shelf&) = delete;

  using Host::send;
  [[nodiscard]] Micros now() const override { return 0; }
  void later(ProcessId whose, Wait wait, Pending what) override { pending.push_back({whose, wait, std::move(what)}); }
  void send(const Process& /*from*/, ProcessId /*to*/, Message message, std::optional<Payload> /*payload*/) override {
    sent.push_back(std::move(message));
  }
  [[nodiscard]] ProcessId lead_id() const override { return kLead; }
  [[nodiscard]] bool is_lead(ProcessId process) const override { return process == kLead; }
  [[nodiscard]] bool is_alive(ProcessId /*process*/) const override { return true; }
  [[nodiscard]] const LaneLife* lane_life(ProcessId /*process*/) const override { return nullptr; }
  [[nodiscard]] ProcessId lane_id(std::uint32_t lane, Incarnation /*life*/) const override { return lane + 1; }
  [[nodiscard]] bool write_fails() override { return false; }
  [[nodiscard]] bool copy_fails(std::uint32_t /*shard*/) override { return false; }
  [[nodiscard]] bool draws_unread() override { return false; }
  [[nodiscard]] bool takes_name(RunId /*run*/) override { return false; }
  void drop_connection(ProcessId /*lane*/, ProcessId /*worker*/, ConnectionId /*connection*/) override {}
  [[nodiscard]] std::uint64_t under_way(ProcessId /*lane*/) const override { return 0; }
  [[nodiscard]] ConnectionId newest_connection(ProcessId /*worker*/, ProcessId /*lane*/) override { return 1; }
  void acted(ProcessId /*process*/) override {}
  void wrote_chunk(const LaneLife& /*lane*/) override {}
  [[nodiscard]] bool was_disturbed() const override { return false; }
  void refused_weights(ProcessId /*lane*/) override {}
  void end_server(const LaneLife& /*life*/) override {}
  void departs(const LaneLife& /*life*/, bool /*whole*/, bool /*lost*/) override {}
  void turned_away(ProcessId /*lane*/, const std::string& /*why*/) override {}
  void ledger_written(bool /*goes_back*/) override {}
  [[nodiscard]] bool traces() const override { return false; }
  void say(const std::string& /*line*/) const override {}

  std::vector<Kept> pending;
  std::vector<Message> sent;
};

template <typename What>
const What* first(const Shelf& host) {
  for (const auto& kept : host.pending) {
    if (const auto* own = std::get_if<LanePending>(&kept.what); own != nullptr && std::holds_alternative<What>(*own)) {
      return &std::get<What>(*own);
    }
  }
  return nullptr;
}

TEST_CASE("a lane that is copied before its disk has written goes its own way") {
  const auto life = small_life();
  Shelf host(life);
  host.world().disks.present[0].life.database = 1;
  LaneShell lane(host.world(), 1, 0, 7, 1);
  lane.tick(host, 1'000'000);
  REQUIRE(host.sent.size() == 1);
  CHECK(std::holds_alternative<ShardHello>(host.sent.front()));
  lane.receive(host, kLead, 0, Confirm{7, 1, {0, 0}, false}, std::nullopt);
  const auto* record = first<TimelineRecord>(host);
  REQUIRE(record != nullptr);
  CHECK(host.pending.front().wait.line == Wait::Line::disk);

  Shelf other(host);
  auto copy = lane;
  copy.carry_out(other, LanePending{*record});
  CHECK(other.world().disks.present[0].timeline == 1);
  CHECK(first<BaseLoad>(other) != nullptr);
  CHECK(host.world().disks.present[0].timeline == 0);
  CHECK(first<BaseLoad>(host) == nullptr);
}

TEST_CASE("a worker and its copy do the same with the same pending") {
  const auto life = small_life();
  Shelf host(life);
  WorkerShell worker(host.world(), 3, "worker 1", life.workers.front());
  worker.tick(host, 1'000'000);
  worker.receive(host, kLead, WorkerWelcome{1, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "1"}, {{1, 0}, 1, "2"}}, 1},
                 std::nullopt);
  REQUIRE(host.pending.size() == 1);
  const auto prepared = std::get<WorkerPending>(host.pending.front().what);
  REQUIRE(std::holds_alternative<Preparation>(prepared));

  Shelf other(host);
  auto copy = worker;
  worker.carry_out(host, prepared);
  CHECK(other.sent.size() < host.sent.size());
  copy.carry_out(other, prepared);
  CHECK(other.sent == host.sent);
}

}  // namespace
}  // namespace ballast::simulation
