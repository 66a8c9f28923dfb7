import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from '../../workspace/archive/tarFormat.ts';

/** The service as it is copied to machines. */
export interface ServiceBundle {
  /** SHA-256 of its contents, in hexadecimal. Names its folder there. */
  readonly build: string;
  readonly version: string;
  /** A .tar.gz. */
  readonly archive: Buffer;
}

// Written by the build: the files that the service consists of.
const manifest = z.object({ version: z.string(), files: z.array(z.string()) });

/**
 * Packs the service. The same files give the same bytes.
 *
 * @param dist the folder with the built program.
 * @throws AppError `missing` if the program is not built.
 */
export async function packService(dist: string): Promise<ServiceBundle> {
  let parsed: z.infer<typeof manifest>;
  try {
    parsed = manifest.parse(JSON.parse(await readFile(join(dist, 'machineService.json'), 'utf8')));
  } catch (cause) {
    throw new AppError(
      'missing',
      `The service for machines is missing in ${dist}. Run npm run build, or reinstall Farwharf.`,
      { cause },
    );
  }
  const { version, files } = parsed;
  const parts: Buffer[] = [];
  const add = (path: string, content: Buffer): void => {
    const header = encodeHeader({ path, size: content.length, mode: 0o600 });
    parts.push(header, content, Buffer.alloc(paddingOf(content.length)));
  };
  for (const path of files) add(path, await readFile(join(dist, path)));
  add('package.json', Buffer.from(JSON.stringify({ version, type: 'module' })));
  parts.push(Buffer.alloc(2 * BLOCK_BYTES));
  const tar = Buffer.concat(parts);
  const build = createHash('sha256').update(tar).digest('hex');
  return { build, version, archive: await promisify(gzip)(tar, { level: 9 }) };
}
