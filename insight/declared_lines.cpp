#include "insight/declared_lines.h"

#include <algorithm>
#include <map>
#include <vector>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

constexpr double kPayload = 0.94;  // TCP over Ethernet frames of 1,500 bytes

struct Line {
  double rate = 0;  // bytes a microsecond; 0: none was declared
  std::uint64_t machine = 0;
};

Line line_of(const ProcessTrace& process) {
  Line line;
  for (const auto& record : process.records) {
    if (record.kind == TraceKind::line && record.second > 0) {
      line = {kPayload * static_cast<double>(record.second) / 1e6, record.peer};
    }
  }
  return line;
}

// Shards by the machine that they are on; empty: of some shard nothing was declared.
std::map<std::uint64_t, std::vector<std::uint32_t>> machines_of(const std::vector<Line>& lines) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> shards;
  for (std::uint32_t shard = 0; shard < lines.size(); ++shard) {
    if (lines[shard].rate <= 0 || lines[shard].machine == 0) {  // who shares it is not known
      return {};
    }
    shards[lines[shard].machine].push_back(shard);
  }
  return shards;
}

// What a line carries at most, of which `line` is usual. 0: of none.
double most_of_line(double line) {
  constexpr double kMostPayload = 0.99;  // in frames of 9,000
  return kMostPayload / kPayload * line;
}

// What was not seen; and no more than its machine's: what came quicker for a while had lain somewhere.
template <typename Link>
void fill_in(Link& link, double Link::*rate) {
  auto& own = link.*rate;
  const auto most = most_of_line(link.machine_line);
  own = own <= 0 ? link.line : most > 0 ? std::min(own, most) : own;
}

}  // namespace

void add_declared_lines(const JobTrace& trace, JobTimes& times) {
  std::vector<Line> lines;
  std::map<std::uint64_t, std::size_t> sharing;  // workers by machine
  for (const auto& worker : times.workers) {
    lines.push_back(line_of(trace.processes[worker.process]));
    ++sharing[lines.back().machine];
  }
  std::vector<double> declared;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto& own = times.workers[i];
    const auto together = lines[i].machine == 0 ? 1 : sharing[lines[i].machine];
    own.line = lines[i].rate / static_cast<double>(together);
    own.machine_line = lines[i].rate;
    if (own.line > 0) {
      declared.push_back(own.line);
    }
  }
  if (declared.size() == times.workers.size()) {
    times.line = median(std::move(declared));
  }
  std::vector<Line> shards(times.shards.size());
  for (const auto& lane : times.lanes) {
    if (const auto line = line_of(trace.processes[lane.process]); line.rate > 0) {
      shards[lane.shard] = line;
    }
  }
  const auto machines = machines_of(shards);
  for (const auto& [machine, of_machine] : machines) {
    for (const auto shard : of_machine) {
      times.shards[shard].line = shards[shard].rate / static_cast<double>(of_machine.size());
      times.shards[shard].machine_line = shards[shard].rate;
    }
    times.servers.line = times.servers.machine_line = machines.size() == 1 ? shards[of_machine.front()].rate : 0;
  }
}

void fill_in_declared(JobTimes& times) {
  for (auto& worker : times.workers) {
    fill_in(worker, &WorkerTimes::up);
    fill_in(worker, &WorkerTimes::down);
  }
  if (times.servers.line <= 0) {
    for (auto& shard : times.shards) {
      fill_in(shard, &ServerLink::in);
      fill_in(shard, &ServerLink::out);
    }
    return;
  }
  times.servers.in = times.is_borrowed.in ? times.servers.line : times.servers.in;
  times.servers.out = times.is_borrowed.out ? times.servers.line : times.servers.out;
  times.is_borrowed = {};
  fill_in(times.servers, &ServerLink::in);
  fill_in(times.servers, &ServerLink::out);
}

}  // namespace ballast::insight
