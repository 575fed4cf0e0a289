// A message's bytes to the text that is read of it.
#pragma once

#include <string>
#include <string_view>

#include "common/job/spec.h"

namespace ballast {

bool is_utf8(std::string_view text);

// UTF-8: the bytes themselves if they are, otherwise as ISO-8859-1. \r\n become \n.
std::string message_text(std::string bytes);

// What is left of a message, whose lines end with \n. In this order:
//   headers    all up to the first empty line; nothing if there is none
//   signature  blanks around the message, then all from the last line on that consists of '-' and blanks, or is empty;
//              not if that is the first line
//   quotes     lines that begin with '>', '|', "In article" or "Quoted from", or contain "writes in", "writes:",
//              "wrote:", "says:" or "said:"
std::string strip_message(const std::string& text, const StripSpec& strip);

}  // namespace ballast
