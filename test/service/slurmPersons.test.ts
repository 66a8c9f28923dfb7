import assert from 'node:assert/strict';
import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteClient } from '../../src/remote/client.ts';
import { Scratch, until } from './commandLine.ts';
import { readArchive } from './support/archive.ts';
import { addAccount } from './support/accounts.ts';
import { GATE, openGate } from './support/gate.ts';
import type { ServiceClient } from './support/service.ts';
import { describeOnCluster } from './support/slurm.ts';
import { SlurmPersons } from './support/slurmPersons.ts';
import { SystemUsers } from './support/systemUsers.ts';

const missing = await SystemUsers.areMissing();
if (missing !== undefined)
  test('jobs as the users of their accounts are not tested here', (t) => t.skip(`NO USERS: ${missing}`));
else
  await describeOnCluster('a service that submits the jobs of each account as its user', (cluster) => {
    let persons: SlurmPersons;
    before(async () => (persons = await SlurmPersons.create(cluster())));
    after(() => persons[Symbol.asyncDispose]());

    const addAccountTo = (client: ServiceClient) => addAccount(client, 'bob');

    const run = async (client: ServiceClient, script: string): Promise<string> => {
      const id = await client.submit({ 'a.sh': script }, { script: 'a.sh' });
      const job = await client.untilEnd(id);
      assert.equal(job.state, 'succeeded', `${job.reason} ${await client.output(id, 'stderr')}`);
      return id;
    };

    test('a job has the user of its account, owns its files, and brings back results whatever their permissions', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      const script = `id -un; umask; stat -c %U . a.sh; chmod 700 a.sh; touch -d 2020-01-01 a.sh
        echo private > artifacts/private.txt; chmod 600 artifacts/private.txt
        mkdir -m 700 artifacts/closed; echo inside > artifacts/closed/inside.txt
        echo moved > /tmp/moved-$FARWHARF_JOB_ID; chmod 600 /tmp/moved-$FARWHARF_JOB_ID; mv /tmp/moved-$FARWHARF_JOB_ID artifacts/moved.txt
        ln ~/.bashrc artifacts/linked; chmod 600 ~/.bashrc
        squeue -h -j "$SLURM_JOB_ID" -o %u`;
      const id = await run(client, script);
      const { name } = persons.ada;
      assert.equal(await client.output(id), `${name}\n0022\n${name}\n${name}\n${name}\n`);
      const results = await client.request(`/v1/jobs/${id}/artifacts`);
      const files = await readArchive(new Uint8Array(await results.arrayBuffer()));
      assert.deepEqual(files, {
        'artifacts/closed/inside.txt': 'inside\n',
        'artifacts/moved.txt': 'moved\n',
        'artifacts/private.txt': 'private\n',
      });
      assert.equal(
        statSync(`/home/${name}/.bashrc`).mode & 0o777,
        0o600,
        'a file with another name elsewhere is left alone',
      );
      const folder = join(setting.shared, 'jobs', id);
      await until(() => readdirSync(folder).join() === 'results.tar.gz');
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    });

    test('the files of a job are closed to the users of other jobs, as is everything of the service', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      const { client: other } = await addAccountTo(client);
      const secret = 'echo a secret of ada > secret.txt';
      const ended = await run(client, secret);
      const running = await client.submit({ 'a.sh': `${secret}; echo begun; ${GATE}` }, { script: 'a.sh' });
      await client.untilRunning(running);
      await using remote = new RemoteClient(client.url, client.key);
      using tunnel = await remote.connectJob(running);
      assert.equal(await text(tunnel.exec(['id', '-un']).stdout), `${persons.ada.name}\n`);
      const { shared } = setting;
      const data = setting.data;
      const attack = `
        for path in ${shared} ${shared}/jobs ${shared}/uploads ${shared}/probes ${data}; do ls "$path" && echo "listed $path"; done
        for id in ${ended} ${running}; do
          job=${shared}/jobs/$id
          ls $job && echo listed; cat $job/*.json $job/*.ndjson $job/workspace/secret.txt $job/results.tar.gz && echo read
          echo mine > $job/workspace/a.sh && echo written; touch $job/cancel && echo cancelled
          rm -rf $job && echo removed; mv $job $job.away && echo moved
        done
        cat ${data}/* ${data}/service.db ${data}/admin.json && echo read
        scancel --name=${running}; pkill -u ${persons.ada.name} && echo killed
        sudo -n -u ${persons.ada.name} -- true && echo sudo
        true`;
      const id = await run(other, attack);
      assert.doesNotMatch(await other.output(id), /listed|read|written|cancelled|removed|moved|killed|sudo|a secret/);
      await openGate(data, running);
      const job = await client.untilEnd(running);
      assert.equal(job.state, 'succeeded', job.reason ?? '');
    });

    test('what a job puts in the place of its files leads the service nowhere', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      const data = setting.data;
      for (const file of [
        'output.ndjson',
        'exit.json',
        'started.json',
        'claim.json',
        'results.tar.gz',
        'slurm.log',
        'workspace/a.txt',
      ]) {
        const script = `ln -sf ${data}/service.db ../${file}; echo begun; sleep 0.5`;
        const id = await client.submit({ 'a.sh': script }, { script: 'a.sh' });
        const job = await client.untilEnd(id);
        const results = await client.request(`/v1/jobs/${id}/artifacts`);
        const seen = Buffer.from(await results.arrayBuffer()).toString() + JSON.stringify(await client.events(id));
        assert.doesNotMatch(seen, /SQLite/, `${file}: ${job.reason}`);
      }
      const id = await client.submit(
        { 'a.sh': `mv ../workspace ../x; ln -s ${data} ../workspace` },
        { script: 'a.sh' },
      );
      const job = await client.untilEnd(id);
      assert.equal(job.state, 'failed');
      assert.match(job.reason ?? '', /could not be packed/);
      assert.equal((await client.json<{ credits: number }>('/v1/me')).credits > 0, true, 'the store is as it was');
    });

    test('jobs are cancelled as their user, and another job with the same name is not taken for one of the service', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      await addAccountTo(client);
      const id = await client.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh', machine_class: 'large' });
      await client.untilRunning(id);
      const options = ['--partition=cpu-large', `--job-name=${id}`, '--output=/dev/null', '--chdir=/', '--mem=64M'];
      const { uid, gid } = persons.bob;
      const twin = (
        await cluster().command('sbatch', `--uid=${uid}`, `--gid=${gid}`, '--parsable', ...options, '--wrap=sleep 600')
      ).trim();
      const isIn = async (state: string, number: string): Promise<boolean> =>
        (await cluster().command('squeue', '-h', '-t', state, '-o', '%i')).split('\n').includes(number);
      while (!(await isIn('RUNNING', twin))) await sleep(150);
      await cluster().command('scancel', twin);
      while (!(await isIn('CANCELLED', twin))) await sleep(150);
      await sleep(2_000); // six answers of the queue, twice as many as make the service sure
      assert.equal((await client.job(id)).state, 'running');
      const waiting = await client.submit({ 'a.sh': 'echo never' }, { script: 'a.sh', machine_class: 'wide' });
      await until(async () =>
        (await cluster().command('squeue', '-h', `--name=${waiting}`, '-o', '%T')).includes('PENDING'),
      );
      await client.json(`/v1/jobs/${waiting}`, { method: 'DELETE' });
      assert.equal((await client.untilEnd(waiting)).state, 'cancelled');
      await client.json(`/v1/jobs/${id}`, { method: 'DELETE' });
      assert.equal((await client.untilEnd(id)).state, 'cancelled');
      await until(
        async () => (await cluster().command('squeue', '-h', '-t', 'PENDING,RUNNING', '-o', '%j')).trim() === '',
      );
    });

    test('a service that is killed is followed by one that finds the jobs of all users', async (t) => {
      const setting = await persons.prepare(t);
      const first = await persons.start(t, setting);
      const { client: other } = await addAccountTo(first.client);
      const script = { 'a.sh': `echo begun; mkdir -m 700 closed; ${GATE}; echo done` };
      const ids = [
        await first.client.submit(script, { script: 'a.sh' }),
        await other.submit(script, { script: 'a.sh' }),
      ];
      await Promise.all([first.client.untilRunning(ids[0] ?? ''), other.untilRunning(ids[1] ?? '')]);
      await first.end('SIGKILL');
      const again = { ...setting, overrides: { ...setting.overrides, apiKey: first.client.key } };
      const { client } = await persons.start(t, again);
      for (const id of ids) await openGate(setting.data, id);
      for (const [index, each] of [client, client.withKey(other.key)].entries()) {
        const id = ids[index] ?? '';
        assert.equal((await each.untilEnd(id)).state, 'succeeded');
        assert.equal(await each.output(id), 'begun\ndone\n');
      }
    });

    test('a job whose runner is killed leaves nothing that the service cannot delete', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      const script = `mkdir -m 700 closed; echo inside > closed/inside; echo begun; kill -9 $PPID; sleep 600`;
      const id = await client.submit({ 'a.sh': script }, { script: 'a.sh' });
      const job = await client.untilEnd(id);
      assert.equal(job.state, 'failed');
      await until(() => readdirSync(join(setting.shared, 'jobs', id)).join() === 'results.tar.gz');
    });

    test('an account without a user runs nothing, pays nothing, and says what to add', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      const { client: carl } = await addAccount(client, 'carl');
      const id = await carl.submit({ 'a.sh': 'echo never' }, { script: 'a.sh' });
      const job = await carl.untilEnd(id);
      assert.deepEqual([job.state, job.credits_charged], ['failed', 0]);
      assert.match(job.reason ?? '', /no user of the cluster for the account carl.*\[slurm\.accounts\.carl\] user = /);
    });

    test('without a rule of sudo jobs wait, and farwharf serve --check prints the rule', async (t) => {
      const setting = await persons.prepare(t);
      const { client } = await persons.start(t, setting);
      t.after(() => persons.allow());
      await persons.allow('/usr/bin/scancel');
      const id = await client.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
      const says = /^sbatch cannot be run as fw-ada.*farwharf serve --check/;
      await until(async () => says.test((await client.job(id)).reason ?? ''));
      await using scratch = await Scratch.create();
      chownSync(scratch.root, persons.farwharf.uid, persons.farwharf.gid);
      const folder = await scratch.folder('etc', { 'service.json': JSON.stringify(setting.overrides.config) });
      const args = [
        'serve',
        '--config',
        join(folder, 'service.json'),
        '--data',
        join(setting.home, 'checked'),
        '--check',
      ];
      const refused = await scratch.run(args, { user: persons.farwharf });
      assert.equal(refused.exit, 1);
      const rule = `${persons.farwharf.name} ALL=(${persons.ada.name}, ${persons.bob.name}) NOPASSWD: /usr/bin/sbatch, /usr/bin/scancel, /usr/bin/srun`;
      assert.match(refused.stderr, /PROBLEM {2}jobs can be submitted and cancelled as fw-ada\S+, fw-bob/);
      assert.ok(refused.stderr.includes(rule), refused.stderr);
      // With exactly what was printed, the same check finds nothing wrong, and the job runs.
      const printed = refused.stderr.split('\n').filter((line) => /^(Defaults:)?fw-service/.test(line));
      await persons.users.allow(printed.join('\n'));
      const allowed = await scratch.run(args, { user: persons.farwharf });
      assert.match(allowed.stderr, /ok {7}jobs can be submitted and cancelled as fw-ada/);
      assert.match(allowed.stderr, /ok {7}jobs of partition cpu-large cannot read the data folder/);
      assert.equal((await client.untilEnd(id)).state, 'succeeded');
    });
  });
