import type { BigIntStats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  assertUnchanged,
  changed,
  type OpenFile,
  openRegularFile,
  readExactly,
  UnreadableFile,
} from '../files/fileReading.ts';
import { isOpenedInside } from '../files/openedPath.ts';
import { freeMemory } from '../../core/files/ownMemory.ts';
import type { SelectedFile } from '../select/selection.ts';

// Small files are read completely in advance. Most of their cost is opening them, which can overlap.
const SMALL_FILE_BYTES = 1 << 20;
const FILES_AHEAD = 24;
const BYTES_AHEAD = 8 << 20;
// A file that changes while it is read is read again before that is an error, because editors save quickly.
const ATTEMPTS = 3;

/** The bytes of a small file, or an open large file. Both are valid until the next file is requested. */
export type FileContent = Opened &
  (
    | { readonly type: 'bytes'; readonly bytes: Buffer<ArrayBuffer> }
    | { readonly type: 'open'; readonly open: OpenFile }
  );

/** A file that could not be read. */
export interface FailedFile {
  readonly type: 'failed';
  readonly file: SelectedFile;
  readonly error: UnreadableFile;
}

interface Opened {
  readonly file: SelectedFile;
  /** Before any of it was read. */
  readonly stats: BigIntStats;
  /** When it was opened, in milliseconds since 1970. */
  readonly openedAt: number;
}

/** Yields the contents of files in order, or why there is none, with a bounded number of small ones read in advance. Closes the files. */
export async function* readAhead(
  root: string,
  files: readonly SelectedFile[],
  signal?: AbortSignal,
): AsyncGenerator<FileContent | FailedFile, void> {
  const folder: Folder = { root, realRoot: await realpath(root), parents: new Map() };
  const queue: { readonly size: number; readonly content: Promise<FileContent | FailedFile> }[] = [];
  let next = 0;
  let bytesAhead = 0;
  try {
    for (;;) {
      for (let file = files[next]; file !== undefined; file = files[next]) {
        const isFull = queue.length >= FILES_AHEAD || bytesAhead + file.size > BYTES_AHEAD;
        if (isFull && queue.length > 0) break;
        next += 1;
        bytesAhead += file.size;
        const content = readContent(folder, file);
        content.catch(() => {}); // reported when it is awaited
        queue.push({ size: file.size, content });
      }
      signal?.throwIfAborted();
      const first = queue.shift();
      if (first === undefined) return;
      const content = await first.content;
      try {
        yield content;
      } finally {
        await release(content);
      }
      bytesAhead -= first.size;
    }
  } finally {
    for (const result of await Promise.allSettled(queue.map(({ content }) => content))) {
      if (result.status === 'fulfilled') await release(result.value);
    }
  }
}

async function release(content: FileContent | FailedFile): Promise<void> {
  if (content.type === 'open') await content.open.handle.close();
  else if (content.type === 'bytes') freeMemory(content.bytes);
}

interface Folder {
  readonly root: string;
  readonly realRoot: string;
  /** Checks of the folders inside it, which must not be links. */
  readonly parents: Map<string, Promise<void>>;
}

async function readContent(folder: Folder, file: SelectedFile): Promise<FileContent | FailedFile> {
  try {
    return await openContent(folder, file);
  } catch (error) {
    if (error instanceof UnreadableFile) return { type: 'failed', file, error };
    throw error;
  }
}

async function openContent(folder: Folder, file: SelectedFile): Promise<FileContent> {
  const { root, parents } = folder;
  if (file.source === undefined) await assertRealParents(root, file.path, parents);
  for (let attempt = 1; ; attempt++) {
    const openedAt = Date.now();
    const open = await openRegularFile(file.source ?? join(root, file.path), file.path);
    if (!(await isSelectedFile(open.handle.fd, folder, file))) {
      await open.handle.close();
      throw changed(file.path);
    }
    const opened = { file, stats: open.stats, openedAt };
    if (open.size > SMALL_FILE_BYTES) return { type: 'open', ...opened, open };
    try {
      const bytes = Buffer.allocUnsafeSlow(open.size);
      await readExactly(open, bytes, 0, file.path);
      await assertUnchanged(open, file.path);
      return { type: 'bytes', ...opened, bytes };
    } catch (error) {
      if (!(error instanceof UnreadableFile) || attempt === ATTEMPTS) throw error;
    } finally {
      await open.handle.close();
    }
  }
}

/** Whether an open file is the selected one: a link may lead elsewhere by now, and a folder may have been replaced by a link. */
async function isSelectedFile(
  descriptor: number,
  { root, realRoot }: Folder,
  { path, source, isLinked }: SelectedFile,
): Promise<boolean> {
  if (source === undefined) return isOpenedInside(descriptor, realRoot, path);
  if (!isLinked) return true;
  const target = await realpath(join(root, path)).catch((): undefined => undefined);
  return target === source && isOpenedInside(descriptor, dirname(source), basename(source));
}

/** A folder that was replaced by a link after the selection could lead out of the workspace. @throws UnreadableFile `conflict`. */
function assertRealParents(root: string, path: string, checks: Map<string, Promise<void>>): Promise<void> {
  const parent = dirname(path);
  if (parent === '.') return Promise.resolve();
  const earlier = checks.get(parent);
  if (earlier !== undefined) return earlier;
  const check = async (): Promise<void> => {
    await assertRealParents(root, parent, checks);
    const stats = await lstat(join(root, parent)).catch((): undefined => undefined);
    if (!stats?.isDirectory()) throw changed(path);
  };
  const checked = check();
  checks.set(parent, checked);
  return checked;
}
