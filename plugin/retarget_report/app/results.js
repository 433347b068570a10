// The targets, the filter and the panel of a target: what all views of results share. The data are described in
// retarget_report/views/matrix.py.
//
//   Retarget.results.view("matrix", {title, data, render(root, model), update(state), leave(), closed()});
//
// registers a view below the filter: `render` is called when it is shown, `update` then and whenever the filter or another
// key of the address has changed, but not for the panel's; `closed` when the panel was. `hits` are the numbers of the
// targets that the filter leaves; `at(number)` tells of one, `details(number)` loads all that is known of it.
"use strict";

Retarget.results = (() => {
  const {el, go, number, share} = Retarget;
  let model, page, hits = [];

  // ------------------------------------------------------------ the data

  function decode(data) {
    const states = new Map(data.states.map(([word, code, glyph, label, sort, meaning]) => [code.charCodeAt(0), {word, code, glyph, label, sort, meaning}]));
    const suites = data.suites.map((suite, index) => {
      const {rows} = suite, width = suite.columns.length, count = rows.length * width;
      const signed = new Int32Array(count).fill(-1), own = new Map(), tries = new Map();
      for (let i = 0, cell = 0; i < suite.signed.length; i += 2) signed[cell += suite.signed[i]] = suite.signed[i + 1];
      for (let i = 0; i < suite.own.length; i += 2) own.set(suite.own[i], suite.own[i + 1]);
      for (let i = 0; i < suite.tries.length; i += 3) tries.set(suite.tries[i], [suite.tries[i + 1], suite.tries[i + 2]]);
      return {...suite, index, rows, width, count, signed, own, tries, folded: false, lower: rows.map(row => row.toLowerCase()), at: new Map(rows.map((row, i) => [row, i]))};
    });
    return {...data, states, suites, numbers: numbered(suites), lower: data.signatures.map(text => text.toLowerCase())};
  }

  // Targets are numbered as retarget_report.views.matrix.numbered has them: by suite, then by cell. Blank cells have no number.
  function numbered(suites) {
    const suiteOf = [], cellOf = [];
    for (const suite of suites) {
      suite.numbers = new Int32Array(suite.count).fill(-1);
      for (let cell = 0; cell < suite.count; cell++) {
        if (suite.cells.charCodeAt(cell) === 32) continue;
        suite.numbers[cell] = suiteOf.push(suite) - 1;
        cellOf.push(cell);
      }
    }
    return {suiteOf, cellOf};
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

  // Leaves in each suite: `visible` rows and columns, `hit` by cell, and what is counted. Shares are of what the filter
  // leaves without its outcomes: else those of failures alone would always be none.
  function filter(state) {
    const m = Retarget.selection(state.get("m"));
    const named = m.terms.map(term => model.words.map(word => Retarget.isNamed(word, term)));
    const truths = named.map(of => model.wordsets.map(set => set.some(word => of[word])));
    const q = state.get("q").toLowerCase(), sig = state.get("sig"), stage = state.get("stage");
    const outcomes = new Set(state.get("o").split(",").filter(Boolean));
    const wantedStage = stage ? model.stages.indexOf(stage) : -1;
    const found = {hits: [], states: new Map(), counts: new Map(), stages: new Map(), signatures: new Map()};
    const add = (map, key) => map.set(key, (map.get(key) || 0) + 1);
    const matching = q && model.lower.map(text => text.includes(q));
    const everything = !state.get("m");
    for (const suite of model.suites) {
      const {width, cells} = suite, hit = suite.hit = new Uint8Array(suite.count), isColumn = new Uint8Array(width);
      const inSuite = q && `${suite.file} ${suite.name}`.toLowerCase().includes(q);
      const inColumn = suite.columns.map(([compiler, runtime]) => q && `${compiler} ${runtime}`.toLowerCase().includes(q));
      suite.counts = new Map();
      suite.byColumn = suite.columns.map(() => ({good: 0, judged: 0}));
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
          add(suite.counts, one);
          const total = suite.byColumn[column];
          if (one.sort !== "none") total.judged++;
          if (one.sort === "good") total.good++;
          if (outcomes.size && !outcomes.has(one.word)) continue;
          hit[cell] = 1;
          found.hits.push(suite.numbers[cell]);
          any = true;
          if (at >= 0) add(found.stages, at);
          if (signature >= 0) add(found.signatures, signature);
        }
        if (any) suite.visible.push(row);
      }
      suite.visibleColumns = [...isColumn.keys()].filter(column => isColumn[column]);
      for (const [one, count] of suite.counts) found.counts.set(one, (found.counts.get(one) || 0) + count);
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
        el("span", {class: "tools"}, el("button", {type: "button", "aria-keyshortcuts": "?", "aria-label": "help", onclick: help}, "?"))),
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
    const [good, judged] = verdicts(found.counts), all = number(model.numbers.cellOf.length);
    page.sum.textContent = found.hits.length
      ? `${number(found.hits.length)} of ${all} targets shown; ${chosen.size ? "with all outcomes, " : ""}as expected: ${share(good, judged)} with a verdict`
      : all === "0" ? "There are no targets." : `No target of ${all} matches.`;
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

  const FILTERS = ["m", "q", "stage", "sig", "o"];

  function update(state) {
    const key = [...state.keys].filter(([name]) => name !== "t").join("\n");
    if (key !== page.key && refilter(state)) {
      page.key = key;
      page.definition.update(state);
    }
    target(state);
  }

  function refilter(state) {
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
      return false;
    }
    error.hidden = true;
    input.removeAttribute("aria-invalid");
    legend(state, found);
    fill(document.getElementById("f-stage"), [...found.stages].sort().map(([at, count]) => [model.stages[at], `${model.stages[at]} (${number(count)})`]), state.get("stage"));
    const largest = [...found.signatures].sort((one, other) => other[1] - one[1]).slice(0, 200);
    fill(document.getElementById("f-sig"), largest.map(([at, count]) => [model.signatures[at], `${number(count)} × ${model.signatures[at].slice(0, 120)}`]), state.get("sig"));
    document.getElementById("f-clear").disabled = !FILTERS.some(state.get);
    hits = found.hits;
    return true;
  }

  async function target(state) {
    const id = state.get("t");
    if (id === page.target) return;
    page.target = id;
    const place = id && find(id);
    if (!id) { page.panel.hidden = true; if (page.definition.closed) page.definition.closed(); return; }
    page.panel.hidden = false;
    if (!place) { page.panel.replaceChildren(el("p", {class: "alarm", role: "alert"}, `The results have no target ${id}.`)); return; }
    const [suite, cell] = place;
    try {
      const found = await details(suite.numbers[cell]);
      if (page.target === id) Retarget.showTarget(page.panel, found, {state: stateAt(suite, cell), whole: texts(suite, cell).whole, words: wordsOf(suite, cell)}, () => go({t: ""}));
      page.panel.append(...await Retarget.historyOf(suite.numbers[cell]));
    } catch (problem) {
      page.panel.replaceChildren(el("p", {class: "alarm", role: "alert"}, `This page is incomplete: ${problem.message}`));
    }
  }

  function details(target) {
    const suite = model.numbers.suiteOf[target], cell = model.numbers.cellOf[target], row = Math.floor(cell / suite.width);
    return Retarget.load(suite.shards.findLast(([first]) => first <= row)[1]).then(({cells}) => cells[cell]);
  }

  // A target by its number.
  function at(target) {
    const suite = model.numbers.suiteOf[target], cell = model.numbers.cellOf[target], [compiler, runtime] = suite.columns[cell % suite.width];
    return {id: idOf(suite, cell), name: nameOf(suite, cell), module: suite.rows[Math.floor(cell / suite.width)], compiler, runtime, state: stateAt(suite, cell)};
  }

  const configAt = target => { const suite = model.numbers.suiteOf[target]; return suite.columns[model.numbers.cellOf[target] % suite.width]; };
  const isHit = target => Boolean(model.numbers.suiteOf[target].hit[model.numbers.cellOf[target]]);
  const stateOf = word => [...model.states.values()].find(one => one.word === word);

  function view(name, definition) {
    Retarget.view(name, {
      title: definition.title,
      data: ["matrix", ...(definition.data || [])],
      render(root, state) {
        model = model || decode(Retarget.data("matrix"));
        page = {definition, target: "", key: null, content: el("div", {class: "content", tabindex: "-1"}), panel: el("aside", {class: "panel", hidden: true, tabindex: "-1", "aria-label": "target"})};
        toolbar(root);
        page.legend = root.querySelector(".chips");
        page.sum = root.querySelector(".sum");
        root.append(el("div", {class: "split"}, page.content, page.panel));
        document.addEventListener("keydown", shortcuts);
        definition.render(page.content, model);
        update(state);
      },
      update: (_, state) => update(state),
      leave() { document.removeEventListener("keydown", shortcuts); if (definition.leave) definition.leave(); },
    });
  }

  return {view, at, configAt, details, isHit, stateOf, idOf, texts, sum, verdicts, get hits() { return hits; }};
})();
