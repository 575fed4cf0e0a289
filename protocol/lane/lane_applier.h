// What applies a lane's contributions: rounds or items, chosen once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/lane/item_applier.h"
#include "protocol/lane/round_applier.h"
#include "protocol/state_list.h"

namespace ballast {

// Each operation is told to whichever there is; RoundApplier says what they mean.
// Pure and copyable. Not thread-safe.
class LaneApplier {
 private:
  using Kind = std::variant<RoundApplier, ItemApplier>;

  template <typename Call>
  decltype(auto) visit(Call&& call) {
    return std::visit(std::forward<Call>(call), kind_);
  }
  template <typename Call>
  decltype(auto) visit(Call&& call) const {
    return std::visit(std::forward<Call>(call), kind_);
  }

 public:
  explicit LaneApplier(const LaneConfig& config) : kind_(choose(config)) {}

  Offered offer(SessionId session, const Push& push, PayloadId payload, const FactorPlan& plan) {
    return visit([&](auto& kind) { return kind.offer(session, push, payload, plan); });
  }
  ApplierOutcome measured(const lane::Measured& event, const FactorPlan& plan) {
    return visit([&](auto& kind) { return kind.measured(event, plan); });
  }
  ApplierOutcome planned(const FactorPlan& plan) {
    return visit([&](auto& kind) { return kind.planned(plan); });
  }
  ApplierOutcome committed(std::uint64_t ticket, std::uint64_t sequence, const FactorPlan& plan) {
    return visit([&](auto& kind) { return kind.committed(ticket, sequence, plan); });
  }
  void synced(ItemId before) {
    visit([&](auto& kind) { kind.synced(before); });
  }
  ApplierOutcome go_on(const FactorPlan& plan) {
    return visit([&](auto& kind) { return kind.go_on(plan); });
  }
  std::vector<PayloadId> forget() {
    return visit([](auto& kind) { return kind.forget(); });
  }
  void begin(Step base, Incarnation incarnation) {
    visit([&](auto& kind) { kind.begin(base, incarnation); });
  }
  ResumedItems resume(const lane::Resumed& event) {
    return visit([&](auto& kind) { return kind.resume(event); });
  }

  [[nodiscard]] bool is_of_items() const {
    return visit([](const auto& kind) { return kind.is_of_items(); });
  }
  [[nodiscard]] Slot slots() const {
    return visit([](const auto& kind) { return kind.slots(); });
  }
  [[nodiscard]] std::uint64_t reserve(const LaneConfig& config) const {
    return visit([&](const auto& kind) { return kind.reserve(config); });
  }
  [[nodiscard]] std::uint64_t statistics_room(const LaneConfig& config) const {
    return visit([&](const auto& kind) { return kind.statistics_room(config); });
  }
  [[nodiscard]] Want want(const Work& work, const FactorPlan& plan) const {
    return visit([&](const auto& kind) { return kind.want(work, plan); });
  }
  [[nodiscard]] bool joins(const Work& work) const {
    return visit([&](const auto& kind) { return kind.joins(work); });
  }
  [[nodiscard]] bool holds(const Work& work) const {
    return visit([&](const auto& kind) { return kind.holds(work); });
  }
  [[nodiscard]] std::uint64_t held_bytes() const {
    return visit([](const auto& kind) { return kind.held_bytes(); });
  }
  [[nodiscard]] Spine spine() const {
    return visit([](const auto& kind) { return kind.spine(); });
  }
  [[nodiscard]] std::optional<OldestWanted> oldest_wanted() const {
    return visit([](const auto& kind) { return kind.oldest_wanted(); });
  }

  [[nodiscard]] WeightsReaders& readers() {
    return visit([](auto& kind) -> WeightsReaders& { return kind.readers(); });
  }
  [[nodiscard]] const WeightsReaders& readers() const {
    return visit([](const auto& kind) -> const WeightsReaders& { return kind.readers(); });
  }

  [[nodiscard]] bool has_more() const {
    return visit([](const auto& kind) { return kind.has_more(); });
  }
  // Whether what is applied is committed to the shard's journal, from which another life goes on.
  [[nodiscard]] bool is_journaled() const {
    return visit([](const auto& kind) { return kind.is_journaled(); });
  }
  [[nodiscard]] std::vector<ShardLife> lives() const {
    return visit([](const auto& kind) { return kind.lives(); });
  }
  [[nodiscard]] std::optional<ServedChunk> served(ChunkId id) const {
    return visit([&](const auto& kind) { return kind.served(id); });
  }
  [[nodiscard]] WantedVersion wanted(const Push& push) const {
    return visit([&](const auto& kind) { return kind.wanted(push); });
  }
  [[nodiscard]] Version version_at(Step step) const {
    return visit([&](const auto& kind) { return kind.version_at(step); });
  }
  [[nodiscard]] bool will_be(Version version) const {
    return visit([&](const auto& kind) { return kind.will_be(version); });
  }
  [[nodiscard]] Step open_step() const {
    return visit([](const auto& kind) { return kind.open_step(); });
  }
  [[nodiscard]] bool is_past(Step step) const {
    return visit([&](const auto& kind) { return kind.is_past(step); });
  }
  [[nodiscard]] std::vector<LaneChunk> chunks_at(Step step) const {
    return visit([&](const auto& kind) { return kind.chunks_at(step); });
  }
  [[nodiscard]] bool stands_at(Version known) const {
    return visit([&](const auto& kind) { return kind.stands_at(known); });
  }
  [[nodiscard]] Slot parts_of_step() const {
    return visit([](const auto& kind) { return kind.parts_of_step(); });
  }
  [[nodiscard]] ItemId covered_items() const {
    return visit([](const auto& kind) { return kind.covered_items(); });
  }
  [[nodiscard]] std::uint64_t journal_sequence() const {
    return visit([](const auto& kind) { return kind.journal_sequence(); });
  }
  [[nodiscard]] std::size_t held_payloads() const {
    return visit([](const auto& kind) { return kind.held_payloads(); });
  }
  [[nodiscard]] const ApplierCounters& counters() const {
    return visit([](const auto& kind) -> const ApplierCounters& { return kind.counters(); });
  }
  void tell(LaneReport& report) const {
    visit([&](const auto& kind) { kind.tell(report); });
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(kind_));
  }

 private:
  static Kind choose(const LaneConfig& config) {
    return config.items ? Kind(ItemApplier(config)) : Kind(RoundApplier(config));
  }

  Kind kind_;
};

}  // namespace ballast
