#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/usage/usage.h"
#include "common/usage/walk.h"

namespace ballast {

namespace {

using usage::Command;
using usage::Word;

// Of a shell: in single quotes.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char byte : text) {
    out += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// "ballast-server" as a part of a function's name
std::string function_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return byte == '-' || byte == ' '; }, '_');
  return "_" + text;
}

// ---- bash

struct BashTables {
  std::string paths;    // how a word leads from a command to one below it
  std::string words;    // a command's options, and the commands below it
  std::string choices;  // what may follow an option
};

void fill(BashTables& tables, const std::string& path, const Command& command) {
  std::vector<std::string> options;
  std::vector<std::string> commands;
  for (const auto& word : command.words) {
    if (word.positional) {
      continue;
    }
    options.insert(options.end(), word.names.begin(), word.names.end());
    if (word.value.empty()) {
      continue;
    }
    for (const auto& name : word.names) {
      const auto kind = !word.choices.empty() ? "choices=" + quoted(joined(word.choices))
                        : word.takes_path     ? std::string("files=1")
                                              : std::string("nothing=1");
      tables.choices += "    " + quoted(path + " " + name) + ") " + kind + " ;;\n";
    }
  }
  for (const auto& below : command.commands) {
    commands.push_back(below.name);
    const auto next = path + "/" + below.name;
    tables.paths += "      " + quoted(path + " " + below.name) + ") path=" + quoted(next) + " ;;\n";
    fill(tables, next, below);
  }
  tables.words += "    " + quoted(path) + ") options=" + quoted(joined(options)) +
                  " commands=" + quoted(joined(commands)) + " ;;\n";
}

std::string for_bash(const Command& program) {
  BashTables tables;
  fill(tables, "", program);
  const auto function = function_name(program.name);
  return "# bash completion for " + program.name + ", by `" + program.name + " --completion bash`\n" + function +
         "() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local path='' options='' commands='' choices='' files='' nothing='' i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$path ${COMP_WORDS[i]}\" in\n" +
         tables.paths +
         "    esac\n"
         "  done\n"
         "  case $path in\n" +
         tables.words +
         "  esac\n"
         "  case \"$path $prev\" in\n" +
         tables.choices +
         "  esac\n"
         "  if [[ -n $nothing ]]; then\n"
         "    COMPREPLY=()\n"
         "  elif [[ -n $choices ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
         "  elif [[ -z $files && $cur == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "  elif [[ -z $files && -n $commands ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F " +
         function + " " + program.name + "\n";
}

// ---- zsh

// Inside of _arguments' '...[description]:message:action'.
std::string for_zsh_spec(const std::string& text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '[' || byte == ']' || byte == ':' || byte == '\\') {
      out += '\\';
    }
    out += byte;
  }
  return out;
}

std::string zsh_argument(const Word& word) {
  const auto about = for_zsh_spec(word.about);
  if (word.positional) {
    return "    " + quoted((word.repeated ? "*:" : ":") + about + ":_files") + " \\\n";
  }
  std::string value;
  if (!word.value.empty()) {
    value = ":" + for_zsh_spec(word.value) + ":" +
            (!word.choices.empty() ? "(" + joined(word.choices) + ")"
             : word.takes_path     ? "_files"
                                   : " ");
  }
  std::string text;
  for (const auto& name : word.names) {
    text += "    " + quoted((word.repeated ? "*" : "") + name + "[" + about + "]" + value) + " \\\n";
  }
  return text;
}

std::string zsh_functions(const std::string& path, const Command& command) {
  std::string text;
  for (const auto& below : command.commands) {
    text += zsh_functions(path + " " + below.name, below);
  }
  text += function_name(path) + "() {\n";
  if (!command.commands.empty()) {
    text += "  if (( CURRENT > 2 )); then\n    case $words[2] in\n";
    for (const auto& below : command.commands) {
      text += "      " + below.name + ") shift words; (( CURRENT-- )); " + function_name(path + " " + below.name) +
              "; return ;;\n";
    }
    text += "    esac\n  fi\n  local -a commands\n  commands=(\n";
    for (const auto& below : command.commands) {
      text += "    " + quoted(below.name + ":" + for_zsh_spec(below.about)) + "\n";
    }
    text += "  )\n  _describe command commands\n";
  }
  text += "  _arguments \\\n";
  for (const auto& word : command.words) {
    text += zsh_argument(word);
  }
  return text + "    && return\n}\n";
}

std::string for_zsh(const Command& program) {
  return "#compdef " + program.name + "\n# zsh completion, by `" + program.name + " --completion zsh`\n" +
         zsh_functions(program.name, program) + function_name(program.name) + " \"$@\"\n";
}

// ---- fish

std::string fish_lines(const std::string& program, const std::string& condition, const Command& command) {
  std::string text;
  const auto begin = "complete -c " + program + " -n " + quoted(condition);
  for (const auto& word : command.words) {
    if (word.positional) {
      continue;
    }
    text += begin;
    for (const auto& name : word.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!word.choices.empty()) {
      text += " -x -a " + quoted(joined(word.choices));
    } else if (!word.value.empty()) {
      text += word.takes_path ? " -r -F" : " -x";
    }
    text += " -d " + quoted(word.about) + "\n";
  }
  return text;
}

// `above`: the condition under which the command stands on the line; empty for the program itself.
std::string fish_tree(const std::string& program, const std::string& above, const Command& command) {
  std::vector<std::string> names;
  for (const auto& below : command.commands) {
    names.push_back(below.name);
  }
  const auto chosen = "__fish_seen_subcommand_from " + joined(names);
  const auto and_also = above.empty() ? std::string() : above + "; and ";
  const auto here = names.empty() ? (above.empty() ? "true" : above) : and_also + "not " + chosen;
  auto text = fish_lines(program, here, command);
  for (const auto& below : command.commands) {
    text +=
        "complete -c " + program + " -n " + quoted(here) + " -a " + below.name + " -d " + quoted(below.about) + "\n";
    text += fish_tree(program, and_also + "__fish_seen_subcommand_from " + below.name, below);
  }
  return text;
}

std::string for_fish(const Command& program) {
  return "# fish completion, by `" + program.name + " --completion fish`\n" + fish_tree(program.name, "", program);
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  const auto program = usage::read(app);
  if (shell == "bash") {
    return for_bash(program);
  }
  if (shell == "zsh") {
    return for_zsh(program);
  }
  if (shell == "fish") {
    return for_fish(program);
  }
  throw std::invalid_argument("there is no completion for the shell '" + shell + "': bash, zsh or fish");
}

}  // namespace ballast
