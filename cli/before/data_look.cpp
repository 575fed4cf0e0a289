#include "cli/before/data_look.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/job/model_parameters.h"
#include "worker/data/examples.h"
#include "worker/data/failures.h"
#include "worker/data/job_data.h"

namespace ballast {

namespace {

constexpr std::size_t kMostShownClasses = 20;  // that are told one by one

struct SplitSize {
  DataSplit split;
  std::uint32_t examples;
};

// What the job counts on: a file's test split may hold more.
std::vector<SplitSize> splits_of(const Job& job) {
  return {{DataSplit::train, job.sizes.train},
          {DataSplit::validation, job.sizes.validation},
          {DataSplit::test, job.sizes.test}};
}

// The same data, of which each corrupt example is an error when it is read. Those of sets that are read while they are
// opened were told then.
Job without_skipping(const Job& job) {
  auto strict = job;
  if (job.spec.data.name == "images") {
    strict.spec.data.corrupt = "fatal";
  }
  return strict;
}

std::string lacking_text(const std::vector<std::uint64_t>& counts, const Job& job, const char* split,
                         std::uint32_t examples) {
  std::string names;
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < counts.size() && examples > 0; ++i) {
    if (counts[i] == 0 && ++lacking <= kMostShownClasses) {
      names +=
          (names.empty() ? "" : ", ") + (job.spec.data.classes.empty() ? std::to_string(i) : job.spec.data.classes[i]);
    }
  }
  if (lacking == 0) {
    return {};
  }
  return "note        " + std::to_string(lacking) + (lacking == 1 ? " class has" : " classes have") + " no " + split +
         " example: " + names + (lacking > kMostShownClasses ? ", ..." : "") + "\n";
}

// Without the advice to set what is set.
std::string without_advice_to_skip(std::string fault) {
  const std::string advice = ", take it away, or set data.corrupt: skip";
  if (fault.ends_with(advice)) {
    fault.replace(fault.size() - advice.size(), advice.size(), " or take it away");
  }
  return fault;
}

}  // namespace

ClassCounts count_classes(const Dataset& dataset, const Job& job) {
  ClassCounts counts;
  if (job.shape.labels != Labels::classes || job.spec.data.name == "none") {
    return counts;
  }
  const auto count = [&](DataSplit split, std::uint32_t examples) {
    std::vector<std::uint64_t> of_class(job.shape.classes);
    for (std::uint32_t i = 0; i < examples; ++i) {
      const auto label = static_cast<std::size_t>(dataset.label(split, i));
      if (label < of_class.size()) {
        ++of_class[label];
      }
    }
    return of_class;
  };
  counts.train = count(DataSplit::train, job.sizes.train);
  counts.validation = count(DataSplit::validation, job.sizes.validation);
  counts.test = count(DataSplit::test, job.sizes.test);
  return counts;
}

std::string classes_text(const ClassCounts& counts, const Job& job) {
  std::string text;
  for (std::size_t i = 0; i < counts.train.size() && counts.train.size() <= kMostShownClasses; ++i) {
    const auto& names = job.spec.data.classes;
    text += "class       " + (names.empty() ? std::to_string(i) : names[i]) + ": " + std::to_string(counts.train[i]) +
            " training, " + std::to_string(counts.validation[i]) + " validation and " + std::to_string(counts.test[i]) +
            " test examples\n";
  }
  return text + lacking_text(counts.train, job, "training", job.sizes.train) +
         lacking_text(counts.validation, job, "validation", job.sizes.validation) +
         lacking_text(counts.test, job, "test", job.sizes.test);
}

std::vector<std::string> unreadable_examples(const Dataset& dataset, const Job& job) {
  std::vector<std::string> faults;
  SlotExamples room(dataset.shape(), 1);
  for (const auto& part : splits_of(job)) {
    for (std::uint32_t i = 0; i < part.examples; ++i) {
      try {
        reading_data([&] { dataset.read(part.split, i, room.room(0)); });
      } catch (const BadData& bad) {
        faults.emplace_back(bad.what());
      }
    }
  }
  return faults;
}

bool look_at_data(const Job& job, DataLook look) {
  const bool skips = job.spec.data.corrupt == "skip";
  const auto strict = without_skipping(job);
  const auto dataset = open_job_data(look == DataLook::examples ? strict : job, "");
  std::printf("data        opened as workers open it: %u training, %u validation and %u test examples\n",
              dataset->size(DataSplit::train), dataset->size(DataSplit::validation), dataset->size(DataSplit::test));
  std::printf("%s", classes_text(count_classes(*dataset, job), job).c_str());
  if (dataset->corrupt() > 0) {
    std::printf("corrupt     %llu %s left out (data.corrupt: skip)\n",
                static_cast<unsigned long long>(dataset->corrupt()), dataset->corrupt() == 1 ? "was" : "were");
  }
  if (look != DataLook::examples) {
    return true;
  }
  const auto faults = unreadable_examples(*dataset, job);
  for (const auto& fault : faults) {
    std::fprintf(stderr, "corrupt example: %s\n", (skips ? without_advice_to_skip(fault) : fault).c_str());
  }
  std::printf("examples    all were read; %zu %s corrupt%s\n", faults.size(), faults.size() == 1 ? "is" : "are",
              skips && !faults.empty() ? ": others of their classes take their places (data.corrupt: skip)" : "");
  return skips || faults.empty();
}

}  // namespace ballast
