//===- PrintUseRefs.cpp - What rematerialization sees of a step -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/RematGraph.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOPRINTUSEREFSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Prints ops as "matmul#3": a kind, and the place among the ops of the step.
class RefPrinter {
public:
  RefPrinter(const RematGraph &graph, llvm::raw_ostream &os)
      : graph(graph), os(os) {
    for (auto [index, op] : llvm::enumerate(graph.getOps()))
      indices[op] = index;
  }

  void printRefs() {
    planning::EdgeUseRefs refs = planning::findEdgeUseRefs(graph.getProblem());
    for (uint32_t value = 0; value < refs.forward.size(); ++value) {
      if (refs.forward[value].empty() && refs.backward[value].empty())
        continue;
      printValue(value);
      os << ": forward";
      printOps(refs.forward[value]);
      os << ", backward";
      printOps(refs.backward[value]);
      os << "\n";
    }
  }

  void printPartition() {
    auto subgraphs = planning::partitionForRemat(graph.getProblem());
    for (auto [index, subgraph] : llvm::enumerate(subgraphs)) {
      os << "subgraph " << index << ":";
      printOps(subgraph);
      os << "\n";
    }
  }

private:
  void printOp(uint32_t op) {
    os << graph.getOps()[op]->getName().stripDialect() << "#" << op;
  }

  void printOps(ArrayRef<uint32_t> ops) {
    os << " [";
    llvm::interleaveComma(ops, os, [&](uint32_t op) { printOp(op); });
    os << "]";
  }

  void printValue(uint32_t index) {
    Value value = graph.getValues()[index];
    const planning::RematValue &entry = graph.getProblem().values[index];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      os << "argument#" << argument.getArgNumber();
    } else if (value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>()) {
      os << "constant";
    } else {
      printOp(indices.at(value.getDefiningOp()));
      if (value.getDefiningOp()->getNumResults() > 1)
        os << "." << cast<OpResult>(value).getResultNumber();
    }
    os << " (";
    if (entry.isResident)
      os << "resident";
    else
      os << entry.bytes << " bytes";
    os << ")";
  }

  const RematGraph &graph;
  llvm::raw_ostream &os;
  DenseMap<Operation *, uint32_t> indices;
};

struct EchoPrintUseRefsPass
    : public echo::impl::EchoPrintUseRefsPassBase<EchoPrintUseRefsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> target = findFunction(getOperation(), function);
    if (failed(target))
      return signalPassFailure();
    std::optional<int64_t> lossOption;
    if (loss != -1)
      lossOption = loss;
    FailureOr<unsigned> index = getLossIndex(*target, lossOption);
    if (failed(index))
      return signalPassFailure();
    planning::CostModel model;
    model.device = *planning::findDevice("cpu");
    FailureOr<RematGraph> graph = RematGraph::build(*target, *index, model);
    if (failed(graph))
      return signalPassFailure();
    llvm::outs() << "@" << target->getName() << "\n";
    RefPrinter printer(*graph, llvm::outs());
    if (partition)
      printer.printPartition();
    else
      printer.printRefs();
    markAllAnalysesPreserved();
  }
};

} // namespace
