import assert from 'node:assert/strict';
import { JobPage } from '../../../src/jobs/report/jobPage.ts';
import { sparkline } from '../../../src/cli/jobs/job.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

const MAX_POINTS = 500;
const AT = '2026-01-01T00:00:00.000Z';

const SAMPLES = [
  'farwharf:metric {"step": 10, "loss": 0.3}\nfarwharf:metric {"loss": NaN, "lr": -Infinity}\r\n',
  '{"at": "2026-01-01T00:00:02.000Z", "cpu_cores": 1.5, "memory_bytes": 700000000, "state": "queued", "path": "a", "size": 5}',
];

function pageOf(texts: readonly string[]): JobPage {
  const page = new JobPage();
  for (const text of texts) page.push({ seq: 0, at: AT, event: 'log', data: { stream: 'stdout', text } });
  return page;
}

/** Any JSON as the data of each event that a page reads. */
function pushJson(page: JobPage, text: string): void {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return;
  }
  for (const event of ['usage', 'state', 'artifact', 'log', 'end']) page.push({ seq: 0, at: AT, event, data });
}

/** What a job prints and its service sends: wherever output is cut, the same metrics come out, and all of them can be drawn. */
export const jobPages: FuzzedReader = {
  name: 'job-pages',
  samples: () => Promise.resolve(SAMPLES.map((sample) => Buffer.from(sample))),
  words: ['farwharf:metric ', '{"', '": ', 'NaN', '-Infinity', '1e999', '"step"', '\r', '\n', '}\n', '__proto__'],
  open: () =>
    Promise.resolve({
      read: async (input) => {
        const text = input.toString();
        const whole = pageOf([`${text}\n`]);
        const middle = Math.floor(text.length / 2);
        const halves = pageOf([text.slice(0, middle), `${text.slice(middle)}\n`]);
        const metricsOf = ({ metrics }: JobPage): unknown[] => [...metrics].map(([name, { points }]) => [name, points]);
        assert.deepEqual(metricsOf(halves), metricsOf(whole));
        pushJson(whole, text);
        for (const { points } of [...whole.metrics.values(), whole.usage.get('cpu_cores')].filter(
          (each) => each !== undefined,
        )) {
          assert.ok(points.length <= MAX_POINTS);
          assert.ok(sparkline(points, 32).length <= 32);
        }
        return Promise.resolve();
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
