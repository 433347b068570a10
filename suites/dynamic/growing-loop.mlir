// A while loop whose tensor grows: each turn appends a copy of itself, so that the shape differs from turn to turn.
// Numbers by hand: three doublings of [1, 2] give 16 elements, 1 and 2 in turn; and a sum of 24.
//
// Written by suites/generate.py from suites/generator/dynamic.py; change it there.

func.func @grows() {
  %c0 = arith.constant 0 : index
  %limit = util.unfoldable_constant 10 : index
  %x = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  %start = tensor.cast %x : tensor<2xi32> to tensor<?xi32>
  %end = scf.while (%value = %start) : (tensor<?xi32>) -> tensor<?xi32> {
    %size = tensor.dim %value, %c0 : tensor<?xi32>
    %more = arith.cmpi ult, %size, %limit : index
    scf.condition(%more) %value : tensor<?xi32>
  } do {
  ^bb0(%value: tensor<?xi32>):
    %next = tensor.concat dim(0) %value, %value : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    scf.yield %next : tensor<?xi32>
  }
  %zero = arith.constant 0 : i32
  %room = tensor.empty() : tensor<i32>
  %init = linalg.fill ins(%zero : i32) outs(%room : tensor<i32>) -> tensor<i32>
  %sum = linalg.reduce { arith.addi } ins(%end : tensor<?xi32>) outs(%init : tensor<i32>) dimensions = [0]
  check.expect_eq_const(%sum, dense<24> : tensor<i32>) : tensor<i32>
  %out = tensor.cast %end : tensor<?xi32> to tensor<16xi32>
  check.expect_eq_const(%out, dense<[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]> : tensor<16xi32>) : tensor<16xi32>
  return
}
