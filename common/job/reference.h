// docs/configuration.md, written from the tables of keys.
#pragma once

#include <string>

namespace ballast {

// The whole file, in Markdown.
std::string configuration_reference();

}  // namespace ballast
