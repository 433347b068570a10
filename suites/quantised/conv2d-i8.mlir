// linalg.conv_2d_nhwc_hwcf with i8 operands accumulated in i32, and linalg.conv_2d_nhwc_hwcf_q with zero points.
// Numbers: NumPy, the sum over shifted views in exact integers (float64 below 2^53).
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/quantised.py; change it there.

func.func private @image() -> tensor<1x9x10x4xi8> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x9x10x4xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x9x10x4xi8>) {
  ^bb0(%unused: i8):
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
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<1x9x10x4xi8>
  %hidden = util.optimization_barrier %made : tensor<1x9x10x4xi8>
  return %hidden : tensor<1x9x10x4xi8>
}

func.func private @kernel() -> tensor<3x3x4x6xi8> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<3x3x4x6xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x4x6xi8>) {
  ^bb0(%unused: i8):
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
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<3x3x4x6xi8>
  %hidden = util.optimization_barrier %made : tensor<3x3x4x6xi8>
  return %hidden : tensor<3x3x4x6xi8>
}

func.func @i8_to_i32() {
  %image = call @image() : () -> tensor<1x9x10x4xi8>
  %kernel = call @kernel() : () -> tensor<3x3x4x6xi8>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x7x8x6xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x9x10x4xi8>, tensor<3x3x4x6xi8>) outs(%init : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
  check.expect_eq_const(%out, dense<
      [[[[-32277, 12236, 14652, -40591, -9921, -21097],
         [-7688, 19521, -29468, 34348, 15691, -27458],
         [-10395, -1121, -1799, -47318, -8162, -24640],
         [-25589, 18833, 30893, 16364, 22183, 18732],
         [27301, -12985, 4854, 13801, 11848, 74044],
         [-34704, -2701, -11644, 213, 15551, 82060],
         [-15824, -42181, -7306, -23145, -25693, -643],
         [-46830, 18422, 19876, 62450, 10102, -36266]],
        [[29162, 49197, 14952, -1285, -52224, 54150],
         [-15121, 5799, 52486, 18265, -1735, 22606],
         [20226, -45195, -5357, -7346, -26564, -11807],
         [18237, 25731, -9232, -9595, -50658, -66157],
         [-23849, -21379, 29817, 2482, 7056, -7163],
         [-49055, 4737, -3670, 47710, 47684, 11563],
         [29465, 2926, -58489, -23005, -811, 20392],
         [3381, -13007, 398, 8707, -630, -87351]],
        [[-11041, -5124, 11643, -30016, -16147, -63214],
         [-29569, 48132, -9478, -15153, 23577, -15274],
         [6182, 4436, -1982, 2239, -15280, 63933],
         [35721, 10121, 72283, 15132, -58924, -48983],
         [-50639, 46111, 57948, 8968, -19003, -11658],
         [23955, 9245, 38847, -60429, -4702, 64715],
         [-11828, -9615, 1928, 42881, 2804, 19747],
         [35031, -13481, 25252, -876, 4017, 10313]],
        [[-1784, -41040, -40455, 724, 33050, 74344],
         [-20159, 1944, -18576, -18969, -61483, -40447],
         [-49766, 686, 1298, -36635, -28526, -38882],
         [-12293, -136, 42761, 25787, 24995, -11321],
         [15705, 33363, 35784, -30997, -65827, 12367],
         [-12960, -1727, 48639, -55634, -28657, -40608],
         [7383, 12815, 35644, 6845, 52671, -2327],
         [-20403, 936, -7719, 21904, 27055, 72994]],
        [[-48989, -1825, 2481, -5700, -2272, 40626],
         [9344, 17584, 27200, 62037, -9931, 20379],
         [26576, -19799, -20868, -9763, -51995, -15287],
         [-26409, -36666, -33793, -32348, 2307, -69384],
         [14041, -1642, 975, 38458, 27224, -9133],
         [32466, 22272, 22443, -32783, -59572, -3206],
         [-2760, -15375, 11786, -56817, 700, -50850],
         [13532, -2386, -12673, 41907, 50914, -12760]],
        [[-24646, 12874, 14700, -62591, -10418, -41127],
         [-1551, 70203, 91, -15354, -3993, -29580],
         [4790, 8492, -9495, 21862, -2104, 60422],
         [47087, -18898, -12050, -37287, 9556, 28832],
         [14398, -42087, -7323, -23627, 3628, -20687],
         [2605, -34971, -1087, 63093, 24288, -25134],
         [54378, 29056, -20701, -22354, 11547, 39838],
         [15854, -5877, 27960, 1152, -7487, 10326]],
        [[-12338, -14513, -43456, -4791, -24520, 76571],
         [-7664, 5436, -256, -10935, -91359, -72354],
         [-77474, 8753, 20608, -33124, 66680, 32123],
         [28730, -27654, -50642, -23919, 22144, 29566],
         [5732, 11424, -56378, 27724, 17499, -47144],
         [32997, -39171, -27473, 11114, 26139, 23375],
         [-14473, -20305, 12981, 10587, 25474, 23255],
         [-23728, 252, 5497, 37940, 35584, 43860]]]]> : tensor<1x7x8x6xi32>) : tensor<1x7x8x6xi32>
  return
}

