#include "protocol/lane/chunk_table.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a lane's chunks are found by their ids, and gone through in the order of these") {
  struct State {
    LaneChunk spec;
    int value = 0;
  };
  ChunkTable<State> chunks({{7, 10, false}, {2, 20, true}, {5, 30, false}}, [](const LaneChunk& chunk) {
    return State{chunk, static_cast<int>(chunk.bytes)};
  });
  CHECK(chunks.size() == 3);
  CHECK(chunks[0].spec.id == 2);
  CHECK(chunks[2].spec.id == 7);
  REQUIRE(chunks.find(5) != nullptr);
  CHECK(chunks.find(5)->value == 30);
  CHECK(chunks.find(1) == nullptr);
  CHECK(chunks.find(6) == nullptr);
  CHECK(chunks.find(8) == nullptr);
  const auto copy = chunks;
  chunks.find(5)->value = 1;
  CHECK(copy.find(5)->value == 30);
}
