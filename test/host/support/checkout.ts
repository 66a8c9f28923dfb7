import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const AREAS = [
  'billing',
  'orders',
  'search',
  'storage',
  'network',
  'reports',
  'accounts',
  'events',
  'layout',
  'import',
];
const VERBS = ['read', 'write', 'merge', 'split', 'verify', 'encode', 'decode', 'collect', 'forward', 'schedule'];
const NOUNS = ['ledger', 'packet', 'window', 'invoice', 'column', 'session', 'segment', 'vector', 'channel', 'record'];
const BATCH = 500;

/** As many source files as a large code base has. */
export const CHECKOUT_FILES = 10_000;

/** The one file of a checkout that speaks of this, and its line. */
export const NEEDLE = { path: 'billing/needle.ts', words: 'porcupine quills', line: 3 } as const;

/**
 * Writes a folder of source files that looks like a large checkout: the same bytes each time. Beside them lie files that are not
 * searched: ignored, not text, and too large.
 *
 * @param count of source files, without the needle.
 */
export async function writeCheckout(folder: string, count: number): Promise<void> {
  for (const area of AREAS) {
    for (let part = 0; part < 10; part += 1) await mkdir(join(folder, area, `part${part}`), { recursive: true });
  }
  for (let first = 0; first < count; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => first + index);
    await Promise.all(numbers.map((number) => writeFile(join(folder, pathOf(number)), sourceOf(number))));
  }
  const needle = [
    '/** Counts what the animal carries. */',
    'export function countQuills(animal: { quills: number }): number {',
    `  // All the ${NEEDLE.words} of the night.`,
    '  return animal.quills;',
    '}',
    '',
  ];
  await writeFile(join(folder, NEEDLE.path), needle.join('\n'));
  await mkdir(join(folder, 'build'));
  await writeFile(join(folder, '.gitignore'), 'build/\n*.tmp\n');
  await writeFile(join(folder, 'build', 'output.js'), 'bundle();\n');
  await writeFile(join(folder, 'picture.bin'), Buffer.from([0, 1, 2, 3, 0, 255]));
  await writeFile(join(folder, 'dump.csv'), 'a,b,c\n'.repeat(250_000));
}

/** The path of a source file, by its number. */
export function pathOf(number: number): string {
  return `${pick(AREAS, number)}/part${Math.floor(number / 10) % 10}/${pick(VERBS, Math.floor(number / 100))}${number}.ts`;
}

function sourceOf(number: number): string {
  const [verb, noun, other] = [pick(VERBS, number * 7), pick(NOUNS, number * 3), pick(NOUNS, Math.floor(number / 10))];
  const name = `${verb}${capitalised(noun)}${number}`;
  const lines = [
    `import { ${other} } from './${other}.ts';`,
    '',
    `/** ${capitalised(verb)}s a ${noun} for each ${other}. */`,
  ];
  lines.push(`export function ${name}(items: readonly string[]): number {`, '  let total = 0;');
  for (let step = 0; step < 12; step += 1) {
    lines.push(
      `  total += ${pick(VERBS, number + step)}${capitalised(pick(NOUNS, number * 5 + step))}(items, ${other}, ${step});`,
    );
  }
  lines.push('  return total;', '}', '');
  return lines.join('\n');
}

function pick(words: readonly string[], number: number): string {
  return words[number % words.length] ?? '';
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
