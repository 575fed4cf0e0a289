// What `ballast advise` says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/advising/foretelling.h"

namespace ballast {

// What is foretold of which job on which machines, and what is not known.
struct Advised {
  const Job& job;
  const Fleet& fleet;
  const Foretelling& found;
  std::vector<std::string> unknown;  // a sentence each
};

std::string advice_text(const Advised& advised);
// One object: all that were tried, which of them are advised, and what limits.
std::string advice_json(const Advised& advised);

// A sentence for each reason why something was not tried, with the remedy; `without_memory`: divisions of the job for
// which machines have too little.
std::vector<std::string> left_out_of(const Foretelling& found, std::size_t without_memory);

// Sentences on what was taken for granted since no probe tells.
std::vector<std::string> unknown_of(const Job& job, const Fleet& fleet);

}  // namespace ballast
