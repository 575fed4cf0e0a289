// A database whose arena another version of Ballast has laid out: what refuses it.
#pragma once

#include <string>

#include "storage/store/records.h"

namespace ballast {

// Whether the layouts differ though the model is the same. A layout follows from the model alone, so that only another
// version of Ballast makes another one of it. A model is the same if keys that both effective jobs have do not differ,
// of `model` and `data.name`: a version may know of more.
bool has_other_layout(const Identity& there, const Identity& here);

// What it is and what to do, for the message that refuses it; begins behind the database's path.
std::string other_layout_text(const std::string& there, const std::string& here);

}  // namespace ballast
