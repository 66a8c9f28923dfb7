import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { AppError, isAbort } from '../../core/errors.ts';
import type { DevicePrompt } from '../../jobs/signIn/deviceFlow.ts';
import type { SignInOffer, SignInRecord } from '../../jobs/signIn/signInRecord.ts';
import type { AccountMonitor } from './account.ts';
import type { Hosts } from './hosts.ts';
import type { Keys } from './keys.ts';
import type { SignIns } from './signIns.ts';
import { label } from '../ui/labels.ts';
import { askModal, pickRow, showCancellable, showInformation } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';

/** What signing in and out uses. */
export interface SignInDeps extends Pick<WindowParts, 'log' | 'signal'> {
  readonly account: AccountMonitor;
  readonly hosts: Hosts;
  readonly keys: Keys;
  readonly signIns: SignIns;
}

/** How somebody signs in to a host. */
export type SignInWay = { readonly type: 'key' } | { readonly type: 'provider'; readonly offer: SignInOffer };

const OPEN = l10n.t('Copy Code and Open Page');

/** Asks the host whether it offers a provider, and then the user which way to use. Undefined if the user cancelled. */
export async function chooseSignIn(deps: SignInDeps, host: string): Promise<SignInWay | undefined> {
  const offer = await findOffer(deps, host);
  if (offer === undefined) return { type: 'key' };
  const provider = {
    label: label`$(account) ${l10n.t('Sign in with {0}', new URL(offer.issuer).host)}`,
    way: { type: 'provider', offer } as const,
  };
  const key = { label: label`$(key) ${l10n.t('Use an API key')}`, way: { type: 'key' } as const };
  return (await pickRow([provider, key], { title: l10n.t('Sign in to {0}', hostLabel(host)) }))?.way;
}

/**
 * If the host does not respond, a key is used, because all hosts accept keys. @throws AppError `refused` for an answer that is not safe to
 * use.
 */
async function findOffer({ log, signal }: SignInDeps, host: string): Promise<SignInOffer | undefined> {
  const [{ readSignInOffer }, { createBoundedFetch }] = await Promise.all([
    import('../../jobs/signIn/signInOffer.ts'),
    import('../../core/network/boundedFetch.ts'),
  ]);
  try {
    return await readSignInOffer(host, { fetch: createBoundedFetch(), signal });
  } catch (error) {
    if (error instanceof AppError && error.code === 'refused') throw error;
    log.warn('the host did not say how to sign in', { host, error });
    return undefined;
  }
}

/** Signs in on a page of the provider, and stores the sign-in once the host has accepted it. False if the user cancelled. */
export async function signInWithProvider(deps: SignInDeps, offer: SignInOffer): Promise<boolean> {
  const { host } = offer;
  const title = l10n.t('Signing in to {0}: continue in your browser', hostLabel(host));
  try {
    await showCancellable(title, async (signal) => {
      const record = await signInAnyhow(offer, signal);
      await deps.hosts.tryKey(host, record.access_token, signal);
      await deps.signIns.set(record);
    });
  } catch (error) {
    if (isAbort(error)) return false;
    throw error;
  }
  await deps.account.refresh(deps.signal);
  void showInformation(l10n.t('Signed in to {0}.', hostLabel(host)));
  return true;
}

/** The browser flow needs a browser on this machine; in a window that is connected to another machine, a code can be confirmed anywhere. */
async function signInAnyhow(offer: SignInOffer, signal: AbortSignal): Promise<SignInRecord> {
  const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  if (isHere) {
    const { signInByBrowser } = await import('../../jobs/signIn/browserFlow.ts');
    return signInByBrowser(offer, { open: async (url) => openPage(url.href), signal });
  }
  const { signInByDevice } = await import('../../jobs/signIn/deviceFlow.ts');
  const show = (prompt: DevicePrompt): void => void showCode(prompt, offer);
  return signInByDevice(offer, { show, signal });
}

async function showCode({ url, code, completeUrl }: DevicePrompt, { issuer }: SignInOffer): Promise<void> {
  const question = l10n.t(
    'Enter the code {0} on the page of {1}, or compare it with the code there.',
    code,
    new URL(issuer).host,
  );
  if ((await askModal(question, { detail: url }, OPEN)) !== OPEN) return;
  await vscode.env.clipboard.writeText(code);
  await openPage(completeUrl ?? url);
}

async function openPage(url: string): Promise<void> {
  await vscode.env.openExternal(vscode.Uri.parse(url, true));
}
