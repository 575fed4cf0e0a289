#include "tests/device_model/streams.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/device_model/handles.h"
#include "tests/device_model/misuse.h"

// CUDA's own names for what its handles point to.
struct CUstream_st {
  int device = 0;
  std::size_t number = 0;  // streams are drawn by it, as addresses differ from run to run
  std::deque<ballast::device_model::Work> queued;
};
struct CUevent_st {
  int device = 0;
  std::shared_ptr<ballast::device_model::Point> recorded;  // null before the first time
};

namespace ballast::device_model {
namespace {

enum class Kind { lazy, eager, random };

class Order {
 public:
  Order() {
    const char* const wanted = std::getenv("BALLAST_DEVICE_MODEL");
    const std::string text = wanted == nullptr ? "random:1" : wanted;
    if (text == "lazy") {
      kind_ = Kind::lazy;
    } else if (text == "eager") {
      kind_ = Kind::eager;
    } else if (text.starts_with("random:")) {
      chance_.seed(std::strtoull(text.c_str() + 7, nullptr, 10));
    } else {
      misuse("BALLAST_DEVICE_MODEL", "'" + text + "' is none of lazy, eager, random:SEED");
    }
  }
  [[nodiscard]] Kind kind() const { return kind_; }
  // Below `limit`.
  std::size_t draw(std::size_t limit) { return chance_() % limit; }

 private:
  Kind kind_ = Kind::random;
  std::mt19937_64 chance_;
};

Order& order() {
  static Order only;
  return only;
}

Handles<CUstream_st>& streams() {
  static Handles<CUstream_st> all("streams");
  return all;
}
Handles<CUevent_st>& events() {
  static Handles<CUevent_st> all("events");
  return all;
}

bool may_run(const CUstream_st& stream) {
  return !stream.queued.empty() &&
         (stream.queued.front().waits_for == nullptr || stream.queued.front().waits_for->reached);
}

// By number.
std::vector<CUstream_st*> all_that_may_run() {
  std::vector<CUstream_st*> found;
  for (const auto& [handle, stream] : streams().all()) {
    if (may_run(*stream)) {
      found.push_back(stream.get());
    }
  }
  std::ranges::sort(found, {}, &CUstream_st::number);
  return found;
}

// Work stays queued, and so in use, until it is done.
void run_next(CUstream_st& stream) {
  const Work& work = stream.queued.front();
  if (work.run) {
    work.run();
  }
  stream.queued.pop_front();
}

bool run_any() {
  const std::vector<CUstream_st*> able = all_that_may_run();
  if (able.empty()) {
    return false;
  }
  run_next(*able[order().draw(able.size())]);
  return true;
}

// What the stream has next, after all that this waits for.
void run_towards(CUstream_st& stream) {
  CUstream_st* next = &stream;
  while (!may_run(*next)) {
    next = next->queued.front().waits_for->stream;
  }
  run_next(*next);
}

// Runs until the condition holds. It does in time: what work waits for was queued before it.
template <typename Condition>
void run_until(CUstream_st& stream, const Condition& holds) {
  while (!holds()) {
    if (order().kind() == Kind::random) {
      run_any();
    } else {
      run_towards(stream);
    }
  }
}

void run_what_the_order_says() {
  if (order().kind() == Kind::eager) {
    while (run_any()) {
    }
  } else if (order().kind() == Kind::random) {
    for (std::size_t left = order().draw(3); left > 0 && run_any(); --left) {
    }
  }
}

}  // namespace

void queue(cudaStream_t stream, Work work) {
  streams().at(work.function, stream).queued.push_back(std::move(work));
  run_what_the_order_says();
}

void forbid_use(std::string_view function, const Range& range) {
  for (const auto& [handle, stream] : streams().all()) {
    for (const Work& work : stream->queued) {
      if (std::ranges::any_of(work.uses, [&](const Range& used) { return overlap(used, range); })) {
        misuse(function, name_range(range.begin, range.bytes) + " is still in use by " + work.function +
                             ", which nobody has waited for");
      }
    }
  }
}

cudaStream_t make_stream(int device) {
  static std::size_t made = 0;
  CUstream_st* const stream = streams().make();
  stream->device = device;
  stream->number = ++made;
  return stream;
}

void destroy_stream(std::string_view function, cudaStream_t stream) {
  const CUstream_st& ending = streams().at(function, stream);
  if (!ending.queued.empty()) {
    misuse(function, std::string(ending.queued.front().function) + " is still queued there");
  }
  streams().destroy(function, stream);
}

int device_of(std::string_view function, cudaStream_t stream) { return streams().at(function, stream).device; }

int require_own_device(std::string_view function, cudaStream_t stream) {
  const int device = device_of(function, stream);
  if (device != current_device()) {
    misuse(function, "the stream is of device " + std::to_string(device) + ", the calling thread's device is " +
                         std::to_string(current_device()));
  }
  return device;
}

cudaEvent_t make_event(int device) {
  CUevent_st* const event = events().make();
  event->device = device;
  return event;
}

void destroy_event(std::string_view function, cudaEvent_t event) { events().destroy(function, event); }

void record(const char* function, cudaEvent_t event, cudaStream_t stream) {
  if (events().at(function, event).device != device_of(function, stream)) {
    misuse(function, "event and stream are of different devices");
  }
  auto point = std::make_shared<Point>();
  point->stream = stream;
  events().at(function, event).recorded = point;
  queue(stream, {function, {}, [point] { point->reached = true; }, nullptr});
}

void wait_for_event(const char* function, cudaStream_t stream, cudaEvent_t event) {
  const std::shared_ptr<Point> point = events().at(function, event).recorded;
  if (point != nullptr) {
    queue(stream, {function, {}, nullptr, point});
  }
}

void finish(std::string_view function, cudaStream_t stream) {
  CUstream_st& awaited = streams().at(function, stream);
  run_until(awaited, [&] { return awaited.queued.empty(); });
}

void finish(std::string_view function, cudaEvent_t event) {
  const std::shared_ptr<Point> point = events().at(function, event).recorded;
  if (point != nullptr && !point->reached) {
    run_until(*point->stream, [&] { return point->reached; });
  }
}

void finish_device(int device) {
  for (const auto& [handle, stream] : streams().all()) {
    if (stream->device == device) {
      run_until(*stream, [&waited = *stream] { return waited.queued.empty(); });
    }
  }
}

bool flip_coin() { return order().kind() == Kind::random && order().draw(2) == 1; }

}  // namespace ballast::device_model
