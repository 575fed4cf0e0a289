#include "tests/simulation/agenda.h"

#include <utility>

namespace ballast::simulation {

void Agenda::add(Micros time, ProcessId process, Happening what) {
  queue(Entry{time, time, sequence_++, process, std::move(what)});
}

Agenda::Entry Agenda::take() {
  const auto place = queue_.top();
  queue_.pop();
  now_ = place.time;
  free_.push_back(place.entry);
  return std::move(entries_[place.entry]);
}

void Agenda::put_off(Entry entry, Micros time) {
  entry.time = time;
  queue(std::move(entry));
}

void Agenda::queue(Entry entry) {
  if (free_.empty()) {
    free_.push_back(entries_.size());
    entries_.emplace_back();
  }
  const auto place = free_.back();
  free_.pop_back();
  queue_.push({entry.time, entry.due, entry.sequence, place});
  entries_[place] = std::move(entry);
}

}  // namespace ballast::simulation
