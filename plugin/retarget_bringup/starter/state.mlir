// A variable that lives between calls: 10, and 1 added three times.

util.global private mutable @counter = dense<[10, 20]> : tensor<2xi32>

func.func private @increment() attributes {noinline} {
  %one = arith.constant dense<1> : tensor<2xi32>
  %old = util.global.load @counter : tensor<2xi32>
  %new = arith.addi %old, %one : tensor<2xi32>
  util.global.store %new, @counter : tensor<2xi32>
  return
}

func.func @state() {
  call @increment() : () -> ()
  call @increment() : () -> ()
  call @increment() : () -> ()
  %z = util.global.load @counter : tensor<2xi32>
  check.expect_eq_const(%z, dense<[13, 23]> : tensor<2xi32>) : tensor<2xi32>
  return
}
