import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryExamples } from '../../../scripts/trackedFiles.ts';
import { readText } from '../../unit/flows/reading.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

const SMALL = `import { Flow, Node } from 'farwharf/agents';
class A extends Node { post() { return this.x ? 'a' : 'b'; } }
const [a, b] = [new A(), new A()];
export const flow = new Flow({ start: a }).connect(a, b, 'a').connect(b, null);
for (let i = 0; i < 9; i++) flow.connect(a, new A(), \`\${i}\`);
`;

/** Flow files, which the canvas reads without running them. */
export const flowFiles: FuzzedReader = {
  name: 'flow-files',
  samples: async () => [Buffer.from(SMALL), await readFile(join(temporaryExamples(), 'agents', 'research.mts'))],
  words: [
    'new Flow(',
    '.connect(',
    'class X extends Node {',
    '...',
    '=>',
    '`${',
    '}',
    '({',
    '[',
    '(',
    '??',
    'while(1)',
    '.map(',
  ],
  open: () =>
    Promise.resolve({
      read: (input) => {
        JSON.stringify(readText(input.toString()));
        return Promise.resolve();
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
