#include "cli/keys/operator_keys.h"

#include <filesystem>

#include "cli/run_folder/run_folder.h"

namespace ballast {

std::unique_ptr<ClientKeys> operator_keys(const std::string& where, const std::string& given) {
  if (!given.empty()) {
    return std::make_unique<ClientKeys>(given);
  }
  const auto own = keys_folder(where) / kOperatorKeyFile;
  std::error_code unknown;
  return std::filesystem::exists(own, unknown) ? std::make_unique<ClientKeys>(own) : nullptr;
}

}  // namespace ballast
