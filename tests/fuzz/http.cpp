// Feeds arbitrary bytes to the reader of HTTP requests.
//
// A request that is taken is for a path, in printable characters; what follows its lines changes nothing; the head of
// an answer to one that is refused is one, whatever was asked.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/http/http_request.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {
namespace {

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter < '\x7f'; });
}

bool is_same(const HttpReading& one, const HttpReading& other) {
  return one.is_whole == other.is_whole && one.refusal == other.refusal && one.why == other.why &&
         one.request.path == other.request.path && one.request.query == other.request.query &&
         one.request.is_head == other.request.is_head && one.request.host == other.request.host &&
         one.request.fetch_site == other.request.fetch_site && one.request.is_meant == other.request.is_meant;
}

void expect_refused(const HttpReading& reading) {
  expect(reading.is_whole, "what is refused is not waited for");
  expect_line(reading.why);
  const auto head = http_head(http_text(reading.refusal, reading.why));
  expect(head.starts_with("HTTP/1.1 4") && head.ends_with("\r\n\r\n"), "a refusal is answered with a head of 4xx");
  expect(head.find("\r\n\r\n") == head.size() - 4, "a head ends once");
}

void expect_taken(const HttpRequest& request) {
  expect(request.path.starts_with('/'), "a request that is taken is for a path");
  expect(is_printable(request.path) && is_printable(request.query), "paths and queries are printable");
  expect(request.path.find('?') == std::string::npos, "a path has no query");
  for (const auto* const name : {"since", "ask", ""}) {
    const auto value = request.field(name);
    expect(value.empty() || request.query.find(value) != std::string::npos, "a field's value stands in the query");
  }
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto reading = read_http_request(text);
  if (reading.refusal != 0) {
    fuzz::expect_refused(reading);
  } else if (reading.is_whole) {
    fuzz::expect_taken(reading.request);
    fuzz::expect(fuzz::is_same(reading, read_http_request(text + "\r\nHost: elsewhere\r\n\r\n")),
                 "what follows a request's lines changes nothing");
  } else {
    fuzz::expect(size < kMaxHttpRequest, "what is not waited for any longer is refused");
  }
  return 0;
}
