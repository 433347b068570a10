// All that is known of one target, in a panel: `Retarget.showTarget(panel, target, {state, whole, words}, close)`.
// A target is one of `cells-N`, see retarget_report/views/matrix.py.
"use strict";

(() => {
  const {el, seconds, when, copyButton, link} = Retarget;

  const part = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);

  Retarget.copied = copied;
  function copied(text, label) {
    const block = el("pre", {tabindex: "0", "aria-label": label, class: label === "commands" && "wraps"}, text);
    return el("div", {class: "copied"}, copyButton(text, block), block);
  }

  function facts(pairs) {
    const known = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
    return el("dl", {}, known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  function table(columns, rows) {
    return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": columns[0]},
      el("table", {}, el("thead", {}, el("tr", {}, columns.map(column => el("th", {scope: "col"}, column)))),
        el("tbody", {}, rows.map(row => el("tr", {}, row.map(value => el("td", {}, value)))))));
  }

  const written = word => typeof word === "string" ? word : `${word[0]}(${word[1].map(([name, value]) => `${name}='${value}'`).join(", ")})`;

  function durations(record) {
    const {compile, run} = record;
    const spans = [];
    if (compile) spans.push([compile.reused ? "compile (from the cache)" : "compile", compile.seconds || 0]);
    if (run) spans.push(["waiting for devices", run.wait_seconds || 0], ["load", run.load_seconds], ["run", run.run_seconds], ["compare", run.compare_seconds]);
    return table(["stage", "took"], spans.filter(([, took]) => took >= 0.00005).map(([name, took]) => [name, seconds(took)]));
  }

  function attempt(record) {
    const {observation, compile, run, devices = [], cases = [], commands = []} = record;
    const isFailed = Boolean(observation || record.text);
    return [
      record.reason && part("Reason", el("p", {}, record.reason)),
      run && run.notes && part("Devices that were lost", run.notes.map(line => el("p", {}, line))),
      record.hint && part("Next step", el("p", {}, record.hint)),
      record.blocked_by && part("Blocked by", el("p", {}, el("a", {href: link("matrix", {t: record.blocked_by})}, record.blocked_by))),
      isFailed && part("Failure", facts([["stage", observation && observation.stage], ["signature", observation && observation.signature], ["case", observation && observation.case], ["message", record.message]]), record.text && copied(record.text, "report of the failure")),
      commands.length && part("Commands", copied(commands.join("\n"), "commands")),
      cases.length && part(`Cases (${cases.length})`, table(["case", "outcome", "took", "stage", "why"],
        cases.map(one => [one.name, one.outcome, seconds(one.seconds || 0), one.stage || "", one.signature || one.reason || ""]))),
      (compile || run) && part("Durations", durations(record)),
      devices.length && part("Devices", table(["device", "driver", "version", "runtime", "id"],
        devices.map(one => [one.name, one.driver, one.driver_version || "", one.runtime || "", one.physical_id]))),
      compile && part("Artifact", facts([["compiler", compile.build], ["compile key", compile.key], ["SHA-256", compile.artifact]])),
    ].filter(Boolean);
  }

  Retarget.showTarget = (panel, target, {state, whole, words}, close) => {
    const attempts = target.attempts, record = attempts.at(-1), earlier = attempts.slice(0, -1).reverse();
    const name = record ? record.target : target.id.split("::").slice(2).join("::");
    const button = el("button", {type: "button", class: "close", "aria-label": "close", onclick: close}, "✕");
    panel.replaceChildren(
      el("header", {}, el("h2", {tabindex: "-1"}, name), button),
      el("p", {}, el("span", {class: `chip s-${state.word}`}, `${state.glyph} ${whole}`), state.word !== "fail" && state.word !== "ok" && el("span", {class: "quiet"}, ` ${state.meaning}`)),
      facts([
        ["id", target.id], ["module", record && (record.module_file || record.module)],
        ["leg", target.leg], ["waiver", target.waiver],
        ["result", record ? `${record.started ? `${when(record.started)}, ` : ""}session ${record.session.slice(0, 8)}${record.leg ? `, leg ${record.leg}` : ""}${record.process ? `, process ${record.process}` : ""}` : "none"],
        ["reused", record && record.reused ? `not run in this session: the result is of a run that ended ${when(record.reused.ended)} on ${record.reused.host}` : ""],
        ["sessions", target.sessions > 1 ? `${target.sessions} have results of this target; this is the newest` : ""],
        ["attempts", record && record.attempt > 1 ? String(record.attempt) : ""],
        ["words", words.length ? el("span", {class: "words"}, words.map(word => el("code", {}, written(word)))) : ""],
      ]),
      ...(target.attribution ? [part("What the other targets say", el("p", {}, target.attribution[0]), copied(target.attribution[1], "attribution"))] : []),
      ...(record ? attempt(record) : []),
      ...earlier.map(one => el("details", {}, el("summary", {}, `attempt ${one.attempt || 1}: ${one.outcome}`), attempt(one))));
    panel.scrollTop = 0;
    panel.querySelector("h2").focus();
  };
})();
