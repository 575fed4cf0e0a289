#include "cli/models/inspect.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/models/opened_run.h"
#include "cli/run_folder/settle.h"
#include "common/arena/placement.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/telling/quality.h"
#include "common/telling/rollbacks.h"
#include "protocol/lead/validation.h"
#include "storage/journal/journal.h"
#include "storage/journal/journal_scan.h"
#include "storage/store/layout_difference.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostProblems = 50;  // told; more are counted

std::uint64_t bytes_on_disk(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;  // a running server makes and removes files meanwhile
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const auto size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    bytes += gone ? 0 : size;
  }
  return bytes;
}

// Gathers the state of a run, database by database.
class Inspection {
 public:
  Inspection(std::string folder, bool verify) : verify_(verify) { state_.folder = std::move(folder); }

  RunState take() {
    settle_run_folder(state_.folder);
    const auto databases = value_or_throw(find_shard_databases(state_.folder));
    for (const auto& database : databases) {
      state_.disk.push_back(bytes_on_disk(database));
      look_into(database);
    }
    check_shards(databases.size());
    for (const auto& [id, snapshot] : snapshots_) {
      state_.snapshots.push_back(snapshot);
    }
    check_snapshots();
    return std::move(state_);
  }

 private:
  void problem(std::string text) { state_.problems.push_back(std::move(text)); }

  // The value, or nothing and a problem more.
  template <typename T>
  std::optional<T> good(StoreResult<T> result) {
    if (!result.ok()) {
      problem(result.status().text());
      return std::nullopt;
    }
    return std::move(result.value());
  }

  void look_into(const fs::path& database) {
    auto opened = good(open_rocksdb(database, OpenMode::read_only));
    if (!opened) {
      return;
    }
    const ShardStore store(std::move(*opened));
    if (verify_) {
      verify(store);
    }
    const auto identity = good(store.identity());
    if (!identity) {
      return;
    }
    if (!*identity) {
      return problem(store.path() + ": the database has no identity: it is not a shard's, or was never used; " +
                     std::string(kDamageRemedy));
    }
    take_identity(store.path(), **identity);
    take_journal(database, **identity);
    if ((*identity)->shard == 0) {
      take_ledger(store);
    }
    if (const auto listed = good(store.list_snapshots())) {
      for (const auto& listing : *listed) {
        take_listing((*identity)->shard, listing);
      }
    }
  }

  void verify(const ShardStore& store) {
    const auto status = store.verify([&](std::string_view, std::size_t, const StoreStatus& record) {
      ++state_.records;
      if (!record.ok()) {
        problem(record.text());
        told_by_record_ = true;
      }
    });
    if (!status.ok() && !std::exchange(told_by_record_, false)) {
      problem(status.text());
    }
  }

  void take_identity(const std::string& path, const Identity& identity) {
    if (!state_.identity) {
      state_.identity = identity;
      count_chunks(path);
    } else if (state_.identity->spec_digest != identity.spec_digest || state_.identity->shards != identity.shards) {
      problem(path + ": belongs to job " + identity.job + " of " + count_text(identity.shards, "shard") +
              ", unlike the first shard: put the databases of one run into one folder");
    }
  }

  void take_journal(const fs::path& database, const Identity& identity) {
    const auto folder = Journal::folder_in(database);
    if (!fs::exists(folder)) {
      return;
    }
    const auto scan =
        good(scan_journal(system_journal_files(), folder, {identity.job, identity.spec_digest, identity.shard}));
    if (!scan || scan->segments.empty()) {
      return;
    }
    JournalState journal;
    journal.shard = identity.shard;
    journal.segments = scan->segments.size();
    for (const auto& segment : scan->segments) {
      journal.records += segment.next - segment.header.first;
      journal.bytes += segment.end - segment.begin;
    }
    const auto& newest = scan->segments.back();
    journal.timeline = newest.header.timeline;
    journal.lives = newest.header.lives;
    journal.last = newest.next - 1;
    journal.cut_bytes = scan->cut ? scan->cut->bytes : 0;
    state_.journals.push_back(std::move(journal));
  }

