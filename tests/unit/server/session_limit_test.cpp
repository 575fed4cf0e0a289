#include "server/session_limit.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("where files are many, as many workers as there can be are let in") {
  CHECK(session_limit({20'000, 64, 16, true}).sessions == kMaxSessions);
  CHECK(session_limit({1'048'576, 1, 1, false}).sessions == kMaxSessions);
}

TEST_CASE("what is let in has room beside all else, and one more would not have it") {
  for (const std::uint64_t limit : {512, 1'024, 4'096}) {
    for (const std::uint32_t lanes : {1U, 4U, 16U}) {
      for (const bool hosts_lead : {false, true}) {
        const auto allowed = session_limit({limit, 2, lanes, hosts_lead});
        CAPTURE(limit);
        CAPTURE(lanes);
        CHECK(allowed.each == lanes + (hosts_lead ? 1 : 0));
        CHECK(allowed.beside > kDescriptorReserve + lanes);
        if (allowed.sessions > 0) {
          CHECK(allowed.beside + allowed.each * allowed.sessions <= limit);
        }
        if (allowed.sessions < kMaxSessions) {
          CHECK(allowed.beside + allowed.each * (allowed.sessions + 1) > limit);
        }
      }
    }
  }
}

TEST_CASE("only a job that declares more than that is refused, with the numbers") {
  const DescriptorUse usual{1'024, 1, 4, true};
  const auto allowed = session_limit(usual).sessions;
  CHECK(allowed > 100);
  CHECK(allowed < 200);
  CHECK(why_too_few(usual, allowed).empty());
  const auto why = why_too_few(usual, 200);
  CHECK(why.find("1024 files open, which hold " + std::to_string(allowed) + " workers") != std::string::npos);
  CHECK(why.find("declares 200") != std::string::npos);
  CHECK(why.find("ulimit -n") != std::string::npos);
  CHECK(session_limit({1'024, 1, 4, true, true}).beside == session_limit(usual).beside + 40);  // who looks at the page
  CHECK(session_limit({100, 1, 4, true}).sessions == 0);
  CHECK_FALSE(why_too_few({100, 1, 4, true}, 1).empty());
  CHECK(why_too_few({20'000, 1, 4, true}, 5'000).empty());  // nobody can have more than kMaxSessions
}

}  // namespace
}  // namespace ballast
