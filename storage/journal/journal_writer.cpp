#include "storage/journal/journal_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "storage/journal/journal_reader.h"

namespace ballast {
namespace {

bool fits(const JournalRecord& record) {
  return record.marks.size() <= kMaxJournalMarks && record.payload.size() <= kMaxJournalPayload &&
         record.factors.scales.empty() && (record.factors.skip || !record.payload.empty());
}

std::uint64_t bytes_of(const JournalRecord& record) {
  return kMinJournalHead + record.marks.size() * kJournalMarkBytes + record.payload.size();
}

JournalRecovery recovery_of(const JournalScan& scan) {
  JournalRecovery recovery;
  recovery.segments = scan.segments.size();
  for (const auto& segment : scan.segments) {
    recovery.records += segment.next - segment.header.first;
    recovery.bytes += segment.end - segment.begin;
  }
  if (scan.cut) {
    recovery.cut_bytes = scan.cut->bytes;
    recovery.cut = scan.cut->path.string() + ": offset " + std::to_string(scan.cut->offset) + ": " + scan.cut->text;
  }
  return recovery;
}

StoreStatus replay_segment(JournalFiles& files, const JournalSegment& segment, const Journal::Visitor& visit,
                           bool& wanted) {
  std::unique_ptr<JournalFile> file;
  if (const auto error = files.open(segment.path, false, file); error != 0) {
    return file_status(segment.path, "open the journal", error);
  }
  JournalReader reader(*file, segment.begin);
  while (wanted && reader.offset() < segment.end) {
    const auto offset = reader.offset();
    const auto read = reader.next();
    if (!read.ok() || !read.value()) {
      const auto text = read.ok() ? std::string("the file ends here") : read.status().text();
      return {read.ok() ? StoreCode::corrupt : read.status().code(), segment.path.string() + ": offset " +
                                                                         std::to_string(offset) + ": " + text + "; " +
                                                                         std::string(kDamageRemedy)};
    }
    wanted = visit(read.value()->sequence, read.value()->record);
  }
  return {};
}

}  // namespace

JournalWriter::JournalWriter(JournalPlace place, JournalOwner owner, const JournalOptions& options,
                             JournalEvents events, const JournalScan& scan)
    : place_(std::move(place)),
      owner_(std::move(owner)),
      options_(options),
      events_(std::move(events)),
      recovery_(recovery_of(scan)),
      remover_(place_.files, place_.folder, options.retry),
      number_(scan.newest_number),
      segments_(scan.segments) {
  remover_.add(scan.leftovers);
  if (!scan.segments.empty()) {
    const auto& newest = scan.segments.back();
    appended_ = newest.next - 1;
    progress_ = {newest.header.timeline, appended_, appended_, newest.header.lives};
  }
  thread_ = std::thread([this] { run(); });
}

JournalWriter::~JournalWriter() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// ---- from any thread

Timeline JournalWriter::timeline() const {
  const std::scoped_lock lock(mutex_);
  return progress_.timeline;
}

JournalSequence JournalWriter::appended() const {
  const std::scoped_lock lock(mutex_);
  return appended_;
}

JournalSequence JournalWriter::committed() const {
  const std::scoped_lock lock(mutex_);
  return progress_.committed;
}

JournalSequence JournalWriter::synced() const {
  const std::scoped_lock lock(mutex_);
  return progress_.synced;
}

std::vector<ShardLife> JournalWriter::lives() const {
  const std::scoped_lock lock(mutex_);
  return progress_.lives;
}

std::string JournalWriter::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

JournalCounters JournalWriter::counters() const {
  const std::scoped_lock lock(mutex_);
  auto counters = counters_;
  counters.segments = segments_.count();
  counters.disk_bytes = segments_.disk_bytes();
  if (busy_since_) {
    counters.busy_seconds = std::chrono::duration<double>(Clock::now() - *busy_since_).count();
  }
  return counters;
}

JournalSequence JournalWriter::append(const JournalRecord& record) {
  assert(fits(record));
  JournalEntry entry{0, record, bytes_of(record)};
  JournalSequence sequence = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (progress_.timeline == 0 || record.timeline != progress_.timeline) {
      return 0;
    }
    sequence = entry.sequence = ++appended_;
    counters_.backlog_bytes += entry.bytes;
    pending_.push_back(std::move(entry));
  }
  changed_.notify_one();
  return sequence;
}

