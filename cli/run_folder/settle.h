// A run's folder as one of before or after a `ballast reshard`, never of between.
#pragma once

#include <filesystem>

namespace ballast {

// Before anybody looks into the folder: what a `ballast reshard` that was killed had decided comes to its end. Cheap
// where there is none, and then changes nothing. Throws std::runtime_error naming the folder if it cannot be done here:
// nothing may be written, say.
void settle_run_folder(const std::filesystem::path& folder);

}  // namespace ballast
