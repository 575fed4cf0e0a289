// docs/messages.md is what the table of messages says. To write it anew:
//   BALLAST_UPDATE_DOCS=1 build/tests/unit/common/wire/wire-test
#include "common/wire/reference.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "protocol/messages.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace {

// Enumerations are cast to the schema's and back, so each word has the same number in both.
template <typename Of, typename Ours>
void check_same(std::initializer_list<std::pair<Of, Ours>> words) {
  CHECK(words.size() == static_cast<std::size_t>(Of::MAX) + 1);
  for (const auto& [theirs, ours] : words) {
    CHECK(static_cast<int>(theirs) == static_cast<int>(ours));
  }
}

TEST_CASE("the words of enumerations are those of the schema") {
  namespace s = schema;
  using R = RefusalCode;
  using O = ReceiptOutcome;
  using C = Control::Command;
  check_same<s::ReceiptOutcome, O>({{s::ReceiptOutcome::accepted, O::accepted},
                                    {s::ReceiptOutcome::duplicate, O::duplicate},
                                    {s::ReceiptOutcome::expired, O::expired},
                                    {s::ReceiptOutcome::not_yet, O::not_yet}});
  check_same<s::RefusalCode, R>({{s::RefusalCode::malformed, R::malformed},
                                 {s::RefusalCode::wrong_protocol, R::wrong_protocol},
                                 {s::RefusalCode::unknown_session, R::unknown_session},
                                 {s::RefusalCode::wrong_job, R::wrong_job},
                                 {s::RefusalCode::wrong_target, R::wrong_target},
                                 {s::RefusalCode::out_of_range, R::out_of_range},
                                 {s::RefusalCode::not_serving, R::not_serving},
                                 {s::RefusalCode::too_many, R::too_many},
                                 {s::RefusalCode::not_taken, R::not_taken},
                                 {s::RefusalCode::wrong_bits, R::wrong_bits}});
  check_same<s::Split, Split>({{s::Split::validation, Split::validation}, {s::Split::test, Split::test}});
  check_same<s::Ending, Ending>({{s::Ending::finished, Ending::finished},
                                 {s::Ending::stopped, Ending::stopped},
                                 {s::Ending::failed, Ending::failed}});
  check_same<s::ControlCommand, C>({{s::ControlCommand::stop, C::stop},
                                    {s::ControlCommand::pause, C::pause},
                                    {s::ControlCommand::resume, C::resume}});
  REQUIRE(kJobPhaseNames.size() == static_cast<std::size_t>(s::JobPhase::MAX) + 1);
  for (std::size_t phase = 0; phase < kJobPhaseNames.size(); ++phase) {
    CHECK(std::string(s::EnumNamesJobPhase()[phase]) == kJobPhaseNames[phase]);
  }
}

TEST_CASE("docs/messages.md is up to date") {
  const std::string path = std::string(BALLAST_SOURCE_ROOT) + "/docs/messages.md";
  if (std::getenv("BALLAST_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << messages_reference();
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool equal = text == messages_reference();
  CHECK_MESSAGE(equal, "write it anew: BALLAST_UPDATE_DOCS=1 build/tests/unit/common/wire/wire-test");
}

}  // namespace
}  // namespace ballast
