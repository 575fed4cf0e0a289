// Cuts and flipped bits in any file of a journal: what is whole before a torn end is found again, everything else is
// told. Never a wrong record.
#include <doctest/doctest.h>

#include "storage/journal/journal.h"
#include "storage/journal/journal_scan.h"
#include "tests/unit/storage/journal/journal_memory_files.h"
#include "tests/unit/storage/journal/journal_testing.h"

namespace ballast {
namespace {

JournalOptions options_of(JournalFiles& files, JournalSync sync = JournalSync::always) {
  JournalOptions options;
  options.sync = sync;
  options.files = &files;
  return options;
}

// Three segments of five records; each record of the last is a group of its own. Offsets behind each of its records.
std::vector<std::size_t> make_journal(MemoryJournalFiles& files) {
  RecordMaker maker;
  std::vector<std::size_t> ends;
  const auto journal = open_journal("journal", options_of(files));
  REQUIRE(journal->begin(1).ok());
  for (JournalSequence n = 1; n <= 15; ++n) {
    if (n % 5 == 1) {
      journal->rotate();
    }
    REQUIRE(journal->append(maker.make(n, 1)) == n);
    REQUIRE(journal->sync().ok());
    if (n > 10) {
      ends.push_back(files.content(files.names().back()).size());
    }
  }
  return ends;
}

// What is found: how many records, each of which is the right one; or why not.
StoreResult<JournalSequence> read_again(MemoryJournalFiles& files) {
  const auto opened = Journal::open("journal", kOwner, options_of(files), {});
  if (!opened.ok()) {
    return opened.status();
  }
  RecordMaker maker;
  return check_replay(*opened.value(), maker);
}

void check_text(const StoreStatus& status, const std::string& file) {
  CAPTURE(status.text());
  CHECK(status.code() == StoreCode::corrupt);
  CHECK(status.text().find("journal/" + file + ": ") == 0);
  CHECK(status.text().find("; " + std::string(kDamageRemedy)) != std::string::npos);
}

TEST_CASE("the last segment cut anywhere: the records that are whole are found, the rest is cut off") {
  MemoryJournalFiles whole;
  const auto ends = make_journal(whole);
  const auto last = whole.names().back();
  const auto bytes = whole.content(last);
  std::size_t header = 0;
  REQUIRE(decode_journal_header(bytes, header).ok());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto files = whole.copy();
    files->add(last, bytes.substr(0, size));
    const auto found = read_again(*files);
    if (size < header) {  // segments get their names when their headers are whole
      REQUIRE_FALSE(found.ok());
      check_text(found.status(), last);
      continue;
    }
    const auto kept = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
    REQUIRE(found.ok());
    REQUIRE(found.value() == 10 + kept);
    REQUIRE(files->content(last) == bytes.substr(0, kept == 0 ? header : ends[kept - 1]));
    REQUIRE(read_again(*files).value() == 10 + kept);
  }
}

TEST_CASE("a journal goes on behind an end that was cut off") {
  MemoryJournalFiles files;
  make_journal(files);
  const auto last = files.names().back();
  files.add(last, files.content(last).substr(0, files.content(last).size() - 3));
  RecordMaker maker;
  {
    const auto journal = open_journal("journal", options_of(files));
    CHECK(journal->recovery().cut.find("journal/" + last + ": offset ") == 0);
    CHECK(journal->recovery().cut_bytes > 0);
    REQUIRE(journal->append(maker.make(15, 1)) == 15);
    REQUIRE(journal->append(maker.make(16, 1)) == 16);
  }
  CHECK(read_again(files).value() == 16);
}

TEST_CASE("every flipped bit is told, or belongs to the very last record and cuts it off") {
  MemoryJournalFiles whole;
  const auto ends = make_journal(whole);
  const auto names = whole.names();
  for (const auto& name : names) {
    const auto bytes = whole.content(name);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      auto flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const auto files = whole.copy();
      files->add(name, flipped);
      const auto found = read_again(*files);
      const bool in_last = name == names.back() && bit / 8 >= ends[ends.size() - 2];
      REQUIRE(found.ok() == in_last);
      if (in_last) {
        REQUIRE(found.value() == 14);
      } else if (bit % 97 == 0) {
        check_text(found.status(), name);
      }
    }
  }
}

TEST_CASE("records that no sync covers may be torn, with whole ones behind them") {
  MemoryJournalFiles files;
  std::size_t begin = 0;
  {
    RecordMaker maker;
    const auto journal = open_journal("journal", options_of(files, JournalSync::never));
    REQUIRE(journal->begin(1).ok());
    REQUIRE(journal->append(maker.make(1, 1)) == 1);
    REQUIRE(journal->sync().ok());
    begin = files.content(files.names().back()).size();
    for (JournalSequence n = 2; n < 10; ++n) {
      journal->append(maker.make(n, 1));
    }
  }
  const auto last = files.names().back();
  auto bytes = files.content(last);
  bytes[begin + 30] = static_cast<char>(bytes[begin + 30] ^ 1);
  files.add(last, bytes);
  CHECK(read_again(files).value() == 1);
}

TEST_CASE("a segment that is missing or put in another's place is told") {
  MemoryJournalFiles whole;
  make_journal(whole);
  const auto names = whole.names();
  REQUIRE(names.size() == 3);
  auto files = whole.copy();
  REQUIRE(files->remove(names[1]) == 0);
  auto found = read_again(*files);
  REQUIRE_FALSE(found.ok());
  check_text(found.status(), names[0]);
  CHECK(found.status().text().find("records 6 to 10 before " + names[2] + " are missing") != std::string::npos);
  files = whole.copy();
  files->add(names[1], whole.content(names[0]).append(whole.content(names[1])));
  CHECK_FALSE(read_again(*files).ok());
  files = whole.copy();
  files->add(names[1], whole.content(names[1]) + "more");  // of no account: the next segment begins behind record 10
  CHECK(read_again(*files).value() == 15);
}

TEST_CASE("a journal that is refused stays as it is") {
  MemoryJournalFiles files;
  make_journal(files);
  const auto names = files.names();
  auto bytes = files.content(names[0]);
  bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 1);
  files.add(names[0], bytes);
  files.add(names[2], files.content(names[2]) + "torn");
  const auto before = files.content(names[2]);
  CHECK_FALSE(read_again(files).ok());
  CHECK(files.names() == names);
  CHECK(files.content(names[2]) == before);
}

TEST_CASE("a file that cannot be read is told as such, not as damage") {
  MemoryJournalFiles files;
  make_journal(files);
  const auto second = files.names()[1];
  int reads = 0;
  files.set_judge([&](FileCall call, const std::string& name) {
    return call == FileCall::read && name == second && ++reads > 1 ? EIO : 0;  // the header can be read
  });
  const auto found = read_again(files);
  REQUIRE_FALSE(found.ok());
  CHECK(found.status().code() == StoreCode::io);
  CHECK(found.status().text().find("journal/" + second + ": cannot read at offset") == 0);
}

}  // namespace
}  // namespace ballast
