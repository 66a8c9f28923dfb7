import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rename, rm } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { AppError, assertNever, messageOf, systemCode } from '../../../core/errors.ts';
import {
  type FileEvent,
  type FileHeader,
  isFilePath,
  type JobFile,
  MOST_NAMED_FILES,
} from '../../../remote/tunnel/fileChannels.ts';
import { writeLine } from '../../../remote/tunnel/tunnelProtocol.ts';
import { decodeName } from '../../../workspace/archive/tarFields.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from '../../../workspace/archive/tarFormat.ts';
import { fileTimeOf } from '../../../workspace/files/fileTime.ts';
import { InsideFolder, joinName } from './insideFolder.ts';

// Folders may have 100,000 entries, so they are inspected in batches.
const ENTRIES_AT_ONCE = 128;
// A path has up to 4,096 characters, each of them escaped with six. A line has at most 256 KB.
const MAX_ENTRIES_LENGTH = 64 * 1024;
const READ_BYTES = 256 * 1024;
const CODES = ['missing', 'permission', 'bad-input', 'conflict'] as const;
const NS_PER_MS = 1_000_000n;
const EXECUTABLE = 0o111n;

type Send = (event: FileEvent) => Promise<void>;

/**
 * Does what a client asks of the folder of a job.
 *
 * @param stream the channel that the header names, for the bytes of files.
 */
export async function serveFiles(
  control: Duplex,
  header: FileHeader,
  { folder, stream }: { readonly folder: string; readonly stream: Duplex | undefined },
): Promise<void> {
  control.resume(); // the client only closes it
  const send: Send = (event) => write(control, writeLine(event));
  await using inside = new InsideFolder(folder);
  try {
    await serve(inside, header, { send, stream });
  } catch (error) {
    if (!control.destroyed) await send({ type: 'failed', ...failureOf(error) }).catch(() => {});
  } finally {
    control.end();
    stream?.end();
    stream?.resume();
  }
}

async function serve(
  inside: InsideFolder,
  header: FileHeader,
  { send, stream }: { readonly send: Send; readonly stream: Duplex | undefined },
): Promise<void> {
  const { path } = header;
  if (header.type === 'stat') return send({ type: 'entries', entries: [await fileAt(inside, path)] });
  if (header.type === 'list') {
    for await (const entries of entriesOf(inside, path, header)) await sendEntries(entries, send);
    return send({ type: 'end', isChanged: false });
  }
  if (stream === undefined) throw new AppError('bad-input', 'The request names no stream.');
  if (header.type === 'read') return sendFile(inside, header, { send, stream });
  if (header.type === 'archive') return send({ type: 'end', ...(await sendArchive(inside, path, stream)) });
  if (header.type === 'write') {
    await receiveFile(inside, header, stream);
    return send({ type: 'entries', entries: [await fileAt(inside, path)] });
  }
  return assertNever(header);
}

/** Sends entries in lines that are not too long for the client. */
async function sendEntries(entries: readonly JobFile[], send: Send): Promise<void> {
  let some: JobFile[] = [];
  let length = 0;
  for (const entry of entries) {
    some.push(entry);
    length += JSON.stringify(entry).length;
    if (length < MAX_ENTRIES_LENGTH) continue;
    await send({ type: 'entries', entries: some });
    [some, length] = [[], 0];
  }
  if (some.length > 0) await send({ type: 'entries', entries: some });
}

/** The entries of a folder, in batches; with `isDeep`, those of its folders too. No link is followed to more entries. */
async function* entriesOf(
  inside: InsideFolder,
  folder: string,
  { isDeep }: { readonly isDeep: boolean },
): AsyncGenerator<readonly JobFile[], void> {
  const folders = [folder];
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    try {
      for await (const entries of entriesIn(inside, path)) {
        yield entries;
        if (isDeep) folders.push(...entries.flatMap((entry) => (isRealFolder(entry) ? entry.path : [])));
      }
    } catch (error) {
      // It was removed since its parent was listed, or the job itself may not read it.
      if (path === folder || !(error instanceof AppError)) throw error;
    }
  }
}

