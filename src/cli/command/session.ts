import { AppError, systemCode } from '../../core/errors.ts';
import { formatDuration } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../../jobs/service/api.ts';
import { type AsyncLedger, directLedger } from '../../jobs/ledger/asyncLedger.ts';
import { hostAddress, LOCAL_HOST, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import { JobLedger } from '../../jobs/ledger/ledger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { openMachine } from '../../machines/openMachine.ts';
import { RemoteClient } from '../../remote/client.ts';
import { connectEmbeddedService, stuckServiceRemedy } from '../../service/embedded.ts';
import type { Context } from './commandContext.ts';
import { keyInEnvironment, resolveKey } from '../../jobs/service/hostKey.ts';
import { SignInFile } from '../../jobs/signIn/signInFile.ts';
import type { KeySource } from '../../remote/http/bearer.ts';
import type { Terminal } from '../terminal/terminal.ts';

// A service responds within milliseconds, and a busy one within a second or two. After five, people begin to wonder whether anything still
// works.
export const SLOW_MS = 5_000;

/** One service and this user's ledger, for as long as a verb runs. */
export class Session implements AsyncDisposable {
  /** `local`, or the base URL. */
  readonly host: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly ledger: JobLedger;
  readonly asyncLedger: AsyncLedger;
  /** Reports a service that does not respond. */
  readonly contact: ContactNotes;
  readonly #context: Context;
  #client: Promise<RemoteClient> | undefined;

  /**
   * Opens the ledger, and reports its problem if it has one.
   *
   * @throws AppError `bad-input` for an invalid host, `refused` if others can write to this user's data.
   */
  constructor(context: Context) {
    this.#context = context;
    this.host = resolveHost({ remote: context.remote, env: context.env });
    this.home = farwharfHome(context.env);
    requireOwnHome(this.home);
    this.contact = new ContactNotes(
      context.terminal,
      this.host === LOCAL_HOST ? 'The job service on this machine' : this.hostName,
      () =>
        this.host === LOCAL_HOST
          ? (stuckServiceRemedy(this.home) ?? 'If it ended, it is started again.')
          : 'If this continues, check the network, and that the service is running.',
    );
    this.ledger = new JobLedger(this.home);
    this.asyncLedger = directLedger(this.ledger);
    if (this.ledger.problem !== undefined) context.terminal.note(this.ledger.problem);
    for (const { script } of this.ledger.settleAbandoned()) {
      context.terminal.note(
        `An earlier submit of ${script} was interrupted and may have arrived. Check with:  farwharf jobs`,
      );
    }
  }

  /** The name of the service in sentences. */
  get hostName(): string {
    return this.host === LOCAL_HOST ? 'this machine' : new URL(this.host).host;
  }

  /** The client, connected on first use, so that the embedded service starts only for verbs that need it. */
  client(): Promise<RemoteClient> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  /**
   * Connects again. The local service may have restarted at another address, and is started if it was killed. If that fails, the previous
   * client remains in use.
   */
  async reconnect(): Promise<RemoteClient> {
    this.contact.lost();
    const before = this.#client;
    const client = await this.#connect();
    this.#client = Promise.resolve(client);
    // Only the local service is known to respond at this point. Others are once they have responded.
    if (this.host === LOCAL_HOST) this.contact.returned();
    await (await before)?.close();
    return client;
  }

  /** The service for submits and for questions about jobs. Each call uses the current client, because the local service may restart at another address. */
  sender(): Pick<JobService, 'submitJob' | 'getSubmission' | 'getJob' | 'me'> &
    Pick<RemoteClient, 'cancel' | 'postContents'> {
    const use = async <T>(work: (client: RemoteClient) => Promise<T>): Promise<T> => {
      try {
        return await work(await this.client());
      } catch (error) {
        // The local service was killed, and restarts at another address. It received nothing of this request.
        if (this.host !== LOCAL_HOST || systemCode(error) !== 'ECONNREFUSED') throw error;
        return work(await this.reconnect());
      }
    };
    return {
      submitJob: (archive, job, options) => use((client) => client.submitJob(archive, job, options)),
      getSubmission: (key, options) => use((client) => client.getSubmission(key, options)),
      getJob: (jobId, options) => use((client) => client.getJob(jobId, options)),
      me: (options) => use((client) => client.me(options)),
      cancel: (jobId, options) => use((client) => client.cancel(jobId, options)),
      postContents: (path, body, options) => use((client) => client.postContents(path, body, options)),
    };
  }

  async #connect(): Promise<RemoteClient> {
    const { env, program, signal, terminal } = this.#context;
    // Others are asked by the first request, and ssh says what it waits for.
    const slow = this.host === LOCAL_HOST ? setTimeout(() => this.#reportSlowStart(), SLOW_MS) : undefined;
    const { url, key, agent } = await hostAddress(this.host, {
      key: () => credentialsFor(this.host, { env, home: this.home }),
      connectLocal: () =>
        connectEmbeddedService({ home: this.home, node: process.execPath, cli: program.entry, env, signal }),
      connectMachine: (name) => openMachine(name, { home: this.home, env }, signal),
    }).finally(() => clearTimeout(slow));
    const onWait = (seconds: number, reason: string): void => {
      terminal.phase(`${this.hostName} asks you to wait ${formatDuration(seconds)}: ${reason}`);
    };
    return new RemoteClient(url, key, {
      ...(agent !== undefined && { agent }),
      headers: { 'User-Agent': `farwharf/${program.version}` },
      retryAfter: { onWait },
      slowResponse: {
        afterMs: SLOW_MS,
        onSlow: () => this.contact.lost(),
        onResponse: () => this.contact.returned(),
      },
    });
  }

  #reportSlowStart(): void {
    if (stuckServiceRemedy(this.home) !== undefined) this.contact.lost();
    else this.#context.terminal.phase('starting the job service on this machine …');
  }

  /** Sends a request about one job. @throws AppError `missing` if the service has no such job, with the service that it was sent to if that is another. */
  async ask<T>(name: string, question: (client: RemoteClient) => Promise<T>): Promise<T> {
    const client = await this.client();
    try {
      return await question(client);
    } catch (error) {
      if (classifyFailure(error) !== 'missing') throw error;
      const elsewhere = new Set(this.ledger.find(name).map(({ host }) => host));
      elsewhere.delete(this.host);
      const [host, ...others] = elsewhere;
      const hint =
        host === undefined || others.length > 0
          ? 'List the jobs sent from this machine:  farwharf jobs'
          : `It was sent to another service: add  --remote ${machineOfHost(host) ?? host}`;
      throw new AppError('missing', `Job ${name} does not exist on ${this.hostName}. ${hint}`, { cause: error });
    }
  }

  /**
   * Finds a job by the service's ID, or by the start of our ID if it was sent from here.
   *
   * @throws AppError `bad-input` if several IDs start with the name, or the service did not return an ID.
   */
  resolveJob(name: string): { readonly jobId: string; readonly record: JobRecord | undefined } {
    const found = this.ledger.find(name, this.host);
    const [record] = found;
    if (record === undefined) return { jobId: name, record };
    if (found.length > 1)
      throw new AppError('bad-input', `${found.length} jobs start with "${name}". Enter more characters of the ID.`);
    if (record.jobId !== null) return { jobId: record.jobId, record };
    throw new AppError('bad-input', `The service did not return a job ID for ${name}. ${record.reason ?? ''}`.trim());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await (await this.#client)?.close();
    } catch {
      // The connection failed, and the verb that needed it has reported that.
    }
    this.ledger.dispose();
  }
}

