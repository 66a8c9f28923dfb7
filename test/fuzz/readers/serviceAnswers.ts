import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RemoteClient } from '../../../src/remote/client.ts';
import { RemoteError } from '../../../src/remote/http/remoteErrors.ts';
import type { FuzzedReader } from '../reader.ts';

const STATUSES = [200, 200, 200, 201, 202, 400, 401, 402, 404, 409, 422, 500, 503];
const SAMPLES = [
  '{"account_id":"a1","credits":10.5,"rate_card":[{"machine_class":"small","credits_per_second":0.1}]}',
  '{"job_id":"j1","state":"running","created_at":"2026-01-02T03:04:05Z","exit_code":null}',
  '{"detail":[{"loc":["body","meta","script"],"msg":"wrong","type":"value_error"}]}',
];

/** Answers of a service: each is taken or refused as an error of the client. */
export const serviceAnswers: FuzzedReader = {
  name: 'answers',
  samples: () => Promise.resolve(SAMPLES.map((text) => Buffer.from(text))),
  words: ['{"', '":', '[[[[[[', 'null', '1e999', '"detail":', '"job_id":"../.."', '__proto__', '\\ud800', '\xff'],
  open: async () => {
    let answer: Buffer = Buffer.alloc(0);
    const server = createServer((_request, response) => {
      response.writeHead(STATUSES[answer.length % STATUSES.length] ?? 200, { 'content-type': 'application/json' });
      response.end(answer);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = new RemoteClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
    const calls = [() => client.me(), () => client.getJob('j1'), () => client.cancel('j1')];
    return {
      read: async (input) => {
        answer = input;
        for (const call of calls) {
          await call().catch((error: unknown) => {
            if (!(error instanceof RemoteError)) throw error;
          });
        }
      },
      [Symbol.asyncDispose]: async () => {
        await client.close();
        server.close();
      },
    };
  },
};
