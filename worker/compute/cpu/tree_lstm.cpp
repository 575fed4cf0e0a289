// The tree LSTM: the nodes of one level of all trees at once, whatever the shapes of the trees.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "worker/compute/cpu/cell_loops.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/gemm.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/parameter_gradient.h"
#include "worker/compute/cpu/tree_cell_loops.h"
#include "worker/compute/fit.h"
#include "worker/compute/tree_levels.h"

namespace ballast::cpu {
namespace {

enum TreePart : std::size_t { kWeightLeaf, kBiasLeaf, kWeightNode, kBiasNode, kParts };
constexpr std::size_t kLeafGates = 3;
constexpr std::size_t kNodeGates = 5;

class TreeLstmOperation : public Operation {
 public:
  TreeLstmOperation(const Context& context, const LayerTask& task, const CpuTensor& y)
      : context_(context),
        rows_(y.shape().rows()),
        units_(y.shape().c),
        features_(task.inputs[0]->shape().c),
        levels_(y.shape()),
        x_(context, as_cpu(*task.inputs[0]).value(), plain(task.inputs[0]->shape())),
        y_(y.value()),
        y_gradient_(y.gradient()),
        of_leaves_(rows_ * features_),
        of_children_(rows_ * 2 * units_),
        gates_(rows_ * kNodeGates * units_),
        c_(rows_ * units_),
        h_(rows_ * units_),
        h_gradient_(rows_ * units_),
        c_gradient_(rows_ * units_),
        to_children_(rows_ * 2 * units_) {
    for (std::size_t part = 0; part < kParts; ++part) {
      extents_[part] = task.parameters[part].extent;
      gradients_[part] = ParameterGradient(context, task.parameters[part]);
    }
    const CpuTensor& x = as_cpu(*task.inputs[0]);
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(x.shape()));
    }
  }

  void forward() override {
    x_.refresh();
    levels_.arrange(context_.pass->batch);
    compute_leaves();
    for (std::size_t level = 1; level <= levels_.highest(); ++level) {
      compute_nodes(level);
    }
    std::fill_n(floats(y_), rows_ * units_, 0.0F);
    for (std::size_t place = 0; place < levels_.nodes(); ++place) {
      std::copy_n(&h_[place * units_], units_, floats(y_) + levels_.row(place) * units_);
    }
    went_back_ = false;
  }

  void backward_parameters() override {
    go_back();
    const auto leaves = levels_.leaves();
    const auto inner = levels_.nodes() - leaves;
    const float* const of_nodes = gates_.data() + leaves * width();
    multiply({kLeafGates * units_, features_, leaves}, {gates_.data(), width(), true}, {of_leaves_.data(), features_},
             gradients_[kWeightLeaf].begin().data(), features_, Into::replace, context_.threads);
    sum_columns(gates_.data(), leaves, kLeafGates * units_, width(), gradients_[kBiasLeaf].begin().data(),
                context_.threads);
    multiply({width(), 2 * units_, inner}, {of_nodes, width(), true},
             {of_children_.data() + leaves * 2 * units_, 2 * units_}, gradients_[kWeightNode].begin().data(),
             2 * units_, Into::replace, context_.threads);
    sum_columns(of_nodes, inner, width(), width(), gradients_[kBiasNode].begin().data(), context_.threads);
    for (auto& gradient : gradients_) {
      gradient.finish();
    }
  }

  // Of leaves alone: inner nodes read no input. Their place is that of the inputs, which nobody reads any more.
  void backward_input() override {
    go_back();
    const auto leaves = levels_.leaves();
    multiply({leaves, features_, kLeafGates * units_}, {gates_.data(), width()}, {weights(kWeightLeaf), features_},
             of_leaves_.data(), features_, Into::replace, context_.threads);
    float* const gradient = floats(x_gradient_.memory());
    std::fill_n(gradient, rows_ * features_, 0.0F);
    for (std::size_t place = 0; place < leaves; ++place) {
      std::copy_n(&of_leaves_[place * features_], features_, gradient + levels_.row(place) * features_);
    }
    x_gradient_.deliver();
  }

