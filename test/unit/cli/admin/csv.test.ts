import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCsv } from '../../../../src/cli/admin/adminUsage.ts';

test('cells with commas, quotes and line ends are quoted, and lines end as the standard says', () => {
  assert.deepEqual(
    formatCsv(
      ['a', 'b'],
      [
        ['x,y', 'say "hi"'],
        ['two\nlines', ''],
        [1.5, -2],
      ],
    ),
    ['a,b\r\n', '"x,y","say ""hi"""\r\n', '"two\nlines",\r\n', '1.5,-2\r\n'],
  );
});

test('a text that a program for tables would run as a formula is made a text', () => {
  const cells = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("http://example.org","x")'];
  const [, ...lines] = formatCsv(
    ['name'],
    cells.map((cell) => [cell]),
  );
  assert.deepEqual(lines, [
    "'=1+1\r\n",
    "'+1\r\n",
    "'-1\r\n",
    "'@SUM(A1)\r\n",
    "'\t=1\r\n",
    `"'=HYPERLINK(""http://example.org"",""x"")"\r\n`,
  ]);
});
