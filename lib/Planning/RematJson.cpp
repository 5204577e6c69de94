//===- RematJson.cpp - Problems and plans as JSON -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/remat.md has the fields. Values, ops and clones are written one a line.
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Remat.h"
#include "Json.h"

#include <charconv>

using namespace mlir::echo::planning;

namespace {

/// A name in JSON for each value of an enumeration.
template <typename Enum>
struct Keyword {
  Enum value;
  const char *name;
};

constexpr Keyword<RematPart> kParts[] = {{RematPart::Forward, "forward"},
                                         {RematPart::Backward, "backward"},
                                         {RematPart::Side, "side"}};

constexpr Keyword<RematReason> kReasons[] = {
    {RematReason::Recomputed, "recomputed"},
    {RematReason::Encoded, "encoded"},
    {RematReason::Heavy, "heavy"},
    {RematReason::Unrepeatable, "unrepeatable"},
    {RematReason::Input, "input"},
    {RematReason::NoGain, "no_gain"},
    {RematReason::Peak, "peak"},
    {RematReason::Excluded, "excluded"},
    {RematReason::Strategy, "strategy"}};

constexpr Keyword<FusionClass> kClasses[] = {
    {FusionClass::Host, "host"},
    {FusionClass::Pointwise, "pointwise"},
    {FusionClass::RowReduction, "row_reduction"},
    {FusionClass::ColumnReduction, "column_reduction"},
    {FusionClass::Alone, "alone"}};

/// `Row` is an object that has the columns.
constexpr Keyword<FusionAccess::Kind> kAccesses[] = {
    {FusionAccess::Same, "same"},
    {FusionAccess::Scalar, "scalar"},
    {FusionAccess::Part, "part"},
    {FusionAccess::Any, "any"},
    {FusionAccess::Order, "order"}};

constexpr Keyword<FusionWrite> kWrites[] = {{FusionWrite::Same, "same"},
                                            {FusionWrite::Row, "row"},
                                            {FusionWrite::Column, "column"},
                                            {FusionWrite::Other, "other"}};

template <typename Enum, size_t N>
const char *nameOf(const Keyword<Enum> (&keywords)[N], Enum value) {
  for (const Keyword<Enum> &keyword : keywords)
    if (keyword.value == value)
      return keyword.name;
  return "";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The shortest digits that read as `value`.
std::string showNumber(double value) {
  char digits[32];
  return std::string(digits,
                     std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

/// The fields of an object, one line of text.
class LineWriter {
public:
  explicit LineWriter(std::string &text) : text(text) { text += '{'; }
  ~LineWriter() { text += '}'; }

  void add(const char *name, uint64_t value) {
    key(name) += std::to_string(value);
  }
  void add(const char *name, double value) { key(name) += showNumber(value); }
  void add(const char *name, bool value) {
    key(name) += value ? "true" : "false";
  }
  void add(const char *name, std::string_view value) {
    // Names may be any bytes.
    key(name) += Json(value).dump(-1, ' ', /*ensure_ascii=*/false,
                                  Json::error_handler_t::replace);
  }
  template <typename Entries, typename Write>
  void addList(const char *name, const Entries &entries, Write write) {
    key(name) += '[';
    const char *separator = "";
    for (const auto &entry : entries) {
      text += separator;
      write(entry);
      separator = ", ";
    }
    text += ']';
  }
  void addIndices(const char *name, const std::vector<uint32_t> &indices) {
    addList(name, indices, [&](uint32_t index) {
      text += index == kNoIndex ? "null" : std::to_string(index);
    });
  }
  std::string &key(const char *name) {
    if (!isFirst)
      text += ", ";
    isFirst = false;
    return ((text += '"') += name) += "\": ";
  }

private:
  std::string &text;
  bool isFirst = true;
};

/// A field that is a list with an entry a line.
template <typename Write>
void addLines(std::string &text, const char *name, size_t size, Write write) {
  ((text += "  \"") += name) += "\": [";
  for (size_t i = 0; i < size; ++i) {
    text += i == 0 ? "\n    " : ",\n    ";
    write(i);
  }
  text += size == 0 ? "]" : "\n  ]";
}

void writeFusionShape(std::string &text, const FusionShape &shape) {
  const FusionShape standard;
  LineWriter line(text);
  line.add("class", std::string_view(nameOf(kClasses, shape.kind)));
  line.add("elements", shape.elements);
  if (shape.columns != standard.columns)
    line.add("columns", shape.columns);
  if (shape.outer != standard.outer)
    line.add("outer", shape.outer);
  if (shape.reduced != standard.reduced)
    line.add("reduced", shape.reduced);
  if (shape.accumulates)
    line.add("accumulates", true);
  if (shape.weight != standard.weight)
    line.add("weight", uint64_t(shape.weight));
  line.addList("reads", shape.reads, [&](const FusionAccess &read) {
    if (read.kind == FusionAccess::Row)
      LineWriter(text).add("row", read.columns);
    else
      ((text += '"') += nameOf(kAccesses, read.kind)) += '"';
  });
  line.addList("writes", shape.writes, [&](FusionWrite write) {
    ((text += '"') += nameOf(kWrites, write)) += '"';
  });
}

void writeValue(std::string &text, const RematValue &value,
                std::string_view name) {
  LineWriter line(text);
  if (!name.empty())
    line.add("name", name);
  if (value.source == kNoIndex)
    line.add("bytes", value.bytes);
  else
    line.add("view_of", uint64_t(value.source));
  if (value.isResident)
    line.add("resident", true);
  if (value.encodedBytes != RematValue::kNoBits)
    line.add("bits", value.encodedBytes);
}

void writeOp(std::string &text, const RematOp &op, std::string_view name) {
  LineWriter line(text);
  if (!name.empty())
    line.add("name", name);
  line.addIndices("inputs", op.inputs);
  line.addIndices("results", op.results);
  line.add("part", std::string_view(nameOf(kParts, op.part)));
  line.add("seconds", op.seconds);
  if (op.isHeavy)
    line.add("heavy", true);
  if (!op.isRepeatable)
    line.add("repeatable", false);
  if (!op.isMirrored)
    line.add("mirrored", false);
  if (op.overwritesInputs)
    line.add("in_place", true);
  if (op.flops != 0)
    line.add("flops", op.flops);
  if (op.fusion) {
    line.key("fusion");
    writeFusionShape(text, *op.fusion);
  }
  if (!op.readBytes.empty())
    line.addList("read_bytes", op.readBytes,
                 [&](uint64_t bytes) { text += std::to_string(bytes); });
}

std::string_view nameAt(const std::vector<std::string> &names, size_t index) {
  return index < names.size() ? std::string_view(names[index])
                              : std::string_view();
}

/// FNV-1a over what a plan relies on, so not over names and costs.
class Fingerprint {
public:
  explicit Fingerprint(const RematProblem &problem) {
    add(problem.values.size());
    for (const RematValue &value : problem.values) {
      add(value.bytes);
      add(value.isResident);
      add(value.source);
      add(value.encodedBytes);
    }
    add(problem.ops.size());
    for (const RematOp &op : problem.ops) {
      addList(op.inputs);
      addList(op.results);
      add(static_cast<uint64_t>(op.part));
      add(op.isRepeatable);
    }
    addList(problem.outputs);
  }

  std::string text() const {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[hash >> shift & 15];
    return text;
  }

private:
  void add(uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) {
      hash ^= number >> 8 * byte & 255;
      hash *= 0x100000001b3;
    }
  }
  void addList(const std::vector<uint32_t> &list) {
    add(list.size());
    for (uint32_t index : list)
      add(index);
  }

  uint64_t hash = 0xcbf29ce484222325;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::string placeOf(const std::string &list, size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

bool failAt(std::string &error, const std::string &place,
            const std::string &expected, const Json &found) {
  if (error.empty())
    error = "'" + place + "': expected " + expected + ", found " +
            (found.is_string() ? quote(found.get<std::string>())
                               : describeJson(found));
  return false;
}

bool isIndex(const Json &json, size_t limit) {
  return json.is_number_unsigned() && json.get<uint64_t>() < limit;
}

bool failIndex(std::string &error, const std::string &place, const char *kind,
               size_t limit, const char *others, const Json &found) {
  return failAt(error, place,
                "the index of one of " + std::to_string(limit) + " " + kind +
                    others,
                found);
}

/// An index below `limit` of what `kind` names.
bool readIndex(const Json &json, const std::string &place, const char *kind,
               size_t limit, uint32_t &index, std::string &error) {
  if (!isIndex(json, limit))
    return failIndex(error, place, kind, limit, "", json);
  index = static_cast<uint32_t>(json.get<uint64_t>());
  return true;
}

/// The entries of the list that field `name` is: `read(entry, place)` each.
/// Nothing happens after an error.
template <typename Read>
void readList(ObjectReader &reader, const char *name, std::string &error,
              Read read) {
  const Json *list = reader.read(name);
  if (!list)
    return;
  std::string path = reader.pathOf(name);
  if (!list->is_array()) {
    failAt(error, path, "an array", *list);
    return;
  }
  size_t index = 0;
  for (const Json &entry : *list)
    if (!read(entry, placeOf(path, index++)))
      return;
}

void readIndices(ObjectReader &reader, const char *name, const char *kind,
                 size_t limit, std::vector<uint32_t> &indices,
                 std::string &error, bool mayBeNull = false) {
  const Json *list = reader.read(name);
  if (!list)
    return;
  if (!list->is_array()) {
    failAt(error, reader.pathOf(name), "an array", *list);
    return;
  }
  indices.reserve(list->size());
  for (const Json &entry : *list) {
    if (mayBeNull && entry.is_null()) {
      indices.push_back(kNoIndex);
      continue;
    }
    if (!isIndex(entry, limit)) {
      failIndex(error, placeOf(reader.pathOf(name), indices.size()), kind,
                limit, mayBeNull ? " or null" : "", entry);
      return;
    }
    indices.push_back(static_cast<uint32_t>(entry.get<uint64_t>()));
  }
}

template <typename Enum, size_t N>
bool readKeyword(const Json &json, const std::string &place,
                 const Keyword<Enum> (&keywords)[N], Enum &value,
                 std::string &error) {
  std::string expected;
  for (const Keyword<Enum> &keyword : keywords) {
    if (json.is_string() &&
        json.get_ref<const std::string &>() == keyword.name) {
      value = keyword.value;
      return true;
    }
    expected +=
        std::string(expected.empty() ? "'" : ", '") + keyword.name + "'";
  }
  return failAt(error, place, expected, json);
}

void readFlag(ObjectReader &reader, const char *name, bool &value) {
  if (reader.has(name))
    reader.readBool(name, value);
}

void readCount(ObjectReader &reader, const char *name, uint64_t &value) {
  if (reader.has(name))
    reader.readInteger(name, value);
}

bool readAccess(const Json &json, const std::string &place,
                FusionAccess &access, std::string &error) {
  if (!json.is_object())
    return readKeyword(json, place, kAccesses, access.kind, error);
  access.kind = FusionAccess::Row;
  ObjectReader reader(json, place, error);
  reader.readInteger("row", access.columns);
  return reader.finish();
}

bool readFusionShape(const Json &json, const std::string &place,
                     FusionShape &shape, std::string &error) {
  ObjectReader reader(json, place, error);
  if (const Json *kind = reader.read("class"))
    readKeyword(*kind, reader.pathOf("class"), kClasses, shape.kind, error);
  reader.readInteger("elements", shape.elements);
  readCount(reader, "columns", shape.columns);
  readCount(reader, "outer", shape.outer);
  readCount(reader, "reduced", shape.reduced);
  readFlag(reader, "accumulates", shape.accumulates);
  uint64_t weight = shape.weight;
  readCount(reader, "weight", weight);
  if (weight >= kNoIndex)
    reader.fail("'" + reader.pathOf("weight") +
                "': expected a number below 2^32 - 1, found " +
                std::to_string(weight));
  shape.weight = static_cast<uint32_t>(weight);
  readList(reader, "reads", error,
           [&](const Json &entry, const std::string &place) {
             shape.reads.emplace_back();
             return readAccess(entry, place, shape.reads.back(), error);
           });
  readList(reader, "writes", error,
           [&](const Json &entry, const std::string &place) {
             shape.writes.push_back(FusionWrite::Other);
             return readKeyword(entry, place, kWrites, shape.writes.back(),
                                error);
           });
  return reader.finish();
}

/// Reads a problem; `numValues` is known before its values are read.
class ProblemReader {
public:
  explicit ProblemReader(std::string &error) : error(error) {}

  bool read(const Json &json);

  RematProblem problem;

private:
  bool readValue(const Json &json, const std::string &place);
  bool readOp(const Json &json, const std::string &place);
  bool findParts();

  std::string &error;
  size_t numValues = 0;
  uint32_t loss = kNoIndex;
  std::vector<uint32_t> targets;
  bool hasTargets = false;
  std::vector<bool> hasPart; ///< by op
};

} // namespace

bool ProblemReader::readValue(const Json &json, const std::string &place) {
  RematValue &value = problem.values.emplace_back();
  std::string &name = problem.valueNames.emplace_back();
  ObjectReader reader(json, place, error);
  if (reader.has("name"))
    reader.readString("name", name);
  if (const Json *source = reader.readOptional("view_of")) {
    readIndex(*source, reader.pathOf("view_of"), "values", numValues,
              value.source, error);
    readCount(reader, "bytes", value.bytes);
  } else {
    reader.readInteger("bytes", value.bytes);
  }
  readFlag(reader, "resident", value.isResident);
  readCount(reader, "bits", value.encodedBytes);
  return reader.finish();
}

bool ProblemReader::readOp(const Json &json, const std::string &place) {
  RematOp &op = problem.ops.emplace_back();
  std::string &name = problem.opNames.emplace_back();
  ObjectReader reader(json, place, error);
  if (reader.has("name"))
    reader.readString("name", name);
  readIndices(reader, "inputs", "values", numValues, op.inputs, error);
  readIndices(reader, "results", "values", numValues, op.results, error);
  const Json *part = reader.readOptional("part");
  hasPart.push_back(part != nullptr);
  if (part)
    readKeyword(*part, reader.pathOf("part"), kParts, op.part, error);
  reader.readNumber("seconds", op.seconds);
  readFlag(reader, "heavy", op.isHeavy);
  readFlag(reader, "repeatable", op.isRepeatable);
  readFlag(reader, "mirrored", op.isMirrored);
  readFlag(reader, "in_place", op.overwritesInputs);
  readCount(reader, "flops", op.flops);
  if (reader.has("read_bytes"))
    readList(reader, "read_bytes", error,
             [&](const Json &entry, const std::string &place) {
               if (!entry.is_number_unsigned())
                 return failAt(error, place, "an integer >= 0", entry);
               op.readBytes.push_back(entry.get<uint64_t>());
               return true;
             });
  if (const Json *fusion = reader.readOptional("fusion"))
    readFusionShape(*fusion, reader.pathOf("fusion"), op.fusion.emplace(),
                    error);
  return reader.finish();
}

/// Parts that the ops don't tell follow from the loss and the targets.
bool ProblemReader::findParts() {
  std::string who;
  for (size_t op = 0; op < hasPart.size() && who.empty(); ++op)
    if (!hasPart[op])
      who = placeOf("ops", op);
  auto fail = [&](std::string message) {
    error = std::move(message);
    return false;
  };
  if (loss == kNoIndex && hasTargets)
    return fail("'loss' is missing, but there are 'targets'");
  if (loss != kNoIndex) {
    bool isMade = false;
    for (const RematOp &op : problem.ops)
      for (uint32_t value : op.results)
        isMade |= value == loss;
    if (!isMade)
      return fail("'loss': no op makes value " + std::to_string(loss));
  }
  if (who.empty())
    return true;
  if (loss == kNoIndex)
    return fail("'loss' is missing, and '" + who + "' has no 'part'");
  if (!hasTargets)
    return fail("'targets' is missing, and '" + who + "' has no 'part'");
  std::vector<RematPart> given;
  for (const RematOp &op : problem.ops)
    given.push_back(op.part);
  findRematParts(problem, loss, targets);
  for (size_t op = 0; op < given.size(); ++op)
    if (hasPart[op])
      problem.ops[op].part = given[op];
  return true;
}

bool ProblemReader::read(const Json &json) {
  ObjectReader reader(json, "", error);
  if (const Json *values = reader.readOptional("values"))
    numValues = values->is_array() ? values->size() : 0;
  if (numValues >= kNoIndex)
    return reader.fail("'values': more than 2^32 - 2");
  readList(reader, "values", error,
           [&](const Json &entry, const std::string &place) {
             return readValue(entry, place);
           });
  readList(reader, "ops", error,
           [&](const Json &entry, const std::string &place) {
             return readOp(entry, place);
           });
  if (const Json *field = reader.readOptional("loss"))
    readIndex(*field, "loss", "values", numValues, loss, error);
  hasTargets = reader.has("targets");
  if (hasTargets)
    readIndices(reader, "targets", "values", numValues, targets, error);
  readIndices(reader, "outputs", "values", numValues, problem.outputs, error);
  if (reader.has("memory_bandwidth"))
    reader.readNumber("memory_bandwidth", problem.memoryBandwidth);
  if (reader.has("launch_seconds"))
    reader.readNumber("launch_seconds", problem.launchSeconds);
  if (!reader.finish() || !findParts())
    return false;
  for (auto *names : {&problem.valueNames, &problem.opNames}) {
    bool isNamed = false;
    for (const std::string &name : *names)
      isNamed |= !name.empty();
    if (!isNamed)
      names->clear();
  }
  return checkRematProblem(problem, error);
}

std::string
mlir::echo::planning::writeRematProblem(const RematProblem &problem) {
  std::string text = "{\n";
  addLines(text, "values", problem.values.size(), [&](size_t i) {
    writeValue(text, problem.values[i], nameAt(problem.valueNames, i));
  });
  text += ",\n";
  addLines(text, "ops", problem.ops.size(), [&](size_t i) {
    writeOp(text, problem.ops[i], nameAt(problem.opNames, i));
  });
  text += ",\n";
  addLines(text, "outputs", problem.outputs.size(),
           [&](size_t i) { text += std::to_string(problem.outputs[i]); });
  for (auto [name, number] :
       {std::pair("memory_bandwidth", problem.memoryBandwidth),
        std::pair("launch_seconds", problem.launchSeconds)})
    if (number != 0)
      ((((text += ",\n  \"") += name) += "\": ") += showNumber(number));
  return text += "\n}\n";
}

bool mlir::echo::planning::readRematProblem(std::string_view json,
                                            RematProblem &problem,
                                            std::string &error) {
  error.clear();
  Json value;
  if (!parseJson(json, value, error))
    return false;
  ProblemReader reader(error);
  if (!reader.read(value))
    return false;
  problem = std::move(reader.problem);
  return true;
}

std::string mlir::echo::planning::writeRematPlan(const RematProblem &problem,
                                                 const RematPlan &plan) {
  std::string text = "{\n  \"problem\": ";
  {
    LineWriter line(text);
    line.add("values", uint64_t(problem.values.size()));
    line.add("ops", uint64_t(problem.ops.size()));
    line.add("hash", std::string_view(Fingerprint(problem).text()));
  }
  text += ",\n";
  addLines(text, "clones", plan.clones.size(), [&](size_t i) {
    LineWriter line(text);
    line.add("op", uint64_t(plan.clones[i].op));
    line.add("before", uint64_t(plan.clones[i].before));
    line.addIndices("inputs", plan.clones[i].inputs);
  });
  text += ",\n";
  addLines(text, "reads", plan.reads.size(), [&](size_t i) {
    LineWriter line(text);
    line.add("op", uint64_t(plan.reads[i].op));
    line.add("operand", uint64_t(plan.reads[i].operand));
    line.add("clone", uint64_t(plan.reads[i].clone));
  });
  text += ",\n";
  addLines(text, "encoded", plan.encoded.size(),
           [&](size_t i) { text += std::to_string(plan.encoded[i]); });
  text += ",\n";
  addLines(text, "decisions", plan.decisions.size(), [&](size_t i) {
    const RematDecision &decision = plan.decisions[i];
    LineWriter line(text);
    line.add("value", uint64_t(decision.value));
    line.add("reason", std::string_view(nameOf(kReasons, decision.reason)));
    if (decision.isForClones)
      line.add("for_clones", true);
  });
  return text += "\n}\n";
}

/// Whether the field "problem" of a plan is of this problem.
static bool checkFingerprint(const Json &json, const RematProblem &problem,
                             std::string &error) {
  ObjectReader reader(json, "problem", error);
  uint64_t values = 0, ops = 0;
  std::string hash;
  reader.readInteger("values", values);
  reader.readInteger("ops", ops);
  reader.readString("hash", hash);
  if (!reader.finish())
    return false;
  if (values != problem.values.size() || ops != problem.ops.size())
    return reader.fail("the plan is for another step, of " +
                       std::to_string(values) + " values and " +
                       std::to_string(ops) + " ops instead of " +
                       std::to_string(problem.values.size()) + " and " +
                       std::to_string(problem.ops.size()));
  if (hash != Fingerprint(problem).text())
    return reader.fail("the plan is for another step, with as many values and "
                       "ops, but other sizes, parts or operands");
  return true;
}

bool mlir::echo::planning::readRematPlan(std::string_view json,
                                         const RematProblem &problem,
                                         RematPlan &plan, std::string &error) {
  error.clear();
  Json value;
  if (!parseJson(json, value, error))
    return false;
  RematPlan read;
  size_t numValues = problem.values.size(), numOps = problem.ops.size();
  ObjectReader reader(value, "", error);
  if (const Json *fingerprint = reader.read("problem"))
    checkFingerprint(*fingerprint, problem, error);
  if (!error.empty())
    return false;
  size_t numClones = 0;
  if (const Json *clones = reader.readOptional("clones"))
    numClones = clones->is_array() ? clones->size() : 0;
  if (numClones >= kNoIndex)
    return reader.fail("'clones': more than 2^32 - 2");
  auto readField = [&](ObjectReader &entry, const char *name, const char *kind,
                       size_t limit, uint32_t &index) {
    if (const Json *field = entry.read(name))
      readIndex(*field, entry.pathOf(name), kind, limit, index, error);
  };
  readList(reader, "clones", error,
           [&](const Json &json, const std::string &place) {
             RematClone &clone = read.clones.emplace_back();
             ObjectReader entry(json, place, error);
             readField(entry, "op", "ops", numOps, clone.op);
             readField(entry, "before", "ops", numOps, clone.before);
             readIndices(entry, "inputs", "clones", numClones, clone.inputs,
                         error, /*mayBeNull=*/true);
             return entry.finish();
           });
  readList(reader, "reads", error,
           [&](const Json &json, const std::string &place) {
             RematRead &late = read.reads.emplace_back();
             ObjectReader entry(json, place, error);
             readField(entry, "op", "ops", numOps, late.op);
             readField(entry, "operand", "operands", kNoIndex, late.operand);
             readField(entry, "clone", "clones", numClones, late.clone);
             return entry.finish();
           });
  readIndices(reader, "encoded", "values", numValues, read.encoded, error);
  readList(reader, "decisions", error,
           [&](const Json &json, const std::string &place) {
             RematDecision &decision = read.decisions.emplace_back();
             ObjectReader entry(json, place, error);
             readField(entry, "value", "values", numValues, decision.value);
             if (const Json *reason = entry.read("reason"))
               readKeyword(*reason, entry.pathOf("reason"), kReasons,
                           decision.reason, error);
             readFlag(entry, "for_clones", decision.isForClones);
             return entry.finish();
           });
  if (!reader.finish() || !checkRematPlan(problem, read, error))
    return false;
  plan = std::move(read);
  return true;
}
