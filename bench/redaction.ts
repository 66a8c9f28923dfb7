// What the redaction of secrets costs where it runs: the output of a job with ten secrets on its way to the log, against the same without
// secrets, and against a search for each of four spellings. Prints nanoseconds of processor time a character, as the median of the rounds,
// which alternate. Fails if a log costs more than with the search.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretRedactor } from '../src/core/text/secretRedactor.ts';
import { OutputLog } from '../src/service/runner/output/outputLog.ts';
import { FourSpellings } from './support/fourSpellings.ts';

const ROUNDS = 5;
const MAX_RATIO = 1;
// A program that prints a lot, one with the buffer of C and Python, and one that prints lines.
const PIECES = { '64 KB pieces': [65_536, 16e6], '4 KB pieces': [4_096, 16e6], '200-byte pieces': [200, 2e6] } as const;
const VALUES = Array.from({ length: 10 }, (_, index) =>
  createHash('sha512')
    .update(String(index))
    .digest('base64url')
    .slice(0, 20 + index),
);
const folder = mkdtempSync(join(tmpdir(), 'farwharf-redaction-'));

const LOG = 'a log';
const OUTPUTS: Readonly<Record<string, (line: number) => string>> = {
  [LOG]: (line) =>
    `2026-11-29T00:13:08.123Z INFO step ${line} loss=0.${(line * 7919) % 10_000} lr=0.0003 gpu=87% mem=14.2GB path=/data/shard-${line % 100}.bin\n`,
  'JSON lines': (line) =>
    `${JSON.stringify({ time: 1_764_374_400 + line, level: 'info', message: `step "${line}" done`, loss: line / 7, path: '/data/a b.bin' })}\n`,
  'a table of numbers': (line) =>
    `${Array.from({ length: 16 }, (_, column) => ((line * 31 + column * 17) % 256).toString(16).padStart(2, '0')).join(' ')}\n`,
};
const REDACTORS = {
  'no secrets': () => undefined,
  'four searches': () => new FourSpellings(VALUES) as unknown as SecretRedactor,
  'by meaning': () => new SecretRedactor(VALUES),
};
type Name = keyof typeof REDACTORS;

function measure(name: Name, bytes: Buffer, [size, total]: readonly [number, number]): number {
  const log = new OutputLog(join(folder, 'output.jsonl'), total * 2, REDACTORS[name]());
  const before = process.cpuUsage();
  for (let done = 0; done < total; ) {
    for (let at = 0; at < bytes.length; at += size, done += size) log.append('stdout', bytes.subarray(at, at + size));
  }
  const { user, system } = process.cpuUsage(before);
  log.close();
  rmSync(join(folder, 'output.jsonl'));
  return ((user + system) * 1000) / total;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const names = Object.keys(REDACTORS) as Name[];
process.stdout.write(`${'ns a character'.padEnd(38)}${names.map((name) => name.padStart(15)).join('')}\n`);
let isGood = true;
for (const [output, line] of Object.entries(OUTPUTS)) {
  let text = '';
  for (let index = 0; text.length < 65_536; index += 1) text += line(index);
  const bytes = Buffer.from(text).subarray(0, 65_536);
  for (const [pieces, sizes] of Object.entries(PIECES)) {
    const times = new Map<Name, number[]>(names.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names) times.get(name)?.push(measure(name, bytes, sizes));
    }
    const figures = names.map((name) => median(times.get(name) ?? []));
    const [, searched = 0, redacted = 0] = figures;
    if (output === LOG) isGood &&= redacted <= searched * MAX_RATIO;
    process.stdout.write(
      `${`${output}, ${pieces}`.padEnd(38)}${figures.map((figure) => figure.toFixed(1).padStart(15)).join('')}\n`,
    );
  }
}
rmSync(folder, { recursive: true });
if (!isGood) process.stdout.write('Redaction is slower than a search for four spellings.\n');
process.exitCode = isGood ? 0 : 1;
