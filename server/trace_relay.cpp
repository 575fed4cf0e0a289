#include "server/trace_relay.h"

#include <algorithm>
#include <utility>

namespace ballast {

TraceAsked TraceRelay::pass_on(const std::string& client, const TraceAsked& asked) {
  open_.push_back({++last_, client, asked.number, *asked.source});
  if (open_.size() > kMost) {
    open_.pop_front();
  }
  auto passed_on = asked;
  passed_on.number = last_;
  return passed_on;
}

std::optional<TraceRelay::Answer> TraceRelay::answered(const TraceSource& source, const TracePart& part) {
  const auto found = std::ranges::find(open_, part.number, &Question::number);
  if (found == open_.end() || found->source != source) {
    return std::nullopt;
  }
  Answer answer{std::move(found->client), part};
  answer.part.number = found->of_client;
  answer.part.source = source;
  answer.part.sources.clear();
  open_.erase(found);
  return answer;
}

}  // namespace ballast