void JournalWriter::release_before(std::uint64_t item) {
  const std::scoped_lock lock(mutex_);
  remover_.add(segments_.release_before(item));
}

StoreStatus JournalWriter::replay(const Journal::Visitor& visit) const {
  const auto held = remover_.hold();
  std::vector<JournalSegment> segments;
  {
    const std::scoped_lock lock(mutex_);
    segments = segments_.all();
  }
  bool wanted = true;
  for (const auto& segment : segments) {
    if (auto replayed = replay_segment(place_.files, segment, visit, wanted); !replayed.ok() || !wanted) {
      return replayed;
    }
  }
  return {};
}

StoreStatus JournalWriter::begin(Timeline timeline) {
  return execute([this, timeline] { return begin_now(timeline); });
}

StoreStatus JournalWriter::record_life(Incarnation incarnation) {
  return execute([this, incarnation] { return record_life_now(incarnation); });
}

void JournalWriter::sync_soon() {
  {
    const std::scoped_lock lock(mutex_);
    wanted_sync_ = progress_.committed;
  }
  changed_.notify_one();
}

StoreStatus JournalWriter::sync() {
  return execute([this] {
    auto status = write_all();
    conclude(status);
    return status;
  });
}

StoreStatus JournalWriter::execute(std::function<StoreStatus()> act) {
  Command command{std::move(act), {}, false};
  std::unique_lock lock(mutex_);
  commands_.push_back(&command);
  changed_.notify_one();
  done_.wait(lock, [&command] { return command.done; });
  return std::move(command.result);
}

// ---- the journal's thread

void JournalWriter::run() {
  disk_.begin();
  std::unique_lock lock(mutex_);
  const auto called = [this] { return ending_ || !commands_.empty() || has_work(); };
  while (!ending_) {
    if (const auto look = next_look()) {
      changed_.wait_until(lock, *look, called);
    } else {
      changed_.wait(lock, called);
    }
    if (!commands_.empty()) {
      run_command(lock);
    } else if (!ending_ && has_work()) {
      busy_since_ = Clock::now();
      lock.unlock();
      conclude(work());
      tell_synced();
      lock.lock();
      busy_since_.reset();
    }
  }
  lock.unlock();
  conclude(write_all());
}

void JournalWriter::run_command(std::unique_lock<std::mutex>& lock) {
  auto& command = *commands_.front();
  commands_.pop_front();
  busy_since_ = Clock::now();
  lock.unlock();
  auto result = command.act();
  lock.lock();
  busy_since_.reset();
  command.result = std::move(result);
  command.done = true;
  done_.notify_all();
}

bool JournalWriter::has_work() const {
  const bool suspect = tail_ && tail_->suspect();
  return Clock::now() >= retry_at_ && (!group_.empty() || !pending_.empty() || suspect || sync_due() || sync_wanted());
}

bool JournalWriter::sync_due() const {
  return options_.sync == JournalSync::interval && tail_ && !tail_->is_synced() && Clock::now() >= next_sync_;
}

std::optional<JournalWriter::Clock::time_point> JournalWriter::next_look() const {
  if (!group_.empty() || !pending_.empty() || (tail_ && tail_->suspect()) || sync_wanted()) {
    return retry_at_;
  }
  const bool will_sync = options_.sync == JournalSync::interval && tail_ && !tail_->is_synced();
  return will_sync ? std::optional(std::max(next_sync_, retry_at_)) : std::nullopt;
}

// What came while the last group was being written is the next one.
void JournalWriter::take_group() {
  const std::scoped_lock lock(mutex_);
  if (group_.empty()) {
    group_.swap(pending_);
  }
}

