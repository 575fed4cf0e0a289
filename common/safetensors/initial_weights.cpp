#include "common/safetensors/initial_weights.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <utility>

#include "common/arena/initial.h"
#include "common/arena/pieces.h"
#include "common/numeric/sha256.h"

namespace ballast {
namespace {

constexpr std::size_t kDigestPiece = 1U << 18U;  // floats
constexpr std::size_t kDigestDigits = 32;

using safetensors::Header;
using safetensors::Tensor;

std::string shape_text(const auto& shape) {
  std::string text;
  for (const auto extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text.empty() ? "one number" : text;
}

std::string difference(const Parameter& parameter, const Tensor& tensor) {
  if (!std::ranges::equal(parameter.shape, tensor.shape)) {
    return "'" + parameter.name + "' is " + shape_text(tensor.shape) + " in the file and " +
           shape_text(parameter.shape) + " in the model";
  }
  if (!safetensors::is_readable(tensor.dtype)) {
    return "'" + parameter.name + "' is of type " + tensor.dtype + ", which is not read; F32, F16 and BF16 are";
  }
  return {};
}

std::string told(const std::vector<std::string>& sentences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(sentences.size(), kMaxDifferencesTold); ++i) {
    text += "\n  " + sentences[i];
  }
  if (sentences.size() > kMaxDifferencesTold) {
    text += "\n  and " + std::to_string(sentences.size() - kMaxDifferencesTold) + " more";
  }
  return text;
}

}  // namespace

std::vector<std::string> differences(const Header& header, const std::vector<Parameter>& parameters, bool partial) {
  std::unordered_map<std::string_view, const Tensor*> extra;
  for (const auto& tensor : header.tensors) {
    extra.emplace(tensor.name, &tensor);
  }
  std::vector<std::string> sentences;
  const auto found_any = std::ranges::any_of(parameters, [&](const auto& one) { return extra.contains(one.name); });
  for (const auto& parameter : parameters) {
    const auto found = extra.find(parameter.name);
    if (found == extra.end()) {
      if (!partial || !found_any) {
        sentences.push_back("'" + parameter.name + "' (" + shape_text(parameter.shape) + ") is missing from the file");
      }
      continue;
    }
    if (auto text = difference(parameter, *found->second); !text.empty()) {
      sentences.push_back(std::move(text));
    }
    extra.erase(found);
  }
  for (const auto& tensor : header.tensors) {
    if (extra.contains(tensor.name)) {
      sentences.push_back("'" + tensor.name + "' (" + shape_text(tensor.shape) + ") is no parameter of the model");
    }
  }
  return sentences;
}

InitialWeights::InitialWeights(safetensors::Reader reader, const Arena& arena, std::uint64_t seed)
    : reader_(std::move(reader)), arena_(arena), seed_(seed) {
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (const auto& tensor : reader_.header().tensors) {
    by_name.emplace(tensor.name, by_name.size());
  }
  for (const auto& parameter : arena.parameters) {
    const auto found = by_name.find(parameter.name);
    tensors_.push_back(found == by_name.end() ? std::nullopt : std::optional(found->second));
  }
}

StoreResult<InitialWeights> load_initial(const std::filesystem::path& path, const Arena& arena,
                                         std::optional<std::uint64_t> seed) {
  auto reader = safetensors::Reader::open(path);
  if (!reader.ok()) {
    return reader.status();
  }
  const auto sentences = differences(reader.value().header(), arena.parameters, seed.has_value());
  if (!sentences.empty()) {
    return StoreStatus{StoreCode::mismatch, path.string() + ": these are not the weights of the job's model:" +
                                                told(sentences) + "\n  name a file of this model, or another model"};
  }
  return InitialWeights(std::move(reader.value()), arena, seed.value_or(0));
}

StoreStatus InitialWeights::values_of(std::size_t parameter, std::uint64_t first, std::span<float> values) const {
  if (const auto tensor = tensors_[parameter]) {
    return reader_.read(reader_.header().tensors[*tensor], first, values);
  }
  fill_initial(values, arena_.parameters[parameter].initial, seed_, static_cast<std::uint32_t>(parameter), first);
  return {};
}

StoreResult<std::string> InitialWeights::digest(const std::function<bool()>& goes_on) const {
  Sha256 hash;
  std::vector<float> piece;
  for (std::size_t parameter = 0; parameter < tensors_.size(); ++parameter) {
    const std::uint64_t elements = arena_.extents[parameter].elements;
    for (std::uint64_t first = 0; first < elements; first += piece.size()) {
      if (!goes_on()) {
        return StoreStatus{StoreCode::io, path() + ": not read to its end, for the process ends"};
      }
      piece.resize(std::min<std::uint64_t>(elements - first, kDigestPiece));
      if (auto status = values_of(parameter, first, piece); !status.ok()) {
        return status;
      }
      hash.update(std::as_bytes(std::span<const float>(piece)));
    }
  }
  return hash.hex().substr(0, kDigestDigits);
}

StoreResult<std::vector<float>> InitialWeights::chunk(std::uint32_t id) const {
  const auto& chunk = arena_.chunks.at(id);
  std::vector<float> content(chunk.elements);
  for (const auto& piece : pieces_of(arena_, chunk)) {
    const auto values = std::span(content).subspan(piece.offset, piece.elements);
    if (auto status = values_of(piece.parameter, piece.first, values); !status.ok()) {
      return status;
    }
    const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
    if (bad != values.end()) {
      return StoreStatus{StoreCode::mismatch,
                         path() + ": tensor '" + arena_.parameters[piece.parameter].name + "', element " +
                             std::to_string(piece.first + static_cast<std::uint64_t>(bad - values.begin())) +
                             " is infinite or not a number: nothing can be made of such weights"};
    }
  }
  return content;
}

}  // namespace ballast
