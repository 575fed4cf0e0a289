#include "insight/reading_times.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

double takes(const SlotRead& read) { return read.done - read.begun; }

// Of what they took one by one, how long they were at it.
double part_together(std::vector<SlotRead> reads) {
  std::ranges::sort(reads, {}, &SlotRead::begun);
  double all = 0;
  double together = 0;
  double until = 0;
  for (const auto& read : reads) {
    all += takes(read);
    together += std::max(0.0, read.done - std::max(read.begun, until));
    until = std::max(until, read.done);
  }
  return all > 0 ? together / all : 0;
}

}  // namespace

ReadingTimes reading_times(const std::vector<SlotRead>& reads, const std::vector<std::size_t>& slots, double longest,
                           bool waited) {
  ReadingTimes times;
  const auto had = std::accumulate(slots.begin(), slots.end(), std::size_t{0});
  if (reads.empty() || had == 0) {
    return times;
  }
  const auto part = part_together(reads);
  std::vector<double> single;
  std::ranges::transform(reads, std::back_inserter(single), takes);
  const auto usual = median(std::move(single));
  std::vector<double> took(slots.size(), 0);
  std::vector<std::size_t> count(slots.size(), 0);
  for (const auto& read : reads) {
    took[read.step] += part * (takes(read) > std::max(longest, usual) ? usual : takes(read));
    ++count[read.step];
  }
  double all = 0;
  for (std::size_t step = 0; step < slots.size(); ++step) {
    if (!waited && count[step] > slots[step]) {
      took[step] *= static_cast<double>(slots[step]) / static_cast<double>(count[step]);
    }
    all += took[step];
  }
  times.each = all / static_cast<double>(had);
  for (std::size_t step = 0; step < slots.size(); ++step) {
    times.by_step.push_back(slots[step] > 0 ? took[step] / static_cast<double>(slots[step]) : times.each);
  }
  return times;
}

}  // namespace ballast::insight
