const DIRECTIVE = '#SBATCH';

/** A word of a `#SBATCH` line, without its quotes. */
export interface DirectiveWord {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/**
 * Reads the `#SBATCH` lines of a batch script as sbatch does: up to the first line that is neither blank nor a comment; only lines that
 * begin with `#SBATCH`, so that `##SBATCH` and `# SBATCH` are comments (`man sbatch`, section "DESCRIPTION").
 */
export function readDirectives(text: string): readonly DirectiveWord[] {
  const words: DirectiveWord[] = [];
  let number = 0;
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length + 1 : end + 1;
    number += 1;
    if (/^#SBATCH(?:\s|$)/.test(line)) {
      for (const word of splitDirective(line.slice(DIRECTIVE.length))) words.push({ line: number, text: word });
    } else if (/^\s*[^\s#]/.test(line)) break;
  }
  return words;
}

/** Splits a line at blanks outside quotes. A backslash escapes a character; `#` outside quotes begins a comment. */
function splitDirective(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (character === '\\' && quote !== "'") {
      index += 1;
      word = (word ?? '') + line.charAt(index);
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '#') break;
    else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}
