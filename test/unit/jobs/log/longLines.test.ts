import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineShortener, MAX_LINE } from '../../../../src/jobs/log/longLines.ts';
import { printableText } from '../../../../src/core/text/printable.ts';

/** What remains of a text that arrives in pieces of this length. */
function shortened(text: string, pieceLength = text.length): string {
  const lines = new LineShortener();
  let shown = '';
  for (let at = 0; at < text.length; at += pieceLength) {
    shown += lines.push(printableText(text.slice(at, at + pieceLength)));
  }
  return shown;
}

test('a line of the most characters stays, and a longer one says how many more it has, however it arrives', () => {
  const most = 'm'.repeat(MAX_LINE);
  const cases: readonly [text: string, shown: string][] = [
    ['a\nb\n', 'a\nb\n'],
    [`${most}\n${most}`, `${most}\n${most}`],
    [`a\n${most}m\nb\n`, `a\n${most}… 1 more character in this line\nb\n`],
    [`${most}${most}mm\n${most}\nb`, `${most}… 10,002 more characters in this line\n${most}\nb`],
    [`${most}mm`, most],
  ];
  for (const [text, shown] of cases) {
    for (const length of [1, 7, 999, 10_000, 10_001, 30_000]) {
      assert.equal(shortened(text, length), shown, `in pieces of ${length}`);
    }
  }
});
