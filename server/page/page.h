// The job's web page, served by the lead's process to whoever looks; docs/page.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/http/http_server.h"
#include "server/page/analyst.h"
#include "server/page/history.h"
#include "server/page/lateness.h"
#include "server/page/lead_line.h"

namespace ballast {

// Reads alone: nothing that is asked of it changes anything but what it costs, and that is bounded. Texts are put
// together once a second, however many look, and not at all while nobody does.
class Page {
 public:
  static constexpr Micros kAge = 1'000'000;  // of what is told, at most
  static constexpr std::size_t kMarks = 16;  // texts back: who has one of these is told what has come since

  // Serves at HOST:PORT. Throws as HttpServer does.
  explicit Page(const std::string& address);
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  [[nodiscard]] std::string address() const { return server_.address(); }
  // What the lead's loop and a lane tell.
  [[nodiscard]] LeadLine& line() { return line_; }
  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] Lateness& lateness() { return lateness_; }

  // Of the server's thread; for tests from another, where the server is asked nothing.
  [[nodiscard]] std::optional<HttpAnswer> answer(const HttpRequest& request);

 private:
  using Text = std::shared_ptr<const std::string>;
  // What somebody has, who has a text with this mark.
  struct Mark {
    std::uint64_t number = 0;
    History::Counts counts;
    std::uint64_t columns = 0;
  };

  [[nodiscard]] std::optional<HttpAnswer> job(const HttpRequest& request);
  [[nodiscard]] HttpAnswer analysis(const HttpRequest& request);
  [[nodiscard]] bool refresh();
  [[nodiscard]] const Mark* mark_of(std::string_view since) const;
  [[nodiscard]] std::string mark_text(std::uint64_t number) const;
  [[nodiscard]] Text history_since(const Mark* mark);

  const Micros zero_;
  const std::string life_;  // no mark of another one is ours
  LeadLine line_;
  History history_;
  Lateness lateness_;
  // Of the newest text.
  std::shared_ptr<const JobView> view_;
  Text job_;
  std::map<std::uint64_t, Text> histories_;  // by the mark that they begin at, those that were asked for; 0: all
  std::uint64_t newest_ = 0;
  std::deque<Mark> marks_;
  PageAnalyst analyst_;
  HttpServer server_;  // the last: it calls all else
};

}  // namespace ballast
