// How `ballast scale` reaches the `ballast run` that supervises a run: by two files in the run's folder, each of which
// appears whole. The command writes its wish, which the supervisor takes away and answers as often as there is news.
//
//   scale.wish     how many workers are wanted, by whom      scale.answer   what has come of it
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ballast {

// As cluster.workers, but for 0.
inline constexpr std::uint32_t kMostLocalWorkers = 256;

struct ScaleWish {
  std::uint64_t id = 0;  // of one command
  std::uint32_t workers = 0;

  bool operator==(const ScaleWish&) const = default;
};

struct ScaleAnswer {
  std::uint64_t id = 0;       // the wish's
  std::uint32_t workers = 0;  // of the run that the lead knows now
  bool done = false;          // nothing more will come of it
  std::string waits_for;      // while it is not done: which workers, and what for
  std::string refusal;        // why it was not done, wholly or for some workers; empty: it was
  std::string note;           // what the job does with so many workers, where that is worth a word

  bool operator==(const ScaleAnswer&) const = default;
};

// Each throws std::runtime_error naming the file if it cannot be written.
void write_scale_wish(const std::filesystem::path& folder, const ScaleWish& wish);
void write_scale_answer(const std::filesystem::path& folder, const ScaleAnswer& answer);

// The newest wish, which is gone then; nothing if there is none. Throws std::runtime_error naming the file if it is no
// wish, and it is gone then, too.
std::optional<ScaleWish> take_scale_wish(const std::filesystem::path& folder);
// Whether this wish has not been taken yet, nor replaced by another one.
bool is_scale_wish_untaken(const std::filesystem::path& folder, std::uint64_t id);
// The newest answer; nothing if there is none that can be read.
std::optional<ScaleAnswer> read_scale_answer(const std::filesystem::path& folder);

// Of an earlier run, or a command that has ended.
void forget_scale_files(const std::filesystem::path& folder);

}  // namespace ballast
