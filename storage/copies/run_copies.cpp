#include "storage/copies/run_copies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "storage/copies/claim.h"
#include "storage/store/batch_writer.h"

namespace ballast {
namespace {

using Outcome = FetchedPart::Outcome;

// Of what is read of an object: the identity, and the snapshot's tensors into the database.
class PartReader {
 public:
  PartReader(const OwnCopies& own, const SnapshotId& snapshot, ShardStore& store, const std::function<bool()>& wanted)
      : own_(own), snapshot_(snapshot), store_(store), records_(store.store()), wanted_(wanted) {}

  // Whatever else is there goes to `others`.
  StoreStatus take(std::string_view key, std::string_view record,
                   std::map<std::string, std::string, std::less<>>* others) {
    if (!wanted_()) {
      is_unwanted_ = true;
      return {StoreCode::io, "it is not wanted any more"};
    }
    if (key == kIdentityKey) {
      return check(record);
    }
    if (const auto tensor = parse_tensor_key(key)) {
      return tensor->snapshot == snapshot_ ? put(*tensor, key, record)
                                           : StoreStatus{StoreCode::corrupt, "a tensor of another snapshot is in it"};
    }
    if (others != nullptr) {
      others->emplace(key, record);
    }
    return {};
  }

  // The object was read, with this result.
  FetchedPart finish(const CopyPlace& place, const std::string& object, const StoreStatus& read) {
    if (is_unwanted_) {
      return {Outcome::unwanted, read};
    }
    if (!ours_.ok()) {
      return {Outcome::refused, ours_};
    }
    if (!read.ok()) {
      const bool may_be_had = read.code() == StoreCode::io || read.code() == StoreCode::no_key;
      return {may_be_had ? Outcome::unreachable : Outcome::useless, read};
    }
    if (!has_identity_ || chunks_ != own_.chunks) {
      const auto found = has_identity_
                             ? "has " + std::to_string(chunks_) + " chunks, expected " + std::to_string(own_.chunks)
                             : std::string("has no identity");
      return {Outcome::useless, in_object(place, object, {StoreCode::corrupt, "the copy " + found})};
    }
    auto status = records_.finish();
    status = status.ok() ? store_.seal(snapshot_) : status;
    return {status.ok() ? Outcome::stored : Outcome::refused, status};
  }

 private:
  StoreStatus check(std::string_view record) {
    const auto identity = decode_identity(record);
    if (!identity.ok()) {
      return identity.status();
    }
    const auto& there = identity.value();
    const auto& here = own_.identity;
    has_identity_ = true;
    const bool is_same = there.spec_digest == here.spec_digest && there.layout_digest == here.layout_digest &&
                         there.shard == here.shard && there.shards == here.shards;
    return is_same ? StoreStatus{}
                   : StoreStatus{StoreCode::mismatch, "the copy is of another job, or of another layout of the model"};
  }

  StoreStatus put(const TensorKey& tensor, std::string_view key, std::string_view record) {
    chunks_ += tensor.kind == TensorKind::weights ? 1 : 0;
    ours_ = records_.put(key, std::string(record));
    return ours_;
  }

