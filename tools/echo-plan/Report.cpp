//===- Report.cpp - Reports of plans --------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Echo/Analysis/Layers.h"
#include "Table.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::plan;
using nlohmann::ordered_json;

/// Tensors that are listed at the peak.
static constexpr size_t kLargestTensors = 10;

static constexpr std::array<MemoryStructure, kNumMemoryStructures> kStructures =
    {MemoryStructure::Weights,     MemoryStructure::OptimizerState,
     MemoryStructure::FeatureMaps, MemoryStructure::Gradients,
     MemoryStructure::Inputs,      MemoryStructure::Workspace,
     MemoryStructure::Other};

/// What the arena has beyond the peak: alignment, and gaps of the placement.
static uint64_t gapBytes(const StepPlan &plan) {
  return plan.arenaBytes - plan.memory.logicalPeakBytes;
}

std::vector<LayerMemory> plan::groupByLayer(const StepMemory &memory,
                                            unsigned depth) {
  llvm::MapVector<StringRef, LayerMemory> layers;
  llvm::StringMap<std::string> groups;
  auto layerOf = [&](const std::string &name) -> LayerMemory & {
    auto [entry, isNew] = groups.try_emplace(name);
    if (isNew)
      entry->second = layerGroup(name, depth);
    LayerMemory &layer = layers[entry->second];
    layer.name = entry->second;
    return layer;
  };
  for (const TensorLifetime &tensor : memory.persistent)
    layerOf(tensor.layer).bytes[tensor.structure] += tensor.bytes;
  for (const TensorLifetime &tensor : memory.arena) {
    LayerMemory &layer = layerOf(tensor.layer);
    if (memory.isAliveAtPeak(tensor))
      layer.bytes[tensor.structure] += tensor.bytes;
    if (tensor.structure == MemoryStructure::FeatureMaps)
      layer.featureMaps += tensor.bytes;
  }
  std::vector<LayerMemory> sorted;
  for (auto &[name, layer] : layers)
    if (layer.bytes.sum() != 0 || layer.featureMaps != 0)
      sorted.push_back(std::move(layer));
  llvm::stable_sort(sorted, [](const LayerMemory &a, const LayerMemory &b) {
    return a.bytes.sum() > b.bytes.sum();
  });
  return sorted;
}

/// "128x50xf32"
static std::string showShape(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto shaped = cast<ShapedType>(type);
  for (int64_t dim : shaped.getShape())
    stream << dim << "x";
  stream << shaped.getElementType();
  return text;
}

static void printTotals(const StepPlan &plan, llvm::raw_ostream &os) {
  const StepMemory &memory = plan.memory;
  os << "memory\n";
  Table table;
  table.add({"persistent", showBytes(memory.persistentBytes)});
  table.add({"arena", showBytes(plan.arenaBytes)});
  table.add({"total", showBytes(plan.totalBytes)});
  table.add({"logical peak", showBytes(memory.logicalPeakBytes)});
  table.add({"feature maps", showBytes(memory.featureMapBytes)});
  table.print(os);
}

static void printStructures(const StepPlan &plan, llvm::raw_ostream &os) {
  os << "\nby structure\n";
  Table table;
  table.add({"", "at the peak", "at most"});
  for (MemoryStructure structure : kStructures)
    table.add({nameOf(structure).str(),
               showBytes(plan.memory.atPeak[structure]),
               showBytes(plan.memory.largest[structure])});
  table.add({"gaps", showBytes(gapBytes(plan)), showBytes(gapBytes(plan))});
  table.print(os);
}

