// Numbers as people and spreadsheets write them, and jobs do not read them.
#pragma once

#include <string>
#include <string_view>

namespace ballast {

// What keeps a field from being read as a number, if it is one but for that, and what to do: "has a decimal comma;
// write it with a decimal point". Known are decimal commas, thousands separators (comma, point, blank, apostrophe,
// `_`), blanks around, a plus sign and a percent sign. Empty for a number that is read as it stands, and for what is no
// number at all.
std::string number_fault(std::string_view field);

}  // namespace ballast
