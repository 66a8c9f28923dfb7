import { randomUUID } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { isAbort, messageOf } from '../../core/errors.ts';
import { endHook, type EndHook, runEndHook } from '../../jobs/report/endHook.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { readSetting } from '../contributions/config.ts';
import { showError } from '../ui/show.ts';

// Every window sees a job end within seconds. The first one reports it.
const CLAIM_MS = 24 * 60 * 60_000;

interface EndHookDeps extends Pick<WindowParts, 'log' | 'signal'> {
  readonly ledger: Pick<AsyncLedger, 'claim'>;
  readonly openSettings: () => void;
}

/** Runs the program or the request of the setting `onEnd` for jobs that have ended. */
export class EndHooks {
  readonly #deps: EndHookDeps;
  readonly #owner = randomUUID();
  /** The setting whose failure was shown. */
  #failed: string | undefined;

  constructor(deps: EndHookDeps) {
    this.#deps = deps;
  }

  async run(ended: readonly JobRecord[]): Promise<void> {
    const setting = readSetting('onEnd');
    if (ended.length === 0 || Object.keys(setting).length === 0) return;
    const hook = endHook.safeParse(setting);
    if (hook.data === undefined)
      return this.#fail(l10n.t('The setting is not valid. Enter a "command" with its arguments, or a "url".'), setting);
    for (const record of ended) await this.#runFor(record, hook.data);
  }

  async #runFor(record: JobRecord, hook: EndHook): Promise<void> {
    const { ledger, log, signal } = this.#deps;
    if (!(await ledger.claim(`end ${record.id}`, this.#owner, CLAIM_MS))) return;
    try {
      await runEndHook(hook, record, { signal, env: process.env });
      log.info('the end of a job was reported', { id: record.id });
    } catch (error) {
      if (isAbort(error)) return;
      log.warn('the end of a job could not be reported', { id: record.id, error });
      await this.#fail(messageOf(error), hook);
    }
  }

  /** Shows a failure once for each value of the setting. */
  async #fail(reason: string, hook: object): Promise<void> {
    const failed = JSON.stringify(hook);
    if (failed === this.#failed) return;
    this.#failed = failed;
    const choice = await showError(
      l10n.t('"On End" failed, so nothing reported that a job has ended. {0}', reason),
      l10n.t('Open Settings'),
    );
    if (choice !== undefined) this.#deps.openSettings();
  }
}
