import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const Target = z.union([
  z.string().transform((path) => ({ path, startLine: 1, endLine: Infinity })),
  z
    .looseObject({ path: z.string(), start_line: z.number().optional(), end_line: z.number().optional() })
    .transform(({ path, start_line = 1, end_line = Infinity }) => ({ path, startLine: start_line, endLine: end_line })),
]);
const Annotations = z.array(
  z.looseObject({
    query: z.string(),
    relevant: z.array(Target),
    secondary: z.array(Target).default([]),
    category: z.string(),
  }),
);
const Repositories = z.array(z.looseObject({ name: z.string(), language: z.string(), root: z.string() }));

export interface LabelledQuery {
  readonly query: string;
  readonly category: string;
  /** Paths are relative to the checkout. */
  readonly targets: readonly Location[];
}

export interface Location {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** A repository with questions whose answers are known. */
export interface LabelledRepository {
  readonly name: string;
  readonly language: string;
  /** The checkout, and the folder of it that is searched. */
  readonly checkout: string;
  readonly root: string;
  readonly queries: readonly LabelledQuery[];
}

/**
 * Reads a folder with `repos.json` (name, language and root of each repository), `annotations/NAME.json` in the format of the Semble
 * benchmark, and checkouts in `repos/NAME`. Repositories without annotations have no queries.
 */
export function readLabelled(folder: string): readonly LabelledRepository[] {
  return Repositories.parse(readJson(join(folder, 'repos.json'))).map(({ name, language, root }) => {
    const annotations = Annotations.parse(readJson(join(folder, 'annotations', `${name}.json`)) ?? []);
    const queries = annotations.map(({ query, category, relevant, secondary }) => ({
      query,
      category,
      targets: [...relevant, ...secondary],
    }));
    return { name, language, checkout: join(folder, 'repos', name), root, queries };
  });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** NDCG@10 of places, best first; a place is right if it overlaps a target. Each target counts once. */
export function ndcg(found: readonly Location[], targets: readonly Location[]): number {
  const ranks = targets.map((target) => found.slice(0, TOP).findIndex((place) => isIn(place, target)));
  const gain = ranks.filter((rank) => rank >= 0).reduce((sum, rank) => sum + 1 / Math.log2(rank + 2), 0);
  const ideal = targets.slice(0, TOP).reduce((sum, _, rank) => sum + 1 / Math.log2(rank + 2), 0);
  return ideal === 0 ? 0 : gain / ideal;
}

/** The share of the targets whose file is among these places. */
export function recall(found: readonly Location[], targets: readonly Location[]): number {
  const isFound = (target: Location): boolean =>
    found.some((place) => isIn({ ...place, startLine: target.startLine, endLine: target.endLine }, target));
  return targets.filter(isFound).length / Math.max(1, targets.length);
}

const TOP = 10;

function isIn(place: Location, target: Location): boolean {
  return place.path === target.path && place.startLine <= target.endLine && place.endLine >= target.startLine;
}
