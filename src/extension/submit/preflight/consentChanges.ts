import { formatBytes, formatCount, formatCredits } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { ExclusionReason, Selection } from '../../../workspace/select/selection.ts';
import { REASONS } from './preflightText.ts';

// Twice the size is a jump, but not among folders so small that a jump costs nobody anything.
const SIZE_JUMP = 2;
const SMALL_BYTES = 1_000_000;

/** What a person agreed to when they asked not to be asked again. Plain data: it is kept in the window's state. */
export interface Agreement {
  readonly host: string;
  readonly bytes: number;
  /** Highest cost in credits; undefined where the price was not known. */
  readonly cost?: number;
  readonly reasons: readonly ExclusionReason[];
  /** Paths that look like secrets, sent or not. */
  readonly secrets: readonly string[];
  /** Findings of other kinds, as `kind path`. */
  readonly findings: readonly string[];
  /** Paths sent or kept by an explicit choice. */
  readonly choices: readonly string[];
}

/** The agreement that submitting this would need. */
export function agreementTo(
  selection: Selection,
  terms: { host: string; cost: number | undefined; choices: readonly string[] },
): Agreement {
  const secrets = new Set(selection.excluded.filter(({ reason }) => reason === 'secret').map(({ path }) => path));
  for (const { type, path } of selection.findings) if (type === 'secret') secrets.add(path);
  return {
    host: terms.host,
    bytes: selection.totalBytes,
    ...(terms.cost === undefined ? {} : { cost: terms.cost }),
    reasons: [...new Set(selection.excluded.map(({ reason }) => reason))],
    secrets: [...secrets],
    findings: selection.findings
      .filter(({ type }) => type !== 'secret' && type !== 'foreign-repository')
      .map(({ type, path }) => `${type} ${path}`),
    choices: terms.choices,
  };
}

/** What turned up since a person asked not to be asked again, one sentence each; nothing: submit without asking. */
export function consentChanges(agreed: Agreement, now: Agreement): string[] {
  const added = <T>(before: readonly T[], after: readonly T[]): T[] => after.filter((item) => !before.includes(item));
  const secrets = added(agreed.secrets, now.secrets);
  const reasons = added(agreed.reasons, now.reasons).filter((reason) => reason !== 'secret');
  const findings = added(agreed.findings, now.findings);
  const things: string[] = [];
  if (now.host !== agreed.host) things.push(`It now goes to ${printableLine(now.host)}.`);
  if (secrets.length > 0) things.push(`New: ${secrets.slice(0, 3).map(printableLine).join(', ')} looks like a secret.`);
  if (reasons.length > 0) things.push(`Now left out as well: ${reasons.map((reason) => REASONS[reason]).join(', ')}.`);
  if (findings.length > 0) things.push(`${formatCount(findings.length, 'new finding')}.`);
  if (added(agreed.choices, now.choices).length > 0) things.push('Other files were chosen by hand.');
  if (now.bytes > SMALL_BYTES && now.bytes > SIZE_JUMP * agreed.bytes) {
    things.push(`The folder grew from ${formatBytes(agreed.bytes)} to ${formatBytes(now.bytes)}.`);
  }
  if (now.cost === undefined && agreed.cost !== undefined) things.push('The price is not known any more.');
  if (now.cost !== undefined && (agreed.cost === undefined || now.cost > agreed.cost)) {
    things.push(`It may now cost ${formatCredits(now.cost)} credits.`);
  }
  return things;
}
