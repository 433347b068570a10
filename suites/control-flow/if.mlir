// scf.if on the host: a scalar condition that the compiler cannot know picks one of two dispatches, or of two results.
// Numbers by hand: x = [1, -2, 3], doubled is [2, -4, 6], negated is [-1, 2, -3].

func.func private @choose(%condition: i1, %x: tensor<3xf32>) -> tensor<3xf32> {
  %out = scf.if %condition -> (tensor<3xf32>) {
    %doubled = arith.addf %x, %x : tensor<3xf32>
    scf.yield %doubled : tensor<3xf32>
  } else {
    %negated = arith.negf %x : tensor<3xf32>
    scf.yield %negated : tensor<3xf32>
  }
  return %out : tensor<3xf32>
}

func.func @taken() {
  %condition = util.unfoldable_constant 1 : i1
  %x = util.unfoldable_constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %out = call @choose(%condition, %x) : (i1, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const(%out, dense<[2.0, -4.0, 6.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @not_taken() {
  %condition = util.unfoldable_constant 0 : i1
  %x = util.unfoldable_constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %out = call @choose(%condition, %x) : (i1, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const(%out, dense<[-1.0, 2.0, -3.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

// 7 > 5 and 7 is odd, so the inner branch adds 100 to 7 * 3: 121.
func.func @nested() {
  %n = util.unfoldable_constant 7 : i32
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c100 = arith.constant 100 : i32
  %large = arith.cmpi sgt, %n, %c5 : i32
  %result = scf.if %large -> (i32) {
    %tripled = arith.muli %n, %c3 : i32
    %rest = arith.remsi %n, %c2 : i32
    %even = arith.cmpi eq, %rest, %c0 : i32
    %inner = scf.if %even -> (i32) {
      scf.yield %tripled : i32
    } else {
      %more = arith.addi %tripled, %c100 : i32
      scf.yield %more : i32
    }
    scf.yield %inner : i32
  } else {
    scf.yield %c0 : i32
  }
  %out = tensor.from_elements %result : tensor<1xi32>
  check.expect_eq_const(%out, dense<[121]> : tensor<1xi32>) : tensor<1xi32>
  return
}

// The condition is read back from a tensor that a dispatch computed: the sum 1 - 2 + 3 = 2 is positive.
func.func @condition_from_the_device() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %total = linalg.reduce { arith.addf } ins(%x : tensor<3xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %total[] : tensor<f32>
  %positive = arith.cmpf ogt, %sum, %zero : f32
  %out = func.call @choose(%positive, %x) : (i1, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const(%out, dense<[2.0, -4.0, 6.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
