"use strict";

Retarget.view("matrix", {
  title: "Matrix",
  data: ["matrix"],
  render(root) { root.append(Retarget.el("p", {}, `${Retarget.number(Retarget.data("matrix").targets)} targets`)); },
});
