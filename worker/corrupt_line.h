// The line by which a worker's log tells, at the job's end, how many examples it could not read (data.corrupt: skip).
#pragma once

namespace ballast {

// The number follows. `ballast run` looks for it.
inline constexpr const char* kCorruptLine = "corrupt examples of the data, which were left out or replaced: ";

}  // namespace ballast
