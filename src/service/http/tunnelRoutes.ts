import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { WebSocket } from 'ws';
import { AppError, messageOf } from '../../core/errors.ts';
import {
  MAX_TUNNEL_MESSAGE,
  TUNNEL_CLOSED,
  TUNNEL_PING_MS,
  TUNNEL_PROTOCOL,
} from '../../remote/tunnel/tunnelProtocol.ts';
import type { Executor } from '../executor/executor.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { Operator } from '../store/accounts/auditEntry.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { abortOnRevocation } from './access/abortOnRevocation.ts';
import { type AccountGauge, retryLater } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';
import { findJob } from './access/findJob.ts';
import { refusal } from './access/httpRefusal.ts';
import type { KeyAuthenticator } from './access/keyAuthenticator.ts';
import { restrictedKey } from './access/keyScopes.ts';
import { onClose } from './access/onClose.ts';
import { TokenBuckets } from './access/tokenBuckets.ts';
import type { RouteHandlers } from './apiRoutes.ts';

const MOST_PER_JOB = 8;
// Each is an entry of the audit trail, which nothing deletes.
const MOST_PER_MINUTE = 30;
const RETRY_SECONDS = 5;
// For the close to be answered (RFC 6455, section 7.1.1).
const CLOSE_WAIT_MS = 1_000;

export interface TunnelOptions {
  readonly store: Store;
  readonly executor: Pick<Executor, 'connect'>;
  readonly files: JobFiles;
  readonly gauge: AccountGauge;
  readonly authenticator: KeyAuthenticator;
  /** Whose service this is, for the audit trail. */
  readonly operator: Operator;
  /** Its abort ends open tunnels. */
  readonly shutdown: AbortSignal;
}

/** Lets clients into running jobs. The service passes on the bytes of a tunnel, and reads nothing of them. */
export function tunnelHandlers(options: TunnelOptions): Pick<RouteHandlers, 'connect'> {
  const open = new Map<string, number>();
  const rate = new TokenBuckets();
  return {
    connect: async (context) => {
      const job = findJob(context, options.store);
      requireWebSocket(context);
      requireOwnJob(context, job);
      const ofJob = open.get(job.id) ?? 0;
      if (ofJob >= MOST_PER_JOB) {
        throw retryLater(context, RETRY_SECONDS, `A job may have ${MOST_PER_JOB} connections open at once.`);
      }
      const seconds = rate.take(job.account, MOST_PER_MINUTE);
      if (seconds > 0) {
        throw retryLater(context, seconds, `The account may connect to jobs ${MOST_PER_MINUTE} times a minute.`);
      }
      options.gauge.take(context, 'tunnels');
      open.set(job.id, ofJob + 1);
      onClose(context.env.outgoing, () => {
        const left = (open.get(job.id) ?? 1) - 1;
        if (left > 0) open.set(job.id, left);
        else open.delete(job.id);
      });
      await accept(context, { job, link: await linkTo(context, job, options) }, options);
      return RESPONSE_ALREADY_SENT;
    },
  };
}

function requireWebSocket(context: AppContext): void {
  const { headers } = context.env.incoming;
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  if (headers.upgrade?.toLowerCase() === 'websocket' && protocols.includes(TUNNEL_PROTOCOL)) return;
  context.header('Upgrade', 'websocket');
  throw refusal(426, `This address is for a WebSocket with the protocol ${TUNNEL_PROTOCOL}.`);
}

/** What a restricted key starts inside a job could use the secrets and the credits of the key that submitted the job. */
export function requireOwnJob(context: AppContext, job: StoredJob): void {
  const key = restrictedKey(context);
  if (key === undefined || job.keyId === key) return;
  throw refusal(
    403,
    'This API key has a budget, or does not have the scope "secrets". It can connect only to jobs that were submitted with it.',
  );
}

/** A connection into a job. @throws HTTPException 409 that says why there is none, AppError `unreachable` if there may be one later. */
async function linkTo(
  { env: { outgoing } }: AppContext,
  job: StoredJob,
  { executor, files }: Pick<TunnelOptions, 'executor' | 'files'>,
): Promise<Duplex> {
  if (executor.connect === undefined) {
    throw refusal(
      409,
      'This service runs its jobs where nobody can connect to them: only jobs of its own machine can be connected to.',
    );
  }
  if (job.finishedAt !== null)
    throw refusal(409, `The job is over (${job.state}). Only a running job can be connected to.`);
  if (job.state !== 'running') throw refusal(409, `The job is ${job.state}. Connect once it is running.`);
  const left = new AbortController();
  onClose(outgoing, () => left.abort());
  try {
    const link = await executor.connect(job, files.folder(job.id), left.signal);
    link.on('error', () => {}); // its close follows
    onClose(outgoing, () => link.destroy());
    return link;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') throw refusal(409, error.message);
    throw error;
  }
}

/** Passes the bytes of a client on, until the client, the job, the key or the service ends that. */
async function accept(
  context: AppContext,
  { job, link }: { readonly job: StoredJob; readonly link: Duplex },
  { store, authenticator, operator, shutdown }: TunnelOptions,
): Promise<void> {
  const { incoming, outgoing } = context.env;
  // Loaded by those who use it.
  const { WebSocketServer, createWebSocketStream } = await import('ws');
  const revoked = abortOnRevocation(context, authenticator, { isTransfer: false });
  recordConnection(context, job, { audit: store.audit, operator });
  outgoing.statusCode = 101;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_TUNNEL_MESSAGE,
    handleProtocols: () => TUNNEL_PROTOCOL,
  });
  server.handleUpgrade(incoming, incoming.socket, Buffer.alloc(0), (client) => {
    const ended = new AbortController();
    const end = (code: number, reason: string): void => void close(client, code, reason);
    revoked.addEventListener('abort', () => end(TUNNEL_CLOSED.refused, messageOf(revoked.reason)));
    shutdown.addEventListener('abort', () => end(TUNNEL_CLOSED.stopping, 'The service is stopping.'), {
      signal: ended.signal,
    });
    client.once('close', () => ended.abort());
    link.once('close', () => end(TUNNEL_CLOSED.jobLeft, 'The job has ended, or has stopped what connects to it.'));
    void keepAlive(client, ended.signal);
    const stream = createWebSocketStream(client);
    stream.on('error', () => client.terminate());
    stream.pipe(link);
    link.pipe(stream, { end: false });
  });
}

function recordConnection(
  context: AppContext,
  { id }: StoredJob,
  { audit, operator }: Pick<Store, 'audit'> & Pick<TunnelOptions, 'operator'>,
): void {
  const { account, key } = context.var.caller;
  audit.append({
    at: new Date().toISOString(),
    operator,
    verb: 'jobs.connect',
    account_id: account.id,
    ...(key && { key_id: key.id }),
    job_id: id,
    input: { client: context.var.client },
    outcome: 'done',
  });
}

/** Pings a client until the signal aborts, and disconnects one that does not respond, as one whose machine was switched off. */
async function keepAlive(client: WebSocket, signal: AbortSignal): Promise<void> {
  let silentSince = performance.now();
  const onHeard = (): void => void (silentSince = performance.now());
  client.on('pong', onHeard).on('message', onHeard);
  while (!signal.aborted) {
    await sleep(TUNNEL_PING_MS, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    if (performance.now() - silentSince > 3 * TUNNEL_PING_MS) client.terminate();
    else client.ping();
  }
}

async function close(client: WebSocket, code: number, reason: string): Promise<void> {
  client.close(code, reason.slice(0, 100));
  await sleep(CLOSE_WAIT_MS, undefined, { ref: false });
  client.terminate();
}
