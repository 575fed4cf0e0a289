// What a program's command line says of itself elsewhere: its man page, and what completes its words in shells. All is
// generated from the tables that parse the command line, so that it cannot say anything else.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ballast {

// What the tables don't know.
struct ManWords {
  std::string about;                                            // a paragraph
  std::vector<std::pair<std::string, std::string>> exit_codes;  // and what each means
  std::vector<std::string> see_also;                            // "ballast-server(1)"
};

// Defines --man and --completion, which print to standard output and end the program well, whatever else is required.
// `app` must be complete when it parses.
void add_usage_options(CLI::App& app, const ManWords& words);

// The page in roff (man(7)), section 1.
std::string man_page(const CLI::App& app, const ManWords& words);

// A script for the shell: "bash", "zsh" or "fish". Throws std::invalid_argument for any other.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace ballast
