import { existsSync, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { AppError, type ErrorCode, messageOf, systemCode } from '../../core/errors.ts';
import { Store } from '../store/store.ts';
import type { SocketAddress } from '../../core/files/socketAddress.ts';
import { currentOperator, OPERATOR_HEADER, writeOperator } from './operator.ts';
import { openAdminAddress, readAdminFile } from './adminSocket.ts';
import {
  type OperationInput,
  type OperationName,
  type OperationOutput,
  readOutput,
  runOperation,
} from './operations.ts';

const refusal = z.object({ code: z.string(), detail: z.string() });
// A service that hangs for longer still locks its store, and opening the store then reports that.
const ANSWER_TIMEOUT_MS = 10_000;
const CODES: readonly ErrorCode[] = ['bad-input', 'missing', 'conflict', 'no-space', 'limit', 'permission', 'refused'];

/** Administers the service of one data folder until it is disposed. */
export interface Admin extends Disposable {
  /** Whether a running service does the work; otherwise the store itself is open. */
  readonly isServiceRunning: boolean;
  /** @throws AppError of the operation, or `unreachable` if the service stops meanwhile. */
  call<Name extends OperationName>(name: Name, input: OperationInput<Name>): Promise<OperationOutput<Name>>;
}

/**
 * Connects to the service that runs on a data folder or, if none does, opens its store.
 *
 * @throws AppError `missing` without a store if none may be created, `permission` in another user's folder, or that of `Store`.
 */
export async function openAdmin(data: string, { mayCreate }: { mayCreate: boolean }): Promise<Admin> {
  const file = readAdminFile(data);
  const service = await findService(data, file?.pipe);
  if (service !== undefined) return service;
  if (!mayCreate && !existsSync(join(data, 'service.db'))) {
    const message = `${data} has no accounts, because no service has run there. Specify its data folder with --data.`;
    throw new AppError('missing', message);
  }
  refuseForeign(data);
  const store = openStore(data, file?.host);
  return {
    isServiceRunning: false,
    call: async (name, input) =>
      readOutput(name, await runOperation({ store, data, operator: currentOperator(process.env) }, name, input)),
    [Symbol.dispose]: () => store.dispose(),
  };
}

/** That user's service could not open files that root writes. */
function refuseForeign(data: string): void {
  const owner = statSync(data, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.getuid?.() !== 0 || owner === 0) return;
  const message = `${data} belongs to another user, whose service could not open files that root writes there. Run this as that user:  sudo -u '#${owner}' farwharf admin …`;
  throw new AppError('permission', message);
}

function openStore(data: string, host: string | undefined): Store {
  try {
    return new Store(data);
  } catch (error) {
    const isElsewhere = host !== undefined && host !== hostname();
    if (!isElsewhere || !(error instanceof AppError && error.code === 'conflict')) throw error;
    throw new AppError('conflict', `The service of ${data} runs on ${host}. Run this command there.`, { cause: error });
  }
}

/** The service that listens in a data folder; undefined if none does, even if a killed one left its socket. */
async function findService(data: string, pipe: string | undefined): Promise<Admin | undefined> {
  if (pipe === undefined && !existsSync(data)) return undefined;
  const address = openAdminAddress(data, pipe);
  try {
    await send(address, { method: 'GET', path: '/healthz', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  } catch (error) {
    address[Symbol.dispose]();
    if (systemCode(error) !== 'EACCES') return undefined;
    const message = `The service of ${data} belongs to another user, and only that user can administer it. Run this as that user.`;
    throw new AppError('permission', message, { cause: error });
  }
  return {
    isServiceRunning: true,
    call: async (name, input) => readOutput(name, await post(address, `/admin/v1/${name}`, input)),
    [Symbol.dispose]: () => address[Symbol.dispose](),
  };
}

async function post(address: SocketAddress, path: string, input: unknown): Promise<unknown> {
  let response: { readonly status: number; readonly body: unknown };
  try {
    response = await send(address, { method: 'POST', path, body: JSON.stringify(input) });
  } catch (cause) {
    const message = `The service stopped before it responded: ${messageOf(cause)}. Check whether this was done before you repeat it.`;
    throw new AppError('unreachable', message, { cause });
  }
  if (response.status === 200) return response.body;
  const { code, detail } = refusal.parse(response.body);
  throw new AppError(CODES.find((known) => known === code) ?? 'corrupt', detail);
}

/** Waits without a limit, for long backups; `fetch` gives up after five minutes. */
async function send(
  { path: socketPath }: SocketAddress,
  {
    body,
    ...call
  }: { readonly method: string; readonly path: string; readonly body?: string; readonly signal?: AbortSignal },
): Promise<{ status: number; body: unknown }> {
  const headers = {
    'content-type': 'application/json',
    [OPERATOR_HEADER]: writeOperator(currentOperator(process.env)),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ ...call, socketPath, headers, agent: false }, resolve)
      .once('error', reject)
      .end(body);
  });
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}