  const OwnCopies& own_;
  const SnapshotId& snapshot_;
  ShardStore& store_;
  BatchWriter records_;
  const std::function<bool()>& wanted_;
  std::size_t chunks_ = 0;
  bool has_identity_ = false;
  bool is_unwanted_ = false;
  StoreStatus ours_;  // what the database says, which is no fault of the copy
};

CopyName name_of(const OwnCopies& own, const SnapshotId& snapshot) {
  return {copied_job(own.identity), snapshot, own.identity.shard, own.identity.shards, own.run};
}

using Records = std::map<std::string, std::string, std::less<>>;

// Shard 0's object of a set, and the blocks of losses before it, which are many: what they hold is true whatever set is
// taken, and without a ledger nobody reads it.
FetchedPart fetch_ledger(CopyPlace& place, const OwnCopies& own, const CopySet& set, ShardStore& store,
                         const std::function<bool()>& wanted, Records& records) {
  PartReader reader(own, set.snapshot, store, wanted);
  const auto& object = set.objects.front();
  auto status =
      read_object(place, object, name_of(own, set.snapshot),
                  [&](std::string_view key, std::string_view record) { return reader.take(key, record, &records); });
  BatchWriter losses(store.store());
  StoreStatus ours;
  for (std::size_t block = 0; status.ok() && block < set.losses.size(); ++block) {
    status = read_object(place, set.losses[block], head_of(*parse_losses_name(set.losses[block])),
                         [&](std::string_view key, std::string_view record) {
                           ours = losses.put(key, std::string(record));
                           return ours;
                         });
  }
  ours = ours.ok() ? losses.finish() : ours;
  if (!ours.ok()) {
    return {Outcome::refused, ours};
  }
  if (status.ok() && !records.contains(kLedgerKey)) {
    status = in_object(place, object, {StoreCode::corrupt, "the copy has no ledger"});
  }
  return reader.finish(place, object, status);
}

// Workers know a later placement than the copy does, and follow none that is not later still.
void go_on_under(Ledger& ledger, const TakenOver& name, const CopyState& copies, std::uint64_t place_number) {
  ledger.placement += name.timeline - std::min(name.timeline, ledger.timeline);
  ledger.timeline = name.timeline;
  ledger.copies = copies;
  ledger.copies_in = place_number;
  ledger.named_before = name.newest;
}

StoreResult<Ledger> ledger_from(const Records& records, const CopySet& set, const TakenOver& name, RunId run,
                                std::uint64_t place_number) {
  auto decoded = decode_ledger(records.find(kLedgerKey)->second);
  if (!decoded.ok()) {
    return decoded;
  }
  auto& ledger = decoded.value();
  ledger.incarnations.clear();  // of lives that are over
  ledger.databases.clear();
  ledger.pause = Pause::none;
  ledger.finished.reset();  // that is to be made durable by all shards again
  go_on_under(ledger, name, {run, {}, set.snapshot, 0, 1}, place_number);
  return decoded;
}

// The ledger comes last: without it nothing has been restored.
StoreStatus write_ledger(ShardStore& store, Records records, const Ledger& ledger) {
  records.erase(std::string(kLedgerKey));
  BatchWriter writer(store.store());
  for (auto& [key, record] : records) {
    if (auto status = writer.put(key, std::move(record)); !status.ok()) {
      return status;
    }
  }
  if (auto status = writer.finish(); !status.ok()) {
    return status;
  }
  return store.store().write(WriteBatch{}.put(std::string(kLedgerKey), encode(ledger)), Sync::yes);
}

std::vector<CopySet> whole_among(const std::vector<std::string>& names, const OwnCopies& own) {
  auto sets = std::move(group_copies(names)[copied_job(own.identity)]);
  std::erase_if(sets, [&](const CopySet& set) {
    return set.run != own.run || set.shards != own.identity.shards || !set.complete();
  });
  return sets;
}

// Whether anything of the run is. Where nothing is, the place is away: a folder that is not mounted looks like that.
bool is_there(CopyPlace& place, const OwnCopies& own) {
  const auto names = place.list(run_prefix(copied_job(own.identity), own.run));
  return names.ok() && !names.value().empty();
}

StoreStatus none_of_use(const CopyPlace& place, const OwnCopies& own, const std::vector<std::string>& passed_over) {
  std::string text = place.describe(run_prefix(copied_job(own.identity), own.run)) +
                     ": this run has begun, by what is there, and no set of copies of " +
                     std::to_string(own.identity.shards) + " shards is whole and undamaged";
  for (const auto& each : passed_over) {
    text += "; " + each;
  }
  return {StoreCode::missing, text +
                                  ". Bring back shard 0's database, or give the run another name (durability.run) "
                                  "to begin anew"};
}

}  // namespace

StoreResult<std::vector<CopySet>> whole_sets(CopyPlace& place, const OwnCopies& own) {
  const auto names = place.list(run_prefix(copied_job(own.identity), own.run));
  return names.ok() ? StoreResult<std::vector<CopySet>>(whole_among(names.value(), own)) : names.status();
}

FetchedPart fetch_part(CopyPlace& place, const OwnCopies& own, const SnapshotId& snapshot, ShardStore& store,
                       const std::function<bool()>& wanted) {
  PartReader reader(own, snapshot, store, wanted);
  const auto name = name_of(own, snapshot);
  const auto object = to_string(name);
  const auto read = read_object(place, object, name, [&](std::string_view key, std::string_view record) {
    return reader.take(key, record, nullptr);
  });
  const auto part = reader.finish(place, object, read);
  const bool is_not_there = part.outcome == Outcome::useless && part.status.code() == StoreCode::missing;
  return is_not_there && !is_there(place, own) ? FetchedPart{Outcome::unreachable, part.status} : part;
}

StoreResult<std::optional<RestoredLedger>> restore_ledger(CopyPlace& place, const OwnCopies& own,
                                                          std::uint64_t place_number, std::uint64_t chance,
                                                          ShardStore& store, const std::function<bool()>& wanted) {
  const auto run = run_prefix(copied_job(own.identity), own.run);
  const auto names = place.list(run);
  if (!names.ok()) {
    return names.status();
  }
  if (names.value().empty()) {
    return std::optional<RestoredLedger>{};
  }
  const auto sets = whole_among(names.value(), own);
  RestoredLedger restored;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    Records records;
    const auto part = fetch_ledger(place, own, *set, store, wanted, records);
    if (part.outcome == Outcome::useless) {
      restored.passed_over.push_back(describe(set->snapshot) + ": " + part.status.text());
      continue;
    }
    if (part.outcome != Outcome::stored) {
      return part.status;
    }
    const auto name = take_over(place, run, chance);
    if (!name.ok()) {
      return name.status();
    }
    const auto ledger = ledger_from(records, *set, name.value(), own.run, place_number);
    if (!ledger.ok()) {
      return ledger.status();
    }
    if (auto status = write_ledger(store, std::move(records), ledger.value()); !status.ok()) {
      return status;
    }
    restored.snapshot = set->snapshot;
    restored.timeline = ledger.value().timeline;
    return std::optional(std::move(restored));
  }
  return none_of_use(place, own, restored.passed_over);
}

StoreStatus take_name(CopyPlace& place, const OwnCopies& own, std::uint64_t place_number, std::uint64_t chance,
                      ShardStore& store) {
  auto content = store.read_ledger();
  if (!content.ok()) {
    return content.status();
  }
  const auto run = run_prefix(copied_job(own.identity), own.run);
  const auto names = place.list(run);
  if (!names.ok() || names.value().empty()) {
    return names.ok() ? StoreStatus{} : names.status();
  }
  const auto sets = whole_among(names.value(), own);
  const auto name = take_over(place, run, chance);
  if (!name.ok()) {
    return name.status();
  }
  auto& ledger = content.value().ledger;
  const auto base = ledger.complete.empty() ? SnapshotId{} : ledger.complete.back();
  const bool is_copied = std::ranges::any_of(sets, [&](const CopySet& set) { return set.snapshot == base; });
  go_on_under(ledger, name.value(), {own.run, {}, is_copied ? base : SnapshotId{}, 0, 1}, place_number);
  return store.store().write(WriteBatch{}.put(std::string(kLedgerKey), encode(ledger)), Sync::yes);
}

}  // namespace ballast
