// Where the time went: see durations.py for the data. Milliseconds throughout.
"use strict";

(() => {
  const {el, number, share} = Retarget;
  const {many, targetLink, scroll} = Retarget.parts, {configAt, isHit} = Retarget.results;
  const PARTS = ["compile", "wait", "load", "run", "compare"];
  const HEADS = {compile: "compile", wait: "waiting for devices", load: "load", run: "run", compare: "compare"};
  const time = ms => Retarget.seconds(ms / 1000);

  function draw(root) {
    const times = Retarget.data("time"), spent = spentBy(times);
    root.replaceChildren(
      el("h2", {class: "hidden"}, "Where the time went"),
      el("section", {}, el("h3", {}, "By config"), configTable(spent)),
      el("section", {}, el("h3", {}, "The slowest"), el("div", {class: "columns"},
        slowest("compiles", spent.compiles, spent.all.compile), slowest("runs", spent.runs, spent.all.run + spent.all.load + spent.all.compare))));
  }

  // What the picked targets took, by compiler config and by both configs. A shared compile counts once.
  function spentBy(times) {
    const nothing = () => ({targets: 0, artifacts: 0, reused: 0, compiled: 0, ...Object.fromEntries(PARTS.map(part => [part, 0]))});
    const rows = new Map(), all = nothing(), compiles = new Map(), runs = [];
    const of = keys => keys.map(key => rows.get(key) || rows.set(key, nothing()).get(key)).concat(all);
    const reused = new Set(times.reused);
    for (const target of Retarget.results.hits) {
      const [compiler, runtime] = configAt(target), compile = times.compile_of[target];
      for (const row of of(runtime ? [compiler, `${compiler}/${runtime}`] : [compiler])) {
        row.targets += 1;
        row.artifacts += compile >= 0 || reused.has(target);
        row.reused += reused.has(target);
      }
      if (compile >= 0 && !compiles.has(compile)) {
        compiles.set(compile, {target: times.compiles.first[compile], took: times.compiles.took[compile]});
        for (const row of of([compiler])) { row.compile += times.compiles.took[compile]; row.compiled += 1; }
      }
    }
    times.runs.row.forEach((target, place) => {
      if (!isHit(target)) return;
      const [compiler, runtime] = configAt(target), took = part => times.runs[part][place];
      for (const row of of([compiler, `${compiler}/${runtime}`])) for (const part of PARTS.slice(1)) row[part] += took(part);
      runs.push({target, took: took("load") + took("run") + took("compare")});
    });
    for (const row of [...rows.values(), all]) row.total = PARTS.reduce((sum, part) => sum + row[part], 0);
    return {rows, all, compiles: [...compiles.values()], runs};
  }

  function configTable({rows, all}) {
    const whole = Math.max(1, ...[...rows].map(([, row]) => row.total));
    const order = [...rows.keys()].filter(key => !key.includes("/")).sort((a, b) => rows.get(b).total - rows.get(a).total)
      .flatMap(compiler => [compiler, ...[...rows.keys()].filter(key => key.startsWith(`${compiler}/`)).sort((a, b) => rows.get(b).total - rows.get(a).total)]);
    const cells = row => [
      el("td", {class: "number"}, number(row.targets)),
      ...PARTS.map(part => el("td", {class: "number"}, row[part] ? time(row[part]) : "-")),
      el("td", {class: "number"}, el("strong", {}, row.total ? time(row.total) : "-"), row.total ? ` ${Retarget.percent(row.total, all.total)}` : ""),
    ];
    return scroll("time by config", el("table", {class: "figures"},
      el("thead", {}, el("tr", {}, ["config", "targets", ...PARTS.map(part => [el("i", {class: `swatch ${part}`}), HEADS[part]]), "all", "artifact reused", "share"]
        .map((head, place) => el("th", {scope: "col", class: place && place < 8 ? "number" : null}, head)))),
      el("tbody", {}, order.map(key => el("tr", {class: key.includes("/") ? "below" : "above"},
        el("th", {scope: "row"}, key.includes("/") ? key.slice(key.indexOf("/") + 1) : key), cells(rows.get(key)),
        el("td", {class: "number"}, share(rows.get(key).reused, rows.get(key).artifacts)), el("td", {}, bar(rows.get(key), whole))))),
      el("tfoot", {}, el("tr", {}, el("th", {scope: "row"}, "all"), cells(all), el("td", {class: "number"}, share(all.reused, all.artifacts)), el("td", {})))));
  }

  function bar(row, whole) {
    return el("div", {class: "stack", "aria-hidden": "true"}, PARTS.filter(part => row[part]).map(part => {
      const piece = el("i", {class: part, title: `${HEADS[part]}: ${time(row[part])}`});
      piece.style.width = `${100 * row[part] / whole}%`;
      return piece;
    }));
  }

  function slowest(noun, found, all) {
    const took = found.reduce((sum, one) => sum + one.took, 0);
    found.sort((a, b) => b.took - a.took);
    return el("div", {}, el("h4", {}, `${number(found.length)} ${noun}, ${time(took)}`),
      many(found.filter(one => one.took), one => el("li", {}, el("span", {class: "number"}, time(one.took)), " ", targetLink(one.target)), {tag: "ol", noun}));
  }

  let root;
  Retarget.results.view("time", {title: "Time", data: ["time"], render: place => { root = place; }, update: () => draw(root)});
})();
