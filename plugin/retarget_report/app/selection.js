// The language of -m: grammar, meaning and errors are those of retarget/targets/selection.py.
//
//   const {terms, test} = Retarget.selection("vulkan and not driver(name='metal')");
//
// `terms` are its words, [{name, arguments}, …]; `test(truth)` decides, where `truth(number of a term)` says whether that
// term alone is true. `Retarget.isNamed(word, term)` compares a word of a target with a term. An expression that does not
// follow the grammar throws an Error whose message begins with the column: "column 5: found …".
"use strict";

(() => {
  const WORD = /[\p{L}\p{N}_:+\-.[\]\\/]+/uy;
  const NAME = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
  const KEYWORDS = new Set(("False None True and as assert async await break class continue def del elif else except finally " +
    "for from global if import in is lambda nonlocal not or pass raise return try while with yield").split(" "));
  const VALUE = "a string in quotes, an integer, True, False or None";

  function quoted(text) {
    const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
    const escaped = text.replace(/[\\\p{C}'"]|(?! )\p{Z}/gu, one => {
      if (one === "\\" || one === quote) return `\\${one}`;
      if (one === "'" || one === '"') return one;
      const named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[one], code = one.codePointAt(0);
      return named || (code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`);
    });
    return quote + escaped + quote;
  }

  function fail(text, at, message) {
    throw new Error(`column ${[...text.slice(0, at)].length + 1}: ${message}`);
  }

  function* tokens(text) {
    let at = 0;
    while (at < text.length) {
      const character = String.fromCodePoint(text.codePointAt(at));
      let found = character, sort = character;
      if (character === " " || character === "\t") { at += 1; continue; }
      if (character === "'" || character === '"') {
        const end = text.indexOf(character, at + 1);
        if (end < 0) fail(text, at, `found no closing ${character}, expected one`);
        found = text.slice(at, end + 1);
        sort = "string";
        if (found.includes("\\")) fail(text, at + found.indexOf("\\"), "found '\\' in a string, expected a string without escapes");
      } else if (!"()=,".includes(character)) {
        WORD.lastIndex = at;
        const match = WORD.exec(text);
        if (!match) fail(text, at, `found ${quoted(character)}, expected a word, 'and', 'or', 'not' or a parenthesis`);
        found = match[0];
        sort = ["and", "or", "not"].includes(found) ? found : "word";
      }
      yield {sort, text: found, at};
      at += found.length;
    }
    yield {sort: "end", text: "", at};
  }

  Retarget.selection = text => {
    const source = tokens(text), terms = [];
    let token = source.next().value;

    function refuse(one, expected) {
      fail(text, one.at, `found ${one.sort === "end" ? "the end of line" : quoted(one.text)}, expected ${expected}`);
    }
    function accept(sort) {
      const found = token;
      if (found.sort !== sort) return null;
      if (sort !== "end") token = source.next().value;
      return found;
    }
    const take = (sort, expected) => accept(sort) || refuse(token, expected);

    function disjunction() {
      const options = [conjunction()];
      while (accept("or")) options.push(conjunction());
      return options.length === 1 ? options[0] : truth => options.some(option => option(truth));
    }
    function conjunction() {
      const parts = [negation()];
      while (accept("and")) parts.push(negation());
      return parts.length === 1 ? parts[0] : truth => parts.every(part => part(truth));
    }
    function negation() {
      if (accept("not")) { const inner = negation(); return truth => !inner(truth); }
      if (accept("(")) { const inner = disjunction(); take(")", "')'"); return inner; }
      const word = take("word", "a word, 'not' or '('"), given = [];
      if (accept("(")) {
        do given.push(argument()); while (accept(","));
        take(")", "',' or ')'");
      }
      const number = terms.push({name: word.text, arguments: given}) - 1;
      return truth => truth(number);
    }
    function argument() {
      const name = take("word", "the name of an argument");
      if (!NAME.test(name.text) || KEYWORDS.has(name.text)) refuse(name, "the name of an argument");
      take("=", "'='");
      return [name.text, value()];
    }
    function value() {
      if (token.sort === "string") return accept("string").text.slice(1, -1);
      const word = take("word", VALUE);
      if (/^-?\p{Nd}+$/u.test(word.text)) return Number(word.text);
      if (!["True", "False", "None"].includes(word.text)) refuse(word, VALUE);
      return {True: true, False: false, None: null}[word.text];
    }

    if (token.sort === "end") return {terms, test: () => true};
    const test = disjunction();
    take("end", "'and', 'or' or the end of line");
    return {terms, test};
  };

  // A word is a tag, or a mark: [name, [[argument, value], …]]. Arguments of marks are texts.
  Retarget.isNamed = (word, term) => typeof word === "string"
    ? !term.arguments.length && word === term.name
    : word[0] === term.name && term.arguments.every(([name, value]) => word[1].some(one => one[0] === name && one[1] === value));
})();
