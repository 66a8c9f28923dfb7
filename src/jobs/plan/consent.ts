import * as l10n from '@vscode/l10n';
import { formatBytes, formatCredits, plural } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { Agreement } from './draft.ts';
import { EXCLUSION_REASONS } from '../selection/exclusions.ts';
import { highestCredits } from './estimate.ts';
import type { SubmitPlan } from './plan.ts';

// Doubled size needs attention, except in small folders, where it hardly costs anything.
const SIZE_JUMP = 2;
const SMALL_BYTES = 1_000_000;
const READS: ReadonlySet<string> = new Set(['left-out-read', 'outside-read', 'absolute-path']);

/** The agreement that is needed to send this plan. */
export function agreementTo({
  host,
  selection,
  estimate,
  draft,
  findings,
}: Pick<SubmitPlan, 'host' | 'selection' | 'estimate' | 'draft' | 'findings'>): Agreement {
  const cost = highestCredits(estimate);
  return {
    host,
    bytes: selection.totalBytes,
    ...(cost !== undefined && { cost }),
    reasons: selection.exclusions.map(({ reason }) => reason),
    secrets: selection.secrets,
    findings: [
      ...selection.findings
        .filter(({ type }) => type !== 'secret' && type !== 'foreign-repository')
        .map(({ type, path, target }) => (target === undefined ? `${type} ${path}` : `${type} ${path} -> ${target}`)),
      ...findings.filter(({ type }) => READS.has(type)).map(({ summary }) => summary),
    ],
    ...(draft.secrets && { jobSecrets: draft.secrets }),
    ...(draft.volumes && { jobVolumes: draft.volumes }),
    choices: [...draft.include.map((path) => `+${path}`), ...draft.exclude.map((path) => `-${path}`)],
  };
}

/**
 * Whether the user must confirm a plan before it is sent, and what changed since the user agreed, one sentence each.
 *
 * @param mode the setting: `never` does not ask, `untilNew` asks until the user agrees, and again after each change.
 */
export function reviewConsent(
  plan: SubmitPlan,
  agreed: Agreement | undefined,
  mode: 'always' | 'untilNew' | 'never',
): { readonly mustAsk: boolean; readonly changes: readonly string[] } {
  const changes = agreed === undefined ? [] : consentChanges(agreed, agreementTo(plan));
  const isRefused = plan.findings.some(({ severity }) => severity === 'error');
  const { secretCount, secrets, findingCount, findings } = plan.selection;
  const isListed = secretCount === secrets.length && findingCount === findings.length;
  const isAgreed = mode === 'untilNew' && agreed !== undefined && changes.length === 0 && !isRefused && isListed;
  return { mustAsk: mode !== 'never' && !isAgreed, changes };
}

/** What changed since the user turned off the question, one sentence each. */
export function consentChanges(agreed: Agreement, now: Agreement): string[] {
  const added = <T>(before: readonly T[], after: readonly T[]): T[] => after.filter((item) => !before.includes(item));
  const secrets = added(agreed.secrets, now.secrets);
  const reasons = added(agreed.reasons, now.reasons).filter((reason) => reason !== 'secret');
  const findings = added(agreed.findings, now.findings);
  const things: string[] = [];
  if (now.host !== agreed.host) things.push(l10n.t('The job now goes to {0}.', printableLine(now.host)));
  if (secrets.length > 0)
    things.push(l10n.t('New: {0} looks like a secret.', secrets.slice(0, 3).map(printableLine).join(', ')));
  const given = added(agreed.jobSecrets ?? [], now.jobSecrets ?? []);
  if (given.length > 0) things.push(l10n.t('The job now gets the secrets {0}.', given.join(', ')));
  const volumes = added(agreed.jobVolumes ?? [], now.jobVolumes ?? []);
  if (volumes.length > 0) things.push(l10n.t('The job now gets the volumes {0}.', volumes.join(', ')));
  if (reasons.length > 0)
    things.push(l10n.t('Now left out as well: {0}.', reasons.map((reason) => EXCLUSION_REASONS[reason]).join(', ')));
  if (findings.length > 0) things.push(plural(findings.length, l10n.t('1 new finding.'), l10n.t('{0} new findings.')));
  if (added(agreed.choices, now.choices).length > 0) things.push(l10n.t('You included or excluded other files.'));
  if (now.bytes > SMALL_BYTES && now.bytes > SIZE_JUMP * agreed.bytes) {
    things.push(l10n.t('The folder grew from {0} to {1}.', formatBytes(agreed.bytes), formatBytes(now.bytes)));
  }
  if (now.cost === undefined && agreed.cost !== undefined) things.push(l10n.t('The price is no longer known.'));
  if (now.cost !== undefined && now.cost > (agreed.cost ?? 0)) {
    things.push(l10n.t('The job can now cost up to {0} credits.', formatCredits(now.cost)));
  }
  return things;
}
