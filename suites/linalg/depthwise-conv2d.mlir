// linalg.depthwise_conv_2d_nhwc_hwc with stride and dilation, and the form with a channel multiplier.
// Numbers: NumPy, per channel the sum over shifted views in float64; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/linalg/convolutions.py; change it there.

func.func private @image() -> tensor<1x12x13x18xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x12x13x18xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x12x13x18xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<1x12x13x18xf32>
  %hidden = util.optimization_barrier %made : tensor<1x12x13x18xf32>
  return %hidden : tensor<1x12x13x18xf32>
}

func.func private @kernel() -> tensor<3x3x18xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<3x3x18xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x18xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<3x3x18xf32>
  %hidden = util.optimization_barrier %made : tensor<3x3x18xf32>
  return %hidden : tensor<3x3x18xf32>
}

func.func private @weigh_rows_110x18xf32(%x: tensor<110x18xf32>) -> tensor<110xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<18xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<18xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<18xf32>
  %weights = util.optimization_barrier %made : tensor<18xf32>
  %empty = tensor.empty() : tensor<110xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<110xf32>) -> tensor<110xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<110x18xf32>, tensor<18xf32>) outs(%init : tensor<110xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<110xf32>
  return %sums : tensor<110xf32>
}

func.func private @weigh_columns_110x18xf32(%x: tensor<110x18xf32>) -> tensor<18xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<110xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<110xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<110xf32>
  %weights = util.optimization_barrier %made : tensor<110xf32>
  %empty = tensor.empty() : tensor<18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<18xf32>) -> tensor<18xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<110x18xf32>, tensor<110xf32>) outs(%init : tensor<18xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<18xf32>
  return %sums : tensor<18xf32>
}

func.func private @weigh_rows_72x18xf32(%x: tensor<72x18xf32>) -> tensor<72xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<18xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<18xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<18xf32>
  %weights = util.optimization_barrier %made : tensor<18xf32>
  %empty = tensor.empty() : tensor<72xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<72xf32>) -> tensor<72xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<72x18xf32>, tensor<18xf32>) outs(%init : tensor<72xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<72xf32>
  return %sums : tensor<72xf32>
}

func.func private @weigh_columns_72x18xf32(%x: tensor<72x18xf32>) -> tensor<18xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<72xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<72xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<72xf32>
  %weights = util.optimization_barrier %made : tensor<72xf32>
  %empty = tensor.empty() : tensor<18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<18xf32>) -> tensor<18xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<72x18xf32>, tensor<72xf32>) outs(%init : tensor<18xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<18xf32>
  return %sums : tensor<18xf32>
}

func.func private @small() -> tensor<1x6x7x3xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x6x7x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x6x7x3xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<1x6x7x3xf32>
  %hidden = util.optimization_barrier %made : tensor<1x6x7x3xf32>
  return %hidden : tensor<1x6x7x3xf32>
}

func.func private @many() -> tensor<3x3x3x2xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<3x3x3x2xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x3x2xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<3x3x3x2xf32>
  %hidden = util.optimization_barrier %made : tensor<3x3x3x2xf32>
  return %hidden : tensor<3x3x3x2xf32>
}

