#include "storage/reshard/switch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/files/new_file.h"
#include "storage/journal/journal.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBuild = "reshard.new";
constexpr const char* kOut = "reshard.out";
constexpr const char* kIn = "reshard.in";
constexpr const char* kDone = "reshard.old";
constexpr const char* kJobFile = "job.yaml";
constexpr std::string_view kCurrentName = "shard-";
constexpr std::string_view kNewName = "new-";
constexpr std::string_view kOldName = "old-";

StoreStatus cannot(const fs::path& path, const std::string& what, const std::error_code& error) {
  const auto code = code_of(error.value());
  return {code, path.string() + ": cannot " + what + ": " + error.message() + "; " + std::string(disk_remedy(code))};
}

// What in the folder is called `before` and a number, by that number's digits.
StoreResult<std::vector<std::string>> numbered(const fs::path& folder, std::string_view before) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.size() > before.size() && name.starts_with(before) &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(before.size()), name.end(),
                    [](unsigned char letter) { return std::isdigit(letter) != 0; })) {
      found.push_back(name.substr(before.size()));
    }
  }
  if (error) {
    return cannot(folder, "list the folder", error);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

// A journal may be a link to another disk: its segments go there, too.
void remove_replaced(const fs::path& folder) {
  const auto replaced = numbered(folder, kOldName);
  for (const auto& digits : replaced.ok() ? replaced.value() : std::vector<std::string>{}) {
    static_cast<void>(Journal::remove(Journal::folder_in(folder / (std::string(kOldName) + digits))));
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

// The steps of a switch, in one run's folder.
class Switch {
 public:
  Switch(fs::path run_folder, const std::function<void()>& between) : run_(std::move(run_folder)), between_(between) {}

  StoreStatus decide() { return go(kBuild, kOut); }

  StoreStatus finish() {
    if (is_there(run_ / kOut)) {
      if (auto moved = move_all(run_, kCurrentName, run_ / kOut, kOldName); !moved.ok()) {
        return moved;
      }
      if (auto gone = go(kOut, kIn); !gone.ok()) {
        return gone;
      }
    }
    if (!is_there(run_ / kIn)) {
      return {};
    }
    auto moved = move_all(run_ / kIn, kNewName, run_, kCurrentName);
    if (moved.ok() && is_there(run_ / kIn / kJobFile)) {
      moved = move(run_ / kIn / kJobFile, run_ / kJobFile);
    }
    if (moved.ok()) {
      moved = sync_both(run_ / kIn);
    }
    if (!moved.ok()) {
      return moved;
    }
    remove_replaced(run_ / kDone);  // by an earlier one
    return go(kIn, kDone);
  }

 private:
  void step() const {
    if (between_) {
      between_();
    }
  }

  [[nodiscard]] StoreStatus move(const fs::path& from, const fs::path& to) const {
    std::error_code error;
    fs::rename(from, to, error);
    step();
    return error ? cannot(from, "give it the name " + to.string(), error) : StoreStatus{};
  }

  StoreStatus move_all(const fs::path& from, std::string_view name, const fs::path& to, std::string_view new_name) {
    const auto digits = numbered(from, name);
    if (!digits.ok()) {
      return digits.status();
    }
    for (const auto& number : digits.value()) {
      if (auto moved = move(from / (std::string(name) + number), to / (std::string(new_name) + number)); !moved.ok()) {
        return moved;
      }
    }
    return sync_both(from == run_ ? to : from);
  }

  [[nodiscard]] StoreStatus sync_both(const fs::path& inner) const {
    for (const auto& folder : {inner, run_}) {
      if (const auto error = sync_folder(folder)) {
        return cannot(folder, "make names durable", error);
      }
    }
    step();
    return {};
  }

  // To the next of its names.
  [[nodiscard]] StoreStatus go(const char* from, const char* to) const {
    if (auto moved = move(run_ / from, run_ / to); !moved.ok()) {
      return moved;
    }
    if (const auto error = sync_folder(run_)) {
      return cannot(run_, "make names durable", error);
    }
    step();
    return {};
  }

  fs::path run_;
  const std::function<void()>& between_;
};

}  // namespace

fs::path reshard_build_folder(const fs::path& run_folder) { return run_folder / kBuild; }

fs::path reshard_build_database(const fs::path& run_folder, std::uint32_t shard) {
  return run_folder / kBuild / (std::string(kNewName) + std::to_string(shard));
}

fs::path reshard_build_job(const fs::path& run_folder) { return run_folder / kBuild / kJobFile; }

bool is_reshard_name(const std::string& name) {
  static constexpr std::array kNames = {kBuild, kOut, kIn, kDone};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool has_unfinished_switch(const fs::path& run_folder) {
  return is_there(run_folder / kOut) || is_there(run_folder / kIn);
}

StoreStatus switch_databases(const fs::path& run_folder, const std::function<void()>& between) {
  if (const auto error = sync_file_system(run_folder)) {
    return cannot(run_folder, "make the new databases durable", error);
  }
  if (auto decided = Switch(run_folder, between).decide(); !decided.ok()) {
    return decided;
  }
  return finish_switch(run_folder, between);
}

StoreStatus finish_switch(const fs::path& run_folder, const std::function<void()>& between) {
  if (!has_unfinished_switch(run_folder)) {
    return {};
  }
  auto finished = Switch(run_folder, between).finish();
  if (finished.ok()) {
    remove_replaced(run_folder / kDone);
  }
  return finished;
}

void remove_reshard_remains(const fs::path& run_folder) {
  std::error_code ignored;
  fs::remove_all(run_folder / kBuild, ignored);
  if (is_there(run_folder / kDone)) {
    remove_replaced(run_folder / kDone);
  }
}

}  // namespace ballast
