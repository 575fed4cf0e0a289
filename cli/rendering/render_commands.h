// The subcommands of `ballast render`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/rendering/render_options.h"

namespace ballast {

class RenderCommands {
 public:
  // Must stay where it is until the command line has been parsed.
  void define(CLI::App& app);
  // The exit code if one of them was given; nothing otherwise.
  [[nodiscard]] std::optional<int> dispatch(const CLI::App& app) const;

 private:
  RenderOptions kubernetes_;
  RenderOptions compose_;
  std::string worker_memory_;
  std::string peers_ = "names";
  std::string format_ = "yaml";
};

// Bytes of a text like 512Mi, 3Gi or 1500000000. Throws UsageError, which names the option.
std::uint64_t parse_quantity(const std::string& text, const std::string& option);

}  // namespace ballast
