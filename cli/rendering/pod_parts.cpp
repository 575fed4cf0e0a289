#include "cli/rendering/pod_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/rendering/rendered_job.h"
#include "common/command/usage_error.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kGroupReads = 0440;

}  // namespace

Json pod_basis(std::uint32_t grace_seconds, const std::string& priority) {
  Json spec = {{"terminationGracePeriodSeconds", grace_seconds},
               {"automountServiceAccountToken", false},
               {"securityContext",
                {{"runAsNonRoot", true},
                 {"runAsUser", kImageUser},
                 {"runAsGroup", kImageUser},
                 {"fsGroup", kImageUser},
                 {"fsGroupChangePolicy", "OnRootMismatch"},
                 {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
  if (!priority.empty()) {
    spec["priorityClassName"] = priority;
  }
  return spec;
}

Json container_security() {
  return {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", {{"drop", Json::array({"ALL"})}}}};
}

Json temporary_mount() { return mount_of("tmp", "/tmp", false); }

Json temporary_volume() { return {{"name", "tmp"}, {"emptyDir", {{"sizeLimit", "64Mi"}}}}; }

Json mount_of(const std::string& volume, const std::string& path, bool read_only) {
  Json mount = {{"name", volume}, {"mountPath", path}};
  if (read_only) {
    mount["readOnly"] = true;
  }
  return mount;
}

Json volume_of_map(const std::string& volume, const std::string& map) {
  return {{"name", volume}, {"configMap", {{"name", map}}}};
}

Json volume_of_secret(const std::string& volume, const std::string& secret, const std::vector<std::string>& files) {
  Json items = Json::array();
  for (const auto& file : files) {
    items.push_back({{"key", file}, {"path", file}});
  }
  return {{"name", volume}, {"secret", {{"secretName", secret}, {"defaultMode", kGroupReads}, {"items", items}}}};
}

Json volume_of_claim(const std::string& volume, const std::string& claim, bool read_only) {
  Json source = {{"claimName", claim}};
  if (read_only) {
    source["readOnly"] = true;
  }
  return {{"name", volume}, {"persistentVolumeClaim", source}};
}

Json toleration_of(const std::string& text) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  const auto colon = text.find(':');
  const auto key = text.substr(0, colon);
  const auto equals = key.find('=');
  Json toleration = {{"key", key.substr(0, equals)}};
  if (equals == std::string::npos) {
    toleration["operator"] = "Exists";
  } else {
    toleration["operator"] = "Equal";
    toleration["value"] = key.substr(equals + 1);
  }
  if (colon != std::string::npos) {
    toleration["effect"] = text.substr(colon + 1);
    if (std::ranges::find(kEffects, std::string_view(text).substr(colon + 1)) == kEffects.end()) {
      throw UsageError("--worker-toleration " + text + ": the effect is NoSchedule, PreferNoSchedule or NoExecute");
    }
  }
  if (key.substr(0, equals).empty()) {
    throw UsageError("--worker-toleration " + text + " is not KEY[=VALUE][:EFFECT]");
  }
  return toleration;
}

std::pair<std::string, std::string> key_and_value(const std::string& text, const std::string& option) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(option + " " + text + " is not KEY=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace ballast
