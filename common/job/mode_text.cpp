#include "common/job/mode_text.h"

#include <utility>

namespace ballast {
namespace {

bool is_plain_averaging(const TrainingSpec& training) {
  const auto& outer = training.optimizer;
  const auto& schedule = training.schedule;
  return outer.name == "sgd" && outer.learning_rate == 1 && outer.momentum == 0 && outer.weight_decay == 0 &&
         schedule.name == "constant" && schedule.warmup_steps == 0;
}

// "sgd with Nesterov momentum"
std::string optimizer_text(const OptimizerSpec& optimizer) {
  const bool momentum =
      (optimizer.name == "sgd" || optimizer.name == "rmsprop" || optimizer.name == "lars") && optimizer.momentum != 0;
  if (!momentum) {
    return optimizer.name;
  }
  return optimizer.name + (optimizer.nesterov ? " with Nesterov momentum" : " with momentum");
}

std::string local_text(const TrainingSpec& training) {
  const auto& local = training.local;
  std::string text = "local: " + std::to_string(local.steps) + (local.steps == 1 ? " step of " : " steps of ") +
                     optimizer_text(local.optimizer) + " a slot, ";
  text +=
      is_plain_averaging(training) ? "averaged" : "their mean change applied by " + optimizer_text(training.optimizer);
  return text + (draws_by_class(training) ? "; each slot draws from its own classes" : "");
}

std::string average_text(const TrainingSpec& training) {
  return averages_weights(training) ? "; evaluations are of a moving average of the weights" : "";
}

std::string item_mode_text(const TrainingSpec& training) {
  std::string text = std::string(name_of(training.mode)) + ": each slot is an update of its own by " +
                     optimizer_text(training.optimizer);
  if (training.mode == Mode::ssp) {
    text += ", at most " + std::to_string(training.staleness.bound) +
            (training.staleness.bound == 1 ? " update late" : " updates late");
  }
  return text + (training.staleness.damping == StalenessSpec::Damping::inverse ? ", damped by its staleness" : "");
}

std::string fsync_text(const DurabilitySpec& durability) {
  switch (durability.fsync) {
    case Fsync::always:
      return "before it counts";
    case Fsync::interval:
      return "every " + std::to_string(durability.fsync_interval_ms) + " ms";
    case Fsync::never:
      break;
  }
  return "when the system does it";
}

}  // namespace

std::string mode_text(const TrainingSpec& training) {
  if (is_item_mode(training.mode)) {
    return item_mode_text(training);
  }
  if (training.mode == Mode::local) {
    return local_text(training) + average_text(training);
  }
  return "sync: each step is one update by " + optimizer_text(training.optimizer) + ", the mean of " +
         std::to_string(training.slots) + (training.slots == 1 ? " slot" : " slots") + average_text(training);
}

std::string idle_workers_text(const JobSpec& spec) {
  const auto& training = spec.training;
  const bool bounded = training.mode == Mode::ssp;
  if (training.mode == Mode::async) {
    return {};  // steps may overlap
  }
  const auto at_work = bounded ? training.staleness.bound + 1 : training.slots;
  if (spec.cluster.workers <= at_work) {
    return {};
  }
  return "of " + std::to_string(spec.cluster.workers) + " workers at most " + std::to_string(at_work) +
         " find work at a time: " + (bounded ? "training.staleness.bound" : "training.slots") + " is " +
         std::to_string(bounded ? training.staleness.bound : training.slots);
}

std::vector<std::string> cluster_notes(const JobSpec& spec) {
  const auto& cluster = spec.cluster;
  std::vector<std::string> notes;
  if (cluster.hold_patience > cluster.stop_patience) {
    notes.push_back("cluster.hold_patience is " + std::to_string(cluster.hold_patience) +
                    ", but a server that is told to end waits no longer than cluster.stop_patience, which is " +
                    std::to_string(cluster.stop_patience) + " (seconds)");
  }
  if (is_item_mode(spec.training.mode)) {
    for (const auto& [key, value] : {std::pair("cluster.divide_by_speed", cluster.divide_by_speed),
                                     std::pair("cluster.redistribute", cluster.redistribute)}) {
      if (!value) {
        notes.push_back(std::string(key) + ": false changes nothing with " + name_of(spec.training.mode) +
                        ", where each worker takes a slot whenever it has none; it is for sync and local");
      }
    }
  }
  return notes;
}

std::string durability_text(const DurabilitySpec& durability) {
  if (durability.mode == "final") {
    return "the final weights alone";
  }
  const std::string snapshots = "snapshots every " + std::to_string(durability.every_steps) + " steps, " +
                                std::to_string(durability.keep) + " kept";
  return durability.mode == "journal"
             ? "a journal of every update, forced to the disk " + fsync_text(durability) + "; " + snapshots
             : snapshots;
}

}  // namespace ballast
