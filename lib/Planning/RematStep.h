//===- RematStep.h - A step under a plan ------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_PLANNING_REMATSTEP_H
#define ECHO_LIB_PLANNING_REMATSTEP_H

#include "RematIndex.h"
#include <algorithm>

namespace mlir::echo::planning {

/// An evaluation of an op, the original or a clone.
struct Evaluation {
  uint32_t op = 0;
  uint32_t clone = kNoIndex;
  /// Tensors in memory that it reads (one may occur twice) and makes; what a
  /// view's result is in is among those that it reads, and nothing else.
  std::vector<uint32_t> reads, results;
};

/// Walks over the ops and clones of a step in the order that they run in. A
/// tensor is a value with memory of its own, or a clone's evaluation of one.
class PlannedStep {
public:
  PlannedStep(const RematIndex &index, const RematPlan &plan)
      : index(index), problem(index.problem), plan(plan), tensorOf(index.root) {
    values.reserve(problem.values.size() + plan.clones.size());
    for (uint32_t value = 0; value < problem.values.size(); ++value)
      values.push_back(value);
  }

  /// By tensor.
  std::vector<uint32_t> values;

  uint64_t bytes(uint32_t tensor) const {
    const RematValue &value = problem.values[values[tensor]];
    return value.isResident ? 0 : value.bytes;
  }
  bool isClone(uint32_t tensor) const {
    return tensor >= problem.values.size();
  }

  /// Once for each object.
  template <typename Visit>
  void walk(Visit visit) {
    firstTensor.reserve(plan.clones.size());
    auto clone = plan.clones.begin();
    auto read = plan.reads.begin();
    Evaluation evaluation;
    // The tensors of the results, by what the inputs are in.
    auto run = [&](uint32_t op, auto inputTensor, auto setResult) {
      IndexRange inputs = index.operands(op), results = index.results(op);
      evaluation.op = op;
      evaluation.reads.clear();
      evaluation.results.clear();
      for (size_t i = 0; i < inputs.size(); ++i)
        evaluation.reads.push_back(inputTensor(i));
      for (size_t r = 0; r < results.size(); ++r) {
        if (index.root[results[r]] == results[r]) {
          evaluation.results.push_back(setResult(r, kNoIndex));
          continue;
        }
        uint32_t source = problem.values[results[r]].source;
        auto input = std::find(inputs.begin(), inputs.end(), source);
        setResult(r, input == inputs.end()
                         ? index.root[source]
                         : evaluation.reads[input - inputs.begin()]);
      }
      visit(evaluation);
    };
    for (uint32_t op = 0; op < problem.ops.size(); ++op) {
      for (; clone != plan.clones.end() && clone->before == op; ++clone) {
        IndexRange inputs = index.operands(clone->op);
        IndexRange results = index.results(clone->op);
        evaluation.clone = clone - plan.clones.begin();
        firstTensor.push_back(cloneTensors.size());
        run(
            clone->op,
            [&](size_t i) {
              return clone->inputs[i] == kNoIndex
                         ? tensorOf[inputs[i]]
                         : cloneTensor(clone->inputs[i], inputs[i]);
            },
            [&](size_t r, uint32_t tensor) {
              if (tensor == kNoIndex) {
                tensor = values.size();
                values.push_back(results[r]);
              }
              cloneTensors.push_back(tensor);
              return tensor;
            });
      }
      evaluation.clone = kNoIndex;
      IndexRange inputs = index.operands(op), results = index.results(op);
      run(
          op,
          [&](uint32_t i) {
            if (read != plan.reads.end() && read->op == op &&
                read->operand == i) {
              uint32_t redirected = read->clone;
              ++read;
              return cloneTensor(redirected, inputs[i]);
            }
            return tensorOf[inputs[i]];
          },
          [&](size_t r, uint32_t tensor) {
            uint32_t value = results[r];
            if (tensor != kNoIndex)
              tensorOf[value] = tensor;
            return tensorOf[value];
          });
    }
  }

private:
  uint32_t cloneTensor(uint32_t clone, uint32_t value) const {
    return cloneTensors[firstTensor[clone] + index.place[value]];
  }

  const RematIndex &index;
  const RematProblem &problem;
  const RematPlan &plan;
  std::vector<uint32_t> tensorOf; ///< by value, of its original
  /// The tensors of the clones' results, and by clone where its own begin.
  std::vector<uint32_t> cloneTensors, firstTensor;
};

} // namespace mlir::echo::planning

#endif // ECHO_LIB_PLANNING_REMATSTEP_H
