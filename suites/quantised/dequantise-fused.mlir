// Dequantisation free to fuse into one dispatch: weights of i8 with a scale per column (powers of two) and a zero point, dequantised to f32 and fed to an f32 matmul, as weight-only quantised models do.
// Numbers: NumPy in float64; multiples of 1/8 well below 2^24, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/quantised.py; change it there.

func.func private @x() -> tensor<7x40xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<7x40xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<7x40xf32>) {
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
    linalg.yield %value : f32
  } -> tensor<7x40xf32>
  %hidden = util.optimization_barrier %made : tensor<7x40xf32>
  return %hidden : tensor<7x40xf32>
}

func.func private @w() -> tensor<40x18xi8> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 101 : i32
  %shift = arith.constant 50 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<40x18xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<40x18xi8>) {
  ^bb0(%unused: i8):
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
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<40x18xi8>
  %hidden = util.optimization_barrier %made : tensor<40x18xi8>
  return %hidden : tensor<40x18xi8>
}

func.func @weight_only() {
  %x = call @x() : () -> tensor<7x40xf32>
  %w = call @w() : () -> tensor<40x18xi8>
  %scales = util.unfoldable_constant dense<
      [0.125, 0.25, 0.5, 1.0, 0.125, 0.25, 0.5, 1.0, 0.125, 0.25, 0.5, 1.0, 0.125, 0.25, 0.5, 1.0, 0.125, 0.25]> : tensor<18xf32>
  %point = arith.constant 4 : i32
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<40x18xf32>
  %weights = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %scales : tensor<40x18xi8>, tensor<18xf32>) outs(%room : tensor<40x18xf32>) {
  ^bb0(%q: i8, %s: f32, %unused: f32):
    %wide = arith.extsi %q : i8 to i32
    %centred = arith.subi %wide, %point : i32
    %float = arith.sitofp %centred : i32 to f32
    %r = arith.mulf %float, %s : f32
    linalg.yield %r : f32
  } -> tensor<40x18xf32>
  // no barrier here
  %empty = tensor.empty() : tensor<7x18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x18xf32>) -> tensor<7x18xf32>
  %c = linalg.matmul ins(%x, %weights : tensor<7x40xf32>, tensor<40x18xf32>) outs(%init : tensor<7x18xf32>) -> tensor<7x18xf32>
  check.expect_eq_const(%c, dense<
      [[185.75, -383.25, 396.5, -222.0, 59.0, 11.75, 1069.5, -120.0, 4.625, -105.0, 315.0, -1055.0, 174.125, 99.75,
        203.5, -199.0, 125.625, -257.75],
       [-129.875, 360.5, 274.5, 524.0, 6.75, 239.25, -353.0, 14.0, 86.625, 55.0, -601.5, 60.0, 59.25, -116.5,
        135.0, 359.0, -151.125, 53.0],
       [71.75, 238.5, -336.0, 140.0, 32.375, -255.5, -185.0, 1407.0, 58.875, 240.75, 128.5, 272.0, -164.375, 237.5,
        200.5, 270.0, 44.375, 138.75],
       [90.75, -435.75, 583.5, 265.0, 87.75, -37.0, 473.5, -1265.0, 23.125, 61.75, 167.5, -1167.0, 86.25, -114.25,
        372.5, 458.0, 163.5, -388.25],
       [-173.25, 207.75, -135.0, 866.0, -0.375, 240.25, -797.5, 611.0, -24.75, 156.0, -77.5, 1606.0, -31.75,
        -146.0, -146.5, 417.0, -122.375, 369.5],
       [172.125, -97.0, -528.0, 282.0, 11.375, -180.0, 490.0, 545.0, -13.25, 9.25, 537.5, -22.0, -2.75, 268.75,
        18.5, -106.0, 68.125, 245.0],
       [9.0, -189.5, 526.5, 152.0, 59.75, 154.25, 739.0, -979.0, 52.125, -73.25, -292.0, -254.0, 200.75, -38.75,
        312.0, -198.0, 76.375, -398.75]]> : tensor<7x18xf32>) : tensor<7x18xf32>
  return
}
