#include "common/job/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "common/text/text.h"

namespace ballast {
namespace {

constexpr std::size_t kMaxShown = 60;
constexpr std::size_t kMaxCompared = 100;  // longer words are no slip of a key

std::string_view last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

template <class Number>
std::string shortest(Number number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end.ptr};
}

// The length of the section that two paths share, its dot included. It is not compared: a long one would make any two
// of its keys alike.
std::size_t common_section(std::string_view a, std::string_view b) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto dot = a.substr(0, static_cast<std::size_t>(differ)).rfind('.');
  return dot == std::string_view::npos ? 0 : dot + 1;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    previous[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    std::swap(before_previous, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kMaxCompared) {
    return {};
  }
  std::string best;
  std::size_t best_distance = kMaxCompared;
  for (const auto& candidate : candidates) {
    const std::size_t whole = edit_distance(word, candidate);
    const std::size_t part = edit_distance(last_part(word), last_part(candidate));
    const std::size_t near_whole = std::max<std::size_t>(2, (word.size() - common_section(word, candidate)) / 3);
    const std::size_t near_part = last_part(word).size() > 3 ? last_part(word).size() / 3 : 0;
    // The same last part in another section is a likelier slip than another word: a half-step behind an equal whole.
    const std::size_t distance =
        std::min(whole <= near_whole ? 2 * whole : kMaxCompared, part <= near_part ? 2 * part + 1 : kMaxCompared);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string shown(std::string_view text) {
  return "'" + as_line(text, kMaxShown) + (text.size() > kMaxShown ? "...'" : "'");
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string number_text(double number) { return shortest(number); }
std::string float_text(float number) { return shortest(number); }

}  // namespace ballast
