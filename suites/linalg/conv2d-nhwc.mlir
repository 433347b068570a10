// linalg.conv_2d_nhwc_hwcf: stride one, stride two, dilation two, a 1x1 kernel, and a batch of two.
// Numbers: NumPy, the sum over shifted views of the image in float64; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/linalg/convolutions.py; change it there.

func.func private @image() -> tensor<1x13x15x5xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x13x15x5xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x13x15x5xf32>) {
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
  } -> tensor<1x13x15x5xf32>
  %hidden = util.optimization_barrier %made : tensor<1x13x15x5xf32>
  return %hidden : tensor<1x13x15x5xf32>
}

func.func private @kernel() -> tensor<3x3x5x6xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<3x3x5x6xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x5x6xf32>) {
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
  } -> tensor<3x3x5x6xf32>
  %hidden = util.optimization_barrier %made : tensor<3x3x5x6xf32>
  return %hidden : tensor<3x3x5x6xf32>
}

func.func private @point() -> tensor<1x1x5x7xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x1x5x7xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x1x5x7xf32>) {
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
  } -> tensor<1x1x5x7xf32>
  %hidden = util.optimization_barrier %made : tensor<1x1x5x7xf32>
  return %hidden : tensor<1x1x5x7xf32>
}

func.func private @pair() -> tensor<2x7x6x3xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<2x7x6x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<2x7x6x3xf32>) {
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
  } -> tensor<2x7x6x3xf32>
  %hidden = util.optimization_barrier %made : tensor<2x7x6x3xf32>
  return %hidden : tensor<2x7x6x3xf32>
}

func.func private @wide() -> tensor<2x3x3x8xf32> {
  %seed = util.unfoldable_constant 5 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<2x3x3x8xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<2x3x3x8xf32>) {
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
  } -> tensor<2x3x3x8xf32>
  %hidden = util.optimization_barrier %made : tensor<2x3x3x8xf32>
  return %hidden : tensor<2x3x3x8xf32>
}

func.func private @weigh_rows_195x7xf32(%x: tensor<195x7xf32>) -> tensor<195xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<7xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<7xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<7xf32>
  %weights = util.optimization_barrier %made : tensor<7xf32>
  %empty = tensor.empty() : tensor<195xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<195xf32>) -> tensor<195xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<195x7xf32>, tensor<7xf32>) outs(%init : tensor<195xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<195xf32>
  return %sums : tensor<195xf32>
}

func.func private @weigh_columns_195x7xf32(%x: tensor<195x7xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<195xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<195xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<195xf32>
  %weights = util.optimization_barrier %made : tensor<195xf32>
  %empty = tensor.empty() : tensor<7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<195x7xf32>, tensor<195xf32>) outs(%init : tensor<7xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<7xf32>
  return %sums : tensor<7xf32>
}

func.func @stride_one() {
  %image = call @image() : () -> tensor<1x13x15x5xf32>
  %kernel = call @kernel() : () -> tensor<3x3x5x6xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x11x13x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x11x13x6xf32>) -> tensor<1x11x13x6xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x13x15x5xf32>, tensor<3x3x5x6xf32>) outs(%init : tensor<1x11x13x6xf32>) -> tensor<1x11x13x6xf32>
  check.expect_eq_const(%out, dense<
      [[[[-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0]],
        [[-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0]],
        [[27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0]],
        [[79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0]],
        [[100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0]],
        [[123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0]],
        [[93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0]],
        [[76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0]],
        [[17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0]],
        [[-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0]],
        [[-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0]]]]> : tensor<1x11x13x6xf32>) : tensor<1x11x13x6xf32>
  return
}

func.func @stride_two() {
  %image = call @image() : () -> tensor<1x13x15x5xf32>
  %kernel = call @kernel() : () -> tensor<3x3x5x6xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x6x7x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x7x6xf32>) -> tensor<1x6x7x6xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x13x15x5xf32>, tensor<3x3x5x6xf32>) outs(%init : tensor<1x6x7x6xf32>) -> tensor<1x6x7x6xf32>
  check.expect_eq_const(%out, dense<
      [[[[-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0]],
        [[27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0]],
        [[100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0]],
        [[93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0],
         [17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0]],
        [[17.0, 93.0, 105.0, 11.0, 119.0, -40.0],
         [79.0, -27.0, 47.0, 0.0, 56.0, 61.0],
         [-7.0, 123.0, 51.0, 29.0, 113.0, -40.0],
         [100.0, -40.0, 95.0, -34.0, 70.0, 64.0],
         [-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0]],
        [[-40.0, 100.0, 25.0, 64.0, 70.0, -34.0],
         [123.0, -7.0, 116.0, -40.0, 113.0, 29.0],
         [-27.0, 79.0, -6.0, 61.0, 56.0, 0.0],
         [93.0, 17.0, 143.0, -40.0, 119.0, 11.0],
         [-1.0, 27.0, 2.0, 64.0, 38.0, 29.0],
         [76.0, 76.0, 121.0, -34.0, 143.0, -34.0],
         [27.0, -1.0, 16.0, 29.0, 38.0, 64.0]]]]> : tensor<1x6x7x6xf32>) : tensor<1x6x7x6xf32>
  return
}

