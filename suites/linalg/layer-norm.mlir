// Layer normalisation as models write it: mean, variance, rsqrt, scale and shift in four generics that fuse or not.
// Numbers: NumPy in float64. rtol 2e-5, atol 2e-6: sums of 48 terms and an rsqrt in f32, values up to 2.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @x() -> tensor<6x48xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 23 : i32
  %shift = arith.constant 11 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<6x48xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<6x48xf32>) {
  ^bb0(%unused: f32):
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
    %value = arith.sitofp %number : i32 to f32
    %scale = arith.constant 0.5 : f32
    %scaled = arith.mulf %value, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<6x48xf32>
  %hidden = util.optimization_barrier %made : tensor<6x48xf32>
  return %hidden : tensor<6x48xf32>
}

func.func private @gamma() -> tensor<48xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 5 : i32
  %shift = arith.constant -1 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<48xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<48xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %square = arith.muli %t0, %t0 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    %scale = arith.constant 0.25 : f32
    %scaled = arith.mulf %value, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<48xf32>
  %hidden = util.optimization_barrier %made : tensor<48xf32>
  return %hidden : tensor<48xf32>
}

func.func private @beta() -> tensor<48xf32> {
  %seed = util.unfoldable_constant 5 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<48xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<48xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %square = arith.muli %t0, %t0 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    %scale = arith.constant 0.25 : f32
    %scaled = arith.mulf %value, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<48xf32>
  %hidden = util.optimization_barrier %made : tensor<48xf32>
  return %hidden : tensor<48xf32>
}

