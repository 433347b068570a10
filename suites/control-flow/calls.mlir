// Calls between functions on the host: several results, a helper used from several places, and calls that are kept from inlining.
// Numbers by hand: x = [3, -1], y = [2, 5]; sum [5, 4], product [6, -5].

func.func private @sum_and_product(%x: tensor<2xi32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %sum = arith.addi %x, %y : tensor<2xi32>
  %product = arith.muli %x, %y : tensor<2xi32>
  return %sum, %product : tensor<2xi32>, tensor<2xi32>
}

func.func private @both_ways(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> attributes {noinline} {
  %a:2 = call @sum_and_product(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  %b:2 = call @sum_and_product(%a#0, %a#1) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %b#1 : tensor<2xi32>
}

func.func @several_results() {
  %x = util.unfoldable_constant dense<[3, -1]> : tensor<2xi32>
  %y = util.unfoldable_constant dense<[2, 5]> : tensor<2xi32>
  %r:2 = call @sum_and_product(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const(%r#0, dense<[5, 4]> : tensor<2xi32>) : tensor<2xi32>
  check.expect_eq_const(%r#1, dense<[6, -5]> : tensor<2xi32>) : tensor<2xi32>
  return
}

// [5, 4] * [6, -5] = [30, -20].
func.func @call_of_a_call() {
  %x = util.unfoldable_constant dense<[3, -1]> : tensor<2xi32>
  %y = util.unfoldable_constant dense<[2, 5]> : tensor<2xi32>
  %r = call @both_ways(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const(%r, dense<[30, -20]> : tensor<2xi32>) : tensor<2xi32>
  return
}

func.func private @scale(%n: i32, %x: tensor<2xi32>) -> tensor<2xi32> attributes {noinline} {
  %empty = tensor.empty() : tensor<2xi32>
  %factors = linalg.fill ins(%n : i32) outs(%empty : tensor<2xi32>) -> tensor<2xi32>
  %r = arith.muli %x, %factors : tensor<2xi32>
  return %r : tensor<2xi32>
}

// A scalar and a tensor as arguments, in a loop: [3, -1] * 1 * 2 * 3 * 4 = [72, -24].
func.func @call_in_a_loop() {
  %x = util.unfoldable_constant dense<[3, -1]> : tensor<2xi32>
  %from = arith.constant 1 : index
  %to = util.unfoldable_constant 5 : index
  %out = scf.for %i = %from to %to step %from iter_args(%value = %x) -> (tensor<2xi32>) {
    %n = arith.index_cast %i : index to i32
    %next = func.call @scale(%n, %value) : (i32, tensor<2xi32>) -> tensor<2xi32>
    scf.yield %next : tensor<2xi32>
  }
  check.expect_eq_const(%out, dense<[72, -24]> : tensor<2xi32>) : tensor<2xi32>
  return
}
