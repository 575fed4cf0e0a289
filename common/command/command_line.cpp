#include "common/command/command_line.h"

#include <algorithm>
#include <cstdio>

#include "common/job/words.h"
#include "common/log/levels.h"
#include "common/text/endpoint.h"
#include "common/version/version.h"

namespace ballast {

namespace {

using Words = std::vector<std::string>;

// "ballast run"
std::string name_of(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : name_of(*parent) + " " + app.get_name();
}

std::string help_of(const CLI::App& app) { return "`" + name_of(app) + " --help` lists them"; }

// As they are typed, but for those that are for tests.
Words option_names(const CLI::App& app) {
  Words names;
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const auto& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

Words command_names(const CLI::App& app) {
  Words names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// "--workers" of "--workers=3", "-o" of "-oFILE".
std::string option_of(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

std::string unknown(const std::string& what, const std::string& typed, const CLI::App& app, const Words& known) {
  const auto meant = nearest(typed, known);
  return "unknown " + what + " " + shown(typed) + " of `" + name_of(app) + "`; " +
         (meant.empty() ? help_of(app) : "did you mean " + meant + "?");
}

bool has_separate_value(const CLI::Option& option, const std::string& word) {
  return option.get_items_expected_max() > 0 && option_of(word) == word;
}

}  // namespace

std::string unknown_word(const CLI::App& app, const Words& words) {
  const CLI::App* current = &app;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto& word = words[i];
    if (word.size() > 1 && word.front() == '-') {
      const auto* option = current->get_option_no_throw(option_of(word));
      if (option == nullptr) {
        return unknown("option", option_of(word), *current, option_names(*current));
      }
      i += has_separate_value(*option, word) ? 1 : 0;
      continue;
    }
    const auto commands = command_names(*current);
    if (commands.empty()) {
      continue;
    }
    if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
      return unknown("command", word, *current, commands);
    }
    current = current->get_subcommand(word);
  }
  return {};
}

namespace {

int tell(const CLI::App& app, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", name_of(app).c_str(), text.c_str());
  return kExitUsage;
}

const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

// CLI11 names what is too much in the opposite order.
std::string too_much(const CLI::App& app) {
  std::string text = "there is too much on the command line:";
  for (const auto& word : app.remaining(true)) {
    text += " " + shown(word);
  }
  return text;
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  app.set_version_flag("--version", app.get_name() + " " + version(), "say which Ballast this is");
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::RuntimeError& ended) {  // of an option that does all there is to do
    return ended.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (const auto text = unknown_word(app, {argv + 1, argv + argc}); !text.empty()) {
      return tell(app, text);
    }
    const auto& where = deepest(app);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      return tell(where, too_much(app) + "; " + "`" + name_of(where) + " --help` tells what it takes");
    }
    return tell(where, std::string(error.what()) + "; `" + name_of(where) + " --help` tells more");
  }
}

CLI::Option* add_log_level(CLI::App& app, std::string& level) {
  return app.add_option("--log-level", level, "least important lines that are logged")
      ->check(CLI::IsMember(Words{kLogLevelNames.begin(), kLogLevelNames.end()}));
}

CLI::Option* add_log_megabytes(CLI::App& app, std::uint64_t& megabytes) {
  return app.add_option("--log-megabytes", megabytes, "put a larger log file aside as FILE.1; 0: never")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}));
}

CLI::Option* add_log_files(CLI::App& app, std::uint32_t& files) {
  return app.add_option("--log-files", files, "how many log files are kept, the newest included")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000}));
}

CLI::Option* add_unfinished_code(CLI::App& app, int& code) {
  return app
      .add_option("--unfinished-code", code,
                  "exit code when it ended well without the job's end: it was told to (SIGTERM, SIGINT), or "
                  "--lead-patience was over (default 0)")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
}

CLI::Option* add_lead_patience(CLI::App& app, std::uint32_t& seconds, const std::string& description) {
  return app.add_option("--lead-patience", seconds, description)
      ->type_name("SECONDS")
      ->check(CLI::Range(std::uint32_t{0}, std::uint32_t{604'800}));
}

std::string check_endpoint(const std::string& text) { return endpoint_fault(text); }
std::string check_bind(const std::string& text) { return bind_fault(text); }
std::string check_host_port(const std::string& text) { return host_port_fault(text); }
std::string check_host(const std::string& text) { return host_fault(text); }

}  // namespace ballast
