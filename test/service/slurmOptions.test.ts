import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Scratch, until } from './commandLine.ts';
import { type ServiceClient, startService } from './support/service.ts';
import { describeOnCluster, machineClass, onCluster } from './support/slurm.ts';

const ALLOW = { account: ['physics', 'biology'], qos: ['long'], constraint: ['on-small2'], reservation: ['team'] };
const MAIL = 'ada@example.org';
const SCRIPT = {
  'a.sh': 'squeue -h -j "$SLURM_JOB_ID" -o "%a %v %f"; scontrol show job "$SLURM_JOB_ID" | grep -o "QOS=.*"',
};

await describeOnCluster('what a job asks of its cluster', (cluster) => {
  const start = (t: TestContext, account: object = {}): Promise<ServiceClient> => {
    const { config, ...folders } = onCluster(cluster());
    const classes = [
      machineClass('free', { partition: 'cpu-small', allow: ALLOW, sbatch: ['--constraint=on-small1'] }),
      machineClass('fixed', { partition: 'cpu-small' }),
    ];
    const slurm = { ...config.slurm, accounts: { local: { account: 'chemistry', ...account } } };
    return startService(t, { ...folders, config: { ...config, machine_classes: classes, slurm } });
  };

  test('account, constraint and reservation are those that the job chose, where its class allows them', async (t) => {
    const reserve = ['ReservationName=team', 'Users=root', 'StartTime=now', 'Duration=60', 'Nodes=small2'];
    await cluster().command('scontrol', 'create', 'reservation', ...reserve);
    t.after(() => cluster().command('scontrol', 'delete', 'ReservationName=team'));
    const service = await start(t);
    const run = async (cluster_?: object): Promise<string> => {
      const id = await service.submit(SCRIPT, { script: 'a.sh', ...(cluster_ && { cluster: cluster_ }) });
      const job = await service.untilEnd(id);
      assert.equal(job.state, 'succeeded', job.reason ?? '');
      return (await service.output(id)).split('\n')[0] ?? '';
    };
    assert.equal(await run(), 'chemistry (null) on-small1');
    const chosen = { account: 'physics', qos: 'long', constraint: 'on-small2', reservation: 'team' };
    assert.equal(await run(chosen), 'physics team on-small2');
  });

  test('farwharf submit --cluster sends the choices of a job, and shows what is refused', async (t) => {
    const service = await start(t);
    await using scratch = await Scratch.create();
    const folder = await scratch.folder('project', SCRIPT);
    const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
    const submit = (...options: readonly string[]) =>
      scratch.run(['submit', folder, '--script', 'a.sh', '--watch', ...options], { env });
    const ran = await submit('--cluster', 'account=physics', '--cluster', 'constraint=on-small2');
    assert.equal(ran.exit, 0, ran.stderr);
    assert.match(ran.stdout, /^physics \(null\) on-small2$/m);
    const refused = await submit('--cluster', 'qos=short');
    assert.notEqual(refused.exit, 0);
    assert.match(refused.stderr, /free does not allow this qos\. It allows long\./);
    const wrong = await submit('--cluster', 'nodes=5');
    assert.match(wrong.stderr, /Invalid value "nodes=5"\. Enter for --cluster: account=NAME/);
  });

  test('what the class does not allow is refused with what it allows, and nothing is submitted', async (t) => {
    const service = await start(t);
    const refusalOf = async (meta: object): Promise<string> => {
      const response = await service.send(SCRIPT, { script: 'a.sh', ...meta });
      assert.equal(response.status, 400);
      return ((await response.json()) as { detail: string }).detail;
    };
    const injected = 'long --uid=root';
    assert.match(
      await refusalOf({ cluster: { qos: injected } }),
      /meta\.cluster: .*free does not allow this qos\. It allows long\./,
    );
    assert.match(await refusalOf({ cluster: { account: 'chemistry' } }), /It allows physics, biology/);
    assert.match(
      await refusalOf({ machine_class: 'fixed', cluster: { qos: 'long' } }),
      /fixed does not allow .*It allows no choice/,
    );
    assert.match(await refusalOf({ cluster: { mail: true } }), /your account has no address/);
    assert.match(await refusalOf({ cluster: { mail: MAIL } }), /meta\.cluster\.mail/);
    assert.match(await refusalOf({ cluster: { mail_user: MAIL } }), /mail_user/);
  });

  test('the cluster sends a mail at the end of a job that asks for one, to the address of the configuration', async (t) => {
    const service = await start(t, { mail: MAIL });
    const ids = [];
    for (const options of [{ cluster: { mail: true } }, {}]) {
      const id = await service.submit({ 'a.sh': 'exit 3' }, { script: 'a.sh', ...options });
      assert.equal((await service.untilEnd(id)).state, 'failed');
      ids.push(id);
    }
    await until(() => existsSync(cluster().mails));
    const mails = readFileSync(cluster().mails, 'utf8');
    assert.match(mails, new RegExp(`Name=${ids[0]} Ended.* ${MAIL}$`, 'm'));
    assert.ok(!mails.includes(ids[1] ?? ''), mails);
  });
});

test('a service that runs jobs on its own machine refuses options of a cluster', async (t) => {
  const service = await startService(t);
  const response = await service.send(SCRIPT, { script: 'a.sh', cluster: { qos: 'long' } });
  assert.equal(response.status, 400);
  assert.match(((await response.json()) as { detail: string }).detail, /does not run jobs on a cluster/);
});
