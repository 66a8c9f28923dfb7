const WORD_PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;

/**
 * Splits a command line into words like a shell, with quotes and backslashes only: no variables, wildcards or operators.
 *
 * @returns undefined if a quote is not closed.
 */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let position = 0;
  while (position < line.length) {
    const space = /\s*/y;
    space.lastIndex = position;
    space.test(line);
    position = space.lastIndex;
    if (position === line.length) break;
    let word = '';
    while (position < line.length && !/\s/.test(line.charAt(position))) {
      WORD_PART.lastIndex = position;
      const match = WORD_PART.exec(line);
      if (match === null) return undefined;
      const [, single, double, escaped, plain] = match;
      word += single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? '';
      position = WORD_PART.lastIndex;
    }
    words.push(word);
  }
  return words;
}
