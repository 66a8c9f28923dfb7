import type { SourceFile } from './sourceFile.ts';

const MAX_SUMMARY = 160;
// Longer comments get no summary: in a generated file, each node would read all of them again.
const MAX_COMMENT = 8_000;

/** The first sentence of the comment directly above a line; undefined if there is none. */
export function summaryAbove(file: SourceFile, offset: number): string | undefined {
  const first = Math.max(0, offset - MAX_COMMENT);
  const text = file.text.slice(first, offset);
  const comment: string[] = [];
  let isBlock = false;
  for (let end = text.lastIndexOf('\n'); end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    if (start === 0 && first > 0) return undefined;
    const line = text.slice(start, end).trim();
    if (comment.length === 0) isBlock = line.endsWith('*/');
    if (!isBlock && !line.startsWith('//')) break;
    comment.unshift(line);
    if (isBlock && line.includes('/*')) break;
    end = start - 1;
  }
  return comment.length === 0 ? undefined : firstSentence(comment);
}

function firstSentence(lines: readonly string[]): string | undefined {
  const words = lines
    .map((line) => line.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/+)?/, '').replace(/\*\/\s*$/, ''))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  // Comments for tools say nothing about the code.
  if (words === '' || /^(?:@|eslint|biome|oxlint|prettier|c8|v8)/.test(words)) return undefined;
  const sentence = /^.*?[.!?](?=\s|$)/.exec(words)?.[0] ?? words;
  return sentence.length <= MAX_SUMMARY ? sentence : `${sentence.slice(0, MAX_SUMMARY - 1)}…`;
}
