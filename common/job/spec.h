// What a job file says, parsed and checked. Plain values: no YAML here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/network/layers.h"
#include "protocol/ids.h"

namespace ballast {

// How gradients become updates. docs/modes.md
enum class Mode : std::uint8_t {
  sync,   // rounds: a step's slots are summed into one update
  local,  // rounds of local steps: each slot trains a copy of the weights, and their mean change is the update
  async,  // each slot makes an update of its own, when it comes
  ssp,    // as async, with a bound on the staleness of what an update was computed from
};

// Whether each work item is applied on its own, and the shards keep account of which ones.
constexpr bool is_item_mode(Mode mode) { return mode == Mode::async || mode == Mode::ssp; }

// As in job files.
constexpr const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::local:
      return "local";
    case Mode::async:
      return "async";
    case Mode::ssp:
      return "ssp";
    case Mode::sync:
      break;
  }
  return "sync";
}

struct EmulatedParameter {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::string group = {};  // decay, no_decay or state; empty: by its dimensions
  double momentum = 0;     // state: of a running statistic; 0: a buffer without a known rule
};

// One entry of model.layers.
struct LayerSpec {
  std::string name;  // unique; files that give none get one of the layer's kind and a number
  Layer layer;
  std::vector<std::string> from;  // names of what it reads, "example" among them; empty: the entry before
  std::string tied_to;            // linear, embedding: the layer whose weight it has; empty: a weight of its own
  std::uint32_t stacked = 1;      // lstm, gru: so many of them, one on the other
};

// model: {name: ..., ...}; which model has which settings, and their meaning, stands in docs/models.md
struct ModelSpec {
  std::string name;
  std::vector<std::uint32_t> hidden = {256, 128};       // mlp, autoencoder: units of each hidden layer
  std::vector<std::uint32_t> channels = {32, 64, 128};  // conv_autoencoder, simpsons_cnn: of each stage
  std::uint32_t embedding = 300;                        // text_cnn, text_lstm, tree_lstm: units of a token's vector
  std::vector<std::uint32_t> widths = {3, 4, 5};        // text_cnn: steps that a convolution sees
  std::uint32_t filters = 100;                          // text_cnn: channels of each width
  std::uint32_t units = 150;                            // text_lstm, tree_lstm
  std::uint32_t width = 128;                            // transformer, gpt: channels of each step
  std::uint32_t depth = 4;                              // transformer, gpt: blocks
  std::uint32_t heads = 4;                              // transformer, gpt
  std::optional<double> dropout = {};      // of the models that have it; none only in specs that no file gave
  std::vector<LayerSpec> layers = {};      // layers
  std::string loss;                        // layers; empty: the usual one for the data's labels
  std::vector<double> class_weights = {};  // of a softmax cross entropy; empty: 1
  std::optional<double> smoothing = {};    // of a softmax cross entropy; none: 0
  // emulated: either a preset ("resnet50": its 161 tensors, 25,557,032 floats) or a list of parameters
  std::string preset;
  std::vector<EmulatedParameter> parameters = {};
  double compute_ms = 0;  // emulated: time each slot takes, milliseconds
  // emulated: hashed = a gradient of (seed, step, slot, element, weight); fixed = one of (slot, element), made once
  std::string gradient = "hashed";
};

// The given dropout, or the model's usual one: of the transformers 0.1, of all others 0.5.
inline double dropout_of(const ModelSpec& model) {
  return model.dropout.value_or(model.name == "transformer" || model.name == "gpt" ? 0.1 : 0.5);
}

// A column of a csv file, and what becomes of it.
struct CsvColumn {
  enum class Kind : std::uint8_t {
    number,    // one feature: (value - mean) / deviation
    category,  // a feature for each of `values`: 1 for the row's, 0 for the others
    ignored,
    label,   // the class: one of data.classes
    flag,    // 0 or 1: one of several classes
    target,  // a number to be predicted: (value - mean) / deviation
  };
  std::string name;
  Kind kind = Kind::number;
  double mean = 0;
  double deviation = 1;
  std::vector<std::string> values = {};
  bool operator==(const CsvColumn&) const = default;
};

// As in job files.
constexpr const char* name_of(CsvColumn::Kind kind) {
  switch (kind) {
    case CsvColumn::Kind::category:
      return "category";
    case CsvColumn::Kind::ignored:
      return "ignored";
    case CsvColumn::Kind::label:
      return "label";
    case CsvColumn::Kind::flag:
      return "flag";
    case CsvColumn::Kind::target:
      return "target";
    case CsvColumn::Kind::number:
      break;
  }
  return "number";
}

// data.strip: what of a message is not read
struct StripSpec {
  bool headers = false;
  bool quotes = false;
  bool signature = false;
};

