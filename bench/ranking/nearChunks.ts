import { basename, dirname, resolve } from 'node:path';
import { StaticModel } from '../../src/retrieval/embedding/static/staticModel.ts';
import type { FolderIndex } from '../../src/retrieval/folder/folderIndex.ts';
import { FolderVectors } from '../../src/retrieval/semantic/folderVectors.ts';
import type { NearChunk } from '../../src/retrieval/ranking/nearChunks.ts';

// As many as a search of a folder takes.
const NEAR = 100;

/** Finds the chunks of an index that are closest to a query, by the static model in a folder. */
export async function openNearChunks(
  index: FolderIndex,
  { model, root, home }: { readonly model: string; readonly root: string; readonly home: string },
): Promise<(query: string) => Promise<readonly NearChunk[]>> {
  const folder = resolve(model);
  const opened = await StaticModel.open({ model: basename(folder), folder: dirname(folder) });
  const embedder = { id: opened.fingerprint, embed: (texts: readonly string[]) => opened.embed(texts, {}) };
  const vectors = await FolderVectors.open({ root, home, embedder });
  await vectors.embed(index.sources());
  return (query) => vectors.nearest(query, NEAR);
}
