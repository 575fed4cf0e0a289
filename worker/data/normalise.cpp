#include "worker/data/normalise.h"

#include <algorithm>
#include <iterator>

#include "common/job/model_parameters.h"
#include "common/job/words.h"

namespace ballast {
namespace {

std::string numbers_text(const std::vector<float>& numbers) {
  std::vector<std::string> texts;
  std::ranges::transform(numbers, std::back_inserter(texts), float_text);
  return "[" + comma_list(texts) + "]";
}

}  // namespace

Normalisation::Normalisation(std::span<const double> means, std::span<const double> deviations)
    : tables_(means.size()) {
  for (std::size_t channel = 0; channel < means.size(); ++channel) {
    means_.push_back(static_cast<float>(means[channel]));
    deviations_.push_back(static_cast<float>(deviations[channel]));
    for (std::size_t value = 0; value < tables_[channel].size(); ++value) {
      tables_[channel][value] = (static_cast<float>(value) / 255.0F - means_[channel]) / deviations_[channel];
    }
  }
}

void Normalisation::apply(std::span<const std::uint8_t> pixels, std::span<float> features) const {
  const std::size_t plane = pixels.size() / channels();
  for (std::size_t channel = 0; channel < channels(); ++channel) {
    const auto& table = tables_[channel];
    for (std::size_t i = channel * plane; i < (channel + 1) * plane; ++i) {
      features[i] = table[pixels[i]];
    }
  }
}

std::string Normalisation::formula() const {
  return "(x / 255 - mean) / deviation, mean " + numbers_text(means_) + ", deviation " + numbers_text(deviations_);
}

Normalisation normalisation_of(const DataSpec& data) {
  const bool digits = data.name == "mnist" || data.name == "glyphs";
  const auto channels = example_shape(data).channels;
  const auto or_usual = [&](const std::vector<double>& given, double usual) {
    return given.empty() ? std::vector<double>(channels, usual) : given;
  };
  return {or_usual(data.mean, digits ? 0.1307 : 0), or_usual(data.deviation, digits ? 0.3081 : 1)};
}

}  // namespace ballast
