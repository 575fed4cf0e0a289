// The files of web/ in one, as embed.py has made it a part of the program.
#pragma once

#include <string_view>

namespace ballast {

extern const std::string_view kPageHtml;
extern const std::string_view kPageStyle;   // its digest, as a Content-Security-Policy has it
extern const std::string_view kPageScript;  // likewise

}  // namespace ballast
