// linalg.matmul in i64.
// Numbers: NumPy's matmul in int64, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func private @a() -> tensor<9x17xi64> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<9x17xi64>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<9x17xi64>) {
  ^bb0(%unused: i64):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.extsi %number : i32 to i64
    linalg.yield %value : i64
  } -> tensor<9x17xi64>
  %hidden = util.optimization_barrier %made : tensor<9x17xi64>
  return %hidden : tensor<9x17xi64>
}

func.func private @b() -> tensor<17x11xi64> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<17x11xi64>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<17x11xi64>) {
  ^bb0(%unused: i64):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.extsi %number : i32 to i64
    linalg.yield %value : i64
  } -> tensor<17x11xi64>
  %hidden = util.optimization_barrier %made : tensor<17x11xi64>
  return %hidden : tensor<17x11xi64>
}

func.func @matmul_9x17x11() {
  %a = call @a() : () -> tensor<9x17xi64>
  %b = call @b() : () -> tensor<17x11xi64>
  %zero = arith.constant 0 : i64
  %empty = tensor.empty() : tensor<9x11xi64>
  %init = linalg.fill ins(%zero : i64) outs(%empty : tensor<9x11xi64>) -> tensor<9x11xi64>
  %c = linalg.matmul ins(%a, %b : tensor<9x17xi64>, tensor<17x11xi64>) outs(%init : tensor<9x11xi64>) -> tensor<9x11xi64>
  check.expect_eq_const(%c, dense<
      [[-277024, -597322, 35735, 50125, -738799, 420506, 495995, -343829, 286310, 78829, -69271],
       [986089, 453364, 21087, -319823, -417007, -60593, -285815, -430769, 38306, -492990, -153971],
       [51338, -295930, 482211, 254753, 141686, 41101, -297234, -154911, -315923, -52781, -642879],
       [31488, -403424, -457633, 75706, -157485, -359087, -188058, -324464, -300129, -487374, -270709],
       [-239865, -660174, 285059, -580498, -345880, -173455, 675365, -314857, 128066, 144547, 157357],
       [-120997, -75342, -32175, -55063, 536060, -169852, -212312, -306701, 48454, 173087, 247809],
       [405245, 174578, 6292, 282798, 83888, -2191, -41024, -402914, 230902, -63739, -379746],
       [25143, 71424, 86661, 268618, -254481, -237530, 1088329, 206731, -212510, 347214, -602291],
       [-144340, 107588, -229983, 261601, 371540, 159365, 16568, -29608, -514942, 112408, -8154]]> : tensor<9x11xi64>) : tensor<9x11xi64>
  return
}
