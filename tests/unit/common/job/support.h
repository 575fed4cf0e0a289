// What the tests of job and worker files share.
#pragma once

#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast::testing {

// A valid job, each of whose lines a test may replace.
inline const std::string kJob =
    "job: sample\n"              // 1
    "model:\n"                   // 2
    "  name: mlp\n"              // 3
    "data:\n"                    // 4
    "  name: glyphs\n"           // 5
    "training:\n"                // 6
    "  slots: 8\n"               // 7
    "  batch: 128\n"             // 8
    "  epochs: 2\n"              // 9
    "  optimizer:\n"             // 10
    "    learning_rate: 0.05\n"  // 11
    "cluster:\n"                 // 12
    "  workers: 2\n";            // 13

inline const std::string kEmulated =
    "job: emulated\n"
    "model: {name: emulated, preset: resnet50}\n"
    "data: {name: none}\n"
    "training: {max_steps: 5}\n";

// The text with the one occurrence of `from` replaced; throws if there is not exactly one.
std::string replaced(std::string text, const std::string& from, const std::string& to);

// The errors that reading `text` as the job file "job.yaml" gives; none if it is read.
std::vector<std::string> job_errors(const std::string& text, const std::vector<std::string>& overrides = {});

// The one error; throws if there is another number of them.
std::string job_error(const std::string& text, const std::vector<std::string>& overrides = {});

// The file of the project, e.g. "configs/worker.yaml".
std::string project_file(const std::string& path);
std::string read_whole(const std::string& path);

bool contains(const std::string& text, const std::string& part);

// A new folder under the system's temporary one, removed at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file and returns its path.
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace ballast::testing
