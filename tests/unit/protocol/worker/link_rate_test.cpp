#include "protocol/worker/link_rate.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("of a link over which nothing has come no rate is known") {
  LinkRate rate;
  CHECK(rate.bytes_per_second() == 0);
  rate.sent(1'000, 10);
  CHECK(rate.bytes_per_second() == 0);
}

TEST_CASE("a rate is what arrives in the time in which something is on its way") {
  LinkRate rate;
  rate.sent(1'000, 1'000);
  rate.arrived(1'000, 2'000);
  CHECK(rate.bytes_per_second() == 1'000'000);
  rate.sent(1'000, 900'000);  // the time between counts for nothing
  rate.sent(1'000, 900'100);
  rate.arrived(1'000, 900'500);
  CHECK(rate.bytes_per_second() == 1'000'000);  // something is still on its way
  rate.arrived(1'000, 901'000);
  CHECK(rate.bytes_per_second() == 2'000'000);
}

TEST_CASE("the best of the last fifteen samples counts: whatever else made one wait made it smaller") {
  LinkRate rate;
  Micros now = 1;
  const auto sample = [&](Micros takes) {
    rate.sent(1'000, now);
    now += takes;
    rate.arrived(1'000, now);
  };
  sample(500);
  for (int i = 0; i < 14; ++i) {
    sample(4'000);
  }
  CHECK(rate.bytes_per_second() == 2'000'000);
  sample(2'000);
  CHECK(rate.bytes_per_second() == 500'000);
}

TEST_CASE("a link that is never idle is sampled every eight arrivals") {
  LinkRate rate;
  rate.sent(1'000, 1'000);
  Micros now = 1'000;
  const auto arrive = [&](int count, Micros each) {
    for (int i = 0; i < count; ++i) {
      rate.sent(1'000, now);
      now += each;
      rate.arrived(1'000, now);
    }
  };
  arrive(7, 1'000);
  CHECK(rate.bytes_per_second() == 0);
  arrive(1, 1'000);
  CHECK(rate.bytes_per_second() == 1'000'000);
  arrive(8, 500);
  CHECK(rate.bytes_per_second() == 2'000'000);
}

TEST_CASE("what was on its way when a sample ended is no sample of its own: word of it may come all at once") {
  LinkRate rate;
  for (int i = 0; i < 20; ++i) {
    rate.sent(1'000, 1'000);
  }
  for (Micros i = 1; i <= 8; ++i) {
    rate.arrived(1'000, 1'000 + i * 1'000);
  }
  CHECK(rate.bytes_per_second() == 1'000'000);
  for (Micros i = 1; i <= 10; ++i) {
    rate.arrived(1'000, 9'000 + i);
  }
  rate.sent(1'000, 20'000);
  rate.arrived(2'000, 20'001);
  CHECK(rate.bytes_per_second() == 1'000'000);
  rate.arrived(1'000, 21'000);  // sent after the second one had begun
  CHECK(rate.bytes_per_second() == 1'083'333);
}

TEST_CASE("what others have brought counts as not sent, and not as arrived") {
  LinkRate rate;
  rate.sent(1'000, 1'000);
  rate.sent(1'000, 1'000);
  rate.sent(1'000, 1'000);
  rate.forget_sent(1'000);
  rate.arrived(1'000, 2'000);
  rate.forget_sent(1'000);
  CHECK(rate.bytes_per_second() == 0);
  rate.sent(1'000, 9'000);
  rate.arrived(1'000, 10'000);
  CHECK(rate.bytes_per_second() == 1'000'000);
}

TEST_CASE("what arrives at the moment at which it was sent is part of the next sample") {
  LinkRate rate;
  rate.sent(2'000, 1'000);
  rate.arrived(1'000, 1'000);
  CHECK(rate.bytes_per_second() == 0);
  rate.arrived(1'000, 2'000);
  CHECK(rate.bytes_per_second() == 2'000'000);
}

TEST_CASE("more may arrive than was sent, as after a repetition") {
  LinkRate rate;
  rate.sent(1'000, 1'000);
  rate.arrived(5'000, 2'000);
  CHECK(rate.bytes_per_second() == 5'000'000);
  rate.sent(1'000, 3'000);
  rate.arrived(1'000, 4'000);
  CHECK(rate.bytes_per_second() == 5'000'000);
}

TEST_CASE("what will not be heard of does not count as on its way") {
  LinkRate rate;
  rate.sent(9'000, 1'000);
  rate.forget_sent();
  rate.sent(1'000, 500'000);
  rate.arrived(1'000, 501'000);
  CHECK(rate.bytes_per_second() == 1'000'000);
}

TEST_CASE("the wait for what the other side has yet to make is not the link's") {
  LinkRate rate;
  rate.awaited(1'000);
  rate.awaited(1'000);
  rate.awaited(1'000);
  rate.arrived(1'000, 900'000);
  CHECK(rate.bytes_per_second() == 0);
  rate.arrived(1'000, 901'000);
  rate.arrived(1'000, 902'000);
  CHECK(rate.bytes_per_second() == 1'000'000);
  rate.arrived(1'000, 902'001);  // which nobody has asked for
  rate.arrived(1'000, 902'002);
  CHECK(rate.bytes_per_second() == 1'000'000);
}

TEST_CASE("a rate begins anew where nothing was on its way in truth") {
  LinkRate rate;
  rate.sent(1'000, 1'000);
  rate.sent(1'000, 500'000);  // the same again
  rate.arrived(1'000, 501'000);
  CHECK(rate.bytes_per_second() == 0);
  rate.forget_sent();
  rate.sent(1'000, 900'000);
  rate.arrived(1'000, 900'500);
  CHECK(rate.bytes_per_second() == 2'000'000);
}
