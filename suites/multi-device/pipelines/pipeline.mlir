// Pipelines of `flow.tensor.transfer`: there and back again, a value that both devices use, sizes known at run time only,
// and a loop whose every round crosses twice.

func.func @there_and_back(%a: tensor<4xf32>) -> tensor<4xf32> {
  %a0 = flow.tensor.transfer %a : tensor<4xf32> to #hal.device.promise<@device_a>
  %doubled = arith.addf %a0, %a0 : tensor<4xf32>
  %b0 = flow.tensor.transfer %doubled : tensor<4xf32> to #hal.device.promise<@device_b>
  %squared = arith.mulf %b0, %b0 : tensor<4xf32>
  %a1 = flow.tensor.transfer %squared : tensor<4xf32> to #hal.device.promise<@device_a>
  %less = arith.subf %a1, %a0 : tensor<4xf32>
  %b1 = flow.tensor.transfer %less : tensor<4xf32> to #hal.device.promise<@device_b>
  %negative = arith.negf %b1 : tensor<4xf32>
  %a2 = flow.tensor.transfer %negative : tensor<4xf32> to #hal.device.promise<@device_a>
  return %a2 : tensor<4xf32>
}

func.func @shared(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %a0 = flow.tensor.transfer %a : tensor<4xi32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<4xi32> to #hal.device.promise<@device_a>
  %both = arith.addi %a0, %b0 : tensor<4xi32>
  %both_b = flow.tensor.transfer %both : tensor<4xi32> to #hal.device.promise<@device_b>
  %on_b = arith.muli %both_b, %both_b : tensor<4xi32>
  %back = flow.tensor.transfer %on_b : tensor<4xi32> to #hal.device.promise<@device_a>
  %on_a = arith.subi %both, %back : tensor<4xi32>
  return %on_a, %back : tensor<4xi32>, tensor<4xi32>
}

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %a, %c0 : tensor<?xf32>
  %a0 = flow.tensor.transfer %a : tensor<?xf32>{%size} to #hal.device.promise<@device_a>
  %doubled = arith.addf %a0, %a0 : tensor<?xf32>
  %b0 = flow.tensor.transfer %doubled : tensor<?xf32>{%size} to #hal.device.promise<@device_b>
  %squared = arith.mulf %b0, %b0 : tensor<?xf32>
  %a1 = flow.tensor.transfer %squared : tensor<?xf32>{%size} to #hal.device.promise<@device_a>
  return %a1 : tensor<?xf32>
}

func.func @loop(%a: tensor<4xi32>, %rounds: i32) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<4xi32>
  %a0 = flow.tensor.transfer %a : tensor<4xi32> to #hal.device.promise<@device_a>
  %result = scf.for %round = %zero to %rounds step %one iter_args(%value = %a0) -> tensor<4xi32> : i32 {
    %doubled = arith.addi %value, %value : tensor<4xi32>
    %b = flow.tensor.transfer %doubled : tensor<4xi32> to #hal.device.promise<@device_b>
    %next = arith.subi %b, %ones : tensor<4xi32>
    %back = flow.tensor.transfer %next : tensor<4xi32> to #hal.device.promise<@device_a>
    scf.yield %back : tensor<4xi32>
  }
  return %result : tensor<4xi32>
}
