// linalg.reduce with arith.addf of a 9x34x47 tensor along the last, the middle and the first dimension, along two and along all.
// Numbers: NumPy's sum in float64; small integers, so f32 is exact in any order.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @x() -> tensor<9x34x47xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<9x34x47xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<9x34x47xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<9x34x47xf32>
  %hidden = util.optimization_barrier %made : tensor<9x34x47xf32>
  return %hidden : tensor<9x34x47xf32>
}

func.func private @weigh_rows_34x47xf32(%x: tensor<34x47xf32>) -> tensor<34xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<47xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<47xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<47xf32>
  %weights = util.optimization_barrier %made : tensor<47xf32>
  %empty = tensor.empty() : tensor<34xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<34xf32>) -> tensor<34xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<34x47xf32>, tensor<47xf32>) outs(%init : tensor<34xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<34xf32>
  return %sums : tensor<34xf32>
}

func.func private @weigh_columns_34x47xf32(%x: tensor<34x47xf32>) -> tensor<47xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<34xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<34xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<34xf32>
  %weights = util.optimization_barrier %made : tensor<34xf32>
  %empty = tensor.empty() : tensor<47xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<47xf32>) -> tensor<47xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<34x47xf32>, tensor<34xf32>) outs(%init : tensor<47xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<47xf32>
  return %sums : tensor<47xf32>
}

func.func @along_last() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x34xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x34xf32>) -> tensor<9x34xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x34xf32>) dimensions = [2]
  check.expect_eq_const(%out, dense<
      [[-1683.0, -3503.0, 654.0, 2716.0, -2362.0, 2573.0, 2386.0, 104.0, -2255.0, 3381.0, -141.0, -713.0, -1362.0,
        3966.0, 136.0, 2283.0, 5362.0, -717.0, 2208.0, -2007.0, 764.0, -578.0, 4057.0, 3570.0, -1030.0, 3374.0,
        -1380.0, 852.0, 989.0, 5085.0, -986.0, 938.0, 2785.0, 519.0],
       [-3300.0, 1031.0, 2258.0, -2646.0, 1454.0, 2450.0, 342.0, -1843.0, 3967.0, 619.0, -788.0, -1263.0, 3230.0,
        -426.0, 1895.0, 5148.0, -757.0, 1333.0, -2708.0, 1246.0, -931.0, 4887.0, 2556.0, -861.0, 3717.0, -863.0,
        -475.0, 845.0, 4106.0, -1791.0, 307.0, 3337.0, 1245.0, -1933.0],
       [661.0, 2062.0, -1659.0, 597.0, 2776.0, 842.0, -1169.0, 4815.0, 632.0, 408.0, -902.0, 3765.0, -726.0,
        2778.0, 4187.0, -535.0, 720.0, -2138.0, 1990.0, -1022.0, 4970.0, 1804.0, -430.0, 3313.0, -1093.0, -531.0,
        -46.0, 3389.0, -2334.0, -62.0, 2133.0, 2233.0, -2789.0, 2202.0],
       [1119.0, -1419.0, 2.0, 3364.0, 595.0, -233.0, 5925.0, 907.0, 857.0, -1288.0, 3553.0, -764.0, 3923.0, 4497.0,
        -1060.0, 1378.0, -1306.0, 1987.0, -851.0, 5315.0, 2323.0, 263.0, 4180.0, -1061.0, -1334.0, -675.0, 2934.0,
        -2615.0, -169.0, 2200.0, 2474.0, -2374.0, 2791.0, 816.0],
       [-917.0, -331.0, 3205.0, 610.0, 965.0, 5279.0, 435.0, 1568.0, -2421.0, 3603.0, -540.0, 4321.0, 5069.0,
        -314.0, 2298.0, -1221.0, 1237.0, -418.0, 4913.0, 2095.0, 209.0, 4300.0, -767.0, -1875.0, -33.0, 2741.0,
        -1625.0, -14.0, 2529.0, 1968.0, -2706.0, 1624.0, -177.0, -5082.0],
       [-402.0, 3308.0, 887.0, 407.0, 4895.0, 225.0, 1532.0, -2283.0, 2906.0, -1063.0, 4981.0, 5903.0, -315.0,
        2471.0, -1883.0, 749.0, -732.0, 3764.0, 1120.0, 417.0, 3673.0, -1220.0, -2154.0, 871.0, 1801.0, -2391.0,
        403.0, 3120.0, 1724.0, -1767.0, 1728.0, -908.0, -5639.0, -3384.0],
       [3673.0, 417.0, 1120.0, 3764.0, -732.0, 749.0, -1883.0, 2471.0, -315.0, 5903.0, 4981.0, -1063.0, 2906.0,
        -2283.0, 1532.0, 225.0, 4895.0, 407.0, 887.0, 3308.0, -402.0, -2171.0, 19.0, 2132.0, -3904.0, 73.0, 2964.0,
        1742.0, -566.0, 1085.0, -1377.0, -4925.0, -3505.0, 865.0],
       [209.0, 2095.0, 4913.0, -418.0, 1237.0, -1221.0, 2298.0, -314.0, 5069.0, 4321.0, -540.0, 3603.0, -2421.0,
        1568.0, 435.0, 5279.0, 965.0, 610.0, 3205.0, -331.0, -917.0, 1447.0, 2725.0, -3137.0, 5.0, 3070.0, 2022.0,
        -1121.0, -305.0, -1584.0, -3949.0, -3364.0, 1180.0, -407.0],
       [2323.0, 5315.0, -851.0, 1987.0, -1306.0, 1378.0, -1060.0, 4497.0, 3923.0, -764.0, 3553.0, -1288.0, 857.0,
        907.0, 5925.0, -233.0, 595.0, 3364.0, 2.0, -1419.0, 1119.0, 1562.0, -3117.0, -810.0, 3438.0, 1555.0,
        -2423.0, -424.0, -2538.0, -3720.0, -2961.0, 1757.0, -665.0, -1146.0]]> : tensor<9x34xf32>) : tensor<9x34xf32>
  return
}

