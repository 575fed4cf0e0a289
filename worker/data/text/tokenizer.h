// Text to words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ballast {

// The characters A to Z and U+00C0 to U+00DE (but U+00D7, the sign of multiplication) as their small forms; all others
// as they are. Bytes that are no UTF-8 stay.
std::string lower_case(std::string_view text);

// Calls `take` with each token of UTF-8 text, in lower case, in order, until it says false. Tokens are
//   words: runs of ASCII letters and digits, of the other characters above U+00BF (but U+00D7, U+00F7, U+2000 to U+206F
//     and U+3000 to U+303F: signs, spaces and punctuation), and of apostrophes between two of these;
//   every other character that is visible, by itself. Spaces, control characters and bytes that are no UTF-8 part
//   tokens and are none.
void for_each_token(std::string_view text, const std::function<bool(std::string_view token)>& take);

}  // namespace ballast
