import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import type { QuerySet } from './querySet.ts';

/**
 * The Cranfield collection (Cleverdon, 1967): 1,400 abstracts on aerodynamics, 225 questions and the abstracts that answer each.
 * Reads `cran.all.1400`, `cran.qry` and `cranqrel`, which many public repositories have. An abstract is one chunk.
 */
export function readCranfield(folder: string): QuerySet {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const documents = records(read('cran.all.1400'));
  const chunks = documents.map(({ id, fields }): Chunk => {
    const text = fields['W'] ?? '';
    return { text, source: id, startLine: 1, endLine: text.split('\n').length, symbols: [], scope: [] };
  });
  const positions = new Map(documents.map(({ id }, at) => [Number(id), at]));
  const answers = new Map<number, number[][]>();
  for (const line of read('cranqrel').split('\n')) {
    const [question, document, code] = line.trim().split(/\s+/).map(Number);
    const at = positions.get(document ?? 0);
    // 1 is a complete answer, 4 one of least interest; what is judged -1 is none.
    if (question === undefined || at === undefined || code === undefined || code < 1) continue;
    answers.set(question, [...(answers.get(question) ?? []), [at]]);
  }
  // The judgements count the questions from 1; their own numbers have gaps.
  const queries = records(read('cran.qry')).flatMap(({ fields }, at) => {
    const own = answers.get(at + 1);
    return own === undefined ? [] : [{ text: fields['W'] ?? '', answers: own }];
  });
  return { name: 'Cranfield', about: `${chunks.length} abstracts, one chunk each`, chunks, queries };
}

function records(text: string): { readonly id: string; readonly fields: Record<string, string> }[] {
  const parts = text.split(/^\.I +/m).slice(1);
  return parts.map((part) => {
    const [id = '', ...sections] = part.split(/^\.(?=[A-Z]$)/m);
    return {
      id: id.trim(),
      fields: Object.fromEntries(sections.map((section) => [section.slice(0, 1), section.slice(1).trim()])),
    };
  });
}