func.func @along_middle() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9x47xf32>) -> tensor<9x47xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9x47xf32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [[2639.0, 1018.0, -1307.0, 709.0, -1006.0, -1407.0, -494.0, -285.0, 4265.0, 3066.0, 154.0, 2592.0, -719.0,
        -2716.0, 3664.0, 259.0, -823.0, 2436.0, 1964.0, -221.0, 926.0, -1658.0, -1919.0, 1152.0, 492.0, 2155.0,
        1096.0, 342.0, 902.0, -2269.0, -1099.0, 3403.0, -871.0, 2223.0, 3604.0, 2263.0, 218.0, 3523.0, -1948.0,
        -2069.0, 2151.0, -387.0, 1416.0, 2515.0, 892.0, 583.0, -1439.0],
       [-721.0, 306.0, -1389.0, -1770.0, 172.0, -608.0, 3962.0, 2783.0, -109.0, 2349.0, -942.0, -2919.0, 4490.0,
        96.0, 43.0, 2313.0, 1861.0, -304.0, 863.0, -1701.0, -1942.0, 1149.0, 509.0, 2192.0, 1153.0, 419.0, 999.0,
        -2152.0, -1971.0, 2551.0, -694.0, 2420.0, 3821.0, 1491.0, 475.0, 3800.0, -2660.0, -1752.0, 2488.0, -30.0,
        1793.0, 2912.0, 300.0, 1020.0, -1991.0, -661.0, 974.0],
       [-1291.0, -2661.0, 310.0, -450.0, 4140.0, 1972.0, 109.0, 2587.0, -684.0, -2641.0, 3779.0, 414.0, 381.0,
        2671.0, 2239.0, 94.0, 1281.0, -2272.0, -1484.0, 1627.0, 1007.0, 1701.0, 1691.0, 977.0, 1577.0, -1554.0,
        -2362.0, 2180.0, -36.0, 2089.0, 3510.0, 1200.0, 204.0, 4558.0, -1882.0, -954.0, 2297.0, -201.0, 1642.0,
        3790.0, 189.0, 929.0, -2062.0, -712.0, 943.0, -1133.0, 1132.0],
       [929.0, 189.0, 3790.0, 1642.0, -201.0, 2297.0, -954.0, -1882.0, 4558.0, 204.0, 1200.0, 3510.0, 2089.0,
        -36.0, 2180.0, -2362.0, -1554.0, 1577.0, 977.0, 1691.0, 1701.0, 1007.0, 1627.0, -1484.0, -2272.0, 1281.0,
        94.0, 2239.0, 2671.0, 381.0, 414.0, 3779.0, -2641.0, -684.0, 2587.0, 109.0, 1972.0, 4140.0, -450.0, 310.0,
        -2661.0, -1291.0, 384.0, -663.0, 1622.0, 3203.0, -965.0],
       [2912.0, 1793.0, -30.0, 2488.0, -1752.0, -2660.0, 3800.0, 475.0, 1491.0, 3821.0, 2420.0, -694.0, 2551.0,
        -1971.0, -2152.0, 999.0, 419.0, 1153.0, 2192.0, 509.0, 1149.0, -1942.0, -1701.0, 863.0, -304.0, 1861.0,
        2313.0, 43.0, 96.0, 4490.0, -2919.0, -942.0, 2349.0, -109.0, 2783.0, 3962.0, -608.0, 172.0, -1770.0,
        -1389.0, 306.0, -721.0, 1584.0, 3185.0, -963.0, -770.0, 1746.0],
       [-387.0, 2151.0, -2069.0, -1948.0, 3523.0, 218.0, 2263.0, 3604.0, 2223.0, -871.0, 3403.0, -1099.0, -2269.0,
        902.0, 342.0, 1096.0, 2155.0, 492.0, 1152.0, -1919.0, -1658.0, 926.0, -221.0, 1964.0, 2436.0, -823.0,
        259.0, 3664.0, -2716.0, -719.0, 2592.0, 154.0, 3066.0, 4265.0, -285.0, -494.0, -1407.0, -1006.0, 709.0,
        -1307.0, 1018.0, 2639.0, -1489.0, -1276.0, 1260.0, -944.0, -825.0],
       [-1905.0, -1764.0, 3727.0, -567.0, 2507.0, 3868.0, 2507.0, -567.0, 3727.0, -1764.0, -1905.0, 1286.0, -263.0,
        1520.0, 2599.0, 956.0, 627.0, -2424.0, -1134.0, 1470.0, -666.0, 1539.0, 3040.0, -1208.0, -106.0, 4328.0,
        -2032.0, -15.0, 3316.0, -111.0, 2821.0, 4040.0, -490.0, -679.0, -1572.0, -1151.0, 584.0, -1412.0, 933.0,
        2574.0, -1534.0, -1301.0, 1255.0, -929.0, -790.0, 1672.0, -1615.0],
       [3403.0, -871.0, 2223.0, 3604.0, 2263.0, 218.0, 3523.0, -1948.0, -2069.0, 2151.0, -387.0, 1416.0, 2515.0,
        892.0, 583.0, -1439.0, -1138.0, 1486.0, -630.0, 1595.0, 3116.0, -1112.0, 10.0, 4464.0, -1876.0, 161.0,
        2503.0, 105.0, 2048.0, 4296.0, -214.0, -1392.0, -2265.0, -1824.0, -69.0, -2045.0, 1329.0, 2990.0, -2107.0,
        -1854.0, 1731.0, -1442.0, -1283.0, 1199.0, -2068.0, 1024.0, 3412.0],
       [2420.0, 3821.0, 1491.0, 475.0, 3800.0, -2660.0, -1752.0, 2488.0, -30.0, 1793.0, 2912.0, 300.0, 1020.0,
        -1991.0, -661.0, 974.0, -1122.0, 1123.0, 3673.0, -1544.0, -402.0, 4072.0, -1239.0, -191.0, 3180.0, -207.0,
        1756.0, 4024.0, -466.0, -1624.0, -2477.0, -2016.0, -241.0, -2197.0, 1197.0, 2878.0, -1190.0, -1926.0,
        1679.0, -1474.0, -1295.0, 1207.0, -2040.0, 1072.0, 3480.0, -870.0, -1888.0]]> : tensor<9x47xf32>) : tensor<9x47xf32>
  return
}

