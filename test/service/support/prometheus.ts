import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { programsAreMissing } from '../../../scripts/programs.ts';
import { until } from '../commandLine.ts';
import { freePort } from './freePort.ts';

const run = promisify(execFile);

/** Why there is no Prometheus; undefined where there is one. As root on Debian, it is installed. */
export function prometheusIsMissing(): Promise<string | undefined> {
  return programsAreMissing('Prometheus', { programs: ['prometheus', 'promtool'], packages: ['prometheus'] });
}

/** Runs promtool. @returns what it prints. @throws AssertionError with its complaints if it fails. */
export async function promtool(args: readonly string[], input = ''): Promise<string> {
  const call = run('promtool', args);
  call.child.stdin?.end(input);
  const { stdout, stderr } = await call.catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return assert.fail(`promtool ${args.join(' ')}: ${stdout}${stderr}`);
  });
  return stdout + stderr;
}

/** A real Prometheus that scrapes one service each second. */
export class Prometheus {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** @param rules the text of a rule file. */
  static async start(
    t: TestContext,
    folder: string,
    { rules, target }: { rules: string; target: string },
  ): Promise<Prometheus> {
    const port = await freePort();
    writeFileSync(join(folder, 'rules.yml'), rules);
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'farwharf', static_configs: [{ targets: [target] }] }],
    };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
    const child = spawn(
      'prometheus',
      [
        '--config.file=prometheus.yml',
        `--storage.tsdb.path=${join(folder, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const exited = once(child, 'exit');
    let errors = '';
    child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    t.after(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`);
    await until(async () => {
      assert.equal(child.exitCode, null, errors);
      const ready = await fetch(`${prometheus.#url}/-/ready`).catch(() => undefined);
      return ready?.ok === true;
    });
    return prometheus;
  }

  /** The samples of an expression now. @throws AssertionError if Prometheus refuses it. */
  async query(expression: string): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> {
    const response = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const body = (await response.json()) as { error?: string; data?: { result: { metric: Record<string, string> }[] } };
    assert.equal(response.status, 200, `${expression}: ${body.error}`);
    return body.data?.result ?? [];
  }

  /** The names of the alerts that are firing. */
  async firing(): Promise<readonly string[]> {
    const samples = await this.query('ALERTS{alertstate="firing"}');
    return samples.map(({ metric }) => metric['alertname'] ?? '');
  }
}
