import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { bringsPrograms } from '../../remote/protocol/termValues.ts';
import type { JobSubmission } from '../../remote/protocol/jobTerms.ts';
import { kindOfFile, matchesFile, SCRIPT_KINDS } from '../../workspace/scripts/scriptKinds.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { JobReview } from '../selection/jobReview.ts';
import type { ScriptHead } from '../selection/scriptHead.ts';
import { toolFindings } from './packages.ts';
import { readFeatures } from './serviceLimits.ts';

interface Target {
  /** The response of `GET /v1/me`; undefined if there is none. */
  readonly account: unknown;
  /** The name of the service in sentences. */
  readonly service: string;
}

/** What a review means for a job on a service. */
export function reviewFindings(
  { findings, packages, start }: JobReview,
  target: Target,
  draft: Pick<JobSubmission, 'venv' | 'cluster'>,
): readonly JobFinding[] {
  // A service without features may give `venv` another meaning.
  const ofPackages =
    readFeatures(target.account).length > 0
      ? [...packages.findings, ...toolFindings(packages.installed, target, draft)]
      : [];
  return [...findings, ...ofPackages, ...(start ? startFindings(start, target, draft) : [])];
}

/** The kinds of scripts that a service runs, each with the names of its files; undefined if it does not say. */
function readKinds(
  account: unknown,
): readonly { readonly kind: string; readonly files: readonly string[] }[] | undefined {
  return receivedAccount
    .safeParse(account)
    .data?.scripts?.flatMap(({ kind, files }) =>
      typeof kind === 'string' && Array.isArray(files)
        ? [{ kind, files: files.filter((name) => typeof name === 'string') }]
        : [],
    );
}

/** Why a service cannot start a script; empty if it can, or does not say what it runs. */
function startFindings(
  { path, program, isExecutable, isText }: ScriptHead,
  { account, service }: Target,
  draft: Pick<JobSubmission, 'venv' | 'cluster'>,
): readonly JobFinding[] {
  const kinds = readKinds(account);
  if (kinds === undefined) return [];
  const has = (kind: string): boolean => kinds.some((each) => each.kind === kind);
  const mayHaveMore = bringsPrograms(draft);
  const finding = (severity: JobFinding['severity'], summary: string, detail: string): readonly JobFinding[] => [
    { type: 'script', severity, summary: printableLine(summary), detail: printableLine(detail) },
  ];
  const all = l10n.t('Available: {0}.', kinds.map(({ kind }) => titleOf(kind)).join(', '));
  if (program !== undefined) {
    if (program.kind === undefined || has(program.kind.name) || mayHaveMore) return [];
    const summary = l10n.t('{0} may not have {1}, which the first line of {2} names', service, program.name, path);
    return finding('warning', summary, all);
  }
  if (kinds.some(({ files }) => matchesFile(files, path))) return [];
  const kind = kindOfFile(path);
  if (kind !== undefined && mayHaveMore) return [];
  const cannot = l10n.t('{0} cannot run {1}', service, path);
  if (kind !== undefined) {
    const remedy = l10n.t('Use another service, or a list of packages that installs {0}.', kind.title);
    return finding('error', cannot, `${all} ${remedy}`);
  }
  const how = l10n.t('Name the program that runs it in its first line, such as {0}.', '#!/usr/bin/env python3');
  if (!isExecutable) return finding('error', cannot, `${all} ${how}`);
  if (!isText) return [];
  return finding('warning', l10n.t('{0} may not start: it is text whose first line names no program', path), how);
}

function titleOf(name: string): string {
  return SCRIPT_KINDS.find((kind) => kind.name === name)?.title ?? name;
}