func.func @stride_one() {
  %image = call @image() : () -> tensor<1x12x13x18xf32>
  %kernel = call @kernel() : () -> tensor<3x3x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x10x11x18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x10x11x18xf32>) -> tensor<1x10x11x18xf32>
  %out = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x12x13x18xf32>, tensor<3x3x18xf32>) outs(%init : tensor<1x10x11x18xf32>) -> tensor<1x10x11x18xf32>
  // 1980 elements: checked through weighted sums (see the comment at the top).
  %out_flat = tensor.collapse_shape %out [[0, 1, 2], [3]] : tensor<1x10x11x18xf32> into tensor<110x18xf32>
  %out_kept = util.optimization_barrier %out_flat : tensor<110x18xf32>
  %out_rows = call @weigh_rows_110x18xf32(%out_kept) : (tensor<110x18xf32>) -> tensor<110xf32>
  check.expect_eq_const(%out_rows, dense<
      [276.0, 544.0, 759.0, 602.0, 227.0, 734.0, 836.0, 203.0, 419.0, 923.0, 549.0, 227.0, 734.0, 836.0, 203.0,
       419.0, 923.0, 549.0, 276.0, 544.0, 759.0, 602.0, 419.0, 923.0, 549.0, 276.0, 544.0, 759.0, 602.0, 227.0,
       734.0, 836.0, 203.0, 544.0, 759.0, 602.0, 227.0, 734.0, 836.0, 203.0, 419.0, 923.0, 549.0, 276.0, 734.0,
       836.0, 203.0, 419.0, 923.0, 549.0, 276.0, 544.0, 759.0, 602.0, 227.0, 923.0, 549.0, 276.0, 544.0, 759.0,
       602.0, 227.0, 734.0, 836.0, 203.0, 419.0, 759.0, 602.0, 227.0, 734.0, 836.0, 203.0, 419.0, 923.0, 549.0,
       276.0, 544.0, 836.0, 203.0, 419.0, 923.0, 549.0, 276.0, 544.0, 759.0, 602.0, 227.0, 734.0, 549.0, 276.0,
       544.0, 759.0, 602.0, 227.0, 734.0, 836.0, 203.0, 419.0, 923.0, 602.0, 227.0, 734.0, 836.0, 203.0, 419.0,
       923.0, 549.0, 276.0, 544.0, 759.0]> : tensor<110xf32>) : tensor<110xf32>
  %out_columns = call @weigh_columns_110x18xf32(%out_kept) : (tensor<110x18xf32>) -> tensor<18xf32>
  check.expect_eq_const(%out_columns, dense<
      [3597.0, 2805.0, 2090.0, 2013.0, 2233.0, 3036.0, 3839.0, 4675.0, 5005.0, 4994.0, 4433.0, 3597.0, 2805.0,
       2090.0, 2013.0, 2233.0, 3036.0, 3839.0]> : tensor<18xf32>) : tensor<18xf32>
  return
}

func.func @stride_two() {
  %image = call @image() : () -> tensor<1x12x13x18xf32>
  %kernel = call @kernel() : () -> tensor<3x3x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x5x6x18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x5x6x18xf32>) -> tensor<1x5x6x18xf32>
  %out = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x12x13x18xf32>, tensor<3x3x18xf32>) outs(%init : tensor<1x5x6x18xf32>) -> tensor<1x5x6x18xf32>
  check.expect_eq_const(%out, dense<
      [[[[5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0,
          28.0],
         [-8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0],
         [22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0,
          -8.0],
         [-4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0,
          22.0],
         [13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0,
          -4.0],
         [-15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0,
          13.0]],
        [[13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0,
          -4.0],
         [-15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0,
          13.0],
         [44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0,
          -15.0],
         [-8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0,
          44.0],
         [16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0],
         [-5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0,
          16.0]],
        [[16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0],
         [-5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0,
          16.0],
         [28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0],
         [5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0,
          28.0],
         [-8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0],
         [22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0,
          -8.0]],
        [[-8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0],
         [22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0,
          -8.0],
         [-4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0,
          22.0],
         [13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0,
          -4.0],
         [-15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0,
          13.0],
         [44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0,
          -15.0]],
        [[-15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0,
          13.0],
         [44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0,
          -15.0],
         [-8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0,
          44.0],
         [16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0],
         [-5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0,
          16.0],
         [28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0, -8.0, -15.0, -4.0, -8.0, 28.0, 16.0, 44.0, 13.0, 22.0, 5.0, -5.0]]]]> : tensor<1x5x6x18xf32>) : tensor<1x5x6x18xf32>
  return
}