/**
 * The credentials for a remote host: the key in the environment if it is for this host, else the access tokens of a sign-in to it, else the
 * key in its file.
 *
 * @throws AppError of `resolveKey`.
 */
async function credentialsFor(
  host: string,
  { env, home }: { env: NodeJS.ProcessEnv; home: string },
): Promise<string | KeySource> {
  const key = keyInEnvironment(host, env);
  if (key !== undefined) return key;
  const file = new SignInFile(host, home);
  if (file.readNow() === undefined) return resolveKey(host, { env, home });
  // Loaded only for people who have signed in, with its library.
  const { AccessTokens } = await import('../../jobs/signIn/accessTokens.ts');
  return new AccessTokens(host, file, `Sign in again:  farwharf login --remote ${host}`);
}

/** Says once per outage that a service does not respond, and once that it responds again. */
class ContactNotes {
  readonly #terminal: Pick<Terminal, 'note'>;
  readonly #service: string;
  readonly #remedy: () => string;
  #isLost = false;

  /**
   * @param service its name as the subject of a sentence.
   * @param remedy what to do if the outage lasts.
   */
  constructor(terminal: Pick<Terminal, 'note'>, service: string, remedy: () => string) {
    this.#terminal = terminal;
    this.#service = service;
    this.#remedy = remedy;
  }

  lost(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#terminal.note(
      `${this.#service} does not respond. Its jobs keep running. Waiting for it; Ctrl+C stops waiting.`,
    );
    this.#terminal.note(`  ${this.#remedy()}`);
  }

  returned(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#terminal.note(`${this.#service} responds again.`);
  }
}
