#include "common/http/http_request.h"

#include <algorithm>
#include <cctype>

namespace ballast {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    default:
      break;
  }
  return "Service Unavailable";
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lowered;
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string_view::npos ? std::string_view()
                                        : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

// Up to the separator, which goes with it; all where there is none.
std::string_view take(std::string_view& text, std::string_view separator) {
  const auto end = text.find(separator);
  const auto taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return taken;
}

// "[::1]:80" and "name:80" without the port and the brackets.
std::string host_of(std::string_view value) {
  if (value.starts_with('[')) {
    return lower(value.substr(1, value.find(']') == std::string_view::npos ? value.size() : value.find(']') - 1));
  }
  return lower(value.substr(0, value.find(':')));
}

HttpReading refused(int status, std::string why) {
  HttpReading reading;
  reading.is_whole = true;
  reading.refusal = status;
  reading.why = std::move(why);
  return reading;
}

bool is_plain(std::string_view target) {
  return std::ranges::all_of(target, [](char letter) { return letter > ' ' && letter < '\x7f'; });
}

// What of the header fields matters.
void read_fields(std::string_view lines, HttpRequest& request) {
  while (!lines.empty()) {
    auto line = take(lines, kLineEnd);
    const auto name = lower(take(line, ":"));
    if (name == "host") {
      request.host = host_of(trimmed(line));
    } else if (name == "sec-fetch-site") {
      request.fetch_site = lower(trimmed(line));
    } else if (name == "x-requested-with") {
      request.is_meant = true;
    }
  }
}

}  // namespace

std::string_view HttpRequest::field(std::string_view name) const {
  for (std::string_view left = query; !left.empty();) {
    auto value = take(left, "&");
    if (take(value, "=") == name) {
      return value;
    }
  }
  return {};
}

HttpAnswer http_text(int status, const std::string& text) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = {std::make_shared<const std::string>(text + "\n")};
  return answer;
}

std::string http_head(const HttpAnswer& answer) {
  std::size_t bytes = 0;
  for (const auto& part : answer.body) {
    bytes += part ? part->size() : 0;
  }
  auto head = "HTTP/1.1 " + std::to_string(answer.status) + " " + reason_of(answer.status) +
              "\r\nContent-Type: " + answer.type + "\r\nContent-Length: " + std::to_string(bytes) +
              "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : answer.headers) {
    head.append(name).append(": ").append(value).append(kLineEnd);
  }
  return head.append(kLineEnd);
}

HttpReading read_http_request(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return text.size() < kMaxHttpRequest ? HttpReading() : refused(431, "the request is longer than 8 KiB");
  }
  auto lines = text.substr(0, end);
  auto first = take(lines, kLineEnd);
  const auto method = take(first, " ");
  auto target = take(first, " ");
  if (!first.starts_with("HTTP/1.") || !target.starts_with('/') || !is_plain(target)) {
    return refused(400, "this is no request of HTTP/1.1 for a path");
  }
  if (method != "GET" && method != "HEAD") {
    return refused(405, "GET and HEAD are taken, and nothing else: this page gives no orders");
  }
  HttpReading reading;
  reading.is_whole = true;
  reading.request.is_head = method == "HEAD";
  reading.request.path = take(target, "?");
  reading.request.query = target;
  read_fields(lines, reading.request);
  return reading;
}

}  // namespace ballast
