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
    auto& own = times.workers[i].line;
    own = lines[i].rate / static_cast<double>(lines[i].machine == 0 ? 1 : sharing[lines[i].machine]);
    if (own > 0) {
      declared.push_back(own);
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
    }
    times.servers.line = machines.size() == 1 ? shards[of_machine.front()].rate : 0;
  }
}

void fill_in_declared(JobTimes& times) {
  const auto fill_in = [](double& rate, double line) { rate = rate > 0 ? rate : line; };
  for (auto& worker : times.workers) {
    fill_in(worker.up, worker.line);
    fill_in(worker.down, worker.line);
  }
  if (times.servers.line > 0) {
    times.servers.in = times.is_borrowed.in ? times.servers.line : times.servers.in;
    times.servers.out = times.is_borrowed.out ? times.servers.line : times.servers.out;
    times.is_borrowed = {};
    fill_in(times.servers.in, times.servers.line);
    fill_in(times.servers.out, times.servers.line);
    return;
  }
  for (auto& shard : times.shards) {
    fill_in(shard.in, shard.line);
    fill_in(shard.out, shard.line);
  }
}

}  // namespace ballast::insight
