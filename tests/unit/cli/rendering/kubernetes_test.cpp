#include "cli/rendering/kubernetes.h"

#include <doctest/doctest.h>

#include <map>

#include "cli/before/resources.h"
#include "cli/rendering/pods.h"
#include "cli/rendering/render_commands.h"
#include "common/job/load.h"
#include "tests/unit/cli/rendering/rendered.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

Json pod_of(const Json& job) { return job["spec"]["template"]["spec"]; }
Json container_of(const Json& job) { return pod_of(job)["containers"][0]; }

TEST_CASE("a job becomes a file, and of each shard a Service, a claim and a Job; its workers are one Job") {
  std::map<std::string, int> counts;
  for (const auto& object : JobToRender().objects()) {
    counts[object["kind"].get<std::string>()] += 1;
  }
  CHECK(counts == std::map<std::string, int>{{"ConfigMap", 1},
                                             {"Service", 2},
                                             {"PersistentVolumeClaim", 2},
                                             {"PodDisruptionBudget", 1},
                                             {"NetworkPolicy", 2},
                                             {"Job", 3}});
}

TEST_CASE("pods come after the Services whose variables they may need") {
  const auto objects = JobToRender().objects();
  const auto is = [](const std::string& kind) { return [kind](const Json& object) { return object["kind"] == kind; }; };
  const auto first_job = std::ranges::find_if(objects, is("Job"));
  CHECK(std::find_if(first_job, objects.end(), is("Service")) == objects.end());
}

TEST_CASE("the job file that servers read is the same job") {
  const JobToRender million;
  const auto text = million.object("ConfigMap", "million-floats-job")["data"]["job.yaml"].get<std::string>();
  CHECK(make_job(parse_job(text, "map")).spec_digest == make_job(load_job(million.options.job)).spec_digest);
}

TEST_CASE("a shard's Job restarts what dies, and ends with its server") {
  const auto job = JobToRender().object("Job", "million-floats-shard-1");
  CHECK(job["spec"]["completions"] == 1);
  CHECK(pod_of(job)["restartPolicy"] == "OnFailure");
  CHECK(has_argument(container_of(job), "--unfinished-code=143"));
}

TEST_CASE("the workers' Job makes no new ones once one of them has seen the end") {
  const auto job = JobToRender().object("Job", "million-floats-workers");
  CHECK(job["spec"]["parallelism"] == 3);
  CHECK(!job["spec"].contains("completions"));
  CHECK(pod_of(job)["restartPolicy"] == "Never");
  CHECK(has_argument(container_of(job), "--unfinished-code=143"));
}

TEST_CASE("the lead stays longer than a worker's pod takes to start, and workers wait longer than that") {
  CHECK(has_argument(container_of(JobToRender().object("Job", "million-floats-shard-0")), "--linger=120"));
  CHECK(has_argument(container_of(JobToRender().object("Job", "million-floats-workers")), "--lead-patience=300"));
  CHECK(kLinger + kLeadPatience + RenderedJob::worker_grace() < 600);  // ten minutes after the end nothing runs
}

TEST_CASE("all servers but the lead's own give up a lead that is away for long") {
  const JobToRender million;
  CHECK(has_argument(container_of(million.object("Job", "million-floats-shard-1")), "--lead-patience=300"));
  CHECK(!has_argument(container_of(million.object("Job", "million-floats-shard-0")), "--lead-patience=300"));
  CHECK(!has_argument(container_of(million.object("Job", "million-floats-shard-1")), "--linger=120"));
}

TEST_CASE("a server has the time of its patience, and then some, before it is killed") {
  JobToRender million;
  CHECK(pod_of(million.object("Job", "million-floats-shard-0"))["terminationGracePeriodSeconds"] == 70);
  million.options.overrides = {"cluster.stop_patience=30"};
  CHECK(pod_of(million.object("Job", "million-floats-shard-0"))["terminationGracePeriodSeconds"] == 50);
}

TEST_CASE("what a container may take follows from the plan") {
  const JobToRender million;
  const auto planned = resources_of(make_job(load_job(million.options.job)));
  const auto sizes = million.rendered().sizes;
  CHECK(sizes.server.request >= total(planned.shards[0].memory).usual);
  // A server that has no room for what it cuts connections for is killed first.
  const auto most = total(planned.shards[0].memory).most + planned.shards[0].unended.most;
  CHECK(sizes.server.limit >= most + most / 4);
  CHECK(sizes.server.limit < 2 * most);
  CHECK(sizes.worker.limit >= total(planned.workers[0].memory).most);
  CHECK(sizes.disk >= total(planned.shards[0].disk).most);
  const auto resources = container_of(million.object("Job", "million-floats-shard-0"))["resources"];
  CHECK(resources["requests"]["memory"] == quantity_text(sizes.server.request));
  CHECK(resources["limits"]["memory"] == quantity_text(sizes.server.limit));
  CHECK(!resources["limits"].contains("cpu"));
}

