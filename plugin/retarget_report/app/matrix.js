// Modules × configs, a table per suite. Only what is near the window is in the document: sections have a computed
// height, and a table has the rows that are seen. The data are described in retarget_report/views/matrix.py.
"use strict";

(() => {
  const {el, go, number, share, percent} = Retarget;
  const {texts, idOf, sum, verdicts} = Retarget.results;
  const TITLE = 32, BANDS = 22, LINE = 14, TOTALS = 34, ROW = 24, CELL = 88, GAP = 14, OVERSCAN = 12;   // pixels, as in style.css
  const PRINTED = 60_000;   // pixels of the matrix that go on paper
  let model, page;

  // ------------------------------------------------------------ sections, tables, rows

  const nameOf = column => column[1] || "compile";
  const hasTotals = suite => suite.visible.length > 1;
  // The names of configs take up to three lines, of about eleven letters.
  const linesOf = suite => Math.min(3, Math.max(...suite.visibleColumns.map(column => Math.ceil(nameOf(suite.columns[column]).length / 11))));
  const headOf = suite => BANDS + LINE * linesOf(suite) + 4 + (hasTotals(suite) ? TOTALS : 0);
  const heightOf = (suite, head) => suite.folded ? TITLE : TITLE + head + ROW * suite.visible.length + GAP;

  function layout() {
    page.sections = [];
    let top = 0;
    for (const suite of model.suites) {
      if (!suite.visible.length) continue;
      const head = headOf(suite), height = heightOf(suite, head);
      const section = el("section", {class: "suite", "aria-label": `suite ${suite.name}`}, title(suite));
      section.style.height = `${height}px`;
      section.style.minWidth = `${page.name + CELL * suite.visibleColumns.length}px`;
      page.sections.push({suite, section, top, head, height, table: null});
      top += height;
    }
    page.grid.replaceChildren(...page.sections.map(one => one.section));
    place();
  }

  function title(suite) {
    const [good, judged] = verdicts(suite.counts), all = sum(suite.counts, () => true);
    const bad = [...model.states.values()].filter(state => state.sort === "bad" && suite.counts.has(state)).map(state => [state, suite.counts.get(state)]);
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
      return box("columnheader", runtime ? "config" : "config quiet", {title: runtime || `compiled by ${compiler}`}, el("span", {}, nameOf(suite.columns[column])));
    });
    const totals = suite.visibleColumns.map(column => {
      const {good, judged} = suite.byColumn[column];
      return box("gridcell", "total", {title: `${number(good)} of ${number(judged)} with a verdict are as expected`}, el("b", {}, judged ? percent(good, judged) : "-"), el("br"), `of ${number(judged)}`);
    });
    const modules = `${number(suite.visible.length)} of ${number(suite.rows.length)} modules`;
    const made = box("rowgroup", "head", {},
      box("row", "bands", {"aria-rowindex": 1}, box("columnheader", "name", {}, "compiler"), bands),
      box("row", "configs", {"aria-rowindex": 2}, box("columnheader", "name", {}, "module"), configs),
      hasTotals(suite) && box("row", "totals", {"aria-rowindex": 3}, box("rowheader", "name", {}, modules), totals));
    made.style.setProperty("--names", `${LINE * linesOf(suite) + 4}px`);
    return made;
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
    const {grid} = page, top = page.printed ? 0 : grid.scrollTop, bottom = page.printed ? PRINTED : top + grid.clientHeight, hadFocus = grid.contains(document.activeElement);
    for (const one of page.sections) {
      const {suite} = one;
      const isNear = !suite.folded && one.top < bottom + 400 && one.top + one.height > top - 400;
      if (!isNear) { if (one.table) { one.table.remove(); one.table = null; } continue; }
      if (!one.table) table(one);
      const start = one.top + TITLE + one.head;
      const from = Math.max(0, Math.floor((top - start) / ROW) - OVERSCAN), to = Math.min(suite.visible.length, Math.ceil((bottom - start) / ROW) + OVERSCAN);
      rows(one, Math.min(from, suite.visible.length), Math.max(to, 0));
    }
    if (hadFocus && !grid.contains(document.activeElement)) grid.focus({preventScroll: true});   // its cell is out of sight
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
    const top = one.top + TITLE + one.head + ROW * position, left = page.name + CELL * at;
    if (top < grid.scrollTop + TITLE + one.head) grid.scrollTop = top - TITLE - one.head;
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
    if (!active()) return;
    const {suite, row: position, at} = page.active, cell = suite.visible[position] * suite.width + suite.visibleColumns[at];
    if (suite.cells[cell] !== " ") go({t: idOf(suite, cell)});
  }

  function fold(event) {
    const all = page.sections.some(one => !one.suite.folded);
    for (const suite of model.suites) suite.folded = all;
    event.target.textContent = all ? "unfold all" : "fold all";
    layout();
  }

  // ------------------------------------------------------------ the view

  Retarget.results.view("matrix", {
    title: "Matrix",
    render(root, results) {
      model = results;
      page = {sections: [], active: {}};
      page.grid = el("div", {class: "grid", tabindex: "0", role: "group", "aria-label": "matrix: arrow keys move, Enter opens a target", onkeydown: keys, onclick: clicked});
      root.replaceWith(page.grid);
      page.name = innerWidth < 640 ? 132 : 260;
      page.grid.style.setProperty("--name", `${page.name}px`);
      page.grid.addEventListener("scroll", place, {passive: true});
      page.sized = new ResizeObserver(() => place());
      page.sized.observe(page.grid);
      page.left = new AbortController();
      for (const [name, isPrinted] of [["beforeprint", true], ["afterprint", false]]) {
        addEventListener(name, () => { page.printed = isPrinted; place(); }, {signal: page.left.signal});
      }
      document.querySelector(".legend .tools").prepend(el("button", {type: "button", onclick: fold}, "fold all"));
    },
    update() {
      layout();
      const first = page.sections.find(one => !one.suite.folded);
      if (first && !(active() && page.active.row < active().suite.visible.length && page.active.at < active().suite.visibleColumns.length)) page.active = {suite: first.suite, row: 0, at: 0};
      mark();
    },
    closed: () => mark({focus: true}),
    leave() { page.sized.disconnect(); page.left.abort(); },
  });
})();