StoreStatus JournalWriter::work() {
  take_group();
  if (!group_.empty() || (tail_ && tail_->suspect())) {
    if (auto written = write_group(); !written.ok()) {
      return written;
    }
  }
  const bool wanted = [this] {
    const std::scoped_lock lock(mutex_);
    return sync_wanted();
  }();
  return wanted || sync_due() ? sync_tail() : StoreStatus{};
}

void JournalWriter::tell_synced() {
  if (told_synced_ != progress_.synced && events_.synced) {
    events_.synced(progress_.timeline, progress_.synced);
  }
  told_synced_ = progress_.synced;
}

StoreStatus JournalWriter::write_all() {
  for (take_group(); !group_.empty() || (tail_ && tail_->suspect()); take_group()) {
    if (auto written = write_group(); !written.ok()) {
      return written;
    }
  }
  return tail_ && !tail_->is_synced() ? sync_tail() : StoreStatus{};
}

// Of what is free only so much is taken that the snapshot still fits which makes older records needless.
StoreStatus JournalWriter::check_room() {
  if (options_.kept_back == 0) {
    return {};
  }
  std::uint64_t wanted = options_.kept_back;
  for (const auto& entry : group_) {
    wanted += entry.bytes;
  }
  const auto free = place_.files.free_bytes(place_.folder);
  {
    const std::scoped_lock lock(mutex_);
    counters_.free_bytes = free;
  }
  return free >= wanted
             ? StoreStatus{}
             : StoreStatus{StoreCode::no_space,
                           place_.folder.string() +
                               ": cannot write the journal: " + std::to_string(options_.kept_back) +
                               " bytes are kept back for a snapshot, and no more are free; the disk is full: "
                               "make room on it"};
}

// Up to where the group counts as committed.
StoreStatus JournalWriter::write_down() {
  if (auto room = group_.empty() ? StoreStatus{} : check_room(); !room.ok()) {
    return room;
  }
  if (auto prepared = prepare_tail(); !prepared.ok() || group_.empty()) {
    return prepared;
  }
  const bool all_synced = tail_->is_synced();
  if (auto written = tail_->write(group_, progress_.synced); !written.ok()) {
    return written;
  }
  if (options_.sync == JournalSync::always) {
    if (auto synced = sync_tail(); !synced.ok()) {
      return synced;
    }
  }
  tail_->keep();
  if (all_synced) {
    next_sync_ = Clock::now() + options_.interval;
  }
  return {};
}

StoreStatus JournalWriter::write_group() {
  auto written = disk_.measure([this] { return write_down(); }, false);
  if (!written.ok() || group_.empty()) {
    return written;
  }
  {
    const std::scoped_lock lock(mutex_);
    const auto bytes = segments_.extend(tail_->segment());
    counters_.bytes += bytes;
    counters_.backlog_bytes -= bytes;
    counters_.records += group_.size();
    ++counters_.groups;
    progress_.committed = group_.back().sequence;
  }
  group_.clear();
  if (events_.committed) {
    events_.committed(progress_.timeline, progress_.committed);
  }
  return {};
}

StoreStatus JournalWriter::sync_tail() {
  const auto begun = Clock::now();
  auto status = disk_.measure([this] { return tail_->sync(); }, options_.sync != JournalSync::never);
  const auto ended = Clock::now();
  next_sync_ = ended + options_.interval;
  const std::scoped_lock lock(mutex_);
  ++counters_.syncs;
  counters_.sync_seconds += std::chrono::duration<double>(ended - begun).count();
  if (status.ok()) {
    progress_.synced = tail_->synced_through();
  }
  return status;
}

// A segment to which a group can be added.
StoreStatus JournalWriter::prepare_tail() {
  const bool usable = tail_ && !tail_->suspect();
  const bool full = usable && tail_->segment().end >= options_.segment_bytes;
  const bool rotate = rotate_.exchange(false) && usable && !tail_->segment().empty();
  if (usable && !full && !rotate) {
    return {};
  }
  // All but the last segment are synced: only the last one's end can be torn.
  if (usable && !tail_->is_synced()) {
    if (auto synced = sync_tail(); !synced.ok()) {
      return synced;
    }
  }
  return replace_tail({owner_, progress_.timeline, progress_.synced + 1, progress_.lives});
}

