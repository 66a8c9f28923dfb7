import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import type { HTTPException } from 'hono/http-exception';
import { AppError, abortReason, isAbort, messageOf, systemCode } from '../../../core/errors.ts';
import { formatBytes } from '../../../core/text/format.ts';
import { refusal } from '../access/httpRefusal.ts';
import { endStalled } from '../access/readBody.ts';

const MAX_META_BYTES = 1 << 20;
const MAX_PARTS = 16;
const CHECKED_BYTES = 1 << 20;

/** What was sent as a file: an archive, or the names of its contents. */
type UploadPart = 'tarball' | 'contents';

export interface ReceivedForm {
  readonly meta: string;
  readonly part: UploadPart;
}

interface UploadOptions {
  readonly openSink: () => Writable;
  readonly maxBytes: number;
  /** Returns why no more can be stored; undefined while there is room. Not needed for a sink that stores nothing. */
  readonly roomRefusal?: () => Promise<string | undefined>;
  readonly signal?: AbortSignal;
}

/**
 * Streams a `multipart/form-data` body: the part `tarball`, of any size, or `contents`, to the sink of `openSink`, and the field `meta`
 * to memory. The parts may come in any order.
 *
 * @returns the text of `meta`, and which part there was.
 * @throws HTTPException 400, 413 or 415, the error of the connection or the signal's reason; the sink may then have a part.
 */
export async function receiveUpload(
  incoming: IncomingMessage,
  { openSink, maxBytes, signal, roomRefusal }: UploadOptions,
): Promise<ReceivedForm> {
  const contentType = incoming.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw refusal(415, 'The body must be multipart/form-data with the parts "tarball" and "meta".');
  }
  refuseDeclaredSize(Number(incoming.headers['content-length'] ?? 0), maxBytes);
  const parser = openParser(incoming.headers, contentType, maxBytes);
  using _stall = endStalled(incoming);
  const broken = new AbortController();
  let meta: string | undefined;
  let saved: Promise<void> | undefined;
  let part: UploadPart = 'tarball';
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('file', (name, stream) => {
        // An interrupted part emits an error of its own, which would end the process without a listener. Why a part could not be stored is the
        // error of the pipeline, which comes after this one.
        stream.on('error', (error) => saved === undefined && reject(error));
        if (isUploadPart(name) && saved === undefined) {
          part = name;
          stream.once('limit', () => reject(tooLarge(maxBytes)));
          saved = pipeline(stream, whileRoom(roomRefusal ?? (async () => undefined)), openSink(), {
            signal: broken.signal,
          });
          saved.catch(reject);
        } else {
          stream.resume();
          if (isUploadPart(name)) reject(refusal(400, 'The body has more than one part "tarball".'));
        }
      });
      parser.on('field', (name, value, _isNameCut, isValueCut) => {
        if (name !== 'meta') return;
        if (isValueCut || meta !== undefined)
          reject(refusal(400, 'The body must have one field "meta", smaller than 1 MB.'));
        meta = value;
      });
      parser.once('finish', resolve);
      parser.on('error', (error: Error) => reject(unreadable(error)));
      // Otherwise the parser would never end if received data was not read yet.
      const endIfLost = (): void => {
        if (!incoming.readableEnded) reject(new DOMException('The connection was lost.', 'AbortError'));
      };
      incoming.once('close', endIfLost);
      if (incoming.destroyed) endIfLost();
      signal?.addEventListener('abort', () => reject(abortReason(signal)), { once: true });
      incoming.pipe(parser);
    });
    await saved;
  } catch (error) {
    // The rest of the body is read and dropped, so that the client reads the response.
    incoming.unpipe(parser);
    incoming.resume();
    broken.abort();
    await saved?.catch(() => {});
    throw error;
  }
  if (saved === undefined) throw refusal(400, 'The part "tarball" is missing: the archive, sent as a file.');
  if (meta === undefined) throw refusal(400, 'The field "meta" is missing: a JSON object, sent as a text field.');
  return { meta, part };
}

/** @throws HTTPException 413 if the body of a submission is declared to be larger than an archive of the account may be. */
export function refuseDeclaredSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes + MAX_META_BYTES) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): HTTPException {
  return refusal(
    413,
    `The archive is larger than ${formatBytes(maxBytes)}, the limit of this account. Leave out large files, or ask the operator of the service.`,
  );
}

function isUploadPart(name: string | undefined): name is UploadPart {
  return name === 'tarball' || name === 'contents';
}

/** Whether a request failed because its connection was closed, rather than because of its contents. */
export function isBrokenOff(error: unknown): boolean {
  return isAbort(error) || ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(systemCode(error) ?? '');
}

/** Ends an upload that fills the disk: uploads that began at the same time found room for each of them. */
function whileRoom(refusal: () => Promise<string | undefined>) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let unchecked = 0;
    for await (const chunk of source) {
      unchecked += chunk.length;
      if (unchecked >= CHECKED_BYTES) {
        unchecked = 0;
        const reason = await refusal();
        if (reason !== undefined) throw new AppError('no-space', reason);
      }
      yield chunk;
    }
  };
}

function openParser(headers: IncomingMessage['headers'], contentType: string, maxBytes: number) {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType },
      limits: { fileSize: maxBytes, fieldSize: MAX_META_BYTES, parts: MAX_PARTS },
    });
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): Error {
  return refusal(400, `The form cannot be read: ${messageOf(error).replace(/\.+$/, '')}.`);
}
