#include "tests/device_model/libraries.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/device_model/misuse.h"

namespace ballast::device_model {
namespace {

// bfloat16 is the upper half of a float.
float widen(std::uint16_t value) { return std::bit_cast<float>(std::uint32_t{value} << 16U); }

std::uint16_t narrow(float value) {
  constexpr std::uint16_t kNotANumber = 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::isnan(value) ? kNotANumber : static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace

std::size_t size_of(Type type) { return type == Type::float32 ? sizeof(float) : sizeof(std::uint16_t); }

float get(const void* values, Type type, std::size_t index) {
  return type == Type::float32 ? static_cast<const float*>(values)[index]
                               : widen(static_cast<const std::uint16_t*>(values)[index]);
}

std::vector<float> get_all(const void* values, Type type, std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = get(values, type, i);
  }
  return all;
}

void put(void* values, Type type, std::size_t index, double value) {
  if (type == Type::float32) {
    static_cast<float*>(values)[index] = static_cast<float>(value);
  } else {
    static_cast<std::uint16_t*>(values)[index] = narrow(static_cast<float>(value));
  }
}

void put_scaled(void* values, Type type, std::size_t index, double sum, const Scale& scale) {
  const double before = scale.beta == 0 ? 0 : double{scale.beta} * get(values, type, index);
  put(values, type, index, scale.alpha * sum + before);
}

Operands::Operands(const char* function, cudaStream_t stream)
    : function_(function), stream_(stream), device_(require_own_device(function, stream)) {}

Range Operands::require(std::string_view name, const void* begin, std::size_t bytes) {
  return require_on_device(function_, name, {begin, bytes}, device_);
}

Operands& Operands::reads(std::string_view name, const void* begin, std::size_t bytes) {
  require(name, begin, bytes);
  read_.push_back({begin, bytes});
  return *this;
}

Operands& Operands::writes(std::string_view name, const void* begin, std::size_t bytes) {
  allocations_.push_back(require(name, begin, bytes));
  for (const std::vector<Range>* others : {&read_, &written_}) {
    if (std::ranges::any_of(*others, [&](const Range& other) { return overlap(other, {begin, bytes}); })) {
      misuse(function_, std::string(name) + " overlaps another operand");
    }
  }
  written_.push_back({begin, bytes});
  return *this;
}

void Operands::queue(std::function<void()> run) {
  std::vector<Range> uses = read_;
  uses.insert(uses.end(), written_.begin(), written_.end());
  const auto checked = [run = std::move(run), function = function_, allocations = allocations_] {
    run();
    for (const Range& allocation : allocations) {
      require_intact(function, allocation);
    }
  };
  device_model::queue(stream_, {function_, std::move(uses), checked, nullptr});
}

}  // namespace ballast::device_model
