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

/* Threads wait for each other at one operation of a kernel, which `place`
 * tells from the others. */

/* bar.sync 0: waits for all threads of the block. */
void echo_sim_barrier(uint32_t place);
/* bar.warp.sync: waits for the lanes in mask. */
void echo_sim_warp_barrier(uint32_t place, uint32_t mask);

/* shfl.sync: the value of another lane; *isValid (may be null) is the predicate
 * that PTX gives, 0 or 1. clamp is the operand c: the clamp in bits 0 to 4, the
 * segment mask in bits 8 to 12. */
enum {
  ECHO_SIM_SHUFFLE_UP,
  ECHO_SIM_SHUFFLE_DOWN,
  ECHO_SIM_SHUFFLE_XOR,
  ECHO_SIM_SHUFFLE_INDEX
};
uint32_t echo_sim_shuffle(uint32_t place, uint32_t kind, uint32_t mask,
                          uint32_t value, uint32_t lane, uint32_t clamp,
                          uint8_t *isValid);

/* vote.sync.ballot; all, any and uni follow from it and from the mask. */
uint32_t echo_sim_ballot(uint32_t place, uint32_t mask, uint32_t predicate);

/* Comes in front of a load, a store or an atomic operation, whose address has
 * to be a multiple of `alignment`. */
enum { ECHO_SIM_READ, ECHO_SIM_WRITE, ECHO_SIM_ATOMIC };
void echo_sim_access(const void *address, uint64_t bytes, uint32_t alignment,
                     uint32_t access);

/* trap, and where control must not get. */
void echo_sim_trap(void);

/*===-- Objects of compiled kernels ---------------------------------------===*/

/* The functions above: compiled kernels call them through a table, so that an
 * object of kernels needs no symbol of its loader. */
struct echo_sim_functions {
  uint32_t (*thread_id)(uint32_t);
  uint32_t (*block_size)(uint32_t);
  uint32_t (*block_id)(uint32_t);
  uint32_t (*grid_size)(uint32_t);
  uint32_t (*lane_id)(void);
  void (*barrier)(uint32_t);
  void (*warp_barrier)(uint32_t, uint32_t);
  uint32_t (*shuffle)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                      uint32_t, uint8_t *);
  uint32_t (*ballot)(uint32_t, uint32_t, uint32_t);
  void (*access)(const void *, uint64_t, uint32_t, uint32_t);
  void (*trap)(void);
};
const struct echo_sim_functions *echo_sim_get_functions(void);

/* A shared variable, which every block finds as the launch fills it. */
struct echo_sim_variable {
  void *data;
  uint64_t bytes;
};
struct echo_sim_kernel {
  const char *name;
  /* Takes the address of each argument, as cuLaunchKernel does. */
  void (*function)(void **arguments);
  const struct echo_sim_variable *shared;
  uint64_t num_shared;
};

/* What an object exports: the pointer to the table, which the loader sets
 * before anything runs, and its kernels. */
#define ECHO_SIM_FUNCTIONS_SYMBOL "echo_sim_functions"
#define ECHO_SIM_KERNELS_SYMBOL "echo_sim_kernels"
#define ECHO_SIM_NUM_KERNELS_SYMBOL "echo_sim_num_kernels"

#ifdef __cplusplus
}
#endif

#endif /* ECHO_RUNTIME_SIM_DEVICE_H */
