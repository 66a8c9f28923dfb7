import type { Socket } from 'node:net';
import { systemCode } from '../../core/errors.ts';

type Done = (error?: Error | null) => void;

/**
 * Delays the error of a failed write until everything that the service sent has been read.
 *
 * A service that refuses a large upload responds and closes the connection while the rest is still being sent. The next write then fails
 * with EPIPE or ECONNRESET, on which Node destroys the socket, with a response that has arrived but was not read yet. After such
 * an error the peer sends nothing more, so the end of the readable side follows at once.
 *
 * @returns a function that ends this, to be called before another request uses the socket.
 */
export function readBeforeWriteError(socket: Socket): () => void {
  // The two functions that a Writable calls to write, as every subclass implements them.
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const afterReading =
    (done: Done): Done =>
    (error) => {
      const code = systemCode(error);
      if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error);
      else if (socket.readableEnded) done(error);
      else socket.once('end', () => done(error));
    };
  const own = {
    _write: (chunk: unknown, encoding: BufferEncoding, done: Done) => write(chunk, encoding, afterReading(done)),
    ...(writev && {
      _writev: (chunks: Parameters<typeof writev>[0], done: Done) => writev(chunks, afterReading(done)),
    }),
  };
  Object.assign(socket, own);
  return () => {
    for (const name of Object.keys(own)) Reflect.deleteProperty(socket, name);
  };
}