func.func @along_first() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<34x47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<34x47xf32>) -> tensor<34x47xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<34x47xf32>) dimensions = [0]
  // 1598 elements: checked through weighted sums (see the comment at the top).
  %out_kept = util.optimization_barrier %out : tensor<34x47xf32>
  %out_rows = call @weigh_rows_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<34xf32>
  check.expect_eq_const(%out_rows, dense<
      [8968.0, 46354.0, 35563.0, 46216.0, 20800.0, 38017.0, 41363.0, 40928.0, 62946.0, 26697.0, 52252.0, 63936.0,
       54686.0, 49727.0, 43005.0, 59745.0, 44452.0, 22351.0, 50955.0, 26337.0, 46370.0, 35379.0, 28679.0, 22234.0,
       -14226.0, 16163.0, 3420.0, 34319.0, 33185.0, -15117.0, -13723.0, -12074.0, -24296.0, -20119.0]> : tensor<34xf32>) : tensor<34xf32>
  %out_columns = call @weigh_columns_34x47xf32(%out_kept) : (tensor<34x47xf32>) -> tensor<47xf32>
  check.expect_eq_const(%out_columns, dense<
      [37975.0, 21681.0, 25321.0, 21652.0, 43971.0, -8622.0, 57601.0, 21669.0, 61166.0, 49967.0, 44576.0, 27840.0,
       51218.0, -14442.0, 21561.0, 9895.0, 11100.0, 24167.0, 24880.0, 6176.0, 22541.0, 13435.0, -6007.0, 38881.0,
       7848.0, 41145.0, 34845.0, 31326.0, 15453.0, 36667.0, -7950.0, 29925.0, 9032.0, 29262.0, 41174.0, 28624.0,
       7756.0, 22966.0, -7475.0, -23027.0, 13643.0, 7689.0, 4516.0, 28340.0, 4495.0, 7647.0, -6600.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_outer_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<47xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<47xf32>) -> tensor<47xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<47xf32>) dimensions = [0, 1]
  check.expect_eq_const(%out, dense<
      [7999.0, 3982.0, 6746.0, 4183.0, 13446.0, 1238.0, 12964.0, 7255.0, 13372.0, 8108.0, 10634.0, 4806.0, 9795.0,
       -633.0, 8837.0, 2890.0, 1706.0, 3267.0, 7573.0, 1507.0, 3231.0, 5682.0, 1797.0, 8729.0, 4280.0, 7621.0,
       4626.0, 10430.0, 3844.0, 9084.0, 1934.0, 10646.0, 2932.0, 7044.0, 6838.0, 8368.0, 535.0, 4528.0, 1176.0,
       -1449.0, 1698.0, 2545.0, -1935.0, 5411.0, 2385.0, 2104.0, 532.0]> : tensor<47xf32>) : tensor<47xf32>
  return
}

func.func @along_inner_two() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<9xf32>) dimensions = [1, 2]
  check.expect_eq_const(%out, dense<
      [29985.0, 25388.0, 30841.0, 36254.0, 30528.0, 22744.0, 22992.0, 26227.0, 19332.0]> : tensor<9xf32>) : tensor<9xf32>
  return
}

func.func @along_all() {
  %x = call @x() : () -> tensor<9x34x47xf32>
  %start = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %out = linalg.reduce { arith.addf } ins(%x : tensor<9x34x47xf32>) outs(%init : tensor<f32>) dimensions = [0, 1, 2]
  check.expect_eq_const(%out, dense<244291.0> : tensor<f32>) : tensor<f32>
  return
}
