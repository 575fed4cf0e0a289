#include "insight/raw_trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ballast::insight {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::array<std::string_view, static_cast<std::size_t>(kLastTraceKind) + 1> kKinds = {
    "fetch", "weights",  "slot",    "push", "pull",     "contribution", "update",
    "reply", "snapshot", "journal", "work", "decision", "link",         "line"};
constexpr std::array<std::string_view, 3> kRoles = {"lead", "lane", "worker"};

template <typename Enum, std::size_t N>
Enum of_word(const std::array<std::string_view, N>& words, const std::string& word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    throw std::runtime_error("'" + word + "' is none of its words");
  }
  return static_cast<Enum>(found - words.begin());
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json head_of(const ProcessTrace& process) {
  Json json = {{"name", process.name},
               {"role", kRoles[static_cast<std::size_t>(process.source.role)]},
               {"shard", process.source.lane.shard},
               {"lane", process.source.lane.lane},
               {"session", process.source.session},
               {"lost", process.lost}};
  if (process.clock) {
    json["clock"] = {process.clock->own, process.clock->lead, process.clock->error, process.clock->round_trip};
  }
  return json;
}

// None of JSON's others: a sign or a fraction would be another number by then.
template <typename Number>
Number number(const Json& json) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
    throw std::runtime_error("is no whole trace of `ballast trace --raw`: " + dumped(json) +
                             " is no number from 0 to " + std::to_string(std::numeric_limits<Number>::max()));
  }
  return json.get<Number>();
}

// Of somebody else's file: without what a terminal would follow.
std::string text(const Json& json) {
  auto own = json.get<std::string>();
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7F;
  std::ranges::replace_if(
      own,
      [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return byte < kFirstPrintable || byte == kDelete;
      },
      ' ');
  return own;
}

Json rules_to_json(const SharingRules& rules) {
  return {{"slots", rules.slots},
          {"chunks", rules.chunks},
          {"bytes", rules.bytes},
          {"by_speed", rules.by_speed},
          {"redistributes", rules.redistributes}};
}

SharingRules rules_of(const Json& json) {
  if (const auto slots = number<Slot>(json.at("slots")); slots == 0 || slots > kMaxSlots) {
    throw std::runtime_error("is no trace of a job: it has " + std::to_string(slots) + " slots");
  }
  return {number<Slot>(json.at("slots")), number<std::uint32_t>(json.at("chunks")),
          number<std::uint64_t>(json.at("bytes")), json.at("by_speed").get<bool>(),
          json.at("redistributes").get<bool>()};
}

Json absent_to_json(const AllAbsent& absent) {
  auto first = Json::array();
  for (const auto& one : absent.first) {
    first.push_back({{"who", one.who}, {"why", one.why}});
  }
  return {{"count", absent.count}, {"first", first}};
}

AllAbsent absent_of(const Json& json) {
  AllAbsent absent{number<std::uint64_t>(json.at("count")), {}};
  for (const auto& one : json.at("first")) {
    absent.first.push_back({text(one.at("who")), text(one.at("why"))});
  }
  return absent;
}

// Numbers alone: a trace may have a million of them.
void write(std::ostream& out, const TraceRecord& record) {
  out << "[\"" << kKinds[static_cast<std::size_t>(record.kind)] << "\"," << record.step << ',' << record.peer << ','
      << record.first << ',' << record.second << ',' << record.third << ',' << record.fourth << ',' << record.chunk
      << ',' << record.slots.begin << ',' << record.slots.end << ']';
}

TraceRecord record_of(const Json& json) {
  TraceRecord record;
  record.kind = of_word<TraceKind>(kKinds, json.at(0).get<std::string>());
  record.step = number<Step>(json.at(1));
  record.peer = number<std::uint64_t>(json.at(2));
  record.first = number<Micros>(json.at(3));
  record.second = number<Micros>(json.at(4));
  record.third = number<Micros>(json.at(5));
  record.fourth = number<Micros>(json.at(6));
  record.chunk = number<ChunkId>(json.at(7));
  record.slots = {number<Slot>(json.at(8)), number<Slot>(json.at(9))};
  return record;
}

