// Which weights a device has copied, so that it copies none twice.
#pragma once

#include "worker/compute/backend.h"

namespace ballast {

class HeldWeights {
 public:
  // Whether the copy still holds what these do. The same place with contents that nobody named, or the same name at
  // another place, says nothing.
  [[nodiscard]] bool are(const WeightArena& weights) const {
    return weights.contents != WeightArena::kUnnamed && weights.contents == held_.contents &&
           weights.values.data() == held_.values.data() && weights.values.size() == held_.values.size();
  }
  // Around copying: before it, and when it is done or queued.
  void forget() { held_ = {}; }
  void become(const WeightArena& weights) { held_ = weights; }

 private:
  WeightArena held_;
};

}  // namespace ballast
