import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pack } from './packedPackage.ts';
import { laterVersion } from './serverBuilds.ts';
import { type Ran, ServerMachine } from './serverMachine.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const SCRIPT = '/shared/package/server/farwharf-server';

/** The data folder of an installed service. */
export const DATA = '/var/lib/farwharf';

/** Fails unless the program has succeeded. */
export function done(ran: Ran): Ran {
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  return ran;
}

/** The service as `farwharf-server` installs it on a machine, in several versions. */
export class InstalledService {
  readonly server: ServerMachine;
  readonly ownVersion: string;
  readonly #tarballs: Readonly<Record<string, string>>;

  /** Packs this package as `OWN`, and later versions of it: `NEXT`, `CHANGED` with another format of the store, and `BROKEN`. */
  constructor(server: ServerMachine) {
    this.server = server;
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    this.ownVersion = version;
    const own = pack(ROOT, join(server.shared, 'own'), '--ignore-scripts');
    const tarballs = {
      OWN: own,
      NEXT: laterVersion(own, server.shared, { version: '90.0.0' }),
      CHANGED: laterVersion(own, server.shared, { version: '91.0.0', changesStore: true }),
      BROKEN: laterVersion(own, server.shared, { version: '92.0.0', changesStore: true, isBroken: true }),
    };
    const inMachine = (path: string): string => path.replace(server.shared, '/shared');
    this.#tarballs = Object.fromEntries(Object.entries(tarballs).map(([name, path]) => [name, inMachine(path)]));
    done(server.shell(`tar -xzf ${this.#tarballs['OWN']} -C /shared`));
  }

  /** The arguments of a shell that runs `farwharf-server`; a tarball is given by its name. */
  command(args: readonly string[]): readonly string[] {
    return [SCRIPT, ...args.map((arg) => this.#tarballs[arg] ?? arg)];
  }

  farwharfServer(...args: readonly string[]): Ran {
    return this.server.run('sh', this.command(args));
  }

  admin(line: string): Ran {
    return this.server.shell(`runuser -u farwharf -- env HOME=${DATA} farwharf admin ${line} --data ${DATA}`);
  }

  accounts(): string {
    return done(this.admin('account list --json')).stdout;
  }

  version(): string {
    return done(this.server.shell('farwharf --version')).stdout.trim();
  }

  isActive(): boolean {
    return this.server.run('systemctl', ['is-active', 'farwharf']).stdout === 'active\n';
  }

  async untilHealthy(version: string): Promise<void> {
    const ask = `fetch("http://127.0.0.1:8787/healthz").then((answer) => answer.text()).then(console.log)`;
    const health = (): string => this.server.run('node', ['-e', ask]).stdout;
    while (!health().includes(`"version":"${version}"`)) await sleep(200);
    assert.match(health(), /"status":"ok"/);
  }
}

/** Declares tests that share one machine, which runs from the first to the last; skipped loudly where there can be none. */
export async function describeOnServer(
  name: string,
  declare: (service: () => InstalledService) => void,
): Promise<void> {
  const machine = await ServerMachine.start();
  if (typeof machine === 'string') {
    test(name, (t) => t.skip(`NO SERVER: ${machine}`));
    return;
  }
  describe(name, () => {
    let service: InstalledService;
    before(() => {
      service = new InstalledService(machine);
    });
    after(() => machine[Symbol.dispose]());
    declare(() => service);
  });
}