ProcessTrace process_of(const Json& json) {
  ProcessTrace process;
  process.name = text(json.at("name"));
  process.source.role = of_word<TraceRole>(kRoles, json.at("role").get<std::string>());
  process.source.lane = {number<std::uint32_t>(json.at("shard")), number<std::uint32_t>(json.at("lane"))};
  process.source.session = number<SessionId>(json.at("session"));
  process.lost = number<std::uint64_t>(json.at("lost"));
  if (json.contains("clock")) {
    const auto& clock = json.at("clock");
    process.clock = ClockReading{number<Micros>(clock.at(0)), number<Micros>(clock.at(1)), number<Micros>(clock.at(2)),
                                 number<Micros>(clock.at(3))};
  }
  for (const auto& record : json.at("records")) {
    process.records.push_back(record_of(record));
    if (!is_of(process.records.back().kind, process.source.role)) {
      throw std::runtime_error(process.name + " has a record of kind " + record.at(0).get<std::string>() +
                               ", which its role has not");
    }
  }
  return process;
}

}  // namespace

void write_raw_trace(std::ostream& out, const JobTrace& trace) {
  out << "{\"format\":" << kFormat << ",\"job\":" << dumped(trace.job);
  if (trace.rules) {
    out << ",\"rules\":" << dumped(rules_to_json(*trace.rules));
  }
  if (!trace.mode.empty()) {
    out << ",\"mode\":" << dumped(trace.mode);
  }
  if (!trace.silent.empty()) {
    out << ",\"silent\":" << dumped(trace.silent);
  }
  if (!trace.held.empty()) {
    out << ",\"held\":" << dumped(trace.held);
  }
  if (trace.absent.count > 0) {
    out << ",\"absent\":" << dumped(absent_to_json(trace.absent));
  }
  out << ",\"processes\":[";
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const auto& process = trace.processes[i];
    auto head = dumped(head_of(process));
    head.pop_back();
    out << (i == 0 ? "\n" : ",\n") << head << ",\"records\":[";
    for (std::size_t k = 0; k < process.records.size(); ++k) {
      out << (k == 0 ? "\n" : ",\n");
      write(out, process.records[k]);
    }
    out << "]}";
  }
  out << "]}\n";
}

JobTrace read_raw_trace(std::istream& in) try {
  const auto json = Json::parse(in);
  if (json.is_object() && json.contains("traceEvents")) {
    throw std::runtime_error(
        "is a trace for Perfetto, which shows it; `ballast trace WHERE --raw -o FILE` writes one "
        "that can be analyzed");
  }
  if (!json.is_object() || !json.contains("format")) {
    throw std::runtime_error("is no trace: `ballast trace WHERE --raw -o FILE` writes one");
  }
  if (json.at("format") != kFormat) {
    throw std::runtime_error("has format " + dumped(json.at("format")) + "; this release reads format " +
                             std::to_string(kFormat));
  }
  JobTrace trace;
  trace.job = text(json.at("job"));
  if (json.contains("rules")) {
    trace.rules = rules_of(json.at("rules"));
  }
  trace.mode = json.value("mode", std::string());
  for (const auto& name : json.value("silent", Json::array())) {
    trace.silent.push_back(text(name));
  }
  trace.held = text(json.value("held", Json("")));
  if (json.contains("absent")) {
    trace.absent = absent_of(json.at("absent"));
  }
  for (const auto& process : json.at("processes")) {
    trace.processes.push_back(process_of(process));
  }
  return trace;
} catch (const Json::parse_error& error) {
  throw std::runtime_error("is no whole trace of `ballast trace --raw`: it is cut off, or no JSON, at byte " +
                           std::to_string(error.byte));
} catch (const Json::exception& error) {
  throw std::runtime_error(std::string("is no whole trace of `ballast trace --raw`: ") + error.what());
}

}  // namespace ballast::insight