 private:
  void compute_leaves() {
    const float* const x = floats(x_.memory());
    for (std::size_t place = 0; place < levels_.leaves(); ++place) {
      std::copy_n(x + levels_.row(place) * features_, features_, &of_leaves_[place * features_]);
    }
    multiply({levels_.leaves(), kLeafGates * units_, features_}, {of_leaves_.data(), features_},
             {weights(kWeightLeaf), features_, true}, gates_.data(), width(), Into::replace, context_.threads);
    leaf_forward(cells(0), context_.threads);
  }

  void compute_nodes(std::size_t level) {
    const auto begin = levels_.begin_of(level);
    for (std::size_t place = begin; place < levels_.end_of(level); ++place) {
      float* const both = &of_children_[place * 2 * units_];
      std::copy_n(&h_[levels_.lefts()[place] * units_], units_, both);
      std::copy_n(&h_[levels_.rights()[place] * units_], units_, both + units_);
    }
    multiply({levels_.end_of(level) - begin, width(), 2 * units_}, {&of_children_[begin * 2 * units_], 2 * units_},
             {weights(kWeightNode), 2 * units_, true}, &gates_[begin * width()], width(), Into::replace,
             context_.threads);
    node_forward(cells(level), context_.threads);
  }

  // Through all levels, once for each forward: parameters and input take their gradients from it.
  void go_back() {
    if (std::exchange(went_back_, true)) {
      return;
    }
    std::ranges::fill(c_gradient_, 0.0F);
    for (std::size_t place = 0; place < levels_.nodes(); ++place) {
      std::copy_n(floats(y_gradient_) + levels_.row(place) * units_, units_, &h_gradient_[place * units_]);
    }
    for (std::size_t level = levels_.highest(); level > 0; --level) {
      node_backward(cells(level), context_.threads);
      pass_to_children(level);
    }
    leaf_backward(cells(0), context_.threads);
  }

  void pass_to_children(std::size_t level) {
    const auto begin = levels_.begin_of(level);
    multiply({levels_.end_of(level) - begin, 2 * units_, width()}, {&gates_[begin * width()], width()},
             {weights(kWeightNode), 2 * units_}, &to_children_[begin * 2 * units_], 2 * units_, Into::replace,
             context_.threads);
    for (std::size_t place = begin; place < levels_.end_of(level); ++place) {
      const float* const both = &to_children_[place * 2 * units_];
      float* const left = &h_gradient_[levels_.lefts()[place] * units_];
      float* const right = &h_gradient_[levels_.rights()[place] * units_];
      add_loop(left, both, left, units_, 1);
      add_loop(right, both + units_, right, units_, 1);
    }
  }

  [[nodiscard]] TreeCells cells(std::size_t level) {
    return {levels_.begin_of(level),
            levels_.end_of(level),
            units_,
            levels_.lefts(),
            levels_.rights(),
            weights(level == 0 ? kBiasLeaf : kBiasNode),
            gates_.data(),
            c_.data(),
            h_.data(),
            h_gradient_.data(),
            c_gradient_.data()};
  }

  [[nodiscard]] const float* weights(TreePart part) const { return &context_.weights[extents_[part].offset]; }
  [[nodiscard]] std::size_t width() const { return kNodeGates * units_; }  // of a row of gates

  const Context& context_;
  std::size_t rows_;
  std::size_t units_;
  std::size_t features_;
  TreeLevels levels_;
  std::array<Extent, kParts> extents_;
  std::array<ParameterGradient, kParts> gradients_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
  // All by place in the order of levels.
  std::vector<float> of_leaves_;    // inputs of leaves
  std::vector<float> of_children_;  // h of the left child, h of the right one
  std::vector<float> gates_;
  std::vector<float> c_;
  std::vector<float> h_;
  std::vector<float> h_gradient_;
  std::vector<float> c_gradient_;
  std::vector<float> to_children_;  // gradients of of_children_
  bool went_back_ = false;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const TreeLstm& /*lstm*/) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<TreeLstmOperation>(context, task, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
