//===- Composite.cpp - Evaluates composite ops ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// In f64 mode from their definitions, written out here and apart from the
// decompositions that kernels are made of, which makes the interpreter an
// oracle for these. In exact mode by the decompositions, which define the
// ops' rounding.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Models.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Operands and results of an op in f64 mode. Integer tensors are read through
/// HostTensor.
class Evaluation {
public:
  Evaluation(Operation *op, Interpreter &interpreter,
             ArrayRef<HostTensor> operands)
      : op(op), interpreter(interpreter), operands(operands) {}

  const double *operand(unsigned index) const {
    return operands[index].dataAs<double>();
  }
  /// Null if there is no memory for it.
  double *addResult(ArrayRef<int64_t> shape) {
    FailureOr<HostTensor> result =
        interpreter.allocate(op, shape, Float64Type::get(op->getContext()));
    if (failed(result)) {
      isComplete = false;
      return nullptr;
    }
    results.push_back(std::move(*result));
    return results.back().mutableDataAs<double>();
  }
  /// Whether all results have memory.
  bool complete() const { return isComplete; }
  LogicalResult finish(SmallVectorImpl<HostTensor> &out) {
    llvm::append_range(out, results);
    return success();
  }

private:
  Operation *op;
  Interpreter &interpreter;
  ArrayRef<HostTensor> operands;
  SmallVector<HostTensor, 3> results;
  bool isComplete = true;
};

/// n numbers that lie `stride` apart.
struct Row {
  const double *data;
  int64_t size, stride;
  double operator[](int64_t i) const { return data[i * stride]; }

  double max() const {
    double result = -kInfinity;
    for (int64_t i = 0; i < size; ++i)
      result =
          std::isnan((*this)[i]) || (*this)[i] > result ? (*this)[i] : result;
    return result;
  }
  double sumExp(double shift) const {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += std::exp((*this)[i] - shift);
    return sum;
  }
  double logSumExp() const {
    double largest = max();
    return largest == -kInfinity ? largest
                                 : largest + std::log(sumExp(largest));
  }
};

/// Calls `row(Row, out)` for every row along `axis`; `out` advances by the
/// row's stride.
template <typename Op, typename Function>
LogicalResult evaluateRows(Op op, Interpreter &interpreter,
                           ArrayRef<HostTensor> operands,
                           SmallVectorImpl<HostTensor> &results, Function row) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  ArrayRef<int64_t> shape = operands[0].getShape();
  double *out = e.addResult(shape);
  if (!e.complete())
    return failure();
  int64_t axis = op.getAxis(), size = shape[axis];
  int64_t outer = ShapedType::getNumElements(shape.take_front(axis));
  int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j) {
      int64_t offset = i * size * inner + j;
      row(Row{e.operand(0) + offset, size, inner}, out + offset);
    }
  return e.finish(results);
}

LogicalResult evaluateSoftmax(SoftmaxOp op, Interpreter &interpreter,
                              ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateRows(
      op, interpreter, operands, results, [](Row row, double *out) {
        double max = row.max(), sum = row.sumExp(max);
        for (int64_t i = 0; i < row.size; ++i)
          out[i * row.stride] =
              max == -kInfinity ? 0 : std::exp(row[i] - max) / sum;
      });
}

LogicalResult evaluateLogSoftmax(LogSoftmaxOp op, Interpreter &interpreter,
                                 ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  return evaluateRows(
      op, interpreter, operands, results, [](Row row, double *out) {
        double logSum = row.logSumExp();
        for (int64_t i = 0; i < row.size; ++i)
          out[i * row.stride] =
              logSum == -kInfinity ? -kInfinity : row[i] - logSum;
      });
}

LogicalResult evaluateLayerNorm(LayerNormOp op, Interpreter &interpreter,
                                ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  SmallVector<int64_t> shape(operands[0].getShape());
  int64_t size = shape.back();
  double *out = e.addResult(shape);
  shape.back() = 1;
  double *mean = e.addResult(shape), *rstd = e.addResult(shape);
  if (!e.complete())
    return failure();
  const double *in = e.operand(0), *scale = e.operand(1),
               *offset = e.operand(2);
  double epsilon = op.getEpsilon().convertToDouble();
  for (int64_t row = 0, rows = ShapedType::getNumElements(shape); row < rows;
       ++row, in += size, out += size) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += in[i];
    mean[row] = sum / double(size);
    for (int64_t i = 0; i < size; ++i)
      squares += (in[i] - mean[row]) * (in[i] - mean[row]);
    rstd[row] = 1 / std::sqrt(squares / double(size) + epsilon);
    for (int64_t i = 0; i < size; ++i)
      out[i] = (in[i] - mean[row]) * rstd[row] * scale[i] + offset[i];
  }
  return e.finish(results);
}

/// The label of a position, or -1 for one that counts as ignored.
int64_t labelAt(const HostTensor &labels, int64_t position, int64_t ignore,
                int64_t classes) {
  int64_t label = labels.getInt(position);
  return label == ignore || label < 0 || label >= classes ? -1 : label;
}

