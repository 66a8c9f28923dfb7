import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, isAbort } from '../../core/errors.ts';
import { LOCAL_HOST, machineHost, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import { readMachines } from '../../machines/machineRecords.ts';
import { connectMachine } from './connectMachine.ts';
import { chooseSignIn, signInWithProvider } from './providerSignIn.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { explain } from '../ui/errorText.ts';
import { knownServices } from '../connection/knownServices.ts';
import type { Services } from './services.ts';
import { hostLabel } from '../ui/words.ts';
import { askText, pickRow, showCancellable } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const KNOWN_KEY = 'known hosts';
const MAX_KNOWN = 10;

/**
 * Signs in to a host: with the site's identity provider where the host offers that, or with a key, which is stored once the host has
 * accepted it. False if the user cancelled.
 */
export async function signIn(services: Services, host: string): Promise<boolean> {
  if (host === LOCAL_HOST || machineOfHost(host) !== undefined) {
    throw new AppError(
      'bad-input',
      l10n.t(
        'Jobs run on this machine or one that ssh reaches, which needs no key. To sign in to a service, select it as the host first.',
      ),
    );
  }
  const way = await chooseSignIn(services, host);
  if (way === undefined) return false;
  if (way.type === 'provider') return signInWithProvider(services, way.offer);
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
      await tryKey(services, host, key.trim());
    } catch (error) {
      if (isAbort(error)) return false;
      services.log.warn('sign-in failed', { host, error });
      problem = explain(error).sentence;
      continue;
    }
    await services.signIns.delete(host);
    await services.keys.set(host, key.trim());
    await services.account.refresh(services.signal);
    return true;
  }
}

async function tryKey(services: Services, host: string, key: string): Promise<void> {
  const title = l10n.t('Signing in to {0}', hostLabel(host));
  await showCancellable(title, (signal) => services.hosts.tryKey(host, key, signal));
}

/** Lets the user choose where jobs run: on this machine, on a service used before, or on a new one. */
export async function selectHost(services: Services, globalState: vscode.Memento): Promise<void> {
  const machines = readMachines(services.home);
  const current = services.hosts.currentIfUsable();
  const known = knownServices(globalState.get<readonly string[]>(KNOWN_KEY) ?? [], current);
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
      ...known.map((host) => item(host, 'server-environment', host)),
      connect,
      overSsh,
    ],
    {
      title: l10n.t('Where jobs run'),
      placeHolder: l10n.t('Select where new jobs run. Running jobs are not affected.'),
    },
  );
  if (chosen === undefined) return;
  if (chosen === overSsh) return connectMachine(services);
  const host = chosen.host ?? (await askAddress());
  if (host === undefined) return;
  if ((await services.hosts.isSignedOut(host)) && !(await signIn(services, host))) return;
  const others = known.filter((other) => other !== host);
  await globalState.update(KNOWN_KEY, knownServices(others, host).slice(0, MAX_KNOWN));
  await writeUserSetting('host', host);
  await services.account.refresh(services.signal);
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
