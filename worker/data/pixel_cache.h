// Images kept after they were first made.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ballast {

// The first images of a split, as many as a limit allows, at `bytes` each. Thread-safe without locks: whoever claims an
// empty place makes the image there, whoever meets a place that is being filled makes it for itself. Pages are taken
// from the system when they are first written.
class PixelCache {
 public:
  PixelCache(std::uint32_t images, std::size_t bytes, std::uint64_t limit)
      : bytes_(bytes),
        count_(static_cast<std::uint32_t>(std::min<std::uint64_t>(images, bytes == 0 ? 0 : limit / bytes))),
        states_(std::make_unique<std::atomic<State>[]>(count_)),
        pixels_(std::make_unique_for_overwrite<std::uint8_t[]>(count_ * bytes)) {}

  [[nodiscard]] std::uint64_t memory() const { return std::uint64_t{count_} * bytes_; }

  // The image, in the cache or in `own` (of the size of one image). make(pixels) makes it where it is not known; what
  // it throws is passed on, and the place stays empty.
  template <class Make>
  std::span<const std::uint8_t> get(std::uint32_t index, std::span<std::uint8_t> own, const Make& make) {
    if (index >= count_) {
      make(own);
      return own;
    }
    const std::span<std::uint8_t> place(pixels_.get() + index * bytes_, bytes_);
    std::atomic<State>& state = states_[index];
    State found = State::empty;
    if (state.compare_exchange_strong(found, State::filling, std::memory_order_acquire)) {
      try {
        make(place);
      } catch (...) {
        state.store(State::empty, std::memory_order_release);
        throw;
      }
      state.store(found = State::full, std::memory_order_release);
    }
    if (found == State::full) {
      return place;
    }
    make(own);
    return own;
  }

 private:
  enum class State : std::uint8_t { empty, filling, full };

  const std::size_t bytes_;
  const std::uint32_t count_;
  std::unique_ptr<std::atomic<State>[]> states_;
  std::unique_ptr<std::uint8_t[]> pixels_;
};

}  // namespace ballast