func.func @dilation_two() {
  %image = call @image() : () -> tensor<1x13x15x5xf32>
  %kernel = call @kernel() : () -> tensor<3x3x5x6xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x9x11x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x9x11x6xf32>) -> tensor<1x9x11x6xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x13x15x5xf32>, tensor<3x3x5x6xf32>) outs(%init : tensor<1x9x11x6xf32>) -> tensor<1x9x11x6xf32>
  check.expect_eq_const(%out, dense<
      [[[[1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0]],
        [[19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0]],
        [[6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0]],
        [[28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0]],
        [[52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0]],
        [[67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0]],
        [[73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0]],
        [[59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0],
         [69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0]],
        [[69.0, 37.0, 102.0, 26.0, 117.0, 11.0],
         [1.0, 73.0, 50.0, -12.0, 83.0, 41.0],
         [28.0, 28.0, 41.0, 4.0, 57.0, 4.0],
         [73.0, 1.0, 86.0, 41.0, 83.0, -12.0],
         [37.0, 69.0, 86.0, 11.0, 117.0, 26.0],
         [19.0, 67.0, 41.0, -31.0, 82.0, 30.0],
         [52.0, 6.0, 39.0, 25.0, 55.0, -11.0],
         [59.0, 29.0, 102.0, 47.0, 102.0, -20.0],
         [29.0, 59.0, 87.0, -20.0, 102.0, 47.0],
         [6.0, 52.0, 16.0, -11.0, 55.0, 25.0],
         [67.0, 19.0, 65.0, 30.0, 82.0, -31.0]]]]> : tensor<1x9x11x6xf32>) : tensor<1x9x11x6xf32>
  return
}

func.func @pointwise() {
  %image = call @image() : () -> tensor<1x13x15x5xf32>
  %kernel = call @point() : () -> tensor<1x1x5x7xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x13x15x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x13x15x7xf32>) -> tensor<1x13x15x7xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x13x15x5xf32>, tensor<1x1x5x7xf32>) outs(%init : tensor<1x13x15x7xf32>) -> tensor<1x13x15x7xf32>
  // 1365 elements: checked through weighted sums (see the comment at the top).
  %out_flat = tensor.collapse_shape %out [[0, 1, 2], [3]] : tensor<1x13x15x7xf32> into tensor<195x7xf32>
  %out_kept = util.optimization_barrier %out_flat : tensor<195x7xf32>
  %out_rows = call @weigh_rows_195x7xf32(%out_kept) : (tensor<195x7xf32>) -> tensor<195xf32>
  check.expect_eq_const(%out_rows, dense<
      [476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0,
       364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0,
       336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0,
       84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0,
       -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0,
       -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0,
       -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0,
       -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0,
       84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0,
       336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0,
       364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0,
       476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0,
       364.0, -84.0, -84.0, 364.0, 336.0, -168.0, 84.0, 476.0, 84.0, -168.0, 336.0, 364.0, -84.0, -84.0, 364.0]> : tensor<195xf32>) : tensor<195xf32>
  %out_columns = call @weigh_columns_195x7xf32(%out_kept) : (tensor<195x7xf32>) -> tensor<7xf32>
  check.expect_eq_const(%out_columns, dense<[4197.0, 8394.0, 8394.0, 4197.0, -4197.0, 12591.0, -4197.0]> : tensor<7xf32>) : tensor<7xf32>
  return
}

