// scf.for on the host with scalars and tensors carried around the loop, bounds that the compiler cannot know, and no iteration at all.
// Numbers by hand, told at each function.

// 3 + 4 + ... + 11 = (3 + 11) * 9 / 2 = 63.
func.func @sum_of_a_range() {
  %from = util.unfoldable_constant 3 : index
  %to = util.unfoldable_constant 12 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %from to %to step %step iter_args(%total = %zero) -> (i32) {
    %value = arith.index_cast %i : index to i32
    %next = arith.addi %total, %value : i32
    scf.yield %next : i32
  }
  %out = tensor.from_elements %sum : tensor<1xi32>
  check.expect_eq_const(%out, dense<[63]> : tensor<1xi32>) : tensor<1xi32>
  return
}

// Ten doublings: [1, 2, 3, -4] * 1024.
func.func @tensor_carried() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0, -4.0]> : tensor<4xf32>
  %from = arith.constant 0 : index
  %to = util.unfoldable_constant 10 : index
  %step = arith.constant 1 : index
  %out = scf.for %i = %from to %to step %step iter_args(%value = %x) -> (tensor<4xf32>) {
    %next = arith.addf %value, %value : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  check.expect_eq_const(%out, dense<[1024.0, 2048.0, 3072.0, -4096.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

func.func @no_iteration() {
  %x = util.unfoldable_constant dense<[5, 6]> : tensor<2xi32>
  %from = util.unfoldable_constant 4 : index
  %to = util.unfoldable_constant 4 : index
  %step = arith.constant 1 : index
  %out = scf.for %i = %from to %to step %step iter_args(%value = %x) -> (tensor<2xi32>) {
    %next = arith.addi %value, %value : tensor<2xi32>
    scf.yield %next : tensor<2xi32>
  }
  check.expect_eq_const(%out, dense<[5, 6]> : tensor<2xi32>) : tensor<2xi32>
  return
}

// Row i of the result is i * [1, 10]; written by insert_slice at an offset that is the loop's index, from 0 by 2 below 5: rows 0, 2, 4.
func.func @rows_inserted() {
  %from = arith.constant 0 : index
  %to = util.unfoldable_constant 5 : index
  %step = arith.constant 2 : index
  %start = util.unfoldable_constant dense<7> : tensor<5x2xi32>
  %unit = util.unfoldable_constant dense<[[1, 10]]> : tensor<1x2xi32>
  %out = scf.for %i = %from to %to step %step iter_args(%rows = %start) -> (tensor<5x2xi32>) {
    %factor = arith.index_cast %i : index to i32
    %empty = tensor.empty() : tensor<1x2xi32>
    %factors = linalg.fill ins(%factor : i32) outs(%empty : tensor<1x2xi32>) -> tensor<1x2xi32>
    %row = arith.muli %unit, %factors : tensor<1x2xi32>
    %next = tensor.insert_slice %row into %rows[%i, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<5x2xi32>
    scf.yield %next : tensor<5x2xi32>
  }
  check.expect_eq_const(%out, dense<[[0, 0], [7, 7], [2, 20], [7, 7], [4, 40]]> : tensor<5x2xi32>) : tensor<5x2xi32>
  return
}

// The Fibonacci numbers 0, 1, 1, 2, ... : after 30 steps F(30) = 832040 and F(31) = 1346269.
func.func @two_values_carried() {
  %from = arith.constant 0 : index
  %to = util.unfoldable_constant 30 : index
  %step = arith.constant 1 : index
  %f0 = arith.constant 0 : i32
  %f1 = arith.constant 1 : i32
  %pair:2 = scf.for %i = %from to %to step %step iter_args(%a = %f0, %b = %f1) -> (i32, i32) {
    %c = arith.addi %a, %b : i32
    scf.yield %b, %c : i32, i32
  }
  %out = tensor.from_elements %pair#0, %pair#1 : tensor<2xi32>
  check.expect_eq_const(%out, dense<[832040, 1346269]> : tensor<2xi32>) : tensor<2xi32>
  return
}
