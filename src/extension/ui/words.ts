import * as l10n from '@vscode/l10n';
import { assertNever } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';

/** The display name of a host in a sentence: `this machine`, `gpu.example.org`. Translations have a preposition before it. */
export function hostLabel(host: string): string {
  return host === LOCAL_HOST ? l10n.t('this machine') : nameOf(host);
}

/** The display name of a host that stands alone. */
export function hostTitle(host: string): string {
  return host === LOCAL_HOST ? l10n.t({ message: 'this machine', comment: ['not in a sentence'] }) : nameOf(host);
}

function nameOf(host: string): string {
  return printableLine(host.replace(/^(?:https?|ssh):\/\//, ''));
}

/** The message about the selected host above the rows of the Jobs view; undefined if all is well. @param host undefined if it cannot be used. @param refusal why it refuses the account. */
export function connectionText(
  state: 'ready' | 'signedOut' | 'refused' | 'unreachable' | 'unusable',
  host: string | undefined,
  refusal: string | undefined,
): string | undefined {
  if (host === undefined) return l10n.t('The selected host cannot be used. Select another one to submit jobs.');
  switch (state) {
    case 'ready':
    case 'unusable': // and another one was selected since
      return undefined;
    case 'signedOut':
      return l10n.t('You are not signed in to {0}. Its jobs are shown in their last known state.', hostLabel(host));
    case 'refused':
      return `${refusal ?? ''} ${l10n.t('Its jobs are shown in their last known state.')}`.trim();
    case 'unreachable':
      return host === LOCAL_HOST
        ? l10n.t(
            'The job service on this machine does not respond. Its jobs are shown in their last known state and keep running.',
          )
        : l10n.t(
            '{0} does not respond. Its jobs are shown in their last known state and keep running.',
            hostLabel(host),
          );
    default:
      return assertNever(state);
  }
}
