// The bring-up of backends: rungs with bars, blockers. Data: what `retarget bringup NAME --json` prints.
"use strict";

(() => {
  const {el, number, percent, link, copied} = Retarget, {many, scroll} = Retarget.parts;
  const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  const short = id => id.split("::").at(-1);
  const target = id => el("a", {href: link("matrix", {t: id}), title: id}, short(id));
  const targets = ids => many(ids, id => el("li", {}, target(id)), {list: el("ul", {class: "many narrow"})});

  function bar(part, whole) {
    return el("meter", {min: 0, max: whole || 1, value: part, "aria-label": `${number(part)} of ${number(whole)}`});
  }

  function section(title, ...content) { return el("section", {}, el("h3", {}, title), ...content); }

  function table(label, columns, rows) {
    return scroll(label, el("table", {class: "figures"},
      el("thead", {}, el("tr", {}, columns.map(column => el("th", {scope: "col"}, column)))),
      el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {}, el("th", {scope: "row"}, first), rest.map(cell => el("td", {}, cell)))))));
  }

  function* rungs({rungs}) {
    const tried = rungs.length ? rungs[0].reach : 0;  // also what the ladder has no line of yet
    yield section("Rungs", table("targets per rung", ["rung", "", "reach it", "stop there"],
      rungs.map(({rung, reach, stop}, place) => [rung, rung === "none" ? "" : bar(reach, tried), rung === "none" ? "" : `${number(reach)} of ${number(tried)}`, stop && place < rungs.length - 1 ? number(stop) : ""])));
  }

  function blocker({rung, signature, frees, targets: ids, smallest, diagnostic = [], known, command, reference}, place) {
    return el("details", {class: "card", open: place === 0},
      el("summary", {},
        el("span", {class: "chip"}, rung === "none" ? "does not compile" : `stops at ${rung}`), el("code", {class: "signature"}, signature),
        el("span", {class: "count"}, "frees ", el("strong", {}, plural(frees, "target")))),
      el("div", {class: "body"},
        el("p", {}, "smallest module: ", target(smallest), known && ` · known: ${known}`),
        diagnostic.length > 0 && copied(diagnostic.join("\n"), "diagnostic"),
        copied(command, "commands"),
        reference && copied(reference, "the reference"),
        targets(ids)));
  }

  function* ladder(status) {
    const {name, matches = 0, counted = 0, excluded = [], blockers, next} = status;
    yield el("h2", {}, name);
    yield el("p", {}, el("strong", {}, counted ? percent(matches, counted) : "none"), counted ? ` of ${plural(counted, "target")} match` : " of its targets is tried");
    yield section("Next", el("p", {}, el("strong", {}, next.what), ` ${next.why}`), next.command && copied(next.command, "commands"));
    yield* rungs(status);
    yield section(`${plural(blockers.length, "blocker")}`, many(blockers, blocker, {tag: "div", limit: 10, noun: "blockers"}));
    if (excluded.length) {
      yield section("Not counted", excluded.map(({state, reason, targets: ids}) =>
        el("details", {class: "card"}, el("summary", {}, el("span", {class: "chip"}, state), el("span", {class: "signature"}, reason), el("span", {class: "count"}, number(ids.length))), el("div", {class: "body"}, targets(ids)))));
    }
  }

  Retarget.view("bringup", {
    title: "Bring-up",
    data: ["bringup"],
    render(root) {
      root.append(el("div", {class: "content"}, Retarget.data("bringup").map(status => el("article", {}, ...ladder(status)))));
    },
  });
})();
