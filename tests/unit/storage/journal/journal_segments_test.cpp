#include "storage/journal/journal_segments.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using Paths = std::vector<std::filesystem::path>;

JournalSegment segment(std::uint64_t number, std::uint64_t newest_item) {
  JournalSegment segment;
  segment.number = number;
  segment.path = std::to_string(number);
  segment.end = 100;
  segment.newest_item = newest_item;
  return segment;
}

TEST_CASE("a segment is released with its newest item, the oldest first") {
  JournalSegments segments({segment(1, 10), segment(2, 30), segment(3, 20)});
  segments.open(segment(4, 0));
  CHECK(segments.release_before(10).empty());
  CHECK(segments.release_before(25) == Paths{"1"});  // the third waits for the second
  CHECK(segments.release_before(31) == Paths{"2", "3"});
  CHECK(segments.count() == 1);
}

TEST_CASE("one segment always stays, also where none is written to") {
  JournalSegments segments({segment(1, 10), segment(2, 20)});
  CHECK(segments.release_before(99) == Paths{"1"});
  CHECK(segments.release_before(99).empty());
  CHECK(segments.count() == 1);
  CHECK(JournalSegments({}).release_before(99).empty());
}

TEST_CASE("the open segment counts as far as it has been extended") {
  JournalSegments segments({segment(1, 10)});
  CHECK(segments.disk_bytes() == 100);
  segments.open(segment(2, 0));
  auto written = segment(2, 40);
  written.end = 170;
  written.next = 8;
  CHECK(segments.extend(written) == 70);
  CHECK(segments.disk_bytes() == 270);
  REQUIRE(segments.all().size() == 2);
  CHECK(segments.all().back().next == 8);
  CHECK(segments.all().back().newest_item == 40);
}

TEST_CASE("another segment takes the place of the open one, which is closed or dropped") {
  JournalSegments segments({segment(1, 10)});
  segments.open(segment(2, 20));
  segments.close(segment(2, 20));
  segments.open(segment(3, 0));
  CHECK(segments.count() == 3);
  CHECK(segments.drop_all() == Paths{"1", "2", "3"});
  segments.open(segment(4, 0));
  CHECK(segments.count() == 1);
}

}  // namespace
}  // namespace ballast
