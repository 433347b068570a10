// onnx.Add with a broadcast, Mul, Relu, Sub of itself, and Where by Greater.
// Numbers: NumPy, exact in f32.
// The ONNX part is a function of !torch.vtensor values with an opset version; the check converts tensors to and from them.
//
// Written by suites/generate.py from suites/generator/torch_onnx.py; change it there.

func.func private @add_graph(%in0: !torch.vtensor<[6,5],f32>, %in1: !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Add"(%in0, %in1)  : (!torch.vtensor<[6,5],f32>, !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32>
  return %out : !torch.vtensor<[6,5],f32>
}

func.func @add() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[19.0, -4.0, -20.0, 20.0, -24.0],
         [19.0, 7.0, 2.0, -24.0, 20.0],
         [-14.0, 18.0, -20.0, -2.0, 9.0],
         [8.0, 7.0, 13.0, -2.0, -24.0],
         [-14.0, -4.0, 13.0, 9.0, -2.0],
         [-14.0, -4.0, 13.0, 9.0, -2.0]]> : tensor<6x5xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x5xf32> -> !torch.vtensor<[6,5],f32>
  %x1 = util.unfoldable_constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %t1 = torch_c.from_builtin_tensor %x1 : tensor<5xf32> -> !torch.vtensor<[5],f32>
  %result = call @add_graph(%t0, %t1) : (!torch.vtensor<[6,5],f32>, !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,5],f32> -> tensor<6x5xf32>
  check.expect_eq_const(%out, dense<
      [[19.0, -3.0, -18.0, 23.0, -20.0],
       [19.0, 8.0, 4.0, -21.0, 24.0],
       [-14.0, 19.0, -18.0, 1.0, 13.0],
       [8.0, 8.0, 15.0, 1.0, -20.0],
       [-14.0, -3.0, 15.0, 12.0, 2.0],
       [-14.0, -3.0, 15.0, 12.0, 2.0]]> : tensor<6x5xf32>) : tensor<6x5xf32>
  return
}

func.func private @mul_graph(%in0: !torch.vtensor<[6,7],f32>, %in1: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Mul"(%in0, %in1)  : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  return %out : !torch.vtensor<[6,7],f32>
}

func.func @mul() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %x1 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t1 = torch_c.from_builtin_tensor %x1 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @mul_graph(%t0, %t1) : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,7],f32> -> tensor<6x7xf32>
  check.expect_eq_const(%out, dense<
      [[25.0, 0.0, 25.0, 1.0, 16.0, 4.0, 9.0],
       [9.0, 4.0, 16.0, 1.0, 25.0, 0.0, 25.0],
       [1.0, 16.0, 4.0, 9.0, 9.0, 4.0, 16.0],
       [1.0, 25.0, 0.0, 25.0, 1.0, 16.0, 4.0],
       [9.0, 9.0, 4.0, 16.0, 1.0, 25.0, 0.0],
       [25.0, 1.0, 16.0, 4.0, 9.0, 9.0, 4.0]]> : tensor<6x7xf32>) : tensor<6x7xf32>
  return
}

func.func private @relu_graph(%in0: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Relu"(%in0)  : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  return %out : !torch.vtensor<[6,7],f32>
}

func.func @relu() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @relu_graph(%t0) : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,7],f32> -> tensor<6x7xf32>
  check.expect_eq_const(%out, dense<
      [[0.0, 0.0, 5.0, 0.0, 4.0, 0.0, 3.0],
       [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 5.0],
       [0.0, 4.0, 0.0, 3.0, 0.0, 2.0, 0.0],
       [1.0, 0.0, 0.0, 5.0, 0.0, 4.0, 0.0],
       [3.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0],
       [5.0, 0.0, 4.0, 0.0, 3.0, 0.0, 2.0]]> : tensor<6x7xf32>) : tensor<6x7xf32>
  return
}

func.func private @where_greater_graph(%in0: !torch.vtensor<[6,7],f32>, %in1: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %mask = torch.operator "onnx.Greater"(%in0, %in1) : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],i1>
  %out = torch.operator "onnx.Where"(%mask, %in0, %in1) : (!torch.vtensor<[6,7],i1>, !torch.vtensor<[6,7],f32>, !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  return %out : !torch.vtensor<[6,7],f32>
}

func.func @where_greater() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %x1 = util.unfoldable_constant dense<
        [[5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0]]> : tensor<6x7xf32>
  %t1 = torch_c.from_builtin_tensor %x1 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @where_greater_graph(%t0, %t1) : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,7],f32> -> tensor<6x7xf32>
  check.expect_eq_const(%out, dense<
      [[5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
       [3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 5.0],
       [1.0, 4.0, 0.0, 5.0, -1.0, 4.0, -2.0],
       [1.0, 4.0, 0.0, 5.0, -1.0, 4.0, -2.0],
       [3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 5.0],
       [5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0]]> : tensor<6x7xf32>) : tensor<6x7xf32>
  return
}
