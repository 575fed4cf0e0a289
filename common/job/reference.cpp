#include "common/job/reference.h"

#include <cmath>
#include <string_view>

#include "common/job/layer_kinds.h"
#include "common/job/schema.h"
#include "common/job/words.h"

namespace ballast {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Written from the tables in common/job/*_keys.cpp; change those. A test compares. -->

A **job file** says what is trained and how; every server and `ballast run` read the same one. A **worker file** says how
one worker process runs on its machine; everything else a worker is told by the lead. Runnable examples are in
[configs/](../configs).

Both are a strict subset of YAML: maps, lists and scalars in UTF-8. Anchors, aliases, tags, repeated keys and unknown keys
are errors. All mistakes of a file are told at once, each as

    file:line: key.path: what is wrong; what is allowed; did you mean '...'?

Any key of a job file can be replaced on the command line by `--set key.path=value`, the value in YAML:
`--set training.optimizer.learning_rate=0.1 --set 'model.hidden=[512, 256]'`. An empty value (`--set data.path=`) restores the
default. Of two for one key the later counts.

Keys marked *identity* decide the bits of the result. They make up the job's digest: a server refuses a database, and the
lead a worker, whose digest is another. The others may change between two starts of the same job; `cluster.shards`, over
which what is on disk is spread, by `ballast reshard`.
)";

std::string count_text(double number) {
  if (number >= 18446744073709551615.0) {
    return "18446744073709551615";
  }
  return number >= 1 && number == std::floor(number) ? std::to_string(static_cast<std::uint64_t>(number))
                                                     : number_text(number);
}

std::string text_rule(TextRule rule) {
  switch (rule) {
    case TextRule::job_name:
      return "1 to 64 of a-z 0-9 - _ . beginning with a letter or digit";
    case TextRule::endpoint:
      return "`tcp://host:port` or `ipc://path`";
    case TextRule::host_port:
      return "`host:port`";
    case TextRule::copy_target:
      return "folder or `s3://bucket/prefix`";
    case TextRule::data_digest:
      return "32 hexadecimal digits";
    case TextRule::http_url:
      return "`http://host:port` or `https://host`";
    case TextRule::printable:
      break;
  }
  return "text";
}

std::string code_list(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "`" : ", `") + word + "`";
  }
  return text;
}

std::string allowed(const Key& key) {
  if (!key.built()) {
    return "*not built yet: refused*";
  }
  const std::string range = count_text(key.minimum) + " to " + count_text(key.maximum);
  if (!key.choices.empty()) {
    return code_list(key.choices);
  }
  if (std::holds_alternative<std::string*>(key.target)) {
    return text_rule(key.rule);
  }
  if (std::holds_alternative<std::vector<std::uint32_t>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxHiddenLayers) + " numbers, each " + range;
  }
  if (std::holds_alternative<std::vector<std::string>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxWords) + " texts";
  }
  if (std::holds_alternative<std::vector<EmulatedParameter>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxParameters) + " parameters; 1 to " + std::to_string(kMaxDimensions) +
           " dimensions each";
  }
  if (std::holds_alternative<std::vector<double>*>(key.target)) {
    return "list of numbers, each " + range;
  }
  if (std::holds_alternative<std::vector<LayerSpec>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxLayers) + " layers";
  }
  if (std::holds_alternative<Pair*>(key.target)) {
    return "whole number, " + range + ", or two: `[height, width]`";
  }
  if (std::holds_alternative<std::vector<ParameterGroup>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxParameterGroups) +
           " groups; `learning_rate` 0 to 1000, `weight_decay` 0 to 1, `trust_ratio` `true` or `false`";
  }
  if (std::holds_alternative<std::vector<CsvColumn>*>(key.target)) {
    return "list of 1 to " + std::to_string(kMaxColumns) + " columns";
  }
  if (std::holds_alternative<bool*>(key.target)) {
    return "`true`, `false`";
  }
  const bool real = std::holds_alternative<double*>(key.target) || std::holds_alternative<float*>(key.target) ||
                    std::holds_alternative<std::optional<double>*>(key.target);
  return (real ? "number, " : "whole number, ") + range;
}

std::string default_text(const Key& key) {
  if (key.required) {
    return "*required*";
  }
  if (!key.built()) {
    return "";
  }
  if (!key.default_note.empty()) {
    return key.default_note;
  }
  const std::string value = value_text(key);
  return value.empty() ? "none" : "`" + value + "`";
}

std::string row(const Key& key) {
  std::string meaning = key.description + ".";
  if (!key.only_with.key.empty()) {
    meaning += " Only with `" + key.only_with.key + ": " + key.only_with.values.front() + "`";
    for (std::size_t i = 1; i < key.only_with.values.size(); ++i) {
      meaning += " or `" + key.only_with.values[i] + "`";
    }
    meaning += ".";
  }
  return "| `" + key.path + "`" + (key.identity ? " *identity*" : "") + " | " + allowed(key) + " | " + key.unit +
         " | " + default_text(key) + " | " + meaning + " |\n";
}

std::string rows_of(const Schema& schema, const std::string& section) {
  std::string text;
  for (const auto& key : schema.keys) {
    const auto dot = key.path.rfind('.');
    if ((dot == std::string::npos ? "" : key.path.substr(0, dot)) == section) {
      text += row(key);
    }
  }
  if (text.empty()) {
    return text;
  }
  return "\n| key | allowed | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n" + text;
}

std::string tables(const Schema& schema) {
  std::string text = rows_of(schema, "");
  for (const auto& section : schema.sections) {
    text += "\n### " + section.path + "\n\n" + section.description + "\n" + rows_of(schema, section.path);
  }
  return text;
}

constexpr std::string_view kLayers = R"(
### Layers

What `model.layers` may hold; [models.md](models.md#a-network-of-your-own) has examples, and common/network/layers.h the formulas. An
entry is a kind alone (`relu`; with a colon, `relu:`, if anything stands beside it), a kind with its first setting
(`linear: 10`), or with several (`conv2d: {channels: 32, kernel: 3}`). Beside it may stand:

- `name`: 1 to 64 of A-Z a-z 0-9 . _ -, by which later layers, messages and parameters (`NAME.weight`) call it; without one it
  is called by its kind and a number (`relu3`, `conv2d_1`).
- `from`: the name of the layer that it reads, or a list of names for the layers that read several; without it the entry
  before. `example` is the example itself.
- `tied_to`: of `linear` and `embedding`, the name of the layer whose weight it has too.

The last entry is what the network predicts; every other one is read by a later one.

| layer | setting | allowed | default | meaning |
| --- | --- | --- | --- | --- |
)";

std::string layers_reference() {
  std::string text(kLayers);
  for (const auto& kind : layer_kinds()) {
    text += "| `" + kind.name + "` | | | | " + kind.description + ". |\n";
    LayerSpec spec;
    spec.layer = kind.layer;
    for (const auto& key : kind.settings(spec)) {
      text +=
          "| | `" + key.path + "` | " + allowed(key) + " | " + default_text(key) + " | " + key.description + ". |\n";
    }
  }
  return text;
}

}  // namespace

std::string configuration_reference() {
  JobSpec job;
  WorkerSpec worker;
  return std::string(kIntroduction) + "\n## Job file\n" + tables(job_schema(job)) + layers_reference() + R"(
### Between keys

- `training.batch` is a multiple of `training.slots`, and with `training.mode: local` of `training.slots` times
  `training.local.steps`. It is at most twice an epoch's examples; where it is more than these, each step takes all of them.
- At least one of `training.epochs` and `training.max_steps` is given; the job ends with whichever comes first.
- Each network needs examples of its kind ([models.md](models.md)); `emulated` needs `none`, and exactly one of
  `model.preset` and `model.parameters`.
- `model.layers` is given with `model.name: layers`. Its layers fit each other and the data's examples.
- `model.heads` divides `model.width`.
- `model.class_weights` and `model.smoothing` are for data whose labels are classes.
- `idx`, `cifar10` and `images` need `data.train`, `data.test`, `data.train_examples` and `data.test_examples`; `idx` and
  `images` need `data.classes`, `data.height` and `data.width` as well, `idx` `data.train_labels` and `data.test_labels`. `ballast data describe` writes them
  ([data.md](data.md)).
- `data.mean` and `data.deviation` have one number for each channel. `training.augment.saturation` needs three channels,
  and `training.augment.crop` is less than height and width.
- `data.validation_examples` leaves at least `training.batch` examples to train on; `training.keep_best`,
  `training.early_stop` and `training.best_by` need it. The latter is a metric that
  [evaluations of the model tell](models.md#what-evaluations-tell).
- `training.optimizer.nesterov` needs a momentum.
- `training.schedule.decay_steps` is given with `step` and `exponential`. `training.schedule.warmup_steps` is at most the
  job's steps.
- At most one key of `training.clip` is given. With `lars` and `lamb` it is `value`: their trust ratios bound each tensor's
  step already, and would need the clipped gradient's norms. With `local` that is about the inner optimizer.
- `trust_ratio` in `training.parameter_groups` is for `lars` and `lamb`.
- With `async` and `ssp` there are no `training.clip.tensor_norm`, `training.clip.global_norm`, `lars` and `lamb`, which
  need all of a gradient before any of it is applied, and no `training.non_finite: rollback`, which leaves out whole steps.
- `training.weight_average` is for `sync` and `local`; `begins_at_step` is given with `decay`, and is less than
  `training.max_steps`.
- `training.staleness.bound` is given with `ssp`, `training.local.steps` with `local`.
- `training.local.partition: by_class` needs data with labels.
- `durability.mode: journal` is for `async` and `ssp`.
- `durability.copy_to: s3://...` and `durability.s3_endpoint` are given together; `durability.run` and
  `durability.copy_key_file` are given with `durability.copy_to`, `durability.s3_credentials_file` and
  `durability.s3_encryption` with `s3://...`.
- `cluster.start_workers` is at most `cluster.workers`.
- A model has at most 274877906944 floats (1 TiB), and 8589934592 (32 GiB) for each lane of all shards.

## Worker file
)" + tables(worker_schema(worker));
}

}  // namespace ballast
