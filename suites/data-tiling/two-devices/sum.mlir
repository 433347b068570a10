// The program of iree-org/iree#17924: a product on device_a, one of the same sizes on device_b, and their sum on device_a.

func.func @whole(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %c: tensor<64x32xf32>, %d: tensor<32x64xf32>)
    -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a0 = flow.tensor.transfer %a : tensor<64x32xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<32x64xf32> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  %first = flow.tensor.transfer %p : tensor<64x64xf32> to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<64x32xf32> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<32x64xf32> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<64x32xf32>, tensor<32x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  %second = flow.tensor.transfer %q : tensor<64x64xf32> to #hal.device.promise<@device_a>
  %sum = arith.addf %first, %second : tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}

func.func @odd(%a: tensor<37x61xf32>, %b: tensor<61x21xf32>, %c: tensor<37x61xf32>, %d: tensor<61x21xf32>)
    -> tensor<37x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x21xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x21xf32>) -> tensor<37x21xf32>
  %a0 = flow.tensor.transfer %a : tensor<37x61xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<61x21xf32> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<37x61xf32>, tensor<61x21xf32>) outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  %first = flow.tensor.transfer %p : tensor<37x21xf32> to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<37x61xf32> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<61x21xf32> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<37x61xf32>, tensor<61x21xf32>) outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  %second = flow.tensor.transfer %q : tensor<37x21xf32> to #hal.device.promise<@device_a>
  %sum = arith.addf %first, %second : tensor<37x21xf32>
  return %sum : tensor<37x21xf32>
}

func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %d: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf32>
  %inner = tensor.dim %a, %c1 : tensor<?x?xf32>
  %columns = tensor.dim %b, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %a0 = flow.tensor.transfer %a : tensor<?x?xf32>{%rows, %inner} to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<?x?xf32>{%inner, %columns} to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  %first = flow.tensor.transfer %p : tensor<?x?xf32>{%rows, %columns} to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<?x?xf32>{%rows, %inner} to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<?x?xf32>{%inner, %columns} to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  %second = flow.tensor.transfer %q : tensor<?x?xf32>{%rows, %columns} to #hal.device.promise<@device_a>
  %sum = arith.addf %first, %second : tensor<?x?xf32>
  return %sum : tensor<?x?xf32>
}