func.func @six_rows_of_48() {
  %x = call @x() : () -> tensor<6x48xf32>
  %gamma = call @gamma() : () -> tensor<48xf32>
  %beta = call @beta() : () -> tensor<48xf32>
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 48.0 : f32
  %epsilon = arith.constant 0.0009765625 : f32
  %column = tensor.empty() : tensor<6xf32>
  %room = tensor.empty() : tensor<6x48xf32>
  %init = linalg.fill ins(%zero : f32) outs(%column : tensor<6xf32>) -> tensor<6xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<6x48xf32>) outs(%init : tensor<6xf32>) dimensions = [1]
  %centred = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %sums : tensor<6x48xf32>, tensor<6xf32>) outs(%room : tensor<6x48xf32>) {
  ^bb0(%v: f32, %sum: f32, %unused: f32):
    %mean = arith.divf %sum, %count : f32
    %r = arith.subf %v, %mean : f32
    linalg.yield %r : f32
  } -> tensor<6x48xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<6x48xf32>) outs(%init : tensor<6xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %square = arith.mulf %v, %v : f32
    %r = arith.addf %sum, %square : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gamma, %beta : tensor<6x48xf32>, tensor<6xf32>, tensor<48xf32>, tensor<48xf32>) outs(%room : tensor<6x48xf32>) {
  ^bb0(%v: f32, %sum: f32, %g: f32, %b: f32, %unused: f32):
    %variance = arith.divf %sum, %count : f32
    %safe = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %safe : f32
    %normal = arith.mulf %v, %factor : f32
    %scaled = arith.mulf %normal, %g : f32
    %r = arith.addf %scaled, %b : f32
    linalg.yield %r : f32
  } -> tensor<6x48xf32>
  check.expect_almost_eq_const(%out, dense<
      [[0.33646557, -0.45676723, 0.10714033, 1.4962248, -1.1616477, 0.21804003, 0.24812031, -0.20488401,
        -2.0883346, -1.6127723, -0.9342092, -0.026317371, -1.2255588, 1.3684131, -0.21052307, -1.0451089,
        -0.56766695, -1.204884, -0.25939843, 1.2951001, -0.11465908, 0.6992449, -0.14285967, -0.033836115,
        -0.5338361, 0.10714033, -0.050755054, -0.11465908, 2.0451002, -0.5093984, -0.704884, -1.0676669,
        -0.7951089, -0.96052307, 1.3684131, -0.4755588, -0.27631736, -0.43420923, -2.1127722, -1.8383347,
        -0.954884, 0.24812031, 0.96804005, -1.4116477, 1.9962248, -0.39285967, -0.20676722, -0.41353443],
       [0.08661176, -0.75993586, -0.8589925, -1.826877, -0.2128663, 0.22782032, 0.079185024, 1.156062, 0.42834225,
        0.009935831, -0.64602566, -0.06433155, 0.40606204, -0.6040749, 2.0695508, -0.48514652, -0.4653754,
        -1.3589925, -1.5496792, -0.9084706, 0.71045774, -0.09905668, -0.039542243, -0.6584706, -2.049679,
        -0.8589925, -0.7153754, 0.26485348, 2.0695508, -1.3540748, 0.65606207, -0.56433153, -0.14602567,
        -0.24006417, 1.1783422, 1.156062, -0.670815, 0.47782034, -0.7128663, -1.326877, -1.1089925, -0.009935831,
        0.08661176, 0.6511444, -1.9952835, -0.28954226, -0.33169413, -1.0198717],
       [0.9426338, -0.50736845, -0.70684355, -2.3342156, -1.6131623, -0.6915796, 0.4636849, -0.47210756,
        0.56842446, -0.7289489, -1.2952648, -0.5668431, -0.95684355, 0.21315777, 1.9815844, -0.8684222, 0.18473823,
        -0.41105154, -0.06578889, -0.3157889, 0.5889484, 0.6847382, -0.8684222, 1.4815844, -0.7868422, -0.70684355,
        -0.8168431, -0.2952649, -0.22894889, 0.56842446, -0.9721076, -0.5363151, -0.44157955, -1.8631623,
        -1.3342155, -0.20684355, -0.50736845, 0.44263378, -1.6710556, 1.9236912, -0.16105156, 0.28684223,
        0.32368445, 0.34737113, 1.9236912, -1.1184223, 0.0963169, -0.5147369],
       [0.9461575, -0.6795354, 0.6220289, 0.11103696, -0.048480712, -0.4193923, 0.4222074, 1.122029, -1.3976768,
        1.4903939, -0.757328, -0.4735032, -1.1228778, -1.0873553, -0.20799838, -0.06764953, -0.60540676,
        -0.31764954, -0.7079984, -1.8373553, -0.3728778, 0.02649679, -0.507328, 1.4903939, -1.6476768, 0.6220289,
        -0.3277926, 0.3306077, 0.45151928, 0.36103696, 0.6220289, -0.9295354, 0.44615754, -0.51831996, -0.86751604,
        -0.3728778, -0.7674711, -0.43319935, 0.33087617, -2.0270338, -0.06764953, 0.15840033, -0.28494212,
        -2.0571945, -1.367516, -0.757328, 0.098078765, -0.8590707],
       [0.06558585, -0.27926186, -0.97089165, 0.3536907, -0.7110354, -1.0420659, -0.06573937, -0.2026529,
        -0.5139708, 1.5242876, -1.11324, 0.19427045, -0.14793663, 0.45956153, 0.45956153, -0.14793663, 0.19427045,
        -1.11324, 1.5242876, -0.5139708, -0.2026529, -0.06573937, -1.0420659, -0.7110354, 0.3536907, -0.97089165,
        -0.27926186, 0.06558585, -1.1051645, -2.078697, -0.70265293, -0.75279415, 0.45971504, -1.4081, 2.4713523,
        0.60206336, -0.45808768, -0.16617538, 0.13015842, 1.9713522, -0.86324, 0.6048575, 0.24441169, -1.6316322,
        -1.8286968, -1.2920659, -0.34220707, -0.058523707],
       [0.33043018, -0.3251111, 0.63847303, -1.6712062, 1.52227, -0.5093523, 0.020867474, -0.38783014, -1.870119,
        -0.72229356, -0.31043965, -0.6138063, -0.060439646, -0.22229357, -1.120119, -1.1378301, -0.47913253,
        -0.7593523, 1.52227, -1.4212062, 1.138473, 0.4248889, -0.41956982, -0.048924517, 0.12444454, 0.63847303,
        -0.68424124, 0.95890796, 0.22661912, -1.6456627, -0.88783014, -1.0240238, -0.43891743, 0.5989009,
        -1.5690317, 0.68956035, -0.5944587, -0.7980476, -2.3445754, -1.3956627, -0.5093523, 0.604454, -0.11848251,
        1.7211827, 0.62444454, -0.6695698, -0.20978491, -0.15022218]]> : tensor<6x48xf32>, atol 2.00e-06, rtol 2.00e-05) : tensor<6x48xf32>
  return
}
