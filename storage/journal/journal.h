// The journal of a shard: every accepted contribution, in one order, on disk before it is applied. Files of its own
// beside the database; journal_records.h is their grammar, docs/durability.md says what is promised.
//
// The life of a journal: open() reads and checks what is there; replay() tells it; begin() makes it empty for a new
// timeline, or record_life() goes on with the one it has; then append() from any thread, rotate() and release_before()
// at cuts.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/files/status.h"
#include "storage/journal/journal_records.h"

namespace ballast {

class JournalFiles;
class JournalWriter;

// What `committed` means.
enum class JournalSync : std::uint8_t {
  always,    // written and synced: it survives a power cut
  interval,  // written: it survives the process; synced at most `interval` later
  never,     // written: it survives the process; the system syncs when it likes, but a full segment always is
};

struct JournalOptions {
  JournalSync sync = JournalSync::interval;
  std::chrono::milliseconds interval{200};
  std::uint64_t segment_bytes = 128U << 20U;  // a segment that has as many is full
  std::chrono::milliseconds retry{1000};      // after a failure
  // Bytes of the disk that records do not take: room for the snapshot that makes older ones needless. Where no more are
  // free, records are refused for want of space. Beginnings of timelines and lives take it.
  std::uint64_t kept_back = 0;
  JournalFiles* files = nullptr;  // how files are reached; null: the system's. For tests
  std::function<bool()> wanted;   // asked before each segment that open() reads: false ends that. May be empty
};

// Called by the journal's own thread, one at a time; they must not wait for the journal, nor for whoever waits for it.
struct JournalEvents {
  // All records of the timeline up to this one are committed; the memory of their payloads is no longer used.
  std::function<void(Timeline timeline, JournalSequence through)> committed;
  // What keeps the journal from committing or syncing; once for each text. Empty: all is well again.
  std::function<void(const std::string& text)> trouble;
  // All records of the timeline up to this one survive a power cut. May be empty.
  std::function<void(Timeline timeline, JournalSequence through)> synced = {};
};

// What open() found.
struct JournalRecovery {
  std::uint64_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cut_bytes = 0;  // of an end that was not whole, cut off
  std::string cut;              // where, for the log: file, offset, and what was wrong there; empty if nothing was
};

// Since the journal was opened, but for what is now.
struct JournalCounters {
  std::uint64_t records = 0;        // committed
  std::uint64_t bytes = 0;          // committed, heads included
  std::uint64_t groups = 0;         // committed
  std::uint64_t syncs = 0;          // of segments
  double sync_seconds = 0;          // they took
  std::uint64_t failures = 0;       // writes and syncs that failed
  std::uint64_t backlog_bytes = 0;  // appended and not committed, now
  std::uint64_t segments = 0;       // now
  std::uint64_t disk_bytes = 0;     // of all segments, now
  std::uint64_t free_bytes = 0;     // of the disk, when records were written to it last
  double busy_seconds = 0;          // that the write or sync in flight has taken until now; 0: there is none
};

// What the journal's thread has waited for its disk since the journal was opened, in calls that have returned: neither
// computing nor for want of a processor.
struct JournalDisk {
  std::chrono::nanoseconds waited{};
  std::chrono::nanoseconds syncing{};    // of that in syncs that JournalSync asks for
  std::chrono::nanoseconds under_way{};  // that the present call has taken, whatever for
};

// Thread-safe but for open() and the destructor. Error texts name the file, the offset where there is one, and the
// remedy.
class Journal {
 public:
  // Returns false to end the replay. The record's payload is valid during the call only.
  using Visitor = std::function<bool(JournalSequence sequence, const JournalRecord& record)>;

  // The journal in `folder` (made if it is not there), which is of the newest timeline found in it. An end of the last
  // segment that is not whole, as a power cut leaves it, is cut off. `corrupt` for damage anywhere else; `mismatch` for
  // another format's, job's or shard's journal; `in_use` if another process has it open; `io` if it is no longer
  // wanted. Those leave all as it is.
  static StoreResult<std::unique_ptr<Journal>> open(const std::filesystem::path& folder, const JournalOwner& owner,
                                                    const JournalOptions& options, JournalEvents events);
  // The folder inside that of a shard's database.
  static std::filesystem::path folder_in(const std::filesystem::path& database) { return database / "journal"; }

  // Removes the segments of a journal that nobody has open, the oldest first, each durably before the next: whatever
  // ends that, what is left is a journal. Then the folder, unless something else is in it or it is a link. Nothing
  // there: ok.
  static StoreStatus remove(const std::filesystem::path& folder, JournalFiles* files = nullptr);

  // Writes and syncs what was appended, once: what cannot be written then is lost. No event comes after it.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  [[nodiscard]] const JournalRecovery& recovery() const;
  [[nodiscard]] Timeline timeline() const;         // 0: none has begun
  [[nodiscard]] JournalSequence appended() const;  // the newest sequence given; 0: none in this timeline
  [[nodiscard]] JournalSequence committed() const;
  [[nodiscard]] JournalSequence synced() const;        // all up to this one survive a power cut
  [[nodiscard]] std::vector<ShardLife> lives() const;  // of the timeline, oldest first, the newest kMaxJournalLives
  [[nodiscard]] JournalCounters counters() const;
  [[nodiscard]] JournalDisk disk() const;     // costs no lock
  [[nodiscard]] std::string trouble() const;  // as the event told it last

  // Begins a timeline, newer than the journal's or the same anew. Once it returns ok this is durable, the next record
  // is the first, there are no lives, older records are gone, and the memory of payloads not yet committed is no longer
  // used. If it fails, nothing has changed.
  StoreStatus begin(Timeline timeline);
  // This life of the shard begins at the newest committed sequence. Durable when it returns ok; call it before the
  // life's first append. Refused if kMaxJournalLives are there: none is forgotten before begin().
  StoreStatus record_life(Incarnation incarnation);

  // Returns the record's sequence at once; `committed` follows. The payload's memory must stay as it is until then.
  // 0, and nothing happens, if the record is of another timeline than the journal.
  JournalSequence append(const JournalRecord& record);
  // What is committed is to be synced soon, whatever the options say of syncs, and as often as the disk makes it
  // necessary to try; `synced` follows, unless a timeline begins.
  void sync_soon();
  // Everything appended before is committed and synced when it returns ok. Does not wait for a disk that refuses.
  StoreStatus sync();

  // All committed records of the timeline, in order, a few at a time in memory. Nothing else waits for it, but the
  // removal of segments does.
  [[nodiscard]] StoreStatus replay(const Visitor& visit) const;

  // What is not written yet goes into a new segment.
  void rotate();
  // Records of items below `item` are no longer needed. Segments that hold no others, from the oldest on, are removed
  // in the background; never the one being written.
  void release_before(std::uint64_t item);

 private:
  explicit Journal(std::unique_ptr<JournalWriter> writer);
  std::unique_ptr<JournalWriter> writer_;
};

}  // namespace ballast
