import type { SourceFile } from './sourceFile.ts';

const MAX_SUMMARY = 160;

/** The first sentence of the comment directly above the line of a place; undefined where there is none. */
export function summaryAbove({ text }: SourceFile, offset: number): string | undefined {
  const lines = text.slice(Math.max(0, offset - 4000), text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1).split('\n');
  lines.pop();
  const comment: string[] = [];
  const last = lines.at(-1)?.trim() ?? '';
  if (last.endsWith('*/')) {
    for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
      comment.unshift(line);
      if (line.includes('/*')) break;
    }
  } else {
    for (let line = lines.pop()?.trim(); line?.startsWith('//') === true; line = lines.pop()?.trim())
      comment.unshift(line);
  }
  return firstSentence(comment);
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
