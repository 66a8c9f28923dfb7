import * as l10n from '@vscode/l10n';
import { formatBytes, formatCredits, formatDuration, plural } from '../../../core/text/format.ts';
import { type Printable, printableLine } from '../../../core/text/printable.ts';
import type { JobFinding } from '../../../jobs/selection/jobFinding.ts';
import { describeEstimate } from '../../../jobs/plan/estimate.ts';
import { describeFoundPackages, describePackages } from '../../../jobs/plan/packages.ts';
import { exclusionSentence, headline, largestSentence } from './preflightText.ts';
import type { SubmitView } from './submitView.ts';
import { hostLabel } from '../../ui/words.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

export type PreflightChoice =
  | 'submit'
  | 'submitQuietly'
  | 'script'
  | 'lineEnds'
  | 'machine'
  | 'time'
  | 'project'
  | 'packages'
  | 'secrets'
  | 'volumes'
  | 'sent'
  | 'left'
  | 'all';

/** A row of the preflight as plain values. A row without a choice is a section heading. */
export interface PreflightRow {
  readonly choice?: PreflightChoice;
  readonly label: Printable;
  readonly description?: Printable;
  readonly detail?: Printable;
}

/** The row that fixes each finding. */
const ROW_OF_FINDING: Readonly<Record<JobFinding['type'], PreflightChoice>> = {
  'machine-class': 'machine',
  'time-limit': 'time',
  debug: 'time',
  credits: 'time',
  budget: 'time',
  'upload-size': 'sent',
  batch: 'script',
  secrets: 'secrets',
  volumes: 'volumes',
  packages: 'packages',
  script: 'script',
  command: 'script',
  'line-ends': 'lineEnds',
  'left-out-read': 'left',
  'outside-read': 'sent',
  'absolute-path': 'sent',
};

/** The rows of the preflight: the summary, then each term with its value. */
export function preflightRows(view: SubmitView, changes: readonly string[]): PreflightRow[] {
  const { draft, selection } = view;
  const sent = `${plural(selection.fileCount, l10n.t('1 file'), l10n.t('{0} files'))}, ${formatBytes(selection.totalBytes)}`;
  const rows: PreflightRow[] = [
    {
      choice: 'submit',
      label: label`$(rocket) ${l10n.t('Submit {0}', draft.script)}`,
      description: label`${[l10n.t('to {0}', hostLabel(view.host)), ...(draft.machineClass === undefined ? [] : [draft.machineClass])].join(' · ')}`,
      detail: withoutIcons(
        [headline(selection, view.estimate), ...changes, ...foreignRepositories(selection)].join(' '),
      ),
    },
    {
      choice: 'submitQuietly',
      label: label`$(check-all) ${l10n.t("Submit, and don't ask again until something changes")}`,
    },
    ...warnings(view),
    { label: label`${l10n.t('Job')}` },
    {
      choice: 'script',
      label: label`$(terminal) ${draft.command === undefined ? l10n.t('Script') : l10n.t('Command')}`,
      description: withoutIcons(draft.script),
    },
    { choice: 'machine', label: label`$(server) ${l10n.t('Machine class')}`, ...machineText(view) },
    {
      choice: 'time',
      label: label`$(watch) ${l10n.t('Time limit')}`,
      description: label`${formatDuration(draft.maxRuntime)} · ${describeEstimate(view.estimate)}`,
      ...holdText(view),
    },
    {
      choice: 'project',
      label: label`$(tag) ${l10n.t('Project')}`,
      description: withoutIcons(draft.project ?? l10n.t({ message: 'none', comment: ['project'] })),
    },
  ];
  const installed = draft.venv?.['requirements'];
  if (view.packageLists.length + view.otherLists.length > 0 || installed !== undefined) {
    rows.push({
      choice: 'packages',
      label: label`$(package) ${l10n.t('Packages')}`,
      description: withoutIcons(packagesText(view, installed)),
    });
  }
  const { secrets = [] } = draft;
  if (view.secretNames !== undefined || secrets.length > 0) {
    const names = secrets.length === 0 ? l10n.t('none') : secrets.join(', ');
    rows.push({ choice: 'secrets', label: label`$(key) ${l10n.t('Secrets')}`, description: withoutIcons(names) });
  }
  const { volumes = [] } = draft;
  if (view.volumes.length > 0 || volumes.length > 0) {
    const names = volumes.length === 0 ? l10n.t('none') : volumes.join(', ');
    rows.push({ choice: 'volumes', label: label`$(database) ${l10n.t('Volumes')}`, description: withoutIcons(names) });
  }
  rows.push(
    { label: label`${l10n.t('Files')}` },
    {
      choice: 'sent',
      label: label`$(files) ${l10n.t('Sent')}`,
      description: withoutIcons(sent),
      detail: withoutIcons(largestSentence(selection)),
    },
    {
      choice: 'left',
      label: label`$(circle-slash) ${l10n.t('Left out')}`,
      description: leftText(view),
      detail: withoutIcons(exclusionSentence(selection.exclusions)),
    },
    {
      choice: 'all',
      label: label`$(list-tree) ${l10n.t('Show all files')}`,
      description: label`${l10n.t('as a tree, with reasons and rules')}`,
    },
  );
  return rows;
}

