import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { MAX_JOB_SECRETS, secretName, SECRETS_FEATURE } from '../../remote/protocol/secret.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import { valueRefusal } from '../selection/refusals.ts';
import { readFeatures } from './serviceLimits.ts';

/** Whether a service stores secrets. @param account the response of `GET /v1/me`; undefined if there is none. */
export function storesSecrets(account: unknown): boolean {
  return readFeatures(account).includes(SECRETS_FEATURE);
}

/** Whether the key of an account lists its secrets: the service stores some, and the scopes of the key include them. */
export function mayListSecrets(account: unknown): boolean {
  const scopes = receivedAccount.safeParse(account).data?.key?.scopes ?? undefined;
  return storesSecrets(account) && (scopes === undefined || scopes.includes(SECRETS_FEATURE));
}

/**
 * Why a job cannot get its secrets; empty if it can.
 *
 * @param target.secretNames the secrets of the account; undefined if they are not known.
 */
export function secretFindings(
  secrets: readonly string[],
  {
    account,
    service,
    secretNames,
  }: { readonly account: unknown; readonly service: string; readonly secretNames?: readonly string[] | undefined },
): readonly JobFinding[] {
  if (secrets.length === 0) return [];
  const finding = (summary: string, detail: string): JobFinding[] => [
    { type: 'secrets', severity: 'error', summary: printableLine(summary), detail: printableLine(detail) },
  ];
  const names = secrets.join(', ');
  if (!storesSecrets(account)) {
    return finding(
      l10n.t('{0} does not store secrets', service),
      l10n.t('The job asks for {0}. Use another service, or submit without.', names),
    );
  }
  if (secrets.length > MAX_JOB_SECRETS) {
    return finding(
      l10n.t('{0} secrets are too many', secrets.length),
      l10n.t('A job gets at most {0}.', MAX_JOB_SECRETS),
    );
  }
  for (const name of secrets) {
    const refusal = valueRefusal(secretName, name);
    if (refusal !== undefined) return finding(l10n.t('{0} cannot be a secret', name), l10n.t('The name {0}.', refusal));
  }
  const missing = secretNames === undefined ? [] : secrets.filter((name) => !secretNames.includes(name));
  if (missing.length === 0) return [];
  const [first = ''] = missing;
  return missing.length === 1
    ? finding(
        l10n.t('The secret {0} is not set on {1}', first, service),
        l10n.t('Set it with farwharf secret set NAME, or the command Set Secret.'),
      )
    : finding(
        l10n.t('The secrets {0} are not set on {1}', missing.join(', '), service),
        l10n.t('Set them with farwharf secret set NAME, or the command Set Secret.'),
      );
}
