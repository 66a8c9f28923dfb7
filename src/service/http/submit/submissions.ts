import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { truncate } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { HTTPException } from 'hono/http-exception';
import type * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import type { submissionStatus } from '../../../remote/protocol/schemas.ts';
import { ResumableUploads } from './resumableUploads.ts';
import { toCredits } from '../../store/accounts/credits.ts';
import type { Store } from '../../store/store.ts';
import type { StoredSubmission } from '../../store/jobs/submissions.ts';
import { type AcceptContext, acceptJob, type AcceptedJob, addJob, withNewFolder } from './acceptJob.ts';
import { isBrokenOff, receiveUpload } from './upload.ts';

// A client is asked not to trust its absence for longer than a day; see docs/service.md.
const FORGET_AFTER_MS = 30 * 24 * 3_600_000;
const LOST_CONNECTION_MS = 500;

/** A submission on its way: received until it is whole, then checked until it is a job. */
interface Running {
  readonly takeOver: AbortController;
  isChecked: boolean;
  readonly done: Promise<unknown>;
}

export interface Acceptance {
  readonly answer: AcceptedJob;
  /** False where the same submission was accepted before. */
  readonly isNew: boolean;
}

/**
 * Takes submissions, and sees to it that those which carry the same `Idempotency-Key` become one job, whatever is lost or
 * killed in between (draft-ietf-httpapi-idempotency-key-header). A client that does not know what became of its submission
 * asks for it by its key, and sends what is missing with `Upload-Offset` (as draft-ietf-httpbis-resumable-upload has it).
 */
export class Submissions {
  readonly #uploads: ResumableUploads;
  readonly #running = new Map<string, Running>();
  readonly #isBusy = (path: string): boolean => this.#running.has(path);

  /** @param filesFolder the folder that jobs' files are in. */
  constructor(filesFolder: string) {
    this.#uploads = new ResumableUploads(filesFolder);
  }

  /** Takes the submission of a request. @throws HTTPException or AppError that says why it was not taken. */
  async accept(incoming: IncomingMessage, context: AcceptContext, signal: AbortSignal): Promise<Acceptance> {
    const key = keyOf(incoming);
    const offset = offsetOf(incoming);
    if (key === undefined) {
      if (offset !== undefined) throw refusal(400, 'Upload-Offset: it needs an Idempotency-Key.');
      return { answer: await acceptJob(incoming, context, signal), isNew: true };
    }
    const path = this.#uploads.path(context.account, key);
    // Again after each wait: another request may have come first.
    for (let running = this.#running.get(path); running !== undefined; running = this.#running.get(path)) {
      if (offset === undefined || running.isChecked)
        throw refusal(409, 'This submission is being taken. Ask again soon.');
      // Its client came back, so the connection that it came on before is dead.
      running.takeOver.abort(new DOMException('The upload goes on in another request.', 'AbortError'));
      await running.done;
    }
    const known = context.store.submissions.find(context.account, key);
    if (known !== undefined) {
      return { answer: await answerAgain(incoming, known, { ...context, isPart: offset !== undefined }), isNew: false };
    }
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const running: Running = { takeOver: new AbortController(), isChecked: false, done };
    this.#running.set(path, running);
    let answer: AcceptedJob;
    try {
      answer = await this.#take(incoming, { key, path, offset, running }, context, signal);
    } catch (error) {
      this.#running.delete(path);
      resolve();
      // Uploads that were under way beside this one were not counted when room was made for it.
      await this.#uploads.makeRoom(context.account, { bytes: 0, maxBytes: context.maxUploadBytes }, this.#isBusy);
      throw error;
    }
    this.#running.delete(path);
    resolve();
    return { answer, isNew: true };
  }

