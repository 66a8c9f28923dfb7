import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { KeptEnvironment } from '../../remote/protocol/environment.ts';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { DisposableStore, Emitter } from '../../core/processes/lifetime.ts';
import type { JobService } from '../../jobs/service/api.ts';
import { hostAddress, type HostAddress, LOCAL_HOST, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import { RemoteClient } from '../../remote/client.ts';
import type { KeySource } from '../../remote/http/bearer.ts';
import { AuthError } from '../../remote/http/remoteErrors.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { Account, ServerSentEvent } from '../../remote/protocol/schemas.ts';
import { onDidChangeSetting, readUserSetting } from '../contributions/config.ts';
import type { Keys } from './keys.ts';
import type { SignIns } from './signIns.ts';
import { hostLabel } from '../ui/words.ts';

export interface HostsOptions {
  readonly keys: Keys;
  readonly signIns: SignIns;
  connectLocal(): Promise<HostAddress>;
  /** Connects to the service of a machine that is reached over SSH. */
  connectMachine(name: string): Promise<HostAddress>;
  isTrusted(): boolean;
  /** Called when a request waits, because the service asked for it with this reason. */
  onWait(host: string, seconds: number, reason: string): void;
}

/** The services that run jobs: the selected one, and a client for each one in use. HTTP stays in this thread, where VS Code supports proxies. */
export class Hosts implements vscode.Disposable {
  readonly #options: HostsOptions;
  readonly #connections = new Map<string, Promise<RemoteClient>>();
  /** The hosts whose connections use the tokens of a sign-in. */
  readonly #signedIn = new Set<string>();
  readonly #changed = new Emitter<void>();
  readonly #store = new DisposableStore();
  /** Another host was selected, or a key changed. */
  readonly onDidChange = this.#changed.event;

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#store.add(this.#changed);
    this.#store.add(onDidChangeSetting('host', () => this.#changed.fire()));
    this.#store.add(
      options.keys.onDidChange((origin) => {
        for (const host of this.#connections.keys())
          if (needsKey(host) && new URL(host).origin === origin) this.#forget(host);
        this.#changed.fire();
      }),
    );
    this.#store.add(options.signIns.onDidChange((host) => void this.#signInChanged(host)));
  }

  /**
   * The selected host: the user's setting, else `FARWHARF_REMOTE_HOST`, else `local`.
   *
   * @throws AppError `bad-input` if it is neither a usable URL nor a connected machine.
   */
  current(): string {
    const remote = readUserSetting('host');
    if (remote === LOCAL_HOST) return LOCAL_HOST;
    if (remote === undefined) return resolveHost({ env: process.env });
    try {
      return resolveHost({ remote, env: process.env });
    } catch (cause) {
      const text = l10n.t('The setting farwharf.host cannot be used. {0}', messageOf(cause));
      throw new AppError('bad-input', text, { cause });
    }
  }

  /** The selected host, or undefined if it cannot be used, which the Jobs view, the status bar and the next command report. */
  currentIfUsable(): string | undefined {
    try {
      return this.current();
    } catch {
      return undefined;
    }
  }

  /** Whether requests to this host need a key and none is stored. */
  async isSignedOut(host: string): Promise<boolean> {
    const { keys, signIns } = this.#options;
    return needsKey(host) && (await signIns.get(host)) === undefined && (await keys.get(host)) === undefined;
  }

  account(host: string, options: { signal?: AbortSignal } = {}): Promise<Account> {
    return this.#use(host, (client) => client.me(options));
  }

  async cancel(host: string, jobId: string): Promise<void> {
    await this.#use(host, (client) => client.cancel(jobId));
  }

  /** Connects to a running job. The tunnel is the caller's to dispose, and ends with the signal or when the key of the host changes. */
  connectJob(host: string, jobId: string, signal: AbortSignal): Promise<JobTunnelClient> {
    return this.#use(host, (client) => client.connectJob(jobId, { signal }));
  }

  /** Lets a frozen job wait longer for a debugger. Returns the job. */
  extendFreeze(host: string, jobId: string, seconds: number): Promise<unknown> {
    return this.#use(host, (client) => client.extendFreeze(jobId, seconds));
  }

  /** Lets a frozen job end as it would have. Returns the job. */
  endFreeze(host: string, jobId: string): Promise<unknown> {
    return this.#use(host, (client) => client.endFreeze(jobId));
  }

  /** The environments that jobs of the account on a host built for later jobs. */
  environments(host: string): Promise<readonly KeptEnvironment[]> {
    return this.#use(host, (client) => client.listEnvironments());
  }

  /** The secrets of the account on a host. */
  secrets(host: string): Pick<RemoteClient, 'listSecrets' | 'setSecret' | 'removeSecret'> {
    const use = <T>(work: (client: RemoteClient) => Promise<T>): Promise<T> => this.#use(host, work);
    return {
      listSecrets: (options) => use((client) => client.listSecrets(options)),
      setSecret: (name, value, options) => use((client) => client.setSecret(name, value, options)),
      removeSecret: (name, options) => use((client) => client.removeSecret(name, options)),
    };
  }

  /** The account of a key, which is not stored. */
  async tryKey(host: string, key: string, signal: AbortSignal): Promise<Account> {
    await using client = new RemoteClient(host, key);
    return await client.me({ signal });
  }

  /** The API of a host. Each call uses the client that is current at that moment. */
  service(host: string): JobService & Pick<RemoteClient, 'postContents' | 'streamResultContents'> {
    const use = <T>(work: (client: RemoteClient) => Promise<T>): Promise<T> => this.#use(host, work);
    return {
      submitJob: (archive, job, options) => use((client) => client.submitJob(archive, job, options)),
      getSubmission: (key, options) => use((client) => client.getSubmission(key, options)),
      getJob: (jobId, options) => use((client) => client.getJob(jobId, options)),
      downloadArtifacts: (jobId, dest, options) => use((client) => client.downloadArtifacts(jobId, dest, options)),
      postContents: (path, body, options) => use((client) => client.postContents(path, body, options)),
      me: (options) => use((client) => client.me(options)),
      streamResultContents: (jobId, wanted, options) => this.#streamContents(host, jobId, wanted, options),
      streamEvents: (jobId, options) => this.#streamEvents(host, jobId, options),
    };
  }

  dispose(): void {
    for (const host of this.#connections.keys()) this.#forget(host);
    this.#store.dispose();
  }

  async *#streamContents(
    host: string,
    ...request: Parameters<RemoteClient['streamResultContents']>
  ): AsyncGenerator<Uint8Array, void> {
    yield* (await this.#connect(host)).streamResultContents(...request);
  }

  async *#streamEvents(
    host: string,
    ...[jobId, options]: Parameters<JobService['streamEvents']>
  ): AsyncGenerator<ServerSentEvent, void> {
    const client = await this.#connect(host);
    try {
      await using stream = client.streamEvents(jobId, options);
      yield* stream;
    } catch (error) {
      this.#isOutdated(host, error); // the follower retries on its own
      throw error;
    }
  }

  async #use<T>(host: string, work: (client: RemoteClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(host);
    try {
      return await work(client);
    } catch (error) {
      if (!this.#isOutdated(host, error)) throw error;
      return work(await this.#connect(host));
    }
  }

  /** Whether the embedded service has stopped or restarted since the client was created. The call then had no effect and may be repeated. */
  #isOutdated(host: string, error: unknown): boolean {
    const isOutdated = host === LOCAL_HOST && (systemCode(error) === 'ECONNREFUSED' || error instanceof AuthError);
    if (isOutdated) this.#forget(host);
    return isOutdated;
  }

  #connect(host: string): Promise<RemoteClient> {
    const openConnection = this.#connections.get(host);
    if (openConnection) return openConnection;
    const connection = this.#open(host);
    this.#connections.set(host, connection);
    connection.catch(() => this.#connections.delete(host));
    return connection;
  }

  async #open(host: string): Promise<RemoteClient> {
    const { url, key, agent } = await hostAddress(host, {
      key: () => this.#credentials(host),
      connectLocal: async () => {
        if (!this.#options.isTrusted())
          throw new AppError(
            'untrusted',
            l10n.t('In Restricted Mode, Farwharf does not run jobs on this machine. Trust the folder first.'),
          );
        return this.#options.connectLocal();
      },
      connectMachine: (name) => this.#options.connectMachine(name),
    });
    const retryAfter = {
      onWait: (seconds: number, reason: string) => this.#options.onWait(host, seconds, reason),
    };
    return new RemoteClient(url, key, { retryAfter, ...(agent !== undefined && { agent }) });
  }

  /** The access tokens of a sign-in to the host, else its key. */
  async #credentials(host: string): Promise<string | KeySource> {
    const { keys, signIns } = this.#options;
    this.#signedIn.delete(host);
    if ((await signIns.get(host)) === undefined) return (await keys.get(host)) ?? notSignedIn(host);
    this.#signedIn.add(host);
    return signIns.tokens(host);
  }

  /** Renewed tokens do not need a new connection. */
  async #signInChanged(host: string): Promise<void> {
    const isSignedIn = (await this.#options.signIns.get(host)) !== undefined;
    if (isSignedIn === this.#signedIn.has(host)) return;
    this.#forget(host);
    this.#changed.fire();
  }

  #forget(host: string): void {
    const connection = this.#connections.get(host);
    this.#connections.delete(host);
    // Requests in progress finish on their own; closing the client only frees idle sockets.
    void connection?.then((client) => client.close()).catch(() => {});
  }
}

/** Only services with a URL have accounts with keys. */
function needsKey(host: string): boolean {
  return host !== LOCAL_HOST && machineOfHost(host) === undefined;
}

function notSignedIn(host: string): never {
  throw new AppError('not-signed-in', l10n.t('You are not signed in to {0}, so nothing was sent.', hostLabel(host)));
}
