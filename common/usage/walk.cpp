#include "common/usage/walk.h"

#include <algorithm>
#include <cctype>

namespace ballast::usage {

namespace {

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::toupper(byte)); });
  return text;
}

// "TEXT:{auto,cpu,cuda}" has three; "TEXT" and "UINT:INT in [1 - 3600]" have none.
std::vector<std::string> choices_in(const std::string& type) {
  const auto begin = type.find('{');
  const auto end = type.find('}', begin);
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos) {
    return choices;
  }
  std::size_t from = begin + 1;
  while (from <= end) {
    const auto comma = std::min(type.find(',', from), end);
    choices.push_back(type.substr(from, comma - from));
    from = comma + 1;
  }
  return choices;
}

bool is_number(const std::string& type) {
  return type.starts_with("UINT") || type.starts_with("INT") || type.starts_with("FLOAT");
}

Word read_option(const CLI::Option& option) {
  Word word;
  word.positional = option.get_positional();
  for (const auto& name : option.get_snames()) {
    word.names.push_back("-" + name);
  }
  for (const auto& name : option.get_lnames()) {
    word.names.push_back("--" + name);
  }
  const auto type = option.get_type_name();
  word.choices = choices_in(type);
  if (word.positional) {
    word.names = {option.get_name(true, false)};
    word.value = in_capitals(word.names.front());
    word.takes_path = true;
  } else if (option.get_expected_max() > 0) {
    const auto plain = type.substr(0, type.find(':'));
    word.value = is_number(plain) ? "N" : plain == "TEXT" ? in_capitals(option.get_lnames().front()) : plain;
    word.takes_path = !is_number(plain) && word.choices.empty();
  }
  word.repeated = option.get_expected_max() > 1 || option.get_items_expected_max() > 1 ||
                  option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  word.required = option.get_required();
  word.about = option.get_description();
  return word;
}

}  // namespace

Command read(const CLI::App& app) {
  Command command;
  command.name = app.get_name();
  command.about = app.get_description();
  for (const auto* option : app.get_options()) {
    if (!option->get_group().empty()) {  // else it is hidden
      command.words.push_back(read_option(*option));
    }
  }
  std::stable_partition(command.words.begin(), command.words.end(), [](const Word& word) { return word.positional; });
  for (const auto* below : app.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    if (!below->get_group().empty()) {
      command.commands.push_back(read(*below));
    }
  }
  return command;
}

}  // namespace ballast::usage
