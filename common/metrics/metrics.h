// The process's metrics and the HTTP server that Prometheus scrapes.
//
// A series (a name of metrics_table with a value for each label) is looked up once and then counted by its handle
// alone; a scrape reads the same atomics and never makes a counting thread wait.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/metrics/instruments.h"

namespace ballast {

// Thread-safe.
class Metrics {
 public:
  using Labels = std::vector<std::string>;

  // One metric's series at most: labels such as worker names come from outside. Further ones count into the void, and
  // ballast_metrics_dropped_series_total says how many. Enough for each phase of a step of as many workers as there can
  // be.
  static constexpr std::size_t kMaxSeries = 8192;

  Metrics();
  ~Metrics();  // ends the server
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The series of `name` with these label values, made if it is new. A name that is not in metrics_table, another type
  // or another number of labels is this program's own fault: std::logic_error.
  std::shared_ptr<Counter> counter(std::string_view name, const Labels& labels = {});
  std::shared_ptr<Gauge> gauge(std::string_view name, const Labels& labels = {});
  std::shared_ptr<Histogram> histogram(std::string_view name, const Labels& labels = {});

  // Removes every series whose metric's name begins like this and that has all of these values for these labels, e.g.
  // of a worker that has gone; handles stay usable.
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  void remove(std::string_view prefix, const std::vector<Label>& labels);

  // All series in Prometheus' text format.
  [[nodiscard]] std::string text() const;

  // Serves /metrics at HOST:PORT; port 0 takes a free one. Returns the address with the port filled in. Throws
  // std::runtime_error with the address, the reason and the remedy.
  std::string serve(const std::string& address);
  // Where it is served; empty if it is not.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  struct State;
  struct Server;
  std::shared_ptr<State> state_;
  std::unique_ptr<Server> server_;
  std::string address_;
};

// Metrics served at `address`; none at all if it is empty. Throws as Metrics::serve does.
std::unique_ptr<Metrics> serve_metrics(const std::string& address);

// The same series through a pointer that may be null: then a handle that nobody reads.
std::shared_ptr<Counter> counter_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels = {});
std::shared_ptr<Gauge> gauge_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels = {});
std::shared_ptr<Histogram> histogram_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels = {});

}  // namespace ballast
