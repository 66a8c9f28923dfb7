import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { Scratch } from './commandLine.ts';
import { modulesAreMissing, TestModules } from './support/modules.ts';
import { type ServiceClient, startService } from './support/service.ts';
import { describeOnCluster, machineClass, onCluster } from './support/slurm.ts';

const missing = await modulesAreMissing();
const skip = missing === undefined ? false : `NO MODULES: ${missing}`;
const modules = new TestModules();
after(() => modules[Symbol.asyncDispose]());

const SHOW = { 'a.sh': 'echo "$LOADEDMODULES|$FW_TOOL|$FW_EXTRA|${PATH%%:*}|$(type -t module)"' };

await describeOnCluster('environment modules on a cluster', (cluster) => {
  const prefix = modules.prefix;
  const start = async (t: TestContext, slurm: object = {}): Promise<ServiceClient> => {
    await modules.add('tool', 'setenv FW_TOOL yes\nprepend-path PATH /tmp/fw-module-bin');
    await modules.add('extra', 'setenv FW_EXTRA also');
    await modules.add('other', `conflict ${prefix}/tool`);
    const { config, ...folders } = onCluster(cluster());
    const classes = [
      machineClass('tools', {
        partition: 'cpu-small',
        modules: [`${prefix}/tool`],
        allow: { modules: [`${prefix}/extra`, `${prefix}/o*`, 'fw-missing/1.0'] },
      }),
      machineClass('plain', { partition: 'cpu-small' }),
      machineClass('broken', { partition: 'cpu-small', modules: ['fw-missing/2.0'] }),
    ];
    return startService(t, {
      ...folders,
      config: { ...config, machine_classes: classes, slurm: { ...config.slurm, ...slurm } },
    });
  };
  const run = async (service: ServiceClient, meta: object) => {
    const id = await service.submit(SHOW, { script: 'a.sh', ...meta });
    return { id, job: await service.untilEnd(id) };
  };

  test('a job has the modules of its class and its own, in this order, and can use the command itself', {
    skip,
  }, async (t) => {
    const service = await start(t);
    const { id, job } = await run(service, { cluster: { modules: [`${prefix}/extra`, `${prefix}/tool`] } });
    assert.equal(job.reason, null);
    const loaded = `${prefix}/tool:${prefix}/extra|yes|also|/tmp/fw-module-bin|function\n`;
    assert.equal(await service.output(id), loaded);
    const plain = await run(service, { machine_class: 'plain' });
    assert.match(await service.output(plain.id), /^\|\|\|/, 'a class without modules loads none');
    await service.stop();
    const other = await start(t, { login_environment: true });
    const inLogin = await run(other, { cluster: { modules: [`${prefix}/extra`] } });
    assert.equal(await other.output(inLogin.id), loaded, 'the same with the login environment of the node');
  });

  test('a job whose node cannot load a module does not start, says which on which node, and costs nothing', {
    skip,
  }, async (t) => {
    const service = await start(t);
    const before = await service.credits();
    const { id, job } = await run(service, { cluster: { modules: ['fw-missing/1.0'] } });
    assert.equal(job.state, 'failed');
    const says =
      /^The job could not start: the module fw-missing\/1\.0 is not available on small\d\. The node says: .*Unable to locate/;
    assert.match(job.reason ?? '', says);
    assert.equal(job.credits_charged, 0);
    assert.equal(await service.output(id), '', 'the script did not run');
    const conflict = await run(service, { cluster: { modules: [`${prefix}/other`] } });
    assert.match(conflict.job.reason ?? '', /other is not available on small\d\. The node says: .*conflict/i);
    const broken = await run(service, { machine_class: 'broken' });
    assert.match(broken.job.reason ?? '', /the module fw-missing\/2\.0 is not available on small\d/);
    assert.equal(await service.credits(), before);
  });

  test('modules that the class does not allow, and names that are none, are refused', { skip }, async (t) => {
    const service = await start(t);
    const refusalOf = async (names: unknown, meta: object = {}): Promise<string> => {
      const response = await service.send(SHOW, { script: 'a.sh', cluster: { modules: names }, ...meta });
      assert.equal(response.status, 400);
      return ((await response.json()) as { detail: string }).detail;
    };
    assert.match(await refusalOf([`${prefix}/extr`]), /tools does not allow the module .*extr\. It allows fwtest/);
    assert.match(
      await refusalOf([`${prefix}/extra`], { machine_class: 'plain' }),
      /plain does not allow .* It allows none\./,
    );
    const hostile = [
      '$(id)',
      'a;b',
      "a'b",
      'a b',
      '-h',
      '--help',
      '/etc/passwd',
      './a',
      '../a',
      'a/../b',
      'a\nb',
      '',
      'o\u0000',
    ];
    for (const name of hostile) assert.match(await refusalOf([name]), /must be the name of a module/, name);
    assert.match(await refusalOf(Array.from({ length: 2_000 }, (_, index) => `m/${index}`)), /at most 100 names/);
    assert.match(await refusalOf('cuda'), /meta\.cluster\.modules/);
  });

  test('farwharf submit --cluster module=NAME and a profile ask for modules', { skip }, async (t) => {
    const service = await start(t);
    await using scratch = await Scratch.create();
    const profiles = { extra: { script: 'a.sh', modules: [`${prefix}/extra`] } };
    const folder = await scratch.folder('project', { ...SHOW, 'farwharf.json': JSON.stringify({ profiles }) });
    const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
    for (const options of [
      ['--script', 'a.sh', '--cluster', `module=${prefix}/extra`],
      ['--profile', 'extra'],
    ]) {
      const ran = await scratch.run(['submit', folder, '--watch', ...options], { env });
      assert.match(ran.stdout, /\|yes\|also\|/m, ran.stderr);
    }
    const wrong = await scratch.run(['submit', folder, '--script', 'a.sh', '--cluster', 'module=/etc/x'], { env });
    assert.match(wrong.stderr, /--cluster: modules.0 must be the name of a module/);
  });

  test('farwharf serve --check names the modules that a node of a class cannot load', { skip }, async (t) => {
    const service = await start(t);
    await service.stop();
    const { config, data } = onCluster(cluster());
    const classes = [
      machineClass('tools', {
        partition: 'cpu-small',
        modules: [`${prefix}/tool`],
        allow: { modules: [`${prefix}/*`] },
      }),
      machineClass('broken', {
        partition: 'cpu-small',
        modules: ['fw-missing/2.0', `${prefix}/tool`],
        allow: { modules: [`${prefix}/extra`, 'fw-missing/3.0'] },
      }),
      machineClass('plain', { partition: 'cpu-small' }),
    ];
    await using scratch = await Scratch.create();
    const file = { 'service.json': JSON.stringify({ ...config, machine_classes: classes }) };
    const folder = await scratch.folder('etc', file);
    const args = ['serve', '--config', `${folder}/service.json`, '--data', data, '--check'];
    const { exit, stdout, stderr } = await scratch.run(args);
    assert.equal(exit, 1);
    const text = stdout + stderr;
    assert.match(text, /ok +machine class tools: its nodes have what its jobs need/);
    assert.match(
      text,
      /PROBLEM +machine class broken: its nodes have what its jobs need: small\d lacks the module fw-missing\/2\.0, the module fw-missing\/3\.0\./,
    );
    assert.doesNotMatch(text, /class plain: its nodes/);
  });
});
