#include "tests/scenarios/scenarios.h"

#include <memory>
#include <optional>
#include <utility>

namespace ballast::scenarios {

namespace {

using simulation::Fate;
using simulation::LifeSpec;
using simulation::ProcessId;

constexpr ProcessId kLane0 = 1;  // the lead is 0
constexpr ProcessId kLane1 = 2;
constexpr ProcessId kWorker1 = 3;
constexpr ProcessId kWorker2 = 4;
constexpr ProcessId kWorker3 = 5;
constexpr Micros kMilli = 1'000;
// Until it is durable by whose data and arithmetic the first worker works; no order is given before.
constexpr Micros kFirstLedger = 2'500;
constexpr Fate kLost{0, 0};

// Two shards of one lane; lane 0.0 has chunk 0, lane 1.0 the statistics. Every message takes a millisecond.
LifeSpec small(Slot slots, Step steps, std::uint32_t workers) {
  LifeSpec life;
  life.slots = slots;
  life.steps = steps;
  life.steps_per_epoch = steps;
  life.start_workers = workers;
  life.chunks = {{100, 0}, {20, 1}};
  life.workers.assign(workers, {0, kMilli, kMilli});
  life.spare_bytes = 10'000;
  life.reply_window_bytes = 10'000;
  life.delay_low = kMilli;
  life.release_high = kMilli;
  life.storage_high = 2 * kMilli;
  life.prepare_high = kMilli;
  life.random_clocks = false;
  return life;
}

Scenario plain() {
  return {"plain-step",
          "One step of two workers with two slots each, from the first hello to the end.",
          small(4, 1, 2),
          [](ProcessId, ProcessId, const Message&) { return std::nullopt; },
          {}};
}

Scenario late_slots() {
  Scenario scenario{
      "late-slots-brought-by-another",
      "Worker 2 is slow, and worker 1's connection to lane 1.0 ends with each payload. So slots 0 to 3 are late, and\n"
      "worker 3, which has nothing left to bring, computes them as well. Lane 0.0 has two of them already: it answers\n"
      "that offer with a receipt, and never calls the payload.",
      small(6, 1, 3),
      [](ProcessId from, ProcessId to, const Message& message) -> std::optional<Fate> {
        if (from == kWorker1 && to == kLane1 && std::holds_alternative<Push>(message)) {
          return kLost;
        }
        return std::nullopt;
      },
      {}};
  scenario.life.workers[1] = {0, 300 * kMilli, 300 * kMilli};
  return scenario;
}

Scenario late_joiner() {
  Scenario scenario{
      "late-joiner-meets-gone",
      "Worker 3 joins during step 1 and is tried with a step's last slot: that of step 1 comes too late, that of step "
      "2 is\n"
      "the first to come, so it is given slots of step 3. It pulls version 3 for 195 ms, and nobody waits for it.",
      small(6, 6, 2),
      [pulls = 0](ProcessId from, ProcessId, const Message& message) mutable -> std::optional<Fate> {
        const auto* pull = std::get_if<Pull>(&message);
        if (from == kWorker3 && pull != nullptr && pull->version == 3) {
          return ++pulls <= 2 ? Fate{1, 195 * kMilli} : kLost;
        }
        return std::nullopt;
      },
      [](simulation::Cluster& cluster) {
        cluster.at(24 * kMilli + kFirstLedger, [&cluster] { cluster.join({0, kMilli, kMilli}); });
      }};
  scenario.life.retry = {150 * kMilli, 250 * kMilli, 300 * kMilli};
  return scenario;
}

Scenario lost_receipt() {
  Scenario scenario{
      "receipt-lost-with-its-connection",
      "While worker 1 still computes, worker 2's connection to lane 0.0 ends, and with it a receipt that was on its "
      "way.\n"
      "Worker 2 connects anew and offers what it has no receipt of. The lane has that already: it says so again, and\n"
      "nothing is sent twice. The same happens to the second receipt.",
      small(4, 1, 2),
      [lost = 0](ProcessId from, ProcessId to, const Message& message) mutable -> std::optional<Fate> {
        if (from == kLane0 && to == kWorker2 && std::holds_alternative<Receipt>(message) && ++lost <= 2) {
          return kLost;
        }
        return std::nullopt;
      },
      {}};
  scenario.life.workers[0] = {0, 20 * kMilli, 10 * kMilli};
  return scenario;
}

Scenario lost_worker() {
  return {"worker-lost-in-mid-step",
          "Worker 2 dies when it has sent half of its part of step 1. It is silent, so the lead sends it its order "
          "again and\n"
          "learns that nobody is connected: worker 2 is suspected. Worker 1, which has nothing left, computes its "
          "slots, and\n"
          "has all slots of the steps from 2 on, while the lead still waits for worker 2 to come back.",
          small(4, 7, 2), [](ProcessId, ProcessId, const Message&) { return std::nullopt; },
          [](simulation::Cluster& cluster) {
            cluster.at(24 * kMilli + kFirstLedger, [&cluster] { cluster.crash(kWorker2); });
          }};
}

// With a snapshot at every second step.
LifeSpec with_snapshots(Step steps) {
  auto life = small(2, steps, 1);
  life.snapshot_every = 2;
  return life;
}

std::optional<Fate> in_time(ProcessId, ProcessId, const Message&) { return std::nullopt; }

Scenario shard_death() {
  return {
      "shard-dies-and-comes-back",
      "Shard 1 crashes when the snapshot of step 2 is complete, and comes back 10 ms later as another life. The lead\n"
      "writes a new timeline into its ledger, with that snapshot as its base, and only then confirms it to both\n"
      "shards. What the worker did on the older timeline after step 2 is lost with it, and done again.",
      with_snapshots(4), in_time, [](simulation::Cluster& cluster) {
        cluster.at(36 * kMilli + kFirstLedger, [&cluster] { cluster.crash_shard(1, 10 * kMilli); });
      }};
}

Scenario shard_0_death() {
  return {"shard-0-dies-with-the-lead",
          "Shard 0 crashes with the lead that it hosts. The next lead knows what the ledger says and nothing else: it\n"
          "has shard 1 and the worker say hello again, finds a life of shard 0 that the timeline does not list, and\n"
          "begins the next one.",
          with_snapshots(4), in_time, [](simulation::Cluster& cluster) {
            cluster.at(36 * kMilli + kFirstLedger, [&cluster] { cluster.crash_shard(0, 10 * kMilli); });
          }};
}

Scenario skipped_step() {
  auto life = small(2, 2, 1);
  life.non_finite = NonFinite::skip;
  life.non_finite_gradients = {{0, 0, 1}};
  return {
      "step-skipped-for-its-gradient",
      "The gradient of slot 1 of step 0 is not finite. The lead writes \"skip step 0\" into its ledger before it says\n"
      "so to the shards, which leave their weights as they are. Every step waits for its decision.",
      life,
      in_time,
      {}};
}

Scenario clipped_step() {
  auto life = small(2, 2, 1);
  life.norms = {{0}, {}};
  life.norm_count = 1;
  return {
      "step-clipped-by-norm",
      "The job clips by norm: a step's factors are known when the lead has seen the measures of all its chunks, so\n"
      "that covered chunks wait for a plan.",
      life,
      in_time,
      {}};
}

Scenario scaled_step() {
  auto life = small(2, 2, 1);
  life.norms = {{0, 1}, {}};
  life.norm_count = 2;
  life.norms_for = simulation::LifeNorms::lamb;
  return {"step-with-trust-ratios",
          "The job's optimizer is lamb. A plan ends with the prospect of the first undecided update, by which a lane "
          "takes\n"
          "the norms of weights and update as soon as a chunk is covered. The next plan brings the ratios.",
          life,
          in_time,
          {}};
}

Scenario late_prospect() {
  auto life = small(2, 1, 1);
  life.chunks = {{100, 0}, {60, 1}, {60, 1}, {20, 1}};
  life.norms = {{0, 1}, {0, 1, 2, 3}, {2, 3}, {}};
  life.norm_count = 4;
  life.norms_for = simulation::LifeNorms::lamb;
  return {
      "prospect-comes-late",
      "As before, with two tensors, of which one spans both lanes. The plan with the prospect of update 0 takes 15 ms\n"
      "to lane 1.0, whose chunks are covered earlier. They are measured when it comes, one for each event, and not\n"
      "before.",
      life,
      [](ProcessId, ProcessId to, const Message& message) -> std::optional<Fate> {
        const auto* plan = std::get_if<Plan>(&message);
        if (to == kLane1 && plan != nullptr && plan->first == 0 && plan->factors.empty()) {
          return Fate{1, 15 * kMilli};
        }
        return std::nullopt;
      },
      {}};
}

Scenario paused() {
  return {"paused-and-resumed",
          "The user pauses the job, which holds at a version that nobody has passed and takes a snapshot of it; later\n"
          "it goes on from there.",
          small(2, 6, 1), in_time, [](simulation::Cluster& cluster) {
            cluster.at(20 * kMilli + kFirstLedger, [&cluster] { cluster.command(Control::Command::pause); });
            cluster.at(80 * kMilli + kFirstLedger, [&cluster] { cluster.command(Control::Command::resume); });
          }};
}

Scenario told_to_end() {
  return {"server-told-to-end",
          "The server of shard 1 is told to end. All hold for it at a snapshot that nobody has passed; when that is\n"
          "durable it goes, and with its next life a timeline begins from there: nothing is computed twice.",
          small(2, 6, 1), in_time, [](simulation::Cluster& cluster) {
            cluster.at(20 * kMilli + kFirstLedger, [&cluster] { cluster.tell_to_end(1, 10 * kMilli); });
          }};
}

// Snapshots of each second step, which are copied at once; shard 1 has a chunk of the model as well.
LifeSpec restoring() {
  auto life = with_snapshots(8);
  life.chunks = {{100, 0}, {50, 1}, {20, 1}};
  life.copies = true;
  life.restores = true;
  life.copy_high = 2 * kMilli;
  life.copy_patience = 1'000 * kMilli;
  life.shard_silence = {20 * kMilli, 30 * kMilli, 40 * kMilli};
  return life;
}

Scenario disk_lost() {
  return {"disk-lost-and-restored",
          "Shard 1 crashes, and its disk is lost. Its next life comes with an empty one, finds what is copied, and is\n"
          "taken when the one before has been silent for long enough. The job goes back to the newest copy: shard 1\n"
          "gets its part of it from there, shard 0 has its own still.",
          restoring(), in_time, [](simulation::Cluster& cluster) {
            cluster.at(60 * kMilli, [&cluster] { cluster.lose_shard(1, 10 * kMilli); });
          }};
}

Scenario damaged_copy() {
  return {
      "damaged-copy-passed-over",
      "The same, and shard 1's part of the newest copy is damaged. It finds that out when it gets it; the job goes\n"
      "on from the next older copy.",
      restoring(), in_time, [](simulation::Cluster& cluster) {
        cluster.at(75 * kMilli, [&cluster] { cluster.lose_shard(1, 10 * kMilli, true); });
      }};
}

Scenario held_too_early() {
  const auto is_mute = std::make_shared<bool>(false);
  Scenario scenario{
      "hold-moves-with-a-late-plan",
      "Nothing that the worker says reaches the lead any more, so that it is given up; but it goes on by the order "
      "that "
      "it\n"
      "has. The server of shard 1 is told to end while all stand at the snapshot of step 2, as far as the lead has "
      "heard.\n"
      "The plan that ends there comes late to lane 0.0, which has gone on. The lead waits for its word, and all hold "
      "at\n"
      "step 3 instead.",
      with_snapshots(5),
      [is_mute](ProcessId from, ProcessId to, const Message& message) -> std::optional<Fate> {
        const auto* plan = std::get_if<Plan>(&message);
        if (to == kLane0 && plan != nullptr && plan->until == 2) {
          return Fate{1, 20 * kMilli};
        }
        return from == kWorker1 && to == 0 && *is_mute ? std::optional(kLost) : std::nullopt;
      },
      [is_mute](simulation::Cluster& cluster) {
        cluster.at(30 * kMilli, [is_mute] { *is_mute = true; });
        cluster.at(190 * kMilli, [&cluster] { cluster.tell_to_end(1, 10 * kMilli); });
        cluster.at(240 * kMilli, [is_mute] { *is_mute = false; });
      }};
  scenario.life.workers[0] = {0, 20 * kMilli, 10 * kMilli};
  return scenario;
}

Scenario averaged() {
  auto life = small(2, 2, 1);
  life.averaged_from = 1;
  life.evaluate_every = 1;
  life.validation_examples = 10;
  return {
      "averages-evaluated",
      "The job averages its weights from version 1 on. At each version the worker pulls the averages and evaluates\n"
      "them; then it pulls the weights of that version, and goes on from them.",
      life,
      in_time,
      {}};
}

// ---- each item an update of its own

LifeSpec items(Slot slots, Step steps, std::uint32_t workers, simulation::LifeItems rules) {
  auto life = small(slots, steps, workers);
  life.items = rules;
  return life;
}

simulation::LifeItems journaled(simulation::LifeItems::Journal journal) { return {0, 1, false, journal}; }

Scenario async_item() {
  return {"async-item",
          "One item of one worker, with a journal that is synced: granted, computed, appended, committed, applied and "
          "only\n"
          "then receipted. The worker says that it has delivered it, and is granted the next one.",
          items(2, 1, 1, journaled(simulation::LifeItems::Journal::always)),
          in_time,
          {}};
}

Scenario two_stale() {
  Scenario scenario{
      "async-two-workers",
      "Two workers without a journal. Worker 2 is slower: while it computes an item, worker 1 brings two, and\n"
      "so what worker 2 pushes was computed from versions two updates old.",
      items(4, 1, 2, {0, 1, false, simulation::LifeItems::Journal::none}),
      in_time,
      {}};
  scenario.life.workers[1] = {0, 10 * kMilli, 4 * kMilli};
  return scenario;
}

Scenario straggler() {
  Scenario scenario{
      "ssp-straggler",
      "With a bound of 2, worker 2 computes its first item for 40 ms. Worker 1 is granted items until worker 2's\n"
      "would become too stale by another one; then it gets none until worker 2 has delivered its own.",
      items(6, 1, 2, {2, 1, false, simulation::LifeItems::Journal::none}),
      in_time,
      {}};
  scenario.life.workers[1] = {0, 35 * kMilli, 5 * kMilli};
  scenario.life.late.floor = 60 * kMilli;  // it is slow, not late
  return scenario;
}

Scenario hanging() {
  Scenario scenario{
      "ssp-worker-hangs",
      "With a bound of 2, worker 2 says that it is ready and never ends its first item. When that is late, worker 1 "
      "is\n"
      "granted it as well, though nothing new may be granted. Then worker 2's grant counts no more, and it gets no\n"
      "other: worker 1 brings all items, and evaluates.",
      items(6, 1, 2, {2, 1, false, simulation::LifeItems::Journal::none}),
      in_time,
      {}};
  scenario.life.workers[1] = {0, 3'600'000 * kMilli, kMilli};
  scenario.life.test_examples = 10;
  return scenario;
}

Scenario journaled_crash() {
  return {"journaled-shard-resumes",
          "Shard 1 is killed and comes back 10 ms later. It has its journal: the lead writes its new life into the "
          "ledger,\n"
          "with a larger placement, and lets it go on in the same timeline. Nothing that had a receipt is done again.",
          items(4, 2, 1, journaled(simulation::LifeItems::Journal::always)), in_time, [](simulation::Cluster& cluster) {
            cluster.at(36 * kMilli + kFirstLedger, [&cluster] { cluster.crash_shard(1, 10 * kMilli); });
          }};
}

Scenario power_cut() {
  Scenario scenario{
      "power-cut-rolls-back",
      "The journal is never synced, and a power cut takes what shard 0 had committed. The worker has computed from "
      "it,\n"
      "and shard 1 has applied that: its marks name more than shard 0's journal now begins with. So the job goes back\n"
      "as a whole, to the newest complete snapshot.",
      items(4, 2, 1, journaled(simulation::LifeItems::Journal::never)), in_time, [](simulation::Cluster& cluster) {
        cluster.at(36 * kMilli + kFirstLedger, [&cluster] { cluster.crash_shard(0, 10 * kMilli); });
      }};
  scenario.life.faults.power_cut = 1;
  return scenario;
}

Scenario stop_taken_back() {
  auto life = items(2, 3, 1, journaled(simulation::LifeItems::Journal::never));
  life.storage_high = 20 * kMilli;
  return {
      "stop-taken-back-while-its-cut-is-written",
      "The user stops the job, and takes it back while the ledger writes the cut that all have come to. A plan that\n"
      "goes beyond it is sent only when it is durable.",
      life, in_time, [](simulation::Cluster& cluster) {
        cluster.at(90 * kMilli, [&cluster] { cluster.command(Control::Command::stop); });
        cluster.at(160 * kMilli, [&cluster] { cluster.command(Control::Command::resume); });
      }};
}

// The second lead's orders to lane 1.0 are lost for a while, and so the lane goes by the first one's.
Scenario pause_that_moves() {
  return {
      "pause-follows-a-late-item",
      "A pause holds at step 1, and is over. Then the lead dies with shard 0, when it has granted item 2, whose push "
      "to\n"
      "lane 1.0 takes 90 ms. The user pauses the job again, and the next lead, which knows nothing of the item, finds\n"
      "all at step 1. But lane 1.0 goes by the older plan as long as it has heard of no other, and takes the item. So\n"
      "only reports by the new plan count, and the pause moves on to step 2.",
      items(2, 3, 1, journaled(simulation::LifeItems::Journal::always)),
      [pushes = 0, plans = 0](ProcessId, ProcessId to, const Message& message) mutable -> std::optional<Fate> {
        if (const auto* push = std::get_if<Push>(&message); push != nullptr && push->step == 1 && ++pushes <= 2) {
          return to == kLane1 ? Fate{1, 90 * kMilli} : kLost;
        }
        if (const auto* plan = std::get_if<Plan>(&message); plan != nullptr && to == kLane1) {
          return plan->number.life == 2 && ++plans <= 5 ? std::optional(kLost) : std::nullopt;
        }
        return std::nullopt;
      },
      [](simulation::Cluster& cluster) {
        cluster.at(20 * kMilli, [&cluster] { cluster.command(Control::Command::pause); });
        cluster.at(60 * kMilli, [&cluster] { cluster.command(Control::Command::resume); });
        cluster.at(75 * kMilli, [&cluster] { cluster.crash_shard(0, 5 * kMilli); });
        cluster.at(81 * kMilli, [&cluster] { cluster.command(Control::Command::pause); });
        cluster.at(170 * kMilli, [&cluster] { cluster.resume_when_paused(); });
      }};
}

Scenario item_granted_again() {
  return {
      "lost-workers-item-granted-again",
      "Worker 2 dies while it computes an item. After 120 ms without a word it is lost, its grant is forgotten, and\n"
      "worker 1 is granted the item.",
      items(4, 2, 2, {0, 1, false, simulation::LifeItems::Journal::none}), in_time, [](simulation::Cluster& cluster) {
        cluster.at(22 * kMilli + kFirstLedger, [&cluster] { cluster.crash(kWorker2); });
      }};
}

Scenario expired() {
  Scenario scenario{
      "late-contribution-expires",
      "Nothing that worker 2 tells the lead arrives, so that it is taken for dead, and its item granted again, to\n"
      "worker 3, which is slow. Worker 1 brings another one meanwhile. With a bound of 1, what worker 2 brings at "
      "last\n"
      "comes from weights that are too old: it has expired, and its other part is not even sent.",
      items(6, 1, 3, {1, 1, false, simulation::LifeItems::Journal::none}),
      [](ProcessId from, ProcessId to, const Message& message) -> std::optional<Fate> {
        if (from == kWorker2 && to == 0 && std::holds_alternative<Heartbeat>(message)) {
          return std::get<Heartbeat>(message).order != kNoLeadNumber ? std::optional(kLost) : std::nullopt;
        }
        return std::nullopt;
      },
      {}};
  scenario.life.workers[2] = {0, 130 * kMilli, 40 * kMilli};
  scenario.life.workers[1] = {0, 120 * kMilli, 40 * kMilli};
  scenario.life.late = {500 * kMilli, 500 * kMilli, 500 * kMilli};  // nobody helps before
  return scenario;
}

}  // namespace

void live(const Scenario& scenario, std::function<void(const std::string&)> trace) {
  simulation::Cluster cluster(scenario.life);
  cluster.brief = true;
  cluster.trace = std::move(trace);
  cluster.follow(scenario.script);
  if (scenario.prepare) {
    scenario.prepare(cluster);
  }
  cluster.run();
}

std::vector<Scenario> all() {
  return {plain(),           late_slots(),       late_joiner(),  lost_receipt(),       lost_worker(),
          shard_death(),     shard_0_death(),    skipped_step(), clipped_step(),       scaled_step(),
          late_prospect(),   paused(),           async_item(),   two_stale(),          straggler(),
          hanging(),         journaled_crash(),  power_cut(),    item_granted_again(), expired(),
          stop_taken_back(), pause_that_moves(), averaged(),     told_to_end(),        held_too_early(),
          disk_lost(),       damaged_copy()};
}

}  // namespace ballast::scenarios
