// Failures by what went wrong: see views/failures.py for the data.
"use strict";

(() => {
  const {el, number, share} = Retarget;
  const {many, targetLink, targetList, configOf} = Retarget.parts, {at, isHit, details, stateOf} = Retarget.results;
  const SECTIONS = [
    ["not as expected", ["fail", "error", "xpass", "missing", "unexplained"]],
    ["known to fail, with a reason", ["xfail"]],
  ];

  function draw(root) {
    const found = Retarget.data("failures"), {hits} = Retarget.results;
    const of = numbers => numbers.filter(isHit);
    const configs = counted(hits);
    root.replaceChildren(el("h2", {class: "hidden"}, "Failures by signature"));
    for (const [title, kinds] of SECTIONS) {
      const groups = found.groups.filter(group => kinds.includes(group.kind))
        .map(group => ({...group, targets: of(group.targets), blocked: of(group.blocked)}))
        .filter(group => group.targets.length || group.blocked.length)
        .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || b.targets.length - a.targets.length);
      const failed = groups.reduce((sum, group) => sum + group.targets.length, 0);
      const blocked = groups.reduce((sum, group) => sum + group.blocked.length, 0);
      root.append(el("section", {},
        el("h3", {}, `${number(failed)} ${title}`),
        el("p", {class: "note"}, failed || blocked
          ? `${share(failed, hits.length)} targets, in ${groups.length} ${groups.length === 1 ? "way" : "ways"}${blocked ? `; ${number(blocked)} more ${blocked === 1 ? "is" : "are"} blocked by them` : ""}`
          : `none of ${number(hits.length)} targets`),
        many(groups, (group, place) => card(group, {failed, configs, open: place === 0 && kinds[0] === "fail"}), {tag: "div", noun: "groups"})));
    }
  }

  function card(group, {failed, configs, open}) {
    const look = stateOf(group.kind);
    const body = el("div", {class: "body"});
    const card = el("details", {class: "card", open, ontoggle: fill},
      el("summary", {},
        el("span", {class: `chip s-${look.word}`}, `${look.glyph} ${look.label}${group.stage ? `: ${group.stage}` : ""}`),
        el("code", {class: "signature"}, group.signature),
        el("span", {class: "count"}, el("strong", {}, number(group.targets.length)),
          ` = ${share(group.targets.length, failed)}${group.blocked.length ? `, blocks ${number(group.blocked.length)}` : ""}`)),
      body);
    if (open) fill();
    return card;

    function fill() {
      if (!card.open || body.firstChild) return;
      body.append(...contents(group, configs));
    }
  }

  function* contents(group, configs) {
    const [first] = group.targets;
    if (first !== undefined) {
      const one = at(first);
      const several = new Set(group.targets.map(target => at(target).module)).size;
      yield el("p", {}, several > 1 ? "first module: " : "module: ", el("code", {}, one.module),
        several > 1 ? `, of ${number(several)} by compile time` : "",
        " · ", targetLink(first), " · ",
        el("a", {href: inMatrix(group)}, "show in the matrix"));
      yield el("ul", {class: "chips", "aria-label": "configs affected"}, [...counted(group.targets)].sort((a, b) => b[1] - a[1])
        .map(([config, count]) => el("li", {}, `${config} `, el("strong", {}, number(count)), ` of ${number(configs.get(config))}`)));
      const place = el("div", {role: "status"}, "Loading…");
      yield place;
      details(first).then(found => place.replaceChildren(...Retarget.parts.report(found)));
      yield el("h4", {}, `${number(group.targets.length)} ${group.targets.length === 1 ? "target" : "targets"}`);
      yield targetList(group.targets, target => group.also.includes(target) ? " and in other ways" : "");
    }
    if (group.blocked.length) {
      yield el("h4", {}, `${number(group.blocked.length)} blocked by ${group.targets.length === 1 ? "it" : "them"}`);
      yield targetList(group.blocked);
    }
  }

  function inMatrix({stage, signature, kind}) {
    const {keys} = Retarget.state(), isSignature = Retarget.data("matrix").signatures.includes(signature);
    return Retarget.link("matrix", {...Object.fromEntries(keys), t: "", stage, sig: isSignature ? signature : "", o: kind});
  }

  function counted(targets) {
    const counts = new Map();
    for (const target of targets) {
      const config = configOf(target);
      counts.set(config, (counts.get(config) || 0) + 1);
    }
    return counts;
  }

  let root;
  Retarget.results.view("failures", {title: "Failures", data: ["failures"], render: place => { root = place; }, update: () => draw(root)});
})();
