// stablehlo.while, stablehlo.if, stablehlo.case and select by compare.
// Numbers by hand: 1 doubled until it is at least 1000 is 1024; the branch taken decides the rest.
//
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func @while_doubles() {
  %start = util.unfoldable_constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<1000> : tensor<i32>
  %out = stablehlo.while(%value = %start) : tensor<i32>
  cond {
    %more = stablehlo.compare LT, %value, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %value, %value : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  check.expect_eq_const(%out, dense<1024> : tensor<i32>) : tensor<i32>
  return
}

func.func @if_takes_the_second() {
  %condition = util.unfoldable_constant dense<false> : tensor<i1>
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %out = "stablehlo.if"(%condition) ({
    %a = stablehlo.add %x, %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }, {
    %b = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %b : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  check.expect_eq_const(%out, dense<[-1.0, -2.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @select_by_compare() {
  %x = util.unfoldable_constant dense<[1, -5, 7, 0]> : tensor<4xi32>
  %y = util.unfoldable_constant dense<[2, -6, 7, -1]> : tensor<4xi32>
  %mask = stablehlo.compare GE, %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %out = stablehlo.select %mask, %x, %y : tensor<4xi1>, tensor<4xi32>
  check.expect_eq_const(%out, dense<[2, -5, 7, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}
