import type { Commit } from './commit.ts';
import { PathFilter } from '../search/pathFilter.ts';
import { SegmentSet } from '../search/segmentSet.ts';
import type { TermQuery } from '../search/termQuery.ts';
import { SegmentBuilder } from '../segments/segmentBuilder.ts';

// The number of commits that vote. With 10 or 100, the ranking is the same within the measurement's interval.
const VOTERS = 50;

/** The messages of commits, searched like chunks. */
export class CommitIndex {
  readonly #commits: readonly Commit[];
  readonly #set = new SegmentSet();

  constructor(commits: Iterable<Commit>) {
    this.#commits = [...commits].filter(({ paths }) => paths.length > 0);
    const builder = new SegmentBuilder();
    for (const [at, { message }] of this.#commits.entries()) {
      const source = { path: String(at), size: 0, mtimeMs: 0, hash: '', status: 'indexed' } as const;
      const chunk = { source: source.path, text: message, startLine: 1, endLine: 1, symbols: [], scope: [] };
      builder.add(source, [chunk]);
    }
    if (this.#commits.length > 0) this.#set.add(builder.finish());
  }

  /**
   * How relevant files are for a query according to the history, from 0 to 1 for the best: each commit whose message matches votes for the
   * files that it changed, with its score divided by the square root of their number.
   */
  votes(query: TermQuery): ReadonlyMap<string, number> {
    const votes = new Map<string, number>();
    // Requirements of a query on results do not apply to messages.
    const terms = { ...query, definitions: [], required: [], excluded: [], paths: PathFilter.ALL };
    for (const { source, score } of this.#set.search(terms, VOTERS)) {
      const { paths = [] } = this.#commits[Number(source.path)] ?? {};
      for (const path of paths) votes.set(path, (votes.get(path) ?? 0) + score / Math.sqrt(paths.length));
    }
    const most = Math.max(...votes.values());
    return new Map([...votes].map(([path, sum]) => [path, sum / most]));
  }
}
