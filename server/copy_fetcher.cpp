#include "server/copy_fetcher.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "common/arena/placement.h"
#include "common/log/log.h"
#include "common/net/random_id.h"
#include "common/numeric/sha256.h"
#include "server/fault.h"

namespace ballast {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstRetry{500};
constexpr milliseconds kLongestPause{10'000};  // between two attempts, or two looks
constexpr milliseconds kGlance{60'000};        // between two looks of a server that serves

std::uint64_t first_digits(const std::string& text) {
  return std::stoull(sha256_hex(text).substr(0, 16), nullptr, 16) | 1U;
}

// Between two records of a copy.
bool is_record_wanted(const std::function<bool()>& wanted) {
  strike(ServerFault::record_fetched);
  return wanted();
}

}  // namespace

RunId named_run(const JobSpec& spec) {
  const auto& name = spec.durability.run;
  return name.empty() ? 0 : first_digits("ballast run\n" + name);
}

std::uint64_t place_number(const DurabilitySpec& durability) {
  return first_digits(durability.copy_to + "\n" + durability.s3_endpoint);
}

CopyTarget copy_target(const DurabilitySpec& durability, bool has_to_be_there) {
  return {.place = durability.copy_to,
          .s3_endpoint = durability.s3_endpoint,
          .has_to_be_there = has_to_be_there,
          .s3_credentials_file = durability.s3_credentials_file,
          .s3_encryption = durability.s3_encryption,
          .s3_kms_key_id = durability.s3_kms_key_id,
          .copy_key_file = durability.copy_key_file};
}

CopyFetcher::CopyFetcher(const Job& job, std::uint32_t shard, ShardStore& store, DiskRoom& room)
    : durability_(job.spec.durability),
      own_{*value_or_throw(store.identity()), named_run(job.spec),
           Placement(job.arena, job.spec.cluster.shards, job.spec.cluster.lanes).of_model(shard).size()},
      store_(store),
      room_(room),
      place_(value_or_throw(open_copy_place(copy_target(durability_, false)))) {}

void CopyFetcher::close() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
}

bool CopyFetcher::is_closed() const {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

CopyFetcher::~CopyFetcher() {
  close();
  if (thread_.joinable()) {
    thread_.join();
  }
}

// ---- what both do

// A folder that is not mounted looks like an empty one, or like none. An empty one may be the run's first start.
StoreStatus CopyFetcher::why_not_there() const {
  std::error_code error;
  if (durability_.copy_to.starts_with("s3://") || std::filesystem::is_directory(durability_.copy_to, error)) {
    return {};
  }
  return {StoreCode::io, durability_.copy_to + " (durability.copy_to): there is no such folder" +
                             (error ? ": " + error.message() : std::string()) +
                             "; mount it, or make it if this run has never copied anything"};
}

// Whether it is to be tried again.
bool CopyFetcher::pause(milliseconds span, const std::function<bool()>& wanted) {
  constexpr milliseconds kAsk{100};
  const auto until = std::chrono::steady_clock::now() + span;
  std::unique_lock lock(mutex_);
  while (!ending_ && std::chrono::steady_clock::now() < until) {
    lock.unlock();
    const bool is_wanted = wanted();
    lock.lock();
    if (!is_wanted) {
      return false;
    }
    changed_.wait_for(lock, kAsk);
  }
  return !ending_;
}

// Told in the log once at its begin, and once at its end.
void CopyFetcher::note_trouble(std::string text) {
  const std::scoped_lock lock(mutex_);
  if (trouble_.empty() && !text.empty()) {
    log_warn("{}; tries again", text);
  } else if (!trouble_.empty() && text.empty()) {
    log_info("the place of copies answers again");
  }
  trouble_ = std::move(text);
}

std::string CopyFetcher::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

// ---- the lead's ledger

StoreResult<std::optional<RestoredLedger>> CopyFetcher::try_to_restore(bool has_ledger,
                                                                       const std::function<bool()>& wanted) {
  if (auto why = why_not_there(); !why.ok()) {
    return why;
  }
  const std::scoped_lock lock(place_mutex_);
  if (has_ledger) {
    const auto taken = take_name(*place_, own_, place_number(durability_), random_id(), store_);
    return taken.ok() ? StoreResult<std::optional<RestoredLedger>>(std::nullopt) : taken;
  }
  return ballast::restore_ledger(*place_, own_, place_number(durability_), random_id(), store_,
                                 [&] { return is_record_wanted(wanted); });
}

void CopyFetcher::restore_ledger(const std::function<bool()>& wanted) {
  const auto content = value_or_throw(room_.read([&] { return store_.read_ledger(); }));
  const bool has_ledger = content.ledger.timeline > 0;
  if (has_ledger && content.ledger.copies.run != 0) {
    return;
  }
  auto span = kFirstRetry;
  for (;;) {
    const auto restored = room_.read([&] { return try_to_restore(has_ledger, wanted); }, wanted);
    if (restored.ok()) {
      note_trouble({});
      if (restored.value()) {
        for (const auto& each : restored.value()->passed_over) {
          log_warn("a set of copies cannot be used: {}", each);
        }
        log_warn(
            "this database has no ledger, and the run {} has copies: the ledger is restored from that of {}, and "
            "goes on from timeline {}; the whole job goes back to it",
            durability_.run, describe(restored.value()->snapshot), restored.value()->timeline);
      }
      return;
    }
    const auto& status = restored.status();
    if (status.code() != StoreCode::io) {
      throw std::runtime_error(status.text());
    }
    note_trouble("whether the run " + durability_.run + " has begun cannot be seen: " + status.text());
    if (!pause(span, wanted)) {
      throw std::runtime_error(status.text());
    }
    span = std::min(2 * span, kLongestPause);
  }
}

// ---- what there is

void CopyFetcher::listen(std::uint32_t lane, Listener listener) {
  const std::scoped_lock lock(mutex_);
  if (newest_) {
    listener(*newest_);
  }
  listeners_[lane] = std::move(listener);
}

void CopyFetcher::look() {
  thread_ = std::thread([this] {
    set_log_prefix("copies: ");
    work();
  });
}

void CopyFetcher::serves() {
  const std::scoped_lock lock(mutex_);
  serves_ = true;
}

lane::CopiesFound CopyFetcher::look_once() {
  lane::CopiesFound seen;
  auto why = why_not_there();
  if (why.ok()) {
    try {
      const std::scoped_lock lock(place_mutex_);
      const auto sets = whole_sets(*place_, own_);
      if (sets.ok()) {
        for (const auto& set : sets.value()) {
          seen.sets.push_back(set.snapshot);
        }
      } else {
        why = sets.status();
      }
    } catch (const std::exception& error) {  // libcurl or libcrypto cannot be used
      why = {StoreCode::io, error.what()};
    }
  }
  seen.trouble = why.text();
  return seen;
}

void CopyFetcher::work() {
  auto span = kFirstRetry;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    auto seen = look_once();
    lock.lock();
    const bool is_well = seen.trouble.empty();
    newest_ = std::move(seen);
    for (const auto& [lane, listener] : listeners_) {
      listener(*newest_);
    }
    changed_.wait_for(lock, !is_well ? span : serves_ ? kGlance : kLongestPause, [this] { return ending_; });
    span = is_well ? kFirstRetry : std::min(2 * span, kLongestPause);
  }
}

// ---- the shard's part

FetchedPart CopyFetcher::fetched_part(const SnapshotId& snapshot, const std::function<bool()>& wanted) {
  try {
    return fetch_part(*place_, own_, snapshot, store_, wanted);
  } catch (const std::exception& error) {  // libcurl or libcrypto cannot be used
    return {FetchedPart::Outcome::unreachable, {StoreCode::io, error.what()}};
  }
}

StoreStatus CopyFetcher::fetch(const SnapshotId& snapshot, const std::function<bool()>& wanted) {
  using Outcome = FetchedPart::Outcome;
  log_warn("this database lacks the snapshot of {}, from which the job goes on: its part is fetched from the copies",
           describe(snapshot));
  auto span = kFirstRetry;
  for (;;) {
    FetchedPart part;
    (void)room_.await(
        [&] {
          const std::scoped_lock lock(place_mutex_);
          part = fetched_part(snapshot, [&] { return is_record_wanted(wanted) && !is_closed(); });
          return part.outcome == Outcome::refused ? part.status : StoreStatus{};
        },
        wanted);
    if (part.outcome != Outcome::unreachable) {
      note_trouble({});
    }
    switch (part.outcome) {
      case Outcome::stored:
        log_info("the shard's part of the snapshot of {} is there, from the copies", describe(snapshot));
        return {};
      case Outcome::useless:
        log_error("the shard's part of the snapshot of {} cannot be had: {}", describe(snapshot), part.status.text());
        return {StoreCode::missing, part.status.text()};
      case Outcome::refused:
      case Outcome::unwanted:
        return part.status;
      case Outcome::unreachable:
        break;
    }
    note_trouble("the snapshot of step " + std::to_string(snapshot.step) +
                 " is to be fetched from the copies: " + part.status.text());
    if (!pause(span, wanted)) {
      return part.status;
    }
    span = std::min(2 * span, kLongestPause);
  }
}

}  // namespace ballast
