#include "common/metrics/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "common/http/http_address.h"
#include "common/metrics/metrics_table.h"

namespace ballast {
namespace {

using Instrument = std::variant<std::shared_ptr<Counter>, std::shared_ptr<Gauge>, std::shared_ptr<Histogram>>;

template <typename T>
constexpr MetricType kTypeOf = MetricType::counter;
template <>
constexpr MetricType kTypeOf<Gauge> = MetricType::gauge;
template <>
constexpr MetricType kTypeOf<Histogram> = MetricType::histogram;

const MetricEntry& entry_of(std::string_view name, MetricType type, std::size_t labels) {
  const auto* entry = find_metric(name);
  if (entry == nullptr) {
    throw std::logic_error("metric " + std::string(name) + " is not in the table");
  }
  if (entry->type != type || entry->labels.size() != labels) {
    throw std::logic_error("metric " + std::string(name) + " has another type or another number of labels");
  }
  return *entry;
}

template <typename T>
std::shared_ptr<T> make_instrument(const MetricEntry& /*entry*/) {
  return std::make_shared<T>();
}
template <>
std::shared_ptr<Histogram> make_instrument(const MetricEntry& entry) {
  return std::make_shared<Histogram>(entry.unit == "updates" ? Histogram::kUpdateBounds : Histogram::kBounds);
}

prometheus::MetricType to_prometheus(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return prometheus::MetricType::Counter;
    case MetricType::gauge:
      return prometheus::MetricType::Gauge;
    case MetricType::histogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

void read(const Counter& counter, prometheus::ClientMetric& metric) { metric.counter.value = counter.value(); }
void read(const Gauge& gauge, prometheus::ClientMetric& metric) { metric.gauge.value = gauge.value(); }
void read(const Histogram& histogram, prometheus::ClientMetric& metric) {
  // The count is the sum of what was read, so that a scrape amid observations contradicts itself nowhere.
  std::uint64_t cumulative = 0;
  for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
    cumulative += histogram.count(bucket);
    const bool last = bucket == histogram.bounds().size();
    metric.histogram.bucket.push_back(
        {cumulative, last ? std::numeric_limits<double>::infinity() : histogram.bounds()[bucket]});
  }
  metric.histogram.sample_count = cumulative;
  metric.histogram.sample_sum = histogram.sum();
}

// Series are in the order of their labels: if the first ones are given, as they are of who goes, what has them stands
// together and no other series is looked at.
template <typename Series>
void remove_matching(Series& of_metric, const std::vector<std::string_view>& names,
                     const std::vector<Metrics::Label>& labels) {
  const auto wanted = [&](std::string_view name) { return std::ranges::find(labels, name, &Metrics::Label::name); };
  Metrics::Labels first;
  for (auto name = names.begin(); name != names.end() && wanted(*name) != labels.end(); ++name) {
    first.emplace_back(wanted(*name)->value);
  }
  const auto begins_so = [&first](const Metrics::Labels& values) {
    return std::equal(first.begin(), first.end(), values.begin());
  };
  const auto matches = [&](const Metrics::Labels& values) {
    return std::ranges::all_of(labels, [&](const Metrics::Label& label) {
      return values[static_cast<std::size_t>(std::ranges::find(names, label.name) - names.begin())] == label.value;
    });
  };
  for (auto one = of_metric.lower_bound(first); one != of_metric.end() && begins_so(one->first);) {
    one = matches(one->first) ? of_metric.erase(one) : std::next(one);
  }
}

// Whoever connects and does not end its request has a thread for so long at most: several threads, so that a scrape
// finds one at once beside some of these, and a short time, so that it finds one soon beside many.
std::vector<std::string> http_options(const HttpAddress& target) {
  return {"listening_ports", target.bindable(), "num_threads", "4", "request_timeout_ms", "2000"};
}

}  // namespace

// The mutex guards the map, not the values: counting never takes it.
struct Metrics::State final : prometheus::Collectable {
  template <typename T>
  std::shared_ptr<T> find_or_make(std::string_view name, const Labels& labels) {
    const auto& entry = entry_of(name, kTypeOf<T>, labels.size());
    const std::scoped_lock lock(mutex);
    auto& of_metric = series[&entry];
    if (const auto found = of_metric.find(labels); found != of_metric.end()) {
      return std::get<std::shared_ptr<T>>(found->second);
    }
    auto made = make_instrument<T>(entry);
    if (of_metric.size() >= kMaxSeries) {
      dropped->add();
    } else {
      of_metric.emplace(labels, made);
    }
    return made;
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    const std::scoped_lock lock(mutex);
    for (const auto& entry : metrics_table()) {
      const auto found = series.find(&entry);
      if (found == series.end() || found->second.empty()) {
        continue;
      }
      auto& family = families.emplace_back();
      family.name = entry.name;
      family.help = entry.help;
      family.type = to_prometheus(entry.type);
      for (const auto& [labels, instrument] : found->second) {
        auto& metric = family.metric.emplace_back();
        for (std::size_t label = 0; label < labels.size(); ++label) {
          metric.label.push_back({std::string(entry.labels[label]), labels[label]});
        }
        std::visit([&metric](const auto& handle) { read(*handle, metric); }, instrument);
      }
    }
    return families;
  }

