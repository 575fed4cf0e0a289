// Parts of a pod's specification that say nothing of a job.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ballast {

// What the profile "restricted" of Kubernetes' pod security asks of a pod, without containers; `priority`: of a
// PriorityClass, empty for none.
nlohmann::ordered_json pod_basis(std::uint32_t grace_seconds, const std::string& priority);
// The same of a container; and its root file system is read-only.
nlohmann::ordered_json container_security();

// The one folder that every container may write into: its mount, and its volume.
nlohmann::ordered_json temporary_mount();
nlohmann::ordered_json temporary_volume();

nlohmann::ordered_json mount_of(const std::string& volume, const std::string& path, bool read_only);
nlohmann::ordered_json volume_of_map(const std::string& volume, const std::string& map);
// Only of these of its keys, as files that the pod's group may read.
nlohmann::ordered_json volume_of_secret(const std::string& volume, const std::string& secret,
                                        const std::vector<std::string>& files);
nlohmann::ordered_json volume_of_claim(const std::string& volume, const std::string& claim, bool read_only);

// Of KEY[=VALUE][:EFFECT], as `kubectl taint` writes taints. Throws UsageError.
nlohmann::ordered_json toleration_of(const std::string& text);
// Of KEY=VALUE. Throws UsageError, which names the option.
std::pair<std::string, std::string> key_and_value(const std::string& text, const std::string& option);

}  // namespace ballast
