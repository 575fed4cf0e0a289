#include "common/arena/arena.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/numeric/sha256.h"

namespace ballast {
namespace {

constexpr std::uint64_t kAlignmentFloats = kArenaAlignment / sizeof(float);
constexpr std::uint64_t kMaxChunkFloats = kMaxChunkBytes / sizeof(float);

static_assert(kMaxChunkFloats % kAlignmentFloats == 0, "a chunk that is full ends on an aligned boundary");
static_assert(kStatisticsFloats % kAlignmentFloats == 0);

[[noreturn]] void refuse(const Parameter& parameter, const std::string& what) {
  throw std::invalid_argument("parameter '" + parameter.name + "' " + what);
}

// The number of elements, checked: shapes may come from a job file.
std::uint64_t checked_elements(const Parameter& parameter) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : parameter.shape) {
    if (extent == 0) {
      refuse(parameter, "has an extent of 0; every extent must be at least 1");
    }
    if (count > kMaxArenaFloats / extent) {
      refuse(parameter, "is larger than an arena may be (" + std::to_string(kMaxArenaFloats) + " floats)");
    }
    count *= extent;
  }
  return count;
}

void check_names(const std::vector<Parameter>& parameters) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : parameters) {
    if (parameter.name.empty()) {
      throw std::invalid_argument("a parameter has an empty name; every parameter needs a name of its own");
    }
    if (!names.insert(parameter.name).second) {
      refuse(parameter, "is declared twice; every parameter needs a name of its own");
    }
    if (parameter.group == Group::statistics) {
      refuse(parameter, "is declared in the statistics group, which holds no parameters");
    }
  }
}

std::uint64_t align_up(std::uint64_t floats) {
  return (floats + kAlignmentFloats - 1) / kAlignmentFloats * kAlignmentFloats;
}

void append_chunks(Arena& arena, std::uint64_t begin, std::uint64_t end, Group group) {
  for (std::uint64_t offset = begin; offset < end; offset += kMaxChunkFloats) {
    const auto id = static_cast<std::uint32_t>(arena.chunks.size());
    arena.chunks.push_back({id, offset, std::min(kMaxChunkFloats, end - offset), group});
  }
}

}  // namespace

Arena lay_out(std::vector<Parameter> parameters) {
  check_names(parameters);
  Arena arena;
  arena.parameters = std::move(parameters);
  std::uint64_t run_begin = 0;  // of the neighbours of one group that are not cut into chunks yet
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    const Parameter& parameter = arena.parameters[i];
    if (i > 0 && parameter.group != arena.parameters[i - 1].group) {
      append_chunks(arena, run_begin, arena.elements, arena.parameters[i - 1].group);
      run_begin = arena.elements;
    }
    const std::uint64_t elements = checked_elements(parameter);
    arena.extents.push_back({arena.elements, elements});
    arena.elements += align_up(elements);
    if (arena.elements > kMaxArenaFloats) {
      refuse(parameter, "makes the arena larger than it may be (" + std::to_string(kMaxArenaFloats) + " floats)");
    }
  }
  if (!arena.parameters.empty()) {
    append_chunks(arena, run_begin, arena.elements, arena.parameters.back().group);
  }
  append_chunks(arena, arena.elements, arena.elements + kStatisticsFloats, Group::statistics);
  arena.elements += kStatisticsFloats;
  return arena;
}

std::string layout_digest(const Arena& arena) {
  // One line for each parameter and chunk. A name is preceded by its length, so no name can imitate another line.
  std::string text = "ballast arena 1\n";
  const auto append = [&](const char* word, std::uint64_t value) {
    text += word;
    text += std::to_string(value);
  };
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    const Parameter& parameter = arena.parameters[i];
    append("parameter ", parameter.name.size());
    text += " ";
    text += parameter.name;
    append(" group ", static_cast<std::uint64_t>(parameter.group));
    append(" offset ", arena.extents[i].offset);
    append(" dimensions ", parameter.shape.size());
    for (const std::uint32_t extent : parameter.shape) {
      append(" ", extent);
    }
    text += "\n";
  }
  for (const Chunk& chunk : arena.chunks) {
    append("chunk ", chunk.id);
    append(" group ", static_cast<std::uint64_t>(chunk.group));
    append(" offset ", chunk.offset);
    append(" elements ", chunk.elements);
    text += "\n";
  }
  return sha256_hex(text);
}

}  // namespace ballast
