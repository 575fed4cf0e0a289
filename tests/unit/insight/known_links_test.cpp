#include "insight/known_links.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

LinkRates rates_of(std::vector<OwnLink> workers, std::vector<double> shards = {0, 0}, double all = 0) {
  return {std::move(workers), std::move(shards), all};
}

TEST_CASE(
    "known links: where others were in the way a link carries what is usual, or what one does that was seen alone") {
  const auto known = known_links(rates_of({{120, 100, true}, {60, 60, false}, {80, 70, false}}),
                                 rates_of({{50, 50, false}, {40, 40, false}, {0, 0, false}}));
  CHECK(known.line == 120);
  CHECK(known.in.workers == std::vector<double>{120, 120, 120});
  CHECK(known.out.workers == std::vector<double>{120, 120, 0});  // what was in nobody's way stays so
  const auto shared =
      known_links(rates_of({{60, 60, false}, {80, 70, false}, {90, 90, false}}), rates_of({{}, {}, {}}));
  CHECK(shared.line == 0);
  CHECK(shared.in.workers == std::vector<double>{80, 80, 90});
}

TEST_CASE("known links: a slow link that was seen alone is slow, and no example for others") {
  const auto known = known_links(rates_of({{9, 9, true}, {60, 60, false}, {80, 70, false}}),
                                 rates_of({{9, 9, true}, {60, 60, false}, {60, 60, false}}));
  CHECK(known.line == 0);
  CHECK(known.in.workers == std::vector<double>{9, 60, 80});
}

TEST_CASE("known links: a link that carries as much as those in whose way others were was not alone in its own") {
  const LinkRates none = rates_of({{}, {}, {}});
  const auto known = known_links(rates_of({{14, 13, true}, {16, 13, false}, {17, 13, false}}), none, 60);
  CHECK(known.in.workers == std::vector<double>{60, 60, 60});
  const auto slow = known_links(rates_of({{12, 12, true}, {16, 13, false}, {17, 13, false}}), none, 60);
  CHECK(slow.in.workers == std::vector<double>{12, 60, 60});
  // One that happened to be in others' way says nothing of the rest.
  const auto most_alone = known_links(rates_of({{13, 13, true}, {13, 13, true}, {14, 13, false}}), none, 60);
  CHECK(most_alone.in.workers == std::vector<double>{13, 13, 60});
}

TEST_CASE(
    "known links: shards of which nothing is seen have the rest, and a way of which nothing is seen is like the "
    "other") {
  const auto known = known_links(rates_of({{}}, {0, 50, 0}, 200), rates_of({{}}, {0, 0, 0}, 0));
  CHECK(known.in.shards == std::vector<double>{75, 50, 75});
  CHECK(known.out.shards == std::vector<double>{0, 0, 0});
  CHECK(known.in.all == 200);
  CHECK(known.out.all == 200);
}

}  // namespace
}  // namespace ballast::insight
