import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { adminSocketOf, newPipe, openAdminAddress, removeAdminFile, writeAdminFile } from './adminSocket.ts';
import { OPERATOR_HEADER, readOperator } from './operator.ts';
import type { AdminContext } from './operation.ts';
import { isChange, runOperation } from './operations.ts';

const MAX_INPUT_BYTES = 1 << 20;
const STATUS_OF_CODE: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  'bad-input': 400,
  missing: 404,
  conflict: 409,
};

export interface AdminServerOptions extends Omit<AdminContext, 'operator'> {
  readonly log: Logger;
  readonly version: string;
  /** Called after each operation, which may have changed keys, accounts or limits. */
  readonly onDidRun: () => void;
}

/**
 * Serves `farwharf admin` on a socket in the data folder, which the kernel opens to this user and root only. The network cannot
 * reach it, and no key or token opens it.
 *
 * The caller has locked the store of the folder, so an existing socket was left by a killed service.
 *
 * @returns a function that closes it.
 * @throws AppError of `openAdminAddress`, or the system's error if the socket cannot be created.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<() => void> {
  const { data, version } = options;
  const app = createAdminApp(options);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  const pipe = newPipe();
  const address = openAdminAddress(data, pipe);
  const close = (): void => {
    removeAdminFile(data);
    server.close(); // also removes the socket
    server.closeAllConnections();
    address[Symbol.dispose]();
  };
  try {
    if (pipe === undefined) rmSync(adminSocketOf(data), { force: true });
    server.listen(address.path);
    await once(server, 'listening');
    if (pipe === undefined) chmodSync(adminSocketOf(data), 0o600);
    writeAdminFile(data, { version, ...(pipe !== undefined && { pipe }) });
    return close;
  } catch (error) {
    close();
    throw error;
  }
}

function createAdminApp({ log, onDidRun, ...context }: AdminServerOptions): Hono {
  const app = new Hono();
  app.onError((error, { json, req }) => {
    if (error instanceof HTTPException) return json({ code: 'refused', detail: error.message }, error.status);
    if (error instanceof AppError)
      return json({ code: error.code, detail: error.message }, STATUS_OF_CODE[error.code] ?? 500);
    log.error('administration failed', { path: req.path, error });
    return json({ code: 'corrupt', detail: 'The service failed to do this. Its log has the cause.' }, 500);
  });
  app.get('/healthz', ({ json }) => json({ status: 'ok' }));
  app.post('/admin/v1/:operation', bodyLimit({ maxSize: MAX_INPUT_BYTES }), async ({ json, req }) => {
    const name = req.param('operation');
    const input: unknown = await req.json();
    const output = await runOperation({ ...context, operator: readOperator(req.header(OPERATOR_HEADER)) }, name, input);
    onDidRun();
    const isLoud = isChange(name); // `drain --wait` asks every second
    log[isLoud ? 'info' : 'debug']('administered', { operation: name, ...targetOf(input) });
    return json(output);
  });
  return app;
}

/** The only parts of an operation's input that are logged. */
function targetOf(input: unknown): object {
  const optional = z.string().optional();
  const target = z.object({ account_id: optional, key_id: optional, job_id: optional }).safeParse(input);
  if (!target.success) return {};
  const { account_id: account, key_id: key, job_id: jobId } = target.data;
  return { account, key, jobId };
}
