import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { EngineCorpus } from './engineCorpus.ts';

const PACKAGE = '@lancedb/lancedb';

/** What is used of the package, which nobody has who did not ask for its 186 MB. */
interface Lance {
  connect(folder: string): Promise<{
    createTable(name: string, rows: readonly LanceRow[]): Promise<LanceTable>;
  }>;
  readonly Index: { fts(options: object): unknown };
  readonly MatchQuery: new (query: string, column: string) => unknown;
}

interface LanceRow {
  readonly id: number;
  readonly text: string;
}

interface LanceTable {
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>;
  query(): {
    fullTextSearch(query: unknown): { limit(count: number): { toArray(): Promise<unknown> } };
  };
}

/**
 * Milliseconds that each query takes in a full-text index of LanceDB; undefined where it is not installed. Where it lies elsewhere,
 * LANCEDB names the folder that has it in its node_modules.
 */
export async function lanceLatencies(
  corpus: EngineCorpus,
  queries: readonly string[],
  folder: string,
): Promise<number[] | undefined> {
  const require = createRequire(process.env['LANCEDB'] ?? import.meta.url);
  let lance: Lance;
  try {
    const module: unknown = await import(pathToFileURL(require.resolve(PACKAGE)).href);
    lance = module as Lance;
  } catch {
    return undefined;
  }
  const rows: LanceRow[] = [];
  for (const { chunks } of corpus.read()) for (const { text } of chunks) rows.push({ id: rows.length, text });
  rmSync(folder, { recursive: true, force: true });
  const database = await lance.connect(folder);
  const table = await database.createTable('chunks', rows);
  await table.createIndex('text', { config: lance.Index.fts({}) });
  const times: number[] = [];
  for (const query of queries) {
    let best = Infinity;
    for (let round = 0; round < 3; round += 1) {
      const started = performance.now();
      await table.query().fullTextSearch(new lance.MatchQuery(query, 'text')).limit(10).toArray();
      best = Math.min(best, performance.now() - started);
    }
    times.push(best);
  }
  return times;
}
