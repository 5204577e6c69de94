# RUN: %python %s
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that benchmarks/gpu/ptx.py follows through PTX: instructions counted
by hand."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "benchmarks", "gpu"))
# pylint: disable=wrong-import-position
import ptx

# Threads 0 to 9 of the launch store their number, and add up numbers from it on
# to 8, two at a time.
LOOP = """
.version 8.0
.target sm_90
.visible .entry loop(
	.param .u64 .ptr .align 1 loop_param_0
)
.maxntid 32, 1, 1
{
	.reg .pred 	%p<3>;
	ld.param.b64 	%rd1, [loop_param_0];
	mov.u32 	%r1, %ctaid.x;
	shl.b32 	%r2, %r1, 3;
	mov.u32 	%r3, %tid.x;
	or.b32 	%r4, %r2, %r3;
	setp.gt.u32 	%p1, %r4, 9;
	@%p1 bra 	$L__BB0_3;
	mul.wide.u32 	%rd2, %r4, 4;
	add.s64 	%rd3, %rd1, %rd2;
	ld.global.v4.b32 	{%r5, %r6, %r7, %r8}, [%rd3];
	st.global.b32 	[%rd3], %r4;
$L__BB0_2:                              // the loop
	add.s32 	%r4, %r4, 2;
	setp.lt.u32 	%p2, %r4, 8;
	@%p2 bra 	$L__BB0_2;
$L__BB0_3:
	ret;

}
"""

# All bits of -1 as unsigned, reversed bits, the high half of a product, and what
# comes out of memory: a condition on it is false.
VALUES = """
.visible .entry values(
	.param .u64 .ptr .align 1 values_param_0
)
{
	mov.b32 	%r1, 1;
	brev.b32 	%r2, %r1;
	setp.ne.b32 	%p1, %r2, -2147483648;
	@%p1 bra 	$L__BB1_9;
	setp.lt.u32 	%p1, %r1, -1;
	@!%p1 bra 	$L__BB1_9;
	setp.lt.s32 	%p1, %r1, -1;
	@%p1 bra 	$L__BB1_9;
	mul.hi.u32 	%r3, %r2, 6;
	setp.ne.b32 	%p1, %r3, 3;
	@%p1 bra 	$L__BB1_9;
	mul.wide.u32 	%rd1, %r2, 2;
	{ .reg .b32 tmp; mov.b64 {tmp, %r4}, %rd1; }
	setp.ne.b32 	%p1, %r4, 1;
	@%p1 bra 	$L__BB1_9;
	ld.global.b32 	%r5, [%rd1];
	setp.eq.b32 	%p1, %r5, 0;
	@%p1 bra 	$L__BB1_9;
	ret;
$L__BB1_9:
	ret;
}
"""


class Ptx(unittest.TestCase):
    def test_parse(self):
        kernels = ptx.parse(LOOP + VALUES)
        self.assertEqual(list(kernels), ["loop", "values"])
        self.assertEqual(kernels["loop"].parameters, ["loop_param_0"])
        self.assertEqual(len(kernels["loop"].code), 15)
        self.assertEqual(kernels["loop"].widths("ld"), [16])
        self.assertEqual(kernels["loop"].widths("st"), [4])

    def test_loop(self):
        kernel = ptx.parse(LOOP)["loop"]

        def count(thread, block):
            return ptx.Thread(kernel, thread, block, 8, 2, [0]).run()

        # 7 in front, 4 of an element, the loop's 3 each time, and the return.
        self.assertEqual(count(0, 0), 7 + 4 + 4 * 3 + 1)
        self.assertEqual(count(1, 0), 7 + 4 + 4 * 3 + 1)
        self.assertEqual(count(6, 0), 7 + 4 + 3 + 1)
        self.assertEqual(count(1, 1), 7 + 4 + 3 + 1)
        self.assertEqual(count(2, 1), 7 + 1)

    def test_launch(self):
        # Threads 0, 2, 5 and 7 of both blocks stand for all 16.
        kernel = ptx.parse(LOOP)["loop"]
        counts = [24, 21, 18, 15, 15, 8, 8, 8]
        self.assertEqual(ptx.instructions(kernel, 2, 8, [0]),
                         sum(counts) / 8 * 16)

    def test_values(self):
        kernel = ptx.parse(VALUES)["values"]
        self.assertEqual(ptx.Thread(kernel, 0, 0, 1, 1, [0]).run(), 19)

    def test_unreadable(self):
        with self.assertRaisesRegex(ValueError, "can't read the PTX line"):
            ptx.parse(".visible .entry k(\n)\n{\n\twhat is this\n}\n")


if __name__ == "__main__":
    unittest.main()
