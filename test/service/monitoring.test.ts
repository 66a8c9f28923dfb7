import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { machineClass, machineClassList } from '../../src/service/config/machineClasses.ts';
import { defineExecutor } from '../../src/service/executor/executorKind.ts';
import type { ClusterContact } from '../../src/service/executor/executor.ts';
import { EXECUTORS } from '../../src/service/executors.ts';
import { until } from './commandLine.ts';
import { Prometheus, prometheusIsMissing, promtool } from './support/prometheus.ts';
import { type HealthBody, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

const FOLDER = join(import.meta.dirname, '../../monitoring');
const RULES = join(FOLDER, 'alerts.yml');
const ALERTS = [...readFileSync(RULES, 'utf8').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);
/** Rules that do not wait for minutes before they fire; otherwise as packaged. */
const IMPATIENT_RULES = readFileSync(RULES, 'utf8').replaceAll(/^( +for:) \w+$/gm, '$1 0s');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}
const DASHBOARD = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
/** The expressions of the dashboard, with its variable set to all services. */
const EXPRESSIONS = DASHBOARD.panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll('$instance', '.*')),
);

const missing = await prometheusIsMissing();
const skip = missing === undefined ? false : `NO PROMETHEUS: ${missing}`;

/** An executor whose cluster can be away, without a cluster. */
function clusterThatCanFail(): { readonly isAway: (isAway: boolean) => void; readonly executors: typeof EXECUTORS } {
  let isAway = false;
  const cluster: { -readonly [Key in keyof ClusterContact]: ClusterContact[Key] } = {
    answeredAt: undefined,
    failingSince: undefined,
    async look() {
      if (isAway) {
        cluster.failingSince ??= new Date();
        throw new AppError('unreachable', 'away');
      }
      cluster.failingSince = undefined;
      cluster.answeredAt = performance.now();
    },
  };
  const kind = defineExecutor({
    shape: { machine_classes: machineClassList(machineClass).optional() },
    create: async () => ({
      capacity: 4,
      isLocal: false,
      keepsEnvironments: () => false,
      cluster,
      refusal: () => undefined,
      launch: () => Promise.reject(new AppError('unreachable', 'away')),
      status: async () => ({ state: 'absent' }),
      externalId: () => undefined,
      reportSecret: () => undefined,
      cancel: async () => {},
      cleanUp: async () => {},
      endNow: async () => false,
      forget: () => {},
      stop: async () => {},
    }),
    check: async () => [],
  });
  return { isAway: (is) => (isAway = is), executors: { ...EXECUTORS, process: async () => kind } as typeof EXECUTORS };
}

async function healthOf({ url }: ServiceClient): Promise<HealthBody & { readonly code: number }> {
  const response = await fetch(`${url}/healthz`);
  return { code: response.status, ...((await response.json()) as HealthBody) };
}

async function scrape(t: TestContext, service: ServiceClient): Promise<Prometheus> {
  const folder = await temporaryFolder(t);
  const prometheus = await Prometheus.start(t, folder, { rules: IMPATIENT_RULES, target: new URL(service.url).host });
  await until(async () => (await prometheus.query('farwharf_info')).length === 1);
  return prometheus;
}

test('the metrics of a service follow the conventions, and rules and dashboard use only names that are there', {
  skip,
}, async (t) => {
  const { executors } = clusterThatCanFail();
  const service = await startService(t, { executors });
  const text = await (await fetch(`${service.url}/metrics`)).text();
  assert.equal(await promtool(['check', 'metrics'], text), '');
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type]) => [name, type]));
  const exists = (name: string): boolean =>
    types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram';
  const variables = DASHBOARD.templating.list.flatMap(({ definition = [] }) => definition);
  const rules = readFileSync(RULES, 'utf8').match(/^ +expr: .*$/gm) ?? [];
  assert.equal(rules.length, ALERTS.length);
  const used = [...rules, ...EXPRESSIONS, ...variables].flatMap(
    (each) => each.match(/\b(farwharf|nodejs|process)_\w+/g) ?? [],
  );
  assert.ok(new Set(used).size > 20);
  assert.deepEqual(
    [...new Set(used)].filter((name) => !exists(name)),
    [],
  );
});