  void count_chunks(const std::string& path) {
    try {
      const auto job = make_job(parse_job(state_.identity->effective_job, path + " (its job)"));
      draws_ = job.spec.training.init_from.empty();
      state_.best_by = best_by(job.spec.training, metric_rules(job.spec.model, job.shape));
      if (job.layout_digest != state_.identity->layout_digest) {
        problem(path + ": " + other_layout_text(state_.identity->layout_digest, job.layout_digest));
        return;
      }
      const Placement placement(job.arena, state_.identity->shards, 1);
      for (std::uint32_t shard = 0; shard < state_.identity->shards; ++shard) {
        state_.chunks.push_back(placement.of_model(shard).size());
      }
    } catch (const std::exception& error) {
      problem(path + ": its job cannot be read by this program: " + error.what());
    }
  }

  void take_ledger(const ShardStore& store) {
    if (auto ledger = good(store.read_ledger())) {
      state_.ledger = std::move(*ledger);
      for (const auto& id : state_.ledger.ledger.complete) {
        snapshot(id).complete = true;
      }
      if (state_.ledger.ledger.best) {
        snapshot(*state_.ledger.ledger.best).best = true;
      }
      if (state_.ledger.ledger.finished) {
        snapshot(*state_.ledger.ledger.finished).finished = true;
      }
    }
  }

  void take_listing(std::uint32_t shard, const SnapshotListing& listing) {
    auto& known = snapshot(listing.id);
    if (shard < known.chunks.size()) {
      known.chunks[shard] = listing.chunks;
    }
    known.bytes += listing.bytes;
  }

  SnapshotState& snapshot(const SnapshotId& id) {
    auto& known = snapshots_[id];
    known.id = id;
    known.chunks.resize(state_.chunks.size());
    return known;
  }

  void check_shards(std::size_t found) {
    const auto wanted = state_.identity ? state_.identity->shards : found;
    if (found < wanted) {
      problem(shard_database(state_.folder, static_cast<std::uint32_t>(found)).string() +
              ": there is no database of shard " + std::to_string(found) + ", the job has " + std::to_string(wanted) +
              ": put it back, or " + std::string(kDamageRemedy));
    }
  }

  // What the ledger calls complete must be there.
  void check_snapshots() {
    for (auto& snapshot : state_.snapshots) {
      snapshot.drawn = draws_ && snapshot.id == SnapshotId{};
      snapshot.whole = snapshot.drawn || snapshot.chunks == state_.chunks;
      for (std::size_t shard = 0; shard < state_.chunks.size() && snapshot.complete && !snapshot.whole; ++shard) {
        if (snapshot.chunks[shard] != state_.chunks[shard] && shard < state_.disk.size()) {
          problem(shard_database(state_.folder, static_cast<std::uint32_t>(shard)).string() + ": the snapshot of " +
                  describe(snapshot.id) + " is complete by the ledger, but has " +
                  std::to_string(snapshot.chunks[shard]) + " of " + count_text(state_.chunks[shard], "chunk") +
                  " here; " + std::string(kDamageRemedy));
        }
      }
    }
  }

  bool verify_;
  bool told_by_record_ = false;
  bool draws_ = false;  // the weights before the first step, which are then not kept
  RunState state_;
  std::map<SnapshotId, SnapshotState> snapshots_;
};

// ---- for people

// " by accuracy"
std::string by_text(const RunState& state) {
  return state.best_by ? std::string(" by ") + name_of(*state.best_by) : std::string();
}

// The evaluation that is the best one's; null if there is none.
const EvaluationRecord* best_of(const RunState& state) {
  return state.best_by ? best_validation(state.ledger.evaluations, *state.best_by) : nullptr;
}

