import type * as vscode from 'vscode';
import { AppError, isAbort } from '../../core/errors.ts';
import { Emitter } from '../../core/processes/lifetime.ts';
import { repeat } from '../../core/processes/repeat.ts';
import type { Logger } from '../../core/log.ts';
import { type Rate, readBalance, readRateCard } from '../../jobs/plan/estimate.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import { explain } from '../ui/errorText.ts';
import { lostState } from './lostState.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import type { Hosts } from './hosts.ts';

const SLOW_REFRESH_MS = 60_000;

/** The last known state of an account. Plain data, which is stored over reloads. */
export interface AccountView {
  readonly plan: string | null;
  readonly balance: number | null;
  readonly rates: readonly Rate[];
  /** When the service reported it, ISO 8601. */
  readonly asOf: string;
}

/** `refused`: the service knows the account and refuses it. `unusable`: no host is selected, because the setting has no usable address. */
export type ConnectionState = 'ready' | 'signedOut' | 'refused' | 'unreachable' | 'unusable';

interface AccountDeps {
  readonly hosts: Hosts;
  readonly memory: vscode.Memento;
  readonly contexts: ContextKeys;
  readonly log: Logger;
}

/** The account on the selected host: balance and prices, when they were reported, and whether the host responds. */
export class AccountMonitor {
  readonly #deps: AccountDeps;
  readonly #changed = new Emitter<void>();
  #state: ConnectionState = 'ready';
  #refusal: string | undefined;
  #wasAsked = false;
  readonly onDidChange = this.#changed.event;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Why the service refuses the account, if it does. */
  get refusal(): string | undefined {
    return this.#state === 'refused' ? this.#refusal : undefined;
  }

  /** The last known account on this host; undefined before the first response. */
  last(host: string): AccountView | undefined {
    return this.#deps.memory.get<AccountView>(`account ${host}`);
  }

  /**
   * Fetches the account.
   *
   * @throws the service's or the system's error, `not-signed-in` or `untrusted`; the connection state changes too.
   */
  async ask(host: string, signal?: AbortSignal): Promise<unknown> {
    try {
      const account = await this.#deps.hosts.account(host, signal === undefined ? {} : { signal });
      this.#wasAsked = true;
      await this.#deps.memory.update(`account ${host}`, {
        plan: typeof account.plan === 'string' ? account.plan : null,
        balance: readBalance(account),
        rates: readRateCard(account),
        asOf: new Date().toISOString(),
      } satisfies AccountView);
      this.#show('ready', host);
      return account;
    } catch (error) {
      const isOurs = isAbort(error) || (error instanceof AppError && error.code === 'untrusted');
      this.#refusal = explain(error, host).sentence;
      if (!isOurs) this.#show(lostState(error), host);
      throw error;
    }
  }

  /**
   * Fetches the account in the background; a failure only changes the state. This does not start the embedded service. `isUp` means
   * that it is running although this window has not used it yet.
   */
  async refresh(signal?: AbortSignal, { isUp = this.#wasAsked } = {}): Promise<void> {
    try {
      const host = this.#currentHost();
      if (host === LOCAL_HOST && !isUp) {
        this.#show('ready', host);
        return;
      }
      await this.ask(host, signal);
    } catch (error) {
      if (!isAbort(error)) this.#deps.log.warn('the account could not be read', { error });
    }
  }

  /** Refreshes once a minute while the window is focused, until the signal aborts. */
  keepFresh(isFocused: () => boolean, signal: AbortSignal): Promise<void> {
    return repeat(() => (isFocused() ? this.refresh(signal) : undefined), SLOW_REFRESH_MS, signal);
  }

  #currentHost(): string {
    try {
      return this.#deps.hosts.current();
    } catch (error) {
      this.#show('unusable', undefined);
      throw error;
    }
  }

  #show(state: ConnectionState, host: string | undefined): void {
    this.#state = state;
    this.#deps.contexts.set('connection', state);
    this.#deps.contexts.set('isRemoteHost', host !== undefined && host !== LOCAL_HOST);
    this.#changed.fire();
  }
}
