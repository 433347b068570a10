// A dispatch in a loop, whose result is the next one's input: 1 doubled ten times.

func.func @loop() {
  %x = util.unfoldable_constant dense<1.0> : tensor<4xf32>
  %times = util.unfoldable_constant 10 : index
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %z = scf.for %i = %from to %times step %step iter_args(%so_far = %x) -> tensor<4xf32> {
    %next = arith.addf %so_far, %so_far : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  check.expect_eq_const(%z, dense<1024.0> : tensor<4xf32>) : tensor<4xf32>
  return
}
