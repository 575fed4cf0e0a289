// Words of commands that messages suggest.
#pragma once

#include <string>
#include <string_view>

namespace ballast {

// The word as a POSIX shell takes it for itself: in single quotes where it needs them, else as it is.
std::string shell_word(std::string_view word);

}  // namespace ballast
