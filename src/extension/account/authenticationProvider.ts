import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { DisposableStore } from '../../core/processes/lifetime.ts';
import { selectHost, type SelectHostDeps, signIn, signOut } from './signIn.ts';
import { hostLabel } from '../ui/words.ts';

/** As in the manifest. */
const PROVIDER_ID = 'farwharf';

/**
 * Shows the services that somebody is signed in to in VS Code's Accounts menu, where they can also sign out. Other extensions can ask VS Code
 * for these sessions. A key can spend money, so their token is empty, and a key goes only to its own service.
 */
class FarwharfAuthenticationProvider implements vscode.AuthenticationProvider, vscode.Disposable {
  readonly #deps: SelectHostDeps;
  readonly #changed = new vscode.EventEmitter<vscode.AuthenticationProviderAuthenticationSessionsChangeEvent>();
  readonly #store = new DisposableStore();
  #known: readonly vscode.AuthenticationSession[] = [];
  readonly onDidChangeSessions = this.#changed.event;

  constructor(deps: SelectHostDeps) {
    this.#deps = deps;
    this.#store.add(this.#changed);
    const compare = (): void =>
      void this.#compare().catch((error: unknown) => deps.log.warn('the accounts could not be read', { error }));
    this.#store.add(deps.keys.onDidChange(compare));
    this.#store.add(deps.signIns.onDidChange(compare));
    compare();
  }

  dispose(): void {
    this.#store.dispose();
  }

  async getSessions(): Promise<vscode.AuthenticationSession[]> {
    const { keys, signIns } = this.#deps;
    const hosts = new Set([...(await keys.origins()), ...(await signIns.hosts())]);
    return [...hosts].map(sessionOf);
  }

  async createSession(): Promise<vscode.AuthenticationSession> {
    const { hosts } = this.#deps;
    if (await hosts.isSignedOut(hosts.current())) await signIn(this.#deps, hosts.current());
    else await selectHost(this.#deps);
    const host = hosts.current();
    const session = (await this.getSessions()).find(({ id }) => id === host || id === originOf(host));
    if (session === undefined) throw new Error(l10n.t('Signing in was cancelled.'));
    return session;
  }

  async removeSession(id: string): Promise<void> {
    await signOut(this.#deps, id);
  }

  async #compare(): Promise<void> {
    const before = this.#known;
    const now = await this.getSessions();
    this.#known = now;
    const without = (some: readonly vscode.AuthenticationSession[], others: readonly vscode.AuthenticationSession[]) =>
      some.filter(({ id }) => !others.some((other) => other.id === id));
    const [added, removed] = [without(now, before), without(before, now)];
    if (added.length + removed.length > 0) this.#changed.fire({ added, removed, changed: undefined });
  }
}

/** Registers the provider. */
export function registerAuthenticationProvider(deps: SelectHostDeps): vscode.Disposable {
  const store = new DisposableStore();
  const provider = store.add(new FarwharfAuthenticationProvider(deps));
  const options = { supportsMultipleAccounts: true };
  store.add(vscode.authentication.registerAuthenticationProvider(PROVIDER_ID, 'Farwharf', provider, options));
  return store;
}

function sessionOf(host: string): vscode.AuthenticationSession {
  return { id: host, accessToken: '', account: { id: host, label: hostLabel(host) }, scopes: [] };
}

function originOf(host: string): string | undefined {
  return URL.canParse(host) ? new URL(host).origin : undefined;
}