std::string words_of(const SnapshotState& snapshot, const RunState& state) {
  if (snapshot.drawn) {
    return "the initial weights, drawn from the seed and not kept";
  }
  const bool superseded = std::any_of(state.snapshots.begin(), state.snapshots.end(),
                                      [&](const auto& other) { return other.complete && snapshot.id < other.id; });
  std::string text = snapshot.complete ? "complete" : superseded ? "superseded by a newer one" : "not complete";
  text += snapshot.finished ? ", the job's end" : "";
  text += snapshot.best ? ", the best" + by_text(state) : "";
  for (std::size_t shard = 0; !snapshot.whole && shard < snapshot.chunks.size(); ++shard) {
    text += ", shard " + std::to_string(shard) + " has " + std::to_string(snapshot.chunks[shard]) + " of " +
            count_text(state.chunks[shard], "chunk");
  }
  return text + ", " + bytes_text(snapshot.bytes);
}

void print_ledger(const Ledger& ledger) {
  if (ledger.timeline == 0) {
    std::printf("ledger      none: the job never began\n");
    return;
  }
  std::printf("timeline    %llu, begun at step %llu of timeline %llu\n", number(ledger.timeline),
              number(ledger.base.step), number(ledger.base.timeline));
  const auto causes = causes_text(ledger.rollbacks);
  std::printf("rollbacks   %llu%s, %s trained again; %s missed\n", number(ledger.rollbacks.total()),
              causes.empty() ? "" : (" (" + causes + ")").c_str(), count_text(ledger.rolled_back_steps, "step").c_str(),
              count_text(ledger.snapshots_missed, "snapshot").c_str());
  for (const auto& range : ledger.skipped) {
    std::printf("skipped     steps %llu to %llu: their gradients were not finite\n", number(range.from),
                number(range.until - 1));
  }
  if (ledger.resumed_shards > 0) {
    std::printf("resumed     %s, within a timeline\n", count_text(ledger.resumed_shards, "shard").c_str());
  }
  std::printf("finished    %s\n", ledger.finished ? describe(*ledger.finished).c_str() : "no");
}

void print(const RunState& state) {
  std::printf("run         %s\n", state.folder.c_str());
  if (state.identity) {
    std::printf("job         %s, digest %s\n", state.identity->job.c_str(), state.identity->spec_digest.c_str());
    std::printf("shards      %u; database format %u\n", state.identity->shards, state.identity->format);
  }
  print_ledger(state.ledger.ledger);
  for (const auto& snapshot : state.snapshots) {
    std::printf("snapshot    %s: %s\n", describe(snapshot.id).c_str(), words_of(snapshot, state).c_str());
  }
  const auto* const best = best_of(state);
  for (const auto& evaluation : state.ledger.evaluations) {
    std::printf("evaluation  step %llu, %s: %s%s\n", number(evaluation.step),
                std::string(to_string(evaluation.split)).c_str(),
                quality_text(evaluation.loss, evaluation.accuracy, evaluation.metrics).c_str(),
                &evaluation == best ? ("; the best" + by_text(state)).c_str() : "");
  }
  for (const auto& journal : state.journals) {
    std::printf("journal     shard %u: timeline %llu, %s up to number %llu in %s, %s, %s of the shard\n", journal.shard,
                number(journal.timeline), count_text(journal.records, "update").c_str(), number(journal.last),
                count_text(journal.segments, "segment").c_str(), bytes_text(journal.bytes).c_str(),
                count_text(journal.lives.size(), "life", "lives").c_str());
  }
  for (std::size_t shard = 0; shard < state.disk.size(); ++shard) {
    std::printf("disk        shard %zu: %s\n", shard, bytes_text(state.disk[shard]).c_str());
  }
}

// ---- for programs

using Json = nlohmann::ordered_json;

Json json_of(const SnapshotId& id) { return {{"timeline", id.timeline}, {"step", id.step}}; }

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

