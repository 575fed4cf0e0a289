// Objects as YAML that readers of YAML 1.1 (Kubernetes, Compose) and 1.2 take alike.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ballast {

// One document, its keys in their order. Texts that a reader could take for something else ("1", "no", "143") are in
// quotes; texts of several lines are literal blocks.
std::string yaml_text(const nlohmann::ordered_json& object);

// Documents, each behind a line of three hyphens.
std::string yaml_documents(const std::vector<nlohmann::ordered_json>& objects);

}  // namespace ballast
