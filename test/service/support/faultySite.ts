import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SelectedFolder } from '../../../src/jobs/selection/selectedFolder.ts';
import { Selections } from '../../../src/jobs/selection/selections.ts';
import { DEFAULT_PROXY } from '../../../src/service/config/configSections.ts';
import type { TlsSettings } from '../../../src/service/config/configSections.ts';
import { jobsAtOnce, type ServiceClient, startService, temporaryFolder, type WireEvent } from './service.ts';

export const SCRIPT = 'run.sh';
export const RESULT = 'result.bin';
/** For a job of ten minutes. */
const HOLD = 1;
const RESULT_BYTES = 300_000;
const LINES = 600;

interface SiteOptions {
  /** Plain HTTP by default. */
  readonly tls?: TlsSettings;
  /** About the size of what is sent. */
  readonly sentBytes?: number;
}

interface ListedJob {
  readonly job_id: string;
  readonly project: string | null;
}

/** A service that has one job which ended, with a log and results, and one that holds the machine, so that whatever is sent waits. */
export class FaultySite {
  readonly service: ServiceClient;
  readonly selections: Selections;
  /** What is sent. */
  readonly selection: SelectedFolder;
  /** The job that ended, its events and the file that it left. */
  readonly jobId: string;
  readonly events: readonly WireEvent[];
  readonly result: Buffer;
  /** Where tries keep their files. */
  readonly root: string;
  readonly #credits: number;

  private constructor(
    site: Pick<FaultySite, 'service' | 'selections' | 'selection' | 'jobId' | 'events' | 'result' | 'root'>,
    credits: number,
  ) {
    this.service = site.service;
    this.selections = site.selections;
    this.selection = site.selection;
    this.jobId = site.jobId;
    this.events = site.events;
    this.result = site.result;
    this.root = site.root;
    this.#credits = credits;
  }

  static async start(t: TestContext, { tls, sentBytes = RESULT_BYTES }: SiteOptions = {}): Promise<FaultySite> {
    const service = await startService(t, { config: { ...jobsAtOnce(1), proxy: DEFAULT_PROXY, ...(tls && { tls }) } });
    const root = await temporaryFolder(t);
    const folder = join(root, 'project');
    await mkdir(folder);
    await writeFile(join(folder, SCRIPT), 'sleep 600');
    await writeFile(join(folder, 'noise.bin'), randomBytes(sentBytes));
    const selections = new Selections();
    const selection = await selections.select(folder, { isTrusted: true });
    const result = randomBytes(RESULT_BYTES);
    const write = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i of ${LINES}"; done; mv given.bin ${RESULT}`;
    const jobId = await service.submit({ [SCRIPT]: write, 'given.bin': result }, { script: SCRIPT });
    const { state } = await service.untilEnd(jobId);
    assert.equal(state, 'succeeded');
    const events = await service.events(jobId);
    const holder = await service.submit({ [SCRIPT]: 'sleep 600' }, { script: SCRIPT });
    await service.untilRunning(holder);
    return new FaultySite({ service, selections, selection, jobId, events, result, root }, await service.credits());
  }

  /** The jobs of one try. */
  async jobsOf(project: string): Promise<readonly string[]> {
    const { jobs } = await this.service.json<{ jobs: ListedJob[] }>('/v1/jobs?limit=100');
    return jobs.filter((job) => job.project === project).map(({ job_id: id }) => id);
  }

  /** Takes a job away that waits, and with it its hold. */
  async takeAway(jobId: string): Promise<void> {
    await this.service.json(`/v1/jobs/${jobId}`, { method: 'DELETE' });
  }

  /** Fails unless what the account has is what it had, but for the holds of so many jobs that wait. */
  async checkBalance(waiting = 0): Promise<void> {
    assert.equal(await this.service.credits(), this.#credits - waiting * HOLD);
  }
}
