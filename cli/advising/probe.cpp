#include "cli/advising/probe.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/command/usage_error.h"
#include "common/text/text.h"

namespace ballast {
namespace {

using ProbeJson = nlohmann::ordered_json;  // as it is written
using ReadJson = nlohmann::json;           // the other one takes a time that grows with the square of an object's keys

constexpr int kProbeVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr std::size_t kMostValues = 100'000;
constexpr std::size_t kMostLinks = 256;
constexpr std::size_t kMostText = 1'000;  // bytes
constexpr double kMostSpan = 1e12;        // eleven days
constexpr double kMostRate = 1e9;         // a petabyte a second
constexpr const char* kRemedy = "; make it anew with `ballast probe JOB -o FILE`";

// A part of the file, whose faults are told with where they are.
class Section {
 public:
  Section(const ReadJson& json, std::string label, std::string where)
      : json_(json), label_(std::move(label)), where_(std::move(where)) {
    if (!json_.is_object()) {
      fail(where_, "is no object");
    }
  }

  [[nodiscard]] double number(const char* key, double most, double otherwise) const {
    return json_.contains(key) ? checked(json_[key], name(key), most) : otherwise;
  }
  [[nodiscard]] double number(const char* key, double most = kMostSpan) const {
    return checked(at(key), name(key), most);
  }
  [[nodiscard]] std::uint64_t whole(const char* key) const {
    const auto& value = at(key);
    if (!value.is_number_unsigned()) {
      fail(name(key), "is no whole number");
    }
    return value.get<std::uint64_t>();
  }
  // Of one line: it comes from elsewhere, and goes to a terminal.
  [[nodiscard]] std::string text(const char* key) const {
    const auto& value = at(key);
    if (!value.is_string()) {
      fail(name(key), "is no text");
    }
    return as_line(value.get_ref<const std::string&>(), kMostText);
  }
  [[nodiscard]] std::vector<double> numbers(const char* key, double most = kMostSpan) const {
    std::vector<double> values;
    for (const auto& value : list(key)) {
      values.push_back(checked(value, name(key), most));
    }
    return values;
  }
  [[nodiscard]] const ReadJson& list(const char* key, std::size_t most = kMostValues) const {
    const auto& value = at(key);
    if (!value.is_array() || value.size() > most) {
      fail(name(key), "is no list, or has more than " + std::to_string(most) + " values");
    }
    return value;
  }
  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }
  [[nodiscard]] Section part(const char* key) const { return {at(key), label_, name(key)}; }
  [[nodiscard]] std::string name(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }
  [[noreturn]] void fail(const std::string& what, const std::string& why) const {
    throw UsageError(label_ + ": " + (what.empty() ? "it" : what) + " " + why + kRemedy);
  }

 private:
  [[nodiscard]] const ReadJson& at(const char* key) const {
    if (!json_.contains(key)) {
      fail(name(key), "is missing");
    }
    return json_[key];
  }
  [[nodiscard]] double checked(const ReadJson& value, const std::string& what, double most) const {
    const auto number = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(number) || number < 0 || number > most) {
      fail(what, "is no number from 0 to " + ReadJson(most).dump());
    }
    return number;
  }

  const ReadJson& json_;
  const std::string label_;
  const std::string where_;
};

// Three digits are more than times repeat.
double rounded(double value) {
  const auto digits = value > 0 ? std::pow(10.0, 3 - std::floor(std::log10(value))) : 1;
  return std::round(value * digits) / digits;
}

ProbeJson rounded(const std::vector<double>& values) {
  ProbeJson list = ProbeJson::array();
  for (const auto value : values) {
    list.push_back(rounded(value));
  }
  return list;
}

ProbeJson json_of(const SlotProbe& slot) {
  ProbeJson json = {{"backend", slot.backend},
                    {"alone_us", rounded(slot.alone)},
                    {"joined_us", rounded(slot.joined)},
                    {"between_us", rounded(slot.between)},
                    {"begins_us", rounded(slot.begins)},
                    {"processors", rounded(slot.processors)},
                    {"readers", slot.readers}};
  if (slot.fetch) {
    json["fetch_us"] = rounded(*slot.fetch);
  } else {
    json["data_trouble"] = slot.data_trouble;
  }
  json["ready"] = rounded(slot.ready);
  return json;
}

ProbeJson json_of(const LaneProbe& lane) {
  return {{"message_us", rounded(lane.message)},        {"reply_us", rounded(lane.reply)},
          {"sum_us_per_mb", rounded(1e6 * lane.sum)},   {"apply_us_per_mb", rounded(1e6 * lane.apply)},
          {"wire_us_per_mb", rounded(1e6 * lane.wire)}, {"wire_message_us", rounded(lane.wire_message)}};
}

