// One HTTP request that reads something, and what is said to it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ballast {

struct HttpRequest {
  std::string path;   // as it was sent, from '/' to the query
  std::string query;  // behind the '?'; empty: none
  bool is_head = false;
  std::string host;        // without the port; empty: not said
  std::string fetch_site;  // Sec-Fetch-Site: what a browser says of who asks; empty: not said
  // X-Requested-With is there: another site's page cannot send it, for a browser would ask us first whether it may.
  bool is_meant = false;

  // The value of a field of the query, as it was sent; empty: there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
  // One after the other; shared by all who are sent it. Null ones are empty.
  std::vector<std::shared_ptr<const std::string>> body = {};
};

// A line of text for a person, and its end.
HttpAnswer http_text(int status, const std::string& text);

// What is sent before the body.
std::string http_head(const HttpAnswer& answer);

inline constexpr std::size_t kMaxHttpRequest = 8192;  // bytes

struct HttpReading {
  bool is_whole = false;
  HttpRequest request = {};
  int refusal = 0;       // a status: it is refused; 0: it is not
  std::string why = {};  // for a person
};
// What is there of a request's lines. GET and HEAD alone are taken, and no body.
HttpReading read_http_request(std::string_view text);

}  // namespace ballast
