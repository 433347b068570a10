// What was measured: see history.py for the data. Values are seconds, bytes or numbers.
"use strict";

(() => {
  const {el, number} = Retarget;
  const {many, targetLink, scroll} = Retarget.parts;
  const STEPS = {time: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]], size: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]};

  function shown(value, quantity) {
    if (quantity === "count") return number(value);
    const steps = STEPS[quantity], [factor, unit] = steps.find(([least]) => value >= least) || steps.at(-1);
    return `${Number((value / factor).toPrecision(4))} ${unit}`;
  }

  const before = row => row.past.slice(0, -1).findLast(value => value !== null);
  const change = row => before(row) ? row.now / before(row) - 1 : 0;
  const signed = share => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)} %`;

  // The runs of the history as a line; the table beside it has first, last and change.
  function spark(row) {
    const known = row.past.map((value, place) => [place, value]).filter(([, value]) => value !== null);
    if (known.length < 2) return "";
    const SVG = "http://www.w3.org/2000/svg", svg = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "polyline");
    const top = Math.max(...known.map(([, value]) => value)) || 1, width = 120, height = 20, last = row.past.length - 1;
    line.setAttribute("points", known.map(([place, value]) => `${(width * place / last).toFixed(1)},${(height - 1 - (height - 2) * value / top).toFixed(1)}`).join(" "));
    for (const [name, value] of [["fill", "none"], ["stroke", "currentColor"], ["stroke-width", "1.5"]]) line.setAttribute(name, value);
    for (const [name, value] of [["width", width], ["height", height], ["role", "img"], ["aria-label", `${known.length} runs, from ${shown(known[0][1], row.quantity)} to ${shown(known.at(-1)[1], row.quantity)}`]]) svg.setAttribute(name, value);
    svg.append(line);
    return svg;
  }

  function table(label, rows) {
    const body = el("tbody", {});
    const rest = many(rows, row => el("tr", {},
      el("th", {scope: "row"}, targetLink(row.target)), el("td", {class: "number"}, shown(row.now, row.quantity)),
      el("td", {class: "number"}, before(row) === undefined ? "" : shown(before(row), row.quantity)),
      el("td", {class: "number"}, before(row) === undefined ? "" : signed(change(row))), el("td", {}, spark(row))), {list: body});
    return [scroll(label, el("table", {class: "figures"},
      el("thead", {}, el("tr", {}, ["target", "now", "before", "change", "runs"].map(head => el("th", {scope: "col"}, head)))), body)), rest];
  }

  function draw(root, state) {
    const hits = new Set(Retarget.results.hits), all = Retarget.data("benchmarks").filter(row => hits.has(row.target));
    const metrics = [...new Set(Retarget.data("benchmarks").map(row => row.metric))];
    const metric = metrics.includes(state.get("metric")) ? state.get("metric") : metrics.includes("latency") ? "latency" : metrics[0];
    const rows = all.filter(row => row.metric === metric);
    const changed = rows.filter(row => change(row)).sort((one, other) => Math.abs(change(other)) - Math.abs(change(one)));
    const select = el("select", {id: "metric", onchange: () => Retarget.go({metric: select.value})}, metrics.map(one => el("option", {value: one, selected: one === metric}, one)));
    root.replaceChildren(
      el("h2", {class: "hidden"}, "Benchmarks"),
      el("p", {class: "tools"}, el("label", {for: "metric"}, "metric "), select, el("span", {class: "note"}, "all cases of a target together")),
      el("section", {}, el("h3", {}, "Largest changes against the run before"), ...(changed.length ? table("largest changes", changed) : [el("p", {class: "note"}, "none: no run before this one has this metric, or nothing changed")])),
      el("section", {}, el("h3", {}, "The slowest, or largest"), ...table("the slowest", [...rows].sort((one, other) => other.now - one.now))));
  }

  let root;
  Retarget.results.view("benchmarks", {title: "Benchmarks", data: ["benchmarks"], render: place => { root = place; }, update: state => draw(root, state)});
})();
