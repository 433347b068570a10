// Reductions of one long row (2503 elements, a prime) and of many short rows, which take different paths in code generation.
// Numbers: NumPy's sum and max in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @x() -> tensor<1x2503xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 13 : i32
  %shift = arith.constant 6 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<1x2503xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<1x2503xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<1x2503xf32>
  %hidden = util.optimization_barrier %made : tensor<1x2503xf32>
  return %hidden : tensor<1x2503xf32>
}

func.func private @y() -> tensor<301x3xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<301x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<301x3xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<301x3xf32>
  %hidden = util.optimization_barrier %made : tensor<301x3xf32>
  return %hidden : tensor<301x3xf32>
}

func.func @row_sum() {
  %x = call @x() : () -> tensor<1x2503xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<1xf32>) -> tensor<1xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<1x2503xf32>) outs(%init : tensor<1xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<[5.0]> : tensor<1xf32>) : tensor<1xf32>
  return
}

func.func @row_max() {
  %x = call @x() : () -> tensor<1x2503xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<1xf32>) -> tensor<1xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<1x2503xf32>) outs(%init : tensor<1xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<[6.0]> : tensor<1xf32>) : tensor<1xf32>
  return
}

func.func @short_sums() {
  %x = call @y() : () -> tensor<301x3xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<301xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<301xf32>) -> tensor<301xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<301x3xf32>) outs(%init : tensor<301xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-620.0, 115.0, 562.0, -288.0, -417.0, 175.0, 479.0, -514.0, 223.0, -337.0, -176.0, 706.0, -718.0, -412.0,
       -394.0, 345.0, 796.0, -50.0, -1184.0, 421.0, -280.0, -260.0, 481.0, 934.0, -919.0, -33.0, 565.0, 875.0,
       -112.0, -378.0, 77.0, 244.0, -886.0, -286.0, 26.0, 50.0, -214.0, 243.0, 412.0, -716.0, 895.0, -809.0, 226.0,
       973.0, -586.0, -415.0, -532.0, 72.0, 388.0, 416.0, -853.0, 617.0, -219.0, -334.0, 272.0, 590.0, -389.0,
       362.0, -184.0, 1000.0, -122.0, 486.0, -203.0, 838.0, -427.0, -971.0, -794.0, 104.0, -295.0, 27.0, 61.0,
       -193.0, 274.0, -556.0, 344.0, 956.0, 271.0, 307.0, 55.0, 524.0, -304.0, 598.0, -806.0, 529.0, 567.0, -692.0,
       -221.0, -38.0, -143.0, -536.0, -208.0, 841.0, 593.0, 57.0, 242.0, 139.0, -252.0, -931.0, -889.0, -126.0,
       349.0, 536.0, -574.0, 46.0, -631.0, -587.0, 178.0, 655.0, 844.0, 745.0, 358.0, -317.0, -271.0, 496.0, -34.0,
       157.0, 60.0, -325.0, 11.0, 59.0, -181.0, -709.0, 493.0, 398.0, 15.0, 353.0, 403.0, 165.0, -361.0, -1175.0,
       -1268.0, 369.0, 709.0, -248.0, -484.0, 1.0, -811.0, 107.0, 737.0, 70.0, 124.0, 899.0, 377.0, -433.0, 487.0,
       110.0, 454.0, -499.0, 278.0, -242.0, -41.0, -128.0, -503.0, -1166.0, 910.0, -329.0, 162.0, -644.0, 280.0,
       -93.0, -754.0, -694.0, -922.0, -429.0, 785.0, -307.0, 331.0, -328.0, -266.0, 517.0, 1012.0, 210.0, 129.0,
       769.0, 112.0, -833.0, 961.0, -560.0, 658.0, -430.0, 212.0, -443.0, 632.0, 410.0, -100.0, -898.0, 1043.0,
       -331.0, 25.0, -916.0, -127.0, 374.0, -422.0, -497.0, -860.0, -502.0, 577.0, -650.0, 862.0, -941.0, -5.0,
       643.0, 1003.0, 66.0, -150.0, 355.0, 572.0, -508.0, 1151.0, -505.0, 578.0, 364.0, -138.0, -928.0, 12.0,
       664.0, 19.0, -914.0, 892.0, -617.0, 613.0, -463.0, -818.0, -452.0, -374.0, 425.0, -73.0, -859.0, 85.0,
       -268.0, 1109.0, -829.0, -28.0, 485.0, 710.0, 647.0, 296.0, -343.0, 748.0, -467.0, 1057.0, -734.0, 214.0,
       874.0, 237.0, -688.0, 117.0, 634.0, -146.0, -205.0, 457.0, -178.0, 917.0, -294.0, -784.0, -553.0, -610.0,
       54.0, 430.0, -491.0, -691.0, -170.0, 1072.0, -1001.0, -335.0, 43.0, 133.0, -65.0, -551.0, -316.0, 640.0,
       299.0, 679.0, -238.0, 575.0, 1100.0, -681.0, 277.0, -62.0, 320.0, -595.0, 220.0, -262.0, -23.0, 937.0,
       -409.0, -1034.0, -938.0, -1130.0, 408.0, 649.0, -407.0, -742.0, -356.0, 751.0, -448.0, 83.0, 326.0, 281.0,
       -52.0, -673.0]> : tensor<301xf32>) : tensor<301xf32>
  return
}

