// The pipeline alone: images decoded, augmented and normalised, beside torchvision's.
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "bench/torchvision.h"
#include "cli/data/describe.h"
#include "common/job/load.h"
#include "worker/data/pipeline.h"

namespace ballast::bench {

namespace {

constexpr double kDataSeconds = 4;

// The folder as a job's data, which it is to be trained and tested on.
DataSpec data_in(const std::string& images) {
  const auto folder = std::filesystem::canonical(images);
  const auto found = describe({.folder = folder.parent_path(),
                               .kind = "images",
                               .train = folder.filename(),
                               .test = folder.filename(),
                               .channels = 3});
  const std::string job = "job: data\nmodel: {name: autoencoder}\ntraining: {max_steps: 1, batch: 1, slots: 1}\n";
  auto data = parse_job(job + found.section, images).data;
  data.mean = {0.5, 0.5, 0.5};
  data.deviation = {0.25, 0.25, 0.25};
  return data;
}

JobSpec job_on(const DataSpec& data, std::uint64_t cache_mb, std::uint32_t threads) {
  JobSpec job;
  job.data = data;
  job.data.cache_mb = cache_mb;
  job.data.threads = threads;
  job.training.batch = 128;
  job.training.slots = 8;
  job.training.augment = {.rotation = 15, .shear = 0.1, .zoom = 0.1, .flip = 0.5};
  return job;
}

// From the second epoch on, if there is a cache.
ImageSpeed pipeline_speed(const JobSpec& job, double seconds) {
  const auto dataset = open_dataset(job.data, "");
  Pipeline pipeline(*dataset, job.training, read_ahead_of(job));
  std::vector<std::uint32_t> slots(job.training.slots);
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    slots[slot] = slot;
  }
  std::uint64_t step = 0;
  pipeline.prefetch(step, slots);
  const auto take = [&] {
    pipeline.prefetch(step + 1, slots);
    std::uint64_t images = 0;
    for (const auto slot : slots) {
      images += pipeline.take(step, slot).count;
    }
    ++step;
    return images;
  };
  const auto per_epoch = (dataset->size(DataSplit::train) + job.training.batch - 1) / job.training.batch;
  for (std::uint64_t i = 0; i < (job.data.cache_mb > 0 ? per_epoch : 1); ++i) {
    take();
  }
  const auto begin = Clock::now();
  const auto cpu_begin = own_cpu_seconds();
  std::uint64_t images = 0;
  while (seconds_since(begin) < seconds) {
    images += take();
  }
  const auto taken = static_cast<double>(images);
  return {taken / seconds_since(begin), 1e6 * (own_cpu_seconds() - cpu_begin) / taken, {}, {}};
}

Row row(const std::string& work, const std::vector<ImageSpeed>& speeds) {
  std::vector<double> rates;
  std::vector<double> cpu;
  for (const auto& speed : speeds) {
    rates.push_back(speed.images_per_second);
    cpu.push_back(speed.cpu_us);
  }
  const auto rate = spread_of(rates);
  return {{"work", work},
          {"images_s", rate.median},
          {"least", rate.least},
          {"most", rate.most},
          {"cpu_us_per_image", spread_of(cpu).median}};
}

}  // namespace

Result data(const Options& options) {
  if (options.images.empty()) {
    throw std::runtime_error("data needs --images FOLDER, with one folder of images a class in it");
  }
  const double seconds = options.seconds.value_or(kDataSeconds);
  const auto images = data_in(options.images);
  std::vector<std::pair<std::string, JobSpec>> works = {
      {"decoded anew, 1 thread", job_on(images, 0, 1)},
      {"decoded anew, 2 threads", job_on(images, 0, 2)},
      {"kept in memory, 1 thread", job_on(images, 1000, 1)},
  };
  std::map<std::string, std::vector<ImageSpeed>> speeds;
  std::vector<ImageSpeed> torch;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    for (const auto& [name, job] : works) {
      speeds[name].push_back(pipeline_speed(job, seconds));
    }
    torch.push_back(torchvision_speed(options.images, works[0].second.data, seconds));
  }
  Result result;
  result.how =
      "images of " + options.images +
      ": decoded, turned, sheared, zoomed and mirrored at random by one bilinear resampling, and normalised; taken in "
      "steps of 128 in 8 slots, with the next step read ahead. Medians, least and most over repetitions in turns; "
      "cpu_us_per_image: processor time of the process.";
  for (const auto& work : works) {
    result.rows.push_back(row(work.first, speeds[work.first]));
  }
  if (torch[0].refused.empty()) {
    result.how +=
        " torchvision: ImageFolder with RandomAffine (bilinear), RandomHorizontalFlip, ToTensor and Normalize, in a "
        "drawn order, in one process on one thread.";
    result.rows.push_back(row(torch[0].described, torch));
  } else {
    result.how += " torchvision is left out: " + torch[0].refused + ".";
  }
  return result;
}

}  // namespace ballast::bench
