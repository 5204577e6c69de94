// RUN: echo-opt --split-input-file --verify-diagnostics --echo-nvvm-to-sim %s

gpu.module @libdevice {
  llvm.func @__nv_tanhf(f32) -> f32
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{can't be simulated; expected functions of the module, or of libdevice such that have the same bits on every machine}}
    %0 = llvm.call @__nv_tanhf(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @operation {
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{'nvvm.rcp.approx.ftz.f' op can't be simulated}}
    %0 = nvvm.rcp.approx.ftz.f %x : f32
    llvm.return
  }
}

// -----

gpu.module @register {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{can't be simulated; expected the registers of threads, blocks and lanes}}
    %0 = nvvm.read.ptx.sreg.smid : i32
    llvm.return
  }
}

// -----

gpu.module @part_of_a_block {
  llvm.func @k(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{can't be simulated; expected barriers of all threads of a block, without a reduction}}
    nvvm.barrier id = %n number_of_threads = %n
    llvm.return
  }
}

// -----

gpu.module @dynamic {
  // expected-error @+1 {{can't be simulated; expected shared memory of a fixed size}}
  llvm.mlir.global external @shared() {addr_space = 3 : i32} : !llvm.array<0 x i8>
}

// -----

gpu.module @variable {
  // expected-error @+1 {{can't be simulated; expected variables in shared memory or constants}}
  llvm.mlir.global internal @counter(0 : i32) {addr_space = 0 : i32} : i32
}

// -----

gpu.module @high {
  // expected-error @+1 {{can't be simulated; expected functions and globals of the LLVM dialect}}
  gpu.func @k() kernel {
    gpu.return
  }
}
