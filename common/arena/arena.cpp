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
constexpr std::uint64_t kMinChunkFloats = (std::uint64_t{64} << 10U) / sizeof(float);
constexpr std::uint64_t kPartsOfRest = 4;

static_assert(2 * kMinChunkFloats <= kMaxChunkFloats, "the last chunk to be cut, with what is left, is none too large");
static_assert(kMinChunkFloats % kAlignmentFloats == 0);
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

// Where each parameter of the group lies: one after the other, from the arena's end on.
void append_parameters(Arena& arena, Group group) {
  for (std::size_t i = 0; i < arena.parameters.size(); ++i) {
    const Parameter& parameter = arena.parameters[i];
    if (parameter.group != group) {
      continue;
    }
    const std::uint64_t elements = checked_elements(parameter);
    arena.extents[i] = {arena.elements, elements};
    arena.by_offset.push_back(static_cast<std::uint32_t>(i));
    arena.elements += align_up(elements);
    if (arena.elements > kMaxArenaFloats) {
      refuse(parameter, "makes the arena larger than it may be (" + std::to_string(kMaxArenaFloats) + " floats)");
    }
  }
}

// The sizes of the chunks of so many floats, which are aligned.
std::vector<std::uint64_t> cut(std::uint64_t floats) {
  std::vector<std::uint64_t> sizes;
  while (floats > 0) {
    auto size = std::clamp(align_up(floats / kPartsOfRest), kMinChunkFloats, kMaxChunkFloats);
    if (floats < size + kMinChunkFloats) {
      size = floats;
    }
    sizes.push_back(size);
    floats -= size;
  }
  std::ranges::reverse(sizes);
  return sizes;
}

void append_chunks(Arena& arena, std::uint64_t begin, Group group) {
  for (const std::uint64_t size : cut(arena.elements - begin)) {
    arena.chunks.push_back({0, begin, size, group});
    begin += size;
  }
}

// Numbers the chunks by the first parameter that each holds.
void number_chunks(Arena& arena) {
  const auto first_parameter = [&](const Chunk& chunk) {
    return *std::ranges::partition_point(arena.by_offset, [&](std::uint32_t parameter) {
      const auto& [offset, elements] = arena.extents[parameter];
      return offset + elements <= chunk.offset;
    });
  };
  std::ranges::stable_sort(arena.chunks, {}, first_parameter);
  for (std::size_t i = 0; i < arena.chunks.size(); ++i) {
    arena.chunks[i].id = static_cast<std::uint32_t>(i);
  }
}

}  // namespace

Arena lay_out(std::vector<Parameter> parameters) {
  check_names(parameters);
  Arena arena;
  arena.parameters = std::move(parameters);
  arena.extents.resize(arena.parameters.size());
  for (const Group group : {Group::decay, Group::no_decay, Group::state}) {
    const std::uint64_t begin = arena.elements;
    append_parameters(arena, group);
    append_chunks(arena, begin, group);
  }
  number_chunks(arena);
  const auto statistics = static_cast<std::uint32_t>(arena.chunks.size());
  arena.chunks.push_back({statistics, arena.elements, kStatisticsFloats, Group::statistics});
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
