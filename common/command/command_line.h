// What the command lines of all programs have in common: --version, and mistakes that are told by what was typed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/command/exit_codes.h"
#include "common/command/usage_error.h"

namespace ballast {

// "unknown option '--wokers' of `ballast run`; did you mean --workers?", of the first word that no option of the
// (sub)command it stands behind has; also of a word in the place of a subcommand. Empty if there is none. `words` are
// argv without the program's name.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

// Adds --version. Parses; nothing if the program is to go on, else the exit code: help or the version has been printed
// (0), or what is wrong has, on standard error (kExitUsage). The app's name is the program's.
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv);

// Adds --log-level, which takes the levels' names (common/log/levels.h).
CLI::Option* add_log_level(CLI::App& app, std::string& level);

// Adds --log-megabytes and --log-files, with the bounds that a worker file has for them.
CLI::Option* add_log_megabytes(CLI::App& app, std::uint64_t& megabytes);
CLI::Option* add_log_files(CLI::App& app, std::uint32_t& files);

// Adds --unfinished-code, 0 to 255: for who starts a process again by its exit code alone, as a Kubernetes Job does.
CLI::Option* add_unfinished_code(CLI::App& app, int& code);

// Adds --lead-patience, in seconds; 0: none.
CLI::Option* add_lead_patience(CLI::App& app, std::uint32_t& seconds, const std::string& description);

// Checks of options' values, with texts of their own: common/text/endpoint.h.
std::string check_endpoint(const std::string& text);
std::string check_bind(const std::string& text);
std::string check_host_port(const std::string& text);
std::string check_host(const std::string& text);

}  // namespace ballast
