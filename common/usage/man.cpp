#include <string>

#include "common/usage/usage.h"
#include "common/usage/walk.h"

namespace ballast {

namespace {

using usage::Command;
using usage::Word;

// Text as text: no character of it is a command of roff, and a hyphen is the one that can be typed.
std::string plain(const std::string& text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '\\') {
      out += "\\e";
    } else if (byte == '-') {
      out += "\\-";
    } else if ((byte == '.' || byte == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + byte;
    } else {
      out += byte;
    }
  }
  return out;
}

std::string capitals(std::string text) {
  for (auto& byte : text) {
    byte = byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
  }
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string heading(const Word& word) {
  if (word.positional) {
    return slanted(word.value);
  }
  std::string text;
  for (const auto& name : word.names) {
    text += (text.empty() ? "" : ", ") + bold(name);
  }
  return word.value.empty() ? text : text + " " + slanted(word.value);
}

// "--help" is everywhere and said once.
bool is_help(const Word& word) { return !word.names.empty() && word.names.back() == "--help"; }

std::string in_synopsis(const Word& word) {
  if (word.positional) {
    const auto name = slanted(word.value) + (word.repeated ? "..." : "");
    return word.required ? name : "[" + name + "]";
  }
  return bold(word.names.back()) + (word.value.empty() ? "" : " " + slanted(word.value));
}

// What must be said, and that there is more.
std::string synopsis(const std::string& path, const Command& command) {
  auto text = bold(path);
  bool more = false;
  for (const auto& word : command.words) {
    if (word.positional || word.required) {
      text += " " + in_synopsis(word);
    } else if (!is_help(word)) {
      more = true;
    }
  }
  text += more ? " [" + slanted("OPTION") + "]..." : "";
  return command.commands.empty() ? text : text + " " + slanted("COMMAND") + " ...";
}

std::string definitions(const Command& command) {
  std::string text;
  for (const auto& word : command.words) {
    if (!is_help(word)) {
      text += ".TP\n" + heading(word) + "\n" + plain(word.about) + "\n";
    }
  }
  return text;
}

std::string sections(const std::string& above, const Command& command) {
  std::string text;
  for (const auto& below : command.commands) {
    const auto path = above + " " + below.name;
    text += ".SS " + synopsis(path, below) + "\n" + plain(below.about) + ".\n" + definitions(below);
    text += sections(path, below);
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app, const ManWords& words) {
  const auto command = usage::read(app);
  auto text = ".TH " + capitals(plain(command.name)) + " 1 \"\" \"Ballast\" \"User Commands\"\n";
  text += ".SH NAME\n" + plain(command.name) + " \\- " + plain(command.about) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command.name, command) + "\n";
  text += ".SH DESCRIPTION\n" + plain(words.about) + "\n";
  text += ".SH OPTIONS\n" + definitions(command) + ".TP\n" + bold("-h") + ", " + bold("--help") +
          "\nprint what there is to say and exit; after a command: of this command\n";
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n" + sections(command.name, command);
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : words.exit_codes) {
    text += ".TP\n" + bold(code) + "\n" + plain(meaning) + "\n";
  }
  text += ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < words.see_also.size(); ++i) {
    text += (i == 0 ? "" : ",\n") + bold(words.see_also[i]);
  }
  return text + "\n";
}

}  // namespace ballast