/** How long a job that is debugged may be frozen, and for how much. */
function holdText({ draft: { debug }, estimate }: SubmitView): { readonly detail?: Printable } {
  if (debug === undefined) return {};
  const time = l10n.t('Waits up to {0} for a debugger where it fails', formatDuration(debug.hold));
  const { frozen } = estimate.type === 'known' ? estimate : {};
  return {
    detail:
      frozen === undefined
        ? label`${time}`
        : label`${l10n.t('{0}, for at most {1} of these credits', time, formatCredits(frozen))}`,
  };
}

/** The title above the rows. */
export function preflightTitle(view: SubmitView): string {
  return l10n.t('Submit {0} to {1}', printableLine(view.folderName), hostLabel(view.host));
}

function warnings(view: SubmitView): PreflightRow[] {
  const rows: PreflightRow[] = view.selection.findings.map(({ type, path, message }) => ({
    choice: type === 'tracked-but-ignored' || type === 'same-name' ? 'left' : 'sent',
    label: label`$(${type === 'secret' ? 'shield' : 'warning'}) ${path}`,
    detail: withoutIcons(message),
  }));
  for (const { type, summary, detail } of view.findings) {
    const choice = ROW_OF_FINDING[type];
    const remedy =
      choice === 'lineEnds'
        ? l10n.t('Select this line to rewrite it with LF line ends. Shells cannot read those of Windows.')
        : detail;
    rows.push({ choice, label: label`$(warning) ${summary}`, detail: withoutIcons(remedy) });
  }
  if (view.selection.fileCount === 0)
    rows.push({
      choice: 'left',
      label: label`$(warning) ${l10n.t('No file would be sent')}`,
      description: label`${l10n.t('Select to see the files that are left out, and why.')}`,
    });
  return rows.length === 0 ? [] : [{ label: label`${l10n.t('Check before you submit')}` }, ...rows];
}

function machineText({ draft, rates }: SubmitView): { description: Printable; detail?: Printable } {
  const name = draft.machineClass;
  if (name === undefined) return { description: label`${l10n.t('service default')}` };
  const rate = rates.find(({ machineClass }) => machineClass === name);
  if (!rate) return { description: label`${l10n.t('{0} · no price listed', name)}` };
  const { creditsPerMinute } = rate;
  const description =
    creditsPerMinute === null
      ? label`${name}`
      : label`${l10n.t('{0} · {1} credits a minute', name, formatCredits(creditsPerMinute))}`;
  return rate.description === null ? { description } : { description, detail: withoutIcons(rate.description) };
}

function packagesText({ packages, packageLists, otherLists }: SubmitView, installed: unknown): string {
  if (packages !== undefined) return describePackages(packages);
  if (installed === undefined) return describeFoundPackages(packageLists, otherLists);
  const name = typeof installed === 'string' ? installed : l10n.t('the listed packages');
  return l10n.t('installs {0} first', name);
}

function leftText({ selection }: SubmitView): Printable {
  const { exclusionCount } = selection;
  return printableLine(
    exclusionCount === 0
      ? l10n.t('nothing')
      : plural(exclusionCount, l10n.t('1 file or folder'), l10n.t('{0} files and folders')),
  );
}

function foreignRepositories({ findings }: SubmitView['selection']): string[] {
  return findings.filter(({ type }) => type === 'foreign-repository').map(({ message }) => message);
}
