#include "protocol/lane/pending_items.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

ItemUpdate update(ChunkId chunk, ItemId item) {
  ItemUpdate update;
  update.chunk = chunk;
  update.item = item;
  update.payload = 100 + item;
  return update;
}

}  // namespace

TEST_CASE("items are taken in the order of their tickets, as far as they are committed") {
  PendingItems pending;
  CHECK(pending.add(update(3, 7)).ticket == 1);
  CHECK(pending.add(update(5, 6)).ticket == 2);
  CHECK_FALSE(pending.has_committed());
  pending.committed(1, 50);
  CHECK(pending.sequence() == 50);
  REQUIRE(pending.has_committed());
  CHECK(pending.take().item == 7);
  CHECK_FALSE(pending.has_committed());
  pending.committed(1, 40);  // late
  CHECK(pending.sequence() == 50);
  CHECK(pending.size() == 1);
}

TEST_CASE("an item is found by its chunk and its number") {
  PendingItems pending;
  pending.add(update(3, 7));
  CHECK(pending.find(3, 7) != nullptr);
  CHECK(pending.find(5, 7) == nullptr);
  CHECK(pending.find(3, 6) == nullptr);
  pending.add(update(5, 6));
  pending.committed(1, 1);
  pending.take();
  CHECK(pending.find(3, 7) == nullptr);
  REQUIRE(pending.find(5, 6) != nullptr);
  CHECK(pending.find(5, 6)->payload == 106);
  pending.forget();
  CHECK(pending.find(5, 6) == nullptr);
  pending.add(update(3, 8));
  CHECK(pending.find(5, 6) == nullptr);
  REQUIRE(pending.find(3, 8) != nullptr);
  CHECK(pending.find(3, 8)->ticket == 3);
}

TEST_CASE("commits of another timeline are no news, and tickets go on") {
  PendingItems pending;
  pending.add(update(3, 0));
  pending.add(update(3, 1));
  CHECK(pending.forget() == std::vector<PayloadId>{100, 101});
  pending.begin(4);
  CHECK(pending.add(update(3, 0)).ticket == 3);
  pending.committed(2, 90);
  CHECK_FALSE(pending.has_committed());
  CHECK(pending.sequence() == 4);
  pending.committed(3, 5);
  CHECK(pending.has_committed());
}
