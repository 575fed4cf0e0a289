#include "cli/models/same_job.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/job/differing.h"
#include "common/job/layer_list.h"
#include "common/job/load.h"
#include "common/job/words.h"
#include "common/text/text.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

constexpr std::size_t kLongestValue = 300;  // that a message quotes

std::string line_for_each(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : "\n") + word;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// A value by two sides: the weights' and the job file's.
struct Difference {
  std::string key;
  std::string there;
  std::string here;
};

std::string class_text(const std::vector<std::string>& classes, std::size_t index) {
  return index < classes.size() ? "'" + classes[index] + "'" : "none";
}

// The first class that differs says more than two long lists.
std::optional<Difference> differing_class(const std::vector<std::string>& there, const std::vector<std::string>& here) {
  for (std::size_t i = 0; i < std::max(there.size(), here.size()); ++i) {
    if (class_text(there, i) != class_text(here, i)) {
      return Difference{"classes (data.classes), class " + std::to_string(i), class_text(there, i),
                        class_text(here, i)};
    }
  }
  return std::nullopt;
}

// By what the metadata itself says. What either side does not say is not compared: classes may have no names, and
// another kind of data set may normalise in another way to the same.
std::optional<Difference> differing_metadata(const safetensors::Metadata& there, const safetensors::Metadata& here) {
  for (const auto& [key, value] : here) {
    const auto found = there.find(key);
    if (found == there.end() || found->second == value) {
      continue;
    }
    if (key == "classes") {
      return differing_class(lines_of(found->second), lines_of(value));
    }
    return Difference{key, found->second, value};
  }
  return std::nullopt;
}

std::string column_text(const CsvColumn& column) {
  auto text = std::string(name_of(column.kind)) + " " + shown(column.name);
  if (column.kind == CsvColumn::Kind::category) {
    return text + " of " + std::to_string(column.values.size()) + " values: " + comma_list(column.values);
  }
  return text + ", mean " + number_text(column.mean) + ", deviation " + number_text(column.deviation);
}

// Features and targets in their order; columns that are ignored may differ.
std::vector<CsvColumn> columns_of(const DataSpec& data) {
  auto columns = data.columns;
  std::erase_if(columns, [](const CsvColumn& column) { return column.kind == CsvColumn::Kind::ignored; });
  return columns;
}

std::optional<Difference> differing_column(const DataSpec& there, const DataSpec& here) {
  const auto theirs = columns_of(there);
  const auto ours = columns_of(here);
  const auto text = [](const std::vector<CsvColumn>& columns, std::size_t index) {
    return index < columns.size() ? column_text(columns[index]) : std::string("none");
  };
  for (std::size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    if (i >= theirs.size() || i >= ours.size() || theirs[i] != ours[i]) {
      return Difference{"data.columns, number " + std::to_string(i) + " of those that are not ignored", text(theirs, i),
                        text(ours, i)};
    }
  }
  return std::nullopt;
}

// Keys that change what is computed or how examples are prepared. What of the model only training or the loss knows is
// none of them.
bool is_decisive(const std::string& key) {
  const auto is_one_of = [&](std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* other) { return key == other; });
  };
  if (key.starts_with("model.")) {
    return !is_one_of({"model.dropout", "model.smoothing", "model.class_weights"});
  }
  return key.starts_with("data.strip") || is_one_of({"data.steps", "data.vocabulary", "data.scale", "data.shape",
                                                     "data.outputs", "data.target", "data.tree_labels"});
}

std::string layer_text(const LayerSpec& layer) {
  const auto list = layers_text({layer}, "");
  return list.substr(1, list.size() - 2);  // its brackets
}

// But for what only training knows.
std::string layer_text_undropped(LayerSpec layer) {
  if (auto* const dropout = std::get_if<Dropout>(&layer.layer)) {
    *dropout = {};
  }
  return layer_text(layer);
}

