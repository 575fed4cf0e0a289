#include "worker/compute/cpu/channel_norm.h"

#include <algorithm>

#include "worker/compute/cpu/floats.h"

namespace ballast::cpu {
namespace {

// Vectors lie plainly with all channels side by side.
std::size_t side_by_side(const Shape& x, const ChannelLayout& layout) {
  return x.h == 1 && x.w == 1 && layout.inner == 1 ? x.c : layout.inner;
}

std::size_t runs_of_row(const Shape& x, const ChannelLayout& layout) {
  const std::size_t inner = side_by_side(x, layout);
  return (x.c + inner - 1) / inner;
}

// Where all channels lie side by side, all rows are one run for what is over all rows.
Runs runs_of(const Shape& x, const ChannelLayout& layout, NormOver over) {
  const std::size_t of_row = runs_of_row(x, layout);
  const std::size_t plane = std::size_t{x.h} * x.w;
  return of_row == 1 && over == NormOver::all_rows ? Runs{1, x.rows() * plane, side_by_side(x, layout)}
                                                   : Runs{x.rows() * of_row, plane, side_by_side(x, layout)};
}

}  // namespace

ChannelNorm::ChannelNorm(const Context& context, const LayerTask& task, const ChannelLayout& layout, NormOver over,
                         const CpuTensor& y)
    : context_(context),
      channels_(y.shape().c),
      lanes_(runs_of_row(y.shape(), layout) * side_by_side(y.shape(), layout)),
      runs_(runs_of(y.shape(), layout, over)),
      run_sets_(over == NormOver::all_rows ? runs_of_row(y.shape(), layout) : runs_.runs),
      count_(runs_.runs / run_sets_ * runs_.positions),
      x_(context, as_cpu(*task.inputs[0]).value(), y.value().get_desc()),
      y_(y.value()),
      y_gradient_(y.gradient()),
      first_of_pieces_(runs_.pieces() * runs_.lanes),
      second_of_pieces_(first_of_pieces_.size()) {
  for (const ParameterPlace& place : task.parameters) {
    parameters_.push_back(place.extent);
  }
  for (std::vector<float>* by_lane : {&mean, &scale, &shift, &constant, &slope}) {
    by_lane->resize(run_sets_ * runs_.lanes);
  }
  sums_.first.resize(mean.size());
  sums_.second.resize(mean.size());
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  if (x.with_gradient()) {
    x_gradient_ = Outgoing(context, x.gradient(), y.gradient().get_desc());
  }
}

void ChannelNorm::forward() {
  x_.refresh();
  settle();
  normalize_loop(runs_, forward_lanes(), floats(x_.memory()), floats(y_), context_.threads);
}

void ChannelNorm::backward_parameters() {
  norm_sums_loop(runs_, backward_lanes(), floats(x_.memory()), floats(y_gradient_), first_of_pieces_.data(),
                 second_of_pieces_.data(), context_.threads);
  std::ranges::fill(sums_.first, 0);
  std::ranges::fill(sums_.second, 0);
  for_each_lane(first_of_pieces_, [&](std::size_t lane, double sum, double) { sums_.first[lane] += sum; });
  for_each_lane(second_of_pieces_, [&](std::size_t lane, double sum, double) { sums_.second[lane] += sum; });
  settle_gradients(sums_);
}

void ChannelNorm::backward_input() {
  norm_backward_loop(runs_, backward_lanes(), floats(x_.memory()), floats(y_gradient_), floats(x_gradient_.memory()),
                     context_.threads);
  x_gradient_.deliver();
}

// T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances", 1979: of all pieces at once.
const ChannelNorm::Sums& ChannelNorm::find_moments() {
  moments_loop(runs_, floats(x_.memory()), first_of_pieces_.data(), second_of_pieces_.data(), context_.threads);
  std::ranges::fill(sums_.first, 0);
  std::ranges::fill(sums_.second, 0);
  const auto all = static_cast<double>(count_);
  for_each_lane(first_of_pieces_, [&](std::size_t lane, double piece_mean, double positions) {
    sums_.first[lane] += piece_mean * positions / all;
  });
  for_each_lane(first_of_pieces_, [&](std::size_t lane, double piece_mean, double positions) {
    const double difference = piece_mean - sums_.first[lane];
    sums_.second[lane] += difference * difference * positions;
  });
  for_each_lane(second_of_pieces_, [&](std::size_t lane, double squares, double) { sums_.second[lane] += squares; });
  return sums_;
}

std::span<const float> ChannelNorm::weights(std::size_t parameter) const {
  return context_.weights.subspan(parameters_[parameter].offset, parameters_[parameter].elements);
}

std::span<float> ChannelNorm::gradients(std::size_t parameter) const {
  return context_.gradients.subspan(parameters_[parameter].offset, parameters_[parameter].elements);
}

NormLanes ChannelNorm::forward_lanes() const { return {run_sets_, mean.data(), scale.data(), shift.data(), nullptr}; }

NormLanes ChannelNorm::backward_lanes() const {
  return {run_sets_, mean.data(), scale.data(), constant.data(), slope.data()};
}

template <typename Add>
void ChannelNorm::for_each_lane(const std::vector<float>& of_pieces, const Add& add) const {
  const std::size_t of_run = runs_.pieces_of_run();
  for (std::size_t piece = 0; piece < runs_.pieces(); ++piece) {
    const std::size_t first_lane = piece / of_run % run_sets_ * runs_.lanes;
    const auto positions = static_cast<double>(runs_.positions_of(piece));
    for (std::size_t lane = 0; lane < runs_.lanes; ++lane) {
      add(first_lane + lane, static_cast<double>(of_pieces[piece * runs_.lanes + lane]), positions);
    }
  }
}

std::unique_ptr<CpuTensor> make_norm_output(const Context& context, const LayerTask& task,
                                            const ChannelLayout& layout) {
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const dnnl::memory::desc desc = describe(x.shape(), layout.tag);
  if (task.in_place && x.with_gradient() && x.gradient().get_desc() == desc) {
    return std::make_unique<CpuTensor>(x.shape(), dnnl::memory(desc, context.engine), x.gradient());
  }
  return std::make_unique<CpuTensor>(context, x.shape(), desc, true);
}

}  // namespace ballast::cpu