Json json_of(const Ledger& ledger) {
  Json json;
  json["timeline"] = ledger.timeline;
  json["base"] = json_of(ledger.base);
  json["rollbacks"] = ledger.rollbacks.total();
  json["rollbacks_by_cause"] = causes_json(ledger.rollbacks);
  json["rolled_back_steps"] = ledger.rolled_back_steps;
  json["resumed_shards"] = ledger.resumed_shards;
  json["snapshots_missed"] = ledger.snapshots_missed;
  json["skipped"] = Json::array();
  for (const auto& range : ledger.skipped) {
    json["skipped"].push_back({range.from, range.until});
  }
  json["best"] = json_or_null(ledger.best);
  json["finished"] = json_or_null(ledger.finished);
  return json;
}

Json json_of(const SnapshotState& snapshot) {
  auto json = json_of(snapshot.id);
  json["complete"] = snapshot.complete;
  json["whole"] = snapshot.whole;
  json["chunks"] = snapshot.chunks;
  json["bytes"] = snapshot.bytes;
  return json;
}

Json json_of(const EvaluationRecord& evaluation) {
  const auto accuracy = told_accuracy(evaluation.accuracy, evaluation.metrics);
  return {{"step", evaluation.step},         {"split", to_string(evaluation.split)},
          {"loss", evaluation.loss},         {"accuracy", accuracy ? Json(*accuracy) : Json(nullptr)},
          {"examples", evaluation.examples}, {"metrics", metrics_json(evaluation.metrics)}};
}

Json json_of(const JournalState& journal) {
  Json json;
  json["shard"] = journal.shard;
  json["timeline"] = journal.timeline;
  json["segments"] = journal.segments;
  json["records"] = journal.records;
  json["bytes"] = journal.bytes;
  json["last"] = journal.last;
  json["cut_bytes"] = journal.cut_bytes;
  json["lives"] = Json::array();
  for (const auto& life : journal.lives) {
    json["lives"].push_back({{"incarnation", life.incarnation}, {"begun", life.begun}});
  }
  return json;
}

void print_json(const RunState& state) {
  Json json;
  json["run"] = state.folder;
  json["job"] = state.identity ? Json(state.identity->job) : Json(nullptr);
  json["spec_digest"] = state.identity ? Json(state.identity->spec_digest) : Json(nullptr);
  json["shards"] = state.identity ? Json(state.identity->shards) : Json(nullptr);
  json["ledger"] = json_of(state.ledger.ledger);
  json["best_by"] = state.best_by ? Json(name_of(*state.best_by)) : Json(nullptr);
  json["chunks"] = state.chunks;
  json["snapshots"] = Json::array();
  for (const auto& snapshot : state.snapshots) {
    json["snapshots"].push_back(json_of(snapshot));
  }
  json["journals"] = Json::array();
  for (const auto& journal : state.journals) {
    json["journals"].push_back(json_of(journal));
  }
  json["evaluations"] = Json::array();
  for (const auto& evaluation : state.ledger.evaluations) {
    json["evaluations"].push_back(json_of(evaluation));
  }
  json["disk_bytes"] = state.disk;
  json["records_verified"] = state.records;
  json["problems"] = state.problems;
  std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

RunState inspect_run(const std::string& folder, bool verify) { return Inspection(folder, verify).take(); }

int inspect(const InspectOptions& options) {
  const auto state = inspect_run(options.run, options.verify);
  options.json ? print_json(state) : print(state);
  if (options.verify && !options.json) {
    std::printf("verified    %s, %s\n", count_text(state.records, "record").c_str(),
                count_text(state.problems.size(), "problem").c_str());
  }
  for (std::size_t i = 0; i < std::min(state.problems.size(), kMostProblems); ++i) {
    std::fprintf(stderr, "ballast: %s\n", state.problems[i].c_str());
  }
  if (state.problems.size() > kMostProblems) {
    std::fprintf(stderr, "ballast: and %s more\n",
                 count_text(state.problems.size() - kMostProblems, "problem").c_str());
  }
  return state.problems.empty() ? 0 : 1;
}

}  // namespace ballast
