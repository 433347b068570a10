// What the views beside the matrix share: lists that begin short, links to targets, what a failure reports.
"use strict";

Retarget.parts = (() => {
  const {el, number} = Retarget;
  const STEP = 1000;

  // A list of `limit` items, and a button for the rest, a thousand at a time. `list` is where they go, a new `tag` if not given.
  function many(items, draw, {tag = "ul", list = el(tag, {class: "many"}), limit = 20, noun = "targets"} = {}) {
    let shown = 0;
    const more = el("button", {type: "button", class: "more", onclick: () => { const next = shown; add(STEP); list.children[next]?.querySelector("a, summary")?.focus(); }});
    function add(count) {
      list.append(...items.slice(shown, shown + count).map((item, place) => draw(item, shown + place)));
      shown = Math.min(items.length, shown + count);
      const left = items.length - shown;
      more.hidden = !left;
      more.textContent = left > STEP ? `show ${number(STEP)} of ${number(left)} more ${noun}` : `show all ${number(items.length)} ${noun}`;
    }
    add(limit);
    return list.parentNode ? more : el("div", {}, list, more);
  }

  const scroll = (label, child) => el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, child);
  const configOf = target => { const [compiler, runtime] = Retarget.results.configAt(target); return runtime ? `${compiler}/${runtime}` : compiler; };
  const here = changes => { const {view, keys} = Retarget.state(); return Retarget.link(view, {...Object.fromEntries(keys), ...changes}); };
  const targetLink = target => { const {id, name} = Retarget.results.at(target); return el("a", {href: here({t: id}), title: id}, name); };
  const targetList = (targets, note = () => "") => many(targets, target => el("li", {}, targetLink(target), note(target)), {list: el("ul", {class: "many narrow"})});

  // What a failure reports: what the other targets suggest, the report, the commands to paste.
  function report({attribution, attempts}) {
    const {text = "", message = "", commands = []} = attempts.at(-1) || {};
    return [
      attribution && el("p", {class: "attribution"}, attribution[0]),
      (text || message) && Retarget.copied(text || message, "report of the failure"),
      commands.length > 0 && el("h4", {}, "Commands"), commands.length > 0 && Retarget.copied(commands.join("\n"), "commands")].filter(Boolean);
  }

  return {many, scroll, configOf, here, targetLink, targetList, report};
})();
