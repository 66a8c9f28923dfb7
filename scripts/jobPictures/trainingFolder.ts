import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BIG_BYTES = 63_000_000;

/** The scripts of the folder. `train.mjs` waits at 62 % until its gate, a file outside, exists. */
export const TRAIN = 'train.mjs';
export const FAIL = 'evaluate.mjs';
const SEARCH = 'search.mjs';
/** The profile of a sweep of 12 jobs. */
export const SWEEP = 'search';
export const RESULT = 'metrics.json';

/** Writes a folder as people have it: scripts, a profile with a matrix, ignored data, a large file, and notes. */
export async function writeTrainingFolder(folder: string, gate: string): Promise<void> {
  await mkdir(join(folder, 'data'), { recursive: true });
  await mkdir(join(folder, 'src'));
  const profiles = {
    [SWEEP]: {
      script: SEARCH,
      arguments: ['--lr', '${matrix:lr}', '--seed', '${matrix:seed}'],
      project: 'vision',
      maxRuntime: 600,
      matrix: { lr: [0.1, 0.01, 0.001], seed: [1, 2, 3, 4] },
      concurrency: 4,
      maxCost: 20,
    },
    evaluate: { script: FAIL },
  };
  const files: Readonly<Record<string, string>> = {
    [TRAIN]: trainScript(gate),
    [FAIL]: FAIL_SCRIPT,
    [SEARCH]: SEARCH_SCRIPT,
    'src/model.mjs': MODEL,
    'data/digits.csv': 'label,pixel\n7,0\n',
    '.gitignore': 'data/\n*.log\n',
    '.env': 'API_KEY=not-for-others\n',
    'farwharf.json': `${JSON.stringify({ profiles }, null, 2)}\n`,
    'notes.md': '# Notes\n',
    [RESULT]: '{}\n',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  await writeFile(join(folder, 'weights.bin'), randomBytes(BIG_BYTES));
}

const trainScript = (gate: string): string => `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';

const digits = existsSync('data/digits.csv') ? readFileSync('data/digits.csv', 'utf8') : '';
console.log('\\u001b[36mLoaded\\u001b[0m ' + digits.length + ' bytes; training for 3 epochs');
const STEPS = 90;
for (let step = 1; step <= STEPS; step++) {
  const until = Date.now() + 40;
  while (Date.now() < until) Math.sqrt(step);
  const done = step / STEPS;
  const bar = '#'.repeat(Math.round(done * 24)).padEnd(24, '.');
  const epoch = Math.ceil(done * 3);
  process.stderr.write('\\repoch ' + epoch + ' of 3: ' + Math.floor(done * 100) + '%|' + bar + '| ' + step + '/' + STEPS + ' [00:' + String(step).padStart(2, '0') + '<04:12, 2.1it/s]');
  const loss = 2.3 * Math.exp(-3 * done) + 0.1 * Math.random();
  console.log('farwharf:metric ' + JSON.stringify({ step, loss, accuracy: 1 - loss / 2.6 }));
  if (step % 15 === 0) console.log('farwharf:picture ' + JSON.stringify({ name: 'samples.png', data: picture(done).toString('base64') }));
  while (step === 56 && !existsSync(${JSON.stringify(gate)})) await sleep(100);
}
process.stderr.write('\\n');
console.log('\\u001b[32mDone.\\u001b[0m \\u001b[33mWarning:\\u001b[0m 3 digits are unreadable');
writeFileSync('metrics.json', JSON.stringify({ loss: 0.12 }) + '\\n');
writeFileSync('confusion.csv', 'digit,right,wrong\\n0,98,2\\n1,99,1\\n2,91,9\\n');
writeFileSync('samples.png', picture(1));

/** A wave that gets clearer, as a PNG. */
function picture(done) {
  const [width, height] = [160, 100];
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const wave = Math.abs(y - 50 - 35 * Math.sin(x / 12)) < 4 ? 255 : 30;
      rows[y * (width + 1) + x + 1] = Math.random() < done ? wave : Math.random() * 255;
    }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}
`;

const FAIL_SCRIPT = `import { score } from './src/model.mjs';

console.log('\\u001b[1mEvaluating\\u001b[0m 3 checkpoints');
console.log('\\u001b[32mok\\u001b[0m   checkpoint 1: 0.91');
console.log('\\u001b[33mwarn\\u001b[0m checkpoint 2: 0.62');
console.log('\\u001b[31mfail\\u001b[0m checkpoint 3');
console.log(score({ weights: null }));
`;

const MODEL = `/** The mean of the weights. */
export function score(model) {
  const { weights } = model;
  return weights.reduce((sum, each) => sum + each, 0) / weights.length;
}
`;

const SEARCH_SCRIPT = `import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { lr: { type: 'string' }, seed: { type: 'string' } } });
const best = 0.2 + Math.abs(Math.log10(values.lr) + 2) / 3 + values.seed / 50;
for (let step = 1; step <= 30; step++) {
  console.log('farwharf:metric ' + JSON.stringify({ step, loss: best + 2 / step }));
  await sleep(150);
}
writeFileSync('metrics.json', JSON.stringify({ loss: best }) + '\\n');
`;
