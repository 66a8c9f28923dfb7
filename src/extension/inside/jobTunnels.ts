import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { readFeatures } from '../../jobs/plan/serviceLimits.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import { CONNECT_FEATURE } from '../../remote/tunnel/tunnelProtocol.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { hostLabel } from '../ui/words.ts';

interface JobTunnelsDeps {
  readonly hosts: Pick<Hosts, 'account' | 'connectJob'>;
  readonly store: Pick<JobStore, 'get'>;
}

/** A tunnel that others may use too. Its disposal ends the tunnel with its last user. */
export interface SharedTunnel extends Disposable {
  readonly client: JobTunnelClient;
}

interface OpenTunnel {
  readonly client: Promise<JobTunnelClient>;
  users: number;
  end(): void;
}

/** The tunnels of this window: one for each job, since each costs the service a connection and a line of its audit log. */
export class JobTunnels implements vscode.Disposable {
  readonly #deps: JobTunnelsDeps;
  readonly #open = new Map<string, OpenTunnel>();

  constructor(deps: JobTunnelsDeps) {
    this.#deps = deps;
  }

  /**
   * @throws AppError `refused` if the job does not run, or its service lets nobody into its jobs; the service's own errors.
   */
  async use(record: JobRecord): Promise<SharedTunnel> {
    this.requireRunning(record);
    const tunnel = this.#open.get(record.id) ?? this.#connect(record);
    tunnel.users += 1;
    let isUsed = true;
    const leave = (): void => {
      if (!isUsed) return;
      isUsed = false;
      tunnel.users -= 1;
      if (tunnel.users === 0) this.#forget(record.id, tunnel);
    };
    try {
      const client = await tunnel.client;
      return { client, [Symbol.dispose]: leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** @throws AppError `refused` if the job does not run. Its record may be older than the list. */
  requireRunning(record: JobRecord): void {
    const { state } = this.#deps.store.get(record.id) ?? record;
    if (state === 'running') return;
    throw new AppError('refused', l10n.t('{0} is not running.', shownScript(record.script)));
  }

  dispose(): void {
    for (const [id, tunnel] of this.#open) this.#forget(id, tunnel);
  }

  #connect(record: JobRecord): OpenTunnel {
    const ending = new AbortController();
    const client = this.#openTunnel(record, ending.signal);
    const tunnel = { client, users: 0, end: () => ending.abort() };
    this.#open.set(record.id, tunnel);
    const forget = (): void => this.#forget(record.id, tunnel);
    client.then(({ closed }) => closed).then(forget, forget); // each user gets the error
    return tunnel;
  }

  async #openTunnel({ host, jobId }: JobRecord, signal: AbortSignal): Promise<JobTunnelClient> {
    const { hosts } = this.#deps;
    if (!readFeatures(await hosts.account(host, { signal })).includes(CONNECT_FEATURE)) {
      throw new AppError(
        'refused',
        l10n.t(
          'Running jobs on {0} cannot be connected to: the service does not offer it. Update the service, or run the job on one that does.',
          hostLabel(host),
        ),
      );
    }
    return hosts.connectJob(host, jobId ?? '', signal);
  }

  #forget(id: string, tunnel: OpenTunnel): void {
    tunnel.end();
    if (this.#open.get(id) === tunnel) this.#open.delete(id);
  }
}
