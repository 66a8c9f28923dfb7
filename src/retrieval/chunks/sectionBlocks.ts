import { type Block, TextLines } from './block.ts';
import { definitionBlocks } from './definitions.ts';

const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)$/s;
// A one-line title with a rule below it; a setext heading in CommonMark.
const TITLE = /^ {0,3}[^\s#>*+|-]/;
const TITLE_RULE = /^ {0,3}(?:(=+)|-{2,})\s*$/;
// A longer line is not a heading, and matching it could take long.
const MAX_HEADING = 500;
// A quoted key is limited in length, because a partial match takes memory, and a file may be a single line.
const KEY = /^(\s*)(?:"((?:[^"\\]|\\.){1,500})"|([\w.-]+)|\[+([\w.-]+)\]+)\s*(?:[:=]|$)/;
const CELL = /^# %%(?<markdown> \[markdown\])?/;
// A fence of backticks is not followed by more of them in its line; those are inline code (CommonMark 4.5).
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
// A section this short (a title above the first heading) is merged with the next.
const SHORT_LINES = 3;

/** Splits Markdown at headings, and long sections between paragraphs. A code fence is one block, whatever it contains. */
export function sectionBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  const headings: Heading[] = [];
  let [from, sectionFrom] = [0, 0];
  let fence: string | undefined;
  let symbols: readonly string[] = [];
  let isApart = false;
  const scope = (): readonly string[] => headings.slice(0, -1).map(({ title }) => title);
  const close = (to: number): void => {
    if (to > from) blocks.push({ from, to, symbols, definedAt: from, scope: scope(), isApart });
    [from, symbols, isApart] = [to, [], false];
  };
  for (const [index, line] of lines.entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const heading = headingAt(lines, index);
    if (heading !== undefined) {
      close(index);
      isApart = index - sectionFrom > SHORT_LINES;
      sectionFrom = index;
      while ((headings.at(-1)?.level ?? 0) >= heading.level) headings.pop();
      headings.push(heading);
      symbols = [heading.title];
    } else if (line.trim() === '') {
      close(index + 1);
    }
  }
  close(lines.length);
  return blocks;
}

interface Heading {
  readonly level: number;
  readonly title: string;
}

function headingAt(lines: readonly string[], index: number): Heading | undefined {
  const line = lines[index] ?? '';
  if (line.length > MAX_HEADING) return undefined;
  const marked = HEADING.exec(line);
  if (marked !== null) return { level: marked[1]?.length ?? 1, title: withoutClosing(marked[2] ?? '') };
  const isAlone = index === 0 || (lines[index - 1] ?? '').trim() === '';
  const rule = isAlone && TITLE.test(line) ? TITLE_RULE.exec(lines[index + 1] ?? '') : null;
  return rule === null ? undefined : { level: rule[1] === undefined ? 2 : 1, title: line.trim() };
}

/** A title without its closing sequence (CommonMark 4.2). A regular expression for it would try each space in each of its parts. */
function withoutClosing(title: string): string {
  const trimmed = title.trimEnd();
  let end = trimmed.length;
  while (trimmed[end - 1] === '#') end -= 1;
  const rest = trimmed.slice(0, end);
  return rest === rest.trimEnd() ? trimmed : rest.trimEnd();
}

/** Splits text at blank lines. */
export function paragraphBlocks(lines: readonly string[]): Block[] {
  return cutBefore(lines, (_line, index) => index > 0 && (lines[index - 1] ?? '').trim() === '');
}

/** Splits data at top-level keys: those at the margin in YAML and TOML, and one level in in JSON. */
export function keyBlocks(lines: readonly string[]): Block[] {
  const keys = lines.map((line) => KEY.exec(line));
  const indents = keys.flatMap((key) => (key === null ? [] : [(key[1] ?? '').length]));
  const outermost = Math.min(...new Set(indents));
  const nameAt = (index: number): string | undefined => {
    const key = keys[index];
    if (key === null || key === undefined || (key[1] ?? '').length !== outermost) return undefined;
    return key[2] ?? key[3] ?? key[4];
  };
  return cutBefore(lines, (_line, index) => nameAt(index) !== undefined, nameAt);
}

/** Splits a notebook's text (in the percent format) at its cells, their code at definitions, and their Markdown at headings. */
export function cellBlocks(lines: readonly string[]): Block[] {
  const cells = cutBefore(lines, (line) => CELL.test(line));
  return cells.flatMap(({ from, to }) => {
    const cell = lines.slice(from, to);
    const isMarkdown = CELL.exec(cell[0] ?? '')?.groups?.['markdown'] !== undefined;
    // The first line of the cell would be a heading.
    const blocks = isMarkdown
      ? sectionBlocks(['', ...cell.slice(1)])
      : definitionBlocks(new TextLines(`${cell.join('\n')}\n`));
    return blocks.map((block, index) => ({
      ...block,
      from: from + block.from,
      to: from + block.to,
      definedAt: from + block.definedAt,
      isApart: index === 0 || block.isApart,
    }));
  });
}

function cutBefore(
  lines: readonly string[],
  isStart: (line: string, index: number) => boolean,
  nameAt?: (index: number) => string | undefined,
): Block[] {
  const starts = lines.flatMap((line, index) => (index === 0 || isStart(line, index) ? [index] : []));
  return starts.map((from, index) => {
    const name = nameAt?.(from);
    return {
      from,
      to: starts[index + 1] ?? lines.length,
      symbols: name === undefined ? [] : [name],
      definedAt: from,
      scope: [],
      isApart: false,
    };
  });
}
