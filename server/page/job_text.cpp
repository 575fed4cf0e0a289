#include "server/page/job_text.h"

#include <algorithm>
#include <unordered_map>

#include "common/telling/status_json.h"
#include "server/page/json_text.h"

namespace ballast {
namespace {

double seconds(Micros span) { return static_cast<double>(span) * 1e-6; }

double since(Micros zero, Micros at) { return at > zero ? seconds(at - zero) : 0; }

// ["name", session, row, live, step, slots, [data, pull, forward, backward, push], slot time, up, down, why not]
void add_worker(JsonText& text, const SessionStatus& session, std::int64_t row) {
  text.raw("[").text(session.name).raw(",").text(std::to_string(session.session));
  text.raw(",").raw(std::to_string(row)).raw(",").boolean(session.live);
  text.raw(",").integer(session.step).raw(",").integer(session.slots).raw(",[");
  text.integer(session.phases.data_wait).raw(",").integer(session.phases.pull).raw(",");
  text.integer(session.phases.forward).raw(",").integer(session.phases.backward).raw(",");
  text.integer(session.phases.push).raw("],").integer(session.slot_time).raw(",").integer(session.up);
  text.raw(",").integer(session.down).raw(",");
  text.text(session.refusal.empty() ? session.held_up : "refused: " + session.refusal).raw("]");
}

// Those who live, and those who may not; of the gone ones events tell.
void add_workers(JsonText& text, const Status& status, const std::vector<SessionId>& rows) {
  std::unordered_map<SessionId, std::int64_t> row_of;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    row_of.emplace(rows[row], static_cast<std::int64_t>(row));
  }
  text.raw("\"workers\":[");
  bool is_first = true;
  std::size_t told = 0;
  std::size_t beyond = 0;
  for (const bool live : {true, false}) {
    for (const auto& session : status.sessions) {
      if (session.live != live || (!live && session.refusal.empty())) {
        continue;
      }
      if (told == kPageWorkers) {
        ++beyond;
        continue;
      }
      const auto row = row_of.find(session.session);
      add_worker(text.next(is_first), session, row == row_of.end() ? -1 : row->second);
      ++told;
    }
  }
  text.raw("],\"workers_beyond\":").integer(beyond);
}

// [lanes, serving, departs, seconds of silence, oldest version, newest version]
void add_shards(JsonText& text, const JobView& view) {
  text.raw(",\"shards\":[");
  bool is_first = true;
  for (const auto& shard : view.shards) {
    text.next(is_first).raw("[").integer(shard.lanes).raw(",").integer(shard.serving).raw(",").boolean(shard.departs);
    text.raw(",");
    if (shard.lanes == 0) {
      text.raw("null");
    } else {
      text.seconds(since(shard.heard_at, view.at));
    }
    text.raw(",").integer(shard.first).raw(",").integer(shard.last).raw("]");
  }
  text.raw("]");
}

void add_points(JsonText& text, const History::Part& history, Micros zero) {
  text.raw("\"points\":{\"from\":").integer(history.first_point).raw(",\"list\":[");
  bool is_first = true;
  for (const auto& point : history.points) {
    text.next(is_first).raw("[").seconds(since(zero, point.at)).raw(",").integer(point.step).raw(",");
    text.number(point.loss).raw(",").number(point.examples_per_second).raw(",").number(point.steps_per_second);
    text.raw("]");
  }
  text.raw("]}");
}

void add_events(JsonText& text, const History::Part& history, Micros zero) {
  text.raw(",\"events\":{\"from\":").integer(history.counts.events - history.events.size()).raw(",\"list\":[");
  bool is_first = true;
  for (const auto& event : history.events) {
    text.next(is_first).raw("[").seconds(since(zero, event.at)).raw(",").integer(event.step).raw(",").text(event.kind);
    text.raw(",").text(event.text).raw(",").boolean(event.is_wrong).raw("]");
  }
  text.raw("]},\"snapshots\":{\"from\":").integer(history.counts.snapshots - history.snapshots.size());
  text.raw(",\"list\":[");
  is_first = true;
  for (const auto& snapshot : history.snapshots) {
    text.next(is_first).raw("[").seconds(since(zero, snapshot.at)).raw(",").integer(snapshot.step).raw("]");
  }
  text.raw("]}");
}

// [first step, last step, began, seconds until the step after them began or null, codes by row in base 64]
void add_late(JsonText& text, const Lateness::Part& late, Micros zero) {
  text.raw(",\"late\":{\"from\":").integer(late.from).raw(",\"list\":[");
  bool is_first = true;
  for (const auto& column : late.columns) {
    text.next(is_first).raw("[").integer(column.first).raw(",").integer(column.last).raw(",");
    text.seconds(since(zero, column.began)).raw(",");
    if (column.ended == 0) {
      text.raw("null");
    } else {
      text.seconds(seconds(column.ended - column.began));
    }
    text.raw(",\"").raw(base64(column.codes)).raw("\"]");
  }
  text.raw("]}");
}

}  // namespace

std::string job_text(const JobView& view, const std::vector<SessionId>& rows) {
  JsonText text;
  text.raw("\"job\":")
      .raw(job_json(view.status).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
      .raw(",");
  add_workers(text, view.status, rows);
  add_shards(text, view);
  return text.take();
}

std::string history_text(const History::Part& history, const Lateness::Part& late, Micros zero) {
  JsonText text;
  add_points(text, history, zero);
  add_events(text, history, zero);
  add_late(text, late, zero);
  return text.take();
}

std::string waterfall_text(const insight::Waterfall& waterfall) {
  JsonText text;
  text.raw("{\"step\":");
  if (waterfall.is_step) {
    text.integer(waterfall.step);
  } else {
    text.raw("null");
  }
  text.raw(",\"us\":").integer(waterfall.length).raw(",\"left_out\":").integer(waterfall.left_out).raw(",\"works\":[");
  bool is_first = true;
  for (std::size_t work = 0; work < insight::kWorks; ++work) {
    text.next(is_first).raw("\"").raw(insight::name_of(static_cast<insight::Work>(work))).raw("\"");
  }
  text.raw("],\"rows\":[");
  is_first = true;
  for (const auto& row : waterfall.rows) {
    text.next(is_first).raw("[").text(row.name).raw(",[");
    bool is_first_span = true;
    for (const auto& span : row.spans) {
      text.next(is_first_span).raw("[").integer(static_cast<std::uint64_t>(span.work)).raw(",").integer(span.from);
      text.raw(",").integer(span.until - span.from).raw("]");
    }
    text.raw("],[");
    is_first_span = true;
    for (const auto taken : row.taken) {
      text.next(is_first_span).integer(taken);
    }
    text.raw("]]");
  }
  return text.raw("]}").take();
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto count = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (j < count ? bytes[i + j] : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= count ? kDigits[group >> (18 - 6 * digit) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace ballast
