#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/load.h"
#include "common/log/levels.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

std::string worker_error(const std::string& text) {
  try {
    parse_worker(text, "worker.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a worker file") {
  const WorkerSpec spec = parse_worker(
      "lead: tcp://[::1]:7070\ndata_path: /data\nmetrics_address: 0.0.0.0:0\nlog_file: w.log\nlog_level: debug\n"
      "name: box-1\nbackend: cuda\ndevice: 3\n",
      "worker.yaml");
  CHECK(spec.lead == "tcp://[::1]:7070");
  CHECK(spec.data_path == "/data");
  CHECK(spec.metrics_address == "0.0.0.0:0");
  CHECK(spec.log_file == "w.log");
  CHECK(spec.log_level == "debug");
  CHECK(spec.name == "box-1");
  CHECK(spec.backend == "cuda");
  CHECK(spec.device == 3);
  const WorkerSpec defaults = parse_worker("lead: ipc:///run/lead", "worker.yaml");
  CHECK(defaults.log_level == "info");
  CHECK(defaults.backend == "auto");
  CHECK(defaults.device == 0);
}

TEST_CASE("a worker file takes the levels that the log has") {
  for (const auto level : kLogLevelNames) {
    CAPTURE(level);
    CHECK(parse_worker("lead: tcp://h:1\nlog_level: " + std::string(level) + "\n", "worker.yaml").log_level == level);
  }
  CHECK(worker_error("lead: tcp://h:1\nlog_level: trace\n").find("'trace' is not known") != std::string::npos);
}

TEST_CASE("mistakes in worker files") {
  CHECK(worker_error("name: a\n") == "worker.yaml: lead: is missing; e.g. tcp://10.0.0.5:7070");
  const std::string allowed = " is no address; allowed: tcp://host:port, e.g. tcp://10.0.0.5:7070, or ipc://path";
  for (const std::string lead : {"10.0.0.5:7070", "tcp://host", "tcp://:7070", "tcp://host:", "tcp://host:70700",
                                 "tcp://host:-1", "tcp://host:7070x", "ipc://", "udp://host:1", "tcp://a b:1"}) {
    CAPTURE(lead);
    CHECK(worker_error("lead: \"" + lead + "\"\n") == "worker.yaml:1: lead: '" + lead + "'" + allowed);
  }
  CHECK(worker_error("lead: tcp://h:1\nmetrics_address: 9100\n") ==
        "worker.yaml:2: metrics_address: '9100' is no address; allowed: host:port, e.g. 127.0.0.1:9100");
  CHECK(worker_error("lead: tcp://h:1\nlog_level: warning\n") ==
        "worker.yaml:2: log_level: 'warning' is not known; allowed: debug, info, warn, error, off");
  CHECK(worker_error("lead: tcp://h:1\nbackend: gpu\n") ==
        "worker.yaml:2: backend: 'gpu' is not known; allowed: auto, cpu, cuda; did you mean 'cpu'?");
  CHECK(worker_error("lead: tcp://h:1\nnmae: x\n") == "worker.yaml:2: nmae: unknown key; did you mean 'name'?");
  CHECK(worker_error("lead: tcp://h:1\nname: \"a\\nb\"\n") ==
        "worker.yaml:2: name: contains a line break or another control character; remove it");
  CHECK(worker_error("lead: tcp://h:1\nname: ''\n") ==
        "worker.yaml:2: name: is empty; write a value or remove the key");
}

TEST_CASE("overrides of worker files") {
  const std::vector<std::string> overrides = {"lead=tcp://other:1"};
  CHECK(parse_worker("lead: tcp://h:1\n", "worker.yaml", overrides).lead == "tcp://other:1");
}

}  // namespace
}  // namespace ballast::testing
