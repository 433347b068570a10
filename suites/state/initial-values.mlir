// Globals with initial values and initialisers: what a module holds before its first call. Nothing here is stored to by the functions.
// Numbers by hand: 6 * 7 = 42; [1, 2, 3, 4] squared is [1, 4, 9, 16]; a second initialiser reads what the first one wrote: 42 + 8 = 50.

util.global private mutable @plain = dense<[3.0, 1.0, 4.0]> : tensor<3xf32>
util.global private mutable @product : i32
util.global private mutable @after : i32
util.global private mutable @squares : tensor<4xi32>

util.initializer {
  %a = util.unfoldable_constant 6 : i32
  %b = util.unfoldable_constant 7 : i32
  %c = arith.muli %a, %b : i32
  util.global.store %c, @product : i32
  util.return
}

util.initializer {
  %a = util.global.load @product : i32
  %b = util.unfoldable_constant 8 : i32
  %c = arith.addi %a, %b : i32
  util.global.store %c, @after : i32
  util.return
}

util.initializer {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.muli %a, %a : tensor<4xi32>
  util.global.store %b, @squares : tensor<4xi32>
  util.return
}

func.func @constant_value() {
  %value = util.global.load @plain : tensor<3xf32>
  %kept = util.optimization_barrier %value : tensor<3xf32>
  check.expect_eq_const(%kept, dense<[3.0, 1.0, 4.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @initialisers_in_order() {
  %a = util.global.load @product : i32
  %b = util.global.load @after : i32
  %out = tensor.from_elements %a, %b : tensor<2xi32>
  check.expect_eq_const(%out, dense<[42, 50]> : tensor<2xi32>) : tensor<2xi32>
  return
}

func.func @initialiser_with_a_dispatch() {
  %out = util.global.load @squares : tensor<4xi32>
  check.expect_eq_const(%out, dense<[1, 4, 9, 16]> : tensor<4xi32>) : tensor<4xi32>
  return
}
