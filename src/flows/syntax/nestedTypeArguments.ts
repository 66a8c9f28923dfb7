// Comments and strings have no brackets. A string ends with its line.
const TOKEN = /\/\/.*|\/\*[^]*?(?:\*\/|$)|'(?:[^'\\\n]|\\[^])*'?|"(?:[^"\\\n]|\\[^])*"?|\$\{|(?<!=)>\s*\(|[({[)}\]]/g;
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };
const MAX_DEPTH = 10;
// The parser reads some megabytes in a second.
const MAX_CHARACTERS = 10_000_000;
const MAX_READINGS = 8;

/**
 * Where calls with type arguments, `f<T>(…)`, and templates are nested too deeply to parse; undefined if they are not. Where such a call
 * has a syntax error, the parser reads it again as a comparison, so that each level of nesting doubles the time: 27 levels take hours.
 * Takes time in proportion to the text.
 */
export function tooDeeplyNested(text: string): number | undefined {
  const brackets: { readonly closer: string; readonly isDoubling: boolean }[] = [];
  const open = new Map<string, number>();
  const count = (closer: string, change: number): Map<string, number> =>
    open.set(closer, (open.get(closer) ?? 0) + change);
  let depth = 0;
  let read = 0;
  let before = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    read += (index - before) * 2 ** depth;
    before = index;
    const last = token.at(-1) ?? '';
    const closer = CLOSERS[last];
    if (closer !== undefined && !/^['"/]/.test(token)) {
      const isDoubling = token.length > 1;
      brackets.push({ closer, isDoubling });
      count(closer, 1);
      if (isDoubling) depth += 1;
    } else if ((open.get(token) ?? 0) > 0) {
      // Those that were left open inside end here too.
      for (let ended = brackets.pop(); ended !== undefined; ended = brackets.pop()) {
        if (ended.isDoubling) depth -= 1;
        count(ended.closer, -1);
        if (ended.closer === token) break;
      }
    }
    if (depth > MAX_DEPTH || read > MAX_CHARACTERS + MAX_READINGS * text.length) return index;
  }
  return undefined;
}
