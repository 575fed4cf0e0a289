#include "cli/rendering/policies.h"

#include <string>

#include "cli/rendering/pods.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

Json named(const RenderedJob& rendered, const std::string& suffix) {
  return {{"name", rendered.name + suffix}, {"labels", job_labels(rendered)}};
}

Json matching(const Json& labels) { return {{"matchLabels", labels}}; }

// One server at a time: a number of pods, for budgets in shares need a controller with a scale, which Jobs have not.
// Of a single shard no server is held back: to be ended is cheap.
Json budget(const RenderedJob& rendered) {
  return {{"apiVersion", "policy/v1"},
          {"kind", "PodDisruptionBudget"},
          {"metadata", named(rendered, "-servers")},
          {"spec", {{"minAvailable", rendered.shards() - 1}, {"selector", matching(server_labels(rendered))}}}};
}

Json tcp(std::uint32_t number) { return {{"protocol", "TCP"}, {"port", number}}; }

Json from_prometheus(const RenderedJob& rendered) {
  const Json prometheus = {
      {"namespaceSelector", matching({{"kubernetes.io/metadata.name", rendered.options.prometheus_namespace}})}};
  return {{"from", Json::array({prometheus})}, {"ports", Json::array({tcp(kMetricsPort)})}};
}

Json from_own_pods(const RenderedJob& rendered) {
  Json ports = Json::array({tcp(kLeadPort)});
  for (std::uint32_t lane = 0; lane < rendered.lanes(); ++lane) {
    ports.push_back(tcp(kLanePort + lane));
  }
  const Json own = {{"podSelector", matching(job_labels(rendered))}};
  return {{"from", Json::array({own})}, {"ports", ports}};
}

Json network_policy(const RenderedJob& rendered, const std::string& suffix, const Json& labels, const Json& ingress) {
  return {
      {"apiVersion", "networking.k8s.io/v1"},
      {"kind", "NetworkPolicy"},
      {"metadata", named(rendered, suffix)},
      {"spec", {{"podSelector", matching(labels)}, {"policyTypes", Json::array({"Ingress"})}, {"ingress", ingress}}}};
}

Json monitor_of(const RenderedJob& rendered, const std::string& kind, const std::string& suffix,
                const std::string& endpoints, const Json& labels) {
  const Json endpoint = {{"port", "metrics"}, {"interval", "5s"}};
  return {{"apiVersion", "monitoring.coreos.com/v1"},
          {"kind", kind},
          {"metadata", named(rendered, suffix)},
          {"spec", {{"selector", matching(labels)}, {endpoints, Json::array({endpoint})}}}};
}

}  // namespace

std::vector<Json> policies(const RenderedJob& rendered) {
  return {budget(rendered),
          network_policy(rendered, "-servers", server_labels(rendered),
                         Json::array({from_own_pods(rendered), from_prometheus(rendered)})),
          network_policy(rendered, "-workers", worker_labels(rendered), Json::array({from_prometheus(rendered)}))};
}

std::vector<Json> monitors(const RenderedJob& rendered) {
  return {monitor_of(rendered, "ServiceMonitor", "-servers", "endpoints", server_labels(rendered)),
          monitor_of(rendered, "PodMonitor", "-workers", "podMetricsEndpoints", worker_labels(rendered))};
}

}  // namespace ballast
