// What `ballast data describe` tells of a split's folders beside its examples: whoever put files there may mean them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "worker/data/class_files.h"

namespace ballast {

// Folders of SPLIT, a folder, that are none of the classes because nothing that counts lies in them. Of an archive none
// are known.
std::vector<std::string> empty_folder_warnings(const std::filesystem::path& split,
                                               const std::vector<std::string>& classes);

// Files of a split that are no examples because of where they lie: how many and the first of each kind.
std::vector<std::string> aside_warnings(const std::string& split, const LeftAside& aside);

// "SPLIT: WHAT: 2, the first PATH; REMEDY"; nothing if there are none.
std::vector<std::string> counted_warning(const std::string& split, const LeftAside::Kind& files,
                                         const std::string& what, const std::string& remedy);

}  // namespace ballast
