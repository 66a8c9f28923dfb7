import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EventSpool } from '../../../src/jobs/log/spool.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

const LAST = { event: 'log', data: { stream: 'stdout', text: 'after the damage' } };

/** Spooled events: whatever a crash or another program made of the file, it is read, and what is appended then is there. */
export const spools: FuzzedReader = {
  name: 'spool',
  samples: async () => {
    const home = await mkdtemp(join(tmpdir(), 'farwharf-spool-'));
    const spool = new EventSpool(home, 'job');
    await spool.append([
      { event: 'log', data: { stream: 'stdout', text: 'größe\n' }, id: '7' },
      { event: 'odd', data: null },
    ]);
    const bytes = readFileSync(spool.path);
    await rm(home, { recursive: true });
    return [bytes];
  },
  words: ['{"', '}\n', '"seq":', '"at":', 'null', '[[[[[', '\n\n', '\0'],
  open: (scratch) =>
    Promise.resolve({
      read: async (input) => {
        const { path } = new EventSpool(scratch, 'job');
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, input);
        const spool = new EventSpool(scratch, 'job');
        await Array.fromAsync(spool.read());
        await spool.append([LAST]);
        assert.deepEqual((await Array.fromAsync(spool.read())).at(-1)?.data, LAST.data);
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
