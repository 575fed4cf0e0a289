#include "server/departure.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("a server that ends without a failure has departed if a lane has let it go") {
  DepartureRecord record;
  CHECK(record.of({}) == Departure::none);
  record.told_to_end("SIGTERM");
  CHECK(record.of({}) == Departure::none);  // the job ended before
  record.let_go();
  CHECK(record.of({}) == Departure::held);
}

TEST_CASE("a server that ends for what it was told has departed at once, and for anything else it has failed") {
  DepartureRecord record;
  record.told_to_end("SIGTERM");
  CHECK(record.of("SIGTERM") == Departure::at_once);
  CHECK(record.of("the disk is gone") == Departure::none);
}

TEST_CASE("a server is out of patience by the word of whichever lane ends it, though others say something else") {
  DepartureRecord record;
  record.told_to_end("SIGTERM");
  record.lost("steps 0 to 3 are lost");
  record.lost("steps 0 to 4 are lost");
  CHECK(record.of("steps 0 to 3 are lost") == Departure::out_of_patience);
  CHECK(record.of("steps 0 to 4 are lost") == Departure::out_of_patience);
  CHECK(record.of("the disk is gone") == Departure::none);
}

}  // namespace
}  // namespace ballast
