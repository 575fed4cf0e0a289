#include "storage/copies/restore.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "storage/store/batch_writer.h"
#include "storage/store/shard_store.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

fs::path temporary_name(const fs::path& database) {
  auto name = database;
  name += ".restoring";
  return name;
}

void remove_all(const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
}

// The ledger, as of a run that has come to `newest` at least: copies of that timeline are there, of other weights
// perhaps, and the run that goes on must not meet their names.
StoreResult<std::string> with_timeline(std::string_view record, Timeline newest) {
  auto ledger = decode_ledger(record);
  if (!ledger.ok()) {
    return ledger.status();
  }
  ledger.value().timeline = std::max(ledger.value().timeline, newest);
  ledger.value().incarnations.clear();  // of shards whose databases these are not
  ledger.value().databases.clear();
  ledger.value().pause = Pause::none;  // whoever restores a run goes on with it
  return encode(ledger.value());
}

// A record of a copy as the restored database has it.
StoreResult<std::string> restored(std::string_view key, std::string_view record, Timeline newest) {
  if (key == kIdentityKey) {
    const auto identity = decode_identity(record);
    return identity.ok() ? StoreResult<std::string>(std::string(record)) : identity.status();
  }
  return key == kLedgerKey ? with_timeline(record, newest) : StoreResult<std::string>(std::string(record));
}

StoreStatus restore_shard(CopyPlace& place, const CopySet& set, std::uint32_t shard, const fs::path& database,
                          Timeline newest) {
  auto opened = open_rocksdb(database, OpenMode::create);
  if (!opened.ok()) {
    return opened.status();
  }
  BatchWriter records(*opened.value());
  bool has_identity = false;
  StoreStatus ours;  // what the database says, which is no fault of the copy
  const auto put = [&](std::string_view key, std::string_view record) {
    auto kept = restored(key, record, newest);
    if (!kept.ok()) {
      return kept.status();
    }
    has_identity = has_identity || key == kIdentityKey;
    ours = records.put(std::string(key), std::move(kept.value()));
    return ours;
  };
  const auto& object = set.objects[shard];
  auto status = read_object(place, object, *parse_copy_name(object), put);
  for (std::size_t block = 0; shard == 0 && status.ok() && block < set.losses.size(); ++block) {
    status = read_object(place, set.losses[block], head_of(*parse_losses_name(set.losses[block])), put);
  }
  if (!ours.ok() || !status.ok()) {
    return ours.ok() ? status : ours;
  }
  if (!has_identity) {
    return in_object(place, object, {StoreCode::corrupt, "the copy has no identity"});
  }
  if (auto sealed = records.put(sealed_key(set.snapshot), encode_sealed(set.snapshot)); !sealed.ok()) {
    return sealed;
  }
  return records.finish();
}

// All shards of one set under temporary names, checked.
StoreStatus restore_set(CopyPlace& place, const CopySet& set, const std::vector<fs::path>& temporary, Timeline newest,
                        const RestoreCheck& check) {
  for (std::uint32_t shard = 0; shard < set.shards; ++shard) {
    if (auto status = restore_shard(place, set, shard, temporary[shard], newest); !status.ok()) {
      return status;
    }
  }
  return check ? check(temporary, set.snapshot) : StoreStatus{};
}

StoreStatus prepare(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    return {StoreCode::io, folder.string() + ": cannot make the folder: " + failure.message()};
  }
  if (fs::exists(shard_database(folder, 0), failure)) {
    return {StoreCode::mismatch,
            folder.string() + ": the folder holds the databases of a run already; restore into a new folder"};
  }
  return {};
}

StoreStatus give_names(const std::vector<fs::path>& temporary, const std::vector<fs::path>& databases) {
  for (std::size_t shard = databases.size(); shard-- > 0;) {  // shard 0 last: with it a run is there
    std::error_code failure;
    fs::rename(temporary[shard], databases[shard], failure);
    if (failure) {
      return {StoreCode::io, databases[shard].string() + ": cannot be put in place: " + failure.message()};
    }
  }
  return {};
}

std::string what_is_missing(const CopySet& set) {
  return set.has_all_shards() ? "losses of earlier steps are missing" : "copies of some shards are missing";
}

