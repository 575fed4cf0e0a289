#include "worker/data/text/message_tokens.h"

#include <string_view>
#include <utility>

#include "worker/data/text/message.h"
#include "worker/data/text/tokenizer.h"

namespace ballast {

std::vector<std::int32_t> message_tokens(std::string bytes, const DataSpec& spec, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> tokens;
  for_each_token(strip_message(message_text(std::move(bytes)), spec.strip), [&](std::string_view word) {
    tokens.push_back(vocabulary.token(word));
    return tokens.size() < spec.steps;
  });
  if (tokens.empty()) {
    tokens.push_back(kUnknownToken);
  }
  return tokens;
}

}  // namespace ballast
