import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, isAbort } from '../../core/errors.ts';
import { LOCAL_HOST, machineHost, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import { readMachines } from '../../machines/machineRecords.ts';
import { connectNewMachine, type MachineDeps } from './newMachine.ts';
import { chooseSignIn, type SignInDeps, signInWithProvider } from './providerSignIn.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { explain } from '../ui/errorText.ts';
import { knownServices } from './knownServices.ts';
import { hostLabel } from '../ui/words.ts';
import { askText, pickRow, showCancellable } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const KNOWN_KEY = 'known hosts';
const MAX_KNOWN = 10;

export interface SelectHostDeps extends SignInDeps, MachineDeps {
  readonly globalState: vscode.Memento;
}

/**
 * Signs in to a host: with the site's identity provider where the host offers that, or with a key, which is stored once the host has
 * accepted it. False if the user cancelled.
 */
export async function signIn(deps: SignInDeps, host: string): Promise<boolean> {
  if (host === LOCAL_HOST || machineOfHost(host) !== undefined) {
    throw new AppError(
      'bad-input',
      l10n.t(
        'Jobs run on this machine or one that ssh reaches, which needs no key. To sign in to a service, select it as the host first.',
      ),
    );
  }
  const way = await chooseSignIn(deps, host);
  if (way === undefined) return false;
  if (way.type === 'provider') return signInWithProvider(deps, way.offer);
  let problem = '';
  for (;;) {
    const key = await askText({
      title: l10n.t('Sign in to {0}', hostLabel(host)),
      prompt:
        problem === ''
          ? l10n.t(
              'The API key of your account. It is stored in the system’s secret storage and sent only to this host.',
            )
          : problem,
      placeHolder: l10n.t('API key'),
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined || key.trim() === '') return false;
    try {
      await tryKey(deps, host, key.trim());
    } catch (error) {
      if (isAbort(error)) return false;
      deps.log.warn('sign-in failed', { host, error });
      problem = explain(error).sentence;
      continue;
    }
    await deps.signIns.delete(host);
    await deps.keys.set(host, key.trim());
    await deps.account.refresh(deps.signal);
    return true;
  }
}

async function tryKey(deps: SignInDeps, host: string, key: string): Promise<void> {
  const title = l10n.t('Signing in to {0}', hostLabel(host));
  await showCancellable(title, (signal) => deps.hosts.tryKey(host, key, signal));
}

/** Forgets the key of a host and the sign-in to it, in all windows. The sign-in also ends at the identity provider. */
export async function signOut(deps: SignInDeps, host: string): Promise<void> {
  const { keys, signIns, account, log, signal } = deps;
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) {
    const record = await signIns.get(host);
    // First, so that they are removed whatever the provider responds.
    await signIns.delete(host);
    await keys.delete(host);
    if (record !== undefined) {
      const { endSignIn } = await import('../../jobs/signIn/endSignIn.ts');
      await endSignIn(record, signal).catch((error: unknown) =>
        log.warn('the sign-in may last at its provider', { error }),
      );
    }
  }
  await account.refresh(signal);
}

/** Lets the user choose where jobs run: on this machine, on a service used before, or on a new one. */
export async function selectHost(deps: SelectHostDeps): Promise<void> {
  const machines = readMachines(deps.home);
  const current = deps.hosts.currentIfUsable();
  const services = knownServices(deps.globalState.get<readonly string[]>(KNOWN_KEY) ?? [], current);
  const item = (host: string, icon: string, detail: string) => ({
    label: label`$(${icon}) ${host === LOCAL_HOST ? l10n.t('This machine') : hostLabel(host)}`,
    description: withoutIcons(host === current ? l10n.t('current') : ''),
    detail: withoutIcons(detail),
    host,
  });
  const connect = {
    label: label`$(add) ${l10n.t('Connect a Service…')}`,
    description: label``,
    detail: label`${l10n.t('A service with the /v1 API')}`,
    host: undefined,
  };
  const overSsh = {
    label: label`$(add) ${l10n.t('Connect a Machine over SSH…')}`,
    description: label``,
    detail: label`${l10n.t('A machine that you can ssh to. Nothing has to be installed there.')}`,
    host: undefined,
  };
  const chosen = await pickRow(
    [
      item(LOCAL_HOST, 'vm', l10n.t('No account. Jobs run as your own processes, not in a sandbox.')),
      ...machines.map(({ name, destination }) => item(machineHost(name), 'remote', `ssh ${destination}`)),
      ...services.map((host) => item(host, 'server-environment', host)),
      connect,
      overSsh,
    ],
    {
      title: l10n.t('Where jobs run'),
      placeHolder: l10n.t('Select where new jobs run. Running jobs are not affected.'),
    },
  );
  if (chosen === undefined) return;
  if (chosen === overSsh) return connectNewMachine(deps);
  const host = chosen.host ?? (await askAddress());
  if (host === undefined) return;
  if ((await deps.hosts.isSignedOut(host)) && !(await signIn(deps, host))) return;
  const others = services.filter((other) => other !== host);
  await deps.globalState.update(KNOWN_KEY, knownServices(others, host).slice(0, MAX_KNOWN));
  await writeUserSetting('host', host);
  await deps.account.refresh(deps.signal);
}

async function askAddress(): Promise<string | undefined> {
  const answer = await askText({
    title: l10n.t('Connect a service'),
    prompt: l10n.t('Enter the URL of the service. Your key and files are sent there.'),
    placeHolder: 'https://gpu.example.org',
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        readAddress(text);
        return undefined;
      } catch (error) {
        return explain(error).sentence;
      }
    },
  });
  return answer === undefined ? undefined : readAddress(answer);
}

function readAddress(text: string): string {
  return resolveHost({ remote: text.trim(), env: {} });
}
