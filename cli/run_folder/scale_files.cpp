#include "cli/run_folder/scale_files.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "cli/run_folder/run_folder.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;
using ScaleJson = nlohmann::ordered_json;

fs::path wish_file(const fs::path& folder) { return folder / "scale.wish"; }
fs::path taken_file(const fs::path& folder) { return folder / "scale.wish.taken"; }
fs::path answer_file(const fs::path& folder) { return folder / "scale.answer"; }

std::optional<ScaleWish> read_wish(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const auto json = ScaleJson::parse(in, nullptr, false);
  if (!json.is_object() || !json.contains("id") || !json["id"].is_number_unsigned() || !json.contains("workers") ||
      !json["workers"].is_number_unsigned() || json["workers"] > kMostLocalWorkers) {
    return std::nullopt;
  }
  return ScaleWish{json["id"].get<std::uint64_t>(), json["workers"].get<std::uint32_t>()};
}

}  // namespace

void write_scale_wish(const fs::path& folder, const ScaleWish& wish) {
  write_atomically(wish_file(folder), ScaleJson{{"id", wish.id}, {"workers", wish.workers}}.dump() + "\n");
}

void write_scale_answer(const fs::path& folder, const ScaleAnswer& answer) {
  const ScaleJson json = {{"id", answer.id},           {"workers", answer.workers},
                          {"done", answer.done},       {"waits_for", answer.waits_for},
                          {"refusal", answer.refusal}, {"note", answer.note}};
  write_atomically(answer_file(folder), json.dump() + "\n");
}

// Renamed first: a wish that comes in between keeps its name.
std::optional<ScaleWish> take_scale_wish(const fs::path& folder) {
  std::error_code none;
  fs::rename(wish_file(folder), taken_file(folder), none);
  if (none) {
    return std::nullopt;
  }
  const auto wish = read_wish(taken_file(folder));
  std::error_code ignored;
  fs::remove(taken_file(folder), ignored);
  if (!wish) {
    throw std::runtime_error(wish_file(folder).string() + " holds no wish of `ballast scale`");
  }
  return wish;
}

bool is_scale_wish_untaken(const fs::path& folder, std::uint64_t id) {
  const auto wish = read_wish(wish_file(folder));
  return wish && wish->id == id;
}

std::optional<ScaleAnswer> read_scale_answer(const fs::path& folder) {
  std::ifstream in(answer_file(folder), std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  try {
    const auto json = ScaleJson::parse(in);
    return ScaleAnswer{json.at("id").get<std::uint64_t>(),    json.at("workers").get<std::uint32_t>(),
                       json.at("done").get<bool>(),           json.at("waits_for").get<std::string>(),
                       json.at("refusal").get<std::string>(), json.at("note").get<std::string>()};
  } catch (const ScaleJson::exception&) {
    return std::nullopt;
  }
}

void forget_scale_files(const fs::path& folder) {
  for (const auto& file : {wish_file(folder), taken_file(folder), answer_file(folder)}) {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
}

}  // namespace ballast
