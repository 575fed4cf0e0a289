#include "cli/rendering/object_names.h"

#include <algorithm>
#include <string_view>

#include "common/command/usage_error.h"

namespace ballast {

namespace {

constexpr std::string_view kSmallLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-";

std::string name_fault(const std::string& name) {
  if (name.empty() || kSmallLetters.find(name.front()) == std::string_view::npos) {
    return "it does not begin with a letter of a-z";
  }
  if (name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return "it has other characters than a-z, 0-9 and -";
  }
  if (name.back() == '-') {
    return "it ends with -";
  }
  if (name.size() > kLongestObjectName) {
    return "it has " + std::to_string(name.size()) + " characters, and names of objects are made of " +
           std::to_string(kLongestObjectName) + " at most";
  }
  return {};
}

}  // namespace

std::string object_name_of_job(const std::string& job) {
  std::string name = job;
  std::ranges::replace_if(
      name, [](char c) { return c == '_' || c == '.'; }, '-');
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  if (!name.empty() && kSmallLetters.find(name.front()) == std::string_view::npos) {
    name.insert(0, "job-");
  }
  if (const auto fault = name_fault(name); !fault.empty()) {
    throw UsageError("no names of objects can be made of the job's name " + job + ": " + fault + "; say --name NAME");
  }
  return name;
}

std::string checked_object_name(const std::string& name) {
  if (const auto fault = name_fault(name); !fault.empty()) {
    throw UsageError("--name " + name + ": " + fault + "; Kubernetes takes names like mnist-2: 1 to " +
                     std::to_string(kLongestObjectName) + " of a-z, 0-9 and -, beginning with a letter");
  }
  return name;
}

std::string shard_object_name(const std::string& base, std::uint32_t shard) {
  return base + "-shard-" + std::to_string(shard);
}

std::string service_host_variable(const std::string& service) {
  std::string variable = service;
  std::ranges::transform(variable, variable.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return "$(" + variable + "_SERVICE_HOST)";
}

}  // namespace ballast
