#include "tests/reference/update.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/reference/content.h"

namespace ballast::reference {

namespace {

using Floats = std::vector<float>;

float rounded(double value) { return static_cast<float>(value); }

// ---- schedules

double after_warmup(const ScheduleSpec& schedule, double period, double k) {
  if (schedule.name == "step") {
    return std::pow(schedule.decay_rate, std::floor(k / period));
  }
  if (schedule.name == "exponential") {
    return std::pow(schedule.decay_rate, k / period);
  }
  if (schedule.name == "cosine") {
    const double part = k < period ? k / period : 1;
    return schedule.final_rate + (1 - schedule.final_rate) * (1 + std::cos(M_PI * part)) / 2;
  }
  return 1;
}

double schedule_factor(const ScheduleSpec& schedule, std::uint64_t steps, std::uint64_t step) {
  const auto warmup = schedule.warmup_steps;
  if (step < warmup) {
    return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  }
  const auto rest = steps > warmup ? steps - warmup : 0;
  const auto period = std::max<std::uint64_t>(schedule.decay_steps.value_or(rest), 1);
  return after_warmup(schedule, static_cast<double>(period), static_cast<double>(step - warmup));
}

// ---- norms

// Sixteen sums, element i in the one with number i modulo 16, joined as halves, quarters, ...
double sum_of_squares(const float* values, std::size_t count) {
  std::vector<double> sums(16);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    sums[i % 16] += value * value;
  }
  while (sums.size() > 1) {
    const auto half = sums.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      sums[i] += sums[half + i];
    }
    sums.resize(half);
  }
  return sums.front();
}

float norm_scale(double limit, double sum) { return rounded(std::min(1.0, limit / (std::sqrt(sum) + 1e-6))); }

bool descends(Group group) { return group == Group::decay || group == Group::no_decay; }

void multiply(float* values, std::size_t count, float scale) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = values[i] * scale;
  }
}

// A sum for each chunk, in order; padding is zero.
double global_sum(const Arena& arena, const Floats& gradient) {
  double sum = 0;
  for (const auto& chunk : arena.chunks) {
    if (descends(chunk.group)) {
      sum += sum_of_squares(gradient.data() + chunk.offset, chunk.elements);
    }
  }
  return sum;
}

// A sum for each part of the parameter that lies in one chunk, in order.
double tensor_sum(const Arena& arena, const Extent& extent, const Floats& gradient) {
  double sum = 0;
  const auto end = extent.offset + extent.elements;
  for (const auto& chunk : arena.chunks) {
    const auto from = std::max(extent.offset, chunk.offset);
    const auto until = std::min(end, chunk.offset + chunk.elements);
    if (from < until) {
      sum += sum_of_squares(gradient.data() + from, until - from);
    }
  }
  return sum;
}

// Whether the name is the pattern's, in which * stands for any characters.
bool fits(const std::string& pattern, const std::string& name) {
  if (pattern.empty() || name.empty()) {
    return pattern.find_first_not_of('*') == std::string::npos && (name.empty() || !pattern.empty());
  }
  if (pattern[0] == '*') {
    return fits(pattern.substr(1), name) || fits(pattern, name.substr(1));
  }
  return pattern[0] == name[0] && fits(pattern.substr(1), name.substr(1));
}

std::size_t count_states(const OptimizerSpec& optimizer) {
  if (optimizer.name == "adam" || optimizer.name == "adamw" || optimizer.name == "lamb") {
    return 2;
  }
  return (optimizer.name == "sgd" || optimizer.name == "lars" ? 0 : 1) + (optimizer.momentum != 0 ? 1 : 0);
}

std::pair<float, float> lamb_moments(const OptimizerSpec& optimizer, float m, float v, float g) {
  return {rounded(optimizer.beta1) * m + rounded(1 - optimizer.beta1) * g,
          rounded(optimizer.beta2) * v + rounded(1 - optimizer.beta2) * g * g};
}