  /** What became of the submission that an account sent under a key. */
  async status(account: string, key: string, store: AcceptContext['store']): Promise<z.infer<typeof submissionStatus>> {
    if (!isKey(key)) throw refusal(400, 'The key must be 1 to 255 printable characters.');
    const path = this.#uploads.path(account, key);
    // Who asks has lost the connection, which this end may not have noticed yet: then more of it is on its way.
    await Promise.race([this.#running.get(path)?.done, sleep(LOST_CONNECTION_MS, undefined, { ref: false })]);
    if (this.#running.get(path)?.isChecked === true) return { state: 'checking', account_id: account };
    // Looked at before the store: what is not there any more has just become a job.
    const received = await this.#uploads.size(account, key);
    const known = store.submissions.find(account, key);
    if (known === undefined) return { state: 'incomplete', account_id: account, received_bytes: received };
    return { state: 'accepted', account_id: account, ...answerOf(known, store) };
  }

  /** Forgets what nobody will ask for any more; first what takes room on the disk. */
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
    const received = await this.#uploads.size(account, key);
    if (received < start) throw refusal(409, `Upload-Offset: ${received} bytes of the archive are here.`);
    // More of it came after the client had asked: these bytes come again.
    if (received > start) await truncate(path, start);
    const bytes = Number(incoming.headers['content-length'] ?? 0) + start;
    await this.#uploads.makeRoom(account, { bytes, maxBytes: maxUploadBytes }, this.#isBusy);
    try {
      const meta = await receiveUpload(incoming, {
        openSink: () => createWriteStream(path, { flags: 'a', mode: 0o600 }),
        maxBytes: maxUploadBytes - start,
        signal: running.takeOver.signal,
      });
      running.isChecked = true;
      const fingerprint = `${digest(meta)}:${await digestOfFile(path)}`;
      const accepted = await withNewFolder(context.files, (id) =>
        addJob({ id, archive: path, meta, key: { key, fingerprint } }, context, signal),
      );
      await this.#uploads.remove(account, key);
      return accepted;
    } catch (error) {
      // Its client may come back with the rest.
      if (isBrokenOff(error)) throw error;
      await this.#uploads.remove(account, key);
      if (start === 0 || !(error instanceof AppError && error.code === 'corrupt')) throw error;
      throw refusal(409, 'The parts of the archive do not fit together. Send it again from its beginning.');
    }
  }
}

/** Answers what was accepted before, after a look whether it is the same. @throws HTTPException 422 when it is not. */
async function answerAgain(
  incoming: IncomingMessage,
  known: StoredSubmission,
  { store, maxUploadBytes, isPart }: AcceptContext & { isPart: boolean },
): Promise<AcceptedJob> {
  const hash = createHash('sha256');
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done();
    },
  });
  const meta = await receiveUpload(incoming, { openSink: () => sink, maxBytes: maxUploadBytes });
  const [knownMeta, knownArchive] = known.fingerprint.split(':');
  const isSame = digest(meta) === knownMeta && (isPart || hash.digest('hex') === knownArchive);
  if (!isSame)
    throw refusal(422, 'Idempotency-Key: another submission was sent under this key. Make a new one for each.');
  return answerOf(known, store);
}

function answerOf({ jobId, creditsRemaining }: StoredSubmission, store: AcceptContext['store']): AcceptedJob {
  return {
    job_id: jobId,
    credit_hold: toCredits(store.jobs.get(jobId)?.hold ?? 0),
    credits_remaining: toCredits(creditsRemaining),
  };
}

/** The key of a request: a structured-field string (`"…"`), or bare as some clients send it. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text) ?? [];
  const key = quoted?.replaceAll(/\\(.)/g, '$1') ?? text;
  if (!isKey(key)) throw refusal(400, 'Idempotency-Key: give 1 to 255 printable characters.');
  return key;
}

function isKey(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

function offsetOf({ headers }: IncomingMessage): number | undefined {
  const value = headers['upload-offset'];
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(String(value))) throw refusal(400, 'Upload-Offset: give a number of bytes.');
  return Number(value);
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refusal(status: 400 | 409 | 422, message: string): HTTPException {
  return new HTTPException(status, { message });
}
