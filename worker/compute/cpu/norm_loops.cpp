#include "worker/compute/cpu/norm_loops.h"

#include <algorithm>

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {
namespace {

constexpr std::size_t kPieceFloats = 4096;
constexpr std::size_t kLeastPositions = 32;  // of a piece, so that what is kept of it is little

// Eight lanes at once, or a single one.
template <typename Value>
BALLAST_VECTOR_INLINE Value load_as(const float* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename Value>
BALLAST_VECTOR_INLINE void store_as(float* to, const Value& value) {
  std::memcpy(to, &value, sizeof value);
}

constexpr std::size_t kAccumulators = 4;  // hide how long an addition takes

// The sum of term(offset) over positions that are `stride` floats apart: four sums in turns, then theirs.
template <typename Value, typename Term>
BALLAST_VECTOR_INLINE Value summed(std::size_t positions, std::size_t stride, const Term& term) {
  Value sums[kAccumulators] = {};
  std::size_t position = 0;
  for (; position + kAccumulators <= positions; position += kAccumulators) {
    for (std::size_t i = 0; i < kAccumulators; ++i) {
      sums[i] += term((position + i) * stride);
    }
  }
  for (std::size_t i = 0; position < positions; ++position, ++i) {
    sums[i] += term(position * stride);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Positions of a run with a single lane lie side by side: eight at once, and the rest one by one.
template <typename Several, typename Single>
BALLAST_VECTOR_INLINE float summed_in_line(std::size_t positions, const Several& several, const Single& single) {
  const std::size_t whole = positions / kLanes * kLanes;
  float sum = sum_of(summed<Floats>(whole / kLanes, kLanes, several));
  for (std::size_t i = whole; i < positions; ++i) {
    sum += single(i);
  }
  return sum;
}

template <typename Value>
BALLAST_VECTOR_INLINE void lane_moments(const float* x, std::size_t positions, std::size_t lanes, float* mean,
                                        float* square) {
  const auto of_x = [&](std::size_t at) __attribute__((always_inline)) { return load_as<Value>(x + at); };
  const Value middle = summed<Value>(positions, lanes, of_x) / (Value{} + static_cast<float>(positions));
  const auto squared = [&](std::size_t at) __attribute__((always_inline)) {
    const Value difference = load_as<Value>(x + at) - middle;
    return difference * difference;
  };
  store_as(square, summed<Value>(positions, lanes, squared));
  store_as(mean, middle);
}

struct PieceMoments {
  BALLAST_VECTOR_INLINE static void run(const float* x, std::size_t positions, std::size_t lanes, float* mean,
                                        float* square) {
    if (lanes == 1) {
      in_line(x, positions, mean, square);
      return;
    }
    std::size_t lane = 0;
    for (; lane + kLanes <= lanes; lane += kLanes) {
      lane_moments<Floats>(x + lane, positions, lanes, mean + lane, square + lane);
    }
    for (; lane < lanes; ++lane) {
      lane_moments<float>(x + lane, positions, lanes, mean + lane, square + lane);
    }
  }

 private:
  BALLAST_VECTOR_INLINE static void in_line(const float* x, std::size_t positions, float* mean, float* square) {
    const float middle = summed_in_line(
                             positions, [&](std::size_t at) __attribute__((always_inline)) { return load(x + at); },
                             [&](std::size_t at) __attribute__((always_inline)) { return x[at]; }) /
                         static_cast<float>(positions);
    *square = summed_in_line(
        positions,
        [&](std::size_t at) __attribute__((always_inline)) {
          const Floats difference = load(x + at) - middle;
          return difference * difference;
        },
        [&](std::size_t at) __attribute__((always_inline)) { return (x[at] - middle) * (x[at] - middle); });
    *mean = middle;
  }
};

struct PieceSums {
  BALLAST_VECTOR_INLINE static void run(const float* x, const float* gradient, const float* mean, std::size_t positions,
                                        std::size_t lanes, float* sum, float* product) {
    if (lanes == 1) {
      in_line(x, gradient, *mean, positions, sum, product);
      return;
    }
    std::size_t lane = 0;
    for (; lane + kLanes <= lanes; lane += kLanes) {
      of_lanes<Floats>(x + lane, gradient + lane, mean + lane, positions, lanes, sum + lane, product + lane);
    }
    for (; lane < lanes; ++lane) {
      of_lanes<float>(x + lane, gradient + lane, mean + lane, positions, lanes, sum + lane, product + lane);
    }
  }

 private:
  template <typename Value>
  BALLAST_VECTOR_INLINE static void of_lanes(const float* x, const float* gradient, const float* mean,
                                             std::size_t positions, std::size_t lanes, float* sum, float* product) {
    const auto middle = load_as<Value>(mean);
    store_as(sum, summed<Value>(
                      positions, lanes, [&](std::size_t at) __attribute__((always_inline)) {
                        return load_as<Value>(gradient + at);
                      }));
    store_as(product, summed<Value>(
                          positions, lanes, [&](std::size_t at) __attribute__((always_inline)) {
                            return load_as<Value>(gradient + at) * (load_as<Value>(x + at) - middle);
                          }));
  }

  BALLAST_VECTOR_INLINE static void in_line(const float* x, const float* gradient, float mean, std::size_t positions,
                                            float* sum, float* product) {
    *sum = summed_in_line(
        positions, [&](std::size_t at) __attribute__((always_inline)) { return load(gradient + at); },
        [&](std::size_t at) __attribute__((always_inline)) { return gradient[at]; });
    *product = summed_in_line(
        positions,
        [&](std::size_t at) __attribute__((always_inline)) { return load(gradient + at) * (load(x + at) - mean); },
        [&](std::size_t at) __attribute__((always_inline)) { return gradient[at] * (x[at] - mean); });
  }
};

// What is read for each lane of one run.
struct Lanes {
  const float* mean;
  const float* first;
  const float* second;
  const float* third;
};

// Calls several(offset, lane) for eight floats at once and single(offset, lane) for the rest: all of a piece.
template <typename Several, typename Single>
BALLAST_VECTOR_INLINE void for_each_position(std::size_t positions, std::size_t lanes, const Several& several,
                                             const Single& single) {
  for (std::size_t position = 0; position < positions; ++position) {
    std::size_t lane = 0;
    for (; lane + kLanes <= lanes; lane += kLanes) {
      several(position * lanes + lane, lane);
    }
    for (; lane < lanes; ++lane) {
      single(position * lanes + lane, lane);
    }
  }
}

template <typename Value>
BALLAST_VECTOR_INLINE Value normalized(const Value& x, const Value& mean, const Value& scale, const Value& shift) {
  return (x - mean) * scale + shift;
}

template <typename Value>
BALLAST_VECTOR_INLINE Value backward(const Value& x, const Value& gradient, const Value& mean, const Value& scale,
                                     const Value& constant, const Value& slope) {
  return gradient * scale - (constant + (x - mean) * slope);
}

struct NormalizePiece {
  BALLAST_VECTOR_INLINE static void run(const float* x, float* y, const Lanes* by, std::size_t positions,
                                        std::size_t lanes) {
    const Lanes s = *by;
    if (lanes == 1) {
      in_line(x, y, s, positions);
      return;
    }
    for_each_position(
        positions, lanes,
        [&](std::size_t at, std::size_t lane) __attribute__((always_inline)) {
          store(y + at, normalized(load(x + at), load(s.mean + lane), load(s.first + lane), load(s.second + lane)));
        },
        [&](std::size_t at, std::size_t lane)
            __attribute__((always_inline)) { y[at] = normalized(x[at], s.mean[lane], s.first[lane], s.second[lane]); });
  }

 private:
  BALLAST_VECTOR_INLINE static void in_line(const float* x, float* y, const Lanes& s, std::size_t positions) {
    const Floats mean = all_lanes(*s.mean);
    const Floats scale = all_lanes(*s.first);
    const Floats shift = all_lanes(*s.second);
    std::size_t i = 0;
    for (; i + kLanes <= positions; i += kLanes) {
      store(y + i, normalized(load(x + i), mean, scale, shift));
    }
    for (; i < positions; ++i) {
      y[i] = normalized(x[i], *s.mean, *s.first, *s.second);
    }
  }
};

struct BackwardPiece {
  BALLAST_VECTOR_INLINE static void run(const float* x, const float* gradient, float* x_gradient, const Lanes* by,
                                        std::size_t positions, std::size_t lanes) {
    const Lanes s = *by;
    if (lanes == 1) {
      in_line(x, gradient, x_gradient, s, positions);
      return;
    }
    for_each_position(
        positions, lanes,
        [&](std::size_t at, std::size_t lane) __attribute__((always_inline)) {
          store(x_gradient + at, backward(load(x + at), load(gradient + at), load(s.mean + lane), load(s.first + lane),
                                          load(s.second + lane), load(s.third + lane)));
        },
        [&](std::size_t at, std::size_t lane) __attribute__((always_inline)) {
          x_gradient[at] = backward(x[at], gradient[at], s.mean[lane], s.first[lane], s.second[lane], s.third[lane]);
        });
  }

 private:
  BALLAST_VECTOR_INLINE static void in_line(const float* x, const float* gradient, float* x_gradient, const Lanes& s,
                                            std::size_t positions) {
    const Floats mean = all_lanes(*s.mean);
    const Floats scale = all_lanes(*s.first);
    const Floats constant = all_lanes(*s.second);
    const Floats slope = all_lanes(*s.third);
    std::size_t i = 0;
    for (; i + kLanes <= positions; i += kLanes) {
      store(x_gradient + i, backward(load(x + i), load(gradient + i), mean, scale, constant, slope));
    }
    for (; i < positions; ++i) {
      x_gradient[i] = backward(x[i], gradient[i], *s.mean, *s.first, *s.second, *s.third);
    }
  }
};

// Calls work(piece, its first float, its lanes' set times lanes, its positions) for every piece.
template <typename Work>
void for_each_piece(const Runs& runs, std::size_t sets, std::uint32_t threads, const Work& work) {
  const std::size_t of_run = runs.pieces_of_run();
  share_out(runs.pieces(), threads, [&](std::size_t piece) {
    const std::size_t run = piece / of_run;
    const std::size_t begin = piece % of_run * runs.positions_of_piece();
    work(piece, (run * runs.positions + begin) * runs.lanes, run % sets * runs.lanes, runs.positions_of(piece));
  });
}

}  // namespace

std::size_t Runs::positions_of_piece() const { return std::max(kLeastPositions, kPieceFloats / lanes); }

std::size_t Runs::pieces_of_run() const { return (positions + positions_of_piece() - 1) / positions_of_piece(); }

std::size_t Runs::positions_of(std::size_t piece) const {
  const std::size_t begin = piece % pieces_of_run() * positions_of_piece();
  return std::min(positions_of_piece(), positions - begin);
}

void moments_loop(const Runs& runs, const float* x, float* means, float* squares, std::uint32_t threads) {
  for_each_piece(runs, 1, threads, [&](std::size_t piece, std::size_t at, std::size_t, std::size_t positions) {
    run_widest<PieceMoments>(x + at, positions, runs.lanes, means + piece * runs.lanes, squares + piece * runs.lanes);
  });
}

void normalize_loop(const Runs& runs, const NormLanes& by, const float* x, float* y, std::uint32_t threads) {
  for_each_piece(runs, by.sets, threads, [&](std::size_t, std::size_t at, std::size_t lane, std::size_t positions) {
    const Lanes lanes{by.mean + lane, by.first + lane, by.second + lane, nullptr};
    run_widest<NormalizePiece>(x + at, y + at, &lanes, positions, runs.lanes);
  });
}

void norm_sums_loop(const Runs& runs, const NormLanes& by, const float* x, const float* y_gradient, float* sums,
                    float* products, std::uint32_t threads) {
  for_each_piece(runs, by.sets, threads,
                 [&](std::size_t piece, std::size_t at, std::size_t lane, std::size_t positions) {
                   run_widest<PieceSums>(x + at, y_gradient + at, by.mean + lane, positions, runs.lanes,
                                         sums + piece * runs.lanes, products + piece * runs.lanes);
                 });
}

void norm_backward_loop(const Runs& runs, const NormLanes& by, const float* x, const float* y_gradient,
                        float* x_gradient, std::uint32_t threads) {
  for_each_piece(runs, by.sets, threads, [&](std::size_t, std::size_t at, std::size_t lane, std::size_t positions) {
    const Lanes lanes{by.mean + lane, by.first + lane, by.second + lane, by.third + lane};
    run_widest<BackwardPiece>(x + at, y_gradient + at, x_gradient + at, &lanes, positions, runs.lanes);
  });
}

}  // namespace ballast::cpu
