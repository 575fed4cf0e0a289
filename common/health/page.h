// The metrics page of a process of this machine, read as a scraper reads it.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace ballast {

// The value of each series by what stands before it: `ballast_shard_serving{lane="0"}`.
using Series = std::map<std::string, double, std::less<>>;

// The series of a page in Prometheus' text format. Lines that are none are left out.
Series read_series(std::string_view text);

// The body of http://HOST:PORT/metrics. Throws std::runtime_error with the address and the reason, also where the whole
// answer is not there within `patience`.
std::string fetch_page(const std::string& address, std::chrono::milliseconds patience);

}  // namespace ballast
