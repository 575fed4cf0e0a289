// The tokens of a message, as jobs of data.name: text read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/job/spec.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {

// The first data.steps tokens of what data.strip leaves of the message; of one without any, one unknown token.
std::vector<std::int32_t> message_tokens(std::string bytes, const DataSpec& spec, const Vocabulary& vocabulary);

}  // namespace ballast
