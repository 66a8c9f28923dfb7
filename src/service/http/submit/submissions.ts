import { createHash, hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { truncate } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { digestOf } from '../../../core/files/digest.ts';
import type { submissionStatus } from '../../../remote/protocol/schemas.ts';
import { ResumableUploads } from './resumableUploads.ts';
import { toCredits } from '../../store/accounts/creditLedger.ts';
import type { Store } from '../../store/store.ts';
import type { StoredSubmission } from '../../store/jobs/submissionTable.ts';
import { type AcceptContext, acceptJob, type AcceptedJob, addSubmittedJob, withNewJob } from './acceptJob.ts';
import { RefusalForNow, refusal } from '../access/httpRefusal.ts';
import { isBrokenOff, receiveUpload } from './receiveUpload.ts';

// Clients treat a missing key as proof for one day only; see docs/service/internals.md.
const FORGET_AFTER_MS = 30 * 24 * 3_600_000;
const LOST_CONNECTION_MS = 500;

/** A submission in progress: it is received, then checked, then a job. */
interface Running {
  readonly takeOver: AbortController;
  isChecked: boolean;
  readonly done: Promise<unknown>;
}

export interface Acceptance {
  readonly accepted: AcceptedJob;
  /** False if the same submission was accepted before. */
  readonly isNew: boolean;
}

/**
 * Accepts submissions. Those with the same `Idempotency-Key` become one job, whatever is lost or killed in between
 * (draft-ietf-httpapi-idempotency-key-header). A client that does not know the outcome of its submission requests its status by
 * key, and sends the missing part with `Upload-Offset` (as in draft-ietf-httpbis-resumable-upload).
 */
export class Submissions {
  readonly #uploads: ResumableUploads;
  readonly #running = new Map<string, Running>();
  readonly #isBusy = (path: string): boolean => this.#running.has(path);

  /** @param filesFolder the folder with the files of jobs. */
  constructor(filesFolder: string) {
    this.#uploads = new ResumableUploads(filesFolder);
  }

  /** @throws HTTPException or AppError that says why the submission was refused. */
  async accept(incoming: IncomingMessage, context: AcceptContext, signal: AbortSignal): Promise<Acceptance> {
    const key = keyOf(incoming);
    const offset = offsetOf(incoming);
    if (key === undefined) {
      if (offset !== undefined) throw refusal(400, 'Upload-Offset: requires an Idempotency-Key.');
      return { accepted: await acceptJob(incoming, context, signal), isNew: true };
    }
    const path = this.#uploads.path(context.account, key);
    // Checked again after each wait, because another request may have been faster.
    for (let running = this.#running.get(path); running !== undefined; running = this.#running.get(path)) {
      if (offset === undefined || running.isChecked)
        throw new RefusalForNow('This submission is being processed. Try again soon.');
      // The client has reconnected, so its previous connection is dead.
      running.takeOver.abort(new DOMException('The upload continues in another request.', 'AbortError'));
      await running.done;
    }
    const submission = context.store.submissions.find(context.account, key);
    if (submission !== undefined) {
      return {
        accepted: await acceptAgain(incoming, submission, { ...context, isPart: offset !== undefined }),
        isNew: false,
      };
    }
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const running: Running = { takeOver: new AbortController(), isChecked: false, done };
    this.#running.set(path, running);
    const end = (): void => {
      this.#running.delete(path);
      resolve();
    };
    try {
      const accepted = await this.#take(incoming, { key, path, offset, running }, context, signal);
      end();
      return { accepted, isNew: true };
    } catch (error) {
      end();
      // Uploads in progress beside this one were not counted when space was made for it.
      await this.#uploads.makeRoom(context.account, { bytes: 0, maxBytes: context.maxUploadBytes }, this.#isBusy);
      throw error;
    }
  }

  /** The status of the submission that an account sent with a key. */
  async status(account: string, key: string, store: AcceptContext['store']): Promise<z.infer<typeof submissionStatus>> {
    if (!isKey(key)) throw refusal(400, 'The key must be 1 to 255 printable characters.');
    const path = this.#uploads.path(account, key);
    // The client has lost its connection, but this end may not have noticed, and may still receive data.
    await Promise.race([this.#running.get(path)?.done, sleep(LOST_CONNECTION_MS, undefined, { ref: false })]);
    if (this.#running.get(path)?.isChecked === true) return { state: 'checking', account_id: account };
    // Checked before the store: an upload that is gone has just become a job.
    const receivedBytes = await this.#uploads.size(account, key);
    const submission = store.submissions.find(account, key);
    if (submission === undefined) return { state: 'incomplete', account_id: account, received_bytes: receivedBytes };
    return { state: 'accepted', account_id: account, ...acceptedJobOf(submission, store) };
  }

  /** Deletes uploads and keys that clients no longer need, uploads first because they use disk space. */
  async tidy(store: Pick<Store, 'submissions'>): Promise<void> {
    const now = Date.now();
    await this.#uploads.sweep(now, this.#isBusy);
    store.submissions.forget(now - FORGET_AFTER_MS);
  }

  async #take(
    incoming: IncomingMessage,
    { key, path, offset, running }: { key: string; path: string; offset: number | undefined; running: Running },
    context: AcceptContext,
    signal: AbortSignal,
  ): Promise<AcceptedJob> {
    const { account, maxUploadBytes } = context;
    if (offset === undefined) await this.#uploads.remove(account, key);
    const start = offset ?? 0;
    const receivedBytes = await this.#uploads.size(account, key);
    if (receivedBytes < start)
      throw refusal(409, `Upload-Offset: the service has ${receivedBytes} bytes of the archive.`);
    // More data arrived after the client had requested the status, and is sent again.
    if (receivedBytes > start) await truncate(path, start);
    const bytes = Number(incoming.headers['content-length'] ?? 0) + start;
    await this.#uploads.makeRoom(account, { bytes, maxBytes: maxUploadBytes }, this.#isBusy);
    try {
      const form = await receiveUpload(incoming, {
        openSink: () => createWriteStream(path, { flags: 'a', mode: 0o600 }),
        maxBytes: maxUploadBytes - start,
        roomRefusal: () => context.diskRefusal(0),
        signal: running.takeOver.signal,
      });
      running.isChecked = true;
      const fingerprint = `${hash('sha256', form.meta)}:${await digestOf(path)}`;
      const accepted = await withNewJob(context, async (id) => {
        return addSubmittedJob({ id, received: path, ...form, key: { key, fingerprint } }, context, signal);
      });
      await this.#uploads.remove(account, key);
      return accepted;
    } catch (error) {
      // The client may come back with the rest.
      if (isBrokenOff(error)) throw error;
      await this.#uploads.remove(account, key);
      if (start === 0 || !(error instanceof AppError && error.code === 'corrupt')) throw error;
      throw refusal(409, 'The parts of the archive do not fit together. Send it again from the beginning.');
    }
  }
}

/** Repeats the response for a submission that was accepted before. @throws HTTPException 422 if its contents differ. */
async function acceptAgain(
  incoming: IncomingMessage,
  submission: StoredSubmission,
  { store, maxUploadBytes, isPart }: AcceptContext & { isPart: boolean },
): Promise<AcceptedJob> {
  const archiveHash = createHash('sha256');
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      archiveHash.update(chunk);
      done();
    },
  });
  const { meta } = await receiveUpload(incoming, { openSink: () => sink, maxBytes: maxUploadBytes });
  const [knownMeta, knownArchive] = submission.fingerprint.split(':');
  const isSame = hash('sha256', meta) === knownMeta && (isPart || archiveHash.digest('hex') === knownArchive);
  if (!isSame)
    throw refusal(422, 'Idempotency-Key: another submission had this key. Generate a new key for each submission.');
  return acceptedJobOf(submission, store);
}

function acceptedJobOf({ jobId, creditsRemaining }: StoredSubmission, store: AcceptContext['store']): AcceptedJob {
  return {
    job_id: jobId,
    credit_hold: toCredits(store.jobs.get(jobId)?.hold ?? 0),
    credits_remaining: toCredits(creditsRemaining),
  };
}

/** The key of a request: a structured-field string (`"…"`), or without quotes as some clients send it. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text) ?? [];
  const key = quoted?.replaceAll(/\\(.)/g, '$1') ?? text;
  if (!isKey(key)) throw refusal(400, 'Idempotency-Key: must be 1 to 255 printable characters.');
  return key;
}

function isKey(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

function offsetOf({ headers }: IncomingMessage): number | undefined {
  const value = headers['upload-offset'];
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(String(value))) throw refusal(400, 'Upload-Offset: must be a number of bytes.');
  return Number(value);
}