// base^exponent: between rounds as the library has it, within slots as so many factors.
double power(double base, std::uint64_t exponent, bool within_slots) {
  if (!within_slots) {
    return std::pow(base, static_cast<double>(exponent));
  }
  double product = 1;
  for (std::uint64_t i = 0; i < exponent; ++i) {
    product *= base;
  }
  return product;
}

}  // namespace

Update::Update(const Job& job)
    : Update(job, {job.spec.training.optimizer, job.spec.training.schedule,
                   job.spec.training.mode == Mode::local ? ClipSpec{} : job.spec.training.clip, false,
                   job.spec.training.mode == Mode::local ? std::vector<ParameterGroup>{}
                                                         : job.spec.training.parameter_groups,
                   job.spec.training.weight_average}) {}

Update Update::of_local_steps(const Job& job) {
  const auto& training = job.spec.training;
  Rules rules;
  rules.optimizer = training.local.optimizer;
  rules.clip = training.clip;
  rules.within_slots = true;
  rules.groups = training.parameter_groups;
  return {job, std::move(rules)};
}

Update::Update(const Job& job, Rules rules)
    : job_(job),
      rules_(std::move(rules)),
      kind_(kind_of(rules_.optimizer)),
      epsilon_(rounded(epsilon_of(rules_.optimizer))),
      states_(count_states(rules_.optimizer)),
      state_(states_, Floats(job.arena.elements)) {
  if (kind_ == Kind::adagrad) {
    std::fill(state_[0].begin(), state_[0].end(), rounded(rules_.optimizer.initial_accumulator));
  }
  if (rules_.average.decay) {
    state_.push_back(initial_weights(job));
  }
}

Update::Kind Update::kind_of(const OptimizerSpec& optimizer) {
  static const std::map<std::string, Kind> kKinds = {
      {"sgd", Kind::sgd},         {"adam", Kind::adam}, {"adamw", Kind::adamw}, {"adagrad", Kind::adagrad},
      {"rmsprop", Kind::rmsprop}, {"lars", Kind::lars}, {"lamb", Kind::lamb}};
  return kKinds.at(optimizer.name);
}

// torch.lerp(average, weights, 1 - decay), element by element.
void Update::average(std::uint64_t version, const Floats& weights) {
  if (!rules_.average.decay) {
    return;
  }
  auto& values = state_.back();
  const bool has_begun = version > rules_.average.begins_at_step.value_or(1);
  const float share = rounded(1 - *rules_.average.decay);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float way = weights[i] - values[i];
    const float moved = share < 0.5F ? values[i] + share * way : weights[i] - way * (1.0F - share);
    values[i] = has_begun ? moved : weights[i];
  }
}

Floats Update::evaluated(const Floats& weights) const {
  auto evaluated = weights;
  for (std::size_t p = 0; p < job_.arena.parameters.size() && rules_.average.decay; ++p) {
    const auto& extent = job_.arena.extents[p];
    if (descends(job_.arena.parameters[p].group)) {
      std::copy_n(state_.back().begin() + static_cast<std::ptrdiff_t>(extent.offset), extent.elements,
                  evaluated.begin() + static_cast<std::ptrdiff_t>(extent.offset));
    }
  }
  return evaluated;
}

Update::Rates Update::rates(std::uint64_t step, std::uint64_t updates_before) const {
  const auto& optimizer = rules_.optimizer;
  const double rate = optimizer.learning_rate * schedule_factor(rules_.schedule, job_.steps.steps, step);
  const auto t = updates_before + 1;
  const double in_step = kind_ == Kind::lamb ? 1 : rate;
  return {rounded(rate), rounded(in_step / (1 - power(optimizer.beta1, t, rules_.within_slots))),
          rounded(std::sqrt(1 - power(optimizer.beta2, t, rules_.within_slots)))};
}

