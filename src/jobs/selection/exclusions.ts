import * as l10n from '@vscode/l10n';
import type { Exclusion, ExclusionReason } from '../../workspace/select/selection.ts';

/** Why a path is left out, in words. Secrets come first, because they must not be overlooked. */
export const EXCLUSION_REASONS: Readonly<Record<ExclusionReason, string>> = {
  secret: l10n.t('looks like a secret'),
  limit: l10n.t('over a size or count limit'),
  unreadable: l10n.t('cannot be read'),
  link: l10n.t('symbolic link'),
  name: l10n.t('name that does not work on every system'),
  special: l10n.t('not a regular file'),
  user: l10n.t('excluded by you'),
  farwharfignore: l10n.t('ignored by .farwharfignore'),
  gitignore: l10n.t('ignored by git'),
  venv: l10n.t('virtual environment'),
  cache: l10n.t('cache or installed packages'),
  git: l10n.t("git's own data, or a repository inside this one"),
};

/** Excluded paths by reason, in the order of `EXCLUSION_REASONS`, without empty groups. */
export function groupExclusions(
  excluded: readonly Exclusion[],
): readonly (readonly [reason: ExclusionReason, group: readonly Exclusion[]])[] {
  const groups = Map.groupBy(excluded, ({ reason }) => reason);
  const order = Object.keys(EXCLUSION_REASONS);
  return [...groups].toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
}

/** Why this path is left out: `ignored by git: *.log (sub/.gitignore:3)`. */
export function describeExclusion({ reason, rule, at }: Exclusion): string {
  const pattern = rule === undefined || rule === EXCLUSION_REASONS[reason] ? '' : `: ${rule}`;
  const place = at === undefined ? '' : ` (${at})`;
  return `${EXCLUSION_REASONS[reason]}${pattern}${place}`;
}