async function* entriesIn(inside: InsideFolder, path: string): AsyncGenerator<readonly JobFile[], void> {
  await using pinned = await inside.pin(path);
  if (!pinned.stats.isDirectory()) throw new AppError('bad-input', `${path} is not a folder.`);
  const prefix = path === '' ? '' : `${path}/`;
  let names: string[] = [];
  const inspect = async (): Promise<readonly JobFile[]> => {
    const entries = await Promise.all(names.map((name) => entryIn(inside, pinned.at, { prefix, name })));
    names = [];
    return entries.filter((entry) => entry !== undefined);
  };
  // In this encoding, each character is a byte of the name.
  const options = { encoding: 'latin1', bufferSize: ENTRIES_AT_ONCE } as const;
  for await (const { name } of await opendir(pinned.at, options)) {
    names.push(decodeName(Buffer.from(name, 'latin1')));
    if (names.length === ENTRIES_AT_ONCE) yield await inspect();
  }
  yield await inspect();
}

/** @returns undefined for one that is gone, or whose path is too long. */
async function entryIn(
  inside: InsideFolder,
  folder: string,
  { prefix, name }: { readonly prefix: string; readonly name: string },
): Promise<JobFile | undefined> {
  const path = prefix + name;
  if (!isFilePath(path)) return undefined;
  const stats = await lstat(joinName(folder, name), { bigint: true }).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isSymbolicLink()) return describe(path, stats, false);
  const target = await fileAt(inside, path).catch(() => undefined);
  return { ...(target ?? describe(path, stats, true)), isLink: true };
}

async function fileAt(inside: InsideFolder, path: string): Promise<JobFile> {
  await using pinned = await inside.pin(path);
  return describe(path, pinned.stats, false);
}

function describe(path: string, stats: BigIntStats, isLink: boolean): JobFile {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
  const modified = Number(stats.mtimeNs / NS_PER_MS);
  return { path, type, size: type === 'file' ? Number(stats.size) : 0, modified, isLink };
}

function isRealFolder({ type, isLink }: JobFile): boolean {
  return type === 'folder' && !isLink;
}

async function sendFile(
  inside: InsideFolder,
  { path, offset, length = Infinity }: Extract<FileHeader, { type: 'read' }>,
  { send, stream }: { readonly send: Send; readonly stream: Duplex },
): Promise<void> {
  await using file = await openFile(inside, path);
  const size = Number(file.stats.size);
  await send({ type: 'entries', entries: [describe(path, file.stats, false)] });
  await copy(file.handle, stream, { start: offset, length: Math.min(Math.max(0, size - offset), length) });
  const isChanged = await hasChanged(inside, path, file);
  stream.end();
  await send({ type: 'end', isChanged });
}

async function sendArchive(
  inside: InsideFolder,
  folder: string,
  stream: Duplex,
): Promise<Omit<Extract<FileEvent, { skipped: unknown }>, 'type'>> {
  const skipped = { paths: [] as string[], count: 0 };
  const changed = { paths: [] as string[], count: 0 };
  const note = (list: typeof skipped, path: string): void => {
    list.count += 1;
    if (list.paths.length < MOST_NAMED_FILES) list.paths.push(path);
  };
  for await (const entries of entriesOf(inside, folder, { isDeep: true })) {
    for (const entry of entries) {
      if (isRealFolder(entry)) continue;
      const name = folder === '' ? entry.path : entry.path.slice(folder.length + 1);
      const isTaken = entry.type === 'file' && !entry.isLink && name.isWellFormed();
      const state = isTaken ? await sendEntry(inside, { path: entry.path, name }, stream) : 'skipped';
      if (state !== 'whole') note(state === 'skipped' ? skipped : changed, entry.path);
    }
  }
  await write(stream, Buffer.alloc(2 * BLOCK_BYTES));
  stream.end();
  return { skipped, changed };
}

