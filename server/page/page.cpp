#include "server/page/page.h"

#include <algorithm>

#include "common/net/clock.h"
#include "common/net/random_id.h"
#include "common/telling/run_text.h"
#include "server/page/job_text.h"
#include "server/page/json_text.h"
#include "server/page/page_html.h"

namespace ballast {
namespace {

// What may be shown beside the page itself, its own style and script: what it asks us for. No other page may frame it.
std::string policy() {
  return "default-src 'none'; connect-src 'self'; img-src data:; style-src " + std::string(kPageStyle) +
         "; script-src " + std::string(kPageScript) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

HttpAnswer whole_page() {
  static const auto kText = std::make_shared<const std::string>(kPageHtml);
  HttpAnswer answer;
  answer.type = "text/html; charset=utf-8";
  answer.headers = {{"Content-Security-Policy", policy()},
                    {"X-Frame-Options", "DENY"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Opener-Policy", "same-origin"}};
  answer.body = {kText};
  return answer;
}

HttpAnswer json(std::vector<std::shared_ptr<const std::string>> parts) {
  HttpAnswer answer;
  answer.type = "application/json";
  answer.headers = {{"Cross-Origin-Resource-Policy", "same-origin"}};
  answer.body = std::move(parts);
  return answer;
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// How long until it is to be asked again: what is long is sent less often.
unsigned pause_after(std::size_t bytes) {
  constexpr std::size_t kEach = 50'000;  // bytes a second that each viewer is sent, about
  return static_cast<unsigned>(std::clamp<std::size_t>(1000 * bytes / kEach, 1000, 10'000));
}

}  // namespace

Page::Page(const std::string& address)
    : zero_(monotonic_micros()),
      life_(hex16(random_id())),
      analyst_(line_, zero_),
      server_("the page", address, [this](const HttpRequest& request) { return answer(request); }) {
  line_.on_view([this] { server_.wake(); });
}

std::optional<HttpAnswer> Page::answer(const HttpRequest& request) {
  if (request.path == "/") {
    return whole_page();
  }
  // A page of elsewhere can't read what it is sent, but is to have nothing made either.
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none") {
    return http_text(403, "another site's page asks for this");
  }
  if (request.path == "/job.json") {
    return job(request);
  }
  if (request.path == "/analysis.json") {
    return analysis(request);
  }
  return http_text(404, "there is nothing here; the page is at /");
}

// False: the lead has been asked for a newer view, and has not given it yet.
bool Page::refresh() {
  const auto newest = line_.newest();
  if (!newest || newest->at + kAge < monotonic_micros()) {
    line_.want_view();
    return false;
  }
  if (newest == view_) {
    return true;
  }
  view_ = newest;
  marks_.push_back({++newest_, history_.counts(), lateness_.columns()});
  if (marks_.size() > kMarks) {
    marks_.pop_front();
  }
  job_ = shared(job_text(*view_, lateness_.rows()));
  histories_.clear();
  return true;
}

std::string Page::mark_text(std::uint64_t number) const { return life_ + "-" + std::to_string(number); }

const Page::Mark* Page::mark_of(std::string_view since) const {
  const auto found = std::ranges::find_if(marks_, [&](const Mark& mark) { return mark_text(mark.number) == since; });
  return found == marks_.end() ? nullptr : &*found;
}

std::optional<HttpAnswer> Page::job(const HttpRequest& request) {
  if (!refresh()) {
    return std::nullopt;
  }
  const auto* mark = mark_of(request.field("since"));
  const auto history = history_since(mark);
  JsonText head;
  head.raw("{\"mark\":").text(mark_text(newest_)).raw(",\"all\":").boolean(mark == nullptr).raw(",\"now\":");
  head.seconds(static_cast<double>(view_->at - zero_) * 1e-6).raw(",\"again_ms\":");
  head.integer(pause_after(job_->size() + history->size())).raw(",");
  static const auto kBetween = shared(",");
  static const auto kEnd = shared("}\n");
  return json({shared(head.take()), job_, kBetween, history, kEnd});
}

// What has come since the text was put together that has the newest mark may be in it as well: who is told again of
// something knows it by its number. The last column that was told may have changed since.
Page::Text Page::history_since(const Mark* mark) {
  auto& text = histories_[mark == nullptr ? 0 : mark->number];
  if (!text) {
    const auto known = mark == nullptr ? Mark() : *mark;
    text = shared(history_text(history_.since(known.counts),
                               lateness_.read(known.columns - std::min<std::uint64_t>(known.columns, 1)), zero_));
  }
  return text;
}

HttpAnswer Page::analysis(const HttpRequest& request) {
  if (request.field("ask") == "1" && !request.is_head) {
    if (!request.is_meant) {
      return http_text(403,
                       "to have an analysis made, send the header X-Requested-With, which other sites' pages cannot");
    }
    analyst_.ask();
  }
  const auto newest = analyst_.newest();
  static const auto kNone = shared("null");
  static const auto kEnd = shared("}\n");
  return json({shared(std::string("{\"asking\":") + (newest.is_asking ? "true" : "false") + ",\"result\":"),
               newest.result ? newest.result : kNone, kEnd});
}

}  // namespace ballast
