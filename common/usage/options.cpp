#include <cstdio>

#include "common/usage/usage.h"

namespace ballast {

namespace {

[[noreturn]] void print_and_end(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  throw CLI::Success();
}

}  // namespace

void add_usage_options(CLI::App& app, const ManWords& words) {
  app.add_flag_callback(
      "--man", [&app, words] { print_and_end(man_page(app, words)); }, "print the manual page, in roff");
  app.add_option_function<std::string>(
         "--completion", [&app](const std::string& shell) { print_and_end(completion(app, shell)); },
         "print what completes the words of this command in a shell: bash, zsh or fish")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace ballast