  mutable std::mutex mutex;
  std::map<const MetricEntry*, std::map<Labels, Instrument>> series;
  std::shared_ptr<Counter> dropped;
};

struct Metrics::Server {
  explicit Server(const HttpAddress& target)
      : address(target), exposer(std::make_unique<prometheus::Exposer>(http_options(target))) {
    const auto ports = exposer->GetListeningPorts();
    if (!ports.empty()) {
      address.port = static_cast<std::uint16_t>(ports.front());
    }
  }
  // The HTTP server looks up from waiting for connections every 2 s only. Connections meanwhile let it see at once that
  // it is to end, so that no process ends later because it was scraped.
  ~Server() {
    const std::jthread caller([this](const std::stop_token& ended) {
      while (!ended.stop_requested()) {
        touch(address);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    exposer.reset();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  HttpAddress address;
  std::unique_ptr<prometheus::Exposer> exposer;
};

Metrics::Metrics() : state_(std::make_shared<State>()) {
  state_->dropped = state_->find_or_make<Counter>("ballast_metrics_dropped_series_total", {});
}

Metrics::~Metrics() = default;

std::shared_ptr<Counter> Metrics::counter(std::string_view name, const Labels& labels) {
  return state_->find_or_make<Counter>(name, labels);
}
std::shared_ptr<Gauge> Metrics::gauge(std::string_view name, const Labels& labels) {
  return state_->find_or_make<Gauge>(name, labels);
}
std::shared_ptr<Histogram> Metrics::histogram(std::string_view name, const Labels& labels) {
  return state_->find_or_make<Histogram>(name, labels);
}

void Metrics::remove(std::string_view prefix, const std::vector<Label>& labels) {
  const std::scoped_lock lock(state_->mutex);
  for (auto& [entry, of_metric] : state_->series) {
    const auto& names = entry->labels;
    if (entry->name.starts_with(prefix) && std::ranges::all_of(labels, [&names](const Label& label) {
          return std::ranges::find(names, label.name) != names.end();
        })) {
      remove_matching(of_metric, names, labels);
    }
  }
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, state_->Collect());
  return out.str();
}

std::string Metrics::serve(const std::string& address) {
  const auto target = resolve_http_address(address);
  // The server's own error does not say why; asking first leaves a moment for someone else to take the port.
  if (const auto why = why_not_bindable(target); !why.empty()) {
    throw std::runtime_error("cannot serve metrics at " + address + ": " + why);
  }
  try {
    server_ = std::make_unique<Server>(target);
  } catch (const std::exception& failure) {
    throw std::runtime_error("cannot serve metrics at " + address + ": " + failure.what());
  }
  server_->exposer->RegisterCollectable(state_);
  address_ = server_->address.bindable();
  return address_;
}

std::unique_ptr<Metrics> serve_metrics(const std::string& address) {
  if (address.empty()) {
    return nullptr;
  }
  auto metrics = std::make_unique<Metrics>();
  metrics->serve(address);
  return metrics;
}

std::shared_ptr<Counter> counter_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels) {
  return metrics != nullptr ? metrics->counter(name, labels) : std::make_shared<Counter>();
}
std::shared_ptr<Gauge> gauge_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels) {
  return metrics != nullptr ? metrics->gauge(name, labels) : std::make_shared<Gauge>();
}
std::shared_ptr<Histogram> histogram_of(Metrics* metrics, std::string_view name, const Metrics::Labels& labels) {
  return metrics != nullptr ? metrics->histogram(name, labels) : std::make_shared<Histogram>();
}

}  // namespace ballast