// Runs have no order: of several with whole sets one must be named.
StoreResult<RunId> choose_run(const CopyPlace& place, const std::vector<CopySet>& sets, std::optional<RunId> named) {
  std::map<RunId, SnapshotId> newest;  // that is whole
  std::set<RunId> runs;
  for (const auto& set : sets) {
    runs.insert(set.run);
    if (set.complete()) {
      newest[set.run] = set.snapshot;
    }
  }
  std::string all;
  for (const auto& [run, snapshot] : newest) {
    all += (all.empty() ? "" : ", ") + run_text(run) + " (newest: " + describe(snapshot) + ")";
  }
  if (named) {
    return runs.contains(*named)
               ? StoreResult<RunId>(*named)
               : StoreStatus{StoreCode::missing, place.describe() + ": there are no copies of run " + run_text(*named) +
                                                     " here" + (all.empty() ? "" : "; there are those of " + all)};
  }
  if (newest.size() > 1) {
    return StoreStatus{StoreCode::mismatch, place.describe() + ": there are copies of several runs of this job here; " +
                                                "name one with --run: " + all};
  }
  return newest.empty() ? sets.back().run : newest.begin()->first;
}

// A place may hold hundreds of sets: the newest tell what is wrong.
constexpr std::size_t kToldSets = 5;

std::string steps_of(const std::vector<CopySet>& sets) {
  const auto older = sets.size() - std::min(sets.size(), kToldSets);
  std::string steps = older == 0 ? "" : std::to_string(older) + " older ones";
  for (auto index = older; index < sets.size(); ++index) {
    const auto& set = sets[index];
    steps += (steps.empty() ? "" : ", ") + std::to_string(set.snapshot.step) + (set.complete() ? "" : " (incomplete)");
  }
  return steps;
}

// The newest come first.
std::string reasons_of(const std::vector<std::string>& passed_over) {
  const auto told = std::min(passed_over.size(), kToldSets);
  std::string reasons;
  for (std::size_t index = 0; index < told; ++index) {
    reasons += "; " + passed_over[index];
  }
  return told == passed_over.size() ? reasons
                                    : reasons + "; and " + std::to_string(passed_over.size() - told) + " older ones";
}

}  // namespace

StoreResult<std::vector<CopySet>> list_copies(CopyPlace& place, std::string& job) {
  const auto names = place.list();
  if (!names.ok()) {
    return names.status();
  }
  auto grouped = group_copies(names.value());
  if (grouped.empty()) {
    return StoreStatus{StoreCode::missing, place.describe() +
                                               ": there are no copies of snapshots here; name the place "
                                               "that durability.copy_to of the job names"};
  }
  if (grouped.size() > 1) {
    std::string jobs;
    for (const auto& [name, sets] : grouped) {
      jobs += (jobs.empty() ? "" : ", ") + name;
    }
    return StoreStatus{StoreCode::mismatch, place.describe() +
                                                ": there are copies of several jobs here; name one of "
                                                "them, below this place: " +
                                                jobs};
  }
  job = grouped.begin()->first;
  return std::move(grouped.begin()->second);
}

StoreResult<Restored> restore(CopyPlace& place, const RestoreOptions& options, const RestoreCheck& check) {
  Restored restored;
  auto sets = list_copies(place, restored.job);
  if (!sets.ok()) {
    return sets.status();
  }
  if (auto prepared = prepare(options.run_folder); !prepared.ok()) {
    return prepared;
  }
  const auto run = choose_run(place, sets.value(), options.run);
  if (!run.ok()) {
    return run.status();
  }
  std::erase_if(sets.value(), [&](const CopySet& set) { return set.run != run.value(); });
  restored.run = run.value();
  for (auto set = sets.value().rbegin(); set != sets.value().rend(); ++set) {
    if (options.step && set->snapshot.step != *options.step) {
      continue;
    }
    if (!set->complete()) {
      restored.passed_over.push_back(describe(set->snapshot) + ": " + what_is_missing(*set));
      continue;
    }
    std::vector<fs::path> temporary;
    restored.databases.clear();
    for (std::uint32_t shard = 0; shard < set->shards; ++shard) {
      restored.databases.push_back(shard_database(options.run_folder, shard));
      temporary.push_back(temporary_name(restored.databases.back()));
    }
    remove_all(temporary);
    auto status = restore_set(place, *set, temporary, sets.value().back().snapshot.timeline, check);
    if (status.ok()) {
      status = give_names(temporary, restored.databases);
    }
    if (status.ok()) {
      restored.snapshot = set->snapshot;
      return restored;
    }
    remove_all(temporary);
    if (status.code() != StoreCode::corrupt) {
      return status;
    }
    restored.passed_over.push_back(describe(set->snapshot) + ": " + status.text());
  }
  return StoreStatus{StoreCode::missing, place.describe() + ": no copy can be restored" +
                                             (options.step ? " of step " + std::to_string(*options.step) : "") +
                                             "; there are those of steps " + steps_of(sets.value()) +
                                             reasons_of(restored.passed_over)};
}

}  // namespace ballast
