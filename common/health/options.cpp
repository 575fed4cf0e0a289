#include "common/health/options.h"

#include <cstdio>

#include "common/text/endpoint.h"

namespace ballast {

namespace {

[[noreturn]] void tell_and_end(const Asked& asked, const std::string& address) {
  const auto health = look_at(asked, address);
  std::printf("%s\n", health.text.c_str());
  throw CLI::RuntimeError(health.good ? 0 : 1);
}

void add_question(CLI::App& app, const char* option, const Asked& asked, const char* description) {
  app.add_option_function<std::string>(
         option, [asked](const std::string& address) { tell_and_end(asked, address); }, description)
      ->type_name("HOST:PORT")
      ->check([](const std::string& text) { return host_port_fault(text); });
}

}  // namespace

void add_health_options(CLI::App& app, Role role) {
  const bool serves = role == Role::server;
  add_question(app, "--health", {role, Question::ready},
               serves ? "say whether the server with this --metrics is well, by 0 or 1: every lane serves"
                      : "say whether the worker with this --metrics is well, by 0 or 1: it hears its lead");
  add_question(app, "--alive", {role, Question::alive},
               "the same, but also while it waits: by 1 only if one of its loops stands still");
}

}  // namespace ballast
