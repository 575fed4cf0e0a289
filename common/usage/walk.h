// A command line's tables, read: commands below commands, and the options that are shown to users.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ballast::usage {

struct Word {
  std::vector<std::string> names;    // "-q", "--quiet"; of a positional one its name
  std::string value;                 // what it takes, in capitals; empty: nothing
  std::vector<std::string> choices;  // if it takes one of a few
  bool takes_path = false;           // or anything else that is no number
  bool repeated = false;
  bool required = false;
  bool positional = false;
  std::string about;
};

struct Command {
  std::string name;
  std::string about;
  std::vector<Word> words;  // positional ones first
  std::vector<Command> commands;
};

Command read(const CLI::App& app);

}  // namespace ballast::usage