test('the rules are valid, and each fires for what it is about and for nothing else', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  assert.match(await promtool(['check', 'rules', RULES]), new RegExp(`SUCCESS: ${ALERTS.length} rules found`));
  const healthy: Record<string, string> = {
    up: '1',
    farwharf_accepting_jobs: '1',
    farwharf_draining: '0',
    farwharf_cluster_up: '1',
    farwharf_healthy: '1',
    farwharf_queue_oldest_seconds: '60',
    farwharf_slots_free: '3',
    farwharf_disk_free_bytes: '9e9',
    farwharf_disk_min_free_bytes: '1e9',
    farwharf_certificate_expires_seconds: '9e9',
    nodejs_eventloop_lag_p99_seconds: '0.01',
  };
  const constant = ([name, value]: [string, string]): object => ({
    series: `${name}{job="farwharf",instance="a:1"}`,
    values: `${value}x1600`,
  });
  const series = (changed: Record<string, string>): object[] => [
    ...Object.entries({ ...healthy, ...changed }).map(constant),
    ...('silent' in changed
      ? [{ series: 'farwharf_cluster_last_answer_timestamp_seconds{instance="a:1"}', values: '0x200' }]
      : [{ series: 'farwharf_cluster_last_answer_timestamp_seconds{instance="a:1"}', values: '0+60x200' }]),
    ...('errors' in changed
      ? [{ series: 'farwharf_executor_errors_total{instance="a:1",call="launch",code="refused"}', values: '0+1x200' }]
      : [
          {
            series: 'farwharf_executor_errors_total{instance="a:1",call="look",code="unreachable"}',
            values: '0+9x200',
          },
        ]),
    { series: 'farwharf_clock_steps_total{instance="a:1"}', values: 'clock' in changed ? '0x115 1x85' : '0x200' },
  ];
  const cases: Record<string, Record<string, string>> = {
    '': {},
    FarwharfDown: { up: '0' },
    FarwharfRefusesJobs: { farwharf_accepting_jobs: '0' },
    FarwharfDrained: { farwharf_draining: '1', farwharf_accepting_jobs: '0', farwharf_queue_oldest_seconds: '30000' },
    FarwharfClusterDown: { farwharf_cluster_up: '0' },
    FarwharfClusterSilent: { silent: '0' },
    FarwharfExecutorErrors: { errors: '1' },
    FarwharfQueueOld: { farwharf_queue_oldest_seconds: '30000' },
    FarwharfNoFreeSlots: { farwharf_queue_oldest_seconds: '4000', farwharf_slots_free: '0' },
    FarwharfDiskLow: { farwharf_disk_free_bytes: '1.5e9' },
    FarwharfClockSet: { clock: '1' },
    FarwharfCertificateExpires: { farwharf_certificate_expires_seconds: '20000' },
    FarwharfSlow: { nodejs_eventloop_lag_p99_seconds: '0.8' },
  };
  assert.deepEqual(Object.keys(cases).toSorted(), ['', ...ALERTS].toSorted());
  const tests = Object.entries(cases).map(([alert, changed]) => ({
    interval: '1m',
    input_series: series(changed),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: alert === 'FarwharfDrained' ? '25h' : '2h',
        exp_samples: alert === '' ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  }));
  const file = join(folder, 'tests.yml');
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  assert.match(await promtool(['test', 'rules', file]), /SUCCESS/);
});

test('the dashboard has panels that do not overlap, and Prometheus understands each of its expressions', {
  skip,
}, async (t) => {
  const { panels } = DASHBOARD;
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const {
    gridPos: { x, y, w, h },
    title,
    targets,
  } of panels) {
    assert.ok(x + w <= 24, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (let cell = 0; cell < w * h; cell += 1) {
      const at = `${x + (cell % w)},${y + Math.floor(cell / w)}`;
      assert.ok(!taken.has(at), `${title} overlaps at ${at}`);
      taken.add(at);
    }
  }
  const service = await startService(t, { config: testConfig() });
  const prometheus = await scrape(t, service);
  for (const expression of EXPRESSIONS) await prometheus.query(expression);
  const [accepts] = await prometheus.query(EXPRESSIONS[0] ?? '');
  assert.equal(accepts?.metric['job'], 'farwharf');
});

test('an alert fires when a cluster stops answering, also without jobs, while the service keeps accepting them', {
  skip,
}, async (t) => {
  const { isAway, executors } = clusterThatCanFail();
  const service = await startService(t, { executors });
  const prometheus = await scrape(t, service);
  await until(async () => (await healthOf(service)).status === 'ok');
  isAway(true);
  await until(async () => (await prometheus.firing()).includes('FarwharfClusterDown'));
  const { code, status, parts } = await healthOf(service);
  assert.deepEqual([code, status, parts['cluster']?.status], [200, 'degraded', 'degraded']);
  assert.match(
    await (await fetch(`${service.url}/metrics`)).text(),
    /farwharf_executor_errors_total\{call="look",code="unreachable"\} [1-9]/,
  );
  assert.equal((await service.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 201);
  isAway(false);
  await until(async () => !(await prometheus.firing()).includes('FarwharfClusterDown'));
});

await describeOnCluster('the health of a service whose cluster has no controller', (cluster) => {
  test('it says so without any job, fires the alert, and says when the controller is back', async (t) => {
    if (missing !== undefined) return t.skip(`NO PROMETHEUS: ${missing}`);
    const service = await startService(t, onCluster(cluster()));
    await until(async () => (await healthOf(service)).status === 'ok');
    const prometheus = await scrape(t, service);
    await cluster().kill('slurmctld');
    await until(async () => (await prometheus.firing()).includes('FarwharfClusterDown'));
    const { code, status, parts } = await healthOf(service);
    assert.deepEqual([code, status], [200, 'degraded']);
    assert.match(
      parts['cluster']?.message ?? '',
      /^The cluster has not answered since 20\S+Z\. Jobs are accepted and wait\./,
    );
    assert.equal((await service.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 201);
    cluster().restart('slurmctld');
    await until(async () => (await healthOf(service)).parts['cluster']?.status === 'ok');
    await until(async () => !(await prometheus.firing()).includes('FarwharfClusterDown'));
  });
});