ProbeJson json_of(const LinkProbe& link) {
  return {{"to", link.to},
          {"up_mb_per_s", rounded(link.up)},
          {"down_mb_per_s", rounded(link.down)},
          {"up_of_one_connection_mb_per_s", rounded(link.up_of_one)},
          {"down_of_one_connection_mb_per_s", rounded(link.down_of_one)},
          {"round_trip_us", rounded(link.round_trip)}};
}

SlotProbe slot_of(const Section& part) {
  SlotProbe slot;
  slot.backend = part.text("backend");
  slot.alone = part.numbers("alone_us");
  slot.joined = part.numbers("joined_us");
  slot.between = part.number("between_us");
  slot.begins = part.number("begins_us");
  slot.processors = part.number("processors");
  slot.readers = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(part.whole("readers"), 1, 1U << 16U));
  if (part.has("fetch_us")) {
    slot.fetch = part.number("fetch_us");
  } else {
    slot.data_trouble = part.text("data_trouble");
  }
  constexpr double kMostReady = 2;
  slot.ready = part.numbers("ready", kMostReady);
  if (slot.alone.empty() || slot.ready.empty()) {
    part.fail(part.name(slot.alone.empty() ? "alone_us" : "ready"), "is empty");
  }
  return slot;
}

LaneProbe lane_of(const Section& part) {
  return {.message = part.number("message_us"),
          .reply = part.number("reply_us"),
          .sum = part.number("sum_us_per_mb") / 1e6,
          .apply = part.number("apply_us_per_mb") / 1e6,
          .wire = part.number("wire_us_per_mb") / 1e6,
          .wire_message = part.number("wire_message_us")};
}

LinkProbe link_of(const Section& part) {
  return {.to = part.text("to"),
          .up = part.number("up_mb_per_s", kMostRate),
          .down = part.number("down_mb_per_s", kMostRate),
          .up_of_one = part.number("up_of_one_connection_mb_per_s", kMostRate),
          .down_of_one = part.number("down_of_one_connection_mb_per_s", kMostRate),
          .round_trip = part.number("round_trip_us")};
}

}  // namespace

// A byte a microsecond is a megabyte a second.
std::string probe_text(const MachineProbe& probe) {
  ProbeJson json = {{"ballast_probe", kProbeVersion},          {"job", probe.job},
                    {"job_digest", probe.job_digest},          {"machine", probe.machine},
                    {"processors", rounded(probe.processors)}, {"memory_bytes", probe.memory}};
  if (probe.slot) {
    json["worker"] = json_of(*probe.slot);
  }
  if (probe.lane) {
    json["lane"] = json_of(*probe.lane);
  }
  json["links"] = ProbeJson::array();
  for (const auto& link : probe.links) {
    json["links"].push_back(json_of(link));
  }
  return json.dump(1, ' ', false, ProbeJson::error_handler_t::replace) + "\n";  // names may be no UTF-8
}

MachineProbe read_probe(const std::string& text, const std::string& label) {
  const auto json = ReadJson::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("ballast_probe")) {
    throw UsageError(label + ": is no file of `ballast probe`" + kRemedy);
  }
  const Section whole(json, label, "");
  if (const auto version = whole.whole("ballast_probe"); version != kProbeVersion) {
    throw UsageError(label + ": is of version " + std::to_string(version) + " of such files, and this ballast reads " +
                     std::to_string(kProbeVersion) + kRemedy + " of the same release");
  }
  MachineProbe probe;
  probe.job = whole.text("job");
  probe.job_digest = whole.text("job_digest");
  probe.machine = whole.text("machine");
  constexpr double kMostProcessors = 1e6;
  probe.processors = whole.number("processors", kMostProcessors);
  if (probe.processors <= 0) {
    whole.fail("processors", "is not more than 0");
  }
  probe.memory = whole.whole("memory_bytes");
  if (whole.has("worker")) {
    probe.slot = slot_of(whole.part("worker"));
  }
  if (whole.has("lane")) {
    probe.lane = lane_of(whole.part("lane"));
  }
  for (const auto& link : whole.list("links", kMostLinks)) {
    probe.links.push_back(link_of(Section(link, label, "links")));
  }
  return probe;
}

MachineProbe load_probe(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  constexpr std::size_t kPiece = 1U << 16U;
  for (std::string piece(kPiece, '\0'); in.good() && text.size() <= kMostBytes;) {
    in.read(piece.data(), kPiece);
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) {
    throw UsageError(path + ": " +
                     (text.size() > kMostBytes ? "is too large for a file of `ballast probe`" : "cannot be read") +
                     kRemedy);
  }
  return read_probe(text, path);
}

}  // namespace ballast
