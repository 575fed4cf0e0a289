#include "insight/severity.h"

#include <algorithm>
#include <map>
#include <optional>

#include "insight/medians.h"
#include "insight/record_waits.h"
#include "insight/standstills.h"

namespace ballast::insight {
namespace {

// Beyond which a resource counts as slow, beside peers that are alike: compute scatters by 5 %, links by more.
constexpr double kSlowCompute = 1.15;
constexpr double kSlowLink = 1.3;
constexpr double kSlowProcessor = 1.25;
// What is quicker than that keeps nobody waiting, whatever the peers take; milliseconds.
constexpr double kLeastLink = 2;
constexpr double kLeastLead = 3;
constexpr double kIdealLead = 1;
constexpr double kLeastWait = 0.05;  // of a slot's compute
constexpr double kLeastCommit = 0.02;

double milliseconds(Micros from, Micros until) { return until > from ? static_cast<double>(until - from) / 1'000 : 0; }

// Of each worker or lane, by its place among the processes.
using ByProcess = std::map<std::size_t, double>;

std::vector<double> of_others(const ByProcess& values, std::size_t self) {
  std::vector<double> others;
  for (const auto& [process, value] : values) {
    if (process != self) {
      others.push_back(value);
    }
  }
  return others;
}

// So that one of two that are slow does not hide the other from a third: slots of those that are sound differ little,
// and of two the quicker counts; what links take differs by who came first.
double usual_of(Resource resource, std::vector<double> others) {
  return resource == Resource::compute ? lower_median(std::move(others)) : middle(std::move(others));
}

class Measured {
 public:
  explicit Measured(const JobTrace& trace) : trace_(trace), peers_(trace) {}

  std::vector<Severity> all() {
    for (std::size_t i = 0; i < trace_.processes.size(); ++i) {
      const auto& process = trace_.processes[i];
      switch (process.source.role) {
        case TraceRole::worker:
          of_slots(i, process);
          break;
        case TraceRole::lane:
          of_thread(i, process);
          break;
        case TraceRole::lead:
          of_decisions(i, process);
          break;
      }
    }
    against_peers(Resource::compute, compute_, kSlowCompute, 0);
    of_links();
    of_storage();
    std::ranges::stable_sort(found_, [](const Severity& one, const Severity& other) {
      return std::pair(one.is_slow, one.times) > std::pair(other.is_slow, other.times);
    });
    return std::move(found_);
  }

 private:
  void of_slots(std::size_t index, const ProcessTrace& process) {
    std::vector<double> computing;
    std::vector<double> waiting;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::slot) {
        waiting.push_back(milliseconds(record.first, record.second));
        computing.push_back(milliseconds(record.second, record.fourth));
      }
    }
    if (computing.empty()) {
      return;
    }
    const auto typical = compute_[index] = median(std::move(computing));
    double wait = 0;
    for (const auto one : waiting) {
      wait += one / static_cast<double>(waiting.size());
    }
    const auto times = typical > 0 ? 1 + wait / typical : 1;
    found_.push_back({Resource::data, process.name, index, wait, 0, times, times > 1 + kLeastWait});
  }

