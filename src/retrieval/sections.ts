import type { Block } from './block.ts';

const HEADING = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
// A section this short (a title above the first heading) goes on into the next.
const SHORT_LINES = 3;

/** Cuts Markdown at headings, and long sections between paragraphs; a code fence is never cut open. */
export function sectionBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  const headings: { readonly level: number; readonly title: string }[] = [];
  let [from, sectionFrom] = [0, 0];
  let fence: string | undefined;
  let symbols: readonly string[] = [];
  let isApart = false;
  const scope = (): readonly string[] => headings.slice(0, -1).map(({ title }) => title);
  const close = (to: number): void => {
    if (to > from) blocks.push({ from, to, symbols, scope: scope(), isApart });
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
    const heading = HEADING.exec(line);
    if (heading !== null) {
      close(index);
      isApart = index - sectionFrom > SHORT_LINES;
      sectionFrom = index;
      const level = heading[1]?.length ?? 1;
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
      headings.push({ level, title: heading[2] ?? '' });
      symbols = [heading[2] ?? ''];
    } else if (line.trim() === '') {
      close(index + 1);
    }
  }
  close(lines.length);
  return blocks;
}

/** Cuts text at blank lines. */
export function paragraphBlocks(lines: readonly string[]): Block[] {
  return cutBefore(lines, (_line, index) => index > 0 && (lines[index - 1] ?? '').trim() === '');
}

/** Cuts data at the keys that are outermost: those at the margin in YAML and TOML, one level in in JSON. */
export function keyBlocks(lines: readonly string[]): Block[] {
  const keys = lines.map((line) => /^(\s*)(?:"((?:[^"\\]|\\.)+)"|([\w.-]+)|\[+([\w.-]+)\]+)\s*(?:[:=]|$)/.exec(line));
  const indents = keys.flatMap((key) => (key === null ? [] : [(key[1] ?? '').length]));
  const outermost = Math.min(...new Set(indents));
  const nameAt = (index: number): string | undefined => {
    const key = keys[index];
    if (key === null || key === undefined || (key[1] ?? '').length !== outermost) return undefined;
    return key[2] ?? key[3] ?? key[4];
  };
  return cutBefore(lines, (_line, index) => nameAt(index) !== undefined, nameAt);
}

/** Cuts a notebook's text (in the percent format) at its cells. */
export function cellBlocks(lines: readonly string[]): Block[] {
  return cutBefore(lines, (line) => line.startsWith('# %%')).map((block) => ({ ...block, isApart: true }));
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
      scope: [],
      isApart: false,
    };
  });
}
