#include "insight/trace_events.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ballast::insight {
namespace {

// Tracks of a process, by number and name.
enum Track : std::uint32_t { kData = 1, kCompute, kMessages, kThread, kStorage, kDecisions };

const char* name_of_track(Track track) {
  switch (track) {
    case kData:
      return "data";
    case kCompute:
      return "compute";
    case kMessages:
      return "messages";
    case kThread:
      return "lane's thread";
    case kStorage:
      return "storage";
    case kDecisions:
      break;
  }
  return "decisions";
}

std::vector<Track> tracks_of(TraceRole role) {
  switch (role) {
    case TraceRole::worker:
      return {kData, kCompute, kMessages};
    case TraceRole::lane:
      return {kMessages, kThread, kStorage};
    case TraceRole::lead:
      break;
  }
  return {kDecisions};
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  Writer(std::ostream& out, const JobTrace& trace) : out_(out), trace_(trace), peers_(trace), zero_(first_moment()) {}

  void write() {
    out_ << "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"job\":" << quoted(trace_.job) << "},\"traceEvents\":[";
    for (process_ = 0; process_ < trace_.processes.size(); ++process_) {
      describe(trace_.processes[process_]);
      for (const auto& record : trace_.processes[process_].records) {
        write(trace_.processes[process_], record);
      }
    }
    out_ << "\n]}\n";
  }

 private:
  // Of what is there of the last hour: one wrong clock does not push all others to the end.
  [[nodiscard]] Micros first_moment() const {
    constexpr Micros kHour = 3'600'000'000;
    std::vector<Micros> begun;
    for (const auto& process : trace_.processes) {
      for (const auto& record : process.records) {
        begun.push_back(on_one_clock(peers_, process, record).first);
      }
    }
    std::erase(begun, Micros{0});
    if (begun.empty()) {
      return 0;
    }
    const auto middle = begun.begin() + static_cast<std::ptrdiff_t>(begun.size() / 2);
    std::ranges::nth_element(begun, middle);
    const auto from = *middle > kHour ? *middle - kHour : 0;
    std::erase_if(begun, [&](Micros moment) { return moment < from; });
    return *std::ranges::min_element(begun);
  }

  // An event up to its arguments.
  std::ostream& event(const char* phase, Track track, Micros at) {
    out_ << (std::exchange(any_, true) ? ",\n" : "\n") << "{\"ph\":\"" << phase << "\",\"pid\":" << process_ + 1
         << ",\"tid\":" << track << ",\"ts\":" << (at > zero_ ? at - zero_ : 0);
    return out_;
  }

  void describe(const ProcessTrace& process) {
    event("M", kData, zero_) << R"(,"name":"process_name","args":{"name":)" << quoted(process.name) << "}}";
    for (const auto track : tracks_of(process.source.role)) {
      event("M", track, zero_) << R"(,"name":"thread_name","args":{"name":")" << name_of_track(track) << "\"}}";
    }
  }

  void arguments(const TraceRecord& record) {
    out_ << ",\"args\":{\"step\":" << record.step;
    if (record.slots.begin < record.slots.end) {
      out_ << ",\"slots\":\"" << record.slots.begin << " to " << record.slots.end - 1 << '"';
    }
    if (record.kind == TraceKind::push || record.kind == TraceKind::pull) {
      out_ << ",\"chunk\":" << record.chunk << ",\"lane\":" << quoted(peer_name(peers_.lane(record.peer)));
    } else if (record.kind == TraceKind::contribution || record.kind == TraceKind::reply) {
      out_ << ",\"chunk\":" << record.chunk << ",\"worker\":" << quoted(peer_name(peers_.worker(record.peer)));
    } else if (record.kind == TraceKind::update || record.kind == TraceKind::journal) {
      out_ << ",\"chunk\":" << record.chunk;
    }
    if (record.kind == TraceKind::journal && record.third > 0) {
      out_ << ",\"disk_us\":" << record.third << ",\"sync_us\":" << record.fourth;
    }
    out_ << "}}";
  }

  static std::string peer_name(const ProcessTrace* peer) { return peer == nullptr ? "?" : peer->name; }

