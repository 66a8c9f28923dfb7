import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitWords } from '../../../../src/core/text/splitWords.ts';

const LINES: readonly [line: string, words: readonly string[] | undefined][] = [
  ['train.py', ['train.py']],
  ['  train.py   --epochs 3 ', ['train.py', '--epochs', '3']],
  [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
  [`a --name='b c'd`, ['a', '--name=b cd']],
  [`a "say \\"hi\\"" '\\n' "\\n"`, ['a', 'say "hi"', '\\n', '\\n']],
  [`a '' ""`, ['a', '', '']],
  ['a $HOME *.py; rm | b', ['a', '$HOME', '*.py;', 'rm', '|', 'b']],
  ['', []],
  [`a 'b`, undefined],
  ['a "b', undefined],
  ['a \\', undefined],
];

test('a command line is split as a shell splits it, and nothing else a shell does happens', () => {
  for (const [line, words] of LINES) assert.deepEqual(splitWords(line), words, line);
});