  // A thread that is not waiting and has no processor waits for one.
  void of_thread(std::size_t index, const ProcessTrace& process) {
    double span = 0;
    double busy = 0;
    double processor = 0;
    const Standstills standstills(process);
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::work && !standstills.has(record)) {
        span += milliseconds(record.first, record.second);
        busy += static_cast<double>(record.third) / 1'000;
        processor += static_cast<double>(record.fourth) / 1'000;
      }
    }
    if (span <= 0) {
      return;
    }
    // What it had for waiting counts as well: at most all of it.
    const auto had = std::min(std::max(processor, 0.001), busy);
    const auto times = busy > 0 ? std::max(1.0, busy / had) : 1;
    constexpr double kMatters = 0.02;  // of its time, not waiting
    found_.push_back({Resource::processor, process.name, index, 1'000 * busy / span, 1'000 * had / span, times,
                      times > kSlowProcessor && busy - had > kMatters * span});
  }

  void of_decisions(std::size_t index, const ProcessTrace& process) {
    std::vector<double> took;
    for (const auto& record : process.records) {
      if (record.kind == TraceKind::decision) {
        took.push_back(milliseconds(record.first, record.second));
      }
    }
    if (took.empty()) {
      return;
    }
    const auto typical = median(std::move(took));
    found_.push_back({Resource::lead, process.name, index, typical, kIdealLead, std::max(1.0, typical / kIdealLead),
                      typical > kLeastLead});
  }

  // An item waits for its record, and the next one's weights with it.
  void of_storage() {
    std::vector<double> slots;
    for (const auto& [process, typical] : compute_) {
      slots.push_back(typical);
    }
    const auto slot = median(std::move(slots));
    for (std::size_t i = 0; slot > 0 && i < trace_.processes.size(); ++i) {
      if (const auto waits = record_waits(trace_.processes[i]); waits.records > 0) {
        const auto wait = waits.disk / 1'000;
        const auto times = 1 + wait / slot;
        found_.push_back({Resource::storage, trace_.processes[i].name, i, wait, 0, times, times > 1 + kLeastCommit});
      }
    }
  }

  struct Message {
    Micros sent = 0;
    Micros arrived = 0;
    ChunkId chunk = 0;
    bool counts = true;
  };
  using ByWorker = std::map<std::size_t, std::vector<Message>>;

  [[nodiscard]] std::optional<std::size_t> index_of(const ProcessTrace* process) const {
    return process == nullptr ? std::nullopt
                              : std::optional(static_cast<std::size_t>(process - trace_.processes.data()));
  }

  void of_links() {
    ByWorker up;
    ByWorker down;
    for (std::size_t i = 0; i < trace_.processes.size(); ++i) {
      const auto& process = trace_.processes[i];
      for (const auto& record : process.records) {
        const auto times = on_one_clock(peers_, process, record);
        if (record.kind == TraceKind::contribution && times.first != 0) {
          if (const auto worker = index_of(peers_.worker(record.peer))) {
            // It may have lain there unread where it was not the first of its turn's.
            up[*worker].push_back({times.first, times.second, record.chunk, times.second < times.fourth + kAtOnce});
          }
        } else if (record.kind == TraceKind::pull && times.second != 0) {
          down[i].push_back({times.second, times.third, record.chunk, true});
        }
      }
    }
    against_peers(Resource::uplink, of_a_model(std::move(up)), kSlowLink, kLeastLink);
    against_peers(Resource::downlink, of_a_model(std::move(down)), kSlowLink, kLeastLink);
  }

  // What one copy of each chunk takes, by worker.
  static ByProcess of_a_model(ByWorker messages) {
    ByProcess takes;
    for (auto& [worker, all] : messages) {
      std::ranges::sort(all, {}, &Message::arrived);
      std::map<ChunkId, std::vector<double>> by_chunk;
      Micros before = 0;
      for (const auto& message : all) {
        if (message.counts) {
          by_chunk[message.chunk].push_back(milliseconds(std::max(message.sent, before), message.arrived));
        }
        before = message.arrived;
      }
      for (auto& [chunk, times] : by_chunk) {
        takes[worker] += median(std::move(times));
      }
    }
    return takes;
  }

  void against_peers(Resource resource, const ByProcess& takes, double slow, double least) {
    for (const auto& [process, typical] : takes) {
      const auto peers = usual_of(resource, of_others(takes, process));  // 0: there are none
      const auto ideal = takes.size() > 1 ? std::max(peers, least) : typical;
      const auto times = ideal > 0 ? std::max(1.0, typical / ideal) : 1;
      const bool is_longer = typical - peers > least;
      found_.push_back(
          {resource, trace_.processes[process].name, process, typical, peers, times, times > slow && is_longer});
    }
  }

  static constexpr Micros kAtOnce =
      2'000;  // of a turn: so long after its begin what is read had not lain there for long

  const JobTrace& trace_;
  const Peers peers_;
  ByProcess compute_;
  std::vector<Severity> found_;
};

}  // namespace

std::vector<Severity> severities(const JobTrace& trace) { return Measured(trace).all(); }

}  // namespace ballast::insight
