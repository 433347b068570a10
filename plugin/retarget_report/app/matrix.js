// Modules × configs, a table per suite. Only what is near the window is in the document: sections have a computed
// height, and a table has the rows that are seen. The data are described in retarget_report/matrix.py.
"use strict";

(() => {
  const {el, go, number, share, percent} = Retarget;
  const TITLE = 32, HEAD = 102, ROW = 24, CELL = 88, GAP = 14, OVERSCAN = 12;   // pixels, as in style.css
  let model, page;

  // ------------------------------------------------------------ the data

  function decode(data) {
    const states = new Map(data.states.map(([word, code, glyph, label, sort, meaning]) => [code.charCodeAt(0), {word, code, glyph, label, sort, meaning}]));
    const suites = data.suites.map((suite, index) => {
      let before = "";
      const rows = suite.rows.map(row => (before = before.slice(0, row.charCodeAt(0) - 48) + row.slice(1)));
      const width = suite.columns.length, count = rows.length * width;
      const signed = new Int32Array(count).fill(-1), own = new Map(), tries = new Map();
      for (let i = 0, cell = 0; i < suite.signed.length; i += 2) signed[cell += suite.signed[i]] = suite.signed[i + 1];
      for (let i = 0; i < suite.own.length; i += 2) own.set(suite.own[i], suite.own[i + 1]);
      for (let i = 0; i < suite.tries.length; i += 3) tries.set(suite.tries[i], [suite.tries[i + 1], suite.tries[i + 2]]);
      return {...suite, index, rows, width, count, signed, own, tries, folded: false, lower: rows.map(row => row.toLowerCase()), at: new Map(rows.map((row, i) => [row, i]))};
    });
    return {...data, states, words: data.words, suites, lower: data.signatures.map(text => text.toLowerCase())};
  }

  const stateAt = (suite, cell) => model.states.get(suite.cells.charCodeAt(cell));
  const stageAt = (suite, cell) => model.stages[suite.stages.charCodeAt(cell) - 49] || "";
  const nameOf = (suite, cell) => {
    const [compiler, runtime] = suite.columns[cell % suite.width];
    return [suite.rows[Math.floor(cell / suite.width)], compiler, runtime].filter(Boolean).join("_");
  };
  const idOf = (suite, cell) => `${suite.file}::${suite.name}::${nameOf(suite, cell)}`;

  function find(id) {
    for (const suite of model.suites) {
      const prefix = `${suite.file}::${suite.name}::`;
      if (!id.startsWith(prefix)) continue;
      const name = id.slice(prefix.length);
      for (let column = 0; column < suite.width; column++) {
        const suffix = suite.columns[column].slice(0, 2).filter(Boolean).map(part => `_${part}`).join("");
        const row = name.endsWith(suffix) ? suite.at.get(name.slice(0, -suffix.length)) : undefined;
        if (row !== undefined && suite.cells[row * suite.width + column] !== " ") return [suite, row * suite.width + column];
      }
    }
    return null;
  }

  function wordsOf(suite, cell) {
    const sets = [suite.columns[cell % suite.width][2], suite.words[Math.floor(cell / suite.width)], suite.own.get(cell)];
    return sets.flatMap(set => set === undefined ? [] : model.wordsets[set]).map(word => model.words[word]);
  }

  // What the texts of a cell are: a glyph and a word, and the whole for a screen reader.
  function texts(suite, cell) {
    const state = stateAt(suite, cell);
    if (!state) return model.planned ? {glyph: "·", label: "", whole: "not planned", word: "unplanned"} : {glyph: "", label: "", whole: "no such target", word: "absent"};
    const stage = stageAt(suite, cell), [passed, all] = suite.tries.get(cell) || [0, 0];
    if (state.word === "fail") return {glyph: state.glyph, label: stage || state.label, whole: `fails at ${stage || "an unknown stage"}`, word: state.word};
    if (state.word === "xfail") return {glyph: state.glyph, label: state.label, whole: `fails at ${stage || "an unknown stage"} as expected`, word: state.word};
    if (state.word === "flaky") return {glyph: state.glyph, label: `${state.label} ${passed}/${all}`, whole: `flaky, passed in ${passed} of ${all} attempts`, word: state.word};
    return {glyph: state.glyph, label: state.label, whole: state.label, word: state.word};
  }

  // ------------------------------------------------------------ the filter

  // Leaves in each suite: `rows` and `columns` that are shown, `hit` by cell, and what is counted. Returns the counts of
  // states as the other filters leave them, of those shown, and of stages and signatures.
  function filter(state) {
    const m = Retarget.selection(state.get("m"));
    const named = m.terms.map(term => model.words.map(word => Retarget.isNamed(word, term)));
    const truths = named.map(of => model.wordsets.map(set => set.some(word => of[word])));
    const q = state.get("q").toLowerCase(), sig = state.get("sig"), stage = state.get("stage");
    const outcomes = new Set(state.get("o").split(",").filter(Boolean));
    const wantedStage = stage ? model.stages.indexOf(stage) : -1;
    const found = {states: new Map(), shown: new Map(), stages: new Map(), signatures: new Map(), total: 0};
    const add = (map, key) => map.set(key, (map.get(key) || 0) + 1);
    const matching = q && model.lower.map(text => text.includes(q));
    const everything = !state.get("m");
    for (const suite of model.suites) {
      const {width, cells} = suite, hit = suite.hit = new Uint8Array(suite.count), isColumn = new Uint8Array(width);
      const inSuite = q && `${suite.file} ${suite.name}`.toLowerCase().includes(q);
      const inColumn = suite.columns.map(([compiler, runtime]) => q && `${compiler} ${runtime}`.toLowerCase().includes(q));
      suite.shown = new Map();
      suite.byColumn = suite.columns.map(() => ({good: 0, judged: 0, all: 0}));
      suite.visible = [];
      for (let row = 0; row < suite.rows.length; row++) {
        const inRow = inSuite || (q && suite.lower[row].includes(q)), ofRow = suite.words[row];
        let any = false;
        for (let column = 0; column < width; column++) {
          const cell = row * width + column, code = cells.charCodeAt(cell);
          if (code === 32) continue;
          if (!everything) {
            const ofColumn = suite.columns[column][2], own = suite.own.get(cell);
            if (!m.test(term => truths[term][ofColumn] || truths[term][ofRow] || (own !== undefined && truths[term][own]))) continue;
          }
          isColumn[column] = 1;
          const signature = suite.signed[cell], at = suite.stages.charCodeAt(cell) - 49;
          if (q && !inRow && !inColumn[column] && !(signature >= 0 && matching[signature]) && !nameOf(suite, cell).toLowerCase().includes(q)) continue;
          if (stage && at !== wantedStage) continue;
          if (sig && (signature < 0 || model.signatures[signature] !== sig)) continue;
          const one = model.states.get(code);
          add(found.states, one.word);
          if (outcomes.size && !outcomes.has(one.word)) continue;
          hit[cell] = 1;
          any = true;
          if (at >= 0) add(found.stages, at);
          if (signature >= 0) add(found.signatures, signature);
          add(suite.shown, one);
          const total = suite.byColumn[column];
          total.all++;
          if (one.sort !== "none") total.judged++;
          if (one.sort === "good") total.good++;
        }
        if (any) suite.visible.push(row);
      }
      suite.visibleColumns = [...isColumn.keys()].filter(column => isColumn[column]);
      for (const [one, count] of suite.shown) found.shown.set(one, (found.shown.get(one) || 0) + count);
    }
    return found;
  }

  const sum = (counts, wanted) => [...counts].reduce((total, [state, count]) => wanted(state) ? total + count : total, 0);
  const verdicts = counts => [sum(counts, state => state.sort === "good"), sum(counts, state => state.sort !== "none")];

  // ------------------------------------------------------------ the toolbar

  function toolbar(root) {
    let timer;
    const later = change => { clearTimeout(timer); timer = setTimeout(() => go(change(), {replace: true}), 120); };
    const field = (key, label, attributes) => {
      const input = el("input", {id: `f-${key}`, name: key, type: "search", spellcheck: "false", autocomplete: "off", oninput: () => later(() => ({[key]: input.value})), ...attributes});
      return [el("label", {for: `f-${key}`}, label), input];
    };
    const choice = (key, label) => [el("label", {for: `f-${key}`}, label), el("select", {id: `f-${key}`, name: key, onchange: event => go({[key]: event.target.value})})];
    root.append(
      el("form", {class: "filter", role: "search", onsubmit: event => event.preventDefault()},
        el("span", {class: "field wide"}, ...field("m", "-m", {placeholder: "vulkan and not driver(name='metal')", "aria-describedby": "f-error"})),
        el("span", {class: "field"}, ...field("q", "text", {placeholder: "module, config, signature", "aria-keyshortcuts": "/"})),
        el("span", {class: "field"}, ...choice("stage", "stage")),
        el("span", {class: "field wide"}, ...choice("sig", "signature")),
        el("button", {type: "button", id: "f-clear", onclick: () => go({m: "", q: "", stage: "", sig: "", o: ""})}, "clear")),
      el("p", {id: "f-error", class: "alarm", role: "alert", hidden: true}),
      el("div", {class: "legend", role: "group", "aria-label": "outcomes"},
        el("span", {class: "chips"}),
        el("span", {class: "tools"}, el("button", {type: "button", onclick: fold}, "fold all"),
          el("button", {type: "button", "aria-keyshortcuts": "?", "aria-label": "help", onclick: help}, "?"))),
      el("p", {class: "note sum", role: "status"}));
  }

  function fill(select, entries, chosen) {
    if (chosen && !entries.some(([value]) => value === chosen)) entries.unshift([chosen, `${chosen} (0)`]);
    select.replaceChildren(el("option", {value: ""}, "any"), ...entries.map(([value, text]) => el("option", {value, selected: value === chosen}, text)));
  }

  function legend(state, found) {
    const chosen = new Set(state.get("o").split(",").filter(Boolean));
    const chips = [...model.states.values()].filter(one => found.states.get(one.word) || chosen.has(one.word)).map(one => {
      const isChosen = chosen.has(one.word);
      return el("button", {
        type: "button", class: `chip s-${one.word}`, "aria-pressed": String(isChosen), title: one.meaning,
        onclick: () => { isChosen ? chosen.delete(one.word) : chosen.add(one.word); go({o: [...chosen].join(",")}); },
      }, el("span", {class: "glyph", "aria-hidden": "true"}, one.glyph), ` ${one.label} `, el("b", {}, number(found.states.get(one.word) || 0)));
    });
    page.legend.replaceChildren(...chips);
    const [good, judged] = verdicts(found.shown), all = sum(found.shown, () => true);
    page.sum.textContent = all
      ? `${number(all)} of ${number(model.total)} targets shown; as expected: ${share(good, judged)} with a verdict`
      : `No target of ${number(model.total)} matches.`;
  }

  // ------------------------------------------------------------ sections, tables, rows

  const heightOf = suite => suite.folded ? TITLE : TITLE + HEAD + ROW * suite.visible.length + GAP;

  function layout() {
    page.sections = [];
    let top = 0;
    for (const suite of model.suites) {
      if (!suite.visible.length) continue;
      const height = heightOf(suite);
      const section = el("section", {class: "suite", "aria-label": `suite ${suite.name}`}, title(suite));
      section.style.height = `${height}px`;
      section.style.minWidth = `${page.name + CELL * suite.visibleColumns.length}px`;
      page.sections.push({suite, section, top, height, table: null});
      top += height;
    }
    page.grid.replaceChildren(...page.sections.map(one => one.section));
    place();
  }

  function title(suite) {
    const [good, judged] = verdicts(suite.shown), all = sum(suite.shown, () => true);
    const bad = [...model.states.values()].filter(state => state.sort === "bad" && suite.shown.has(state)).map(state => [state, suite.shown.get(state)]);
    return el("h2", {class: "title"},
      el("button", {type: "button", "aria-expanded": String(!suite.folded), onclick: () => { suite.folded = !suite.folded; layout(); section(suite).querySelector("h2 button").focus(); }},
        el("span", {class: "arrow", "aria-hidden": "true"}, suite.folded ? "▸" : "▾"), ` ${suite.name}`),
      el("span", {class: "quiet"}, judged ? `${share(good, judged)} as expected` : `${number(all)} without a verdict`),
      ...bad.map(([state, count]) => el("span", {class: `chip s-${state.word}`}, `${state.glyph} ${state.label} ${number(count)}`)),
      el("span", {class: "quiet path"}, suite.file));
  }

  const section = suite => page.sections.find(one => one.suite === suite).section;

  // Rows are absolutely placed boxes of one size, not a <table>: then a row that comes or goes costs no layout of the rest.
  const box = (role, cls, attributes, ...children) => el("div", {role, class: cls, ...attributes}, ...children);

  function head(suite) {
    const groups = [];
    for (const column of suite.visibleColumns) {
      const compiler = suite.columns[column][0];
      if (groups.length && groups.at(-1)[0] === compiler) groups.at(-1)[1]++; else groups.push([compiler, 1]);
    }
    const bands = groups.map(([compiler, count]) => {
      const item = box("columnheader", "group", {"aria-colspan": count, title: compiler}, compiler);
      item.style.width = `${CELL * count}px`;
      return item;
    });
    const configs = suite.visibleColumns.map(column => {
      const [compiler, runtime] = suite.columns[column];
      return box("columnheader", runtime ? "config" : "config quiet", {title: runtime || `compiled by ${compiler}`}, el("span", {}, runtime || "compile"));
    });
    const totals = suite.visibleColumns.map(column => {
      const {good, judged, all} = suite.byColumn[column];
      return box("gridcell", "total", {title: `${number(good)} of ${number(judged)} with a verdict are as expected; ${number(all)} shown`}, el("b", {}, judged ? percent(good, judged) : "-"), el("br"), `of ${number(judged)}`);
    });
    return box("rowgroup", "head", {},
      box("row", "bands", {"aria-rowindex": 1}, box("columnheader", "name", {}, "compiler"), bands),
      box("row", "configs", {"aria-rowindex": 2}, box("columnheader", "name", {}, "module"), configs),
      box("row", "totals", {"aria-rowindex": 3}, box("rowheader", "name", {}, `${number(suite.visible.length)} of ${number(suite.rows.length)} modules`), totals));
  }

  function table(one) {
    const {suite, section} = one;
    one.body = box("rowgroup", "body");
    one.body.style.height = `${ROW * suite.visible.length}px`;
    one.blank = box("row", "row", {}, box("rowheader", "name"), suite.visibleColumns.map(() => box("gridcell", "cell")));
    one.from = one.to = 0;
    one.table = box("grid", "table", {"aria-label": suite.name, "aria-rowcount": suite.visible.length + 3, "aria-colcount": suite.visibleColumns.length + 1}, head(suite), one.body);
    section.append(one.table);
  }

  function row({suite, blank}, position) {
    const made = blank.cloneNode(true), index = suite.visible[position], first = index * suite.width;
    made.style.top = `${ROW * position}px`;
    made.setAttribute("aria-rowindex", position + 4);
    let item = made.firstChild;
    item.textContent = item.title = suite.rows[index];
    for (const column of suite.visibleColumns) {
      const cell = first + column, {glyph, label, whole, word} = texts(suite, cell);
      item = item.nextSibling;
      item.className = suite.hit[cell] ? `cell s-${word}` : "cell out";
      if (glyph) item.textContent = `${glyph} ${label}`;
      if (whole !== label) item.setAttribute("aria-label", whole);
    }
    return made;
  }

  // Bring what is near the window into the document, and take the rest out.
  function place() {
    const {grid} = page, top = grid.scrollTop, bottom = top + grid.clientHeight;
    for (const one of page.sections) {
      const {suite} = one;
      const isNear = !suite.folded && one.top < bottom + 400 && one.top + one.height > top - 400;
      if (!isNear) { if (one.table) { one.table.remove(); one.table = null; } continue; }
      if (!one.table) table(one);
      const start = one.top + TITLE + HEAD;
      const from = Math.max(0, Math.floor((top - start) / ROW) - OVERSCAN), to = Math.min(suite.visible.length, Math.ceil((bottom - start) / ROW) + OVERSCAN);
      rows(one, Math.min(from, suite.visible.length), Math.max(to, 0));
    }
    mark();
  }

  function rows(one, from, to) {
    const {body} = one;
    if (from === one.from && to === one.to) return;
    if (from >= one.to || to <= one.from) { body.replaceChildren(); one.from = one.to = from; }
    while (one.from < from) { body.firstChild.remove(); one.from++; }
    while (one.to > to) { body.lastChild.remove(); one.to--; }
    const before = [], after = [];
    for (let i = from; i < one.from; i++) before.push(row(one, i));
    for (let i = one.to; i < to; i++) after.push(row(one, i));
    body.prepend(...before);
    body.append(...after);
    [one.from, one.to] = [from, Math.max(from, to)];
  }

  // ------------------------------------------------------------ the cell that the keyboard is on

  const active = () => page.sections.find(one => one.suite === page.active.suite);

  // Only the active cell is a tab stop, and has the focus after `focus`.
  function mark({focus = false} = {}) {
    const one = active(), line = one && one.table && one.body.children[page.active.row - one.from], item = line ? line.children[page.active.at + 1] : null;
    if (page.marked && page.marked !== item) page.marked.removeAttribute("tabindex");
    page.marked = item;
    if (!item) return;
    item.tabIndex = 0;
    if (focus) item.focus({preventScroll: true});
  }

  function move(suite, position, at) {
    page.active = {suite, row: position, at};
    const one = active(), {grid} = page;
    const top = one.top + TITLE + HEAD + ROW * position, left = page.name + CELL * at;
    if (top < grid.scrollTop + TITLE + HEAD) grid.scrollTop = top - TITLE - HEAD;
    else if (top + ROW > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + ROW - grid.clientHeight + 2;
    if (left < grid.scrollLeft + page.name) grid.scrollLeft = left - page.name;
    else if (left + CELL > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = left + CELL - grid.clientWidth;
    place();
    mark({focus: true});
  }

  function step(rowsDown, columns) {
    const open = page.sections.filter(one => !one.suite.folded);
    if (!open.length) return;
    let index = open.indexOf(active());
    if (index < 0) return move(open[0].suite, 0, 0);
    let {row: position, at} = page.active;
    at = Math.max(0, Math.min(open[index].suite.visibleColumns.length - 1, at + columns));
    position += rowsDown;
    while (position < 0 && index > 0) position += open[--index].suite.visible.length;
    while (position >= open[index].suite.visible.length && index < open.length - 1) position -= open[index++].suite.visible.length;
    const {suite} = open[index];
    move(suite, Math.max(0, Math.min(suite.visible.length - 1, position)), Math.min(at, suite.visibleColumns.length - 1));
  }

  const STEPS = {
    ArrowDown: () => step(1, 0), ArrowUp: () => step(-1, 0), ArrowRight: () => step(0, 1), ArrowLeft: () => step(0, -1),
    PageDown: () => step(Math.floor(page.grid.clientHeight / ROW) - 6, 0), PageUp: () => step(6 - Math.floor(page.grid.clientHeight / ROW), 0),
    Home: () => step(0, -Infinity), End: () => step(0, Infinity), Enter: () => open(), " ": () => open(),
  };

  function keys(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("button")) return;
    if (STEPS[event.key]) { event.preventDefault(); STEPS[event.key](); }
  }

  function cellOf(item) {
    const one = page.sections.find(section => section.table && section.table.contains(item));
    return [one.suite, one.from + [...one.body.children].indexOf(item.parentElement), [...item.parentElement.children].indexOf(item) - 1];
  }

  function clicked(event) {
    const item = event.target.closest(".cell");
    if (!item) return;
    move(...cellOf(item));
    open();
  }

  function open() {
    const {suite, row: position, at} = page.active, cell = suite.visible[position] * suite.width + suite.visibleColumns[at];
    if (suite.cells[cell] !== " ") go({t: idOf(suite, cell)});
  }

  function shortcuts(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const isTyping = event.target.closest("input, select, textarea");
    if (event.key === "Escape" && Retarget.state().get("t")) go({t: ""});
    else if (event.key === "Escape" && isTyping) event.target.blur();
    else if (isTyping) return;
    else if (event.key === "/") { event.preventDefault(); document.getElementById("f-q").select(); }
    else if (event.key === "?") help();
  }

  const KEYS = [["← ↑ → ↓", "move between cells, also from suite to suite"], ["Page Up, Page Down, Home, End", "move further"], ["Enter", "all that is known of a target"],
    ["Esc", "close it"], ["/", "filter by text"], ["?", "this help"]];

  function help() {
    const close = el("button", {type: "button", onclick: () => dialog.close()}, "close");
    const dialog = el("dialog", {class: "help", "aria-labelledby": "help-title", onclose: () => dialog.remove()},
      el("h2", {id: "help-title"}, "Keys and cells"),
      el("table", {}, el("tbody", {}, KEYS.map(([key, text]) => el("tr", {}, el("th", {scope: "row"}, el("kbd", {}, key)), el("td", {}, text))))),
      el("table", {}, el("tbody", {}, [...model.states.values()].map(one => el("tr", {}, el("th", {scope: "row"}, el("span", {class: `chip s-${one.word}`}, `${one.glyph} ${one.word === "fail" ? "compile, load, run, …" : one.label}`)), el("td", {}, one.meaning))))),
      el("p", {class: "quiet"}, "-m takes pytest's mark expressions: tags with and, or, not, parentheses, and marks such as compiler(name='llvm-cpu'). Several outcomes of the legend may be chosen. The address holds view, filter and target: send it to somebody."), close);
    document.body.append(dialog);
    dialog.showModal();
  }

  function fold(event) {
    const all = page.sections.some(one => !one.suite.folded);
    for (const suite of model.suites) suite.folded = all;
    event.target.textContent = all ? "unfold all" : "fold all";
    layout();
  }

  // ------------------------------------------------------------ the view

  const FILTERS = ["m", "q", "stage", "sig", "o"];

  function update(root, state) {
    const key = FILTERS.map(name => state.get(name)).join("\n");
    if (key !== page.key) refilter(state, key);
    target(state);
  }

  function refilter(state, key) {
    const error = document.getElementById("f-error"), input = document.getElementById("f-m");
    for (const name of ["m", "q"]) {
      const field = document.getElementById(`f-${name}`);
      if (field !== document.activeElement || !field.value) field.value = state.get(name);
    }
    let found;
    try { found = filter(state); } catch (problem) {
      error.textContent = `-m: ${problem.message}`;
      error.hidden = false;
      input.setAttribute("aria-invalid", "true");
      return;
    }
    error.hidden = true;
    input.removeAttribute("aria-invalid");
    page.key = key;
    legend(state, found);
    fill(document.getElementById("f-stage"), [...found.stages].sort().map(([at, count]) => [model.stages[at], `${model.stages[at]} (${number(count)})`]), state.get("stage"));
    const largest = [...found.signatures].sort((one, other) => other[1] - one[1]).slice(0, 200);
    fill(document.getElementById("f-sig"), largest.map(([at, count]) => [model.signatures[at], `${number(count)} × ${model.signatures[at].slice(0, 120)}`]), state.get("sig"));
    document.getElementById("f-clear").disabled = !key.trim();
    layout();
    const first = page.sections.find(one => !one.suite.folded);
    if (first && !(active() && page.active.row < active().suite.visible.length && page.active.at < active().suite.visibleColumns.length)) page.active = {suite: first.suite, row: 0, at: 0};
    mark();
  }

  async function target(state) {
    const id = state.get("t");
    if (id === page.target) return;
    page.target = id;
    const place = id && find(id);
    if (!id) { page.panel.hidden = true; mark({focus: true}); return; }
    page.panel.hidden = false;
    if (!place) { page.panel.replaceChildren(el("p", {class: "alarm", role: "alert"}, `The results have no target ${id}.`)); return; }
    const [suite, cell] = place, rowOf = Math.floor(cell / suite.width);
    const [, shard] = suite.shards.findLast(([first]) => first <= rowOf);
    try {
      const {cells} = await Retarget.load(shard);
      if (page.target === id) Retarget.showTarget(page.panel, cells[cell], {state: stateAt(suite, cell), whole: texts(suite, cell).whole, words: wordsOf(suite, cell)}, () => go({t: ""}));
    } catch (problem) {
      page.panel.replaceChildren(el("p", {class: "alarm", role: "alert"}, `This page is incomplete: ${problem.message}`));
    }
  }

  Retarget.view("matrix", {
    title: "Matrix",
    data: ["matrix"],
    render(root, state) {
      model = model || decode(Retarget.data("matrix"));
      model.total = model.suites.reduce((total, suite) => total + [...suite.cells].filter(code => code !== " ").length, 0);
      page = {sections: [], active: {}, target: "", key: null};
      toolbar(root);
      page.legend = root.querySelector(".chips");
      page.sum = root.querySelector(".sum");
      page.grid = el("div", {class: "grid", tabindex: "0", role: "group", "aria-label": "matrix: arrow keys move, Enter opens a target", onkeydown: keys, onclick: clicked});
      page.panel = el("aside", {class: "panel", hidden: true, tabindex: "-1", "aria-label": "target"});
      root.append(el("div", {class: "split"}, page.grid, page.panel));
      page.name = innerWidth < 640 ? 132 : 260;
      page.grid.style.setProperty("--name", `${page.name}px`);
      page.grid.addEventListener("scroll", place, {passive: true});
      page.sized = new ResizeObserver(() => place());
      page.sized.observe(page.grid);
      document.addEventListener("keydown", shortcuts);
      update(root, state);
    },
    update,
    leave() { page.sized.disconnect(); document.removeEventListener("keydown", shortcuts); },
  });
})();
