// Work on the device that is chosen when the module is loaded, and whether that is one of Vulkan: it is. There are no
// arguments, which would be on some device before the module has chosen.

func.func @chosen() -> (tensor<4xi32>, i32) {
  %numbers = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %doubled = arith.addi %numbers, %numbers : tensor<4xi32>
  %device = hal.device.resolve : !hal.device
  %known, %is_vulkan = hal.device.query<%device : !hal.device> key("hal.device.id" :: "vulkan*") : i1, i1 = false
  %answer = arith.extui %is_vulkan : i1 to i32
  return %doubled, %answer : tensor<4xi32>, i32
}
