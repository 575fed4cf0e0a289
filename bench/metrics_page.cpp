#include "bench/metrics_page.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace ballast::bench {

namespace {

std::uint16_t port_of(const std::string& url) {
  const auto authority = url.substr(0, url.rfind('/'));
  return static_cast<std::uint16_t>(std::stoul(authority.substr(authority.rfind(':') + 1)));
}

// Calls `see` with each line's series and value.
template <typename See>
void each_value(std::string_view page, const See& see) {
  while (!page.empty()) {
    const auto line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(page.size(), line.size() + 1));
    const auto end = line.rfind(' ');
    if (line.starts_with('#') || end == std::string_view::npos) {
      continue;
    }
    double value = 0;
    std::from_chars(line.data() + end + 1, line.data() + line.size(), value);
    see(line.substr(0, end), value);
  }
}

}  // namespace

std::string metrics_page(const std::string& url) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_of(url));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::array<char, 16384> buffer{};
    for (ssize_t count = 0; (count = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  close(fd);
  const auto head_end = answer.find("\r\n\r\n");
  if (head_end == std::string::npos) {
    throw std::runtime_error("the metrics at " + url + " do not answer");
  }
  return answer.substr(head_end + 4);
}

double largest_on(std::string_view page, std::string_view metric, std::string_view label) {
  double largest = 0;
  each_value(page, [&](std::string_view series, double value) {
    if (series.substr(0, series.find('{')) == metric && series.find(label) != std::string_view::npos) {
      largest = std::max(largest, value);
    }
  });
  return largest;
}

Spans spans_on(std::string_view page, std::string_view metric) {
  constexpr std::string_view kBound = "_bucket{le=\"";
  Spans spans;
  double sum = 0;
  double count = 0;
  std::map<double, double> within;  // by bound
  each_value(page, [&](std::string_view series, double value) {
    if (!series.starts_with(metric)) {
      return;
    }
    const auto part = series.substr(metric.size());
    if (part.starts_with(kBound)) {
      within[std::strtod(part.data() + kBound.size(), nullptr)] = value;
    } else if (part == "_sum") {
      sum = value;
    } else if (part == "_count") {
      count = value;
    }
  });
  if (count == 0) {
    return spans;
  }
  spans.mean = sum / count;
  spans.p99_at_most =
      std::ranges::find_if(within, [&](const auto& bucket) { return bucket.second >= 0.99 * count; })->first;
  return spans;
}

}  // namespace ballast::bench