  // One after the other on its track.
  void span(Track track, const char* name, Micros from, Micros until, const TraceRecord& record) {
    if (from == 0 || until < from) {
      return;
    }
    event("X", track, from) << ",\"dur\":" << until - from << ",\"name\":\"" << name << '"';
    arguments(record);
  }

  // Beside others of its track.
  void beside(Track track, const char* name, Micros from, Micros until, const TraceRecord& record) {
    if (from == 0 || until < from) {
      return;
    }
    ++id_;
    event("b", track, from) << ",\"cat\":\"" << name << "\",\"id\":" << id_ << ",\"name\":\"" << name << '"';
    arguments(record);
    event("e", track, until) << ",\"cat\":\"" << name << "\",\"id\":" << id_ << ",\"name\":\"" << name << "\"}";
  }

  void share(const TraceRecord& record, const Times& times) {
    const auto span = std::max<Micros>(record.second - std::min(record.first, record.second), 1);
    const auto percent = [&](Micros part) { return std::min<Micros>(100 * part / span, 100); };
    event("C", kThread, times.second) << R"(,"name":"percent of the thread's time","args":{"not waiting":)"
                                      << percent(record.third) << ",\"on a processor\":" << percent(record.fourth)
                                      << "}}";
  }

  void link(const ProcessTrace& process, const TraceRecord& record, const Times& times) {
    const auto* peer = process.source.role == TraceRole::worker ? peers_.lane(record.peer) : peers_.worker(record.peer);
    event("C", kMessages, times.first) << ",\"name\":" << quoted("link to " + peer_name(peer))
                                       << ",\"args\":{\"round trip, us\":" << record.second
                                       << ",\"sent again, bytes\":" << record.third
                                       << ",\"arrived, kB/s\":" << record.fourth / 1'000 << "}}";
  }

  void write(const ProcessTrace& process, const TraceRecord& record) {
    const auto times = on_one_clock(peers_, process, record);
    switch (record.kind) {
      case TraceKind::fetch:
        return beside(kData, "fetch", times.first, times.second, record);
      case TraceKind::weights:
        return span(kCompute, "weights", times.first, times.second, record);
      case TraceKind::slot:
        span(kCompute, "data wait", times.first, times.second, record);
        span(kCompute, "forward", times.second, times.third, record);
        return span(kCompute, "backward", times.third, times.fourth, record);
      case TraceKind::push:
        beside(kMessages, "push waits", times.first, times.second, record);
        return beside(kMessages, "push", times.second, times.third, record);
      case TraceKind::pull:
        beside(kMessages, "pull waits", times.first, std::min(times.second, times.third), record);
        beside(kMessages, "weights on their way", std::min(times.second, times.third), times.third, record);
        return beside(kMessages, "weights wait", times.third, times.fourth, record);
      case TraceKind::contribution:
        beside(kMessages, "on its way", std::min(times.first, times.second), times.second, record);
        return span(kThread, "sum", times.second, times.third, record);
      case TraceKind::update:
        beside(kMessages, "covered", times.first, times.second, record);
        return span(kThread, "apply", times.second, times.third, record);
      case TraceKind::reply:
        return beside(kMessages, "reply", times.first, times.second, record);
      case TraceKind::snapshot:
        return beside(kStorage, "snapshot", times.first, times.second, record);
      case TraceKind::journal:
        return beside(kStorage, "journal", times.first, times.second, record);
      case TraceKind::work:
        return share(record, times);
      case TraceKind::link:
        return link(process, record, times);
      case TraceKind::line:
        return;  // it takes no time
      case TraceKind::decision:
        return beside(kDecisions, "decision", times.first, times.second, record);
    }
  }

  std::ostream& out_;
  const JobTrace& trace_;
  const Peers peers_;
  const Micros zero_;
  std::size_t process_ = 0;
  std::uint64_t id_ = 0;
  bool any_ = false;
};

}  // namespace

void write_trace_events(std::ostream& out, const JobTrace& trace) { Writer(out, trace).write(); }

}  // namespace ballast::insight