TEST_CASE("a worker's memory has room for activations, or is what was said") {
  JobToRender mnist(JobToRender::kMnist);
  mnist.options.data = "mnist-files";
  const auto planned = mnist.rendered().sizes.worker;
  CHECK(planned.limit > kActivationBytes);
  CHECK(planned.request < kActivationBytes);
  mnist.options.worker_memory = 3ULL << 30;
  CHECK(mnist.rendered().sizes.worker.limit == 3ULL << 30);
  mnist.options.worker_memory = 1ULL << 20;
  CHECK(mnist.rendered().sizes.worker.request == 1ULL << 20);
}

TEST_CASE("peers are names, or variables of their Services") {
  JobToRender million;
  const auto host_of = [&million](const std::string& object, std::size_t index) {
    return container_of(million.object("Job", object))["env"][index]["value"].get<std::string>();
  };
  CHECK(host_of("million-floats-workers", 0) == "million-floats-shard-0");
  CHECK(host_of("million-floats-shard-1", 1) == "million-floats-shard-1");
  million.options.peers = PeerLookup::variables;
  CHECK(host_of("million-floats-workers", 0) == "$(MILLION_FLOATS_SHARD_0_SERVICE_HOST)");
  CHECK(host_of("million-floats-shard-1", 1) == "$(MILLION_FLOATS_SHARD_1_SERVICE_HOST)");
}

TEST_CASE("one server at a time may be evicted; that of a single shard is not held back") {
  JobToRender million;
  CHECK(million.object("PodDisruptionBudget", "million-floats-servers")["spec"]["minAvailable"] == 1);
  million.options.overrides = {"cluster.shards=1"};
  CHECK(million.object("PodDisruptionBudget", "million-floats-servers")["spec"]["minAvailable"] == 0);
}

TEST_CASE("the job's page is for who may forward a port of its pod, and for no other pod") {
  JobToRender million;
  const auto args_of = [&million](const char* shard) {
    return million.object(
        "Job", std::string("million-floats-shard-") + shard)["spec"]["template"]["spec"]["containers"][0]["args"];
  };
  CHECK(has_word(args_of("0"), "--page=127.0.0.1:8080"));
  CHECK(args_of("1").dump().find("--page") == std::string::npos);
  CHECK(page_to_forward(million.rendered()) == "kubectl port-forward job/million-floats-shard-0 8080");
}

TEST_CASE("only the job's own pods reach lead and lanes, and Prometheus reaches metrics") {
  const auto ingress = JobToRender().object("NetworkPolicy", "million-floats-servers")["spec"]["ingress"];
  REQUIRE(ingress.size() == 2);
  CHECK(ingress[0]["from"][0]["podSelector"]["matchLabels"]["app.kubernetes.io/instance"] == "million-floats");
  CHECK(ingress[0]["ports"].size() == 3);  // the lead and two lanes
  CHECK(ingress[1]["ports"] == Json::array({{{"protocol", "TCP"}, {"port", 9100}}}));
}

