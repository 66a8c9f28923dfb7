import { DatabaseSync } from 'node:sqlite';

/** A store of vectors that others made; rows are numbered in the order of insertion. */
interface VectorPeer {
  readonly name: string;
  readonly note: string;
  readonly search: (query: Float32Array, limit: number) => readonly number[];
}

interface UsearchIndex {
  add(key: bigint, vector: Float32Array): void;
  search(vector: Float32Array, limit: number, threads: number): { readonly keys: BigUint64Array };
}

/**
 * Fills the peers that can be loaded here, and names those that cannot: both have native modules, which no part of this project
 * needs.
 */
export function openVectorPeers(
  require: NodeJS.Require,
  vectors: readonly Float32Array[],
): { readonly peers: readonly VectorPeer[]; readonly missing: readonly string[] } {
  const peers: VectorPeer[] = [];
  const missing: string[] = [];
  for (const [name, open] of Object.entries({ usearch: openUsearch, 'sqlite-vec': openSqliteVec })) {
    let loaded: unknown;
    try {
      loaded = require(name);
    } catch {
      missing.push(name);
      continue;
    }
    peers.push(open(loaded, vectors));
  }
  return { peers, missing };
}

function openUsearch(loaded: unknown, vectors: readonly Float32Array[]): VectorPeer {
  const { Index } = loaded as { Index: new (options: object) => UsearchIndex };
  const index = new Index({ metric: 'ip', dimensions: vectors[0]?.length ?? 0, quantization: 'f32' });
  const started = performance.now();
  for (const [row, vector] of vectors.entries()) index.add(BigInt(row), vector);
  return {
    name: 'usearch (HNSW)',
    note: `built in ${((performance.now() - started) / 1000).toFixed(0)} s`,
    search: (query, limit) => [...index.search(query, limit, 1).keys].map(Number),
  };
}

function openSqliteVec(loaded: unknown, vectors: readonly Float32Array[]): VectorPeer {
  const { getLoadablePath } = loaded as { getLoadablePath: () => string };
  const database = new DatabaseSync(':memory:', { allowExtension: true });
  database.loadExtension(getLoadablePath());
  database.exec(`CREATE VIRTUAL TABLE rows USING vec0(vector float[${vectors[0]?.length ?? 0}])`);
  const insert = database.prepare('INSERT INTO rows (rowid, vector) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [row, vector] of vectors.entries()) insert.run(BigInt(row), new Uint8Array(vector.buffer));
  database.exec('COMMIT');
  const nearest = database.prepare('SELECT rowid FROM rows WHERE vector MATCH ? AND k = ? ORDER BY distance');
  return {
    name: 'sqlite-vec (float)',
    note: 'exact',
    search: (query, limit) => nearest.all(new Uint8Array(query.buffer), limit).map((row) => Number(row['rowid'])),
  };
}
