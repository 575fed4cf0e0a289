// Counts what was refused as it should be, and says what was not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/cluster/malformed/probe.h"

namespace ballast::malformed {

class Judge {
 public:
  // The frames are answered with a refusal of this code, whose text holds all the words.
  void refused(const std::string& name, Probe& probe, const Frames& frames, RefusalCode code,
               const std::vector<std::string>& words);
  void refused(const std::string& name, Probe& probe, const Message& message, RefusalCode code,
               const std::vector<std::string>& words) {
    refused(name, probe, Frames{encoded(message)}, code, words);
  }
  void expect(const std::string& name, bool holds, const std::string& otherwise);

  // Prints the count; whether all was as expected, and enough of it.
  [[nodiscard]] bool verdict(std::size_t at_least) const;

 private:
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace ballast::malformed