LogicalResult evaluateCrossEntropy(SoftmaxCrossEntropyOp op,
                                   Interpreter &interpreter,
                                   ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  const HostTensor &labels = operands[1];
  double *loss = e.addResult(labels.getShape());
  double *logSumExp = e.addResult(labels.getShape());
  if (!e.complete())
    return failure();
  int64_t classes = operands[0].getShape().back();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  for (int64_t i = 0, n = labels.getNumElements(); i < n; ++i) {
    Row row{e.operand(0) + i * classes, classes, 1};
    logSumExp[i] = row.logSumExp();
    int64_t label = labelAt(labels, i, op.getIgnoreLabel(), classes);
    loss[i] = 0;
    if (label < 0 || logSumExp[i] == -kInfinity)
      continue;
    loss[i] = -(1 - smoothing) * (row[label] - logSumExp[i]);
    if (smoothing == 0)
      continue;
    double sum = 0;
    for (int64_t v = 0; v < classes; ++v)
      sum += row[v] - logSumExp[i];
    loss[i] -= smoothing / double(classes) * sum;
  }
  return e.finish(results);
}

LogicalResult evaluateCrossEntropyGrad(SoftmaxCrossEntropyGradOp op,
                                       Interpreter &interpreter,
                                       ArrayRef<HostTensor> operands,
                                       SmallVectorImpl<HostTensor> &results) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  const HostTensor &labels = operands[1];
  double *out = e.addResult(operands[0].getShape());
  if (!e.complete())
    return failure();
  int64_t classes = operands[0].getShape().back();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  const double *logSumExp = e.operand(2), *gradient = e.operand(3);
  for (int64_t i = 0, n = labels.getNumElements(); i < n; ++i) {
    int64_t label = labelAt(labels, i, op.getIgnoreLabel(), classes);
    if (label < 0 || logSumExp[i] == -kInfinity)
      continue;
    for (int64_t v = 0; v < classes; ++v) {
      double p = std::exp(e.operand(0)[i * classes + v] - logSumExp[i]);
      double target =
          (v == label ? 1 - smoothing : 0) + smoothing / double(classes);
      out[i * classes + v] = (p - target) * gradient[i];
    }
  }
  return e.finish(results);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

LogicalResult evaluateLstmCell(LstmCellOp op, Interpreter &interpreter,
                               ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  ArrayRef<int64_t> shape = operands[1].getShape();
  int64_t size = shape.back();
  double *hidden = e.addResult(shape), *newCell = e.addResult(shape);
  double *activated = e.addResult(operands[0].getShape());
  if (!e.complete())
    return failure();
  const double *gates = e.operand(0), *cell = e.operand(1);
  int64_t rows = ShapedType::getNumElements(shape.drop_back());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < size; ++j) {
      const double *in = gates + row * 4 * size + j;
      double *out = activated + row * 4 * size + j;
      double i = out[0] = logistic(in[0]);
      double f = out[size] = logistic(in[size]);
      double g = out[2 * size] = std::tanh(in[2 * size]);
      double o = out[3 * size] = logistic(in[3 * size]);
      int64_t at = row * size + j;
      newCell[at] = f * cell[at] + i * g;
      hidden[at] = o * std::tanh(newCell[at]);
    }
  return e.finish(results);
}

LogicalResult evaluateLstmCellGrad(LstmCellGradOp op, Interpreter &interpreter,
                                   ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  if (interpreter.isExact())
    return interpreter.runDecomposition(op, operands, results);
  Evaluation e(op, interpreter, operands);
  ArrayRef<int64_t> shape = operands[1].getShape();
  int64_t size = shape.back();
  double *gatesGradient = e.addResult(operands[0].getShape());
  double *oldCellGradient = e.addResult(shape);
  if (!e.complete())
    return failure();
  const double *activated = e.operand(0), *cell = e.operand(1);
  const double *newCell = e.operand(2), *hiddenGradient = e.operand(3);
  const double *cellGradient = e.operand(4);
  int64_t rows = ShapedType::getNumElements(shape.drop_back());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < size; ++j) {
      const double *in = activated + row * 4 * size + j;
      double *out = gatesGradient + row * 4 * size + j;
      double i = in[0], f = in[size], g = in[2 * size], o = in[3 * size];
      int64_t at = row * size + j;
      double t = std::tanh(newCell[at]);
      double dCell = cellGradient[at] + hiddenGradient[at] * o * (1 - t * t);
      out[0] = dCell * g * i * (1 - i);
      out[size] = dCell * cell[at] * f * (1 - f);
      out[2 * size] = dCell * i * (1 - g * g);
      out[3 * size] = hiddenGradient[at] * t * o * (1 - o);
      oldCellGradient[at] = dCell * f;
    }
  return e.finish(results);
}

} // namespace

void mlir::echo::interpreter::attachCompositeModels(MLIRContext *context) {
  SoftmaxOp::attachInterface<Model<SoftmaxOp, evaluateSoftmax>>(*context);
  LogSoftmaxOp::attachInterface<Model<LogSoftmaxOp, evaluateLogSoftmax>>(
      *context);
  LayerNormOp::attachInterface<Model<LayerNormOp, evaluateLayerNorm>>(*context);
  SoftmaxCrossEntropyOp::attachInterface<
      Model<SoftmaxCrossEntropyOp, evaluateCrossEntropy>>(*context);
  SoftmaxCrossEntropyGradOp::attachInterface<
      Model<SoftmaxCrossEntropyGradOp, evaluateCrossEntropyGrad>>(*context);
  LstmCellOp::attachInterface<Model<LstmCellOp, evaluateLstmCell>>(*context);
  LstmCellGradOp::attachInterface<Model<LstmCellGradOp, evaluateLstmCellGrad>>(
      *context);
}