void Update::clip(Floats& gradient) const {
  const auto& clip = rules_.clip;
  const auto& arena = job_.arena;
  const float whole = clip.global_norm ? norm_scale(*clip.global_norm, global_sum(arena, gradient)) : 1.0F;
  for (std::size_t p = 0; p < arena.parameters.size(); ++p) {
    if (!descends(arena.parameters[p].group)) {
      continue;
    }
    const auto& extent = arena.extents[p];
    auto* values = gradient.data() + extent.offset;
    multiply(values, extent.elements,
             clip.tensor_norm ? norm_scale(*clip.tensor_norm, tensor_sum(arena, extent, gradient)) : whole);
    if (clip.value) {
      const auto limit = rounded(*clip.value);
      std::transform(values, values + extent.elements, values,
                     [limit](float g) { return std::clamp(g, -limit, limit); });
    }
  }
}

void Update::apply(std::uint64_t step, std::uint64_t updates_before, Floats& gradient, Floats& weights) {
  clip(gradient);
  const auto rates = this->rates(step, updates_before);
  descend(0, job_.arena.elements, rates, {}, ratios(rates, gradient, weights), gradient, weights);
  average(step + 1, weights);
}

void Update::apply_to_chunk(const Chunk& chunk, std::uint64_t step, std::uint64_t updates_before, const Item& item,
                            Floats& gradient, Floats& weights) {
  if (rules_.clip.global_norm || rules_.clip.tensor_norm) {
    throw std::runtime_error("updates of single chunks are not clipped by norm here");
  }
  if (is_by_trust()) {
    throw std::runtime_error("updates of single chunks have no trust ratios");
  }
  clip(gradient);
  auto rates = this->rates(step, updates_before);
  rates.learning_rate /= item.damping;
  rates.step_size /= item.damping;
  descend(chunk.offset, chunk.offset + chunk.elements, rates, item, Floats(job_.arena.parameters.size(), 1.0F),
          gradient, weights);
}

Update::Settings Update::settings_of(const Parameter& parameter) const {
  Settings settings{1, parameter.group == Group::decay ? rules_.optimizer.weight_decay : 0};
  for (const auto& group : rules_.groups) {
    if (fits(group.match, parameter.name)) {
      settings.rate = rounded(group.learning_rate);
      settings.decay = group.weight_decay.value_or(settings.decay);
      settings.has_ratio = group.trust_ratio.value_or(true);
      break;
    }
  }
  return settings;
}

// Of an element of state. What is `made` of it is a change in a round's root; elsewhere a statistic, if it has a
// momentum; else an item's change, or within slots its new value.
float Update::changed(const Parameter& parameter, float w, float made, const Item& item) const {
  const bool is_statistic = parameter.momentum != 0 && (rules_.within_slots || is_item_mode(job_.spec.training.mode));
  if (!item.has_examples) {
    return w;
  }
  if (is_statistic) {
    return w + parameter.momentum * (made - w);
  }
  return rules_.within_slots ? made : w + 1.0F / item.staleness * made;
}

// By the squares of each part of the parameter that lies in one chunk, in order.
Floats Update::ratios(const Rates& rates, const Floats& gradient, const Floats& weights) const {
  const auto& arena = job_.arena;
  const auto& optimizer = rules_.optimizer;
  Floats factors(arena.parameters.size(), 1.0F);
  for (std::size_t p = 0; p < factors.size() && is_by_trust(); ++p) {
    const auto settings = settings_of(arena.parameters[p]);
    if (!descends(arena.parameters[p].group) || !settings.has_ratio) {
      continue;
    }
    auto update = gradient;
    const auto [offset, elements] = arena.extents[p];
    for (auto i = offset; kind_ == Kind::lamb && i < offset + elements; ++i) {
      const auto [m, v] = lamb_moments(optimizer, state_[0][i], state_[1][i], gradient[i]);
      update[i] = lamb_update(weights[i], m, v, rates, settings.decay);
    }
    const double w = std::sqrt(tensor_sum(arena, arena.extents[p], weights));
    const double u = std::sqrt(tensor_sum(arena, arena.extents[p], update));
    if (w == 0 || u == 0) {
      continue;
    }
    factors[p] = rounded(kind_ == Kind::lamb
                             ? w / u
                             : optimizer.trust_coefficient * w / (u + settings.decay * w + epsilon_of(optimizer)));
  }
  return factors;
}

