// Colours of assembly text, AT&T and Intel syntax alike. Only the analysis decides what it means.
import { StreamLanguage } from "./codemirror.js";

const REGISTER = /^%?(?:[re]?(?:ax|bx|cx|dx|si|di|bp|sp)|[abcd][lh]|(?:si|di|bp|sp)l|r(?:[89]|1\d|2\d|3[01])[dwb]?|[xyz]mm\d+|k[0-7]|st|mm\d|[re]?ip|[cdefgs]s)\b/i;
const SIZE = /^(?:byte|word|dword|qword|oword|[xyz]mmword|ptr|rel|short|near|offset)\b/i;

export const assembly = StreamLanguage.define({
  name: "assembly",
  startState: () => ({ operands: false, block: false }),
  token(stream, state) {
    if (stream.sol()) state.operands = false;
    if (state.block) {
      state.block = !stream.match(/^.*?\*\//);
      if (state.block) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("/*")) {
      state.block = true;
      return "comment";
    }
    if (stream.match(/^(?:#|\/\/|;)/)) {
      stream.skipToEnd();
      return "comment";
    }
    if (!state.operands && stream.match(/^[\w.$?@]+:/)) return "labelName";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (!state.operands && stream.match(/^\.[\w.]+/)) {
      state.operands = true;
      return "meta";
    }
    if (!state.operands && stream.match(/^(?:lock|rep[nz]?e?|xacquire|xrelease)\b/i)) return "keyword";
    if (!state.operands && stream.match(/^[A-Za-z_][\w.]*/)) {
      state.operands = true;
      return "keyword";
    }
    if (stream.match(REGISTER)) return "variableName";
    if (stream.match(SIZE)) return "meta";
    if (stream.match(/^\$?-?(?:0x[\da-f]+|\d[\da-f]*h?)\b/i)) return "number";
    if (stream.match(/^[.\w$?@]+/)) return "labelName";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});
