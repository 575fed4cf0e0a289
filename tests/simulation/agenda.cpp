#include "tests/simulation/agenda.h"

#include <utility>

namespace ballast::simulation {

void Agenda::add(Micros time, ProcessId process, Happening what) {
  queue_.push(Entry{time, time, sequence_++, process, std::move(what)});
}

Agenda::Entry Agenda::take() {
  auto entry = queue_.top();
  queue_.pop();
  now_ = entry.time;
  return entry;
}

void Agenda::put_off(Entry entry, Micros time) {
  entry.time = time;
  queue_.push(std::move(entry));
}

}  // namespace ballast::simulation
