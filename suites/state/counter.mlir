// Mutable scalar globals: stored to by a function that is called several times, and from the body of a loop.
// Each global belongs to one of the functions, which can therefore be run alone (once: the values are left behind).
// Numbers by hand: 10 + 1 + 1 + 1 = 13; 100 counted down by 7 five times is 65.

util.global private mutable @counter = 10 : i32
util.global private mutable @stock = 100 : i32

func.func private @increment() attributes {noinline} {
  %c1 = arith.constant 1 : i32
  %old = util.global.load @counter : i32
  %new = arith.addi %old, %c1 : i32
  util.global.store %new, @counter : i32
  return
}

func.func @three_increments() {
  call @increment() : () -> ()
  call @increment() : () -> ()
  call @increment() : () -> ()
  %value = util.global.load @counter : i32
  %out = tensor.from_elements %value : tensor<1xi32>
  check.expect_eq_const(%out, dense<[13]> : tensor<1xi32>) : tensor<1xi32>
  return
}

func.func @stored_in_a_loop() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %times = util.unfoldable_constant 5 : i32
  cf.br ^head(%times : i32)
^head(%left: i32):
  %more = arith.cmpi sgt, %left, %c0 : i32
  cf.cond_br %more, ^body, ^end
^body:
  %old = util.global.load @stock : i32
  %new = arith.subi %old, %c7 : i32
  util.global.store %new, @stock : i32
  %fewer = arith.subi %left, %c1 : i32
  cf.br ^head(%fewer : i32)
^end:
  %value = util.global.load @stock : i32
  %out = tensor.from_elements %value : tensor<1xi32>
  check.expect_eq_const(%out, dense<[65]> : tensor<1xi32>) : tensor<1xi32>
  return
}
