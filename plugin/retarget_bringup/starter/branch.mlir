// The host decides by a value that the device has computed: 3 + 4 is more than 6, so 100 is added.

func.func @branch() {
  %x = util.unfoldable_constant dense<3> : tensor<1xi32>
  %y = util.unfoldable_constant dense<4> : tensor<1xi32>
  %limit = arith.constant 6 : i32
  %at = arith.constant 0 : index
  %sum = arith.addi %x, %y : tensor<1xi32>
  %value = tensor.extract %sum[%at] : tensor<1xi32>
  %more = arith.cmpi sgt, %value, %limit : i32
  %z = scf.if %more -> tensor<1xi32> {
    %hundred = util.unfoldable_constant dense<100> : tensor<1xi32>
    %large = arith.addi %sum, %hundred : tensor<1xi32>
    scf.yield %large : tensor<1xi32>
  } else {
    scf.yield %x : tensor<1xi32>
  }
  check.expect_eq_const(%z, dense<107> : tensor<1xi32>) : tensor<1xi32>
  return
}
