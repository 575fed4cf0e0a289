// Slow workers on demand, so that tests and benchmarks can see what a job does with stragglers.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "worker/models/model.h"

namespace ballast {

// "NAME:MILLISECONDS", as many as wanted with commas between, for example "worker-0:20,*:5": how long the worker of
// that name waits before each slot; `*` is everybody who is not named. Zero for a worker of whom nothing is said.
// Throws std::runtime_error naming the part that is wrong and what it may be.
std::chrono::milliseconds parse_delay(std::string_view text, std::string_view worker);

// The same of the environment's BALLAST_DELAY, which every process of a cluster inherits.
std::chrono::milliseconds delay_from_environment(std::string_view worker);

// The model with the wait before each slot; itself if there is none. Waiting takes no processor, so the workers of one
// machine differ in speed by what is asked for and not by its cores.
std::unique_ptr<Model> with_delay(std::unique_ptr<Model> model, std::chrono::milliseconds delay);

}  // namespace ballast
