#include "storage/copies/s3_credentials.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/log/log.h"

namespace ballast {

namespace {

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string()
                                         : std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

// Where the value of such a line goes; null for lines of other programs.
std::string* target_of(S3Credentials& credentials, const std::string& key) {
  const std::array<std::pair<std::string_view, std::string*>, 3> targets = {
      {{"aws_access_key_id", &credentials.access_key},
       {"aws_secret_access_key", &credentials.secret_key},
       {"aws_session_token", &credentials.session_token}}};
  for (const auto& [name, target] : targets) {
    if (name == key) {
      return target;
    }
  }
  return nullptr;
}

StoreStatus mistaken(const std::string& path, const std::string& what) {
  return {StoreCode::mismatch, path + ": " + what +
                                   "; such a file has a section [default] with lines aws_access_key_id = ... and "
                                   "aws_secret_access_key = ..."};
}

}  // namespace

StoreResult<S3Credentials> parse_s3_credentials(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  S3Credentials first;
  S3Credentials chosen;
  std::string section;
  int sections = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') {
      continue;
    }
    if (content.front() == '[' && content.back() == ']') {
      section = trimmed(std::string_view(content).substr(1, content.size() - 2));
      ++sections;
      continue;
    }
    const auto equals = content.find('=');
    if (equals == std::string::npos) {
      return mistaken(path, "line " + std::to_string(number) + " is neither a section nor KEY = VALUE");
    }
    const auto key = trimmed(std::string_view(content).substr(0, equals));
    for (auto* into : {section == "default" ? &chosen : nullptr, sections <= 1 ? &first : nullptr}) {
      if (auto* target = into == nullptr ? nullptr : target_of(*into, key)) {
        *target = trimmed(std::string_view(content).substr(equals + 1));
      }
    }
  }
  auto& found = chosen.access_key.empty() && chosen.secret_key.empty() ? first : chosen;
  if (found.access_key.empty() || found.secret_key.empty()) {
    return mistaken(path, "it has no pair of keys");
  }
  return found;
}

StoreResult<S3Credentials> load_s3_credentials(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  if (!in || !(content << in.rdbuf())) {
    return mistaken(path, std::string("cannot be read (") + std::strerror(errno) + ")");
  }
  return parse_s3_credentials(content.str(), path);
}

const S3Credentials& S3Keys::now() {
  if (!file_.empty() && change_.seen()) {
    auto changed = load_s3_credentials(file_);
    if (changed.ok()) {
      credentials_ = std::move(changed.value());
      log_info("the storage's keys in {} are read anew", file_);
    } else {
      log_warn("the storage's keys stay as they were: {}", changed.status().text());
    }
  }
  return credentials_;
}

}  // namespace ballast
