import * as l10n from '@vscode/l10n';
import { describeFrozen, isFrozen } from '../../jobs/report/frozenText.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';

const ATTACH = l10n.t('Attach');
const GIVE_UP = l10n.t('Give Up');

interface FrozenDeps {
  /** Whether this window shows the job otherwise, or another window is the one to do so. */
  readonly isShownElsewhere: (record: JobRecord) => boolean;
  /** Shows a notification with buttons; returns the chosen one, or undefined when it is closed. */
  readonly show: (text: string, ...buttons: readonly string[]) => PromiseLike<string | undefined>;
  /** Runs a command of this extension. */
  readonly run: (command: string, argument: unknown) => PromiseLike<unknown>;
}

/** Offers to attach to jobs that wait for a debugger, once for each time that they do. */
export class FrozenNotifications {
  readonly #deps: FrozenDeps;
  readonly #offered = new Set<string>();

  constructor(deps: FrozenDeps) {
    this.#deps = deps;
  }

  /** Shows what is new among all jobs. Resolves once each notification is closed. */
  async offer(records: readonly JobRecord[]): Promise<void> {
    const { isShownElsewhere, show, run } = this.#deps;
    const waiting = records.filter(isFrozen).filter((record) => !isShownElsewhere(record));
    await Promise.all(
      waiting.map(async (record) => {
        const { id, script, frozen } = record;
        const key = `${id} ${frozen.since}`;
        if (this.#offered.has(key)) return;
        this.#offered.add(key);
        const choice = await show(`${shownScript(script)} ${describeFrozen(record)}`, ATTACH, GIVE_UP);
        if (choice === ATTACH) await run('farwharf.attachDebugger', id);
        if (choice === GIVE_UP) await run('farwharf.giveUpDebugging', id);
      }),
    );
  }
}
