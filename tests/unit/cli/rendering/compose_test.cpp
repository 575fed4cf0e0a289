#include "cli/rendering/compose.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/rendering/render.h"
#include "common/job/load.h"
#include "tests/unit/cli/rendering/rendered.h"

namespace ballast {
namespace {

TEST_CASE("a compose file has a service for each shard, with a volume of its own, and one for the workers") {
  const auto file = compose_file(JobToRender().rendered());
  CHECK(file["services"].size() == 5);  // and the keys' and the operator's
  CHECK(file["volumes"].size() == 6);
  CHECK(file["services"]["worker"]["scale"] == 3);
  const auto& shard = file["services"]["server-1"];
  CHECK(shard["volumes"] == nlohmann::ordered_json::array({"./job.yaml:/etc/ballast/job.yaml:ro",
                                                           "keys-server:/keys:ro", "shard-1:/var/lib/ballast"}));
  CHECK(shard["restart"] == "on-failure:20");
  CHECK(shard["stop_grace_period"] == "70s");
  CHECK(file["networks"]["job"]["internal"] == true);
  CHECK(has_word(shard["command"], "--lead-patience=900"));
  CHECK(!file.contains("name"));     // Compose v1 refuses it
  CHECK(!file.contains("version"));  // v2 warns of it
}

TEST_CASE(
    "the job's page is served where it is asked for, to this machine alone, by a network that nothing else is in") {
  using Json = nlohmann::ordered_json;
  const auto rendered = JobToRender().rendered();
  const auto file = compose_file(rendered);
  CHECK(file.dump().find("page") == std::string::npos);
  CHECK(file.dump().find("ports") == std::string::npos);
  const auto with_page = compose_page_file(rendered);
  CHECK(with_page["services"].size() == 1);
  const auto& server = with_page["services"]["server-0"];
  CHECK(server.size() == 3);  // all else is as in the other file
  auto command = file["services"]["server-0"]["command"];
  command.push_back("--page=0.0.0.0:8080");
  CHECK(server["command"] == command);
  CHECK(server["ports"] == Json::array({"127.0.0.1:${PAGE_PORT:-8080}:8080"}));
  CHECK(server["networks"] == Json::array({"job", "page"}));
  CHECK(with_page["networks"].size() == 1);
  CHECK(with_page["networks"]["page"]["driver_opts"]["com.docker.network.bridge.enable_ip_masquerade"] == "false");
}

TEST_CASE("limits of a compose file are those of the plan") {
  const auto rendered = JobToRender().rendered();
  const auto file = compose_file(rendered);
  CHECK(file["services"]["server-0"]["mem_limit"] == rendered.sizes.server.limit);
  CHECK(file["services"]["worker"]["mem_limit"] == rendered.sizes.worker.limit);
}

TEST_CASE("a compose file's containers can change nothing but their volumes") {
  const auto file = compose_file(JobToRender().rendered());
  for (const auto& [name, service] : file["services"].items()) {
    CAPTURE(name);
    CHECK(service["read_only"] == true);
    CHECK(service["cap_drop"][0] == "ALL");
    CHECK(service["user"] == "10001:10001");
  }
}

TEST_CASE("each service of a compose file has the keys of its role, and no others") {
  const auto file = compose_file(JobToRender().rendered());
  const auto& services = file["services"];
  const auto keys_of = [&services](const std::string& service) {
    std::vector<std::string> found;
    for (const auto& volume : services[service]["volumes"]) {
      if (volume.get<std::string>().starts_with("keys-")) {
        found.push_back(volume.get<std::string>());
      }
    }
    return found;
  };
  using Volumes = std::vector<std::string>;
  for (const std::string server : {"server-0", "server-1"}) {
    CHECK(keys_of(server) == Volumes{"keys-server:/keys:ro"});
    CHECK(has_word(services[server]["command"], "--keys=/keys"));
  }
  CHECK(keys_of("worker") == Volumes{"keys-worker:/keys:ro"});
  CHECK(has_word(services["worker"]["command"], "--keys=/keys/worker.key"));
  CHECK(keys_of("ballast") == Volumes{"keys-operator:/keys:ro"});
  CHECK(has_word(services["ballast"]["command"], "--keys=/keys/operator.key"));
  CHECK(file.dump().find("--insecure") == std::string::npos);
}

TEST_CASE("keys are made without a network, before who needs them starts") {
  const auto file = compose_file(JobToRender().rendered());
  const auto& keys = file["services"]["keys"];
  CHECK(keys["network_mode"] == "none");
  CHECK(!keys.contains("networks"));
  CHECK(keys["volumes"] == nlohmann::ordered_json::array({"keys-server:/keyring/server", "keys-worker:/keyring/worker",
                                                          "keys-operator:/keyring/operator"}));
  for (const std::string service : {"server-0", "server-1", "worker"}) {
    CHECK(file["services"][service]["depends_on"]["keys"]["condition"] == "service_completed_successfully");
  }
}

TEST_CASE("data, copies and GPUs of a compose file") {
  JobToRender mnist(JobToRender::kMnist);
  mnist.options.data = "/srv/mnist";
  mnist.options.copies = "/srv/copies";
  mnist.options.overrides = {"durability.copy_to=/copies"};
  mnist.options.gpus = 1;
  const auto file = compose_file(mnist.rendered());
  const auto& worker = file["services"]["worker"];
  CHECK(worker["image"] == "ballast/worker-cuda:latest");
  CHECK(worker["volumes"][1] == "/srv/mnist:/data:ro");
  CHECK(worker["deploy"]["resources"]["reservations"]["devices"][0]["count"] == 1);
  CHECK(has_word(worker["command"], "--data=/data"));
  CHECK(file["services"]["server-0"]["volumes"][3] == "/srv/copies:/copies");
  CHECK(file["networks"]["job"]["internal"] == true);
}

TEST_CASE("servers of a compose file, and who restores, see the folder with the key of copies; workers do not") {
  JobToRender job;
  job.options.copies = "copies";
  job.options.copy_key = "/srv/keys";
  job.options.overrides = {"durability.copy_to=/copies", "durability.copy_key_file=/home/me/copies.key"};
  const auto file = compose_file(job.rendered());
  for (const std::string service : {"server-0", "server-1", "ballast"}) {
    CHECK(has_word(file["services"][service]["volumes"], "/srv/keys:/copy-key:ro"));
  }
  for (const std::string service : {"worker", "keys"}) {
    CHECK_FALSE(has_word(file["services"][service]["volumes"], "/srv/keys:/copy-key:ro"));
  }
  CHECK(job.rendered().job.spec.durability.copy_key_file == "/copy-key/copies.key");
}

TEST_CASE("servers of a compose file that copy to a bucket reach it, with the keys of who starts them") {
  JobToRender job;
  job.options.overrides = {"durability.copy_to=s3://bucket/x", "durability.s3_endpoint=https://s3.example.org"};
  const auto file = compose_file(job.rendered());
  CHECK(file["networks"]["job"]["internal"] == false);
  CHECK(file["services"]["server-0"]["environment"][0] == "AWS_ACCESS_KEY_ID");
  CHECK(file["services"]["server-0"]["environment"][1] == "AWS_SECRET_ACCESS_KEY");
  CHECK_FALSE(file["services"]["worker"].contains("environment"));
}

TEST_CASE("servers of a compose file have a bucket's keys from the folder with their file, and none from the shell") {
  JobToRender job;
  job.options.overrides = {"durability.copy_to=s3://bucket/x", "durability.s3_endpoint=https://s3.example.org",
                           "durability.s3_credentials_file=/home/me/.aws/credentials"};
  CHECK(job.refusal().find("durability.s3_credentials_file: servers have the bucket's keys from a file, "
                           "/home/me/.aws/credentials, which no container has by itself; say --s3-credentials") == 0);
  job.options.s3_credentials = "/srv/bucket";
  const auto file = compose_file(job.rendered());
  for (const std::string service : {"server-0", "server-1", "ballast"}) {
    CHECK(has_word(file["services"][service]["volumes"], "/srv/bucket:/s3-credentials:ro"));
    CHECK_FALSE(file["services"][service].contains("environment"));
  }
  for (const std::string service : {"worker", "keys"}) {
    CHECK_FALSE(has_word(file["services"][service]["volumes"], "/srv/bucket:/s3-credentials:ro"));
  }
  CHECK(file["networks"]["job"]["internal"] == false);
  CHECK(job.rendered().job.spec.durability.s3_credentials_file == "/s3-credentials/credentials");
}

TEST_CASE("a compose file's folder has the job beside it, and names folders of this machine in full") {
  JobToRender mnist(JobToRender::kMnist);
  mnist.options.data = "mnist-files";
  const auto folder = std::filesystem::path(mnist.options.job).parent_path() / "made" / "for-compose";
  mnist.options.output = folder.string();
  REQUIRE(render_compose(mnist.options) == 0);
  CHECK(make_job(load_job((folder / "job.yaml").string())).spec_digest == mnist.rendered().job.spec_digest);
  std::ifstream file(folder / "compose.yaml");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(text.find((std::filesystem::current_path() / "mnist-files").string() + ":/data:ro") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "compose.page.yaml"));
}

}  // namespace
}  // namespace ballast