static void printLayers(const StepPlan &plan, unsigned depth,
                        llvm::raw_ostream &os) {
  os << "\nby layer, at the peak\n";
  Table table;
  table.add(
      {"", "all", "feature maps", "gradients", "weights", "optimizer", "rest"});
  for (const LayerMemory &layer : groupByLayer(plan.memory, depth)) {
    const StructureBytes &bytes = layer.bytes;
    uint64_t featureMaps = bytes[MemoryStructure::FeatureMaps];
    uint64_t gradients = bytes[MemoryStructure::Gradients];
    uint64_t weights = bytes[MemoryStructure::Weights];
    uint64_t optimizer = bytes[MemoryStructure::OptimizerState];
    table.add({layer.name.empty() ? "(none)" : layer.name,
               showBytes(bytes.sum()), showBytes(featureMaps),
               showBytes(gradients), showBytes(weights), showBytes(optimizer),
               showBytes(bytes.sum() - featureMaps - gradients - weights -
                         optimizer)});
  }
  table.print(os);
}

static void printPeak(const StepPlan &plan, llvm::raw_ostream &os) {
  if (!plan.peak)
    return;
  os << "\npeak: call " << plan.peak->index << " of " << plan.time.calls << ", "
     << nameOf(plan.peak->part) << ", " << plan.peak->work << " at "
     << plan.peak->layer << "\n";
  SmallVector<const TensorLifetime *> alive;
  for (const TensorLifetime &tensor : plan.memory.arena)
    if (plan.memory.isAliveAtPeak(tensor))
      alive.push_back(&tensor);
  llvm::stable_sort(alive,
                    [](const TensorLifetime *a, const TensorLifetime *b) {
                      return a->bytes > b->bytes;
                    });
  if (alive.size() > kLargestTensors)
    alive.resize(kLargestTensors);
  os << "largest tensors alive there\n";
  Table table;
  for (const TensorLifetime *tensor : alive) {
    Location location =
        tensor->producer ? tensor->producer->getLoc() : tensor->buffer.getLoc();
    table.add({nameOf(tensor->structure).str(), showBytes(tensor->bytes),
               showShape(tensor->type), describeLocation(location)});
  }
  table.print(os);
}

static double overhead(const StepPlan &plan, const StepPlan &baseline) {
  return baseline.time.total > 0 ? plan.time.total / baseline.time.total - 1
                                 : 0;
}

static void printTime(const StepPlan &plan, const StepPlan &baseline,
                      const planning::CostModel &model, llvm::raw_ostream &os) {
  const StepTime &time = plan.time;
  os << "\ntime of a step, modelled for " << model.device.name << ": "
     << showSeconds(time.total) << " (kernels " << showSeconds(time.kernels)
     << ", library calls " << showSeconds(time.libraryCalls) << ", "
     << time.calls << " calls";
  if (!model.measured.empty())
    os << ", " << time.measuredCalls << " of them measured";
  os << ")\n";
  if (plan.changesStep())
    os << "overhead: " << llvm::format("%.2f%%", 100 * overhead(plan, baseline))
       << "\n";
}

void plan::printTables(const StepPlan &plan, const StepPlan &baseline,
                       const planning::CostModel &model, unsigned depth,
                       llvm::raw_ostream &os) {
  os << "@" << plan.function << ", strategy " << plan.strategy << ": "
     << plan.forwardOps << " forward ops, " << plan.backwardOps << " backward, "
     << plan.sideOps << " side, " << plan.recomputedOps << " recomputed"
     << describeUnwritten(plan.recomputedOps, plan.unwrittenOps);
  if (plan.encodedValues != 0)
    os << ", " << plan.encodedValues << " values as bits";
  os << "\n";
  if (plan.isGivenUp)
    os << "The strategy's plan needs no less memory and isn't applied.\n";
  os << "\n";
  printTotals(plan, os);
  printStructures(plan, os);
  printLayers(plan, depth, os);
  printPeak(plan, os);
  printTime(plan, baseline, model, os);
}

static ordered_json structuresJson(const StructureBytes &bytes) {
  ordered_json json;
  for (MemoryStructure structure : kStructures)
    json[nameOf(structure).str()] = bytes[structure];
  return json;
}

