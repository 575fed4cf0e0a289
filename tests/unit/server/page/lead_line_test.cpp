#include "server/page/lead_line.h"

#include <doctest/doctest.h>

#include <future>

namespace ballast {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a view is put together when somebody wants it") {
  LeadLine line;
  int told = 0;
  line.on_view([&] { ++told; });
  CHECK_FALSE(line.is_view_wanted());
  CHECK(line.newest() == nullptr);
  line.want_view();
  CHECK(line.is_view_wanted());
  line.show({{}, {}, 5});
  CHECK_FALSE(line.is_view_wanted());
  CHECK(told == 1);
  CHECK(line.newest()->at == 5);
  CHECK(line.await_view(5, 1ms) == nullptr);  // none is newer
  CHECK(line.await_view(4, 1ms)->at == 5);
}

TEST_CASE("a question has its own answer, whatever else is answered late") {
  LeadLine line;
  CHECK_FALSE(line.ask({}, 1ms));
  const auto first = line.take_questions().at(0).number;
  auto asked = std::async(std::launch::async, [&] { return line.ask({}, 10s); });
  std::vector<TraceAsked> questions;
  while (questions.empty()) {
    questions = line.take_questions();
  }
  CHECK(questions[0].number != first);
  TracePart late;
  late.number = first;
  late.next = 1;
  line.answer(late);
  TracePart part;
  part.number = questions[0].number;
  part.next = 2;
  line.answer(part);
  CHECK(asked.get()->next == 2);
}

TEST_CASE("who waits when the line ends has nothing") {
  LeadLine line;
  auto asked = std::async(std::launch::async, [&] { return line.ask({}, 60s); });
  while (line.take_questions().empty()) {
  }
  line.end();
  CHECK_FALSE(asked.get());
  CHECK(line.await_view(0, 60s) == nullptr);
  CHECK_FALSE(line.ask({}, 60s));
}

}  // namespace
}  // namespace ballast
