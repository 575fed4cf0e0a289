#include "worker/compute/cuda/column_sums.h"

#include "worker/compute/cuda/kernels/columns.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {

void reserve_column_sums(Context& context, std::size_t rows, std::size_t columns, std::string_view what) {
  context.reserve_workspace(Columns{rows, columns, columns}.scratch() * sizeof(double), what);
}

void sum_columns(const Context& context, const float* rows_begin, std::size_t rows, std::size_t stride,
                 const ParameterPlace& gradient, std::string_view what) {
  check(launch_sum_columns({rows, static_cast<std::size_t>(gradient.extent.elements), stride}, rows_begin,
                           gradient.adds, static_cast<double*>(context.workspace()),
                           context.gradients_at(gradient.extent), context.compute()),
        what, "gradient of a bias");
}

}  // namespace ballast::cuda
