import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import type { QuerySet } from './querySet.ts';

const Codes = z.record(z.string(), z.number());
const Questions = z.array(z.object({ doc: z.string(), retrieval_idx: z.number() }));
const NAME = /^\s*(?:async\s+)?def\s+(\w+)/;

/**
 * CoSQA (Huang et al., ACL 2021): questions that people asked a search engine, and the Python function that answers each, among
 * 6,267. Reads `code_idx_map.txt` and `cosqa-retrieval-test-500.json`, which github.com/Jun-jie-Huang/CoCLR has in `data/search`.
 */
export function readCosqa(folder: string): QuerySet {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const codes = Object.entries(Codes.parse(read('code_idx_map.txt'))).sort(([, a], [, b]) => a - b);
  const questions = Questions.parse(read('cosqa-retrieval-test-500.json'));
  const chunks = codes.map(([text, id]): Chunk => {
    const name = NAME.exec(text)?.[1];
    const endLine = text.split('\n').length;
    return { text, source: String(id), startLine: 1, endLine, symbols: name === undefined ? [] : [name], scope: [] };
  });
  const byId = new Map(codes.map(([, id], at) => [id, at]));
  const queries = questions.map(({ doc, retrieval_idx: id }) => ({ text: doc, answers: [[byId.get(id) ?? -1]] }));
  return { name: 'CoSQA test', about: `${codes.length} Python functions, one chunk each`, chunks, queries };
}
