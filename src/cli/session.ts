import { AppError } from '../core/errors.ts';
import { farwharfHome } from '../core/home.ts';
import { type AsyncLedger, directLedger } from '../jobs/asyncLedger.ts';
import { hostAddress, LOCAL_HOST, resolveHost, resolveKey } from '../jobs/host.ts';
import { JobLedger } from '../jobs/ledger.ts';
import { RemoteClient } from '../remote/client.ts';
import { connectEmbeddedService } from '../service/embedded.ts';
import type { Context } from './context.ts';

/** One service and this user's ledger, for as long as a verb runs. */
export class Session implements AsyncDisposable {
  /** `local`, or the base URL. */
  readonly host: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly ledger: JobLedger;
  readonly asyncLedger: AsyncLedger;
  readonly #context: Context;
  #client: Promise<RemoteClient> | undefined;

  /** Opens the ledger, and says what is wrong with it, if anything. @throws AppError `bad-input` or `refused` for a bad host. */
  constructor(context: Context) {
    this.#context = context;
    this.host = resolveHost({ remote: context.remote, env: context.env });
    this.home = farwharfHome(context.env);
    this.ledger = new JobLedger(this.home);
    this.asyncLedger = directLedger(this.ledger);
    if (this.ledger.problem !== undefined) context.terminal.note(this.ledger.problem);
    for (const { script } of this.ledger.settleAbandoned()) {
      context.terminal.note(`An earlier submit of ${script} broke off. It may have arrived: see farwharf jobs.`);
    }
  }

  /** The name of the service in sentences. */
  get hostName(): string {
    return this.host === LOCAL_HOST ? 'this machine' : new URL(this.host).host;
  }

  /** The client, connected when it is first wanted: the embedded service is started for verbs that need it alone. */
  client(): Promise<RemoteClient> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<RemoteClient> {
    const { env, program, signal } = this.#context;
    const { url, key } = await hostAddress(this.host, {
      key: () => resolveKey(this.host, env),
      connectLocal: () =>
        connectEmbeddedService({ home: this.home, node: process.execPath, cli: program.entry, env, signal }),
    });
    return new RemoteClient(url, key, { headers: { 'User-Agent': `farwharf/${program.version}` } });
  }

  /** @throws AppError `bad-input` when several jobs begin so. */
  findRecord(name: string): ReturnType<JobLedger['get']> {
    const found = this.ledger.find(name, this.host);
    if (found.length <= 1) return found[0];
    throw new AppError('bad-input', `${found.length} jobs begin with "${name}". Give more of the id.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await (await this.#client)?.close();
    } catch {
      // It never connected, and whoever asked for it was told.
    }
    this.ledger.dispose();
  }
}
