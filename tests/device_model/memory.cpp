#include "tests/device_model/memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "tests/device_model/misuse.h"
#include "tests/device_model/streams.h"

namespace ballast::device_model {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kEdge = 256;  // on both sides of what was asked for
// Floats and doubles of it are not numbers, and bfloat16s neither.
constexpr int kFresh = 0xFF;

struct Block {
  std::size_t bytes = 0;
  int device = 0;
};
// By where they begin.
using Blocks = std::map<const std::byte*, Block, std::less<>>;

void forbid_leaks(const Blocks& blocks, const std::string& kind) {
  if (!blocks.empty()) {
    misuse("the end of the program", std::to_string(blocks.size()) + " allocations of " + kind + " are left, one of " +
                                         std::to_string(blocks.begin()->second.bytes) + " bytes");
  }
}

struct Memory {
  Blocks device;
  Blocks pinned;      // allocated so
  Blocks registered;  // of somebody else

  // Memory that is given back stays the program's: the system's zeros for each large allocation took a third of the
  // tests' time.
  Memory() {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
    ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  }
  ~Memory() {
    forbid_leaks(device, "device memory");
    forbid_leaks(pinned, "pinned memory");
    forbid_leaks(registered, "registered memory");
  }
};

Memory& memory() {
  static Memory all;
  return all;
}

// The one that all of the range lies in, or null.
const Blocks::value_type* find(const Blocks& blocks, const Range& range) {
  const auto* const begin = static_cast<const std::byte*>(range.begin);
  auto after = blocks.upper_bound(begin);
  if (after == blocks.begin()) {
    return nullptr;
  }
  --after;
  return begin + range.bytes <= after->first + after->second.bytes && begin < after->first + after->second.bytes
             ? &*after
             : nullptr;
}

// Takes it out of the list.
Block remove(std::string_view function, Blocks& blocks, void* begin, const std::string& kind) {
  const auto found = blocks.find(static_cast<const std::byte*>(begin));
  if (found == blocks.end()) {
    misuse(function, name_range(begin, 0) + ": no " + kind + " begins there");
  }
  const Block block = found->second;
  forbid_use(function, {begin, block.bytes});
  blocks.erase(found);
  return block;
}

Range whole_pages(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = address / kPage * kPage;
  const std::uintptr_t last = (address + bytes + kPage - 1) / kPage * kPage;
  return {reinterpret_cast<const void*>(first), last - first};
}

thread_local int current = 0;

}  // namespace

bool overlap(const Range& a, const Range& b) {
  const auto* const a_begin = static_cast<const std::byte*>(a.begin);
  const auto* const b_begin = static_cast<const std::byte*>(b.begin);
  return a_begin < b_begin + b.bytes && b_begin < a_begin + a.bytes;
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }

std::size_t free_memory(int device) {
  std::size_t used = 0;
  for (const auto& [begin, block] : memory().device) {
    used += block.device == device ? block.bytes : 0;
  }
  return kDeviceMemory - used;
}

void* allocate_device(int device, std::size_t bytes) {
  if (free_memory(device) < bytes) {
    return nullptr;
  }
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* const edge = static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole + 2 * kEdge));
  std::memset(edge, kFresh, whole + 2 * kEdge);
  memory().device[edge + kEdge] = {bytes, device};
  return edge + kEdge;
}

void free_device(std::string_view function, void* begin) {
  auto& blocks = memory().device;
  if (blocks.contains(static_cast<const std::byte*>(begin))) {
    require_intact(function, {begin, blocks.find(static_cast<const std::byte*>(begin))->second.bytes});
  }
  const Block block = remove(function, blocks, begin, "device memory");
  std::memset(begin, kFresh, block.bytes);
  std::free(static_cast<std::byte*>(begin) - kEdge);
}

void* allocate_pinned(std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
  std::memset(begin, kFresh, bytes);
  memory().pinned[begin] = {bytes, 0};
  return begin;
}

void free_pinned(std::string_view function, void* begin) {
  remove(function, memory().pinned, begin, "pinned memory");
  std::free(begin);
}

bool pin(void* begin, std::size_t bytes) {
  const Range pages = whole_pages(begin, bytes);
  for (const Blocks* blocks : {&memory().pinned, &memory().registered}) {
    if (std::ranges::any_of(*blocks, [&](const Blocks::value_type& other) {
          return overlap(pages, whole_pages(other.first, other.second.bytes));
        })) {
      return false;
    }
  }
  memory().registered[static_cast<const std::byte*>(begin)] = {bytes, 0};
  return true;
}

void unpin(std::string_view function, void* begin) {
  remove(function, memory().registered, begin, "registered memory");
}

bool is_pinned(const Range& range) {
  return find(memory().pinned, range) != nullptr || find(memory().registered, range) != nullptr;
}

Range require_on_device(std::string_view function, std::string_view name, const Range& range, int device) {
  const auto* const found = find(memory().device, range);
  const std::string what = std::string(name) + " is " + name_range(range.begin, range.bytes);
  if (found == nullptr) {
    misuse(function, what + ": not within memory of a device");
  }
  if (found->second.device != device) {
    misuse(function, what + " of device " + std::to_string(found->second.device) + ", the work is of device " +
                         std::to_string(device));
  }
  return {found->first, found->second.bytes};
}

void require_intact(std::string_view function, const Range& allocation) {
  const auto* const begin = static_cast<const std::byte*>(allocation.begin);
  const std::byte fresh{kFresh};
  const auto is_fresh = [&](std::byte value) { return value == fresh; };
  const auto* const end = begin + allocation.bytes;
  if (!std::all_of(begin - kEdge, begin, is_fresh) || !std::all_of(end, end + kEdge, is_fresh)) {
    misuse(function, "wrote past the ends of " + name_range(allocation.begin, allocation.bytes));
  }
}

}  // namespace ballast::device_model