func.func @short_max() {
  %x = call @y() : () -> tensor<301x3xf32>
  %start = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<301xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<301xf32>) -> tensor<301xf32>
  %out = linalg.reduce { arith.maximumf } ins(%x : tensor<301x3xf32>) outs(%init : tensor<301xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-63.0, 221.0, 415.0, 384.0, 341.0, 421.0, 281.0, -55.0, 442.0, 94.0, 219.0, 468.0, 102.0, 249.0, 300.0,
       504.0, 409.0, 127.0, -251.0, 284.0, 407.0, 57.0, 304.0, 475.0, 14.0, 469.0, 487.0, 477.0, 103.0, 354.0,
       168.0, 423.0, -63.0, 182.0, 331.0, 384.0, 341.0, 489.0, 281.0, -95.0, 442.0, -126.0, 219.0, 468.0, 234.0,
       246.0, 162.0, 504.0, 409.0, 343.0, -125.0, 320.0, 407.0, 57.0, 304.0, 455.0, 96.0, 469.0, 332.0, 477.0,
       103.0, 499.0, 76.0, 423.0, 396.0, -180.0, -121.0, 438.0, 260.0, 489.0, 281.0, 159.0, 442.0, -52.0, 219.0,
       468.0, 425.0, 392.0, 263.0, 504.0, 273.0, 343.0, -125.0, 320.0, 500.0, -87.0, 70.0, 131.0, 96.0, -35.0,
       308.0, 477.0, 485.0, 499.0, 278.0, 423.0, 396.0, -180.0, -121.0, 438.0, 380.0, 489.0, 164.0, 159.0, 235.0,
       -52.0, 203.0, 362.0, 425.0, 392.0, 263.0, 38.0, 306.0, 343.0, 295.0, 320.0, 500.0, 63.0, 130.0, 131.0, 96.0,
       -35.0, 447.0, 424.0, 485.0, 499.0, 278.0, 449.0, 396.0, -248.0, -279.0, 438.0, 380.0, 61.0, 254.0, 159.0,
       55.0, 316.0, 481.0, 362.0, 425.0, 400.0, 263.0, 38.0, 464.0, 309.0, 363.0, 196.0, 500.0, 63.0, 130.0, 101.0,
       -24.0, -245.0, 447.0, 34.0, 485.0, -71.0, 278.0, 449.0, 3.0, -22.0, -143.0, 337.0, 380.0, 61.0, 431.0,
       144.0, 142.0, 358.0, 481.0, 502.0, 430.0, 400.0, 181.0, -134.0, 464.0, -43.0, 363.0, 265.0, 434.0, 63.0,
       484.0, 365.0, 150.0, -161.0, 447.0, 34.0, 348.0, -71.0, 237.0, 449.0, 19.0, -22.0, -143.0, 337.0, 336.0,
       -73.0, 431.0, -170.0, 142.0, 358.0, 481.0, 502.0, 430.0, 400.0, 393.0, -12.0, 496.0, -43.0, 363.0, 435.0,
       434.0, -4.0, 484.0, 365.0, 150.0, -161.0, 441.0, -62.0, 348.0, 382.0, -129.0, -7.0, 19.0, 498.0, 287.0,
       -20.0, 336.0, 87.0, 501.0, -170.0, 142.0, 358.0, 478.0, 502.0, 430.0, 262.0, 393.0, -12.0, 496.0, -101.0,
       215.0, 435.0, 434.0, 236.0, 484.0, 365.0, 150.0, 217.0, 441.0, 136.0, 456.0, 382.0, -129.0, -7.0, 19.0,
       498.0, 360.0, 8.0, 172.0, 87.0, 501.0, -190.0, 32.0, 158.0, 188.0, 122.0, -40.0, 289.0, 393.0, 404.0, 496.0,
       135.0, 361.0, 491.0, 253.0, 463.0, 305.0, 355.0, 95.0, 264.0, 296.0, 136.0, 456.0, 382.0, -201.0, -169.0,
       -233.0, 498.0, 360.0, 8.0, 121.0, 87.0, 501.0, 84.0, 216.0, 252.0, 192.0, 122.0, -40.0]> : tensor<301xf32>) : tensor<301xf32>
  return
}
