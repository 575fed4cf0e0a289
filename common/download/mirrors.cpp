#include "common/download/mirrors.h"

#include <stdexcept>
#include <system_error>

#include "common/numeric/sha256.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 3;  // at each mirror
constexpr std::size_t kTagDigits = 8;

fs::path part_of(const fs::path& target, const std::string& url) {
  return target.string() + "." + sha256_hex(url).substr(0, kTagDigits) + ".part";
}

void remove_parts(const fs::path& target) {
  const auto begin = target.filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(target.parent_path(), ignored)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(".part")) {
      fs::remove(entry.path(), ignored);
    }
  }
}

// The reason why the mirror's copy cannot be had; empty: `part` is good.
std::string fetch_part(const MirroredFile& file, const std::string& url, const fs::path& part,
                       const DownloadProgress& progress) {
  std::string reason;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto outcome = download(url, part, file.limits, progress);
    reason = outcome.failure;
    if (!reason.empty()) {
      if (outcome.received == 0) {
        break;
      }
      continue;
    }
    reason = file.problem(part);
    if (reason.empty()) {
      break;
    }
    fs::remove(part);
    if (!outcome.resumed) {
      break;  // all of it was fetched just now, and fetching it again brings the same
    }
  }
  return reason;
}

void put_in_place(const fs::path& part, const fs::path& target) {
  std::error_code error;
  fs::rename(part, target, error);
  if (error) {
    throw std::runtime_error("cannot write " + target.string() + ": " + error.message());
  }
}

// Nobody is to wonder about an empty file where a server was never reached.
void remove_if_empty(const fs::path& part) {
  std::error_code ignored;
  if (fs::file_size(part, ignored) == 0) {
    fs::remove(part, ignored);
  }
}

}  // namespace

std::string mirror_url(const std::string& mirror, const std::string& name) {
  return mirror + (mirror.ends_with('/') ? "" : "/") + name;
}

MirrorOutcome fetch_from_mirrors(const MirroredFile& file, const std::vector<std::string>& mirrors,
                                 const DownloadProgress& progress, const std::function<void()>& before_replacing) {
  MirrorOutcome outcome;
  for (const auto& mirror : mirrors) {
    const auto url = mirror_url(mirror, file.name);
    const auto part = part_of(file.target, url);
    auto reason = fetch_part(file, url, part, progress);
    if (reason.empty()) {
      if (before_replacing) {
        before_replacing();
      }
      put_in_place(part, file.target);
      remove_parts(file.target);
      outcome.mirror = mirror;
      return outcome;
    }
    remove_if_empty(part);
    outcome.failures.push_back({mirror, std::move(reason)});
  }
  return outcome;
}

}  // namespace ballast
