// Help with words in messages: the word that was probably meant, long ones shortened, numbers as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

// The number of single-character insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word` if one is near enough to be a likely slip (a third of its letters, at least 2);
// empty otherwise. A dotted candidate also counts as near by its last part alone.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// `text` in single quotes as one line, cut to a length that fits a message.
std::string shown(std::string_view text);

// "a, b, c"
std::string comma_list(const std::vector<std::string>& words);

// The shortest decimal text that reads back as the same number, whatever the locale.
std::string number_text(double number);
// The same of a float, which reads back as the same float.
std::string float_text(float number);

}  // namespace ballast
