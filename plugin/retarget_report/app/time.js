// Where the time went: see durations.py for the data. Milliseconds throughout.
"use strict";

(() => {
  const {el, number, share} = Retarget;
  const {many, targetLink, scroll, here} = Retarget.parts, {at, configAt, isHit} = Retarget.results;
  const PARTS = ["compile", "wait", "load", "run", "compare"];
  const HEADS = {compile: "compile", wait: "waiting for devices", load: "load", run: "run", compare: "compare"};
  const time = ms => Retarget.seconds(ms / 1000);

  function draw(root) {
    const times = Retarget.data("time"), spent = spentBy(times);
    root.replaceChildren(
      el("h2", {class: "hidden"}, "Where the time went"),
      el("section", {}, el("h3", {}, "By config"), configTable(spent)),
      el("section", {}, el("h3", {}, "Compile workers and devices"), ...timeline(times)),
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

  // ---------------------------------------------------------------- timeline

  const LANE = 20, AXIS = 22;

  function timeline(times) {
    const {spans, lanes, sessions} = times;
    if (!spans.lane.length) return [el("p", {class: "note"}, "No result says when it began.")];
    const busiest = counts(spans.lane.map(lane => lanes[lane].session));
    const select = el("select", {"aria-label": "session", onchange: () => show(Number(select.value))},
      sessions.map((name, session) => busiest.has(session) ? el("option", {value: session}, `${name} (${number(busiest.get(session))} spans)`) : null));
    const canvas = el("canvas", {tabindex: 0, role: "application", "aria-label": "timeline; the table below has its figures", "aria-describedby": "timeline-keys"});
    const told = el("p", {class: "told", role: "status"});
    const table = el("div");
    const legend = el("p", {class: "legend"}, ["compile", "wait", "run", "other"].map(part => [el("i", {class: `swatch ${part}`}), part === "other" ? "not in the filter" : HEADS[part], " "]));
    let own = [], mine = [], from = 0, to = 1, end = 1, label = 100, width = 0;   // of the canvas, which is slow to ask

    function show(session) {
      own = lanes.map((lane, number) => ({...lane, number})).filter(lane => lane.session === session);
      const place = new Map(own.map((lane, row) => [lane.number, row]));
      mine = spans.lane.map((lane, index) => ({row: place.get(lane), kind: spans.kind[index], start: spans.start[index], took: spans.took[index], target: spans.row[index]}))
        .filter(span => span.row !== undefined).sort((a, b) => a.row - b.row || a.start - b.start);
      [from, to] = [0, end = Math.max(1, mine.reduce((last, span) => Math.max(last, span.start + span.took), 0))];
      canvas.style.height = `${own.length * LANE + AXIS}px`;
      table.replaceChildren(laneTable(own, mine, end));
      paint();
    }

    const x = ms => label + (ms - from) / (to - from) * (width - label);
    const ms = pixel => from + (pixel - label) / (width - label) * (to - from);

    function paint() {
      width = canvas.clientWidth;
      const scale = devicePixelRatio, height = own.length * LANE + AXIS, pen = canvas.getContext("2d");
      if (!width) return;
      [canvas.width, canvas.height] = [width * scale, height * scale];
      const colour = Object.fromEntries([...legend.querySelectorAll("i")].map(one => [one.classList[1], getComputedStyle(one).backgroundColor]));
      const text = getComputedStyle(canvas).color, line = getComputedStyle(canvas).borderTopColor;
      pen.scale(scale, scale);
      pen.font = `11px ${getComputedStyle(canvas).fontFamily}`;
      label = Math.min(width / 3, 16 + Math.max(...own.map(lane => pen.measureText(lane.name).width)));
      let last = -1, row = -1;
      for (const span of mine) {
        if (span.start + span.took < from || span.start > to) continue;
        const left = Math.max(label, Math.floor(x(span.start))), right = Math.max(left + 1, Math.min(width, x(span.start + span.took)));
        if (row === span.row && right <= last) continue;   // nothing of it would be seen: a busy lane has more spans than pixels
        [last, row] = [right, span.row];
        pen.fillStyle = colour[isHit(span.target) ? ["compile", "run", "wait"][span.kind] : "other"];
        const thin = span.kind === 2 ? 5 : 0;
        pen.fillRect(left, span.row * LANE + 2 + thin, right - left - (right - left > 3 ? 0.5 : 0), LANE - 4 - 2 * thin);
      }
      pen.fillStyle = text;
      own.forEach((lane, place) => pen.fillText(clipped(pen, lane.name, label - 10), 2, place * LANE + 14));
      const step = nice((to - from) / Math.max(2, (width - label) / 90));
      for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
        pen.fillStyle = line;
        pen.fillRect(x(tick), 0, 1, own.length * LANE + 4);
        pen.fillStyle = text;
        pen.fillText(`${Number((tick / 1000).toPrecision(6))} s`, Math.min(x(tick), width - 36), own.length * LANE + 16);
      }
    }

    function move(factor, around = (from + to) / 2, shift = 0) {
      const span = Math.min(end, Math.max(2, (to - from) * factor));
      const start = around - (around - from) * span / (to - from) + shift * span;
      from = Math.min(Math.max(0, start), end - span);
      to = from + span;
      paint();
    }

    function spanAt(event) {
      const row = Math.floor(event.offsetY / LANE), at = ms(event.offsetX), near = (to - from) / width;
      return mine.find(span => span.row === row && span.start - near <= at && at <= span.start + span.took + near);
    }

    let dragged = null;
    canvas.addEventListener("pointerdown", event => { dragged = {x: event.clientX, moved: false}; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", event => {
      if (dragged && event.buttons) {
        if (Math.abs(event.clientX - dragged.x) < 3 && !dragged.moved) return;
        move(1, undefined, (dragged.x - event.clientX) / (width - label));
        dragged = {x: event.clientX, moved: true};
      } else {
        const span = spanAt(event);
        told.textContent = span ? `${["compile", "run", "wait for"][span.kind]} ${at(span.target).name}: ${time(span.took)}, from ${time(span.start)} on` : "";
        canvas.style.cursor = span ? "pointer" : "grab";
      }
    });
    canvas.addEventListener("pointerup", event => {
      const span = dragged && !dragged.moved && spanAt(event);
      dragged = null;
      if (span) Retarget.go({t: at(span.target).id});
    });
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      move(Math.exp(event.deltaY / 300), ms(event.offsetX));
    }, {passive: false});
    const keys = {"+": () => move(0.5), "=": () => move(0.5), "-": () => move(2), "0": () => move(Infinity), ArrowLeft: () => move(1, undefined, -0.2), ArrowRight: () => move(1, undefined, 0.2)};
    canvas.addEventListener("keydown", event => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    const button = (key, name) => el("button", {type: "button", "aria-label": name, title: name, onclick: keys[key]}, key === "0" ? "all" : key === "-" ? "−" : key);
    new ResizeObserver(paint).observe(canvas);
    new MutationObserver(paint).observe(document.documentElement, {attributes: true});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    select.value = [...busiest].sort((a, b) => b[1] - a[1])[0][0];
    queueMicrotask(() => show(Number(select.value)));
    return [
      el("p", {class: "tools"}, select, button("+", "zoom in"), button("-", "zoom out"), button("0", "show all"),
        el("span", {class: "note", id: "timeline-keys"}, "Ctrl and the wheel zoom, dragging moves; keys: + − 0 ← →")),
      legend, canvas, told, el("details", {}, el("summary", {}, "the same as a table"), table)];
  }

  function laneTable(own, mine, end) {
    const busy = own.map(() => ({compile: 0, run: 0, wait: 0, spans: 0}));
    for (const span of mine) { const lane = busy[span.row]; lane[["compile", "run", "wait"][span.kind]] += span.took; lane.spans += span.kind !== 2; }
    return scroll("lanes of the timeline", el("table", {class: "figures"},
      el("thead", {}, el("tr", {}, ["lane", "busy", `of ${time(end)}`, "waited for", "compiles or runs"].map(head => el("th", {scope: "col"}, head)))),
      el("tbody", {}, own.map((lane, row) => el("tr", {}, el("th", {scope: "row"}, lane.name),
        [time(busy[row].compile + busy[row].run), Retarget.percent(Math.min(end, busy[row].compile + busy[row].run), end), time(busy[row].wait), number(busy[row].spans)].map(text => el("td", {class: "number"}, text)))))));
  }

  function counts(values) {
    const found = new Map();
    for (const value of values) found.set(value, (found.get(value) || 0) + 1);
    return found;
  }

  function nice(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return power * [1, 2, 5, 10].find(factor => factor * power >= value);
  }

  function clipped(pen, text, width) {
    if (pen.measureText(text).width <= width) return text;
    let length = text.length;
    while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
    return `${text.slice(0, length)}…`;
  }

  let root;
  Retarget.results.view("time", {title: "Time", data: ["time"], render: place => { root = place; }, update: () => draw(root)});
})();
