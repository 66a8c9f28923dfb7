import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { hasToken, loopbackHosts, refuseBrowsers } from '../http/auth.ts';
import { proveKey } from '../http/keyProof.ts';
import { removeStateFile, writeStateFile } from '../stateFile.ts';
import type { AdminContext } from './operation.ts';
import { runOperation } from './operations.ts';

const TOKEN_BYTES = 32;
const MAX_INPUT_BYTES = 1 << 20;
const STATUS_OF_CODE: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  'bad-input': 400,
  missing: 404,
  conflict: 409,
};

export interface AdminServerOptions extends AdminContext {
  readonly log: Logger;
  readonly version: string;
  /** Called after each operation, with what may have changed: keys, accounts, limits. */
  readonly onDidRun: () => void;
}

/** Where a service in this data folder tells how to administer it. */
export function adminFileOf(data: string): string {
  return join(data, 'admin.json');
}

/**
 * Opens the door for `farwharf admin`: on a port of its own that only this machine reaches, whatever address the service
 * listens on, for a token that is new at each start and lies in a file that only this user can read. Keys of `/v1` open
 * nothing here.
 *
 * @returns a function that closes it.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<() => void> {
  const { data, version } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const port = (): number => (server.address() as AddressInfo).port;
  const app = createAdminApp(options, token, port);
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const file = adminFileOf(data);
  const close = (): void => {
    removeStateFile(file, process.pid);
    server.close();
    server.closeAllConnections();
  };
  try {
    const url = `http://127.0.0.1:${port()}`;
    writeStateFile(file, { url, key: token, pid: process.pid, version, host: hostname() });
    return close;
  } catch (error) {
    close();
    throw error;
  }
}

function createAdminApp({ log, onDidRun, ...context }: AdminServerOptions, token: string, port: () => number): Hono {
  const app = new Hono();
  app.onError((error, { json, req }) => {
    if (error instanceof HTTPException) return json({ code: 'refused', detail: error.message }, error.status);
    if (error instanceof AppError)
      return json({ code: error.code, detail: error.message }, STATUS_OF_CODE[error.code] ?? 500);
    log.error('administration failed', { path: req.path, error });
    return json({ code: 'corrupt', detail: 'The service failed to do it; its log says why.' }, 500);
  });
  app.use(refuseBrowsers(() => loopbackHosts(port())));
  app.get('/healthz', ({ json, req }) => json({ status: 'ok', proof: proveKey(token, req.query('nonce') ?? '') }));
  app.use('/admin/v1/*', async ({ req }, next) => {
    if (!hasToken(req.header('authorization'), token))
      throw new HTTPException(401, { message: 'Not the token of admin.json.' });
    await next();
  });
  app.post('/admin/v1/:operation', bodyLimit({ maxSize: MAX_INPUT_BYTES }), async ({ json, req }) => {
    const name = req.param('operation');
    const input: unknown = await req.json();
    const output = await runOperation(context, name, input);
    onDidRun();
    log.info('administered', { operation: name, ...targetOf(input) });
    return json(output);
  });
  return app;
}

/** What the log tells of an operation's input, and nothing else of it. */
function targetOf(input: unknown): object {
  const target = z.object({ account_id: z.string().optional(), key_id: z.string().optional() }).safeParse(input);
  return target.success ? { account: target.data.account_id, key: target.data.key_id } : {};
}