TEST_CASE("a queue gets Jobs that are suspended, and may start the workers with fewer") {
  JobToRender million;
  million.options.queue = "team-a";
  for (const std::string name : {"million-floats-shard-0", "million-floats-workers"}) {
    const auto job = million.object("Job", name);
    CHECK(job["spec"]["suspend"] == true);
    CHECK(job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a");
    CHECK(!job["spec"]["template"]["metadata"]["labels"].contains("kueue.x-k8s.io/queue-name"));
  }
  CHECK(million.object(
            "Job", "million-floats-workers")["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] == "1");
}

TEST_CASE("workers on GPUs, and on nodes that may go at any time") {
  JobToRender million;
  million.options.gpus = 2;
  million.options.worker_tolerations = {"spot=true:NoSchedule", "burst"};
  million.options.worker_nodes = {"pool=spot"};
  million.options.worker_priority = "low";
  const auto job = million.object("Job", "million-floats-workers");
  CHECK(container_of(job)["image"] == "ballast/worker-cuda:latest");
  CHECK(container_of(job)["resources"]["limits"]["nvidia.com/gpu"] == 2);
  CHECK(has_argument(container_of(job), "--backend=cuda"));
  CHECK(pod_of(job)["tolerations"] ==
        Json::array({{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}},
                     {{"key", "spot"}, {"operator", "Equal"}, {"value", "true"}, {"effect", "NoSchedule"}},
                     {{"key", "burst"}, {"operator", "Exists"}}}));
  CHECK(pod_of(job)["nodeSelector"]["pool"] == "spot");
  CHECK(pod_of(job)["priorityClassName"] == "low");
  CHECK(!pod_of(million.object("Job", "million-floats-shard-0")).contains("tolerations"));
  million.options.worker_tolerations = {"spot:Never"};
  CHECK_THROWS_AS(static_cast<void>(million.objects()), UsageError);
}

TEST_CASE("a job that reads or writes files needs to be told where they are in a cluster") {
  JobToRender mnist(JobToRender::kMnist);
  CHECK(mnist.refusal().find("say --data") != std::string::npos);
  mnist.options.data = "mnist-files";
  CHECK(mnist.refusal() == "it was rendered");
  mnist.options.copies = "copies";
  CHECK(mnist.refusal().find("--copies has no use") != std::string::npos);
  mnist.options.overrides = {"durability.copy_to=/mnt/copies"};
  CHECK(mnist.refusal() == "it was rendered");
  CHECK(container_of(mnist.object("Job", "mnist-shard-0"))["volumeMounts"][4]["mountPath"] == "/mnt/copies");
  mnist.options.overrides = {"durability.copy_to=s3://bucket/x", "durability.s3_endpoint=https://s3.example.org"};
  mnist.options.copies = "";
  mnist.options.s3_secret = "keys";
  CHECK(container_of(mnist.object("Job", "mnist-shard-0"))["env"].size() == 4);
  mnist.options.overrides = {"training.init_from=/home/me/start.safetensors"};
  mnist.options.s3_secret = "";
  CHECK(mnist.refusal().find("say --initial") != std::string::npos);
  mnist.options.initial = "start";
  CHECK(mnist.rendered().job.spec.training.init_from == "/initial/start.safetensors");
}

// The Secret of a pod, and which of its keys the pod sees.
std::vector<std::string> secret_of(const Json& job) {
  const auto pod = pod_of(job);
  std::vector<std::string> found;
  for (const auto& volume : pod["volumes"]) {
    if (volume.contains("secret")) {
      found.push_back(volume["secret"]["secretName"]);
      for (const auto& item : volume["secret"]["items"]) {
        found.push_back(item["path"]);
      }
    }
  }
  return found;
}

TEST_CASE("each pod mounts the Secret of its role, and no other") {
  JobToRender million;
  using Words = std::vector<std::string>;
  for (const std::string name : {"million-floats-shard-0", "million-floats-shard-1"}) {
    const auto server = million.object("Job", name);
    CHECK(secret_of(server) == Words{"million-floats-server-keys", "server.key", "allowed.keys"});
    CHECK(has_argument(container_of(server), "--keys=/keys"));
    CHECK(!has_argument(container_of(server), "--insecure"));
  }
  const auto worker = million.object("Job", "million-floats-workers");
  CHECK(secret_of(worker) == Words{"million-floats-worker-keys", "worker.key"});
  CHECK(has_argument(container_of(worker), "--keys=/keys/worker.key"));
  CHECK(secret_of(weights_job(million.rendered())).empty());
  million.options.server_secret = "team-servers";
  million.options.worker_secret = "team-workers";
  CHECK(secret_of(million.object("Job", "million-floats-shard-1"))[0] == "team-servers");
  CHECK(secret_of(million.object("Job", "million-floats-workers"))[0] == "team-workers");
}

TEST_CASE("servers alone see the Secret with the key of copies, which is nowhere else") {
  JobToRender million;
  million.options.copies = "copies";
  million.options.overrides = {"durability.copy_to=/copies", "durability.copy_key_file=/home/me/copies.key"};
  CHECK(million.refusal().find("durability.copy_key_file: copies are encrypted by the key in a file, "
                               "/home/me/copies.key, which no container has by itself; say --copy-key") == 0);
  million.options.copy_key = "key-of-copies";
  using Words = std::vector<std::string>;
  const auto server = million.object("Job", "million-floats-shard-1");
  CHECK(secret_of(server) ==
        Words{"million-floats-server-keys", "server.key", "allowed.keys", "key-of-copies", "copies.key"});
  const auto mounts = container_of(server)["volumeMounts"];
  CHECK(mounts[mounts.size() - 1] == Json{{"name", "copy-key"}, {"mountPath", "/copy-key"}, {"readOnly", true}});
  CHECK(secret_of(million.object("Job", "million-floats-workers")) ==
        Words{"million-floats-worker-keys", "worker.key"});
  CHECK(million.rendered().job.spec.durability.copy_key_file == "/copy-key/copies.key");
  const auto lines = secrets_to_make(million.rendered());
  CHECK(lines[3] == "ballast keygen --copies copies.key");
  CHECK(lines[4] == "kubectl create secret generic key-of-copies --from-file=copies.key");
  million.options.overrides = {"durability.copy_to=/copies"};
  CHECK(million.refusal().find("--copy-key has no use") != std::string::npos);
}

TEST_CASE("servers alone see the Secret with a bucket's keys in a file, and have none in their environment") {
  JobToRender million;
  million.options.overrides = {"durability.copy_to=s3://bucket/x", "durability.s3_endpoint=https://s3.example.org",
                               "durability.s3_credentials_file=/home/me/.aws/credentials"};
  CHECK(million.refusal().find("durability.s3_credentials_file: servers have the bucket's keys from a file, "
                               "/home/me/.aws/credentials, which no container has by itself; say --s3-credentials") ==
        0);
  million.options.s3_credentials = "keys-of-bucket";
  using Words = std::vector<std::string>;
  const auto server = million.object("Job", "million-floats-shard-1");
  CHECK(secret_of(server) ==
        Words{"million-floats-server-keys", "server.key", "allowed.keys", "keys-of-bucket", "credentials"});
  const auto mounts = container_of(server)["volumeMounts"];
  CHECK(mounts[mounts.size() - 1] ==
        Json{{"name", "s3-credentials"}, {"mountPath", "/s3-credentials"}, {"readOnly", true}});
  CHECK(container_of(server).dump().find("secretKeyRef") == std::string::npos);
  CHECK(secret_of(million.object("Job", "million-floats-workers")) ==
        Words{"million-floats-worker-keys", "worker.key"});
  CHECK(million.rendered().job.spec.durability.s3_credentials_file == "/s3-credentials/credentials");
  CHECK(secrets_to_make(million.rendered()).back() ==
        "kubectl create secret generic keys-of-bucket --from-file=credentials");
  million.options.s3_secret = "keys";
  CHECK(million.refusal().find("--s3-secret has no use: servers have the bucket's keys from a file") == 0);
  million.options.s3_secret.clear();
  million.options.overrides.pop_back();
  CHECK(million.refusal().find("--s3-credentials has no use") == 0);
}

TEST_CASE("a Secret that changes is seen in its pods, whose group alone may read it") {
  const auto pod = pod_of(JobToRender().object("Job", "million-floats-shard-0"));
  const auto& mount = pod["containers"][0]["volumeMounts"][2];
  CHECK(mount == Json{{"name", "keys"}, {"mountPath", "/keys"}, {"readOnly", true}});  // a subPath would stay as it was
  CHECK(pod["volumes"][2]["secret"]["defaultMode"] == 0440);
  CHECK(pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]);
}

TEST_CASE("the lines that make a job's Secrets name what its pods mount") {
  JobToRender million;
  million.options.worker_secret = "team-workers";
  CHECK(secrets_to_make(million.rendered()) ==
        std::vector<std::string>{"ballast keygen keys",
                                 "kubectl create secret generic million-floats-server-keys "
                                 "--from-file=keys/server.key --from-file=keys/allowed.keys",
                                 "kubectl create secret generic team-workers --from-file=keys/worker.key"});
}

TEST_CASE("the weights of a finished job are read from all of its claims") {
  JobToRender million;
  million.options.weights_claim = "models";
  const auto job = weights_job(million.rendered());
  const auto pod = pod_of(job);
  CHECK(pod["initContainers"][0]["args"] ==
        Json::array({"gather", "--link", "--run-dir=/gathered/run", "/shards/0/shard-0", "/shards/1/shard-1"}));
  CHECK(pod["initContainers"][1]["args"] ==
        Json::array({"export", "/gathered/run", "-o", "/weights/million-floats.safetensors"}));
  CHECK(pod["containers"][0]["args"] == Json::array({"digest", "/gathered/run"}));
}

TEST_CASE("sizes are read as Kubernetes writes them") {
  CHECK(parse_quantity("512Mi", "--x") == 512ULL << 20);
  CHECK(parse_quantity("3Gi", "--x") == 3ULL << 30);
  CHECK(parse_quantity("1500000000", "--x") == 1'500'000'000);
  for (const std::string text : {"", "0", "-1", "3G", "Gi", "3 Gi", "99999999999Gi", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_quantity(text, "--x"), UsageError);
  }
}

}  // namespace
}  // namespace ballast
