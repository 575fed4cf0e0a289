#include "insight/link_rates.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace ballast::insight {
namespace {

// Messages of a kilobyte of one worker, all sent at once, that arrive one after the other.
void send(std::vector<Carried>& messages, std::size_t worker, double at, double rate, std::size_t count = 100) {
  for (std::size_t i = 1; i <= count; ++i) {
    messages.push_back({at, at + 1'000 * static_cast<double>(i) / rate, 1'000, worker, i % 2});
  }
}

// In each of twelve steps four workers send as much to a shard of 16 bytes a microsecond as to one of 4.
std::vector<Carried> over_unlike_shards() {
  std::vector<Carried> messages;
  for (double step = 0; step < 12; ++step) {
    for (std::size_t worker = 0; worker < 4; ++worker) {
      for (double chunk = 1; chunk <= 100; ++chunk) {
        const auto at = 1'000'000 * step;
        messages.push_back({at, at + 250 * chunk, 1'000, worker, 0});
        messages.push_back({at, at + 1'000 * chunk, 1'000, worker, 1});
      }
    }
  }
  return messages;
}

TEST_CASE("link rates: a worker's link carries what it carries while its messages wait") {
  std::vector<Carried> messages;
  for (const double step : {0, 1'000'000, 2'000'000}) {
    send(messages, 0, step, 10);
    send(messages, 1, step + 300'000, 2);
  }
  const auto rates = link_rates(messages, 2, 2, 2'000);
  CHECK(rates.workers[0].rate == doctest::Approx(10).epsilon(0.01));
  CHECK(rates.workers[1].rate == doctest::Approx(2).epsilon(0.01));
  CHECK(rates.workers[0].is_alone);
  // They are never busy together.
  CHECK(rates.all == 0);
}

TEST_CASE("link rates: what most workers use at a time carries what all of them get through") {
  std::vector<Carried> messages;
  for (const double step : {0, 1'000'000, 2'000'000}) {
    for (std::size_t worker = 0; worker < 4; ++worker) {
      send(messages, worker, step, 5);
    }
  }
  const auto rates = link_rates(messages, 4, 2, 2'000);
  CHECK(rates.all == doctest::Approx(20).epsilon(0.1));
  CHECK(rates.shards[0] == 0);  // it is what all share that is in the way
  CHECK(rates.workers[3].rate == doctest::Approx(5).epsilon(0.1));
  CHECK_FALSE(rates.workers[3].is_alone);  // it may carry more
}

TEST_CASE("link rates: a shard's own link shows where the others carry nothing besides") {
  const auto messages = over_unlike_shards();
  const auto rates = link_rates(messages, 4, 2, 5'000);
  CHECK(rates.all == doctest::Approx(20).epsilon(0.1));
  CHECK(rates.shards[0] == 0);
  CHECK(rates.shards[1] == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("link rates: shards on machines of their own share nothing, and are in workers' way as far as was said") {
  const auto messages = over_unlike_shards();
  const auto seen = link_rates(messages, 4, 2, 5'000, {20, 20});
  CHECK(seen.all == 0);
  CHECK(seen.shards[0] == doctest::Approx(16).epsilon(0.1));
  CHECK(seen.shards[1] == doctest::Approx(4).epsilon(0.05));
  std::vector<Carried> few;  // too few to tell
  std::ranges::copy_if(messages, std::back_inserter(few),
                       [](const Carried& each) { return each.sent == 0 && each.shard == 1; });
  CHECK(link_rates(few, 4, 2, 25'000, {20, 4}).shards[1] == 0);
  CHECK_FALSE(link_rates(few, 4, 2, 25'000, {20, 4}).workers[0].is_alone);
  CHECK(link_rates(few, 4, 2, 25'000).workers[0].is_alone);
}

TEST_CASE("link rates: of what comes by several connections at once only that counts which came meanwhile") {
  std::vector<Carried> messages;
  for (double step = 0; step < 40'000'000; step += 1'000'000) {
    for (std::size_t lane = 0; lane < 2; ++lane) {  // half of a link of 10 each, the second one's half a message later
      for (double chunk = 1; chunk <= 4; ++chunk) {
        const auto arrived = step + 200'000 * chunk - (lane == 1 ? 100'000 : 0);
        messages.push_back({step, arrived, lane == 1 && chunk == 1 ? 500'000.0 : 1'000'000.0, 0, 0, lane});
      }
    }
  }
  CHECK(link_rates(messages, 1, 1, 250'000).workers[0].rate == doctest::Approx(10).epsilon(0.001));
}

TEST_CASE("link rates: one slow worker that others wait for does not make the servers' link slow") {
  std::vector<Carried> messages;
  for (const double step : {0, 1'000'000, 2'000'000, 3'000'000}) {
    for (std::size_t worker = 0; worker < 3; ++worker) {
      for (double chunk = 0; chunk < 100; ++chunk) {  // one as each of the slow one's is there
        messages.push_back({step + 5'000 * chunk, step + 5'000 * chunk + 100, 1'000, worker, 0});
      }
    }
    send(messages, 3, step, 0.2);
  }
  const auto rates = link_rates(messages, 4, 2, 20'000);
  CHECK(rates.all == 0);
  CHECK(rates.workers[3].rate == doctest::Approx(0.2).epsilon(0.02));
}

TEST_CASE("link rates: what waited for nothing, and nothing at all, show no rate") {
  CHECK(link_rates({}, 1, 1, 2'000).workers[0].rate == 0);
  std::vector<Carried> messages;
  for (double at = 0; at < 100'000; at += 1'000) {
    messages.push_back({at, at + 10, 1'000, 0, 0});
  }
  const auto rates = link_rates(messages, 1, 1, 2'000);
  CHECK(rates.workers[0].rate == 0);
  CHECK(rates.shards[0] == 0);
}

}  // namespace
}  // namespace ballast::insight
