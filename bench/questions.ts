// Whether a folder's search has the answer of a question among its first three files: `questions.ts [FOLDER QUESTIONS]`. Without
// arguments, the questions are about this repository, of somebody new to it (`.farwharfignore` keeps them out of the index): two sets of
// twenty; ranking is changed with a view to the first, and the second checks it. `ranking/questions` has others, about the sources of PostgreSQL,
// Blender and QEMU (Debian 12's source packages postgresql-15, blender and qemu), and of SymPy. All were written, with the files that answer each, before any
// was searched. `--explain` shows what made up the scores of misses; `--model FOLDER` adds semantic ranking with the sentence model in that folder.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { explainScore } from '../src/retrieval/search/explanation.ts';
import { readCommits } from '../src/workspace/git/commitLog.ts';
import { openNearChunks } from './ranking/nearChunks.ts';
import { indexFolder } from './ranking/indexedFolder.ts';

const ROOT = join(import.meta.dirname, '..');
const QUESTIONS = 'bench/ranking/questions/farwharf.json';
const SHOWN = 3;
const DEPTH = 50;
const { values, positionals } = parseArgs({
  options: { explain: { type: 'boolean' }, model: { type: 'string' } },
  allowPositionals: true,
});
const [folder = ROOT, file = join(ROOT, QUESTIONS)] = positionals.map((path) => resolve(path));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sets = z
  .record(z.string(), z.record(z.string(), z.array(z.string())))
  .parse(JSON.parse(readFileSync(file, 'utf8')));
const home = mkdtempSync(join(tmpdir(), 'farwharf-bench-questions-'));
try {
  using index = await indexFolder(folder, home);
  await index.history.update(readCommits, { signal: new AbortController().signal, isStored: false });
  const near =
    values.model === undefined ? undefined : await openNearChunks(index, { model: values.model, root: folder, home });
  for (const [name, questions] of Object.entries(sets)) {
    let answered = 0;
    for (const [question, answers] of Object.entries(questions)) {
      const found = await index.search(question, DEPTH, { near: await near?.(question) });
      const rank = found.findIndex(({ path }) => answers.includes(path)) + 1;
      const isAnswered = rank > 0 && rank <= SHOWN;
      if (isAnswered) answered += 1;
      print(`${rank > 0 ? String(rank).padStart(3) : '  -'} ${question}`);
      if (isAnswered || values.explain !== true) continue;
      for (const hit of [...found.slice(0, SHOWN), ...found.slice(SHOWN).filter((_, at) => at === rank - 1 - SHOWN)])
        if (hit.reasons !== undefined)
          print(`        ${hit.path}:${hit.startLine} ${explainScore(hit.score, hit.reasons)}`);
    }
    print(`${name}: ${answered} of ${Object.keys(questions).length} in the first ${SHOWN}\n`);
  }
} finally {
  rmSync(home, { recursive: true });
}