// data: {name: mnist | glyphs | idx | cifar10 | images | text | characters | trees | csv | npy | none, ...}; none only
// with the emulated model
struct DataSpec {
  std::string name;
  std::string path = {};   // folder of the files; empty = $BALLAST_DATA; mnist: then the cache folder
  std::string train = {};  // idx, cifar10, images: where train examples are, within that folder
  std::string test = {};
  std::string train_labels = {};  // idx
  std::string test_labels = {};
  std::vector<std::string> classes = {};  // idx, cifar10, images: their names, in the order of the labels
  std::uint32_t channels = 3;             // images: 1 = grey, 3 = colour
  std::uint32_t height = 0;               // idx, images
  std::uint32_t width = 0;
  std::uint32_t train_examples = 0;  // glyphs: 0 = 20000; mnist: 0 = all; emulated: examples of an epoch
  std::uint32_t test_examples = 0;   // glyphs: 0 = 4000; mnist: 0 = all
  // The last of the train examples above, held out: an epoch trains on the others. Not with none; 0 = none
  std::uint32_t validation_examples = 0;
  std::vector<double> mean = {};  // by channel, of values from 0 to 1; empty: the set's own
  std::vector<double> deviation = {};
  std::string corrupt = "fatal";  // images: fatal | skip
  std::uint64_t cache_mb = 1000;  // images: megabytes of encoded archives and decoded images in memory
  std::uint32_t threads = 1;      // that read ahead
  std::string digest = {};        // that workers' data must have; empty: the first ready worker's counts
  // text, characters, trees, csv and npy, whose other files and names are above; docs/data-text.md
  std::uint32_t steps = 0;       // of the longest sequence
  std::uint32_t vocabulary = 0;  // tokens
  std::string vocabulary_file = {};
  StripSpec strip = {};                   // text
  std::string tree_labels = "all";        // trees: all | polarity
  std::string separator = "comma";        // csv: comma | tab | semicolon
  bool header = true;                     // csv: the first line names the columns
  std::vector<std::string> missing = {};  // csv: what fields without a value hold
  std::vector<CsvColumn> columns = {};    // csv
  std::vector<std::uint32_t> shape = {};  // npy: of one example
  std::uint32_t outputs = 0;              // npy: classes, or numbers
  std::string target = "class";           // npy: class | several | number
  double scale = 1;                       // npy: features are multiplied by it
};

// Whether the set is files of the user's own, of which all that servers need to know stands in the job.
inline bool is_example_files(const DataSpec& data) {
  return data.name == "text" || data.name == "characters" || data.name == "trees" || data.name == "csv" ||
         data.name == "npy";
}

// training.optimizer: what the values mean exactly, stands in common/numeric/optimizer.h
struct OptimizerSpec {
  std::string name = "sgd";  // sgd | adam | adamw | adagrad | rmsprop | lars | lamb
  double learning_rate = 0.01;
  double momentum = 0;                 // sgd, rmsprop, lars
  bool nesterov = false;               // sgd
  double beta1 = 0.9;                  // adam, adamw, lamb
  double beta2 = 0.999;                // adam, adamw, lamb
  double alpha = 0.99;                 // rmsprop
  std::optional<double> epsilon = {};  // all but sgd; none only in specs that no file gave
  double initial_accumulator = 0;      // adagrad
  double trust_coefficient = 1e-3;     // lars
  double weight_decay = 0;             // adamw: decoupled; lamb: in the update; all others: added to the gradient
};

// The given epsilon, or the optimizer's usual one: adagrad 1e-10, lamb 1e-6, all others 1e-8.
inline double epsilon_of(const OptimizerSpec& optimizer) {
  return optimizer.epsilon.value_or(optimizer.name == "adagrad" ? 1e-10 : optimizer.name == "lamb" ? 1e-6 : 1e-8);
}

// Whether an update needs the norms of each tensor before any of it can be applied.
inline bool has_trust_ratios(const OptimizerSpec& optimizer) {
  return optimizer.name == "lars" || optimizer.name == "lamb";
}

// An item of training.parameter_groups: other settings for parameters whose names match.
struct ParameterGroup {
  std::string match;                     // a name, in which * stands for any characters or none
  double learning_rate = 1;              // factor of the optimizer's
  std::optional<double> weight_decay;    // in place of the optimizer's; none: that one
  std::optional<bool> trust_ratio = {};  // lars, lamb: false: the ratio is 1; none: as true
};

// training.staleness: async and ssp. A contribution's staleness on a chunk is the chunk's version when it is applied,
// less the version that it was computed from.
struct StalenessSpec {
  enum class Damping : std::uint8_t {
    none,
    inverse,  // the learning rate of a contribution is divided by its staleness
  };
  std::uint32_t bound = 0;  // ssp needs it
  Damping damping = Damping::none;
};

