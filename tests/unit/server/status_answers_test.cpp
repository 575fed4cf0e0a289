#include "server/status_answers.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

Step step_of(const SharedBytes& bytes) {
  const auto decoded = decode(*bytes, 0, false);
  return std::get<Status>(std::get<Message>(decoded)).step;
}

TEST_CASE("a status is put together once for all who ask within a moment, whatever version they speak") {
  StatusAnswers answers;
  Step made = 0;
  const auto make = [&] {
    Status status;
    status.step = ++made;
    return status;
  };
  const auto first = answers.answer(kProtocolVersion, 1'000, make);
  CHECK(step_of(first) == 1);
  for (int i = 0; i < 1'000; ++i) {
    CHECK(answers.answer(kProtocolVersion, 1'000 + i * StatusAnswers::kAge / 1'000, make) == first);
  }
  const auto older = answers.answer(kOldestProtocolVersion, 1'000 + StatusAnswers::kAge, make);
  CHECK(step_of(older) == 1);
  CHECK(decode(*older, 0, false).version == kOldestProtocolVersion);
  CHECK(made == 1);
  CHECK(step_of(answers.answer(kProtocolVersion, 1'001 + StatusAnswers::kAge, make)) == 2);
  CHECK(step_of(first) == 1);  // whoever still sends it has it
}

}  // namespace
}  // namespace ballast
