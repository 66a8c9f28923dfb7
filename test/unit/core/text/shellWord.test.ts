import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { shellWord } from '../../../../src/core/text/shellWord.ts';

test('a shell reads each word as it is', (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no sh');
  const words = ['plain', 'a b', '', "it's", '$HOME', '`id`', 'a;b', '*', '~', 'a\nb', '"', '\\', 'a&b', '#c', '(d)'];
  const output = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(shellWord).join(' ')}`], { encoding: 'utf8' });
  assert.deepEqual(output.split('\0').slice(0, -1), words);
});

test('words without a meaning to shells are not quoted', () => {
  for (const word of ['/home/ada/x.py', 'user@host:22', 'a,b', '--flag-1', '+5%']) {
    assert.equal(shellWord(word), word);
  }
});
