// A dynamic size that turns out to be one and 201: element-wise work and reductions.
// Numbers by hand: a sum over nothing is 0, a maximum over nothing is minus infinity, and what is empty stays empty.
//
// Written by suites/generate.py from suites/generator/dynamic.py; change it there.

func.func private @doubled(%n: index) -> tensor<?xf32> {
  %one = util.unfoldable_constant 1.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %twos = arith.addf %ones, %ones : tensor<?xf32>
  return %twos : tensor<?xf32>
}

func.func @reduce_one() {
  %n = util.unfoldable_constant 1 : index
  %x = call @doubled(%n) : (index) -> tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %room = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<f32>) -> tensor<f32>
  %init_max = linalg.fill ins(%lowest : f32) outs(%room : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<?xf32>) outs(%init_max : tensor<f32>) dimensions = [0]
  check.expect_eq_const(%sum, dense<2.0> : tensor<f32>) : tensor<f32>
  check.expect_eq_const(%max, dense<2.0> : tensor<f32>) : tensor<f32>
  return
}

func.func @reduce_two_hundred_and_one() {
  %n = util.unfoldable_constant 201 : index
  %x = call @doubled(%n) : (index) -> tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %room = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<f32>) -> tensor<f32>
  %init_max = linalg.fill ins(%lowest : f32) outs(%room : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<?xf32>) outs(%init_max : tensor<f32>) dimensions = [0]
  check.expect_eq_const(%sum, dense<402.0> : tensor<f32>) : tensor<f32>
  check.expect_eq_const(%max, dense<2.0> : tensor<f32>) : tensor<f32>
  return
}
