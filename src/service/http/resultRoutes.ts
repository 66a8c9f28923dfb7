import type { FileHandle } from 'node:fs/promises';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { RECORD_BYTES } from '../../remote/protocol/contents.ts';
import { PieceBatch } from '../../remote/transfers/pieceBatch.ts';
import type { ResultPieces } from '../contents/resultPieces.ts';
import { openJobFile } from '../jobFiles/jobFileReading.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { STALLED_MS } from '../streams/eventStreams.ts';
import type { AccountGauge } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';
import { abortOnRevocation } from './access/abortOnRevocation.ts';
import { findJob } from './access/findJob.ts';
import type { KeyAuthenticator } from './access/keyAuthenticator.ts';
import { readRequestBody } from './access/readBody.ts';
import { refusal } from './access/httpRefusal.ts';
import type { RouteHandlers } from './apiRoutes.ts';

const CHUNK_BYTES = 256 * 1024;

export interface ResultOptions {
  readonly files: JobFiles;
  readonly gauge: AccountGauge;
  readonly authenticator: KeyAuthenticator;
  readonly resultPieces: ResultPieces;
  readonly store: Store;
}

interface FileAnswer {
  readonly headers: OutgoingHttpHeaders;
  /** A client that receives nothing for this long is disconnected, because it would block a buffer forever. */
  readonly stalledMs: number;
}

/** Sends the results of a job: the archive, and its pieces for clients that have most of them. */
export function resultHandlers({
  files,
  gauge,
  authenticator,
  resultPieces,
  store,
}: ResultOptions): Pick<RouteHandlers, 'results' | 'resultRecords' | 'resultPieces'> {
  /** The path of the results of the job, which counts as one of the account's streams. */
  const begin = (context: AppContext): { readonly job: StoredJob; readonly path: string } => {
    const job = findJob(context, store);
    if (job.finishedAt === null)
      throw refusal(409, `The job is ${job.state}. Its results are available once it has ended.`);
    if (job.filesRemovedAt !== null) {
      const day = new Date(job.filesRemovedAt).toISOString().slice(0, 10);
      throw refusal(
        404,
        `The results of this job were deleted on ${day}, because the service stores results for a limited time.`,
      );
    }
    files.requireThere();
    gauge.take(context, 'streams');
    return { job, path: files.folder(job.id).results };
  };

  return {
    results: async (context) => {
      const { job, path } = begin(context);
      abortOnRevocation(context, authenticator, { isTransfer: true });
      const headers = {
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="results-${job.id}.tar.gz"`,
      };
      const isSent = await sendFile(context.env.outgoing, path, { headers, stalledMs: STALLED_MS });
      if (!isSent) throw noResults(job);
      return RESPONSE_ALREADY_SENT;
    },
    resultRecords: async (context) => {
      const { job, path } = begin(context);
      await using file = await openResults(job, path);
      const records = await resultPieces.records(job.id, file);
      return context.body(new Uint8Array(records), 200, { 'content-type': 'application/octet-stream' });
    },
    resultPieces: async (context) => {
      const { job, path } = begin(context);
      await using file = await openResults(job, path);
      const records = await resultPieces.records(job.id, file);
      const bytes = Math.ceil(records.length / RECORD_BYTES / 8);
      const selection = await readRequestBody(context.env.incoming, bytes);
      if (selection.length !== bytes) throw refusal(400, `The body must have a bit for each piece: ${bytes} bytes.`);
      const signal = AbortSignal.any([
        context.req.raw.signal,
        abortOnRevocation(context, authenticator, { isTransfer: true }),
      ]);
      const { outgoing } = context.env;
      outgoing.setTimeout(STALLED_MS, () => outgoing.destroy());
      outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
      try {
        const batch = new PieceBatch();
        for await (const { name, bytes: piece } of resultPieces.read(file, { records, wanted: selection, signal })) {
          batch.add(name, piece);
          if (batch.isFull && !(await write(outgoing, await batch.take()))) break;
        }
        if (!batch.isEmpty) await write(outgoing, await batch.take());
        outgoing.end();
      } catch {
        // The client asks again for what it did not get.
        outgoing.destroy();
      }
      return RESPONSE_ALREADY_SENT;
    },
  };
}

async function openResults(job: StoredJob, path: string): Promise<FileHandle> {
  const file = await openJobFile(path);
  if (file === undefined) throw noResults(job);
  return file;
}

function noResults({ reason }: StoredJob) {
  return refusal(404, `The job has no results. ${reason ?? ''}`.trim());
}

/**
 * Sends a file of a job, or only its headers for HEAD, through one reused buffer: streams allocate a new one for each piece, and
 * the garbage of a large file is larger than the service.
 *
 * @returns false, without sending anything, if the file does not exist. A client that disconnects early is not an error.
 */
export async function sendFile(
  outgoing: ServerResponse,
  path: string,
  { headers, stalledMs }: FileAnswer,
): Promise<boolean> {
  const file = await openJobFile(path);
  if (file === undefined) return false;
  try {
    const { size } = await file.stat();
    outgoing.setTimeout(stalledMs, () => outgoing.destroy());
    outgoing.writeHead(200, { ...headers, 'content-length': size });
    const end = outgoing.req.method === 'HEAD' ? 0 : size;
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let position = 0; position < end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, end - position), position);
      if (bytesRead === 0 || !(await write(outgoing, buffer.subarray(0, bytesRead)))) break;
      position += bytesRead;
    }
    // If not everything was sent, this ends the connection rather than the response.
    outgoing.end();
    return true;
  } catch (error) {
    outgoing.destroy();
    throw error;
  } finally {
    await file.close();
  }
}

/** Resolves when the bytes have left the buffer; to false if the client has disconnected. */
function write(outgoing: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    outgoing.once('close', onClose);
    outgoing.write(bytes, (error) => {
      outgoing.off('close', onClose);
      resolve(!error);
    });
  });
}
