// How well the index ranks, against lunr, MiniSearch and SQLite's FTS5 on the same chunks. A question is the first sentence of a
// function's comment, its answer is the function, and the comment is not in what is searched. The folders are checkouts that are
// arguments, or the sources that an install brings (openai, Apache-2.0; zod, MIT) and those of this repository. With `--cosqa` and
// `--cranfield`, folders that hold these collections are measured too; they are not shipped. `--sweep` tries weights and bounds.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCosqa } from './ranking/cosqa.ts';
import { readCranfield } from './ranking/cranfield.ts';
import { docstringSet, readCheckout } from './ranking/docstrings.ts';
import { RANKED } from './ranking/peers.ts';
import { measureQuality, type Quality } from './ranking/quality.ts';
import type { QuerySet } from './ranking/querySet.ts';
import { sweep } from './ranking/sweep.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_FOLDERS = ['src', 'node_modules/openai/src', 'node_modules/zod/src'].map((path) => join(ROOT, path));

// Reach is the part of the questions whose answer is in the first 8,000 characters of what is found, which a model would receive.
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function report(set: QuerySet): void {
  print(`\n${set.name}: ${set.about}, ${set.chunks.length} chunks, ${set.queries.length} questions`);
  print(`${''.padEnd(18)}${['MRR@10', 'recall@5', 'nDCG@10', 'reach'].map((title) => title.padStart(10)).join('')}`);
  const results = Object.entries(RANKED).map(([name, open]): [string, Quality] => {
    const quality = measureQuality(open(set.chunks).search, set);
    const { mrr, recall, ndcg, reach } = quality;
    print(name.padEnd(18) + [mrr, recall, ndcg, reach].map((value) => value.toFixed(3).padStart(10)).join(''));
    return [name, quality];
  });
  const [[, own] = [], ...peers] = results;
  const best = Math.max(...peers.map(([, { mrr }]) => mrr));
  const lunr = peers.find(([name]) => name === 'lunr')?.[1].mrr;
  if (own === undefined || lunr === undefined) return;
  print(`MRR@10: ${(own.mrr / lunr).toFixed(2)} of lunr's, ${(own.mrr / best).toFixed(2)} of the best peer's`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cosqa: { type: 'string' }, cranfield: { type: 'string' }, sweep: { type: 'boolean' } },
});
const folders =
  positionals.length > 0 || values.cosqa !== undefined || values.cranfield !== undefined
    ? positionals
    : DEFAULT_FOLDERS;
const checkouts = folders.map(readCheckout);
const collections = [
  ...(values.cosqa === undefined ? [] : [readCosqa(values.cosqa)]),
  ...(values.cranfield === undefined ? [] : [readCranfield(values.cranfield)]),
];
if (values.sweep === true) sweep(checkouts, collections, print);
else for (const set of [...checkouts.map((checkout) => docstringSet(checkout)), ...collections]) report(set);
