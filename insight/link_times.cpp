#include "insight/link_times.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "insight/known_links.h"
#include "insight/link_rates.h"
#include "insight/medians.h"

namespace ballast::insight {
namespace {

constexpr double kFastest = 1e6;      // a terabyte a second
constexpr double kMoreAtTimes = 1.5;  // than was declared: no burst

// Bytes a microsecond that one worker's messages come with while any are on their way: each counts from when it was
// sent, or from when the one before it was there. 0: there are none.
double pace_of(std::vector<Carried> own) {
  std::ranges::sort(own, {}, &Carried::arrived);
  double bytes = 0;
  double took = 0;
  double before = 0;
  for (const auto& message : own) {
    bytes += message.bytes;
    took += std::max(message.arrived - std::max(message.sent, before), 1.0);
    before = message.arrived;
  }
  return took > 0 ? bytes / took : 0;
}

class Links {
 public:
  Links(const JobTrace& trace, const Peers& peers, JobTimes& times) : trace_(trace), peers_(peers), times_(times) {
    for (const auto& lane : times_.lanes) {
      starved_ += lane.is_starved() ? 1 : 0;
      tells_[&trace_.processes[lane.process]] = !lane.is_starved();
    }
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      places_[&trace_.processes[times_.workers[i].process]] = i;
    }
  }

  void measure(const Connections& connections) {
    // A stretch in which to look how much a link carries: of a short step a short one.
    const auto stretch = std::clamp(times_.step / 8, 2'000.0, 400'000.0);
    const auto contributed = contributions();
    const auto sent_back = weights();
    const auto apart = lines_apart();
    const auto in = link_rates(contributed, times_.workers.size(), times_.shards.size(), stretch, apart);
    const auto out = link_rates(sent_back, times_.workers.size(), times_.shards.size(), stretch, apart);
    forget_wrong_lines(in, out);
    const auto known = known_links(in, out, times_.line);
    times_.line = known.line;
    const auto whole = whole_of([](const LaneTimes&) { return true; });
    times_.servers.in = whole * known.in.all;
    times_.servers.out = whole * known.out.all;
    times_.servers.seen_in = whole * in.all;
    times_.servers.seen_out = whole * out.all;
    times_.is_borrowed = {in.all <= 0 && known.in.all > 0, out.all <= 0 && known.out.all > 0};
    for (std::uint32_t shard = 0; shard < times_.shards.size(); ++shard) {
      const auto part = whole_of([&](const LaneTimes& lane) { return lane.shard == shard; });
      auto& own = times_.shards[shard];
      own.in = own.seen_in = part * known.in.shards[shard];
      own.out = own.seen_out = part * known.out.shards[shard];
    }
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      auto& own = times_.workers[i];
      own.up = whole * (own.is_lossy() ? in.workers[i].mean : known.in.workers[i]);
      own.down = whole * (own.is_lossy() ? out.workers[i].mean : known.out.workers[i]);
      if (!own.has_slots()) {
        of_idle(own, connections.of(trace_.processes[own.process].source.session).rate);
      }
    }
    if (times_.items) {
      by_pace(contributed, whole, &WorkerTimes::up, times_.servers.in);
      by_pace(sent_back, whole, &WorkerTimes::down, times_.servers.out);
      std::vector<double> carried;
      for (const auto& own : times_.workers) {
        carried.push_back(std::max(own.up, own.down) / whole);
      }
      forget_wrong_lines(carried, kMoreAtTimes);
    }
    for (auto& own : times_.workers) {
      own.up = std::min(own.up, kFastest);
      own.down = std::min(own.down, kFastest);
    }
  }

 private:
  // Of several shards, if each has one that it does not share; else none.
  [[nodiscard]] std::vector<double> lines_apart() const {
    std::vector<double> lines;
    for (const auto& shard : times_.shards) {
      if (shard.line <= 0 || shard.line < shard.machine_line) {
        return {};
      }
      lines.push_back(shard.line);
    }
    return lines.size() > 1 ? lines : std::vector<double>();
  }

