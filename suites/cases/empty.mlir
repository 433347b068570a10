// A dynamic tensor that turns out to have no elements.

func.func @negate(%x: tensor<?xf32>) -> tensor<?xf32> {
  %negated = arith.negf %x : tensor<?xf32>
  return %negated : tensor<?xf32>
}