func.func @batch_of_two() {
  %image = call @pair() : () -> tensor<2x7x6x3xf32>
  %kernel = call @wide() : () -> tensor<2x3x3x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x6x4x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<2x7x6x3xf32>, tensor<2x3x3x8xf32>) outs(%init : tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xf32>
  check.expect_eq_const(%out, dense<
      [[[[65.0, 9.0, 60.0, -27.0, 70.0, 22.0, 32.0, 65.0],
         [-4.0, 50.0, 24.0, -5.0, 40.0, -37.0, 51.0, -4.0],
         [6.0, -2.0, 10.0, 28.0, 10.0, -2.0, 6.0, 6.0],
         [51.0, -37.0, 40.0, -5.0, 24.0, 50.0, -4.0, 51.0]],
        [[32.0, 22.0, 70.0, -27.0, 60.0, 9.0, 65.0, 32.0],
         [4.0, 54.0, 1.0, 6.0, 41.0, -48.0, 26.0, 4.0],
         [11.0, -29.0, 20.0, 39.0, 0.0, 22.0, 0.0, 11.0],
         [53.0, -29.0, 61.0, -27.0, 36.0, 54.0, 20.0, 53.0]],
        [[20.0, 54.0, 36.0, -27.0, 61.0, -29.0, 53.0, 20.0],
         [0.0, 22.0, 0.0, 39.0, 20.0, -29.0, 11.0, 0.0],
         [26.0, -48.0, 41.0, 6.0, 1.0, 54.0, 4.0, 26.0],
         [65.0, 9.0, 60.0, -27.0, 70.0, 22.0, 32.0, 65.0]],
        [[-4.0, 50.0, 24.0, -5.0, 40.0, -37.0, 51.0, -4.0],
         [6.0, -2.0, 10.0, 28.0, 10.0, -2.0, 6.0, 6.0],
         [51.0, -37.0, 40.0, -5.0, 24.0, 50.0, -4.0, 51.0],
         [32.0, 22.0, 70.0, -27.0, 60.0, 9.0, 65.0, 32.0]],
        [[4.0, 54.0, 1.0, 6.0, 41.0, -48.0, 26.0, 4.0],
         [11.0, -29.0, 20.0, 39.0, 0.0, 22.0, 0.0, 11.0],
         [53.0, -29.0, 61.0, -27.0, 36.0, 54.0, 20.0, 53.0],
         [20.0, 54.0, 36.0, -27.0, 61.0, -29.0, 53.0, 20.0]],
        [[0.0, 22.0, 0.0, 39.0, 20.0, -29.0, 11.0, 0.0],
         [26.0, -48.0, 41.0, 6.0, 1.0, 54.0, 4.0, 26.0],
         [65.0, 9.0, 60.0, -27.0, 70.0, 22.0, 32.0, 65.0],
         [-4.0, 50.0, 24.0, -5.0, 40.0, -37.0, 51.0, -4.0]]],
       [[[11.0, -29.0, 20.0, 39.0, 0.0, 22.0, 0.0, 11.0],
         [53.0, -29.0, 61.0, -27.0, 36.0, 54.0, 20.0, 53.0],
         [20.0, 54.0, 36.0, -27.0, 61.0, -29.0, 53.0, 20.0],
         [0.0, 22.0, 0.0, 39.0, 20.0, -29.0, 11.0, 0.0]],
        [[26.0, -48.0, 41.0, 6.0, 1.0, 54.0, 4.0, 26.0],
         [65.0, 9.0, 60.0, -27.0, 70.0, 22.0, 32.0, 65.0],
         [-4.0, 50.0, 24.0, -5.0, 40.0, -37.0, 51.0, -4.0],
         [6.0, -2.0, 10.0, 28.0, 10.0, -2.0, 6.0, 6.0]],
        [[51.0, -37.0, 40.0, -5.0, 24.0, 50.0, -4.0, 51.0],
         [32.0, 22.0, 70.0, -27.0, 60.0, 9.0, 65.0, 32.0],
         [4.0, 54.0, 1.0, 6.0, 41.0, -48.0, 26.0, 4.0],
         [11.0, -29.0, 20.0, 39.0, 0.0, 22.0, 0.0, 11.0]],
        [[53.0, -29.0, 61.0, -27.0, 36.0, 54.0, 20.0, 53.0],
         [20.0, 54.0, 36.0, -27.0, 61.0, -29.0, 53.0, 20.0],
         [0.0, 22.0, 0.0, 39.0, 20.0, -29.0, 11.0, 0.0],
         [26.0, -48.0, 41.0, 6.0, 1.0, 54.0, 4.0, 26.0]],
        [[65.0, 9.0, 60.0, -27.0, 70.0, 22.0, 32.0, 65.0],
         [-4.0, 50.0, 24.0, -5.0, 40.0, -37.0, 51.0, -4.0],
         [6.0, -2.0, 10.0, 28.0, 10.0, -2.0, 6.0, 6.0],
         [51.0, -37.0, 40.0, -5.0, 24.0, 50.0, -4.0, 51.0]],
        [[32.0, 22.0, 70.0, -27.0, 60.0, 9.0, 65.0, 32.0],
         [4.0, 54.0, 1.0, 6.0, 41.0, -48.0, 26.0, 4.0],
         [11.0, -29.0, 20.0, 39.0, 0.0, 22.0, 0.0, 11.0],
         [53.0, -29.0, 61.0, -27.0, 36.0, 54.0, 20.0, 53.0]]]]> : tensor<2x6x4x8xf32>) : tensor<2x6x4x8xf32>
  return
}
