import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { HTTPException } from 'hono/http-exception';
import { AppError } from '../../../src/core/errors.ts';
import { parseSubmission } from '../../../src/service/http/submit/parseSubmission.ts';
import { receiveUpload } from '../../../src/service/http/submit/receiveUpload.ts';
import type { FuzzedReader } from '../reader.ts';

const BOUNDARY = 'x-boundary-x';
const SAMPLE = [
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="meta"\r\n\r\n{"script":"main.py","max_runtime":60}\r\n`,
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="tarball"; filename="a.tar.gz"\r\n`,
  `content-type: application/gzip\r\n\r\n${'x'.repeat(300)}\r\n--${BOUNDARY}--\r\n`,
].join('');

/** Submissions: each is taken or refused with a status. */
export const uploads: FuzzedReader = {
  name: 'uploads',
  samples: () => Promise.resolve([Buffer.from(SAMPLE)]),
  words: [
    `--${BOUNDARY}`,
    '\r\n\r\n',
    '--\r\n',
    'name="meta"',
    'name="tarball"',
    "filename*=UTF-8''%ff",
    '{"script":',
    '"',
    ';',
  ],
  open: async () => {
    let failure: unknown;
    const server = createServer((incoming, response) => {
      const openSink = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
      receiveUpload(incoming, { openSink, maxBytes: 1e6 })
        .then(({ meta }) => parseSubmission(meta))
        .catch((error: unknown) => {
          if (!(error instanceof HTTPException || error instanceof AppError)) failure = error;
        })
        .finally(() => response.end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    return {
      read: async (input) => {
        failure = undefined;
        const sent = request({ port, method: 'POST', headers: { ...headers, 'content-length': input.length } });
        sent.end(input);
        const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
        answer.resume();
        await once(answer, 'end');
        if (failure !== undefined) throw failure as Error;
      },
      [Symbol.asyncDispose]: async () => {
        server.close();
        await once(server, 'close');
      },
    };
  },
};
