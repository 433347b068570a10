// What targets were in earlier runs: see history.py for the data. Runs count from 0, the oldest.
"use strict";

(() => {
  const {el, number, share} = Retarget;
  const {many, targetLink, scroll} = Retarget.parts;
  const CHANGES = ["newly broken", "newly mended", "changed otherwise", "no longer run", "new"];
  const day = run => Retarget.when(run.started).slice(0, 10);

  const past = () => Retarget.data("history");
  const patternOf = target => past().patterns[past().of[target]];
  const named = run => run < 0 ? "none" : `${Retarget.when(past().runs[run].started).slice(0, 16)}${past().runs[run].revisions?.length ? ` (${past().runs[run].revisions[0].slice(0, 10)})` : ""}`;
  const ago = run => { const runs = past().runs.length - 1 - run; return runs === 0 ? "in this run" : `${number(runs)} ${runs === 1 ? "run" : "runs"} ago`; };

  function draw(root, state) {
    const {runs, gone, damaged} = past(), last = runs.length - 1;
    const targets = Retarget.results.hits.filter(target => past().of[target] >= 0);
    root.replaceChildren(el("h2", {class: "hidden"}, "History"));
    for (const one of damaged || []) root.append(el("p", {class: "warning"}, `left out of the history: ${one}`));
    if (last < 1) {
      root.append(el("p", {class: "note"}, last === 0 ? "The history has no run before this one." : ["This page was written without a history. To keep one: ",
        el("code", {}, "retarget history add RESULTS --to FOLDER"), ", then ", el("code", {}, "retarget report RESULTS --history FOLDER -o SITE")]));
      return;
    }
    const chosen = runs.findIndex(run => run.name === state.get("against"));
    const against = chosen >= 0 && chosen < last ? chosen : last - 1;
    root.append(
      el("section", {}, el("h3", {}, "As expected, by run"), ...trend(targets)),
      el("section", {}, el("h3", {}, "What changed"), ...changes(targets, gone, against, last)),
      el("section", {}, el("h3", {}, "Regressions"), ...regressions(targets)),
      el("section", {}, el("h3", {}, "By chance"), ...chance(targets)),
      el("section", {}, el("h3", {}, "Not run"), ...idle(targets, last)),
      el("section", {}, el("h3", {}, "Every target, the latest change first"), everything(targets)));
  }

  // ---------------------------------------------------------------- trend

  function trend(targets) {
    const {runs, states, patterns, of} = past();
    const weights = new Map();
    for (const target of targets) weights.set(of[target], (weights.get(of[target]) || 0) + 1);
    const rows = runs.map((run, place) => {
      const row = {run, place, good: 0, judged: 0, targets: 0};
      for (const [pattern, weight] of weights) {
        const sort = states[patterns[pattern].cells[place]].sort;
        if (sort !== "absent") row.targets += weight;
        if (sort === "good" || sort === "bad") row.judged += weight;
        if (sort === "good") row.good += weight;
      }
      return row;
    });
    const chart = el("div", {class: "trend", role: "img", "aria-label": `as expected in the last run: ${share(rows.at(-1).good, rows.at(-1).judged)}; the table below has all runs`});
    requestAnimationFrame(() => plot(chart, rows));
    return [el("p", {class: "note"}, "counted are the targets that this page has and the filter leaves"), chart, el("details", {}, el("summary", {}, "the same as a table"), scroll("runs", el("table", {class: "figures"},
      el("thead", {}, el("tr", {}, ["run", "revision", "legs", "targets", "with a verdict", "as expected"].map(head => el("th", {scope: "col"}, head)))),
      el("tbody", {}, rows.toReversed().map(row => el("tr", {},
        el("th", {scope: "row"}, Retarget.when(row.run.started), row.run.complete === false ? el("strong", {class: "chip s-fail"}, "incomplete") : ""),
        el("td", {}, (row.run.revisions || []).map(one => one.slice(0, 12)).join(" ")), el("td", {}, (row.run.legs || []).join(" ")),
        el("td", {class: "number"}, number(row.targets)), el("td", {class: "number"}, number(row.judged)), el("td", {class: "number"}, share(row.good, row.judged))))))))];
  }

  let plotted = null;

  function plot(chart, rows) {
    const colour = property => () => getComputedStyle(chart)[property];
    const axis = {stroke: colour("color"), grid: {stroke: colour("borderTopColor"), width: 1}, ticks: {show: false}, font: `11px ${getComputedStyle(chart).fontFamily}`};
    const told = row => row ? `${named(row.place)}: ${share(row.good, row.judged)} as expected` : "";
    const line = el("p", {class: "told"});
    const isOneDay = day(rows[0].run) === day(rows.at(-1).run), label = run => isOneDay ? Retarget.when(run.started).slice(11, 16) : day(run);
    const rates = rows.map(row => row.judged ? 100 * row.good / row.judged : null);
    const lowest = Math.min(100, ...rates.filter(rate => rate !== null));
    if (plotted) plotted.destroy();
    plotted = new uPlot({
      width: Math.max(200, chart.clientWidth), height: 190, legend: {show: false}, cursor: {y: false, drag: {x: false, y: false}},
      scales: {x: {time: false, range: (_, from, to) => [from - 0.3, to + 0.3]}, y: {range: [Math.max(0, Math.floor(lowest - (100 - lowest) * 0.2 - 0.5)), 100.2]}},
      axes: [{...axis, values: (_, ticks) => ticks.map(tick => rows[tick] ? label(rows[tick].run) : ""), incrs: [1, 2, 5, 10, 20, 50], space: 90, size: 26}, {...axis, values: (_, ticks) => ticks.map(tick => `${tick} %`), size: 60}],
      series: [{}, {stroke: colour("outlineColor"), width: 2, points: {show: true, size: 7}}],
      hooks: {setCursor: [one => { line.textContent = told(rows[one.cursor.idx]); }]},
    }, [rows.map(row => row.place), rates], chart);
    chart.append(line);
  }

  addEventListener("resize", () => { if (plotted?.root.isConnected) plotted.setSize({width: plotted.root.parentElement.clientWidth, height: 190}); });
  new MutationObserver(() => plotted?.redraw()).observe(document.documentElement, {attributes: true});
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plotted?.redraw());

  // ---------------------------------------------------------------- lists

  function changes(targets, gone, against, last) {
    const {runs, states} = past();
    const by = Object.fromEntries([...CHANGES, "gone"].map(change => [change, []]));
    for (const target of targets) {
      const change = changeOf(patternOf(target), against, last);
      if (change) by[change === "gone" ? "no longer run" : change].push(target);  // planned: it is on the page
    }
    const select = el("select", {id: "against", onchange: () => Retarget.go({against: select.value})},
      runs.slice(0, -1).map((run, place) => el("option", {value: run.name, selected: place === against}, `${named(place)}, ${ago(place)}`)).reverse());
    const text = cell => `${states[cell].text}`;
    by.gone = gone.filter(([, pattern]) => changeOf(past().patterns[pattern], against, last));
    const item = (change, target) => {
      const {cells} = patternOf(target);
      return el("li", {}, targetLink(target), " ", el("span", {class: "quiet"}, change === "new" ? text(cells[last]) : `${text(cells[against])} → ${text(cells[last])}`));
    };
    const some = [...CHANGES, "gone"].filter(change => by[change].length), none = [...CHANGES, "gone"].filter(change => !by[change].length);
    return [
      el("p", {class: "tools"}, el("label", {for: "against"}, "this run, against "), select),
      ...some.map(change => el("details", {class: "card", open: change === "newly broken"},
        el("summary", {}, el("span", {class: `chip s-${{"newly broken": "fail", "newly mended": "ok"}[change] || "skipped"}`}, `${number(by[change].length)} ${change}`),
          el("span", {class: "count"}, change === "gone" ? "whatever the filter" : share(by[change].length, targets.length))),
        many(by[change], change === "gone" ? ([name]) => el("li", {}, el("code", {}, name)) : target => item(change, target)))),
      none.length ? el("p", {class: "note"}, `none ${none.join(", none ")}`) : ""];
  }

  function changeOf({cells, regressions}, before, after) {
    const {states, changes} = past(), old = states[cells[before]], now = states[cells[after]];
    if (now.sort === "good" && regressions.some(([opened, end]) => opened <= before && before < end && end <= after)) return "newly mended";
    if (old.settled === now.settled) return "";
    const further = old.cases.length > 0 && now.cases.some(one => !old.cases.includes(one));
    return further && now.sort === old.sort ? "newly broken" : changes[old.sort]?.[now.sort] || "";
  }

  function regressions(targets) {
    const open = [], closed = [];
    for (const target of targets) for (const [opened, end] of patternOf(target).regressions) (end < 0 ? open : closed).push({target, opened, end});
    open.sort((a, b) => b.opened - a.opened);
    closed.sort((a, b) => b.end - a.end || b.opened - a.opened);
    const first = opened => opened === 0 ? " or before" : "";
    return [
      el("h4", {}, `${number(open.length)} open, of ${number(targets.length)} targets`),
      many(open, ({target, opened}) => el("li", {}, targetLink(target), " ", el("span", {class: "quiet"}, `since ${named(opened)}${first(opened)}, opened ${ago(opened)}`)), {noun: "regressions"}),
      el("details", {}, el("summary", {}, `${number(closed.length)} closed`),
        many(closed, ({target, opened, end}) => el("li", {}, targetLink(target), " ", el("span", {class: "quiet"}, `from ${named(opened)}${first(opened)} until ${named(end)}: ${number(end - opened)} ${end - opened === 1 ? "run" : "runs"}`)), {noun: "regressions"}))];
  }

  function chance(targets) {
    const flaky = targets.filter(target => patternOf(target).flaky).sort((a, b) => patternOf(b).flaky / patternOf(b).ran - patternOf(a).flaky / patternOf(a).ran);
    return [el("p", {class: "note"}, `${share(flaky.length, targets.length)} targets were flaky or intermittent in a run`),
      many(flaky, target => el("li", {}, el("span", {class: "number"}, `${patternOf(target).flaky} of ${patternOf(target).ran} runs`), " ", targetLink(target), " ", strip(patternOf(target))), {noun: "targets"})];
  }

  function idle(targets, last) {
    const none = targets.filter(target => patternOf(target).last_run < last).sort((a, b) => patternOf(a).last_run - patternOf(b).last_run);
    return [el("p", {class: "note"}, `${share(none.length, targets.length)} targets have no verdict in the last run`),
      many(none, target => {
        const {last_run: ran, cells} = patternOf(target);
        return el("li", {}, el("span", {class: "number"}, ran < 0 ? `never in ${number(last + 1)} runs` : `last ${ago(ran)}`), " ", targetLink(target), " ", el("span", {class: "quiet"}, past().states[cells[last]].text));
      }, {noun: "targets"})];
  }

  function everything(targets) {
    const order = targets.toSorted((a, b) => patternOf(b).since - patternOf(a).since);
    const row = target => {
      const pattern = patternOf(target);
      return el("tr", {}, el("th", {scope: "row"}, targetLink(target)), el("td", {}, strip(pattern)), el("td", {}, since(pattern)));
    };
    const body = el("tbody");
    const table = el("table", {class: "figures"}, el("thead", {}, el("tr", {}, ["target", "runs, the last at the right", "as it is since"].map(head => el("th", {scope: "col"}, head)))), body);
    return el("div", {}, scroll("history of every target", table), many(order, row, {list: body, limit: 50, noun: "targets"}));
  }

  const since = pattern => past().states[pattern.cells.at(-1)].sort === "absent" ? `no result; the last verdict ${pattern.last_run < 0 ? "none" : ago(pattern.last_run)}` : pattern.since < 0 ? "not run yet" : pattern.since === 0 ? `${named(0)} or before` : `${named(pattern.since)}, ${ago(pattern.since)}`;

  // Equal runs in a row are one piece: a glyph per run, a colour, and words for who cannot see either.
  function strip({cells}) {
    const pieces = [];
    for (const cell of cells) {
      if (pieces.at(-1)?.cell === cell) pieces.at(-1).runs += 1;
      else pieces.push({cell, runs: 1});
    }
    const told = pieces.map(({cell, runs}) => `${past().states[cell].text}${runs > 1 ? `, ${runs} runs` : ""}`).join("; then ");
    return el("span", {class: "strip", role: "img", "aria-label": told, title: told}, pieces.map(({cell, runs}) => {
      const kind = past().states[cell], look = kind.look ? Retarget.results.stateOf(kind.look) : {glyph: "·", word: "absent"};
      return el("i", {class: `s-${look.word}`}, look.glyph.repeat(runs));
    }));
  }

  // For the panel of a target.
  Retarget.historyOf = async target => {
    await Retarget.load("history");
    const pattern = patternOf(target), {runs} = past();
    if (!pattern || runs.length < 2) return [];
    const steps = [];
    pattern.cells.forEach((cell, run) => { if (run === 0 || cell !== pattern.cells[run - 1]) steps.push(el("li", {}, `${named(run)}: ${past().states[cell].text}`)); });
    return [el("h3", {}, "History"), el("p", {}, strip(pattern)), el("p", {}, `${past().states[pattern.cells.at(-1)].sort === "absent" ? "Now" : "As it is since"} ${since(pattern)}; with a verdict in ${share(pattern.ran, runs.length)} runs${pattern.flaky ? `, by chance in ${pattern.flaky} of these` : ""}.`), el("ol", {}, steps.reverse())];
  };

  let root;
  Retarget.results.view("history", {title: "History", data: ["history"], render: place => { root = place; }, update: state => draw(root, state)});
})();
