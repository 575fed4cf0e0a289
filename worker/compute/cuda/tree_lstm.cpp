// The tree LSTM: the nodes of one level of all trees at once, whatever the shapes of the trees. float32 factors with
// bfloat16 as well.
#include <array>
#include <string>
#include <utility>

#include "worker/compute/cuda/column_sums.h"
#include "worker/compute/cuda/kernels/trees.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/product.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"
#include "worker/compute/tree_levels.h"

namespace ballast::cuda {
namespace {

constexpr std::size_t kLeafGates = 3;
constexpr std::size_t kNodeGates = 5;

// The trees of a batch, on the host and on the device.
class Trees {
 public:
  Trees(const Shape& shape, std::string_view what)
      : levels_(shape),
        rows_(shape.rows(), what),
        place_of_row_(shape.rows(), what),
        lefts_(shape.rows(), what),
        rights_(shape.rows(), what) {}

  // Of the pass that runs.
  void send(Context& context, std::string_view what) {
    levels_.arrange(context.pass().batch);
    const auto rows = rows_.stage(what);
    const auto places = place_of_row_.stage(what);
    std::ranges::fill(rows, 0);
    std::ranges::fill(places, static_cast<std::uint32_t>(rows.size()));  // no place
    for (std::size_t place = 0; place < levels_.nodes(); ++place) {
      rows[place] = static_cast<std::uint32_t>(levels_.row(place));
      places[levels_.row(place)] = static_cast<std::uint32_t>(place);
    }
    rows_.send(context, what);
    place_of_row_.send(context, what);
    lefts_.send(context, {levels_.lefts(), rows.size()}, what);
    rights_.send(context, {levels_.rights(), rows.size()}, what);
  }

  [[nodiscard]] const TreeLevels& levels() const { return levels_; }
  [[nodiscard]] const std::uint32_t* rows() const { return rows_.data(); }  // by place
  [[nodiscard]] const std::uint32_t* place_of_row() const { return place_of_row_.data(); }
  [[nodiscard]] Children children() const { return {lefts_.data(), rights_.data()}; }

 private:
  TreeLevels levels_;
  Upload<std::uint32_t> rows_;
  Upload<std::uint32_t> place_of_row_;
  Upload<std::uint32_t> lefts_;
  Upload<std::uint32_t> rights_;
};

// More than 15 fields: input and output with their gradients, and a buffer for each value that a node has.
class TreeLstmOperation : public Operation {
 public:
  TreeLstmOperation(Context& context, const LayerTask& task, const CudaTensor& y)
      : context_(context),
        what_("tree_lstm of " + to_string(task.inputs[0]->shape()) + " to " + to_string(y.shape())),
        rows_(y.shape().rows()),
        units_(y.shape().c),
        features_(task.inputs[0]->shape().c),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        trees_(y.shape(), what_),
        of_leaves_(rows_ * features_, what_),
        of_children_(rows_ * 2 * units_, what_),
        gates_(rows_ * width(), what_),
        c_(rows_ * units_, what_),
        h_(rows_ * units_, what_),
        h_gradient_(rows_ * units_, what_),
        c_gradient_(rows_ * units_, what_),
        to_children_(rows_ * 2 * units_, what_) {
    std::ranges::copy(task.parameters, places_.begin());
    reserve_column_sums(context, rows_, width(), what_);
  }

  void forward() override {
    trees_.send(context_, what_);
    compute_leaves();
    for (std::size_t level = 1; level <= trees_.levels().highest(); ++level) {
      compute_nodes(level);
    }
    check(launch_spread_rows(rows_, units_, trees_.levels().nodes(), trees_.place_of_row(), h_.data(), y_, stream()),
          what_, "forward");
    went_back_ = false;
  }

  void backward_parameters() override {
    go_back();
    const auto leaves = trees_.levels().leaves();
    const auto inner = trees_.levels().nodes() - leaves;
    const float* const of_nodes = gates_.data() + leaves * width();
    multiply(context_, {kLeafGates * units_, features_, leaves}, {gates_.data(), width(), true},
             {of_leaves_.data(), features_}, gradient_of(kWeightLeaf, features_), what_);
    multiply(context_, {width(), 2 * units_, inner}, {of_nodes, width(), true},
             {of_children_.data() + leaves * 2 * units_, 2 * units_}, gradient_of(kWeightNode, 2 * units_), what_);
    sum_columns(context_, gates_.data(), leaves, width(), places_[kBiasLeaf], what_);
    sum_columns(context_, of_nodes, inner, width(), places_[kBiasNode], what_);
  }

