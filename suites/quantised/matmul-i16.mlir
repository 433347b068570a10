// linalg.matmul of i16 accumulated in i32.
// Numbers: NumPy's matmul in int64, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/quantised.py; change it there.

func.func private @a() -> tensor<18x33xi16> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<18x33xi16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<18x33xi16>) {
  ^bb0(%unused: i16):
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
    %value = arith.trunci %number : i32 to i16
    linalg.yield %value : i16
  } -> tensor<18x33xi16>
  %hidden = util.optimization_barrier %made : tensor<18x33xi16>
  return %hidden : tensor<18x33xi16>
}

func.func private @b() -> tensor<33x22xi16> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<33x22xi16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<33x22xi16>) {
  ^bb0(%unused: i16):
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
    %value = arith.trunci %number : i32 to i16
    linalg.yield %value : i16
  } -> tensor<33x22xi16>
  %hidden = util.optimization_barrier %made : tensor<33x22xi16>
  return %hidden : tensor<33x22xi16>
}

func.func @matmul_18x33x22() {
  %a = call @a() : () -> tensor<18x33xi16>
  %b = call @b() : () -> tensor<33x22xi16>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<18x22xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<18x22xi32>) -> tensor<18x22xi32>
  %c = linalg.matmul ins(%a, %b : tensor<18x33xi16>, tensor<33x22xi16>) outs(%init : tensor<18x22xi32>) -> tensor<18x22xi32>
  check.expect_eq_const(%c, dense<
      [[-120736, -491023, 167807, 113211, -1020069, 149126, 291096, -586087, 199499, -192481, -7376, -239051,
        -146900, -500790, -4156, -343037, -274345, -297535, -241077, -33332, 739390, 1373816],
       [1647555, 181969, -330663, -680388, -492867, -767010, 277059, -812449, -665474, -547302, -868596, 378554,
        48086, -73061, -372343, 179420, -445862, 90673, -346019, -111268, 25059, -222585],
       [100074, -712224, 2296, 320480, 387624, 205746, -462269, 294625, -348772, 584090, -356560, 45970, -1071862,
        -287528, -496858, 639010, 147562, -138858, -105224, -72398, 139222, -259402],
       [180921, -573409, -761515, -434856, -645819, -100866, -36022, 374075, -521299, 36462, -224910, -709096,
        172070, -571079, -4371, 42877, 16643, 952161, -409639, 287096, 195977, 157501],
       [-449775, -830330, 349409, -1248249, 320715, -212697, 6985, -638675, -346594, -17809, 415283, 189878,
        352309, -257774, 190964, -614105, 464000, 318568, -1090761, -306144, -48854, 211843],
       [-114047, -201557, 137547, 374549, 1282343, 482716, -167772, 19017, 434656, 203333, -159353, 522083,
        -205238, 460677, 387811, 465093, -315468, -330391, 10670, -271015, 397585, -719938],
       [-110478, 199983, 305082, 381394, 152453, 421423, -1008289, -463923, 295834, 32939, -144726, 65539, 916993,
        108107, -118112, -130958, 297603, 104085, 11941, 230034, -404004, -670292],
       [-152512, -17202, 662322, 682323, -215503, 207815, 792936, 730642, 409398, -122364, -1056354, -683326,
        -19343, 753975, -714342, -330781, 605066, 88316, 459849, -422442, -250974, 138801],
       [156388, 451525, -87298, -21247, 458977, 228339, 182831, -218371, -1250724, 69385, 358779, -77824, 643379,
        -532864, -176962, -300861, -386944, 400241, 394835, -290154, 147348, -68499],
       [66535, 1282275, -378819, 133298, 708807, 203502, 550627, 119638, -767594, 366026, 144384, -252999, -17914,
        108024, -652115, -622382, -231602, -166904, -526161, -443651, -562107, 571431],
       [-231370, -877859, 314457, -259579, -470977, -174441, -471799, -351024, -685910, 106664, -179985, -266445,
        -323237, -717637, -130882, 304930, -494876, 1077884, -148924, 13059, -408762, 309994],
       [180863, 634559, -741860, 31102, 207956, -522070, -187390, -563844, -423479, 535396, 401735, -220071,
        -346247, 127134, -282149, -811292, 144015, 15867, -777001, -298318, -735596, 3831],
       [328540, -246579, 151224, -198396, -721318, 142372, -706974, -28448, -357667, -7583, -449318, -492252,
        62388, -149566, -127186, -654465, 816322, 340994, -676930, -1001425, 116187, 1161397],
       [-411901, -711208, 212905, -18784, 500735, 402249, 677605, 81697, -314926, 136523, -468948, -111321,
        -298042, 307814, 293647, -4546, 140724, 208813, 18101, -379953, 760221, 449965],
       [840235, 316266, 8223, -117191, 175121, -68346, 163426, -110311, -41997, -408562, -350338, 171017, 74864,
        -576239, -324287, -136911, -816266, 249949, -256867, 118183, 142101, -478732],
       [764329, 1025697, 127443, 332754, 254255, -355259, -465599, 902974, -472205, -54672, -184298, -525086,
        -615923, 464408, 111678, -260504, 360898, 303971, -294061, -1131507, 803498, -135410],
       [-543764, -244738, -526218, 67783, -405060, -176979, -234776, -14420, 597097, -136714, -484409, 430833,
        -381664, 991002, 112258, 389497, 869214, 395095, -9734, 373135, -265435, 407364],
       [136684, 343197, 180266, -770844, 132438, -163122, 429088, 699277, 248890, -156242, 340522, 345753, -377664,
        81317, -280169, -520725, -1233643, -295987, 613267, 108762, 819952, -79372]]> : tensor<18x22xi32>) : tensor<18x22xi32>
  return
}
