// What a job file says, parsed and checked. Plain values: no YAML here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

enum class Mode : std::uint8_t { sync };

struct EmulatedParameter {
  std::string name;
  std::vector<std::uint32_t> shape;
};

// model: {name: mlp | lenet5 | emulated, ...}
struct ModelSpec {
  std::string name;
  std::vector<std::uint32_t> hidden = {256, 128};  // mlp: units of each hidden layer
  // emulated: either a preset ("resnet50": its 161 tensors, 25,557,032 floats) or a list of parameters
  std::string preset;
  std::vector<EmulatedParameter> parameters;
  double compute_ms = 0;  // emulated: time each slot takes, milliseconds
  // emulated: hashed = a gradient of (seed, step, slot, element, weight); fixed = one of (slot, element), made once
  std::string gradient = "hashed";
};

// data: {name: mnist | glyphs | none, ...}; none only with the emulated model
struct DataSpec {
  std::string name;
  std::string path;                  // mnist: folder of the idx files; empty = $BALLAST_DATA, then the cache folder
  std::uint32_t train_examples = 0;  // glyphs: 0 = 20000; mnist: 0 = all; emulated: examples of an epoch
  std::uint32_t test_examples = 0;   // glyphs: 0 = 4000; mnist: 0 = all
};

struct OptimizerSpec {
  std::string name = "sgd";
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;
};

struct ScheduleSpec {
  std::string name = "constant";
};

// training.augment: how training examples are changed at random, anew in every epoch
struct AugmentSpec {
  std::uint32_t shift = 0;  // pixels at most, in each direction
};

struct TrainingSpec {
  Mode mode = Mode::sync;
  std::uint32_t slots = 8;              // fixed micro-batches per step
  std::uint32_t batch = 128;            // examples per step over all slots; a multiple of slots
  std::optional<std::uint32_t> epochs;  // at least one of epochs and max_steps
  std::optional<std::uint64_t> max_steps;
  std::uint64_t seed = 1;
  std::uint32_t threads_per_slot = 1;  // a part of the arithmetic: it changes bits
  AugmentSpec augment;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
};

struct ClusterSpec {
  std::uint32_t shards = 1;
  std::uint32_t workers = 1;
  std::uint32_t lanes = 1;
  std::uint32_t start_workers = 1;  // training starts when so many workers have said hello
  std::string transport = "ipc";    // of `ballast run`: ipc | tcp
};

struct DurabilitySpec {
  std::string mode = "final";  // final: the identity and the final weights (snapshot, journal: not built)
};

struct JobSpec {
  std::string job;
  ModelSpec model;
  DataSpec data;
  TrainingSpec training;
  ClusterSpec cluster;
  DurabilitySpec durability;
};

// worker file: how one worker process runs; everything else it is told by the lead
struct WorkerSpec {
  std::string lead;             // address, e.g. tcp://10.0.0.5:7070
  std::string data_path;        // folder of data files on this machine; empty = search
  std::string metrics_address;  // host:port to serve metrics on; empty = none
  std::string log_file;         // empty = standard error
  std::string log_level = "info";
  std::string name;  // shown in metrics and status; empty = host name and pid
};

}  // namespace ballast