// training.local: what a slot's local steps are
struct LocalSpec {
  enum class Partition : std::uint8_t {
    mixed,     // every slot draws from all examples, as in the other modes
    by_class,  // each slot draws from its own part of the examples sorted by label
  };
  std::uint32_t steps = 0;  // of each work item; local needs them
  Partition partition = Partition::mixed;
  OptimizerSpec optimizer;  // its state starts anew with each work item
};

// training.schedule: the formulas stand in common/job/schedule.h
struct ScheduleSpec {
  std::string name = "constant";                  // constant | step | exponential | cosine
  std::optional<std::uint64_t> decay_steps = {};  // step and exponential need it; cosine: none = until the job's end
  double decay_rate = 0.1;                        // step, exponential
  std::uint64_t warmup_steps = 0;                 // any
  double final_rate = 0;                          // cosine: the smallest factor
};

// training.weight_average: without a decay there is none
struct WeightAverageSpec {
  std::optional<double> decay;                       // share of the average that is kept at each step
  std::optional<std::uint64_t> begins_at_step = {};  // it begins as the weights after so many steps; none: 1
};

// training.clip: at most one
struct ClipSpec {
  std::optional<double> value;        // of each element of the gradient
  std::optional<double> tensor_norm;  // of each parameter's gradient
  std::optional<double> global_norm;  // of the whole gradient
};

struct EarlyStopSpec {
  std::uint32_t patience = 0;  // evaluations without improvement; 0: the job never stops early
  double min_delta = 0;        // of what best_by names, that counts as improvement
};

// training.augment: how training examples are changed at random, anew in every epoch
// What a file does not name is not done.
struct AugmentSpec {
  std::uint32_t shift = 0;                 // pixels at most, in each direction
  std::optional<double> rotation = {};     // degrees at most, in each direction
  std::optional<double> shear = {};        // pixels to the right or left at most, for each pixel down
  std::optional<double> zoom = {};         // the scale is between 1 - zoom and 1 + zoom
  std::optional<double> flip = {};         // the part of examples that are mirrored
  std::optional<std::uint32_t> crop = {};  // pixels of padding on each side
  std::optional<double> brightness = {};   // factors between 1 - this and 1 + this
  std::optional<double> contrast = {};
  std::optional<double> saturation = {};
};

// A field a key, of which this section has most.
struct TrainingSpec {
  Mode mode = Mode::sync;
  std::uint32_t slots = 8;              // fixed micro-batches per step
  std::uint32_t batch = 128;            // examples per step over all slots; a multiple of slots
  std::optional<std::uint32_t> epochs;  // at least one of epochs and max_steps
  std::optional<std::uint64_t> max_steps;
  std::uint64_t seed = 1;
  std::uint32_t micro_batch = 0;       // examples of a slot that are computed at once; 0: all
  std::uint32_t threads_per_slot = 1;  // a part of the arithmetic: it changes bits
  std::string precision = "float32";   // of products on GPUs: float32, tf32 or bfloat16
  AugmentSpec augment;
  std::string init_from;      // safetensors file with the initial weights, read by servers; empty = drawn from the seed
  bool init_partial = false;  // parameters that the file lacks are drawn
  OptimizerSpec optimizer;
  std::vector<ParameterGroup> parameter_groups;  // the first one that matches a parameter counts
  ScheduleSpec schedule;
  ClipSpec clip;
  WeightAverageSpec weight_average;
  StalenessSpec staleness;
  LocalSpec local;
  std::string exact = "prefer";  // prefer | required: only workers of the first one's arithmetic
  NonFinite non_finite = NonFinite::halt;
  std::uint32_t evaluate_every_epochs = 1;  // and at the end of the job
  bool keep_best = false;                   // the snapshot with the best validation
  std::string best_by;                      // a metric's name; empty: accuracy, or the loss where there is none
  EarlyStopSpec early_stop;
};

// Whether servers keep a moving average of the weights, from which the job is evaluated.
inline bool averages_weights(const TrainingSpec& training) { return training.weight_average.decay.has_value(); }

// What parameters that training.init_from's file lacks are drawn from; nothing if it must have all.
inline std::optional<std::uint64_t> drawn_seed(const TrainingSpec& training) {
  return training.init_partial ? std::optional(training.seed) : std::nullopt;
}

// Whether each slot draws from its own part of the examples.
inline bool draws_by_class(const TrainingSpec& training) {
  return training.mode == Mode::local && training.local.partition == LocalSpec::Partition::by_class;
}

