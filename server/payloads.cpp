#include "server/payloads.h"

#include <utility>

#include "common/numeric/vector.h"

namespace ballast {

PayloadId Payloads::add(Frame frame, SessionId sender) {
  const auto payload = next_++;
  bytes_ += frame.size();
  held_.emplace(payload, Held{std::make_shared<Frame>(std::move(frame)), sender});
  return payload;
}

void Payloads::sum(PayloadId into, PayloadId with, bool is_root) {
  auto& sum = *held_.at(into).frame;
  const auto extracted = held_.extract(with);
  const auto& addend = *extracted.mapped().frame;
  bytes_ -= addend.size();
  auto* const sums = reinterpret_cast<float*>(sum.data());
  const auto* const addends = reinterpret_cast<const float*>(addend.bytes().data());
  const auto elements = sum.size() / sizeof(float);
  if (!is_root) {
    add_into(sums, addends, elements);
  } else {
    finite_root_ = add_into_looking(sums, addends, elements).sum ? into : kNoPayload;
  }
}

void Payloads::drop(PayloadId payload) {
  const auto dropped = held_.extract(payload);
  bytes_ -= dropped.empty() ? 0 : dropped.mapped().frame->size();
}

std::span<const float> Payloads::values(PayloadId payload) const {
  const auto bytes = held_.at(payload).frame->bytes();
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

bool Payloads::is_known_finite(PayloadId root) { return std::exchange(finite_root_, kNoPayload) == root; }

}  // namespace ballast