func.func @zero_points_minus_5_and_9() {
  %image = call @image() : () -> tensor<1x9x10x4xi8>
  %kernel = call @kernel() : () -> tensor<3x3x4x6xi8>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x7x8x6xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
  %zi = util.unfoldable_constant -5 : i32
  %zk = util.unfoldable_constant 9 : i32
  %out = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel, %zi, %zk : tensor<1x9x10x4xi8>, tensor<3x3x4x6xi8>, i32, i32) outs(%init : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
  check.expect_eq_const(%out, dense<
      [[[[-39430, 12568, 7624, -43469, -14709, -21305],
         [-13266, 21428, -34921, 33045, 12478, -26091],
         [-14524, 2235, -5803, -47172, -9926, -21824],
         [-28395, 23512, 28212, 17833, 21742, 22871],
         [23433, -9368, 1111, 14208, 10345, 77121],
         [-44278, -4790, -21093, -5086, 8342, 79431],
         [-26712, -45584, -18069, -29758, -34216, -4586],
         [-56899, 15838, 9932, 56656, 2398, -39390]],
        [[22711, 50231, 8626, -3461, -56310, 54644],
         [-18044, 10361, 49688, 19617, -2293, 26628],
         [16187, -41749, -9271, -7110, -28238, -8901],
         [15215, 30194, -12129, -8342, -51315, -62234],
         [-28239, -18284, 25552, 2367, 5031, -4608],
         [-57198, 4079, -11688, 43842, 41906, 10365],
         [21961, 2907, -65868, -26234, -5950, 19833],
         [-3610, -12513, -6468, 5991, -5256, -87397]],
        [[-16565, -3163, 6244, -31265, -19306, -61793],
         [-36389, 48797, -16173, -17698, 19122, -15149],
         [199, 5938, -7840, 531, -18898, 64895],
         [32708, 14593, 69395, 16394, -59572, -45051],
         [-53067, 51168, 55645, 10815, -19066, -7141],
         [19727, 12502, 34744, -60382, -6565, 67432],
         [-15723, -6025, -1842, 43261, 1274, 22797],
         [29084, -11943, 19430, -2548, 435, 11311]],
        [[-8415, -40186, -46961, -1632, 28784, 74658],
         [-28392, 1196, -26684, -22927, -67351, -41735],
         [-55209, 2728, -4020, -37803, -31604, -37380],
         [-12813, 6829, 42366, 29542, 26840, -4896],
         [15464, 40607, 35668, -26963, -63703, 19071],
         [-13048, 5670, 48676, -51447, -26380, -33751],
         [5063, 17980, 33449, 8800, 52716, 2298],
         [-25081, 3743, -12272, 21501, 24742, 75261]],
        [[-56502, -1853, -4907, -8938, -7420, 40058],
         [-77, 15648, 17904, 56891, -16987, 17903],
         [21898, -16992, -25421, -10166, -54308, -13020],
         [-28729, -31501, -35988, -30393, 2352, -64759],
         [13953, 5755, 1012, 42645, 29501, -2276],
         [32225, 29516, 22327, -28749, -57448, 3498],
         [-3280, -8410, 11391, -53062, 2545, -44425],
         [8089, -344, -17991, 40739, 47836, -11258]],
        [[-35075, 9930, 4396, -68745, -18482, -44611],
         [-9676, 69563, -7909, -19204, -9753, -30760],
         [-1157, 10030, -15317, 20190, -5686, 61420],
         [43192, -15308, -15820, -36907, 8026, 31882],
         [10170, -38830, -11426, -23580, 1765, -17970],
         [177, -29914, -3390, 64940, 24225, -20617],
         [51365, 33528, -23589, -21092, 10899, 43770],
         [9871, -4375, 22102, -556, -11105, 11288]],
        [[-23199, -17889, -54192, -11377, -33016, 72655],
         [-14268, 6317, -6735, -13264, -95598, -72013],
         [-84465, 9247, 13742, -35840, 62054, 32077],
         [21226, -27673, -58021, -27148, 17005, 29007],
         [-2411, 10766, -64396, 23856, 11721, -48342],
         [28607, -36076, -31738, 10999, 24114, 25930],
         [-17495, -15842, 10084, 11840, 24817, 27178],
         [-27767, 3698, 1583, 38176, 33910, 46766]]]]> : tensor<1x7x8x6xi32>) : tensor<1x7x8x6xi32>
  return
}
