import { test } from 'node:test';
import { readSeed } from './flowFuzz.ts';

test('no flow file makes the reader fail, hang or grow without end, whatever is in it', () => {
  for (let seed = 1; seed <= 60; seed += 1) readSeed(seed);
});
