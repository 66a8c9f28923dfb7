import { type TarEntry, TarReader } from '../../workspace/archive/tarReader.ts';
import type { PackedFiles } from './archives.ts';
import { readTar } from './archiveTar.ts';

/** Larger files are not read, because they are not source code. */
export const MAX_FILE_BYTES = 5_000_000;
const MAX_TOTAL_BYTES = 20_000_000;

/**
 * Reads files of an archive. Those that it does not contain, that are larger than 5 MB, or that exceed 20 MB together are missing in
 * the result.
 *
 * @throws as `readTar`.
 */
export async function readArchivedFiles(
  archive: Pick<PackedFiles, 'archive' | 'segments'>,
  paths: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  let missing = paths.size;
  let total = 0;
  let wanted: TarEntry | undefined;
  let parts: Buffer[] = [];
  const reader = new TarReader({
    begin: (entry) => {
      const isWanted = paths.has(entry.name) && entry.size <= MAX_FILE_BYTES && total + entry.size <= MAX_TOTAL_BYTES;
      wanted = isWanted ? entry : undefined;
      parts = [];
    },
    data: (bytes) => {
      if (wanted !== undefined) parts.push(Buffer.from(bytes));
    },
    end: () => {
      if (wanted === undefined) return;
      contents.set(wanted.name, Buffer.concat(parts));
      total += wanted.size;
      missing -= 1;
    },
  });
  for await (const chunk of readTar(archive, signal)) {
    reader.write(chunk);
    if (missing === 0) break;
  }
  return contents;
}
