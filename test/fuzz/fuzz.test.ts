import { test } from 'node:test';
import { fuzz } from './fuzz.ts';
import { READERS } from './readers/index.ts';

// The long form is `node scripts/fuzz.ts`.
const INPUTS = 150;
const SEED = 1;

for (const reader of READERS) {
  test(`${reader.name}: hostile input is read or refused, and nothing else`, async (t) => {
    const inputs = await fuzz(reader, { seed: SEED, goesOn: (count) => count < INPUTS });
    t.diagnostic(`${inputs} inputs`);
  });
}