  // What carries far more than was declared is something else.
  void forget_wrong_lines(const LinkRates& in, const LinkRates& out) {
    constexpr double kMore = 1.25;
    std::vector<double> mean;
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      mean.push_back(std::max(in.workers[i].mean, out.workers[i].mean));
    }
    forget_wrong_lines(mean, kMore);
    const auto is_wrong = [](const ServerLink& link, double carried) {
      return carried > kMoreAtTimes * link.machine_line;
    };
    if (is_wrong(times_.servers, std::max(in.all, out.all))) {
      times_.servers.line = times_.servers.machine_line = 0;
      for (auto& shard : times_.shards) {  // all of them are on that machine
        shard.line = shard.machine_line = 0;
      }
    }
    for (std::size_t i = 0; i < times_.shards.size(); ++i) {
      if (auto& own = times_.shards[i]; is_wrong(own, std::max(in.shards[i], out.shards[i]))) {
        own.line = own.machine_line = 0;
      }
    }
  }

  void forget_wrong_lines(const std::vector<double>& carried, double more) {
    std::vector<double> right;
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      auto& own = times_.workers[i];
      if (carried[i] > more * own.machine_line) {
        own.line = own.machine_line = 0;
      } else {
        right.push_back(own.line);
      }
    }
    times_.line = times_.line > 0 ? median(std::move(right)) : 0;
  }

  // Items' messages come one by one, as gradients become ready and are answered, and seldom wait for each other: what a
  // link carries in a stretch is then what there was to carry. Where others are in the way it is no less than that.
  void by_pace(const std::vector<Carried>& messages, double whole, double WorkerTimes::*rate, double shared) {
    std::vector<std::vector<Carried>> of_workers(times_.workers.size());
    for (const auto& message : messages) {
      of_workers[message.worker].push_back(message);
    }
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      auto& own = times_.workers[i];
      const auto pace = whole * pace_of(std::move(of_workers[i]));
      own.*rate = shared > 0 || pace <= 0 ? std::max(own.*rate, pace) : pace;
    }
  }

  // Of some lanes: so many times as much as went to those that tell went to all of them.
  template <typename Which>
  [[nodiscard]] double whole_of(Which&& which) const {
    double told = 0;
    double all = 0;
    for (std::size_t chunk = 0; chunk < times_.bytes.size(); ++chunk) {
      const auto& lane = times_.lanes[times_.lane_of[chunk]];
      if (which(lane)) {
        all += times_.bytes[chunk];
        told += tells(trace_.processes[lane.process]) ? times_.bytes[chunk] : 0;
      }
    }
    return told > 0 ? all / told : 1;
  }

  // Of a worker that sends nothing, and may fetch nothing either.
  static void of_idle(WorkerTimes& own, double rate_by_kernel) {
    if (own.up > 0) {
      own.down = own.down > 0 ? own.down : own.up;
      return;
    }
    // The kernel's is of a few packets at a time: too high, if anything.
    own.up = own.down > 0 ? std::min(rate_by_kernel, own.down) : rate_by_kernel;
    own.down = own.down > 0 ? own.down : own.up;
  }

  // What comes from a lane that starves, or goes to it, waits for its processor and not for links.
  [[nodiscard]] bool tells(const ProcessTrace& lane) const {
    const auto found = tells_.find(&lane);
    return starved_ == times_.lanes.size() || (found != tells_.end() && found->second);
  }

  [[nodiscard]] std::vector<Carried> contributions() const {
    std::vector<Carried> carried;
    for (const auto& lane : trace_.processes) {
      if (lane.source.role != TraceRole::lane || !lane.clock || !tells(lane)) {
        continue;
      }
      for (const auto& record : lane.records) {
        const auto worker =
            record.kind == TraceKind::contribution ? places_.find(peers_.worker(record.peer)) : places_.end();
        const auto at = worker == places_.end() ? Times{} : on_one_clock(peers_, lane, record);
        if (at.first != 0 && record.chunk < times_.bytes.size()) {
          // The turn that has read it began when it was there; before that it may have lain there.
          add(carried, static_cast<double>(at.first), static_cast<double>(at.fourth != 0 ? at.fourth : at.second),
              record.chunk, worker->second, lane);
        }
      }
    }
    const auto delays = delays_of(carried);
    for (auto& message : carried) {
      message.sent = std::min(message.sent + delays[message.worker], message.arrived);
    }
    return carried;
  }

  [[nodiscard]] std::vector<Carried> weights() const {
    std::vector<Carried> carried;
    for (std::size_t i = 0; i < times_.workers.size(); ++i) {
      const auto& worker = trace_.processes[times_.workers[i].process];
      for (const auto& record : worker.records) {
        const bool is_one = record.kind == TraceKind::pull && worker.clock;
        const auto* lane = is_one ? peers_.lane(record.peer) : nullptr;
        const auto at = lane == nullptr || !tells(*lane) ? Times{} : on_one_clock(peers_, worker, record);
        if (at.second != 0 && record.chunk < times_.bytes.size()) {
          add(carried, static_cast<double>(at.second), static_cast<double>(at.third), record.chunk, i, *lane);
        }
      }
    }
    return carried;
  }

  // By worker, of its way to lanes, one way: no more than any message took. Both moments of one are as the servers' end
  // of the way has them: what is far away is no slower for that, and shares the servers' links with what is there then.
  [[nodiscard]] std::vector<double> delays_of(const std::vector<Carried>& carried) const {
    std::vector<double> delays;
    for (const auto& own : times_.workers) {
      delays.push_back(own.delay);
    }
    for (const auto& message : carried) {
      auto& delay = delays[message.worker];
      delay = std::clamp(message.arrived - message.sent, 0.0, delay);
    }
    return delays;
  }

  void add(std::vector<Carried>& carried, double sent, double arrived, ChunkId chunk, std::size_t worker,
           const ProcessTrace& lane) const {
    carried.push_back(
        {std::min(sent, arrived), arrived, times_.bytes[chunk], worker, lane.source.lane.shard, lane.source.lane.lane});
  }

  const JobTrace& trace_;
  const Peers& peers_;
  JobTimes& times_;
  std::size_t starved_ = 0;  // lanes
  std::unordered_map<const ProcessTrace*, bool> tells_;
  std::unordered_map<const ProcessTrace*, std::size_t> places_;
};

}  // namespace

void add_link_times(const JobTrace& trace, const Peers& peers, const Connections& connections, JobTimes& times) {
  Links(trace, peers, times).measure(connections);
}

}  // namespace ballast::insight
