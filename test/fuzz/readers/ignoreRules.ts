import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IgnoreRules } from '../../../src/workspace/git/ignoreRules.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

const SAMPLE = '# built\n*.log\n/build/\n!build/keep.txt\n**/node_modules\ndata/**/*.bin\n[a-z]?\\ x\n\\#odd\\!\n';
const PATHS = [
  'a.log',
  'build/',
  'build/keep.txt',
  'data/1/2/3.bin',
  'größe/ü.txt',
  `${'a'.repeat(200)}b`,
  ' x',
  '#odd!',
];

/** Ignore files. */
export const ignoreRules: FuzzedReader = {
  name: 'ignore-rules',
  samples: () => Promise.resolve([Buffer.from(SAMPLE)]),
  words: ['**', '*a', '?', '[!', '[a-', ']', '\\', '!', '/', '#', '{a,b}', '(', '+', '[[:alpha:]]', '*a*a*a*a*a*b'],
  open: (scratch) =>
    Promise.resolve({
      read: async (input) => {
        await writeFile(join(scratch, '.gitignore'), input);
        await allowRefusal(async () => {
          const rules = await new IgnoreRules(scratch, '.gitignore').enter('', true);
          for (const path of PATHS) rules.test(path);
        });
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
