// What a process of a measured cluster tells on its metrics page.
#pragma once

#include <string>
#include <string_view>

namespace ballast::bench {

// The page at http://127.0.0.1:PORT/metrics, below the answer's head. Throws std::runtime_error if there is no answer.
std::string metrics_page(const std::string& url);

// The largest value of the metric's series whose labels hold this text; 0 if there is no such series.
double largest_on(std::string_view page, std::string_view metric, std::string_view label);

struct Spans {
  double mean = 0;         // seconds; 0 if there is none
  double p99_at_most = 0;  // the bound of the bucket that 99 of 100 of them are within; infinity if none is
};

// Of a histogram without labels.
Spans spans_on(std::string_view page, std::string_view metric);

}  // namespace ballast::bench