func.func @dilation_two() {
  %image = call @image() : () -> tensor<1x12x13x18xf32>
  %kernel = call @kernel() : () -> tensor<3x3x18xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x9x18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x9x18xf32>) -> tensor<1x8x9x18xf32>
  %out = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x12x13x18xf32>, tensor<3x3x18xf32>) outs(%init : tensor<1x8x9x18xf32>) -> tensor<1x8x9x18xf32>
  // 1296 elements: checked through weighted sums (see the comment at the top).
  %out_flat = tensor.collapse_shape %out [[0, 1, 2], [3]] : tensor<1x8x9x18xf32> into tensor<72x18xf32>
  %out_kept = util.optimization_barrier %out_flat : tensor<72x18xf32>
  %out_rows = call @weigh_rows_72x18xf32(%out_kept) : (tensor<72x18xf32>) -> tensor<72xf32>
  check.expect_eq_const(%out_rows, dense<
      [263.0, 499.0, 682.0, 636.0, 570.0, 374.0, 631.0, 593.0, 425.0, 570.0, 374.0, 631.0, 593.0, 425.0, 688.0,
       711.0, 263.0, 499.0, 425.0, 688.0, 711.0, 263.0, 499.0, 682.0, 636.0, 570.0, 374.0, 499.0, 682.0, 636.0,
       570.0, 374.0, 631.0, 593.0, 425.0, 688.0, 374.0, 631.0, 593.0, 425.0, 688.0, 711.0, 263.0, 499.0, 682.0,
       688.0, 711.0, 263.0, 499.0, 682.0, 636.0, 570.0, 374.0, 631.0, 682.0, 636.0, 570.0, 374.0, 631.0, 593.0,
       425.0, 688.0, 711.0, 631.0, 593.0, 425.0, 688.0, 711.0, 263.0, 499.0, 682.0, 636.0]> : tensor<72xf32>) : tensor<72xf32>
  %out_columns = call @weigh_columns_72x18xf32(%out_kept) : (tensor<72x18xf32>) -> tensor<18xf32>
  check.expect_eq_const(%out_columns, dense<
      [2469.0, 2492.0, 2137.0, 2119.0, 2152.0, 2335.0, 2305.0, 2304.0, 2167.0, 2279.0, 2497.0, 2469.0, 2492.0,
       2137.0, 2119.0, 2152.0, 2335.0, 2305.0]> : tensor<18xf32>) : tensor<18xf32>
  return
}

func.func @channel_multiplier() {
  %image = call @small() : () -> tensor<1x6x7x3xf32>
  %kernel = call @many() : () -> tensor<3x3x3x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x5x3x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
  %out = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x6x7x3xf32>, tensor<3x3x3x2xf32>) outs(%init : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
  check.expect_eq_const(%out, dense<
      [[[[[33.0, 16.0], [-2.0, 44.0], [6.0, 13.0]],
         [[22.0, -4.0], [45.0, -8.0], [23.0, 28.0]],
         [[2.0, -5.0], [6.0, -8.0], [20.0, -15.0]],
         [[6.0, 13.0], [-9.0, 22.0], [-3.0, 5.0]],
         [[23.0, 28.0], [33.0, 16.0], [-2.0, 44.0]]],
        [[[23.0, 28.0], [33.0, 16.0], [-2.0, 44.0]],
         [[20.0, -15.0], [22.0, -4.0], [45.0, -8.0]],
         [[-3.0, 5.0], [2.0, -5.0], [6.0, -8.0]],
         [[-2.0, 44.0], [6.0, 13.0], [-9.0, 22.0]],
         [[45.0, -8.0], [23.0, 28.0], [33.0, 16.0]]],
        [[[45.0, -8.0], [23.0, 28.0], [33.0, 16.0]],
         [[6.0, -8.0], [20.0, -15.0], [22.0, -4.0]],
         [[-9.0, 22.0], [-3.0, 5.0], [2.0, -5.0]],
         [[33.0, 16.0], [-2.0, 44.0], [6.0, 13.0]],
         [[22.0, -4.0], [45.0, -8.0], [23.0, 28.0]]],
        [[[22.0, -4.0], [45.0, -8.0], [23.0, 28.0]],
         [[2.0, -5.0], [6.0, -8.0], [20.0, -15.0]],
         [[6.0, 13.0], [-9.0, 22.0], [-3.0, 5.0]],
         [[23.0, 28.0], [33.0, 16.0], [-2.0, 44.0]],
         [[20.0, -15.0], [22.0, -4.0], [45.0, -8.0]]]]]> : tensor<1x4x5x3x2xf32>) : tensor<1x4x5x3x2xf32>
  return
}
