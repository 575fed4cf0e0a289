#include "cli/advising/foretelling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/advising/advise_text.h"
#include "tests/unit/cli/advising/fleet.h"

namespace ballast {
namespace {

using testing::fleet_of;
using testing::job_of;
using testing::kSlotMicros;
using testing::machine;
using testing::machine_with_link;

constexpr double kMegabyte = 1 << 20;

double step_of(const Foretelling& found, const Candidate& candidate) {
  const auto at = std::ranges::find(found.tried, candidate, &Foretold::candidate);
  REQUIRE(at != found.tried.end());
  return at->step;
}

TEST_CASE("bound by computing: each worker more pays, and neither shards nor lanes do") {
  const auto found = foretell(job_of(4), fleet_of(machine(), 4, 16), false);
  CHECK(step_of(found, {1, 1, 1}) == doctest::Approx(16 * kSlotMicros).epsilon(0.05));
  CHECK(step_of(found, {1, 1, 4}) == doctest::Approx(4 * kSlotMicros).epsilon(0.05));
  CHECK(step_of(found, {1, 1, 16}) == doctest::Approx(kSlotMicros).epsilon(0.1));
  CHECK(found.tried[found.least].candidate.workers == 16);
  CHECK(found.tried[found.least].candidate.shards == 1);
  REQUIRE(found.limiting.limit);
  CHECK(found.limiting.limit->what == Bound::compute);
  CHECK(found.limiting.limit->takes < 0.6 * step_of(found, {1, 1, 16}));
}

TEST_CASE("bound by the servers' link: shards on further machines pay, and more workers do not") {
  // A step of 8 workers brings 64 MB to the servers, and takes as much from there, partly at the same time.
  auto fleet = fleet_of(machine_with_link(100), 4, 8);
  const auto job = job_of(8);
  const auto found = foretell(job, fleet, false);
  const auto one = step_of(found, {1, 1, 8});
  const auto four = step_of(found, {4, 1, 8});
  CHECK(one > 8 * 8 * kMegabyte / 100);
  CHECK(four < 0.5 * one);
  CHECK(found.tried[found.least].candidate.shards == 4);
  fleet.server_machines = 1;
  const auto alone = foretell(job, fleet, false);
  CHECK(alone.tried[alone.least].candidate.workers < 8);
  fleet.server_link = 1e5;  // then each worker's own is left
  const auto wide = foretell(job, fleet, false);
  CHECK(wide.tried[wide.least].candidate.workers == 8);
  CHECK(wide.tried[wide.least].candidate.shards == 1);
}

TEST_CASE("what limits a job with a slow server link is that link") {
  auto fleet = fleet_of(machine_with_link(1'000), 1, 4);
  fleet.server_link = 100;
  const auto found = foretell(job_of(8, "{workers: 4}"), fleet, false,
                              {.fits = [](const Candidate& one) { return one.workers == 4 && one.lanes == 1; }});
  REQUIRE(found.own);
  REQUIRE(found.limiting.limit);
  CHECK(found.limiting.limit->what == Bound::server_links);
  REQUIRE(found.next.limit);
  CHECK(found.next.limit->what == Bound::compute);
}

TEST_CASE("a server's link may be as thin as any, and be far away") {
  auto probe = machine_with_link(1'000);
  probe.links[0].round_trip = 4e6;
  auto fleet = fleet_of(probe, 2, 8);
  fleet.server_link = 1;  // a byte a microsecond: eight seconds for the model of each worker
  const auto job = job_of(8, "{workers: 8}");
  for (const auto& candidate : {Candidate{1, 1, 1}, Candidate{1, 1, 8}, Candidate{2, 1, 8}, Candidate{4, 2, 8}}) {
    const auto step = foretold_step(foretold_job(job, fleet, candidate, false), fleet);
    REQUIRE(step);
    const auto machines = std::min(2U, candidate.shards);
    CHECK(*step > 0.9 * candidate.workers * 8 * kMegabyte / machines);
  }
}

TEST_CASE("bound by lanes: more of them pay as far as there are processors") {
  auto probe = machine();
  probe.lane->sum = 0.02;  // 21 ms a megabyte
  probe.slot->alone = probe.slot->joined = {1'000};
  const auto found = foretell(job_of(8), fleet_of(probe, 1, 4), false,
                              {.fits = [](const Candidate& one) { return one.workers == 4; }});
  const auto one = step_of(found, {1, 1, 4});
  CHECK(one > 32 * 20'000);
  CHECK(step_of(found, {1, 4, 4}) < 0.4 * one);
  CHECK(found.tried[found.least].candidate.lanes == 4);
  REQUIRE(found.limiting.limit);
  CHECK(found.limiting.limit->what == Bound::lanes);
}

TEST_CASE("of a tiny model more lanes do not pay") {
  const auto found = foretell(job_of(1), fleet_of(machine(), 1, 4), false);
  CHECK(found.tried[found.least].candidate.lanes == 1);
}

TEST_CASE("bound by reading examples") {
  auto probe = machine();
  probe.slot->fetch = 3 * kSlotMicros;
  const auto found = foretell(job_of(1), fleet_of(probe, 1, 2), false);
  REQUIRE(found.limiting.limit);
  CHECK(found.limiting.limit->what == Bound::data);
  CHECK(step_of(found, {1, 1, 2}) > 20 * kSlotMicros);
}

TEST_CASE("the fewest machines within five percent are advised, not the best") {
  // Updates take 1.7 s however many workers there are, and 16 slots 0.8 s over all workers.
  auto probe = machine();
  probe.lane->apply = 0.2;
  const auto found =
      foretell(job_of(8), fleet_of(probe, 1, 16), false, {.fits = [](const Candidate& one) { return one.lanes == 1; }});
  const auto& least = found.tried[found.least];
  CHECK(found.least != found.best);
  CHECK(least.step <= 1.05 * found.tried[found.best].step);
  for (const auto& one : found.tried) {
    CHECK((one.candidate.workers >= least.candidate.workers || one.step > 1.05 * found.tried[found.best].step));
  }
}

TEST_CASE("processes of one machine share its processors") {
  auto probe = machine();
  probe.slot->processors = 1;
  auto fleet = fleet_of(probe, 1, 16);
  fleet.is_one_machine = true;
  const auto found = foretell(job_of(1), fleet, false);
  CHECK(step_of(found, {1, 1, 4}) == doctest::Approx(4 * kSlotMicros).epsilon(0.1));
  CHECK(step_of(found, {1, 1, 16}) == doctest::Approx(4 * kSlotMicros).epsilon(0.1));
  CHECK(found.tried[found.least].candidate.workers == 4);
}

TEST_CASE("what the job's file says is tried first, and nothing after the time is over") {
  const auto job = job_of(4, "{shards: 2, lanes: 3, workers: 5}");
  const auto fleet = fleet_of(machine(), 2, 6);
  const auto all = candidates(job, fleet);
  CHECK(all.front() == Candidate{2, 3, 5});
  for (const auto& one : all) {
    CHECK(std::ranges::count(all, one) == 1);
    CHECK(one.workers <= 6);
    CHECK(one.shards <= 2);
    CHECK(one.lanes <= 4);
  }
  int looks = 0;
  const auto found = foretell(job, fleet, false, {.goes_on = [&looks] { return ++looks <= 1; }});
  CHECK(found.tried.size() == 1);
  CHECK(found.own == 0);
  CHECK(found.untried == all.size() - 1);
  const auto none = foretell(job, fleet, false, {.goes_on = [] { return false; }});
  CHECK(none.tried.empty());
  CHECK(none.untried == all.size());
  CHECK(foretell(job, fleet, false, {.fits = [](const Candidate&) { return false; }}).tried.empty());
}

TEST_CASE("no more workers are tried than a step has slots") {
  for (const auto& one : candidates(job_of(1), fleet_of(machine(), 1, 1'000))) {
    CHECK(one.workers <= 16);
  }
}

TEST_CASE("a job as large as any is tried by a bounded number of candidates") {
  const auto job = job_of(300, "{shards: 64, lanes: 16, workers: 16}");
  CHECK(candidates(job, fleet_of(machine(), 64, 1'000)).size() < 500);
}

TEST_CASE("what was not looked for is not said not to be there") {
  const auto job = job_of(4);
  const auto fleet = fleet_of(machine(), 1, 4);
  const auto said_after = [&](int replays) {
    int looks = 0;
    const auto found = foretell(job, fleet, false, {.explains = [&] { return ++looks <= replays; }});
    return std::pair(advice_text({job, fleet, found, {}}), advice_json({job, fleet, found, {}}));
  };
  for (const auto replays : {0, 1}) {  // of compute and lanes; nothing is known of links
    const auto [text, json] = said_after(replays);
    CHECK(text.find("what limits it: not looked for: longer with --seconds\n") != std::string::npos);
    CHECK(text.find("next would be") == std::string::npos);
    CHECK(json.find("\"limit_is_known\": false") != std::string::npos);
    CHECK(json.find("\"limit\": null") != std::string::npos);
  }
  const auto [text, json] = said_after(2);
  CHECK(text.find("what limits it: computing slots") != std::string::npos);
  CHECK(text.find("next would be: not looked for: longer with --seconds\n") != std::string::npos);
  CHECK(json.find("\"limit_is_known\": true") != std::string::npos);
  CHECK(json.find("\"next_is_known\": false") != std::string::npos);
  const auto all = said_after(3);
  CHECK(all.first.find("next would be: nothing else; the same again") != std::string::npos);
  CHECK(all.second.find("\"next_is_known\": true") != std::string::npos);
}

TEST_CASE("of a large job fewer steps are replayed, and what is too large is told from what there was no time for") {
  auto spec = job_of(300).spec;
  spec.training.slots = 16'384;
  const auto job = make_job(spec);
  const auto fleet = fleet_of(machine(), 1, 16'384);
  CHECK(foretold_job(job, fleet, {1, 1, 4}, false).times.steps == 12);
  const auto steps = foretold_job(job, fleet, {1, 1, 4'096}, false).times.steps;
  CHECK(steps >= 1);
  CHECK(steps < 4);
  CHECK(foretold_job(job, fleet, {1, 1, 16'384}, false).times.steps == 0);
  const auto found = foretell(job, fleet, false, {.fits = [](const Candidate& one) { return one.workers == 16'384; }});
  CHECK(found.tried.empty());
  CHECK(found.untried == 0);
  CHECK(found.too_large == 3);  // one, two and four lanes
  const auto why = left_out_of(found, 2);
  REQUIRE(why.size() == 2);
  CHECK(why[0].find("3 divisions of the job were not tried, of which not even two steps can be replayed") == 0);
  CHECK(why[1].find("2 divisions of the job were not tried, for which machines have too little memory") == 0);
  Foretelling hasty;
  hasty.untried = 1;
  CHECK(left_out_of(hasty, 0)[0] == "1 division of the job was not tried for want of time: longer with --seconds");
}

TEST_CASE("what is said names the advised one, what limits it, and what is not known") {
  const auto job = job_of(4);
  const auto fleet = fleet_of(machine(), 1, 4);
  const auto found = foretell(job, fleet, false);
  const Advised advised{job, fleet, found, unknown_of(job, fleet)};
  const auto text = advice_text(advised);
  CHECK(text.find("advised: 4 workers, 1 shard of 1 lane; a step takes 20") != std::string::npos);
  CHECK(text.find("what limits it: computing slots; were that twice as fast, a step would take 10") !=
        std::string::npos);
  CHECK(text.find("not known: what workers' links carry, so none of them is taken to be in the way") !=
        std::string::npos);
  CHECK(text.find("--server-mbit") != std::string::npos);
  CHECK(unknown_of(job, fleet_of(machine_with_link(100), 1, 4))[0].find("104.9 MB") == std::string::npos);
  CHECK(unknown_of(job, fleet_of(machine_with_link(100), 1, 4))[0].find("100.0 MB a second") != std::string::npos);
}

}  // namespace
}  // namespace ballast
