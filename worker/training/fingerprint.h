// What a worker tells of the bits that it would compute: of its data and of its arithmetic, apart from one another.
#pragma once

#include <span>
#include <string>

#include "common/job/job.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace ballast {

// 32 hexadecimal digits over the data set's own digest and some examples of each split as this process decodes them, so
// that the same files read by another decoder are other data. Which examples are held out does not matter.
std::string data_digest(const Dataset& dataset);

// 16 hexadecimal digits over the gradient of a probe: a slot of the job's size, of examples and initial weights that
// are drawn from a seed of its own, whatever the job's seed and data are. `model` is a plain one; `weights` is scratch
// space of the arena's size, as is what is allocated for the gradient. The emulated model's arithmetic is integer, and
// its time is not to be spent here: its digest says nothing.
std::string arithmetic_digest(const Job& job, Model& model, std::span<float> weights);

}  // namespace ballast
