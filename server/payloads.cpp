#include "server/payloads.h"

#include <utility>

#include "common/numeric/vector.h"

namespace ballast {

PayloadId Payloads::add(Frame frame) {
  const auto payload = next_++;
  bytes_ += frame.size();
  frames_.emplace(payload, std::make_shared<Frame>(std::move(frame)));
  return payload;
}

void Payloads::sum(PayloadId into, PayloadId with, bool is_root) {
  auto& sum = *frames_.at(into);
  const auto addend = frames_.extract(with);
  bytes_ -= addend.mapped()->size();
  auto* const sums = reinterpret_cast<float*>(sum.data());
  const auto* const addends = reinterpret_cast<const float*>(addend.mapped()->bytes().data());
  const auto elements = sum.size() / sizeof(float);
  if (!is_root) {
    add_into(sums, addends, elements);
  } else {
    finite_root_ = add_into_looking(sums, addends, elements).sum ? into : kNoPayload;
  }
}

void Payloads::drop(PayloadId payload) {
  const auto dropped = frames_.extract(payload);
  bytes_ -= dropped.empty() ? 0 : dropped.mapped()->size();
}

std::span<const float> Payloads::values(PayloadId payload) const {
  const auto bytes = frames_.at(payload)->bytes();
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

bool Payloads::is_known_finite(PayloadId root) { return std::exchange(finite_root_, kNoPayload) == root; }

}  // namespace ballast