async function sendEntry(
  inside: InsideFolder,
  { path, name }: { readonly path: string; readonly name: string },
  stream: Duplex,
): Promise<'whole' | 'changed' | 'skipped'> {
  await using file = await openFile(inside, path).catch((error: unknown) => {
    if (error instanceof AppError) return undefined; // it was removed or replaced, or the job itself may not read it
    throw error;
  });
  if (file === undefined) return 'skipped';
  const { stats, handle } = file;
  const size = Number(stats.size);
  const mode = (stats.mode & EXECUTABLE) === 0n ? 0o644 : 0o755;
  await write(stream, encodeHeader({ path: name, size, mode, mtime: fileTimeOf(stats) }));
  let missing = size - (await copy(handle, stream, { start: 0, length: size }));
  const isChanged = missing > 0 || (await hasChanged(inside, path, file));
  for (missing += paddingOf(size); missing > 0; missing -= READ_BYTES) {
    await write(stream, Buffer.alloc(Math.min(missing, READ_BYTES)));
  }
  return isChanged ? 'changed' : 'whole';
}

interface OpenJobFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** @throws AppError `bad-input` for what is not a regular file, which is never opened. */
async function openFile(inside: InsideFolder, path: string): Promise<OpenJobFile> {
  await using pinned = await inside.pin(path);
  if (!pinned.stats.isFile()) {
    const what = pinned.stats.isDirectory() ? 'a folder' : 'not a regular file';
    throw new AppError('bad-input', `${path} is ${what}, and cannot be read.`);
  }
  const handle = await pinned.read().catch((error: unknown) => {
    if (systemCode(error) !== 'EACCES') throw error;
    throw new AppError('permission', `The job itself may not read ${path}.`, { cause: error });
  });
  return { handle, stats: await handle.stat({ bigint: true }), [Symbol.asyncDispose]: () => handle.close() };
}

/** Whether a file was written since it was opened, or another one has its path. */
async function hasChanged(inside: InsideFolder, path: string, { handle, stats }: OpenJobFile): Promise<boolean> {
  const now = await handle.stat({ bigint: true });
  if (now.size !== stats.size || now.mtimeNs !== stats.mtimeNs) return true;
  await using pinned = await inside.pin(path).catch(() => undefined);
  return pinned?.stats.ino !== stats.ino || pinned.stats.dev !== stats.dev;
}

/** @returns how many bytes there were. */
async function copy(
  handle: FileHandle,
  stream: Duplex,
  { start, length }: { readonly start: number; readonly length: number },
): Promise<number> {
  for (let done = 0; ; ) {
    // The channel keeps the bytes until they are sent.
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, length - done));
    if (buffer.length === 0) return done;
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start + done);
    if (bytesRead === 0) return done;
    done += bytesRead;
    await write(stream, buffer.subarray(0, bytesRead));
  }
}

/** Writes a file beside the old one, and puts it in its place once it is complete. */
async function receiveFile(
  inside: InsideFolder,
  { path, size }: Extract<FileHeader, { type: 'write' }>,
  stream: Duplex,
): Promise<void> {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  if (name === '') throw new AppError('bad-input', 'The request names no file.');
  await using folder = await inside.pin(slash === -1 ? '' : path.slice(0, slash));
  if (!folder.stats.isDirectory()) throw new AppError('bad-input', `${path} is not in a folder.`);
  const target = joinName(folder.at, name);
  const former = await lstat(target).catch(() => undefined);
  if (former !== undefined && !former.isFile() && !former.isSymbolicLink()) {
    throw new AppError('bad-input', `${path} is not a regular file, and cannot be replaced.`);
  }
  const partial = joinName(folder.at, `.${randomBytes(8).toString('hex')}.part`);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  try {
    await using handle = await open(
      partial,
      O_WRONLY | O_CREAT | O_EXCL,
      former?.isFile() === true ? former.mode : 0o666,
    );
    let received = 0;
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) continue;
      received += chunk.length;
      if (received > size) break;
      await handle.writeFile(chunk);
    }
    if (received !== size)
      throw new AppError('bad-input', 'Not all bytes of the file arrived, so it was not replaced.');
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Writes to a channel, and waits until it takes more. @throws if it is closed. */
function write(channel: Duplex, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    channel.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

function failureOf(error: unknown): Pick<Extract<FileEvent, { type: 'failed' }>, 'code' | 'message'> {
  if (systemCode(error) === 'ENOSPC' || systemCode(error) === 'EDQUOT') {
    return { code: 'no-space', message: 'The disk of the job is full.' };
  }
  const code = CODES.find((each) => error instanceof AppError && error.code === each);
  return { code: code ?? 'refused', message: messageOf(error) };
}
