// A mutable tensor global: accumulated into, partly overwritten, and snapshots taken before a store must keep their values.
// Each function stores what it starts from, so that any one of them can be run alone. Numbers by hand.

util.global private mutable @state = dense<0.0> : tensor<4xf32>

func.func private @accumulate(%x: tensor<4xf32>) attributes {noinline} {
  %old = util.global.load @state : tensor<4xf32>
  %new = arith.addf %old, %x : tensor<4xf32>
  util.global.store %new, @state : tensor<4xf32>
  return
}

// 0 + [1, 2, 3, 4] + [1, 2, 3, 4] + [10, 20, 30, 40] = [12, 24, 36, 48].
func.func @accumulates() {
  %zero = util.unfoldable_constant dense<0.0> : tensor<4xf32>
  util.global.store %zero, @state : tensor<4xf32>
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = util.unfoldable_constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>
  call @accumulate(%x) : (tensor<4xf32>) -> ()
  call @accumulate(%x) : (tensor<4xf32>) -> ()
  call @accumulate(%y) : (tensor<4xf32>) -> ()
  %out = util.global.load @state : tensor<4xf32>
  check.expect_eq_const(%out, dense<[12.0, 24.0, 36.0, 48.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

// The snapshot is taken before the call adds to the global: [5, 5, 5, 5] stays, and the global becomes [6, 7, 8, 9].
func.func @snapshot_is_kept() {
  %five = util.unfoldable_constant dense<5.0> : tensor<4xf32>
  util.global.store %five, @state : tensor<4xf32>
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %before = util.global.load @state : tensor<4xf32>
  call @accumulate(%x) : (tensor<4xf32>) -> ()
  %after = util.global.load @state : tensor<4xf32>
  check.expect_eq_const(%before, dense<5.0> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%after, dense<[6.0, 7.0, 8.0, 9.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

// Two elements from index 1 on are replaced: [5, -1, -2, 5].
func.func @slice_is_overwritten() {
  %five = util.unfoldable_constant dense<5.0> : tensor<4xf32>
  util.global.store %five, @state : tensor<4xf32>
  %offset = util.unfoldable_constant 1 : index
  %part = util.unfoldable_constant dense<[-1.0, -2.0]> : tensor<2xf32>
  %old = util.global.load @state : tensor<4xf32>
  %new = tensor.insert_slice %part into %old[%offset] [2] [1] : tensor<2xf32> into tensor<4xf32>
  util.global.store %new, @state : tensor<4xf32>
  %out = util.global.load @state : tensor<4xf32>
  check.expect_eq_const(%out, dense<[5.0, -1.0, -2.0, 5.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
