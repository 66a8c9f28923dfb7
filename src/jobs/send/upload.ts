import { rm, writeFile } from 'node:fs/promises';
import { classifyFailure, type RequestFailure } from '../../core/network/classifyFailure.ts';
import { RemoteError } from '../../remote/http/remoteErrors.ts';
import { statedTerms } from '../../remote/protocol/jobTerms.ts';
import { type JobCreated, receivedJobCreated } from '../../remote/protocol/schemas.ts';
import { DamagedArchive } from '../../workspace/archive/inflateSegment.ts';
import { ArchiveStore, type PackedFiles } from '../archives/archives.ts';
import { readSegments } from '../archives/archiveSegments.ts';
import { writeWhole } from '../archives/archiveTar.ts';
import { contentsOf } from '../contents/archiveContents.ts';
import { type ContentService, sendContents } from '../contents/sendContents.ts';
import { wholeUploadReason } from '../contents/wholeReason.ts';
import type { JobRecord } from '../ledger/record.ts';
import type { JobService } from '../service/api.ts';
import { isSurelyNotSent, outcomeUnknown } from '../service/outcome.ts';
import { askOutcome, ONCE } from './settle.ts';

/** The outcome of an upload: a job, certainly none, or unknown. */
type UploadEnd =
  | { readonly type: 'accepted'; readonly created: JobCreated }
  | { readonly type: 'not-taken' | 'unknown'; readonly error: unknown };

/** `ask`: a response was lost, and the service is asked what it has. `whole`: the upload begins again with everything, for a reason in a sentence. */
export type UploadPhase =
  /** `sentBytes` also counts what was sent again after a lost connection. */
  | { readonly type: 'upload'; readonly doneBytes: number; readonly totalBytes: number; readonly sentBytes: number }
  | { readonly type: 'ask' }
  | { readonly type: 'whole'; readonly reason: string };

interface UploadOptions {
  /** Whether the service takes submissions by content. */
  readonly usesContents: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onPhase: (phase: UploadPhase) => void;
}

export type UploadService = Pick<JobService, 'submitJob' | 'getSubmission'> & Partial<ContentService>;

/** `sentBytes` are those of the requests of one step, with what was sent again. */
type Progress = (done: number, total: number, sentBytes: number) => void;

/** What makes a job when it is posted. */
interface Body {
  readonly part: 'tarball' | 'contents';
  readonly path: string;
  /** Whether the file is only for the upload. */
  readonly isTemporary: boolean;
  /** Makes the file, and sends what the service must have before. False if there is no such file. */
  readonly prepare: (onProgress: Progress) => Promise<boolean>;
  /** How many bytes of the archive are done, by those of the request. */
  readonly doneBytes: (done: number, total: number) => number;
}

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
// How often an upload without progress is continued, and contents are sent that the service lost meanwhile.
const MAX_TRIES = 3;
const OK = 200;
// A user who cancels should not wait for a dead connection; the outcome is found out later.
const CANCELLED_ASK_MS = 3_000;

/**
 * Sends what was packed for a job: what the service lacks of its contents and then their names, or the archive if it is small or has no
 * segments, the service does not take contents, or the connection is too bad for them.
 */
export async function uploadPacked(
  service: UploadService,
  draft: JobRecord,
  home: string,
  { usesContents, signal, onPhase }: UploadOptions,
): Promise<UploadEnd> {
  const totalBytes = draft.archiveBytes ?? 0;
  let sentBytes = 0;
  const counted = (doneBytes: Body['doneBytes']): Progress => {
    const before = sentBytes;
    return (done, total, sent) => {
      sentBytes = before + sent;
      onPhase({ type: 'upload', doneBytes: doneBytes(done, total), totalBytes, sentBytes });
    };
  };
  const store = new ArchiveStore(home);
  const packed = await store.packedFiles(draft.id);
  const archive = archiveBody(store, draft, packed, signal);
  const byContent = usesContents && canSendContents(service) && totalBytes >= LEAST_BYTES;
  const bodies = byContent ? [contentsBody(service, store, draft, packed, signal), archive] : [archive];
  for (const body of bodies) {
    let refused: unknown;
    try {
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        if (!(await body.prepare(counted((done, total) => almost((totalBytes * done) / Math.max(1, total)))))) break;
        const end = await post(service, draft, body, { signal, onPhase, onProgress: counted(body.doneBytes) });
        if (body === archive || end.type !== 'not-taken' || classifyFailure(end.error) !== 'lacking') return end;
        refused = end.error;
      }
    } catch (error) {
      // Nothing sent so far can become a job.
      if (signal?.aborted === true) return { type: 'not-taken', error: signal.reason };
      const isFinal = error instanceof DamagedArchive || REFUSES_ALL.has(classifyFailure(error));
      if (body === archive || isFinal) return { type: 'not-taken', error };
      // An upload of the archive continues where a bad connection interrupted it.
      refused = error;
    } finally {
      if (body.isTemporary) await rm(body.path, { force: true });
    }
    if (refused !== undefined) onPhase({ type: 'whole', reason: wholeUploadReason(refused) });
  }
  throw new Error('The archive is the last of what is sent.');
}