  // Of leaves alone: inner nodes read no input. Their place is that of the inputs, which nobody reads any more.
  void backward_input() override {
    go_back();
    const auto leaves = trees_.levels().leaves();
    multiply(context_, {leaves, features_, kLeafGates * units_}, {gates_.data(), width()},
             {weights(kWeightLeaf), features_}, {of_leaves_.data(), features_}, what_);
    check(launch_spread_rows(rows_, features_, leaves, trees_.place_of_row(), of_leaves_.data(), x_gradient_, stream()),
          what_, "gradient of the input");
  }

 private:
  enum Part : std::size_t { kWeightLeaf, kBiasLeaf, kWeightNode, kBiasNode, kParts };

  void compute_leaves() {
    const auto leaves = trees_.levels().leaves();
    check(launch_gather_rows(leaves, features_, trees_.rows(), x_, of_leaves_.data(), stream()), what_, "leaves");
    multiply(context_, {leaves, kLeafGates * units_, features_}, {of_leaves_.data(), features_},
             {weights(kWeightLeaf), features_, true}, {gates_.data(), width()}, what_);
    check(launch_leaves(level(0), cells(kBiasLeaf), stream()), what_, "leaves");
  }

  void compute_nodes(std::size_t number) {
    const TreeLevel of = level(number);
    check(launch_gather_children(of, trees_.children(), h_.data(), of_children_.data(), stream()), what_, "nodes");
    multiply(context_, {of.end - of.begin, width(), 2 * units_},
             {of_children_.data() + of.begin * 2 * units_, 2 * units_}, {weights(kWeightNode), 2 * units_, true},
             {gates_.data() + of.begin * width(), width()}, what_);
    check(launch_nodes(of, trees_.children(), cells(kBiasNode), stream()), what_, "nodes");
  }

  // Through all levels, once for each forward: parameters and input take their gradients from it.
  void go_back() {
    if (std::exchange(went_back_, true)) {
      return;
    }
    check(cudaMemsetAsync(c_gradient_.data(), 0, c_gradient_.bytes(), stream()), what_, "backward");
    check(launch_gather_rows(trees_.levels().nodes(), units_, trees_.rows(), y_gradient_, h_gradient_.data(), stream()),
          what_, "backward");
    for (std::size_t number = trees_.levels().highest(); number > 0; --number) {
      const TreeLevel of = level(number);
      check(launch_nodes_backward(of, trees_.children(), cells(kBiasNode), stream()), what_, "nodes backward");
      multiply(context_, {of.end - of.begin, 2 * units_, width()}, {gates_.data() + of.begin * width(), width()},
               {weights(kWeightNode), 2 * units_}, {to_children_.data() + of.begin * 2 * units_, 2 * units_}, what_);
      check(launch_add_to_children(of, trees_.children(), to_children_.data(), h_gradient_.data(), stream()), what_,
            "nodes backward");
    }
    check(launch_leaves_backward(level(0), cells(kBiasLeaf), stream()), what_, "leaves backward");
  }

  [[nodiscard]] TreeLevel level(std::size_t number) const {
    return {trees_.levels().begin_of(number), trees_.levels().end_of(number), units_};
  }
  [[nodiscard]] TreeCells cells(Part bias) const {
    return {weights(bias), gates_.data(), c_.data(), h_.data(), h_gradient_.data(), c_gradient_.data()};
  }
  [[nodiscard]] const float* weights(Part part) const { return context_.weights_at(places_[part].extent); }
  [[nodiscard]] ProductResult gradient_of(Part part, std::size_t columns) const {
    return {context_.gradients_at(places_[part].extent), columns, places_[part].adds ? Into::add : Into::replace};
  }
  [[nodiscard]] std::size_t width() const { return kNodeGates * units_; }  // of a row of gates
  [[nodiscard]] cudaStream_t stream() const { return context_.compute(); }

  Context& context_;
  std::string what_;
  std::size_t rows_;
  std::size_t units_;
  std::size_t features_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  Trees trees_;
  std::array<ParameterPlace, kParts> places_;
  // All by place in the order of levels.
  DeviceBuffer<float> of_leaves_;    // inputs of leaves
  DeviceBuffer<float> of_children_;  // h of the left child, h of the right one
  DeviceBuffer<float> gates_;
  DeviceBuffer<float> c_;
  DeviceBuffer<float> h_;
  DeviceBuffer<float> h_gradient_;
  DeviceBuffer<float> c_gradient_;
  DeviceBuffer<float> to_children_;  // gradients of of_children_
  bool went_back_ = false;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const TreeLstm& /*lstm*/) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<TreeLstmOperation>(context, task, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
