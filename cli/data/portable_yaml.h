// Texts and numbers in YAML as every reader takes them: what `ballast data describe` prints may be read, or put
// together with other keys, by programs that follow YAML 1.1 (PyYAML, Ruby) as well as by those of YAML 1.2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ballast {

// A text: in double quotes where it would not be read, or read as something else than a text, by YAML 1.1 (`no`, `on`,
// `y`, `1_000`, `2001-12-14`, `012`) or 1.2 (`null`, `1e5`, `0x10`, `0o7`).
std::string portable_text(std::string_view text);

// "a, b": each as portable_text has it.
std::string portable_list(const std::vector<std::string>& texts);

// Digits of a number in decimal, as number_text writes them: 1e-05 is a text to YAML 1.1, whose numbers with an
// exponent have a point, and becomes 1.0e-05.
std::string portable_number(const std::string& digits);

}  // namespace ballast
