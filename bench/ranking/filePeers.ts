import type { Index } from '../../src/retrieval/index/index.ts';
import { INFORMED } from './peers.ts';
import type { Location } from './labelledSet.ts';

export type FindPlaces = (query: string) => Promise<readonly Location[]>;

// Peers rank chunks, of which a file has many.
const DEPTH = 200;

/** Peers that rank the chunks of an index and get the same information, each with the best place of its first files. */
export function openFilePeers(index: Index, limit: number): readonly [string, FindPlaces][] {
  const chunks = [...index.sources()].flatMap(({ path }) => index.fileAt(path)?.chunks ?? []);
  return Object.entries(INFORMED).map(([engine, open]) => {
    const peer = open(chunks);
    const find: FindPlaces = async (query) => {
      const found = peer.search(query, DEPTH).flatMap((id) => {
        const chunk = chunks[id];
        return chunk === undefined ? [] : [{ ...chunk, path: chunk.source }];
      });
      return firstOfFiles(found, limit);
    };
    return [engine, find];
  });
}

/** The best place of each of the first files of places, which are sorted. */
export function firstOfFiles(places: readonly Location[], limit: number): readonly Location[] {
  const byPath = new Map<string, Location>();
  for (const place of places) if (!byPath.has(place.path)) byPath.set(place.path, place);
  return [...byPath.values()].slice(0, limit);
}
