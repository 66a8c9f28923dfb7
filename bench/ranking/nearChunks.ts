import { basename, dirname, resolve } from 'node:path';
import { openEmbedder } from '../../src/agents/rag/openEmbedder.ts';
import type { Index } from '../../src/retrieval/index/index.ts';
import { FolderVectors } from '../../src/retrieval/semantic/folderVectors.ts';
import type { NearChunk } from '../../src/retrieval/search/nearChunks.ts';

// As many as a search of a folder takes.
const NEAR = 100;

/** Finds the chunks of an index that are closest to a query, by the sentence model in a folder. Its library must be installed. */
export async function openNearChunks(
  index: Index,
  { model, root, home }: { readonly model: string; readonly root: string; readonly home: string },
): Promise<(query: string) => Promise<readonly NearChunk[]>> {
  const folder = resolve(model);
  const options = { model: basename(folder), localModelPath: dirname(folder), mayDownload: false };
  const embedder = await openEmbedder({ provider: 'local', ...options });
  const vectors = await FolderVectors.open({ root, home, embedder });
  await vectors.embed(index.sources());
  return (query) => vectors.nearest(query, NEAR);
}