// The first layer that differs by its text says more than two long lists.
template <class Text>
std::optional<Difference> differing_layer(const JobSpec& there, const JobSpec& here, const Text& text_of) {
  const auto& theirs = there.model.layers;
  const auto& ours = here.model.layers;
  const auto text = [&](const std::vector<LayerSpec>& layers, std::size_t index) {
    return index < layers.size() ? text_of(layers[index]) : std::string("none");
  };
  for (std::size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    if (text(theirs, i) != text(ours, i)) {
      return Difference{layer_path(i, (i < theirs.size() ? theirs[i] : ours[i]).name), text(theirs, i), text(ours, i)};
    }
  }
  return std::nullopt;
}

// By all that both effective jobs say.
std::optional<Difference> differing_key(const JobSpec& there, const JobSpec& here,
                                        const std::vector<DifferingKey>& keys) {
  const bool same_kind = there.data.name == here.data.name;
  for (const auto& [key, theirs, ours] : keys) {
    if (key == "model.layers") {
      if (auto layer = differing_layer(there, here, layer_text_undropped)) {
        return layer;
      }
    } else if (is_decisive(key) && (same_kind || key.starts_with("model."))) {
      return Difference{key, theirs, ours};
    }
  }
  return same_kind ? differing_column(there.data, here.data) : std::nullopt;
}

[[noreturn]] void refuse_difference(const WeightsOrigin& origin, const std::string& job_path, const Difference& one) {
  throw std::runtime_error(origin.path + ": its weights come from a job that differs from " + job_path + " in " +
                           one.key + ": " + as_line(one.there, kLongestValue) + " there, " +
                           as_line(one.here, kLongestValue) + " in " + job_path +
                           "; they would be asked as they were not trained, and predict nonsense; " + origin.remedy);
}

std::string text_of_keys(const JobSpec& there, const JobSpec& here, const std::vector<DifferingKey>& keys) {
  std::vector<std::string> texts;
  for (const auto& [key, theirs, ours] : keys) {
    auto one = Difference{key, theirs, ours};
    if (key == "model.layers") {
      one = differing_layer(there, here, layer_text).value_or(one);
    }
    texts.push_back(one.key + " (" + as_line(one.there, kLongestValue) + " there, " + as_line(one.here, kLongestValue) +
                    " here)");
  }
  return comma_list(texts);
}

}  // namespace

safetensors::Metadata example_metadata(const Job& job) {
  safetensors::Metadata metadata;
  const auto& shape = job.shape;
  const auto& data = job.spec.data;
  if (shape.vocabulary > 0) {
    metadata["input"] = "tokens below " + std::to_string(shape.vocabulary) + ", at most " +
                        std::to_string(shape.steps) + (shape.trees ? " nodes of a tree" : " steps");
  } else if (shape.features() > 0) {
    metadata["input"] = example_text({1, shape.channels, shape.height, shape.width, std::max(shape.steps, 1U)});
  }
  if (data.name != "none" && !is_example_files(data)) {
    metadata["normalization"] = normalisation_of(data).formula();
  }
  if (shape.classes > 0) {
    metadata["outputs"] = std::to_string(shape.classes);
  }
  if (!data.classes.empty()) {
    metadata["classes"] = line_for_each(data.classes);
  }
  return metadata;
}

std::string check_same_job(const WeightsOrigin& origin, const Job& job, const std::string& job_path) {
  auto own = example_metadata(job);
  own["model"] = job.spec.model.name;
  if (const auto difference = differing_metadata(origin.metadata, own)) {
    refuse_difference(origin, job_path, *difference);
  }
  if (origin.job_file.empty()) {
    return {};
  }
  std::optional<JobSpec> theirs;
  try {
    theirs = parse_job(origin.job_file, origin.path + " (its job)");
  } catch (const ConfigError& error) {
    return origin.path + ": its job cannot be read by this version (" + error.errors().front() +
           "), so only its metadata was compared with " + job_path;
  }
  const auto keys = differing(*theirs, job.spec);
  if (const auto difference = differing_key(*theirs, job.spec, keys)) {
    refuse_difference(origin, job_path, *difference);
  }
  return keys.empty() ? ""
                      : origin.path + ": its weights come from a job that differs from " + job_path + " in " +
                            text_of_keys(*theirs, job.spec, keys);
}

}  // namespace ballast
