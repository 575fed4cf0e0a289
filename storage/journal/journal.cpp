#include "storage/journal/journal.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "storage/journal/journal_files.h"
#include "storage/journal/journal_reader.h"
#include "storage/journal/journal_scan.h"
#include "storage/journal/journal_writer.h"

namespace ballast {
namespace {

constexpr std::uint64_t kWrittenAgainAtOnce = 1U << 20U;

StoreStatus check_name(const std::filesystem::path& folder, const JournalOwner& owner) {
  if (owner.job.size() <= kMaxJournalHeaderText && owner.spec_digest.size() <= kMaxJournalHeaderText) {
    return {};
  }
  return {StoreCode::mismatch, folder.string() + ": the job's name has more than " +
                                   std::to_string(kMaxJournalHeaderText) + " bytes; give it a shorter one"};
}

StoreStatus enter(JournalFiles& files, const std::filesystem::path& folder, std::unique_ptr<JournalLock>& lock) {
  auto error = files.make_folder(folder);
  if (error == 0) {
    error = files.sync_folder(folder.parent_path());
  }
  if (error != 0) {
    return file_status(folder, "make the folder of the journal", error);
  }
  error = files.lock(folder, lock);
  if (error == EWOULDBLOCK) {
    return {StoreCode::in_use, folder.string() +
                                   ": another process has the journal open; stop it, or use another run "
                                   "folder"};
  }
  return file_status(folder, "lock the journal", error);
}

// Writes the bytes of this range again, where they are. The life before may have met a sync that failed: then the
// system holds pages that can be read, that are not on the disk, and that no sync would bring there.
FileError write_again(JournalFile& file, std::uint64_t begin, std::uint64_t end) {
  JournalWindow window(file);
  while (begin < end) {
    const auto bytes = window.bytes(begin, std::min<std::uint64_t>(end - begin, kWrittenAgainAtOnce));
    if (window.error() != 0 || bytes.empty()) {
      return window.error() != 0 ? window.error() : EIO;
    }
    const iovec part = {const_cast<char*>(bytes.data()), bytes.size()};  // NOLINT: only read
    if (const auto error = file.write(begin, {&part, 1}); error != 0) {
      return error;
    }
    begin += bytes.size();
  }
  return 0;
}

FileError make_durable(JournalFiles& files, const JournalScan& scan) {
  const auto& last = scan.segments.back();
  std::unique_ptr<JournalFile> file;
  auto error = files.open(last.path, true, file);
  if (error == 0 && scan.cut) {
    error = file->cut(scan.cut->offset);
  }
  if (error == 0) {
    error = write_again(*file, scan.synced_end, last.end);
  }
  return error == 0 ? file->sync() : error;
}

// What the scan found is what later lives rest on: the last segment's end is made whole, and durable as it was read,
// and so are the segments' names.
StoreStatus settle_end(JournalFiles& files, const std::filesystem::path& folder, const JournalScan& scan) {
  if (scan.segments.empty()) {
    return {};
  }
  auto error = make_durable(files, scan);
  if (error == 0) {
    error = files.sync_folder(folder);
  }
  return file_status(scan.segments.back().path, "mend the end of the journal", error);
}

// Segments that were never finished: their names will be used again. The other leftovers can go later.
void remove_unfinished(JournalFiles& files, JournalScan& scan) {
  std::erase_if(scan.leftovers, [&files](const std::filesystem::path& path) {
    return path.string().ends_with(kJournalUnfinished) && files.remove(path) == 0;
  });
}

}  // namespace

StoreResult<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& folder, const JournalOwner& owner,
                                                    const JournalOptions& options, JournalEvents events) {
  auto& files = options.files != nullptr ? *options.files : system_journal_files();
  if (auto named = check_name(folder, owner); !named.ok()) {
    return named;
  }
  JournalPlace place{files, folder, nullptr};
  if (auto entered = enter(files, folder, place.lock); !entered.ok()) {
    return entered;
  }
  auto scan = scan_journal(files, folder, owner, options.wanted);
  if (!scan.ok()) {
    return scan.status();
  }
  if (auto settled = settle_end(files, folder, scan.value()); !settled.ok()) {
    return settled;
  }
  remove_unfinished(files, scan.value());
  return std::unique_ptr<Journal>(
      new Journal(std::make_unique<JournalWriter>(std::move(place), owner, options, std::move(events), scan.value())));
}

StoreStatus Journal::remove(const std::filesystem::path& folder, JournalFiles* given) {
  auto& files = given != nullptr ? *given : system_journal_files();
  std::vector<std::string> names;
  if (const auto error = files.list(folder, names); error != 0) {
    return error == ENOENT ? StoreStatus{} : file_status(folder, "list the journal", error);
  }
  for (const auto& name : names) {
    if (parse_journal_segment_name(name) == 0 && !name.ends_with(kJournalUnfinished)) {
      continue;
    }
    auto error = files.remove(folder / name);
    if (error == 0) {
      error = files.sync_folder(folder);
    }
    if (error != 0) {
      return file_status(folder / name, "remove the journal", error);
    }
  }
  if (std::error_code ignored; !std::filesystem::is_symlink(folder, ignored)) {
    std::filesystem::remove(folder, ignored);
  }
  return {};
}

Journal::Journal(std::unique_ptr<JournalWriter> writer) : writer_(std::move(writer)) {}
Journal::~Journal() = default;

const JournalRecovery& Journal::recovery() const { return writer_->recovery(); }
Timeline Journal::timeline() const { return writer_->timeline(); }
JournalSequence Journal::appended() const { return writer_->appended(); }
JournalSequence Journal::committed() const { return writer_->committed(); }
JournalSequence Journal::synced() const { return writer_->synced(); }
std::vector<ShardLife> Journal::lives() const { return writer_->lives(); }
JournalCounters Journal::counters() const { return writer_->counters(); }
JournalDisk Journal::disk() const { return writer_->disk(); }
std::string Journal::trouble() const { return writer_->trouble(); }
StoreStatus Journal::begin(Timeline timeline) { return writer_->begin(timeline); }
StoreStatus Journal::record_life(Incarnation incarnation) { return writer_->record_life(incarnation); }
JournalSequence Journal::append(const JournalRecord& record) { return writer_->append(record); }
void Journal::sync_soon() { writer_->sync_soon(); }
StoreStatus Journal::sync() { return writer_->sync(); }
StoreStatus Journal::replay(const Visitor& visit) const { return writer_->replay(visit); }
void Journal::rotate() { writer_->rotate(); }
void Journal::release_before(std::uint64_t item) { writer_->release_before(item); }

}  // namespace ballast