// If this fails, the new name may have come to the disk all the same. So it is not used again, nothing more is written
// to the present tail, and what follows has a higher number: that is what counts.
StoreResult<std::unique_ptr<JournalTail>> JournalWriter::make_tail(const JournalHeader& header,
                                                                   const JournalCarry& carry) {
  auto made =
      disk_.measure([&] { return JournalTail::make(place_.files, place_.folder, ++number_, header, carry); }, false);
  if (!made.ok() && tail_) {
    tail_->distrust();
  }
  return made;
}

StoreStatus JournalWriter::replace_tail(const JournalHeader& header) {
  auto made = make_tail(header, tail_ ? tail_->unsynced() : JournalCarry{});
  if (!made.ok()) {
    return made.status();
  }
  if (tail_) {
    tail_->give_up_unsynced();
  }
  const std::scoped_lock lock(mutex_);
  retire(std::exchange(tail_, std::move(made.value())));
  segments_.open(tail_->segment());
  progress_.synced = tail_->synced_through();
  return {};
}

void JournalWriter::retire(std::unique_ptr<JournalTail> old) {
  if (old && old->segment().empty()) {
    remover_.add({old->segment().path});
  } else if (old) {
    segments_.close(old->segment());
  }
}

void JournalWriter::drop_all() {
  group_.clear();
  pending_.clear();
  counters_.backlog_bytes = 0;
  remover_.add(segments_.drop_all());
}

StoreStatus JournalWriter::begin_now(Timeline timeline) {
  if (timeline == 0 || timeline < progress_.timeline) {
    return {StoreCode::mismatch, place_.folder.string() + ": timeline " + std::to_string(timeline) +
                                     " cannot begin: the journal is of timeline " + std::to_string(progress_.timeline)};
  }
  auto made = make_tail({owner_, timeline, 1, {}}, {});
  if (!made.ok()) {
    return made.status();
  }
  {
    const std::scoped_lock lock(mutex_);
    drop_all();
    tail_ = std::move(made.value());
    segments_.open(tail_->segment());
    appended_ = 0;
    wanted_sync_ = 0;
    progress_ = {timeline, 0, 0, {}};
    told_synced_ = 0;
  }
  conclude({});
  return {};
}

StoreStatus JournalWriter::record_life_now(Incarnation incarnation) {
  if (progress_.timeline == 0) {
    return {StoreCode::mismatch, place_.folder.string() + ": a life cannot be recorded before a timeline has begun"};
  }
  auto lives = progress_.lives;
  if (!lives.empty() && lives.back().incarnation == incarnation) {
    return {};
  }
  if (lives.size() == kMaxJournalLives) {
    return {StoreCode::mismatch, place_.folder.string() + ": " + std::to_string(kMaxJournalLives) +
                                     " lives have gone on with timeline " + std::to_string(progress_.timeline) +
                                     ", and there is no room for another one"};
  }
  lives.push_back({incarnation, progress_.committed});
  if (tail_ && !tail_->suspect() && !tail_->is_synced()) {
    if (auto synced = sync_tail(); !synced.ok()) {
      return synced;
    }
  }
  if (auto replaced = replace_tail({owner_, progress_.timeline, progress_.synced + 1, lives}); !replaced.ok()) {
    return replaced;
  }
  const std::scoped_lock lock(mutex_);
  progress_.lives = std::move(lives);
  return {};
}

void JournalWriter::conclude(const StoreStatus& status) {
  if (!status.ok()) {
    {
      const std::scoped_lock lock(mutex_);
      ++counters_.failures;
    }
    retry_at_ = Clock::now() + options_.retry;
    tell_trouble(status.text());
    return;
  }
  retry_at_ = {};
  if (group_.empty() && !(tail_ && tail_->suspect())) {
    tell_trouble({});
  }
}

void JournalWriter::tell_trouble(const std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (trouble_ == text) {
      return;
    }
    trouble_ = text;
  }
  if (events_.trouble) {
    events_.trouble(text);
  }
}

}  // namespace ballast
