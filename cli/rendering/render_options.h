// What `ballast render` is told beside the job file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

// How the pods of a job find each other's Services.
enum class PeerLookup : std::uint8_t {
  names,      // by the cluster's DNS; a Service that is made anew is found again
  variables,  // by the environment variables that a pod gets of the Services that are there when it starts
};

struct RenderOptions {
  std::string job;                     // the job file
  std::vector<std::string> overrides;  // key.path=value
  std::string name;                    // of all objects; empty: made of the job's name
  std::string registry = "ballast";    // images are REGISTRY/server:TAG, ...
  std::string tag = "latest";
  std::uint32_t gpus = 0;  // of each worker; 0: it computes on the CPU
  // Bytes that a worker may take; nothing: by the plan, and kActivationBytes for what the plan does not foretell.
  std::optional<std::uint64_t> worker_memory;
  std::string data;     // of jobs that read files. Kubernetes: a claim. Compose: a folder of the host
  std::string copies;   // if durability.copy_to is a folder. Kubernetes: a claim. Compose: a folder of the host
  std::string initial;  // of jobs with training.init_from. Kubernetes: a claim. Compose: a folder of the host
  // Of jobs with durability.copy_key_file, whose name it has there. Kubernetes: a Secret. Compose: a folder of the
  // host.
  std::string copy_key;
  // Of jobs with durability.s3_credentials_file; the same.
  std::string s3_credentials;
  std::string output;               // Kubernetes: a file, empty: standard output. Compose: a folder
  std::string server_cpu = "500m";  // requests, as Kubernetes writes them
  std::string worker_cpu = "1";

  // Kubernetes alone.
  PeerLookup peers = PeerLookup::names;
  std::string storage_class;  // empty: the cluster's own
  std::string s3_secret;      // with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
  std::string server_secret;  // with server.key and allowed.keys; empty: NAME-server-keys
  std::string worker_secret;  // with worker.key; empty: NAME-worker-keys
  std::string server_priority;
  std::string worker_priority;
  std::vector<std::string> worker_tolerations;  // KEY[=VALUE][:EFFECT]
  std::vector<std::string> worker_nodes;        // KEY=VALUE: labels of the nodes that workers run on
  std::string queue;                            // of Kueue
  std::string prometheus_namespace = "monitoring";
  bool monitors = false;  // objects of the Prometheus operator
  bool weights = false;   // the Job that reads the weights of a finished job, and nothing else
  std::string weights_claim;
  bool json = false;  // a List as JSON instead of YAML documents
};

}  // namespace ballast
