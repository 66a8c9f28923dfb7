import { rm, writeFile } from 'node:fs/promises';
import { ArchiveStore } from '../archives/archives.ts';
import { readSegments } from '../archives/archiveSegments.ts';
import { contentsOf } from '../contents/archiveContents.ts';
import { type ContentService, sendContents } from '../contents/sendContents.ts';
import type { JobRecord } from '../ledger/record.ts';
import { classifyFailure, type RequestFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';
import { DamagedArchive } from '../../workspace/archive/inflateSegment.ts';
import { type UploadEnd, type UploadReports, uploadArchive } from './uploadArchive.ts';
import { wholeUploadReason } from '../contents/wholeReason.ts';

// Below this, asking what the service has costs more than sending it.
const LEAST_BYTES = 32 * 1024;
// For these failures, the archive would be refused too. A service without room, or with a different format of contents, gets the archive.
const REFUSES_ALL: ReadonlySet<RequestFailure> = new Set([
  'unauthorized',
  'unpaid',
  'forbidden',
  'busy',
  'unavailable',
]);
const MAX_TRIES = 3;

/** The archive itself should be sent. */
export interface WholeArchive {
  readonly type: 'whole';
  /** A sentence that says why, if contents were tried. */
  readonly reason?: string;
  /** Bytes of the requests for contents. */
  readonly sentBytes: number;
}

type Service = Pick<JobService, 'submitJob' | 'getSubmission'> & ContentService;

/**
 * Sends what the service lacks of an archive, and then the names of its contents in its place.
 *
 * @returns `whole` if the archive is small or has no segments, the service does not take its contents, or the connection is too bad for them.
 */
export async function uploadContents(
  service: Service,
  draft: JobRecord,
  home: string,
  { signal, onProgress, onAsk }: Omit<UploadReports, 'part'>,
): Promise<UploadEnd | WholeArchive> {
  const totalBytes = draft.archiveBytes ?? 0;
  if (totalBytes < LEAST_BYTES) return { type: 'whole', sentBytes: 0 };
  const store = new ArchiveStore(home);
  const names = store.namesPath(draft.id);
  let sentBytes = 0;
  const report = (share: number, sent: number): void => onProgress(Math.floor(share * totalBytes), totalBytes, sent);
  try {
    const segments = await readSegments(store.segmentsPath(draft.id));
    if (segments === undefined) return { type: 'whole', sentBytes };
    const contents = contentsOf((await store.packedFiles(draft.id)).archive, segments);
    await writeFile(names, Buffer.concat(contents.lists.map(({ name }) => name)), { mode: 0o600 });
    for (let tries = 1; ; tries += 1) {
      const before = sentBytes;
      await sendContents(service, contents, {
        signal,
        onProgress: (done, total, sent) => {
          sentBytes = before + sent;
          report((0.99 * done) / Math.max(1, total), sentBytes);
        },
      });
      const sentContents = sentBytes;
      const end = await uploadArchive(service, draft, names, {
        signal,
        part: 'contents',
        onProgress: (done, total, sent) => {
          sentBytes = sentContents + sent;
          report(done < total ? 0.99 : 1, sentBytes);
        },
        onAsk,
      });
      if (end.type !== 'not-taken' || classifyFailure(end.error) !== 'lacking') return end;
      if (tries === MAX_TRIES) return { type: 'whole', reason: wholeUploadReason(end.error), sentBytes };
    }
  } catch (error) {
    // Nothing sent so far can become a job.
    if (signal?.aborted === true) return { type: 'not-taken', error: signal.reason };
    if (error instanceof DamagedArchive) return { type: 'not-taken', error };
    // An upload of the archive continues where a bad connection interrupted it.
    if (REFUSES_ALL.has(classifyFailure(error))) return { type: 'not-taken', error };
    return { type: 'whole', reason: wholeUploadReason(error), sentBytes };
  } finally {
    await rm(names, { force: true });
  }
}