float Update::lamb_update(float w, float m, float v, const Rates& rates, double decay) const {
  return m * rates.step_size / (std::sqrt(v) / rates.root + epsilon_) + rounded(decay) * w;
}

// Elements [begin, end) of the arena.
void Update::descend(std::size_t begin, std::size_t end, const Rates& rates, const Item& item, const Floats& ratios,
                     const Floats& gradient, Floats& weights) {
  for (std::size_t p = 0; p < job_.arena.parameters.size(); ++p) {
    const auto& parameter = job_.arena.parameters[p];
    const auto [offset, elements] = job_.arena.extents[p];
    const auto settings = settings_of(parameter);
    const auto decay = settings.decay;
    auto own = rates;
    own.learning_rate *= settings.rate;
    own.learning_rate *= ratios[p];
    own.step_size *= kind_ == Kind::lamb ? 1.0F : settings.rate;
    const auto until = std::min<std::size_t>(end, offset + elements);
    for (auto i = std::max<std::size_t>(begin, offset); i < until; ++i) {
      float w = weights[i];
      float g = gradient[i];
      if (parameter.group == Group::state) {
        weights[i] = changed(parameter, w, g, item);
        continue;
      }
      if (is_by_trust()) {
        weights[i] = next_by_trust(i, w, g, own, decay);
        continue;
      }
      if (kind_ == Kind::adamw) {
        w = w * rounded(1 - static_cast<double>(own.learning_rate) * decay);
      } else if (decay != 0) {
        g = g + rounded(decay) * w;
      }
      weights[i] = next(i, w, g, own);
    }
  }
}

// `rates.learning_rate` has the ratio in it.
float Update::next_by_trust(std::size_t i, float w, float g, const Rates& rates, double decay) {
  const auto& optimizer = rules_.optimizer;
  if (kind_ == Kind::lamb) {
    const auto [m, v] = lamb_moments(optimizer, state_[0][i], state_[1][i], g);
    state_[0][i] = m;
    state_[1][i] = v;
    return w - rates.learning_rate * lamb_update(w, m, v, rates, decay);
  }
  float way = rates.learning_rate * (decay != 0 ? g + rounded(decay) * w : g);
  if (optimizer.momentum != 0) {
    auto& b = state_[0][i];
    b = rounded(optimizer.momentum) * b + way;
    way = b;
  }
  return w - way;
}

// torch.optim's single-tensor forms, dampening 0, without amsgrad, centering and lr_decay.
float Update::next(std::size_t i, float w, float g, const Rates& rates) {
  const auto& optimizer = rules_.optimizer;
  const auto mu = rounded(optimizer.momentum);
  float d = g;
  if (kind_ == Kind::adam || kind_ == Kind::adamw) {
    auto& m = state_[0][i];
    auto& v = state_[1][i];
    m = rounded(optimizer.beta1) * m + rounded(1 - optimizer.beta1) * g;
    v = rounded(optimizer.beta2) * v + rounded(1 - optimizer.beta2) * g * g;
    return w - rates.step_size * (m / (std::sqrt(v) / rates.root + epsilon_));
  }
  if (kind_ == Kind::adagrad) {
    auto& s = state_[0][i];
    s = s + g * g;
    d = g / (std::sqrt(s) + epsilon_);
  } else if (kind_ == Kind::rmsprop) {
    auto& s = state_[0][i];
    s = rounded(optimizer.alpha) * s + rounded(1 - optimizer.alpha) * g * g;
    d = g / (std::sqrt(s) + epsilon_);
  }
  if (mu != 0) {
    auto& b = state_[states_ - 1][i];
    b = mu * b + d;
    d = optimizer.nesterov ? d + mu * b : b;
  }
  return w - rates.learning_rate * d;
}

}  // namespace ballast::reference
