#include "common/telling/rollbacks.h"

namespace ballast {

std::string causes_text(const RollbackCounts& rollbacks) {
  std::string text;
  for (const auto& [cause, name, words] : kRollbackWords) {
    if (const auto count = rollbacks.of(cause); count > 0) {
      text += (text.empty() ? "" : ", ") + std::string(words) + ": " + std::to_string(count);
    }
  }
  return text;
}

nlohmann::ordered_json causes_json(const RollbackCounts& rollbacks) {
  nlohmann::ordered_json json;
  for (const auto& [cause, name, words] : kRollbackWords) {
    json[name] = rollbacks.of(cause);
  }
  return json;
}

}  // namespace ballast
