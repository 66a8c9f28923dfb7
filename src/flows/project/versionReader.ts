import { createHash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { CommitFiles, type FileRevision, fileRevisions } from '../../workspace/git/fileHistory.ts';
import { readFlows } from './flowProject.ts';
import type { FlowReader } from './flowReader.ts';
import { type ComparedFlows, compareFlows, type FlowVersion } from './flowChanges.ts';
import type { FlowFile, FlowNode, SourceRange } from '../graph/graph.ts';

// Each round reads the files that those of the last one import.
const MOST_ROUNDS = 30;

type SourceHashes = Readonly<Record<string, string>>;

/** Reads and compares versions of a flow's files in an editor's thread. Nothing is checked out and nothing runs. */
export class VersionReader {
  readonly #reader: Pick<FlowReader, 'read' | 'textOf'>;

  constructor(reader: Pick<FlowReader, 'read' | 'textOf'>) {
    this.#reader = reader;
  }

  /** The commits that changed the file, the newest first. */
  revisions(file: string): Promise<readonly FileRevision[]> {
    return fileRevisions(file);
  }

  /**
   * Compares two versions of a file.
   *
   * @param before and `after`: a commit, or null for the current text.
   * @throws AppError `missing` if a commit does not have the file, `limit` if its flow needs too many files.
   */
  async compare(file: string, before: string | null, after: string | null): Promise<ComparedFlows> {
    const [one, other] = await Promise.all([this.#version(file, before), this.#version(file, after)]);
    return compareFlows(one, other);
  }

  async #version(file: string, commit: string | null): Promise<FlowVersion> {
    if (commit === null) {
      const current = this.#reader.read(file);
      return { file: current, hashes: sourceHashes(current, (path) => this.#reader.textOf(path)) };
    }
    await using files = await CommitFiles.open(file, commit);
    return await readVersion(file, (path) => files.read(path));
  }
}

/**
 * Reads the flows of a file whose text, and those of the files that it imports, are found asynchronously.
 *
 * @throws AppError `missing` if the file itself is not found.
 */
export async function readVersion(
  file: string,
  read: (file: string) => Promise<string | undefined>,
): Promise<FlowVersion> {
  const text = await read(file);
  if (text === undefined) throw new AppError('missing', 'That revision does not have this file.');
  const textOfFile = new Map<string, string | undefined>([[file, text]]);
  for (let round = 0; ; round += 1) {
    const paths = new Set<string>();
    const find = (path: string): string | undefined => {
      if (!textOfFile.has(path)) paths.add(path);
      return textOfFile.get(path);
    };
    const host = { version: (path: string) => (find(path) === undefined ? undefined : 1), read: find };
    const flows = readFlows(file, text, host);
    if (paths.size === 0 || round === MOST_ROUNDS) return { file: flows, hashes: sourceHashes(flows, find) };
    for (const path of paths) textOfFile.set(path, await read(path));
  }
}

/**
 * A hash of the source of each node (its creation and its class) by `flow/node`, their ids in the graph.
 *
 * @param textOf returns the text of a file in the graph; nodes of files without text are left out.
 */
export function sourceHashes({ flows }: FlowFile, textOf: (file: string) => string | undefined): SourceHashes {
  const hashes: Record<string, string> = {};
  for (const flow of flows) {
    for (const node of flow.nodes) {
      const texts = rangesOf(node).map(({ file, start, end }) => textOf(file)?.slice(start.offset, end.offset));
      if (texts.includes(undefined)) continue;
      hashes[`${flow.id}/${node.id}`] = createHash('sha256').update(texts.join('\n')).digest('base64url').slice(0, 22);
    }
  }
  return hashes;
}

/** Classes of the library have no source here, and inherited hooks are outside the class. */
function rangesOf({ ranges }: FlowNode): readonly SourceRange[] {
  const { instance, class: own, prep, exec, post } = ranges;
  return [instance, own, prep, exec, post].filter((range) => range !== undefined);
}
