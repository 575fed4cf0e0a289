// What a slot contributes in the job's mode: gradients, or the change of local steps; of state its change, or in item
// mode the statistic.
#pragma once

#include <cstdint>
#include <memory>

#include "common/job/job.h"
#include "worker/models/model.h"

namespace ballast {

// What a contribution is to be multiplied by to be a mean over its examples, or a whole change: it holds its slot's
// part of an update.
class UndoneShare {
 public:
  // `parts`: that an update has, alike for each slot; 0: the parts are by the examples.
  explicit UndoneShare(std::uint32_t parts = 0) : parts_(parts) {}

  // Of a slot of `examples`, one at least, in an update of `counted`.
  [[nodiscard]] double of(std::uint32_t counted, std::uint32_t examples) const {
    return parts_ > 0 ? static_cast<double>(parts_) : static_cast<double>(counted) / examples;
  }

 private:
  std::uint32_t parts_;
};

struct Contributions {
  std::unique_ptr<Model> model;  // whose train() writes them
  UndoneShare undone;
};

// Of the model's slots, in the job's mode. `job` must outlive it.
Contributions contributions_of(std::unique_ptr<Model> model, const Job& job);

}  // namespace ballast
