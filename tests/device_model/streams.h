// Streams, events, and the order in which queued work runs.
//
// The order is what $BALLAST_DEVICE_MODEL says:
//   lazy       nothing runs before the host waits for it, and then only what it waits for and what that waits for
//   eager      everything runs at once
//   random:N   after each call any work that may run, up to two pieces; so again while the host waits; N is the seed
// (default: random:1)
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/device_model/memory.h"

namespace ballast::device_model {

// A point in a stream: of an event, which has another one whenever it is recorded anew.
struct Point {
  bool reached = false;
  cudaStream_t stream = nullptr;  // while it is not reached
};

struct Work {
  const char* function;     // that queued it
  std::vector<Range> uses;  // of the device and of the host, of known lengths
  std::function<void()> run;
  std::shared_ptr<Point> waits_for;  // before it runs; may be null
};

void queue(cudaStream_t stream, Work work);
// No work that is queued may use what ends now.
void forbid_use(std::string_view function, const Range& range);

cudaStream_t make_stream(int device);
void destroy_stream(std::string_view function, cudaStream_t stream);
// Misuse if it is not one.
int device_of(std::string_view function, cudaStream_t stream);
// Work of a kernel or a library is queued where the calling thread's device is the stream's. Returns that device.
int require_own_device(std::string_view function, cudaStream_t stream);

cudaEvent_t make_event(int device);
void destroy_event(std::string_view function, cudaEvent_t event);
void record(const char* function, cudaEvent_t event, cudaStream_t stream);
void wait_for_event(const char* function, cudaStream_t stream, cudaEvent_t event);

// The host waits.
void finish(std::string_view function, cudaStream_t stream);
void finish(std::string_view function, cudaEvent_t event);
void finish_device(int device);

// Of the order's chance: false where the order has none.
bool flip_coin();

}  // namespace ballast::device_model