inline constexpr std::uint32_t kMaxLinkMbit = 10'000'000;  // ten terabits a second
inline constexpr std::uint64_t kMaxMemoryMib = 1U << 24U;  // of a server process: 16 TiB

struct ClusterSpec {
  std::uint32_t shards = 1;
  std::uint32_t workers = 1;
  std::uint32_t lanes = 1;
  std::uint32_t start_workers = 1;        // training starts when so many workers have said hello
  std::string transport = "ipc";          // of `ballast run`: ipc | tcp
  std::uint32_t io_threads = 0;           // of each server, and of each worker for its lanes; 0: as many as lanes
  std::uint32_t socket_buffer_bytes = 0;  // of each connection of a lane, in each direction; 0: the kernel's choice
  // MiB of a server process; 0: what the declared workers can make use of, at most half of what its machine has
  std::uint64_t memory_mib = 0;
  std::uint32_t patience = 600;       // seconds to wait for a shard or a lead that is gone, before the job fails
  std::uint32_t link_mbit = 0;        // megabits a second of each server's machine, each way; 0: not known
  bool divide_by_speed = true;        // a step's slots by how fast sessions are; else evenly
  bool redistribute = true;           // what sessions have left, and suspects do not bring, goes to others
  std::uint32_t stop_patience = 300;  // seconds to wait for the snapshot of a stop, before the job ends without
  std::uint32_t hold_patience = 20;   // the same of a server alone that is told to end; at most stop_patience
};

// When the journal is forced from the system's memory to the disk.
enum class Fsync : std::uint8_t {
  always,    // before what it holds is applied
  interval,  // so often
  never,     // when the system does it by itself
};

// Of ZeroMQ, in each process.
inline std::uint32_t io_threads_of(const ClusterSpec& cluster) {
  return cluster.io_threads == 0 ? cluster.lanes : cluster.io_threads;
}

// Bytes a second of a link.
inline constexpr std::uint64_t bytes_of_mbit(std::uint32_t mbit) { return std::uint64_t{mbit} * 1'000'000 / 8; }

struct DurabilitySpec {
  std::string mode = "snapshot";  // snapshot | final: the identity and the final weights | journal: snapshots, and
                                  // each update between them. A file that names none: journal if is_item_mode
  Fsync fsync = Fsync::interval;  // journal
  std::uint32_t fsync_interval_ms = 200;     // journal, with Fsync::interval
  std::uint64_t journal_budget_mb = 16'000;  // journal: megabytes of each shard's
  std::uint32_t every_steps = 200;           // snapshot, journal: steps between two snapshots
  std::uint32_t keep = 2;                    // snapshot, journal: complete snapshots that are kept
  std::string copy_to;                 // folder or s3://bucket/prefix for copies of complete snapshots; empty = none
  std::uint32_t copy_patience = 1800;  // seconds with a snapshot that a shard does not come to copy
  std::string run;                     // of copies; a shard that loses its disk gets its part from them; empty: neither
  std::string s3_endpoint;             // where an s3:// copy goes, e.g. https://s3.example.org
  std::string s3_credentials_file;     // on each server; empty: its keys are in the environment
  std::string s3_encryption = "none";  // none | AES256 | aws:kms: what the storage is asked to encrypt objects by
  std::string s3_kms_key_id;           // aws:kms; empty: the storage's own
  std::string copy_key_file;           // on each server: by whose first key copies are encrypted; empty: they are not
};

struct JobSpec {
  std::string job;
  ModelSpec model;
  DataSpec data;
  TrainingSpec training;
  ClusterSpec cluster;
  DurabilitySpec durability;
};

// Whether each update is in the shards' journals before it is applied.
inline bool is_journaled(const JobSpec& spec) {
  return is_item_mode(spec.training.mode) && spec.durability.mode == "journal";
}

// worker file: how one worker process runs; everything else it is told by the lead
struct WorkerSpec {
  std::string lead;             // address, e.g. tcp://10.0.0.5:7070
  std::string keys;             // file of its keys; empty = none
  std::string data_path;        // folder of data files on this machine; empty = search
  std::string metrics_address;  // host:port to serve metrics on; empty = none
  std::string log_file;         // empty = standard error
  std::string log_level = "info";
  std::uint64_t log_megabytes = 64;  // a larger log file is put aside; 0: never
  std::uint32_t log_files = 4;       // that are kept, the newest included
  std::string name;                  // shown in metrics and status; empty = host name and pid
  std::string backend = "auto";      // cpu, cuda, or auto: cuda where it can be had
  std::uint32_t device = 0;          // which GPU
  std::uint32_t link_mbit = 0;       // megabits a second of this machine's link, each way; 0: not known
};

}  // namespace ballast
