#include "common/http/http_request.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

HttpReading read_line(const std::string& line) { return read_http_request(line + "\r\nHost: localhost\r\n\r\n"); }

TEST_CASE("a request is read when it is whole, and not before") {
  const std::string text = "GET /job.json?since=a-1&x=2 HTTP/1.1\r\nHost: LocalHost:80\r\nSec-Fetch-Site: none\r\n\r\n";
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    CHECK_FALSE(read_http_request(text.substr(0, bytes)).is_whole);
  }
  const auto reading = read_http_request(text);
  REQUIRE(reading.is_whole);
  CHECK(reading.refusal == 0);
  CHECK(reading.request.path == "/job.json");
  CHECK(reading.request.field("since") == "a-1");
  CHECK(reading.request.field("x") == "2");
  CHECK(reading.request.field("y").empty());
  CHECK(reading.request.host == "localhost");
  CHECK(reading.request.fetch_site == "none");
  CHECK_FALSE(reading.request.is_head);
  CHECK_FALSE(reading.request.is_meant);
  CHECK(read_http_request("GET / HTTP/1.1\r\nX-Requested-With: page\r\n\r\n").request.is_meant);
}

TEST_CASE("only what may be read is taken") {
  CHECK(read_line("HEAD / HTTP/1.0").request.is_head);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"}) {
    CHECK(read_line(std::string(method) + " / HTTP/1.1").refusal == 405);
  }
  for (const char* line : {"", "GET", "GET /", "GET / HTTP/2", "GET job.json HTTP/1.1", "GET http://a/ HTTP/1.1",
                           "GET /\x01 HTTP/1.1", "GET /\xc3\xa9 HTTP/1.1", "\x16\x03\x01"}) {
    CAPTURE(line);
    CHECK(read_line(line).refusal == 400);
  }
}

TEST_CASE("what does not end is refused when it is long") {
  const std::string begin = "GET / HTTP/1.1\r\nX: ";
  CHECK_FALSE(read_http_request(begin + std::string(kMaxHttpRequest - begin.size() - 1, 'x')).is_whole);
  CHECK(read_http_request(begin + std::string(kMaxHttpRequest, 'x')).refusal == 431);
}

TEST_CASE("a host is said in many ways") {
  const auto host = [](const std::string& said) {
    return read_http_request("GET / HTTP/1.1\r\nhost:" + said + "\r\n\r\n").request.host;
  };
  CHECK(host(" a.example ") == "a.example");
  CHECK(host("127.0.0.1:8080") == "127.0.0.1");
  CHECK(host("[::1]:8080") == "::1");
  CHECK(host("[::1") == "::1");
  CHECK(host("").empty());
}

TEST_CASE("an answer says how long it is, also where only that is asked") {
  HttpAnswer answer;
  answer.headers = {{"Allow", "GET"}};
  answer.body = {std::make_shared<const std::string>("abc"), nullptr, std::make_shared<const std::string>("de")};
  const auto head = http_head(answer);
  CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(head.find("Content-Length: 5\r\n") != std::string::npos);
  CHECK(head.find("Allow: GET\r\n") != std::string::npos);
  CHECK(head.ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace ballast
