// State that lives from one call of the module to the next: the functions run in the order in which they stand, in one context,
// and each leaves behind what the next one expects. A runner that gives every function a fresh context fails here on purpose.
// Numbers by hand: the log grows as a decimal number, 0 -> 1 -> 12 -> 123.

util.global private mutable @log = 0 : i32

func.func private @append(%digit: i32) -> i32 attributes {noinline} {
  %ten = arith.constant 10 : i32
  %old = util.global.load @log : i32
  %moved = arith.muli %old, %ten : i32
  %new = arith.addi %moved, %digit : i32
  util.global.store %new, @log : i32
  return %new : i32
}

func.func @first() {
  %digit = util.unfoldable_constant 1 : i32
  %value = call @append(%digit) : (i32) -> i32
  %out = tensor.from_elements %value : tensor<1xi32>
  check.expect_eq_const(%out, dense<[1]> : tensor<1xi32>) : tensor<1xi32>
  return
}

func.func @second() {
  %digit = util.unfoldable_constant 2 : i32
  %value = call @append(%digit) : (i32) -> i32
  %out = tensor.from_elements %value : tensor<1xi32>
  check.expect_eq_const(%out, dense<[12]> : tensor<1xi32>) : tensor<1xi32>
  return
}

func.func @third() {
  %digit = util.unfoldable_constant 3 : i32
  %value = call @append(%digit) : (i32) -> i32
  %out = tensor.from_elements %value : tensor<1xi32>
  check.expect_eq_const(%out, dense<[123]> : tensor<1xi32>) : tensor<1xi32>
  return
}
