#include "cli/rendering/object_names.h"

#include <doctest/doctest.h>

#include <string>

#include "common/command/usage_error.h"

namespace ballast {
namespace {

std::string refusal_of(const std::string& job) {
  try {
    return "taken as " + object_name_of_job(job);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST_CASE("a job's name becomes one that Services may have") {
  CHECK(object_name_of_job("mnist-lenet5") == "mnist-lenet5");
  CHECK(object_name_of_job("mnist_lenet.5") == "mnist-lenet-5");
  CHECK(object_name_of_job("20news") == "job-20news");
  CHECK(object_name_of_job("a-_.") == "a");
  CHECK(object_name_of_job("0-") == "job-0");
}

TEST_CASE("a job's name that is too long is refused, with the way out") {
  CHECK(object_name_of_job(std::string(kLongestObjectName, 'a')).size() == kLongestObjectName);
  const auto refusal = refusal_of(std::string(kLongestObjectName + 1, 'a'));
  CHECK(refusal.find("54 characters") != std::string::npos);
  CHECK(refusal.find("--name NAME") != std::string::npos);
  // "job-" comes before it.
  CHECK(refusal_of(std::string(kLongestObjectName - 3, '7')).find("--name NAME") != std::string::npos);
}

TEST_CASE(
    "no name that is made of a base has more than 63 characters, with what Kubernetes puts behind a pod's aside") {
  const std::string longest(kLongestObjectName, 'a');
  CHECK(shard_object_name(longest, 63).size() <= 63);
  CHECK((longest + "-workers").size() <= 63);
  CHECK((longest + "-weights").size() <= 63);
}

TEST_CASE("a name that was typed is taken as it is, or refused") {
  CHECK(checked_object_name("mnist-2") == "mnist-2");
  for (const std::string name : {"", "2mnist", "Mnist", "mnist_2", "mnist-", "-mnist", "mnist.2"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(checked_object_name(name), UsageError);
  }
  CHECK_THROWS_AS(checked_object_name(std::string(kLongestObjectName + 1, 'a')), UsageError);
}

TEST_CASE("the variable of a Service is its name in capitals") {
  CHECK(service_host_variable("mnist-2-shard-0") == "$(MNIST_2_SHARD_0_SERVICE_HOST)");
}

}  // namespace
}  // namespace ballast
