import type { Block } from './block.ts';

const MODIFIERS =
  '(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|readonly|declare|unsafe|extern|pub(?:\\([^)]*\\))?)\\s+)*';
const KEYWORDS =
  'function\\*?|class|interface|type|enum|struct|trait|impl|def|fn|func|fun|module|namespace|object|record|protocol|extension|sub|procedure';
// `func (r *Reader) Name` is Go, `impl<T> Name` is Rust.
const NAMED = new RegExp(
  `^(\\s*)${MODIFIERS}(?:${KEYWORDS})(?:<[^>]*>)?\\s+(?:\\([^)]*\\)\\s*)?([\\p{L}_$][\\p{L}\\p{N}_$]*)`,
  'u',
);
const ASSIGNED = new RegExp(`^()${MODIFIERS}(?:const|let|var)\\s+([\\p{L}_$][\\p{L}\\p{N}_$]*)\\s*(?::[^=]+)?=`, 'u');
// A method: a name, parameters and an opening brace, without a keyword that could be a statement.
const METHOD = new RegExp(
  `^(\\s+)${MODIFIERS}(?:(?:get|set)\\s+|\\*\\s*)?#?(?!(?:if|for|while|switch|catch|return|else|do|try|with|new|await)\\b)` +
    '([\\p{L}_$][\\p{L}\\p{N}_$]*)\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::[^;={]+)?\\{\\s*$',
  'u',
);
// C and its family: a type and a name at the left margin, with parameters and no semicolon.
const C_FUNCTION =
  /^()(?!(?:if|for|while|switch|return|else|typedef)\b)[A-Za-z_][\w\s*:<>,&]*?[\s*&]([A-Za-z_]\w*)\s*\([^;]*$/;
const LEADING = /^\s*(?:\/\/|\/\*|\*|#(?!include|define|if|endif|else)|@|"""|--|\[)/;

interface Definition {
  readonly line: number;
  readonly indent: number;
  readonly name: string;
}

/**
 * Cuts source code where definitions begin, by their keywords and indentation: no grammar is parsed, since that takes ten times
 * as long as all of the indexing. Comments and decorators stay with the definition below them.
 */
export function definitionBlocks(lines: readonly string[]): Block[] {
  const definitions = lines.flatMap((line, index) => definitionOf(line, index) ?? []);
  const starts = definitions.map(({ line }) => leadingStart(lines, line));
  const blocks: Block[] = [];
  const enclosing: Definition[] = [];
  let previousEnd = 0;
  const push = (from: number, to: number, symbols: readonly string[], scope: readonly string[]): void => {
    if (to > from) blocks.push({ from, to, symbols, scope, isApart: false });
  };
  for (const [index, definition] of definitions.entries()) {
    const from = Math.max(starts[index] ?? definition.line, previousEnd);
    const to = Math.max(starts[index + 1] ?? lines.length, definition.line + 1);
    push(
      previousEnd,
      from,
      [],
      enclosing.map(({ name }) => name),
    );
    while ((enclosing.at(-1)?.indent ?? -1) >= definition.indent) enclosing.pop();
    push(
      from,
      to,
      [definition.name],
      enclosing.map(({ name }) => name),
    );
    enclosing.push(definition);
    previousEnd = to;
  }
  push(previousEnd, lines.length, [], []);
  return blocks;
}

function definitionOf(line: string, index: number): Definition | undefined {
  if (line.length > 500) return undefined; // minified or generated; the expressions could backtrack for long
  const match = NAMED.exec(line) ?? ASSIGNED.exec(line) ?? METHOD.exec(line) ?? C_FUNCTION.exec(line);
  return match === null ? undefined : { line: index, indent: (match[1] ?? '').length, name: match[2] ?? '' };
}

function leadingStart(lines: readonly string[], definition: number): number {
  let start = definition;
  while (start > 0 && LEADING.test(lines[start - 1] ?? '')) start -= 1;
  return start;
}
