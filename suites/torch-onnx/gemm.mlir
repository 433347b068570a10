// onnx.MatMul, and onnx.Gemm with its right operand transposed and a bias.
// Numbers: NumPy's matmul of small integers, exact in f32.
// The ONNX part is a function of !torch.vtensor values with an opset version; the check converts tensors to and from them.
//
// Written by suites/generate.py from suites/generator/torch_onnx.py; change it there.

func.func private @matmul_graph(%in0: !torch.vtensor<[6,7],f32>, %in1: !torch.vtensor<[7,5],f32>) -> !torch.vtensor<[6,5],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.MatMul"(%in0, %in1)  : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[7,5],f32>) -> !torch.vtensor<[6,5],f32>
  return %out : !torch.vtensor<[6,5],f32>
}

func.func @matmul() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %x1 = util.unfoldable_constant dense<
        [[-3.0, 0.0, 3.0, -1.0, 2.0],
         [-2.0, 1.0, -3.0, 0.0, 3.0],
         [-1.0, 2.0, -2.0, 1.0, -3.0],
         [0.0, 3.0, -1.0, 2.0, -2.0],
         [1.0, -3.0, 0.0, 3.0, -1.0],
         [2.0, -2.0, 1.0, -3.0, 0.0],
         [3.0, -1.0, 2.0, -2.0, 1.0]]> : tensor<7x5xf32>
  %t1 = torch_c.from_builtin_tensor %x1 : tensor<7x5xf32> -> !torch.vtensor<[7,5],f32>
  %result = call @matmul_graph(%t0, %t1) : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[7,5],f32>) -> !torch.vtensor<[6,5],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,5],f32> -> tensor<6x5xf32>
  check.expect_eq_const(%out, dense<
      [[19.0, -4.0, -20.0, 20.0, -24.0],
       [19.0, 7.0, 2.0, -24.0, 20.0],
       [-14.0, 18.0, -20.0, -2.0, 9.0],
       [8.0, 7.0, 13.0, -2.0, -24.0],
       [-14.0, -4.0, 13.0, 9.0, -2.0],
       [-14.0, -4.0, 13.0, 9.0, -2.0]]> : tensor<6x5xf32>) : tensor<6x5xf32>
  return
}

func.func private @gemm_graph(%in0: !torch.vtensor<[6,7],f32>, %in1: !torch.vtensor<[5,7],f32>, %in2: !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Gemm"(%in0, %in1, %in2) {torch.onnx.alpha = 1.0 : f32, torch.onnx.beta = 1.0 : f32, torch.onnx.transB = 1 : si64} : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[5,7],f32>, !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32>
  return %out : !torch.vtensor<[6,5],f32>
}

func.func @gemm() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %x1 = util.unfoldable_constant dense<
        [[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
         [0.0, 1.0, 2.0, 3.0, -3.0, -2.0, -1.0],
         [3.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0],
         [-1.0, 0.0, 1.0, 2.0, 3.0, -3.0, -2.0],
         [2.0, 3.0, -3.0, -2.0, -1.0, 0.0, 1.0]]> : tensor<5x7xf32>
  %t1 = torch_c.from_builtin_tensor %x1 : tensor<5x7xf32> -> !torch.vtensor<[5,7],f32>
  %x2 = util.unfoldable_constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %t2 = torch_c.from_builtin_tensor %x2 : tensor<5xf32> -> !torch.vtensor<[5],f32>
  %result = call @gemm_graph(%t0, %t1, %t2) : (!torch.vtensor<[6,7],f32>, !torch.vtensor<[5,7],f32>, !torch.vtensor<[5],f32>) -> !torch.vtensor<[6,5],f32>
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
