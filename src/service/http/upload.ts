import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { HTTPException } from 'hono/http-exception';
import { formatBytes } from '../../core/format.ts';

const MAX_META_BYTES = 1 << 20;
const MAX_PARTS = 16;
// A connection that carries nothing for this long is not coming back.
const STALL_MS = 120_000;

/**
 * Streams a `multipart/form-data` body: the part `tarball` into the new file `archive`, whatever its size, and the field
 * `meta` into memory. The parts may come in any order.
 *
 * @returns the text of `meta`.
 * @throws HTTPException 400, 413 or 415, or the error of the connection; `archive` may then be there in part.
 */
export async function receiveUpload(
  incoming: IncomingMessage,
  { archive, maxBytes }: { archive: string; maxBytes: number },
): Promise<string> {
  const contentType = incoming.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw new HTTPException(415, {
      message: 'The body must be multipart/form-data with the parts "tarball" and "meta".',
    });
  }
  const tooLarge = new HTTPException(413, {
    message: `The archive is larger than ${formatBytes(maxBytes)}, the most that this service takes. Leave out large files.`,
  });
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes + MAX_META_BYTES) throw tooLarge;

  const broken = new AbortController();
  const parser = openParser(incoming.headers, contentType, maxBytes);
  let meta: string | undefined;
  let saved: Promise<void> | undefined;
  parser.on('file', (name, stream) => {
    if (name !== 'tarball' || saved !== undefined) {
      stream.resume();
      if (name === 'tarball') parser.destroy(refusal('There is more than one part "tarball".'));
      return;
    }
    stream.once('limit', () => parser.destroy(tooLarge));
    saved = pipeline(stream, createWriteStream(archive, { flags: 'wx', mode: 0o600 }), { signal: broken.signal });
    saved.catch((error: unknown) => parser.destroy(error instanceof Error ? error : undefined));
  });
  parser.on('field', (name, value, _isNameCut, isValueCut) => {
    if (name !== 'meta') return;
    if (isValueCut || meta !== undefined)
      parser.destroy(refusal('The field "meta" must be there once and below 1 MB.'));
    meta = value;
  });
  incoming.setTimeout(STALL_MS, () => incoming.destroy());
  try {
    await pipeline(incoming, parser);
    await saved;
  } catch (error) {
    broken.abort();
    await saved?.catch(() => {});
    throw isFormError(error) ? refusal(`The form cannot be read: ${error.message}.`) : error;
  } finally {
    incoming.setTimeout(0);
  }
  if (saved === undefined) throw refusal('The part "tarball" is missing: the archive, sent as a file.');
  if (meta === undefined) throw refusal('The field "meta" is missing: a JSON object, sent as a text field.');
  return meta;
}

function openParser(headers: IncomingMessage['headers'], contentType: string, maxBytes: number) {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType },
      limits: { fileSize: maxBytes, fieldSize: MAX_META_BYTES, parts: MAX_PARTS },
    });
  } catch (error) {
    throw isFormError(error) ? refusal(`The form cannot be read: ${error.message}.`) : error;
  }
}

function refusal(message: string): HTTPException {
  return new HTTPException(400, { message });
}

/** Busboy's own errors are plain ones; those of files and connections carry a system code. */
function isFormError(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof HTTPException) && !('code' in error) && error.name === 'Error';
}
