#include "cli/asking/top_view.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ballast {
namespace {

SessionStatus worker(SessionId session, const std::string& name, Step step) {
  SessionStatus status;
  status.session = session;
  status.name = name;
  status.live = true;
  status.step = step;
  status.phases = {1'500, 2'000 * session, 30'000, 40'000, 4'000};
  status.slot_time = 20'000 + session;
  return status;
}

TopView view_of(std::size_t workers) {
  TopView view;
  view.status.emplace();
  view.status->job = "a";
  view.status->mode = "sync";
  view.status->phase = JobPhase::training;
  view.status->step = 7;
  view.status->steps = 90;
  for (SessionId i = 0; i < workers; ++i) {
    view.status->sessions.push_back(worker(i + 1, "w" + std::to_string(i), 7));
    view.rates[i + 1] = 10.0 - static_cast<double>(i);
  }
  return view;
}

// The workers that are shown, in order.
std::vector<std::string> workers_in(const TopView& view, TopSize size = {200, 40}) {
  std::vector<std::string> names;
  for (const auto& line : top_lines(view, size)) {
    if (line.starts_with("w") && !line.starts_with("worker") && !line.starts_with("waits")) {
      names.push_back(line.substr(0, line.find(' ')));
    }
  }
  return names;
}

TEST_CASE("top: the job, a line for each live worker, and the keys") {
  auto view = view_of(2);
  view.status->sessions.push_back(worker(9, "gone", 3));
  view.status->sessions.back().live = false;
  view.status->sessions[1].held_up = "it is silent";
  view.status->waits_for = "shard 1";
  const auto lines = top_lines(view, {200, 40});
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "job a, mode sync: training, step 7 of 90");
  CHECK(lines[1] == "loss 0.0000, snapshot of step 0, 0 rollbacks, 0 lost workers; not back: gone");
  CHECK(lines[2] == "waits for: shard 1");
  CHECK(lines[3] ==
        ">worker                  step  slots/s  slot ms  data ms  pull ms  comp ms  push ms   up link down link  "
        "state");
  CHECK(lines[4] ==
        "w0                          7     10.0     20.0      1.5      2.0     70.0      4.0         -         -  ");
  CHECK(lines[5].ends_with("it is silent"));
  CHECK(lines[6].starts_with("q quit"));
}

TEST_CASE("top: sorted by a column, and the other way round") {
  auto view = view_of(3);
  CHECK(workers_in(view) == std::vector<std::string>{"w0", "w1", "w2"});
  view.by = TopColumn::pull;
  CHECK(workers_in(view) == std::vector<std::string>{"w2", "w1", "w0"});
  view.is_reversed = true;
  CHECK(workers_in(view) == std::vector<std::string>{"w0", "w1", "w2"});
  view.is_reversed = false;
  view.by = TopColumn::rate;
  CHECK(workers_in(view) == std::vector<std::string>{"w0", "w1", "w2"});
  view.by = TopColumn::step;  // who is behind comes first
  view.status->sessions[1].step = 5;
  CHECK(workers_in(view) == std::vector<std::string>{"w1", "w0", "w2"});
  for (std::size_t by = 0; by < kTopColumns; ++by) {
    view.by = static_cast<TopColumn>(by);
    CHECK(workers_in(view).size() == 3);
  }
}

TEST_CASE("top: fits into terminals of every size, and scrolls") {
  auto view = view_of(30);
  view.analysis = "one\ntwo\n";
  for (const std::size_t columns : {1U, 20U, 80U, 300U}) {
    for (const std::size_t lines : {1U, 2U, 3U, 4U, 24U, 200U}) {
      CAPTURE(columns);
      CAPTURE(lines);
      const auto all = top_lines(view, {columns, lines});
      CHECK(all.size() <= lines);
      CHECK(std::ranges::all_of(all, [&](const std::string& line) { return line.size() <= columns; }));
    }
  }
  CHECK(workers_in(view, {200, 12}).size() == 8);
  CHECK(top_lines(view, {200, 12}).back().ends_with("1 to 8 of 30 workers"));
  view.first = 5;
  CHECK(workers_in(view, {200, 12}).front() == "w13");  // by name
  view.first = 1'000;
  CHECK(top_lines(view, {200, 12}).back().ends_with("23 to 30 of 30 workers"));
  const auto all = top_lines(view, {200, 40});
  CHECK(all[all.size() - 3] == "one");
  CHECK(all[all.size() - 2] == "two");
}

TEST_CASE("top: names of others move no terminal, and are cut between characters") {
  auto view = view_of(1);
  view.status->sessions[0].name = "w\x1b[2J\xc2\x9b";
  for (const auto& line : top_lines(view, {200, 40})) {
    CHECK(std::ranges::none_of(line, [](char byte) { return static_cast<unsigned char>(byte) < 0x20; }));
    CHECK(line.find("\xc2\x9b") == std::string::npos);
  }
  view.status->sessions[0].name = "w\u00fcrfel";
  CHECK(top_lines(view, {2, 40})[3] == "w\u00fc");
}

TEST_CASE("top: before the lead has answered, and when it does not any more") {
  TopView view;
  CHECK(top_lines(view, {80, 24}).front() == "asking the lead");
  CHECK(top_rows(view) == 0);
  view = view_of(1);
  view.silent = "the lead at x does not answer";
  CHECK(top_lines(view, {80, 24})[2] == "the lead at x does not answer");
}

}  // namespace
}  // namespace ballast
