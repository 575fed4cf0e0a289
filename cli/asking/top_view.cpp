#include "cli/asking/top_view.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/telling/progress.h"
#include "common/telling/amounts.h"
#include "common/text/text.h"
#include "insight/absent.h"

namespace ballast {
namespace {

constexpr std::size_t kNameWidth = 20;
constexpr std::size_t kMostBytesOfALine = 4'096;  // bytes of a line
constexpr const char* kTopKeys = "q quit   < > sort by   r reverse   up down scroll   a analyze";

// Characters that a terminal shows, of text in UTF-8.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(const std::string& text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && characters++ == width) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::string left(const std::string& text, std::size_t width) {
  auto padded = cut(text, width);
  return padded.append(width - std::min(width, width_of(padded)), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::string milliseconds(std::uint64_t micros) { return fixed(static_cast<double>(micros) / 1'000, 1); }

std::uint64_t compute_of(const SessionStatus& session) { return session.phases.forward + session.phases.backward; }

double rate_of(const TopView& view, const SessionStatus& session) {
  const auto found = view.rates.find(session.session);
  return found == view.rates.end() ? 0 : found->second;
}

// So that more comes first, but for names and steps.
double key_of(const TopView& view, const SessionStatus& session) {
  switch (view.by) {
    case TopColumn::name:
      return 0;
    case TopColumn::step:
      return -static_cast<double>(session.step);
    case TopColumn::rate:
      return rate_of(view, session);
    case TopColumn::slot:
      return static_cast<double>(session.slot_time);
    case TopColumn::data:
      return static_cast<double>(session.phases.data_wait);
    case TopColumn::pull:
      return static_cast<double>(session.phases.pull);
    case TopColumn::compute:
      return static_cast<double>(compute_of(session));
    case TopColumn::push:
      return static_cast<double>(session.phases.push);
    case TopColumn::up:
      return static_cast<double>(session.up);
    case TopColumn::down:
      return static_cast<double>(session.down);
  }
  return 0;
}

std::vector<const SessionStatus*> sorted(const TopView& view) {
  std::vector<const SessionStatus*> rows;
  if (view.status) {
    for (const auto& session : view.status->sessions) {
      if (session.live) {
        rows.push_back(&session);
      }
    }
  }
  std::ranges::stable_sort(rows, [&](const SessionStatus* one, const SessionStatus* other) {
    const auto mine = key_of(view, *one);
    const auto its = key_of(view, *other);
    return mine != its ? mine > its : one->name < other->name;
  });
  if (view.is_reversed) {
    std::ranges::reverse(rows);
  }
  return rows;
}

struct TopHeading {
  const char* name;
  std::size_t width;
};
constexpr std::array<TopHeading, kTopColumns> kTopHeadings = {{{"worker", kNameWidth},
                                                               {"step", 9},
                                                               {"slots/s", 9},
                                                               {"slot ms", 9},
                                                               {"data ms", 9},
                                                               {"pull ms", 9},
                                                               {"comp ms", 9},
                                                               {"push ms", 9},
                                                               {"up link", 10},
                                                               {"down link", 10}}};

std::string heading(const TopView& view) {
  std::string text;
  for (std::size_t i = 0; i < kTopHeadings.size(); ++i) {
    const bool is_by = i == static_cast<std::size_t>(view.by);
    const auto name = std::string(is_by ? (view.is_reversed ? "<" : ">") : "") + kTopHeadings[i].name;
    text += i == 0 ? left(name, kTopHeadings[i].width) : right(name, kTopHeadings[i].width);
  }
  return text + "  state";
}

std::string row(const TopView& view, const SessionStatus& session) {
  const std::array<std::string, kTopColumns> values = {session.name,
                                                       std::to_string(session.step),
                                                       fixed(rate_of(view, session), 1),
                                                       session.slot_time == 0 ? "-" : milliseconds(session.slot_time),
                                                       milliseconds(session.phases.data_wait),
                                                       milliseconds(session.phases.pull),
                                                       milliseconds(compute_of(session)),
                                                       milliseconds(session.phases.push),
                                                       session.up == 0 ? "-" : bytes_text(session.up),
                                                       session.down == 0 ? "-" : bytes_text(session.down)};
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i == 0 ? left(values[i], kTopHeadings[i].width) : right(values[i], kTopHeadings[i].width);
  }
  return text + "  " + (!session.refusal.empty() ? session.refusal : session.held_up);
}

std::vector<std::string> summary(const TopView& view) {
  if (!view.status) {
    return {view.silent.empty() ? "asking the lead" : view.silent};
  }
  const auto& status = *view.status;
  constexpr std::size_t kMostNames = 3;
  const auto gone = insight::names_not_back(status, kMostNames);
  std::vector<std::string> lines = {"job " + status.job + ", mode " + status.mode + ": " + name_of(status.phase) +
                                    ", step " + std::to_string(status.step) + " of " + std::to_string(status.steps)};
  if (const auto pace = pace_of(status); pace && status.phase == JobPhase::training) {
    lines.back() += ", " + pace_text(status, *pace, ", ");
  }
  lines.push_back("loss " + fixed(status.recent_loss, 4) + ", snapshot of step " + std::to_string(status.snapshot) +
                  ", " + count_text(status.rollbacks, "rollback") + ", " +
                  count_text(status.lost_workers, "lost worker") + (gone.empty() ? "" : "; not back: " + gone));
  if (!view.silent.empty()) {
    lines.push_back(view.silent);
  }
  if (!status.waits_for.empty()) {
    lines.push_back("waits for: " + status.waits_for);
  }
  if (const auto trouble = all_trouble(status); !trouble.empty()) {
    lines.push_back("trouble: " + trouble);
  }
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::size_t top_rows(const TopView& view) { return sorted(view).size(); }

std::vector<std::string> top_lines(const TopView& view, TopSize size) {
  auto lines = summary(view);
  const auto rows = sorted(view);
  const auto analysis = lines_of(view.analysis);
  constexpr std::size_t kBeside = 2;  // the heading and the keys
  const auto room = size.lines - std::min(size.lines, lines.size() + kBeside);
  const auto shown = std::min(room, rows.size());
  const auto first = std::min(view.first, rows.size() - shown);
  if (view.status) {
    lines.push_back(heading(view));
  }
  for (std::size_t i = first; i < first + shown; ++i) {
    lines.push_back(row(view, *rows[i]));
  }
  lines.insert(lines.end(), analysis.begin(),
               analysis.begin() + static_cast<std::ptrdiff_t>(std::min(analysis.size(), room - shown)));
  lines.resize(std::min(lines.size(), size.lines - std::min<std::size_t>(size.lines, 1)));
  lines.emplace_back(kTopKeys);
  if (shown < rows.size()) {
    lines.back() += "   " + std::to_string(first + 1) + " to " + std::to_string(first + shown) + " of " +
                    count_text(rows.size(), "worker");
  }
  for (auto& line : lines) {
    line = cut(as_line(line, kMostBytesOfALine), size.columns);
  }
  return lines;
}

}  // namespace ballast
