//===- Device.h - What kernels call on the simulated GPU --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The NVVM intrinsics of a kernel that is compiled for the host become calls of
// these, and its loads and stores are announced. All of them are for kernels
// that the simulator runs (Simulator.h) and no one else. What PTX leaves
// undefined is reported as a fault.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_DEVICE_H
#define ECHO_RUNTIME_SIM_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The special registers tid, ntid, ctaid and nctaid; dim is 0 (x) to 2 (z). */
uint32_t echo_sim_thread_id(uint32_t dim);
uint32_t echo_sim_block_size(uint32_t dim);
uint32_t echo_sim_block_id(uint32_t dim);
uint32_t echo_sim_grid_size(uint32_t dim);
/* laneid: the thread's place in its warp of 32. */
uint32_t echo_sim_lane_id(void);

/* bar.sync 0: waits for all threads of the block. */
void echo_sim_barrier(void);
/* bar.warp.sync: waits for the lanes in mask. */
void echo_sim_warp_barrier(uint32_t mask);

/* shfl.sync: the value of another lane; *isValid (may be null) is the predicate
 * that PTX gives, 0 or 1. clamp is the operand c: the clamp in bits 0 to 4, the
 * segment mask in bits 8 to 12. */
enum {
  ECHO_SIM_SHUFFLE_UP,
  ECHO_SIM_SHUFFLE_DOWN,
  ECHO_SIM_SHUFFLE_XOR,
  ECHO_SIM_SHUFFLE_INDEX
};
uint32_t echo_sim_shuffle(uint32_t kind, uint32_t mask, uint32_t value,
                          uint32_t lane, uint32_t clamp, uint8_t *isValid);

/* vote.sync.ballot; all, any and uni follow from it and from the mask. */
uint32_t echo_sim_ballot(uint32_t mask, uint32_t predicate);

/* Comes in front of a load, a store or an atomic operation. */
enum { ECHO_SIM_READ, ECHO_SIM_WRITE, ECHO_SIM_ATOMIC };
void echo_sim_access(const void *address, uint64_t bytes, uint32_t access);

/* trap, and where control must not get. */
void echo_sim_trap(void);

#ifdef __cplusplus
}
#endif

#endif /* ECHO_RUNTIME_SIM_DEVICE_H */
