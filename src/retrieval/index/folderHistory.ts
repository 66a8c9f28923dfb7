import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { TermQuery } from '../search/termQuery.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';
import { PathFilter } from '../search/pathFilter.ts';
import { SegmentSet } from '../search/segmentSet.ts';
import { SegmentBuilder } from '../segments/segmentBuilder.ts';

const FILE = 'commits.json';
const VERSION = 1;
const NONE: StoredHistory = { head: undefined, commits: [] };

// The number of commits that vote. With 10 or 100, the ranking is the same within the measurement's interval.
const VOTERS = 50;

/** The history of a folder, as it is stored with its index. */
interface StoredHistory {
  readonly head: string | undefined;
  /** The newest first. */
  readonly commits: readonly Commit[];
}

/** A past commit, which indicates what its files are about. */
export interface Commit {
  readonly id: string;
  /** The beginning of its message; empty if the commit is irrelevant for the folder's files. */
  readonly message: string;
  /** The files that it changed, relative to the folder, with '/'. */
  readonly paths: readonly string[];
}

/** The history of a folder. */
interface CommitList {
  /** The current commit; undefined where there is none. */
  readonly head: string | undefined;
  /** The last commits, the newest first. */
  readonly ids: readonly string[];
  /** Those of them that were not known. */
  readonly added: readonly Commit[];
}

/** What is known about the history of a folder. */
interface KnownCommits {
  readonly head: string | undefined;
  readonly ids: ReadonlySet<string>;
}

/**
 * Reads the last commits of a folder; none where there is no repository that can be read.
 *
 * @returns undefined if the current commit is the known one.
 * @throws AppError `limit` if that takes too long; the signal's reason on abort.
 */
export type ReadCommits = (
  folder: string,
  options: { readonly known: KnownCommits; readonly signal: AbortSignal },
) => Promise<CommitList | undefined>;

/** The last commits of a folder, which are evidence for its ranking; stored with its index. */
export class FolderHistory {
  readonly #root: string;
  /** Where it is stored. */
  readonly #folder: string;
  #stored: StoredHistory;
  #index: CommitIndex;

  private constructor(root: string, folder: string, stored: StoredHistory) {
    this.#root = root;
    this.#folder = folder;
    this.#stored = stored;
    this.#index = new CommitIndex(stored.commits);
  }

  static async open(root: string, folder: string): Promise<FolderHistory> {
    return new FolderHistory(root, folder, await readCommitFile(folder));
  }

  /** How much past commits speak for each file, from 0 to 1 for the best. */
  votes(query: TermQuery): ReadonlyMap<string, number> {
    return this.#index.votes(query);
  }

  /**
   * Reads the commits that are new, and forgets those that are no longer among the last ones, such as after a rebase.
   *
   * @throws what `read` does, or the system's error if they cannot be stored; they are used all the same.
   */
  async update(
    read: ReadCommits,
    options: { readonly signal: AbortSignal; readonly isStored: boolean },
  ): Promise<void> {
    const commits = new Map(this.#stored.commits.map((commit) => [commit.id, commit]));
    const { head } = this.#stored;
    const list = await read(this.#root, { known: { head, ids: new Set(commits.keys()) }, signal: options.signal });
    if (list === undefined) return;
    for (const commit of list.added) commits.set(commit.id, commit);
    await this.#replace({ head: list.head, commits: list.ids.flatMap((id) => commits.get(id) ?? []) }, options);
  }

  /** Forgets all commits. */
  async clear(options: { readonly isStored: boolean }): Promise<void> {
    if (this.#stored.head !== undefined) await this.#replace({ head: undefined, commits: [] }, options);
  }

  async #replace(history: StoredHistory, { isStored }: { readonly isStored: boolean }): Promise<void> {
    this.#stored = history;
    this.#index = new CommitIndex(history.commits);
    if (isStored) await writeCommitFile(this.#folder, history);
  }
}

/** Reads the history in the folder of an index; none if the file is missing, damaged or of another version. */
async function readCommitFile(folder: string): Promise<StoredHistory> {
  const stored = await readFile(join(folder, FILE), { encoding: 'utf8', flag: NON_BLOCKING_READ }).catch(() => '');
  const end = stored.indexOf('\n');
  const text = stored.slice(end + 1);
  if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return NONE;
  const { version, ...history } = parseOwnJson<StoredHistory & { readonly version: number }>(text);
  return version === VERSION ? history : NONE;
}

/** Replaces the file atomically, or removes it if there are no commits. @throws the system's error; the old file stays then. */
async function writeCommitFile(folder: string, history: StoredHistory): Promise<void> {
  if (history.commits.length === 0) return rm(join(folder, FILE), { force: true });
  const text = JSON.stringify({ version: VERSION, ...history });
  await writeAtomically(join(folder, FILE), `${crc32(text)}\n${text}`);
}

/** The messages of commits, searched like chunks. */
class CommitIndex {
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
    for (const { source, score } of this.#set.topMatches(terms, VOTERS)) {
      const { paths = [] } = this.#commits[Number(source.path)] ?? {};
      for (const path of paths) votes.set(path, (votes.get(path) ?? 0) + score / Math.sqrt(paths.length));
    }
    const most = Math.max(...votes.values());
    return new Map([...votes].map(([path, sum]) => [path, sum / most]));
  }
}