static ordered_json makeReport(const StepPlan &plan, const StepPlan &baseline,
                               unsigned depth) {
  ordered_json json;
  json["strategy"] = plan.strategy;
  json["bytes"] = {{"persistent", plan.memory.persistentBytes},
                   {"feature_maps", plan.memory.featureMapBytes},
                   {"logical_peak", plan.memory.logicalPeakBytes},
                   {"arena", plan.arenaBytes},
                   {"total", plan.totalBytes}};
  ordered_json &structures = json["by_structure"];
  structures = structuresJson(plan.memory.atPeak);
  structures["gaps"] = gapBytes(plan);
  ordered_json &layers = json["by_layer"] = ordered_json::array();
  for (const LayerMemory &layer : groupByLayer(plan.memory, depth))
    layers.push_back({{"layer", layer.name},
                      {"bytes", layer.bytes.sum()},
                      {"feature_maps", layer.featureMaps},
                      {"by_structure", structuresJson(layer.bytes)}});
  json["ops"] = {{"forward", plan.forwardOps},
                 {"backward", plan.backwardOps},
                 {"side", plan.sideOps},
                 {"recomputed", plan.recomputedOps},
                 {"unwritten", plan.unwrittenOps}};
  json["time"] = {{"modelled", plan.time.total},
                  {"baseline", baseline.time.total}};
  json["overhead"] = {{"modelled", overhead(plan, baseline)}};
  json["seconds"] = {{"read", plan.seconds.read},
                     {"training_step", plan.seconds.trainingStep},
                     {"remat", plan.seconds.remat},
                     {"schedule", plan.seconds.schedule},
                     {"kernels", plan.seconds.kernels},
                     {"placement", plan.seconds.placement},
                     {"analysis", plan.seconds.analysis}};
  return json;
}

/// Names may be any bytes.
static std::string dump(const ordered_json &json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::string plan::makeJson(const StepPlan &plan, const StepPlan &baseline,
                           unsigned depth) {
  return dump(makeReport(plan, baseline, depth));
}

/// True if tools would apply a plan.
static bool isApplied(const StepPlan &plan, const StepPlan &baseline) {
  return plan.changesStep() && plan.arenaBytes < baseline.arenaBytes;
}

void plan::printComparison(ArrayRef<StepPlan> plans, llvm::raw_ostream &os) {
  const StepPlan &baseline = plans.front();
  os << "@" << baseline.function << ": " << baseline.forwardOps
     << " forward ops, " << baseline.backwardOps << " backward, "
     << baseline.sideOps << " side\n\n";
  Table table;
  table.add({"strategy", "total", "of none", "feature maps", "arena",
             "recomputed", "unwritten", "overhead", "planned in", "applied"});
  for (const StepPlan &plan : plans) {
    double ratio = plan.totalBytes == 0
                       ? 1
                       : double(plan.totalBytes) / baseline.totalBytes;
    std::string applied = !plan.changesStep()         ? "-"
                          : isApplied(plan, baseline) ? "yes"
                                                      : "no";
    table.add({plan.strategy, showBytes(plan.totalBytes),
               llvm::formatv("{0:F3}", ratio).str(),
               showBytes(plan.memory.featureMapBytes),
               showBytes(plan.arenaBytes), std::to_string(plan.recomputedOps),
               std::to_string(plan.unwrittenOps),
               llvm::formatv("{0:F2}%", 100 * overhead(plan, baseline)).str(),
               showSeconds(plan.seconds.remat), applied});
  }
  table.print(os);
}

std::string plan::makeComparisonJson(ArrayRef<StepPlan> plans, unsigned depth) {
  ordered_json json;
  for (const StepPlan &plan : plans) {
    ordered_json report = makeReport(plan, plans.front(), depth);
    report["applied"] = isApplied(plan, plans.front());
    json["strategies"].push_back(std::move(report));
  }
  return dump(json);
}
