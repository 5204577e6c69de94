//===- Elementwise.cpp - Evaluates elementwise ops ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// In exact mode one element is computed as lib/Dialect/ScalarEmission.cpp
// emits it: f16 and bf16 in f32, functions by Echo/Numerics. In f64 mode
// functions are libm's.
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Convert.h"
#include "Echo/Numerics/Pow.h"
#include "Echo/Numerics/Transcendentals.h"
#include "ElementTypes.h"
#include "Models.h"
#include <cmath>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;
using numerics::HostAlgebra;

namespace {

template <typename T>
inline constexpr bool isFloatType = std::is_floating_point_v<T>;

/// Two's complement arithmetic without overflow.
template <typename T, typename Function>
T wrap(T a, T b, Function function) {
  using U = std::make_unsigned_t<T>;
  return T(function(U(a), U(b)));
}

//===----------------------------------------------------------------------===//
// One element. `exact` is what compiled code computes, in the type; `reference`
// (where it differs) is the definition in double.
//===----------------------------------------------------------------------===//

struct Add {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else if constexpr (isFloatType<T>)
      return a + b;
    else
      return wrap(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a ^ b;
    else if constexpr (isFloatType<T>)
      return a - b;
    else
      return wrap(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else if constexpr (isFloatType<T>)
      return a * b;
    else
      return wrap(a, b, [](uint64_t x, uint64_t y) { return x * y; });
  }
};
struct Div {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else if constexpr (isFloatType<T>)
      return a / b;
    else if (b == 0)
      return 0;
    else if (b == -1)
      return wrap(T(0), a, [](auto x, auto y) { return x - y; });
    else
      return a / b;
  }
};
struct Rem {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return false;
    else
      return b == 0 || b == -1 ? T(0) : T(a % b);
  }
};
struct Max {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (isFloatType<T>) {
      if (a != a || a > b)
        return a;
      if (b != b || b > a)
        return b;
      return std::signbit(a) ? b : a;
    } else {
      return a > b ? a : b;
    }
  }
};
struct Min {
  template <typename T>
  static T exact(T a, T b) {
    if constexpr (isFloatType<T>) {
      if (a != a || a < b)
        return a;
      if (b != b || b < a)
        return b;
      return std::signbit(a) ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
};
struct Pow {
  template <typename T>
  static T exact(T a, T b) {
    return numerics::pow(HostAlgebra<T>(), a, b);
  }
  static double reference(double a, double b) { return std::pow(a, b); }
};

struct Neg {
  template <typename T>
  static T exact(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return a;
    else if constexpr (isFloatType<T>)
      return -a;
    else
      return wrap(T(0), a, [](auto x, auto y) { return x - y; });
  }
};
struct Abs {
  template <typename T>
  static T exact(T a) {
    if constexpr (isFloatType<T>)
      return std::fabs(a);
    else if constexpr (std::is_same_v<T, bool>)
      return a;
    else
      return a < 0 ? Neg::exact(a) : a;
  }
};
struct Sign {
  template <typename T>
  static T exact(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return a;
    else
      return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a;
  }
};
struct Relu {
  template <typename T>
  static T exact(T a) {
    return a <= T(0) ? T(0) : a;
  }
};
struct Sqrt {
  template <typename T>
  static T exact(T a) {
    return std::sqrt(a);
  }
};
struct Rsqrt {
  template <typename T>
  static T exact(T a) {
    return T(1) / std::sqrt(a);
  }
};
struct Exp {
  template <typename T>
  static T exact(T a) {
    return numerics::exp(HostAlgebra<T>(), a);
  }
  static double reference(double a) { return std::exp(a); }
};
struct Log {
  template <typename T>
  static T exact(T a) {
    return numerics::log(HostAlgebra<T>(), a);
  }
  static double reference(double a) { return std::log(a); }
};
struct Tanh {
  template <typename T>
  static T exact(T a) {
    return numerics::tanh(HostAlgebra<T>(), a);
  }
  static double reference(double a) { return std::tanh(a); }
};
struct Sigmoid {
  template <typename T>
  static T exact(T a) {
    return numerics::sigmoid(HostAlgebra<T>(), a);
  }
  static double reference(double a) { return 1.0 / (1.0 + std::exp(-a)); }
};
struct Gelu {
  template <typename T>
  static T exact(T a) {
    return numerics::gelu(HostAlgebra<T>(), a);
  }
  static double reference(double a) {
    double phi = 0.5 * std::erfc(-a * std::sqrt(0.5));
    return phi == 0 ? -0.0 : a * phi;
  }
};
struct Erf {
  template <typename T>
  static T exact(T a) {
    return numerics::erf(HostAlgebra<T>(), a);
  }
  static double reference(double a) { return std::erf(a); }
};

template <typename Function, typename = void>
struct HasReference : std::false_type {};
template <typename Function>
struct HasReference<Function, std::void_t<decltype(&Function::reference)>>
    : std::true_type {};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Calls `loop` with the storage type and one element's function, for the
/// types that an op has.
template <typename Function, bool floats, bool integers, typename Loop>
void dispatchElementwise(Interpreter &interpreter, Type element, Loop loop) {
  auto exact = [](auto... values) { return Function::exact(values...); };
  if constexpr (HasReference<Function>::value) {
    if (!interpreter.isExact()) {
      loop(F64(),
           [](auto... values) { return Function::reference(values...); });
      return;
    }
  }
  if constexpr (floats)
    if (dispatchFloat(element, [&](auto stored) { loop(stored, exact); }))
      return;
  if constexpr (integers)
    dispatchInteger(element, [&](auto stored) { loop(stored, exact); });
}

/// The shape that the operands broadcast to; the verifier has seen the static
/// dimensions alone.
FailureOr<SmallVector<int64_t>> broadcastShapes(Operation *op,
                                                ArrayRef<HostTensor> operands) {
  SmallVector<int64_t> shape(operands[0].getShape());
  for (const HostTensor &operand : operands.drop_front()) {
    SmallVector<int64_t> joined;
    if (!OpTrait::util::getBroadcastedShape(shape, operand.getShape(), joined))
      return op->emitOpError("has operands that don't broadcast at run time: ")
             << operands[0].getType() << " and " << operand.getType();
    shape = std::move(joined);
  }
  return shape;
}

template <typename Function, bool floats, bool integers, typename Op>
LogicalResult evaluateUnary(Op op, Interpreter &interpreter,
                            ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  const HostTensor &operand = operands[0];
  FailureOr<HostTensor> result =
      interpreter.allocate(op, operand.getShape(), operand.getElementType());
  if (failed(result))
    return failure();
  dispatchElementwise<Function, floats, integers>(
      interpreter, operand.getElementType(), [&](auto stored, auto function) {
        using S = decltype(stored);
        const S *in = operand.dataAs<S>();
        S *out = result->mutableDataAs<S>();
        for (int64_t i = 0, e = operand.getNumElements(); i < e; ++i)
          out[i] = S::store(function(S::load(in[i])));
      });
  results.push_back(std::move(*result));
  return success();
}

template <typename Function, bool floats, bool integers, typename Op>
LogicalResult evaluateBinary(Op op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(op, operands);
  if (failed(shape))
    return failure();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, *shape, operands[0].getElementType());
  if (failed(result))
    return failure();
  dispatchElementwise<Function, floats, integers>(
      interpreter, operands[0].getElementType(),
      [&](auto stored, auto function) {
        using S = decltype(stored);
        const S *lhs = operands[0].dataAs<S>(), *rhs = operands[1].dataAs<S>();
        S *out = result->mutableDataAs<S>();
        forEachRun<3>(*shape,
                      {rowMajorStrides(*shape),
                       broadcastStrides(operands[0].getShape(), *shape),
                       broadcastStrides(operands[1].getShape(), *shape)},
                      [&](int64_t count, auto offsets, auto strides) {
                        for (int64_t i = 0; i < count; ++i)
                          out[offsets[0] + i] = S::store(function(
                              S::load(lhs[offsets[1] + i * strides[1]]),
                              S::load(rhs[offsets[2] + i * strides[2]])));
                      });
      });
  results.push_back(std::move(*result));
  return success();
}

template <typename T>
bool compareElements(CompareDirection direction, T a, T b) {
  switch (direction) {
  case CompareDirection::EQ:
    return a == b;
  case CompareDirection::NE:
    return a != b;
  case CompareDirection::LT:
    return a < b;
  case CompareDirection::LE:
    return a <= b;
  case CompareDirection::GT:
    return a > b;
  case CompareDirection::GE:
    return a >= b;
  }
  return false;
}

LogicalResult evaluateCompare(CompareOp op, Interpreter &interpreter,
                              ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(op, operands);
  if (failed(shape))
    return failure();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, *shape, op.getType().getElementType());
  if (failed(result))
    return failure();
  CompareDirection direction = op.getDirection();
  dispatch(operands[0].getElementType(), [&](auto stored) {
    using S = decltype(stored);
    const S *lhs = operands[0].dataAs<S>(), *rhs = operands[1].dataAs<S>();
    Flag *out = result->mutableDataAs<Flag>();
    forEachRun<3>(*shape,
                  {rowMajorStrides(*shape),
                   broadcastStrides(operands[0].getShape(), *shape),
                   broadcastStrides(operands[1].getShape(), *shape)},
                  [&](int64_t count, auto offsets, auto strides) {
                    for (int64_t i = 0; i < count; ++i)
                      out[offsets[0] + i] = Flag::store(compareElements(
                          direction, S::load(lhs[offsets[1] + i * strides[1]]),
                          S::load(rhs[offsets[2] + i * strides[2]])));
                  });
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateSelect(SelectOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(op, operands);
  if (failed(shape))
    return failure();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, *shape, operands[1].getElementType());
  if (failed(result))
    return failure();
  const Flag *predicate = operands[0].dataAs<Flag>();
  dispatch(operands[1].getElementType(), [&](auto stored) {
    using S = decltype(stored);
    const S *onTrue = operands[1].dataAs<S>(),
            *onFalse = operands[2].dataAs<S>();
    S *out = result->mutableDataAs<S>();
    forEachRun<4>(*shape,
                  {rowMajorStrides(*shape),
                   broadcastStrides(operands[0].getShape(), *shape),
                   broadcastStrides(operands[1].getShape(), *shape),
                   broadcastStrides(operands[2].getShape(), *shape)},
                  [&](int64_t count, auto offsets, auto strides) {
                    for (int64_t i = 0; i < count; ++i)
                      out[offsets[0] + i] =
                          Flag::load(predicate[offsets[1] + i * strides[1]])
                              ? onTrue[offsets[2] + i * strides[2]]
                              : onFalse[offsets[3] + i * strides[3]];
                  });
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateConvert(ConvertOp op, Interpreter &interpreter,
                              ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return appendConverted(op, interpreter, operands[0],
                         op.getType().getElementType(), results);
}

template <typename Op, typename Function, bool floats, bool integers>
void attachBinary(MLIRContext *context) {
  Op::template attachInterface<
      Model<Op, evaluateBinary<Function, floats, integers, Op>>>(*context);
}
template <typename Op, typename Function, bool integers>
void attachUnary(MLIRContext *context) {
  Op::template attachInterface<
      Model<Op, evaluateUnary<Function, true, integers, Op>>>(*context);
}

} // namespace

void mlir::echo::interpreter::attachElementwiseModels(MLIRContext *context) {
  attachBinary<AddOp, Add, true, true>(context);
  attachBinary<SubOp, Sub, true, true>(context);
  attachBinary<MulOp, Mul, true, true>(context);
  attachBinary<DivOp, Div, true, true>(context);
  attachBinary<RemOp, Rem, false, true>(context);
  attachBinary<MaxOp, Max, true, true>(context);
  attachBinary<MinOp, Min, true, true>(context);
  attachBinary<PowOp, Pow, true, false>(context);
  attachUnary<NegOp, Neg, true>(context);
  attachUnary<AbsOp, Abs, true>(context);
  attachUnary<SignOp, Sign, true>(context);
  attachUnary<ReluOp, Relu, true>(context);
  attachUnary<ExpOp, Exp, false>(context);
  attachUnary<LogOp, Log, false>(context);
  attachUnary<SqrtOp, Sqrt, false>(context);
  attachUnary<RsqrtOp, Rsqrt, false>(context);
  attachUnary<TanhOp, Tanh, false>(context);
  attachUnary<SigmoidOp, Sigmoid, false>(context);
  attachUnary<GeluOp, Gelu, false>(context);
  attachUnary<ErfOp, Erf, false>(context);
  CompareOp::attachInterface<Model<CompareOp, evaluateCompare>>(*context);
  SelectOp::attachInterface<Model<SelectOp, evaluateSelect>>(*context);
  ConvertOp::attachInterface<Model<ConvertOp, evaluateConvert>>(*context);
}
