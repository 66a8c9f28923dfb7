import * as l10n from '@vscode/l10n';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import type { Services } from '../services/services.ts';
import { explain } from '../ui/errorText.ts';
import { showError } from '../ui/show.ts';

const TRY_AGAIN = l10n.t('Try Again');
const RUN_HERE = l10n.t('Run on This Machine');

/** The account on a host, or the sentence that says why the host cannot be reached. @throws other errors of the service. */
export async function askAccount(
  services: Services,
  host: string,
): Promise<{ readonly account: unknown } | { readonly unreachable: string }> {
  try {
    return { account: await services.account.ask(host) };
  } catch (error) {
    const { kind, sentence } = explain(error, host);
    if (kind !== 'unreachable') throw error;
    services.log.warn('the host of a submit cannot be reached', { host, error });
    return { unreachable: sentence };
  }
}

/** Asks where to submit instead. Undefined if the user closes the message. */
export async function chooseOtherHost(host: string, problem: string): Promise<string | undefined> {
  const offers = host === LOCAL_HOST ? [TRY_AGAIN] : [TRY_AGAIN, RUN_HERE];
  const chosen = await showError(l10n.t('{0} Nothing was sent.', problem), ...offers);
  return chosen === TRY_AGAIN ? host : chosen === RUN_HERE ? LOCAL_HOST : undefined;
}
