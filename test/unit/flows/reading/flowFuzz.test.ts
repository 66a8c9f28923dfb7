import { test } from 'node:test';
import { TIMES } from '../../../random.ts';
import { readSeed } from './flowFuzz.ts';

test('no flow file makes the reader fail, hang or grow without end, whatever is in it', () => {
  for (let seed = 1; seed <= 20 * TIMES; seed += 1) readSeed(seed);
});
