//===- Reduction.cpp - Evaluates reductions -------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Echo/Numerics/ReductionTree.h"
#include "ElementTypes.h"
#include "Models.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

/// A reduction over the middle of [outer, reduced, inner].
struct Group {
  int64_t outer = 1, reduced = 1, inner = 1;
};

/// The last dims as one group, then every other dim, innermost first, each with
/// the shape that earlier groups left.
SmallVector<Group> groupsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes(shape);
  SmallVector<Group> groups;
  for (size_t last = dims.size(); last-- > 0;) {
    size_t first = last;
    bool isRow = llvm::all_of(llvm::drop_begin(sizes, dims[last] + 1),
                              [](int64_t size) { return size == 1; });
    while (isRow && first > 0 && dims[first - 1] == dims[first] - 1)
      --first;
    Group group;
    for (int64_t d = 0; d < int64_t(sizes.size()); ++d) {
      if (d < dims[first])
        group.outer *= sizes[d];
      else if (d > dims[last])
        group.inner *= sizes[d];
      else
        group.reduced *= std::exchange(sizes[d], 1);
    }
    groups.push_back(group);
    last = first;
  }
  return groups;
}

/// NaN wins.
template <typename T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || a > b)
      return a;
    if (b != b || b > a)
      return b;
    return std::signbit(a) ? b : a;
  } else {
    return a > b ? a : b;
  }
}

template <typename T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || a < b)
      return a;
    if (b != b || b < a)
      return b;
    return std::signbit(a) ? a : b;
  } else {
    return a < b ? a : b;
  }
}

template <typename T>
void sumGroup(const Group &group, const std::vector<T> &in,
              std::vector<T> &out) {
  std::vector<T> partials(group.inner);
  for (int64_t outer = 0; outer < group.outer; ++outer) {
    const T *part = in.data() + outer * group.reduced * group.inner;
    if (group.inner == 1)
      out[outer] = numerics::rowSum<T>(group.reduced,
                                       [&](int64_t i) { return part[i]; });
    else
      numerics::columnSum<T>(
          group.reduced, group.inner,
          [&](int64_t row, int64_t column) {
            return part[row * group.inner + column];
          },
          out.data() + outer * group.inner, partials.data());
  }
}

template <typename T, typename Combine>
void combineGroup(const Group &group, const std::vector<T> &in,
                  std::vector<T> &out, Combine combine) {
  for (int64_t outer = 0; outer < group.outer; ++outer)
    for (int64_t row = 0; row < group.reduced; ++row)
      for (int64_t column = 0; column < group.inner; ++column) {
        T &total = out[outer * group.inner + column];
        total = combine(
            total, in[(outer * group.reduced + row) * group.inner + column]);
      }
}

/// Sums wrap for integers: they add up as unsigned numbers.
template <typename T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<int8_t> {
  using type = uint8_t;
};
template <>
struct AccumulatorOf<int32_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorOf<int64_t> {
  using type = uint64_t;
};

template <typename S, typename T, typename Apply>
void reduce(const HostTensor &operand, ArrayRef<int64_t> dims, T initial,
            HostTensor &result, Apply apply, int64_t divisor) {
  using C = typename S::Compute;
  const S *in = operand.dataAs<S>();
  std::vector<T> values(operand.getNumElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(S::load(in[i]));
  for (const Group &group : groupsOf(operand.getShape(), dims)) {
    std::vector<T> reduced(group.outer * group.inner, initial);
    apply(group, values, reduced);
    values = std::move(reduced);
  }
  S *out = result.mutableDataAs<S>();
  for (size_t i = 0; i < values.size(); ++i)
    out[i] =
        S::store(divisor < 0 ? C(values[i]) : C(C(values[i]) / C(divisor)));
}

LogicalResult evaluateReduce(ReduceOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &operand = operands[0];
  SmallVector<int64_t> shape;
  int64_t count = 1;
  for (auto [d, size] : llvm::enumerate(operand.getShape())) {
    if (!llvm::is_contained(op.getDims(), int64_t(d))) {
      shape.push_back(size);
      continue;
    }
    count *= size;
    if (op.getKeepdims())
      shape.push_back(1);
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, operand.getElementType());
  if (failed(result))
    return failure();
  ReduceKind kind = op.getKind();
  dispatch(operand.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    using C = typename S::Compute;
    using A = typename AccumulatorOf<C>::type;
    using Limits = std::numeric_limits<C>;
    constexpr bool floats = std::is_floating_point_v<C>;
    if constexpr (!std::is_same_v<C, bool>) {
      switch (kind) {
      case ReduceKind::Sum:
      case ReduceKind::Mean:
        reduce<S, A>(
            operand, op.getDims(), A(0), *result,
            [](auto &...arguments) { sumGroup(arguments...); },
            kind == ReduceKind::Mean ? count : -1);
        break;
      case ReduceKind::Max:
        reduce<S, C>(
            operand, op.getDims(), floats ? -Limits::infinity() : Limits::min(),
            *result,
            [](auto &...arguments) { combineGroup(arguments..., larger<C>); },
            -1);
        break;
      case ReduceKind::Min:
        reduce<S, C>(
            operand, op.getDims(), floats ? Limits::infinity() : Limits::max(),
            *result,
            [](auto &...arguments) { combineGroup(arguments..., smaller<C>); },
            -1);
        break;
      }
    }
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateArgmax(ArgmaxOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &operand = operands[0];
  SmallVector<int64_t> shape(operand.getShape());
  int64_t axis = op.getAxis(), extent = shape[axis];
  if (extent == 0)
    return op.emitOpError("has no element along axis ") << axis;
  Group group = groupsOf(shape, axis).front();
  shape.erase(shape.begin() + axis);
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, op.getType().getElementType());
  if (failed(result))
    return failure();
  I32 *out = result->mutableDataAs<I32>();
  dispatch(operand.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    const S *in = operand.dataAs<S>();
    for (int64_t outer = 0; outer < group.outer; ++outer)
      for (int64_t column = 0; column < group.inner; ++column) {
        auto at = [&](int64_t i) {
          return S::load(in[(outer * extent + i) * group.inner + column]);
        };
        int64_t best = 0;
        for (int64_t i = 1; i < extent; ++i) {
          auto largest = at(best), value = at(i);
          if (largest == largest && (value > largest || value != value))
            best = i;
        }
        out[outer * group.inner + column] = {int32_t(best)};
      }
  });
  results.push_back(std::move(*result));
  return success();
}

} // namespace

void mlir::echo::interpreter::attachReductionModels(MLIRContext *context) {
  ReduceOp::attachInterface<Model<ReduceOp, evaluateReduce>>(*context);
  ArgmaxOp::attachInterface<Model<ArgmaxOp, evaluateArgmax>>(*context);
}
