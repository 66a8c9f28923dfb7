import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SlurmCluster } from '../../../scripts/slurm/cluster.ts';
import type { ServeOptions } from '../../../src/service/serveOptions.ts';
import { temporaryFolder } from './service.ts';
import { ServiceProcess } from './serviceProcess.ts';
import { machineClass, onCluster, SLURM_CONFIG } from './slurm.ts';
import { type SystemUser, SystemUsers } from './systemUsers.ts';

const CLASSES = [
  // Enough for a job that reads whatever it finds.
  machineClass('small', { partition: 'cpu-small', memory_gb: 1 }),
  machineClass('large', { partition: 'cpu-large' }),
  // All of the node, so that it waits for what runs there.
  machineClass('wide', { partition: 'cpu-large', cpus: 4 }),
];

/** The folders of a service whose jobs have the users of their accounts. */
export interface PersonsSetting {
  readonly home: string;
  readonly data: string;
  readonly shared: string;
  readonly overrides: Partial<ServeOptions>;
}

/** A service's user and two persons, as whom it submits: the accounts `local` and `bob` are those of Ada and Bob. */
export class SlurmPersons implements AsyncDisposable {
  readonly users: SystemUsers;
  readonly farwharf: SystemUser;
  readonly ada: SystemUser;
  readonly bob: SystemUser;
  readonly #cluster: SlurmCluster;

  private constructor(cluster: SlurmCluster, users: SystemUsers, [farwharf, ada, bob]: SystemUser[]) {
    if (farwharf === undefined || ada === undefined || bob === undefined) throw new Error('Three users are needed.');
    this.#cluster = cluster;
    this.users = users;
    this.farwharf = farwharf;
    this.ada = ada;
    this.bob = bob;
  }

  static async create(cluster: SlurmCluster): Promise<SlurmPersons> {
    const users = new SystemUsers();
    const all = [await users.add('fw-service'), await users.add('fw-ada'), await users.add('fw-bob')];
    const persons = new SlurmPersons(cluster, users, all);
    await persons.allow();
    return persons;
  }

  /** What sudo lets the service run as the persons. */
  async allow(programs = '/usr/bin/sbatch, /usr/bin/scancel, /usr/bin/srun'): Promise<void> {
    const { farwharf, ada, bob } = this;
    const rule = `${farwharf.name} ALL=(${ada.name}, ${bob.name}) NOPASSWD: ${programs}`;
    await this.users.allow(`Defaults:${farwharf.name} env_keep += "SLURM_CONF"\n${rule}`);
  }

  /** Folders that belong to the service's user. The nodes see them all, so that only permissions protect the data folder. */
  async prepare(t: TestContext, config: Partial<typeof SLURM_CONFIG> = {}): Promise<PersonsSetting> {
    const { shared } = onCluster(this.#cluster);
    const home = await temporaryFolder(t);
    const data = join(home, 'data');
    mkdirSync(data);
    for (const folder of [shared, home, data]) chownSync(folder, this.farwharf.uid, this.farwharf.gid);
    const accounts = { local: { user: this.ada.name }, bob: { user: this.bob.name } };
    const slurm = { ...SLURM_CONFIG.slurm, folder: shared, submit_as: 'account', accounts };
    return {
      home,
      data,
      shared,
      overrides: { data, config: { ...SLURM_CONFIG, machine_classes: CLASSES, ...config, slurm } },
    };
  }

  async start(t: TestContext, { home, overrides }: PersonsSetting): Promise<ServiceProcess> {
    const service = await ServiceProcess.start(home, overrides, this.farwharf);
    t.after(() => service.end('SIGKILL'));
    return service;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.users[Symbol.asyncDispose]();
  }
}
