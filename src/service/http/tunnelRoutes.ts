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
import { bytesPerSecond, insideRefusal, type InsideSettings } from '../config/insideConfig.ts';
import type { Executor } from '../executor/executor.ts';
import { drainedTunnels } from '../jobs/drainTexts.ts';
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
import { type OpenTunnel, type OpenTunnels, passOn } from './openTunnels.ts';

const RETRY_SECONDS = 5;
// For the close to be answered (RFC 6455, section 7.1.1).
const CLOSE_WAIT_MS = 1_000;

export interface TunnelOptions {
  readonly store: Store;
  readonly executor: Pick<Executor, 'connect'>;
  readonly files: JobFiles;
  readonly gauge: AccountGauge;
  readonly inside: InsideSettings;
  readonly tunnels: OpenTunnels;
  readonly authenticator: KeyAuthenticator;
  /** Whose service this is, for the audit trail. */
  readonly operator: Operator;
  /** Its abort ends open tunnels. */
  readonly shutdown: AbortSignal;
}

/** Lets clients into running jobs. The service passes on the bytes of a tunnel, and reads nothing of them. */
export function tunnelHandlers(options: TunnelOptions): Pick<RouteHandlers, 'connect'> {
  const { inside } = options;
  const open = new Map<string, number>();
  const rate = new TokenBuckets();
  return {
    connect: async (context) => {
      const job = findJob(context, options.store);
      requireWebSocket(context);
      requireOwnJob(context, job);
      const refused = insideRefusal(inside, job);
      if (refused !== undefined) throw refusal(403, refused);
      const drain = options.store.drain.get();
      if (drain !== undefined) throw refusal(503, `${drainedTunnels(drain)} Connect once it is resumed.`);
      const ofJob = open.get(job.id) ?? 0;
      const { connections_per_job: mostOfJob, connections_per_minute: perMinute } = inside;
      if (ofJob >= mostOfJob) {
        throw retryLater(context, RETRY_SECONDS, `A job may have ${mostOfJob} connections open at once.`);
      }
      const seconds = rate.take(job.account, perMinute);
      if (seconds > 0) {
        throw retryLater(context, seconds, `The account may connect to jobs ${perMinute} times a minute.`);
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
    throw refusal(409, 'This service runs its jobs where nobody can connect to them.');
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
  { store, authenticator, operator, shutdown, inside, tunnels }: TunnelOptions,
): Promise<void> {
  const { incoming, outgoing } = context.env;
  // Loaded by those who use it.
  const [{ WebSocketServer }, { webSocketStream }] = await Promise.all([
    import('ws'),
    import('../../core/network/webSocketStream.ts'),
  ]);
  const revoked = abortOnRevocation(context, authenticator, { isTransfer: false });
  const { account, key } = context.var.caller;
  const tunnel: OpenTunnel = {
    jobId: job.id,
    account: account.id,
    key: key?.id ?? null,
    client: context.var.client ?? null,
    since: Date.now(),
    sent: 0,
    received: 0,
  };
  const record = (verb: 'jobs.connect' | 'jobs.disconnect', measured: object = {}): void =>
    store.audit.append({
      at: new Date().toISOString(),
      operator,
      verb,
      account_id: account.id,
      ...(key && { key_id: key.id }),
      job_id: job.id,
      input: { client: tunnel.client, ...measured },
      outcome: 'done',
    });
  record('jobs.connect');
  let isRecorded = false;
  const onEnd = (): void => {
    tunnels.remove(tunnel);
    if (isRecorded) return;
    isRecorded = true;
    const seconds = Math.round((Date.now() - tunnel.since) / 1_000);
    record('jobs.disconnect', { seconds, sent_bytes: tunnel.sent, received_bytes: tunnel.received });
  };
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
    ended.signal.addEventListener('abort', onEnd);
    // Before the store is closed.
    shutdown.addEventListener('abort', onEnd, { signal: ended.signal });
    tunnels.add(tunnel, (reason) => end(TUNNEL_CLOSED.drained, reason));
    const onLeft = (): void => end(TUNNEL_CLOSED.jobLeft, 'The job has ended, or has stopped what connects to it.');
    link.once('close', onLeft);
    if (link.destroyed) onLeft();
    void keepAlive(client, ended.signal);
    const stream = webSocketStream(client, incoming.socket);
    stream.on('error', () => client.terminate());
    const most = { bytesPerSecond: bytesPerSecond(inside) };
    passOn(stream, link, { ...most, count: (bytes) => (tunnel.sent += bytes) });
    passOn(link, stream, { ...most, count: (bytes) => (tunnel.received += bytes), keepsOpen: true });
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
