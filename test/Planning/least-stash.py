# UNSUPPORTED: sanitized
# RUN: %cc -shared -o %t.so -Wl,--whole-archive %echo_lib/libEchoPlanning.a \
# RUN:   -Wl,--no-whole-archive -lstdc++ -lm
# RUN: %python %s %t.so 1000
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans beside brute force, on random training steps of up to 10 forward ops.

Every plan runs in a simulator of its own, which has to find the bytes that the
report says and the results of the step without a plan. The stash of `echo` is
set beside the least that any set of recomputed ops leaves.

    least-stash.py LIBRARY COUNT [SEED]    COUNT steps, or the one of a seed
"""

import collections
import ctypes
import json
import random
import sys

NONE = {"clones": [], "reads": [], "encoded": []}
# Of so many steps in 100 the stash is at most so many times the least.
BOUNDS = [(50, 1), (99, 1.1)]


class Step:
    """A problem, and what its gradients read: 'none', 'inputs', 'outputs' or
    'both' by forward op."""

    def __init__(self):
        self.values, self.ops, self.rules = [], [], []
        self.outputs, self.targets, self.is_late = [], [], []

    def value(self, bytes, **fields):
        self.values.append(dict(fields, bytes=bytes))
        return len(self.values) - 1

    def op(self, inputs, results, rule, is_late=False, **fields):
        self.ops.append(dict(fields, inputs=inputs, results=results, seconds=1))
        self.rules.append(rule)
        self.is_late.append(is_late)
        return results

    def bytes_of(self, value):
        while "view_of" in self.values[value]:
            value = self.values[value]["view_of"]
        return self.values[value]["bytes"]

    def finish(self, values):
        """Makes the loss of `values`, and an op for the gradient of every op
        that it depends on, in reverse."""
        self.loss, = self.op(values, [self.value(4)], "none")
        self.outputs.append(self.loss)
        made = {value for op in self.ops for value in op["results"]}
        gradients = collections.defaultdict(list)
        gradients[self.loss] = [self.value(4, resident=True)]
        for index in reversed(range(len(self.ops))):
            op, rule = self.ops[index], self.rules[index]
            reads = [g for value in op["results"] for g in gradients[value]]
            if not reads:
                continue
            if rule in ("inputs", "both"):
                reads += op["inputs"]
            if rule in ("outputs", "both"):
                reads += op["results"]
            results = []
            for value in op["inputs"]:
                results.append(self.value(self.bytes_of(value)))
                if value in made:
                    gradients[value].append(results[-1])
                else:
                    self.targets.append(results[-1])
            self.op(reads, results, None, is_late=True,
                    heavy=op.get("heavy", False))
        self.outputs += self.targets
        return self

    def problem(self):
        return {"values": self.values, "ops": self.ops, "loss": self.loss,
                "targets": self.targets, "outputs": self.outputs}

    def root(self, value):
        while "view_of" in self.values[value]:
            value = self.values[value]["view_of"]
        return value

    def is_view(self, op):
        return all("view_of" in self.values[value] for value in op["results"])


def make_step(seed):
    """Products, elementwise ops, dropout, views, a running statistic and dead
    ends. Values are read near to where they are made, or far away."""
    draw = random.Random(seed)
    step = Step()
    made = [step.value(draw.randint(1, 100)) for _ in range(2)]
    weight = step.value(1000, resident=True)
    last_op = draw.randint(2, 9)  # the loss's is one more

    def pick():
        back = draw.randrange(3) if draw.randrange(4) else \
            draw.randrange(len(made))
        return made[-1 - min(back, len(made) - 1)]

    while len(step.ops) < last_op:
        size = draw.randint(1, 100)
        kind = draw.choice(["heavy", "unary", "binary", "binary", "binary",
                            "dropout", "view", "once"])
        rule = draw.choice(["none", "inputs", "outputs", "both"])
        in_place = draw.random() < 0.5
        if kind == "heavy":
            made += step.op([pick(), weight], [step.value(size)], "inputs",
                            heavy=True)
        elif kind == "unary":
            x = pick()
            # Signs of ReLU.
            bits = {"bits": -(-step.bytes_of(x) // 32)} \
                if draw.random() < 0.3 else {}
            made += step.op([x], [step.value(step.bytes_of(x), **bits)],
                            "outputs", in_place=in_place)
        elif kind == "binary":
            made += step.op([pick(), pick()], [step.value(size)], rule,
                            in_place=in_place)
        elif kind == "dropout":
            x = pick()
            size = step.bytes_of(x)
            y, mask = step.value(size), step.value(
                -(-size // 4), bits=-(-size // 128))
            # Its gradient reads the mask.
            step.op([x], [y, mask], "outputs", mirrored=False)
            made.append(y)
        elif kind == "view":
            x = pick()
            step.values.append({"view_of": x})
            made += step.op([x], [len(step.values) - 1], "none")
        else:
            made += step.op([pick()], [step.value(size)], rule,
                            repeatable=False)
    if draw.random() < 0.3:
        # A statistic, which neither the loss nor a gradient needs.
        step.outputs += step.op([pick()], [step.value(8)], "none")
    return step.finish(sorted({made[-1], made[len(made) // 2]}))


class Simulator:
    """Runs a step under a plan; tensors are places in `bytes`, `contents`."""

    def __init__(self, step, plan):
        self.step, self.plan = step, plan
        self.bytes, self.contents = [], []
        self.first, self.last, self.last_early = [], [], []
        self.is_clone = []
        self.late_reads = set()
        self.evaluations = []  # of tensors that are read, made, and in place
        self.original, self.clones = {}, []
        made = {value for op in step.ops for value in op["results"]}
        for value, entry in enumerate(step.values):
            if value not in made:
                self.original[value] = self.make(value, 0, ("input", value))
        clones = collections.deque(plan["clones"])
        reads = {(read["op"], read["operand"]): read["clone"]
                 for read in plan["reads"]}
        for index, op in enumerate(step.ops):
            while clones and clones[0]["before"] == index:
                clone = clones.popleft()
                source = step.ops[clone["op"]]
                inputs = [self.original[value] if which is None
                          else self.clones[which][value]
                          for value, which in zip(source["inputs"],
                                                  clone["inputs"])]
                self.clones.append(self.run(clone["op"], inputs, True, True))
            inputs = [self.clones[reads[index, i]][value]
                      if (index, i) in reads else self.original[value]
                      for i, value in enumerate(op["inputs"])]
            self.original.update(
                self.run(index, inputs, step.is_late[index], False))
        assert not clones

    def make(self, value, time, content, is_clone=False):
        entry = self.step.values[value]
        self.bytes.append(0 if entry.get("resident") else entry["bytes"])
        self.contents.append(content)
        self.first.append(time)
        self.last.append(time)
        self.last_early.append(time)
        self.is_clone.append(is_clone)
        return len(self.bytes) - 1

    def run(self, index, inputs, is_late, is_clone):
        op, time = self.step.ops[index], len(self.evaluations)
        contents = tuple(self.contents[tensor] for tensor in inputs)
        results, made = {}, []
        for place, value in enumerate(op["results"]):
            source = self.step.values[value].get("view_of")
            if source is not None:
                results[value] = inputs[op["inputs"].index(source)]
                continue
            results[value] = self.make(
                value, time, hash((index, place, contents)), is_clone)
            made.append(results[value])
        is_view = self.step.is_view(op)
        for tensor in () if is_view else inputs:
            self.last[tensor] = time
            if is_late:
                self.late_reads.add(tensor)
            else:
                self.last_early[tensor] = time
        self.evaluations.append((inputs if not is_view else [], made,
                                 op.get("in_place", False)))
        return results

    def results(self):
        return [self.contents[self.original[value]]
                for value in self.step.outputs]

    def encoded(self):
        return {self.original[value]: self.step.values[value]["bits"]
                for value in self.plan["encoded"]}

    def stash(self):
        """What the forward part hands to the backward part and to clones."""
        late = {self.original[value]
                for op, is_late in zip(self.step.ops, self.step.is_late)
                if is_late for value in op["results"]}
        bits = self.encoded()
        return sum(bits.get(tensor, self.bytes[tensor])
                   for tensor in self.late_reads
                   if not self.is_clone[tensor] and tensor not in late)

    def peak(self):
        end = len(self.evaluations)
        last, bits = list(self.last), self.encoded()
        for value in self.step.outputs:
            last[self.original[value]] = end
        alive = [[] for _ in range(end + 1)]
        for tensor in bits:
            alive[self.first[tensor]].append(bits[tensor])
            for time in range(self.first[tensor] + 1, self.last[tensor] + 1):
                alive[time].append(bits[tensor])
            last[tensor] = self.last_early[tensor]
        taken = set()
        for time, (reads, made, in_place) in enumerate(self.evaluations):
            for result in made if in_place else ():
                for tensor in reads:
                    if (self.bytes[tensor] == self.bytes[result] and
                            last[tensor] == time and tensor not in taken and
                            tensor not in bits):
                        taken.add(tensor)
                        break
        for tensor, size in enumerate(self.bytes):
            for time in range(self.first[tensor],
                              last[tensor] + (tensor not in taken)):
                alive[time].append(size)
        return max(map(sum, alive))

    def is_within(self, stash, peak):
        return self.stash() <= stash and self.peak() <= peak


class Choices:
    """All sets of ops that can be recomputed. Clones are made on demand; what
    stays is stashed as bits where no clone reads it."""

    def __init__(self, step):
        self.step = step
        self.producer = {value: index for index, op in enumerate(step.ops)
                         for value in op["results"]}
        roots = [value for value, entry in enumerate(step.values)
                 if "view_of" not in entry and not entry.get("resident") and
                 not self.is_late_made(value)]
        self.bit = {value: 1 << i for i, value in enumerate(roots)}
        self.late_reads, self.candidates = 0, []
        for index, op in enumerate(step.ops):
            if step.is_view(op):
                continue
            reads = sum({self.bit[step.root(value)] for value in op["inputs"]
                         if step.root(value) in self.bit})
            if step.is_late[index]:
                self.late_reads |= reads
            elif not op.get("heavy") and op.get("repeatable", True):
                results = sum(self.bit[value] for value in op["results"])
                self.candidates.append((index, reads, results))
        outputs = {step.root(value) for value in step.outputs}
        # By value: its bit, its bytes, and those that late readers need.
        self.sizes = []
        for value in roots:
            whole = step.values[value]["bytes"]
            bits = step.values[value].get("bits", whole)
            self.sizes.append((self.bit[value], whole,
                               whole if value in outputs else min(whole, bits)))

    def is_late_made(self, value):
        return value in self.producer and \
            self.step.is_late[self.producer[value]]

    def stashes(self):
        """(stash, ops) of every set that is all needed."""
        for subset in range(1 << len(self.candidates)):
            by_clones, made, ops = 0, 0, []
            for place in reversed(range(len(self.candidates))):
                if not subset >> place & 1:
                    continue
                index, reads, results = self.candidates[place]
                if not results & (self.late_reads | by_clones):
                    break
                made |= results
                by_clones |= reads
                ops.append(index)
            else:
                stashed = (self.late_reads | by_clones) & ~made
                yield sum((whole if by_clones & mask else packed)
                          for mask, whole, packed in self.sizes
                          if stashed & mask), ops[::-1]

    def plan(self, ops, has_bits):
        """Clones of `ops` in front of their first readers."""
        step, clones, clone_of, reads = self.step, [], {}, []

        def is_recomputed(value):
            made = self.producer.get(value)
            return (self.producer.get(step.root(value)) in ops and
                    not step.is_late[made])

        def clone(index, before):
            if index not in clone_of:
                inputs = [clone(self.producer[value], before)
                          if is_recomputed(value) else None
                          for value in step.ops[index]["inputs"]]
                clone_of[index] = len(clones)
                clones.append({"op": index, "before": before,
                               "inputs": inputs})
            return clone_of[index]

        late_reads = set()
        for index, op in enumerate(step.ops):
            if not step.is_late[index]:
                continue
            for place, value in enumerate(op["inputs"]):
                late_reads.add(step.root(value))
                if is_recomputed(value):
                    reads.append({"op": index, "operand": place, "clone":
                                  clone(self.producer[value], index)})
        by_clones = {step.root(value) for entry in clones
                     if not step.is_view(step.ops[entry["op"]])
                     for value in step.ops[entry["op"]]["inputs"]}
        outputs = {step.root(value) for value in step.outputs}
        encoded = [value for value, entry in enumerate(step.values)
                   if has_bits and "bits" in entry
                   and entry["bits"] < entry["bytes"]
                   and value in late_reads - by_clones - outputs
                   and self.producer[value] not in ops]
        return {"clones": clones, "reads": reads, "encoded": encoded}

    def find_least(self, stash, peak):
        """The least stash, and the least of the plans that are no worse than
        `stash` and keep the peak."""
        choices = sorted(self.stashes())
        for least, ops in choices:
            if least >= stash:
                break
            if any(Simulator(self.step, self.plan(ops, has_bits)).is_within(
                    least, peak) for has_bits in (True, False)):
                return choices[0], (least, ops)
        return choices[0], (stash, None)


class Planner:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.echo_planning_free.argtypes = [ctypes.c_void_p]

    def plan(self, problem, strategy):
        texts = [ctypes.c_void_p() for _ in range(3)]
        ok = self.library.echo_planning_plan(
            json.dumps(problem).encode(), strategy.encode(), b"rtx2080ti",
            *map(ctypes.byref, texts))
        plan, report, error = (
            ctypes.string_at(text.value).decode() if text.value else None
            for text in texts)
        for text in texts:
            self.library.echo_planning_free(text)
        assert ok, error
        return json.loads(plan), json.loads(report)


def check(planner, step, seed):
    """The stash of `echo`, its plan, and the peak without a plan."""
    problem, expected = step.problem(), Simulator(step, NONE)
    for strategy in ("none", "mirror", "echo-paper", "echo"):
        plan, report = planner.plan(problem, strategy)
        simulator, found = Simulator(step, plan), report["bytes"]
        where = "seed %d, %s" % (seed, strategy)
        assert simulator.results() == expected.results(), where
        assert simulator.stash() == found["feature_maps"], where
        assert simulator.peak() == found["logical_peak"], where
    assert simulator.is_within(expected.stash(), expected.peak()), where
    return simulator.stash(), plan, expected.peak()


def describe(step, plan, stash, least, ops):
    lines = ["    stash %d, least %d; recomputes %s instead of %s, bits of %s"
             % (stash, least, sorted({entry["op"] for entry in plan["clones"]}),
                ops, plan["encoded"])]
    late = {value for index, op in enumerate(step.ops)
            if step.is_late[index] for value in op["inputs"]}

    def show(value):
        entry = step.values[value]
        size = "view of v%d" % entry["view_of"] if "view_of" in entry else \
            "%d" % entry["bytes"]
        if "bits" in entry:
            size += " or %d" % entry["bits"]
        return "v%d (%s%s)" % (value, size, ", late" if value in late else "")

    for index, op in enumerate(step.ops):
        if step.is_late[index]:
            break
        kind = "heavy" if op.get("heavy") else \
            "" if op.get("repeatable", True) else "once"
        lines.append("    %d: %s -> %s %s" % (
            index, " ".join(map(show, op["inputs"])),
            " ".join(map(show, op["results"])), kind))
    return "\n".join(lines)


def print_distribution(title, ratios):
    ratios.sort()
    print("%s, %d steps:" % (title, len(ratios)))
    print("  " + ", ".join(
        "%d%%: %.3f" % (percent, ratios[-(-len(ratios) * percent // 100) - 1])
        for percent in (50, 75, 90, 95, 98, 99, 100)))
    print("  the least in %d, above 1.1 in %d" % (
        ratios.count(1), sum(ratio > 1.1 for ratio in ratios)))


def main():
    planner, count = Planner(sys.argv[1]), int(sys.argv[2])
    seeds = [int(sys.argv[3])] if len(sys.argv) > 3 else range(count)
    least_ratios, kept_ratios, worst = [], [], []
    for seed in seeds:
        step = make_step(seed)
        stash, plan, peak = check(planner, step, seed)
        (least, _), (kept, ops) = Choices(step).find_least(stash, peak)
        assert least <= kept <= stash, (seed, least, kept, stash)
        least_ratios.append(stash / least if least else 1 + stash)
        kept_ratios.append(stash / kept if kept else 1 + stash)
        if ops is not None:
            worst.append((kept_ratios[-1], seed,
                          describe(step, plan, stash, kept, ops)))
    for ratio, seed, text in sorted(worst, reverse=True)[:12]:
        print("seed %d: %.3f\n%s" % (seed, ratio, text))
    print_distribution("stash of echo / the least", least_ratios)
    print_distribution("stash of echo / the least whose peak isn't above that "
                       "without a plan", kept_ratios)
    for ratios in (least_ratios, kept_ratios):
        for share, bound in BOUNDS:
            assert ratios[-(-len(ratios) * share // 100) - 1] <= bound, share


if __name__ == "__main__":
    main()
