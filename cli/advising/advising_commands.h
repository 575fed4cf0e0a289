// The subcommands probe and advise.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/advising/advise.h"
#include "cli/advising/probe_command.h"

namespace ballast {

class AdvisingCommands {
 public:
  // Must stay where it is until the command line has been parsed.
  void define(CLI::App& app);
  // The exit code if one of them was given; nothing otherwise.
  [[nodiscard]] std::optional<int> dispatch(const CLI::App& app) const;

 private:
  void define_probe(CLI::App& app);
  void define_advise(CLI::App& app);

  ProbeOptions probe_;
  AdviseOptions advise_;
};

}  // namespace ballast
