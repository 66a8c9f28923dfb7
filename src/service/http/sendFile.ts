import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { openJobFile } from '../jobFiles/jobFileReading.ts';

const CHUNK_BYTES = 256 * 1024;

export interface FileAnswer {
  readonly headers: OutgoingHttpHeaders;
  /** A client that receives nothing for this long is disconnected, because it would block a buffer forever. */
  readonly stalledMs: number;
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
export function write(outgoing: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    outgoing.once('close', onClose);
    outgoing.write(bytes, (error) => {
      outgoing.off('close', onClose);
      resolve(!error);
    });
  });
}
