// What the devices and the host have allocated, and who may touch it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ballast::device_model {

inline constexpr int kDevices = 2;
inline constexpr std::size_t kDeviceMemory = std::size_t{8} << 30U;  // of each
inline constexpr std::size_t kPage = 4096;

// Bytes from somewhere on. Zero bytes stand for the whole allocation that the address lies in, of which more is not
// known.
struct Range {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};
// Both of known lengths.
bool overlap(const Range& a, const Range& b);

// The device that calls of this thread go to.
int current_device();
void set_current_device(int device);

std::size_t free_memory(int device);
// Null where there is no room.
void* allocate_device(int device, std::size_t bytes);
// Nothing that is queued may use it.
void free_device(std::string_view function, void* memory);

// Memory of the host that the device copies by itself, our own or somebody else's.
void* allocate_pinned(std::size_t bytes);
void free_pinned(std::string_view function, void* memory);
// False if one of its pages is pinned already.
bool pin(void* memory, std::size_t bytes);
void unpin(std::string_view function, void* memory);
bool is_pinned(const Range& range);

// The allocation of this device that the range lies in, all of it. Anything else is misuse; `name` says what the caller
// calls it.
Range require_on_device(std::string_view function, std::string_view name, const Range& range, int device);
// Nobody has written past the ends of the allocation that begins there.
void require_intact(std::string_view function, const Range& allocation);

}  // namespace ballast::device_model