/** The archive. One that refers to other archives is first written as a single file. */
function archiveBody(
  store: ArchiveStore,
  { id }: JobRecord,
  packed: PackedFiles,
  signal: AbortSignal | undefined,
): Body {
  const isTemporary = packed.archive !== store.archivePath(id);
  const path = isTemporary ? store.wholePath(id) : packed.archive;
  const prepare = async (): Promise<true> => {
    if (isTemporary) await writeWhole(packed, path, signal);
    return true;
  };
  return { part: 'tarball', path, isTemporary, prepare, doneBytes: (done) => done };
}

/** The names of the contents of the archive, once the service has all of these. */
function contentsBody(
  service: ContentService,
  store: ArchiveStore,
  { id, archiveBytes }: JobRecord,
  { archive }: PackedFiles,
  signal: AbortSignal | undefined,
): Body {
  const path = store.namesPath(id);
  const prepare = async (onProgress: Progress): Promise<boolean> => {
    const segments = await readSegments(store.segmentsPath(id));
    if (segments === undefined) return false;
    const contents = contentsOf(archive, segments);
    await writeFile(path, Buffer.concat(contents.lists.map(({ name }) => name)), { mode: 0o600 });
    await sendContents(service, contents, { signal, onProgress });
    return true;
  };
  const totalBytes = archiveBytes ?? 0;
  const doneBytes = (done: number, total: number): number => (done < total ? almost(totalBytes) : totalBytes);
  return { part: 'contents', path, isTemporary: true, prepare, doneBytes };
}

/** The last hundredth is for the names. */
function almost(bytes: number): number {
  return Math.floor(0.99 * bytes);
}

function canSendContents(service: UploadService): service is UploadService & ContentService {
  return service.postContents !== undefined;
}

/**
 * Posts a file for a draft, whose ID is the key of the submission. If a response is lost, a service that supports keys is asked what it
 * has: the job, or a number of bytes from which the upload continues. To other services, nothing is sent twice.
 */
async function post(
  service: UploadService,
  draft: JobRecord,
  { path, part }: Body,
  { signal, onPhase, onProgress }: Omit<UploadOptions, 'usesContents'> & { readonly onProgress: Progress },
): Promise<UploadEnd> {
  const { maxRuntime, commandScript } = draft;
  const started = commandScript === null ? { script: draft.script } : { script: commandScript, command: null };
  const isCancelled = (): boolean => signal?.aborted === true;
  let offset: number | undefined;
  let wasSentCompletely = false;
  let allSentBytes = 0;
  for (let tries = 0; ; ) {
    const sent = { sentBytes: offset ?? 0, totalBytes: draft.archiveBytes ?? 0 };
    let error: unknown;
    try {
      const answer = await service.submitJob(
        path,
        { ...statedTerms({ ...draft, ...started }), maxRuntime },
        {
          idempotencyKey: draft.id,
          ...(part === 'contents' && { part }),
          ...(offset !== undefined && { offset }),
          ...(signal !== undefined && { signal }),
          onProgress: (bytes, total = sent.totalBytes) => {
            allSentBytes += bytes - sent.sentBytes;
            Object.assign(sent, { sentBytes: bytes, totalBytes: total });
            onProgress(bytes, total, allSentBytes);
          },
        },
      );
      return { type: 'accepted', created: readCreated(answer) };
    } catch (caught) {
      error = caught;
    }
    // A cancelled upload cannot have created a job unless all of it was sent, in this request or before.
    wasSentCompletely ||= sent.sentBytes >= sent.totalBytes;
    if (isCancelled() && !wasSentCompletely) return { type: 'not-taken', error: signal?.reason };
    // Services that support keys return a conflict while another request with this key is in progress.
    const isConflict = classifyFailure(error) === 'conflict';
    if (isSurelyNotSent(error, { isFirst: offset === undefined }) && !isConflict) return { type: 'not-taken', error };
    onPhase({ type: 'ask' });
    const outcome = await askOutcome(service, draft, {
      signal: isCancelled() ? AbortSignal.timeout(CANCELLED_ASK_MS) : signal,
      ...(isCancelled() && { backoff: ONCE }),
    });
    if (outcome.type === 'accepted') return outcome;
    if (outcome.type === 'unknown' && isConflict) return { type: 'not-taken', error };
    if (outcome.type === 'not-taken' && isCancelled()) return { type: 'not-taken', error: signal?.reason };
    tries = outcome.type === 'not-taken' && outcome.receivedBytes > (offset ?? 0) ? 1 : tries + 1;
    if (outcome.type === 'unknown' || tries > MAX_TRIES) {
      return { type: 'unknown', error: outcomeUnknown(draft.host, { ...sent, isCancelled: isCancelled() }, error) };
    }
    offset = outcome.receivedBytes;
  }
}

/** @throws RemoteError for a job ID that is not plain: it would be stored, and copied into commands. */
function readCreated(answer: JobCreated): JobCreated {
  const { data, error } = receivedJobCreated.safeParse(answer);
  if (data !== undefined) return data;
  throw new RemoteError(
    OK,
    `HTTP ${OK}: the service returned a job ID that cannot be used: it ${error.issues[0]?.message}.`,
  );
}
