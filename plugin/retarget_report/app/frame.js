// The frame that views live in: navigation, the address, data on demand, and helpers for the DOM.
//
//   Retarget.view("matrix", {title: "Matrix", data: ["matrix"], render(root, state) {…}});
//
// registers a view. `render` is called with an empty element and the state of the address when the view is shown, after
// the scripts data/NAME.js of `data` are loaded; `Retarget.data(NAME)` is their value. A view may have `update(root,
// state)`: it is called instead where the view is shown already and only the address changed; and `leave()`.
//
// The address is `#view?key=value&…`. `state.get(key)` is "" where there is no such key. `Retarget.go({key: value})`
// changes keys (an empty value removes one); `Retarget.link(view, {key: value})` is an address for `href`.
//
// Text from results reaches the document by `textContent` only: `Retarget.el("td", {class: "name"}, text, …)`.
"use strict";

const Retarget = (() => {
  const views = new Map();
  const values = new Map();
  const loading = new Map();
  let shown = null;

  const view = (name, definition) => views.set(name, definition);

  // data(name, value) is what the files in data/ call; data(name) returns what they gave.
  function data(name, ...value) {
    if (value.length) values.set(name, value[0]);
    return values.get(name);
  }

  function load(name) {
    if (!loading.has(name)) {
      loading.set(name, new Promise((resolve, reject) => {
        const script = el("script", {src: `data/${name}.js`});
        script.onload = () => values.has(name) ? resolve(values.get(name)) : reject(new Error(`data/${name}.js is damaged`));
        script.onerror = () => { loading.delete(name); reject(new Error(`data/${name}.js is not there`)); };
        document.head.append(script);
      }));
    }
    return loading.get(name);
  }

  // Attributes: `on…` is a listener, true an empty attribute; false, null and undefined leave it out.
  function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false && child !== ""));
    return element;
  }

  function read(hash) {
    const [name, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
    const keys = new Map();
    for (const part of query.split("&").filter(Boolean)) {
      const [key, value = ""] = part.split(/=(.*)/s).map(decoded);
      keys.set(key, value);
    }
    return {view: views.has(name) ? name : views.keys().next().value, keys, get: key => keys.get(key) || ""};
  }

  function decoded(text) {
    try { return decodeURIComponent(text); } catch { return text; }
  }

  function link(name, keys) {
    const entries = [...(keys instanceof Map ? keys : Object.entries(keys || {}))].filter(([, value]) => value);
    const query = entries.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
    return `#${name}${query && "?"}${query}`;
  }

  const state = () => read(location.hash);

  // With `replace`, such as while somebody types, no step of the browser's history is made.
  function go(changes, {replace = false} = {}) {
    const now = state();
    for (const [key, value] of Object.entries(changes)) value ? now.keys.set(key, value) : now.keys.delete(key);
    const address = link(now.view, now.keys);
    if (address === location.hash) return;
    history[replace ? "replaceState" : "pushState"](null, "", address);
    show();
  }

  async function show() {
    const now = state(), root = document.getElementById("view"), definition = views.get(now.view);
    for (const item of document.querySelectorAll("nav a")) {
      item.href = link(item.dataset.view, now.keys);   // the filter stays
      if (item.dataset.view === now.view) item.setAttribute("aria-current", "page"); else item.removeAttribute("aria-current");
    }
    if (shown === now.view) { if (definition.update) definition.update(root, now); else if (definition.ready) draw(definition, root, now); return; }
    if (shown && views.get(shown).leave) views.get(shown).leave();
    shown = now.view;
    document.title = `${definition.title} · ${document.body.dataset.title}`;
    root.replaceChildren(el("p", {class: "note", role: "status"}, "Loading…"));
    try {
      await Promise.all((definition.data || []).map(load));
      if (shown === now.view) draw(definition, root, state());
    } catch (error) {
      shown = null;
      root.replaceChildren(el("p", {class: "alarm", role: "alert"}, `This page is incomplete: ${error.message}. Write it again with: retarget report`));
    }
  }

  function draw(definition, root, now) {
    root.replaceChildren();
    root.className = `view-${now.view}`;
    definition.ready = true;
    definition.render(root, now);
  }

  // A share with its denominator: "95.6 % of 12,345".
  const {format: number} = new Intl.NumberFormat("en");
  const share = (part, whole) => whole ? `${percent(part, whole)} of ${number(whole)}` : "none";
  function percent(part, whole) {
    const tenths = part === whole ? 1000 : Math.min(999, Math.floor(1000 * part / whole));
    if (part && !tenths) return "< 0.1 %";
    return `${tenths % 10 ? (tenths / 10).toFixed(1) : tenths / 10} %`;
  }

  const seconds = value => value >= 100 ? `${Math.round(value)} s` : value >= 1 ? `${value.toFixed(1)} s` : `${(1000 * value).toFixed(value < 0.01 ? 1 : 0)} ms`;
  const when = value => `${new Date(1000 * value).toISOString().slice(0, 19).replace("T", " ")} UTC`;

  // A button that copies text. Where the clipboard is refused, the text is selected instead.
  function copyButton(text, source) {
    const button = el("button", {type: "button", class: "copy", onclick: async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
      catch { getSelection().selectAllChildren(source); button.textContent = document.execCommand("copy") ? "copied" : "press Ctrl+C"; }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    }}, "copy");
    return button;
  }

  function remembered(key, value) {
    try { if (value !== undefined) localStorage.setItem(key, value); return localStorage.getItem(key); } catch { return value || null; }
  }

  const THEMES = {"": "light dark", light: "light", dark: "dark"};
  function theme(name) {
    document.documentElement.style.colorScheme = THEMES[name] || THEMES[""];
    for (const button of document.querySelectorAll("#theme button")) button.setAttribute("aria-pressed", String(button.value === (name || "")));
  }

  function start() {
    document.querySelector("nav").append(...[...views].map(([name, one]) => el("a", {href: link(name), "data-view": name}, one.title)));
    for (const button of document.querySelectorAll("#theme button")) button.addEventListener("click", () => theme(remembered("retarget-theme", button.value)));
    theme(remembered("retarget-theme"));
    addEventListener("hashchange", show);
    show();
  }

  document.addEventListener("DOMContentLoaded", start);
  return {view, data, load, el, go, link, state, number, share, percent, seconds, when, copyButton};
})();
