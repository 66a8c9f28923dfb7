import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { nearest } from '../../core/text/similar.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import type { JobFinding } from '../selection/jobFinding.ts';

/** A volume that the jobs of an account can have. */
export interface AccountVolume {
  readonly name: string;
  readonly isWritable: boolean;
}

/** The volumes of an account. @param account the response of `GET /v1/me`; undefined if there is none. */
export function readVolumes(account: unknown): readonly AccountVolume[] {
  const volumes = receivedAccount.safeParse(account).data?.volumes ?? [];
  return volumes.flatMap(({ name, writable }) =>
    typeof name === 'string' ? [{ name, isWritable: writable === true }] : [],
  );
}

/** Why a job cannot have its volumes; empty if it can. */
export function volumeFindings(
  volumes: readonly string[],
  { account, service }: { readonly account: unknown; readonly service: string },
): readonly JobFinding[] {
  if (volumes.length === 0) return [];
  const own = readVolumes(account).map(({ name }) => name);
  const missing = volumes.filter((name) => !own.includes(name));
  if (missing.length === 0) return [];
  const guess = nearest(missing[0] ?? '', own);
  const detail =
    own.length === 0
      ? l10n.t('Your account has no volumes. Ask the operator of the service, or submit without one.')
      : guess === undefined
        ? l10n.t('Your volumes: {0}.', own.join(', '))
        : l10n.t('Did you mean {0}? Your volumes: {1}.', guess, own.join(', '));
  const summary = l10n.t('You have no volume {0} on {1}', missing.join(', '), service);
  return [{ type: 'volumes', severity: 'error', summary: printableLine(summary), detail: printableLine(detail) }];
}
