// A product of i8 on each of two devices, and their sum: exact, so that not one element may differ.

func.func @odd(%a: tensor<37x61xi8>, %b: tensor<61x21xi8>, %c: tensor<37x61xi8>, %d: tensor<61x21xi8>)
    -> tensor<37x21xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<37x21xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<37x21xi32>) -> tensor<37x21xi32>
  %a0 = flow.tensor.transfer %a : tensor<37x61xi8> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<61x21xi8> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<37x61xi8>, tensor<61x21xi8>) outs(%start : tensor<37x21xi32>) -> tensor<37x21xi32>
  %first = flow.tensor.transfer %p : tensor<37x21xi32> to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<37x61xi8> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<61x21xi8> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<37x61xi8>, tensor<61x21xi8>) outs(%start : tensor<37x21xi32>) -> tensor<37x21xi32>
  %second = flow.tensor.transfer %q : tensor<37x21xi32> to #hal.device.promise<@device_a>
  %sum = arith.addi %first, %second : tensor<37x21xi32>
  return %sum : tensor<37x21xi32>
}

func.func @dynamic(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi8>, %d: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xi8>
  %inner = tensor.dim %a, %c1 : tensor<?x?xi8>
  %columns = tensor.dim %b, %c1 : tensor<?x?xi8>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<?x?xi32>) -> tensor<?x?xi32>
  %a0 = flow.tensor.transfer %a : tensor<?x?xi8>{%rows, %inner} to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<?x?xi8>{%inner, %columns} to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%start : tensor<?x?xi32>) -> tensor<?x?xi32>
  %first = flow.tensor.transfer %p : tensor<?x?xi32>{%rows, %columns} to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<?x?xi8>{%rows, %inner} to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<?x?xi8>{%inner, %columns} to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%start : tensor<?x?xi32>) -> tensor<?x?xi32>
  %second = flow.tensor.transfer %q : tensor<?x?xi32>{%rows, %columns} to #hal.device.promise<@device_a>
  %sum = arith.addi %first, %second : tensor<?x?xi32>
  return %sum : tensor<?x?xi32>
}
