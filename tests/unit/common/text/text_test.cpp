#include "common/text/text.h"

#include <doctest/doctest.h>

#include <string_view>

namespace ballast {
namespace {

TEST_CASE("text in any script is fine") {
  for (const char* text : {"", "worker 3", "caf\xC3\xA9", "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x9A\xA2", "\xC2\xA0",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(!text_fault(text, TextKind::line));
  }
}

TEST_CASE("control characters are named with their place") {
  CHECK(text_fault("a\x1b[2J", TextKind::line) == "the control character 0x1b at byte 1");
  CHECK(text_fault("ab\x7f", TextKind::line) == "the control character 0x7f at byte 2");
  CHECK(text_fault("\xC2\x9B", TextKind::line) == "the control character 0x9b at byte 0");
  CHECK(text_fault("x\xE2\x80\xA8", TextKind::line) == "the control character 0x2028 at byte 1");
  CHECK(text_fault(std::string_view("\0", 1), TextKind::lines) == "the control character 0x00 at byte 0");
}

TEST_CASE("lines may hold tabs and line ends, a line may not") {
  for (const char* text : {"a\nb", "a\tb", "a\r\n"}) {
    CHECK(!text_fault(text, TextKind::lines));
    CHECK(text_fault(text, TextKind::line));
  }
}

TEST_CASE("what is not UTF-8 is named with its place") {
  // A lone continuation, overlong forms, a surrogate, beyond U+10FFFF, a truncated and a broken sequence.
  for (const char* text : {"ok\x80", "ok\xC0\xAF", "ok\xE0\x80\x80", "ok\xF0\x80\x80\x80", "ok\xED\xA0\x80",
                           "ok\xF4\x90\x80\x80", "ok\xF5\x80\x80\x80", "ok\xE2\x82", "ok\xC3(", "ok\xFF"}) {
    CAPTURE(text);
    const auto fault = text_fault(text, TextKind::line);
    REQUIRE(fault);
    CHECK(fault->find("invalid UTF-8") == 0);
    CHECK(fault->find("at byte 2") != std::string::npos);
  }
}

TEST_CASE("a line keeps what is good and is cut between characters") {
  CHECK(as_line("all good", 100) == "all good");
  CHECK(as_line("a\nb\xFF"
                "c\xC2\x9B"
                "d",
                100) == "a b c d");
  CHECK(as_line("ab\xE2\x82\xAC", 5) == "ab\xE2\x82\xAC");
  CHECK(as_line("ab\xE2\x82\xAC", 4) == "ab");
  CHECK(as_line("abc", 0).empty());
}

}  // namespace
}  // namespace ballast
