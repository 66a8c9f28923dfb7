import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { formatInteger } from '../../core/text/format.ts';
import { describeOutcome, describeResultCount } from '../../jobs/report/describeJob.ts';
import { hasSucceeded, isWaiting, type JobRecord } from '../../jobs/ledger/record.ts';
import { readSetting } from '../contributions/config.ts';
import { JOBS_VIEW } from '../contributions/names.ts';
import { DOWNLOAD } from '../jobs/log/jobLog.ts';
import { isWorthNotifying, type WatchedJobs } from '../jobs/store/watchedJobs.ts';
import { reportError } from '../ui/report.ts';
import { showInformation } from '../ui/show.ts';
import { downloadNew, type ResultDeps } from './results.ts';

const SHOW = l10n.t('Show Jobs');

interface AnnounceDeps extends Pick<WindowParts, 'wasSubmittedHere'>, ResultDeps {
  readonly watched: Pick<WatchedJobs, 'has'>;
}

/** Offers or downloads the results of jobs that were submitted from this window and succeeded, as the setting asks. */
export async function announceResults(counted: readonly JobRecord[], deps: AnnounceDeps): Promise<void> {
  const mode = readSetting('downloadResults');
  if (mode === 'onRequest') return;
  const waiting: JobRecord[] = [];
  for (const record of counted.filter((each) => isAnnounced(each, deps))) {
    const isDownloaded = mode === 'whenNew' && (await downloadOrReport(deps, record));
    if (!isDownloaded && isWorthNotifying(record, deps.watched)) waiting.push(record);
  }
  const [first, ...others] = waiting;
  if (first === undefined) return;
  if (others.length === 0) return offerDownload(first);
  const scripts = waiting.map(({ script }) => script).join(', ');
  const choice = await showInformation(
    waiting.length === 1
      ? l10n.t('1 job with results: {0}', scripts)
      : l10n.t('{1} jobs with results: {0}', scripts, formatInteger(waiting.length)),
    SHOW,
  );
  if (choice === SHOW) await vscode.commands.executeCommand(`${JOBS_VIEW}.focus`);
}

function isAnnounced(record: JobRecord, { wasSubmittedHere }: AnnounceDeps): boolean {
  const hasResults = record.results !== null && record.results.files > 0 && record.downloadedAt === null;
  return hasResults && hasSucceeded(record) && !isWaiting(record) && wasSubmittedHere(record.id);
}

/** @returns false if nothing was downloaded; a failure has been shown then. */
async function downloadOrReport(deps: AnnounceDeps, record: JobRecord): Promise<boolean> {
  try {
    return await downloadNew(deps, record);
  } catch (error) {
    void reportError(deps.log, error);
    return false;
  }
}

async function offerDownload(record: JobRecord): Promise<void> {
  const choice = await showInformation(
    `${shownScript(record.script)}: ${describeOutcome(record, describeResultCount(record))}`,
    DOWNLOAD,
  );
  if (choice === DOWNLOAD) await vscode.commands.executeCommand('farwharf.downloadResults', record.id);
}
