// linalg.matmul in i32, at sizes that no tile divides.
// Numbers: NumPy's matmul in int64, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func private @a() -> tensor<21x35xi32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<21x35xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<21x35xi32>) {
  ^bb0(%unused: i32):
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
    linalg.yield %number : i32
  } -> tensor<21x35xi32>
  %hidden = util.optimization_barrier %made : tensor<21x35xi32>
  return %hidden : tensor<21x35xi32>
}

func.func private @b() -> tensor<35x18xi32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<35x18xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<35x18xi32>) {
  ^bb0(%unused: i32):
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
    linalg.yield %number : i32
  } -> tensor<35x18xi32>
  %hidden = util.optimization_barrier %made : tensor<35x18xi32>
  return %hidden : tensor<35x18xi32>
}

func.func @matmul_21x35x18() {
  %a = call @a() : () -> tensor<21x35xi32>
  %b = call @b() : () -> tensor<35x18xi32>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<21x18xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<21x18xi32>) -> tensor<21x18xi32>
  %c = linalg.matmul ins(%a, %b : tensor<21x35xi32>, tensor<35x18xi32>) outs(%init : tensor<21x18xi32>) -> tensor<21x18xi32>
  check.expect_eq_const(%c, dense<
      [[-101239, -474607, 263894, 177993, -903840, 205826, 371019, -645376, 135209, -179020, -27140, -209288,
        -178586, -511173, -104212, -256286, -305491, -363826],
       [1554322, 77297, -477806, -828386, -672752, -937166, 85600, -681904, -545648, -469227, -790656, 425327,
        105308, -36422, -314671, 154445, -439220, 97900],
       [178242, -618144, 50224, 405488, 447648, 324018, -347813, 222121, -403924, 484226, -417904, -38918,
        -1097062, -315104, -443578, 565786, 176362, -70098],
       [95095, -671073, -881361, -563012, -792629, -252458, -202740, 486605, -420367, 115452, -153990, -656590,
        220034, -538001, 27693, 39367, 15647, 943335],
       [-415464, -799898, 500090, -1143783, 503094, -118869, 136390, -733994, -448672, -2518, 381479, 231107,
        302107, -275279, 39692, -484424, 417578, 220171],
       [-5411, -70285, 197928, 489465, 1358267, 645074, -12507, -78697, 361748, 61704, -244277, 400337, -238380,
        422612, 470249, 355554, -272605, -228653],
       [-242732, 33527, 310873, 282570, 155463, 249405, -1148886, -383803, 336962, 241524, -45546, 261763, 933399,
        151144, -325306, 101377, 209294, -98419],
       [-261705, -153474, 653269, 593565, -229668, 61319, 668407, 803567, 451664, 43541, -973734, -529693, -1621,
        790084, -866770, -156226, 538458, -65157],
       [44624, 310109, -73467, -100131, 472277, 85861, 69474, -155041, -1221336, 249730, 442119, 93410, 654545,
        -496867, -364096, -93366, -465643, 220247],
       [-73432, 1100387, -304376, 64096, 794212, 43538, 443546, 170973, -765100, 617931, 245724, -3972, -21176,
        150725, -963427, -291227, -356184, -448971],
       [-135589, -772307, 489258, -95293, -257728, 8007, -260674, -496713, -823208, 37235, -261309, -300186,
        -389159, -756262, -221974, 360091, -512468, 1047017],
       [176997, 637055, -829546, -17294, 102306, -555502, -245148, -518474, -369507, 501426, 409295, -267525,
        -319243, 132052, -169845, -914162, 181459, 97081],
       [219575, -390539, 237334, -237686, -620943, 26942, -773144, -2273, -372637, 201367, -371918, -281337, 51348,
        -117496, -407476, -361515, 706507, 93479],
       [-382194, -665640, 114002, -47142, 382590, 409333, 649586, 111502, -265540, 45158, -486048, -214488,
        -272260, 302213, 471679, -178561, 205026, 351100],
       [713579, 144722, 158572, -136827, 352281, -186268, 117203, -104501, -89585, -142767, -263038, 446603, 46858,
        -541056, -717793, 266334, -966807, -87597],
       [725081, 973025, 168235, 323666, 302175, -393675, -483463, 907614, -483469, 25048, -156938, -443198,
        -622851, 475552, -2450, -142784, 316890, 205123],
       [-521236, -213866, -557255, 69051, -441740, -157393, -229177, -13350, 608141, -185949, -499709, 379215,
        -375386, 984923, 188036, 312412, 897947, 459393],
       [195356, 422285, 115128, -759412, 55798, -107038, 453254, 694377, 268226, -277312, 299842, 220821, -366052,
        64831, -103957, -701895, -1165961, -144095],
       [864929, 838253, 237005, 185211, -597550, -119512, 258184, -593533, -191514, 18344, -443234, 699047, 362692,
        177236, 161850, -384721, -166921, -1007004],
       [-213691, -472399, 118139, 541860, 296282, 21111, -441057, 311279, 709124, 76448, -782576, -1210080,
        -489674, 348453, 923908, 681741, 341369, 93493],
       [-492779, -652183, -286875, -760014, 483188, -227002, 385639, 725882, 506162, 547805, -165252, -119509,
        1031121, 905398, -258554, 1202944, 52173, 625815]]> : tensor<21x18xi32>) : tensor<21x18xi32>
  return
}
