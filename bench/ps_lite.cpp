#include "bench/ps_lite.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "bench/pipe.h"
#include "cli/processes/free_port.h"

namespace ballast::bench {

namespace {

// Each process ends with the others, or after a minute more than it is to take.
std::string command_of(const std::string& program, const PsLiteWork& work, double seconds) {
  std::string command =
      "DMLC_NUM_SERVER=1 DMLC_NUM_WORKER=1 DMLC_PS_ROOT_URI=127.0.0.1 DMLC_INTERFACE=lo "
      "DMLC_NODE_HOST=127.0.0.1 KIND=2 DMLC_PS_ROOT_PORT=" +
      std::to_string(free_port());
  command += work.transport == "ipc" ? " DMLC_LOCAL=1" : "";
  command += work.equal ? " SGD=1 COPY=1" : "";
  const auto limit = std::to_string(static_cast<int>(seconds) + 60);
  return command + " sh -c 'for role in scheduler server worker; do DMLC_ROLE=$role timeout " + limit +
         " \"$0\" \"$1\" \"$2\" & done; wait' " + quoted(program) + " " + work.tensors + " " + std::to_string(seconds) +
         " 2>&1";
}

std::optional<double> number_after(const std::string& line, const std::string& word) {
  const auto at = line.find(word + " ");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const double number = std::strtod(line.c_str() + at + word.size() + 1, nullptr);
  return number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

PsLiteSpeed run_ps_lite(const std::string& program, const PsLiteWork& work, double seconds) {
  const auto pipe = pipe_from(command_of(program, work, seconds));
  std::optional<PsLiteSpeed> speed;
  std::string said;
  std::array<char, 4096> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    const std::string line = buffer.data();
    const auto rate = number_after(line, "GB/s");
    if (rate && line.find("pushpull") != std::string::npos) {
      speed = PsLiteSpeed{*rate, number_after(line, "workercpu_ms").value_or(0)};
    }
    said += said.size() < 2000 ? line : "";
  }
  if (!speed) {
    throw std::runtime_error("--ps-lite " + program + ": it said no speed" +
                             (said.empty() ? std::string() : ", but:\n" + said));
  }
  return *speed;
}

}  // namespace ballast::bench
