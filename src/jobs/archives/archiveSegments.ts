import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import type { ArchiveSegment } from '../../workspace/pack/segments.ts';

// Other versions of the program may cut and compress in another way. Segments of another format are not used.
const FORMAT = 2;
const count = z.int().nonnegative();
const storedSegments = z.object({
  format: z.literal(FORMAT),
  segments: z.array(
    z.object({
      bytes: count,
      crc: count,
      packedBytes: count,
      packedCrc: count,
      files: count,
      key: z.string().nullable(),
      pieces: z.base64().transform((text) => Buffer.from(text, 'base64')),
      part: z
        .string()
        .regex(/^[\w-]{1,64}$/)
        .nullable(),
      start: count,
    }),
  ),
});

/** Stores the segments of an archive, which are small, beside it. */
export async function writeSegments(path: string, segments: readonly ArchiveSegment[]): Promise<void> {
  const lines = segments.map((segment) => ({ ...segment, pieces: segment.pieces.toString('base64') }));
  await writeAtomically(path, JSON.stringify({ format: FORMAT, segments: lines }));
}

/** Undefined if none were stored, or in another format, or the file is damaged. */
export async function readSegments(path: string): Promise<readonly ArchiveSegment[] | undefined> {
  return storedSegments.safeParse(tryParseJson(await ifThere(readFile(path, 'utf8'), ''))).data?.segments;
}
