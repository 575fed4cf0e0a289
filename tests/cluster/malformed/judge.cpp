#include "tests/cluster/malformed/judge.h"

#include <cstdio>

namespace ballast::malformed {

void Judge::expect(const std::string& name, bool holds, const std::string& otherwise) {
  if (holds) {
    ++passed_;
    return;
  }
  ++failed_;
  std::printf("FAILED %s: %s\n", name.c_str(), otherwise.c_str());
}

void Judge::refused(const std::string& name, Probe& probe, const Frames& frames, RefusalCode code,
                    const std::vector<std::string>& words) {
  probe.send(frames);
  const auto refused = probe.answer<Refused>();
  if (!refused) {
    return expect(name, false, "no refusal came");
  }
  const auto found = "refused with code " + std::to_string(static_cast<int>(refused->code)) + ": " + refused->text;
  bool as_expected = refused->code == code;
  for (const auto& word : words) {
    as_expected = as_expected && refused->text.find(word) != std::string::npos;
  }
  expect(name, as_expected, found);
}

bool Judge::verdict(std::size_t at_least) const {
  std::printf("%zu as expected, %zu not\n", passed_, failed_);
  return failed_ == 0 && passed_ >= at_least;
}

}  // namespace ballast::malformed
