#include "tests/unit/common/job/support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/job/load.h"

namespace ballast::testing {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::logic_error("not exactly one '" + from + "' in the text");
  }
  return text.replace(at, from.size(), to);
}

std::vector<std::string> job_errors(const std::string& text, const std::vector<std::string>& overrides) {
  try {
    parse_job(text, "job.yaml", overrides);
    return {};
  } catch (const ConfigError& error) {
    return error.errors();
  }
}

std::string job_error(const std::string& text, const std::vector<std::string>& overrides) {
  const auto errors = job_errors(text, overrides);
  if (errors.size() != 1) {
    throw std::logic_error(std::to_string(errors.size()) + " errors" + (errors.empty() ? "" : ", " + errors[0]));
  }
  return errors[0];
}

std::string project_file(const std::string& path) { return std::string(BALLAST_SOURCE_ROOT) + "/" + path; }

std::string read_whole(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(path + ": can't be opened");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "ballast-config-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no temporary folder could be made");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& content) const {
  std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace ballast::testing
