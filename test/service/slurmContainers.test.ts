import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type * as z from 'zod';
import { findProgram } from '../../scripts/programs.ts';
import { slurmMachineClass } from '../../src/service/slurm/batch/slurmConfig.ts';
import { Scratch } from './commandLine.ts';
import { shellImage, StandInRuntime } from './support/containerRuntime.ts';
import { GATE } from './support/gate.ts';
import { type ServiceClient, startService, temporaryFolder } from './support/service.ts';
import { describeOnCluster, machineClass, onCluster } from './support/slurm.ts';

const SECRET = 'a very secret token';

await describeOnCluster('containers on a cluster, with a stand-in for their runtime', (cluster) => {
  const standIn = (t: TestContext, ...runtimes: ('apptainer' | 'srun')[]): StandInRuntime =>
    new StandInRuntime(t, cluster().sharedFolder, runtimes);
  const start = async (
    t: TestContext,
    ...classes: readonly Partial<z.input<typeof slurmMachineClass>>[]
  ): Promise<{ service: ServiceClient; jobs: string }> => {
    const { config, ...folders } = onCluster(cluster());
    const machineClasses = classes.map((one, index) => machineClass(`c${index}`, { partition: 'cpu-small', ...one }));
    const service = await startService(t, { ...folders, config: { ...config, machine_classes: machineClasses } });
    return { service, jobs: join(folders.shared, 'jobs') };
  };
  const run = async (service: ServiceClient, files: Readonly<Record<string, string>>, meta: object) => {
    const id = await service.submit(files, { script: 'a.sh', ...meta });
    return { id, job: await service.untilEnd(id) };
  };
  const setSecret = (service: ServiceClient) =>
    service.request('/v1/secrets/API_TOKEN', {
      method: 'PUT',
      body: JSON.stringify({ value: SECRET }),
      headers: { 'content-type': 'application/json' },
    });

  test('Apptainer gets the command as arguments, the folders of the job under their own paths, and variables apart', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const image = runtime.image('tools.sif');
    const { service, jobs } = await start(t, { container: { runtime: 'apptainer', image } });
    assert.equal((await setSecret(service)).status < 300, true);
    const words = `'$(touch pwned)' 'x y' ';id' --bind /etc:/etc "it's"`;
    const show =
      'printf "<%s>" "$@"; echo; echo "$V|$API_TOKEN|$APPTAINER_BIND|${SLURM_JOB_ID:+slurm}|$PWD|$HOME|$FARWHARF_NODE|$USER"';
    const env = { V: '$(id) `id` "q"', APPTAINER_BIND: '/etc:/mnt', LD_PRELOAD: '/tmp/evil.so' };
    const meta = { script: `a.sh ${words}`, venv: { env }, secrets: ['API_TOKEN'] };
    const { id, job } = await run(service, { 'a.sh': show }, meta);
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    const folder = join(jobs, id);
    const workspace = join(folder, 'workspace');
    const bind = (name: string) => ['--bind', `${join(folder, name)}:${join(folder, name)}:rw`];
    const [call] = runtime.takeCalls();
    assert.deepEqual(call?.args, [
      'exec',
      '--containall',
      '--no-eval',
      '--home',
      join(folder, 'home'),
      '--workdir',
      join(folder, 'tmp'),
      '--pwd',
      workspace,
      ...bind('workspace'),
      ...bind('venv'),
      image,
      'bash',
      join(workspace, 'a.sh'),
      '$(touch pwned)',
      'x y',
      ';id',
      '--bind',
      '/etc:/etc',
      "it's",
    ]);
    const direct = call?.variables.filter((name) => ['V', 'API_TOKEN', 'APPTAINER_BIND', 'LD_PRELOAD'].includes(name));
    assert.deepEqual(direct, [], 'the runtime itself obeys no variable of the job');
    const output = await service.output(id);
    assert.match(output, /^<\$\(touch pwned\)><x y><;id><--bind><\/etc:\/etc><it's>$/m);
    assert.match(
      output,
      new RegExp(String.raw`^\$\(id\) .id. "q"\|\[redacted\]\|/etc:/mnt\|slurm\|.*workspace\|.*home\|\|$`, 'm'),
    );
    assert.ok(!output.includes(SECRET));
  });

  test('a command runs in the container with its own words', async (t) => {
    const runtime = standIn(t, 'apptainer', 'srun');
    const image = runtime.image('tools.sif');
    const { service } = await start(
      t,
      { container: { runtime: 'apptainer', image } },
      { container: { runtime: 'pyxis', image: runtime.image('tools.sqsh') } },
    );
    for (const [machineClass, command] of [
      ['c0', ['sh', 'a.sh', 'x; $(id)']],
      ['c1', ['sh', 'a.sh', '--uid=0']],
    ] as const) {
      const { id, job } = await run(
        service,
        { 'a.sh': 'echo "<$1>"' },
        { script: undefined, command, machine_class: machineClass },
      );
      const [call] = runtime.takeCalls();
      assert.deepEqual(call?.args.slice(-command.length), command, job.reason ?? '');
      assert.equal(await service.output(id), `<${command[2]}>\n`);
    }
  });

  test('a virtual environment is built by the Python of the image, and its interpreter runs the script there', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const { service, jobs } = await start(t, { container: { runtime: 'apptainer', image: runtime.image('a.sif') } });
    const script = {
      'a.py': 'import os, sys; print(sys.prefix, os.environ["VIRTUAL_ENV"], os.environ["PATH"].split(":")[0])',
    };
    const { id, job } = await run(service, script, { script: 'a.py', venv: { requirements: [] } });
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    const venv = join(jobs, id, 'venv');
    assert.equal((await service.output(id)).trim(), `${venv} ${venv} ${venv}/bin`);
    const programs = runtime.takeCalls().map(({ args }) => args[args.findIndex((word) => word.endsWith('a.sif')) + 1]);
    assert.deepEqual(programs, ['python3', `${venv}/bin/python`]);
  });

  test('an image that is fetched is fetched once before the script; one that cannot be stops the job at no cost', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const allow = { images: ['docker://debian:*', 'docker://unreachable.example.org/*', `${runtime.folder}/*`] };
    const { service, jobs } = await start(t, { container: { runtime: 'apptainer' }, allow });
    const before = await service.credits();
    const fetched = await run(service, { 'a.sh': 'echo ran' }, { cluster: { container: 'docker://debian:12' } });
    assert.equal(fetched.job.state, 'succeeded', fetched.job.reason ?? '');
    const image = join(jobs, fetched.id, 'image.sif');
    const [pull, exec] = runtime.takeCalls();
    assert.deepEqual(pull?.args, ['pull', image, 'docker://debian:12']);
    assert.ok(exec?.args.includes(image));
    const paid = await service.credits();
    assert.ok(paid < before);
    const container = 'docker://unreachable.example.org/a:1';
    const lost = await run(service, { 'a.sh': 'echo ran' }, { cluster: { container } });
    assert.equal(lost.job.state, 'failed');
    assert.match(
      lost.job.reason ?? '',
      /^The job could not start: its image docker:\/\/unreachable.* could not be fetched on small\d\./,
    );
    assert.match(await service.output(lost.id, 'stderr'), /no route to host/);
    const gone = await run(service, { 'a.sh': 'echo ran' }, { cluster: { container: `${runtime.folder}/gone.sif` } });
    assert.match(gone.job.reason ?? '', /^The job could not start: on small\d the image .*gone\.sif is missing\./);
    assert.equal(await service.credits(), paid);
    const debugged = { cluster: { container: 'docker://debian:12' }, debug: { hold: 60 } };
    await assert.rejects(run(service, { 'a.sh': 'echo ran' }, debugged), /into which no debugger can be attached/);
    const without = await run(service, { 'a.sh': 'echo ran' }, { debug: { hold: 60 } });
    assert.equal(without.job.state, 'succeeded', 'a job that chooses no image has no container');
  });

  test('a job in a container can be cancelled, and one whose node has no runtime does not start, at no cost', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const container = { runtime: 'apptainer' as const, image: runtime.image('a.sif') };
    const { service, jobs } = await start(t, { container }, { container: { ...container, runtime: 'pyxis' } });
    const id = await service.submit({ 'a.sh': `echo begun\n${GATE}` }, { script: 'a.sh' });
    await service.untilRunning(id);
    await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
    assert.equal((await service.untilEnd(id)).state, 'cancelled');
    process.env['PATH'] = '/usr/bin:/bin';
    const before = await service.credits();
    const lost = await run(service, { 'a.sh': 'echo ran' }, {});
    assert.match(
      lost.job.reason ?? '',
      /^The job could not start: on small\d apptainer, which starts its container, is not installed\./,
    );
    assert.equal(await service.credits(), before);
    assert.ok(!existsSync(join(jobs, id, 'workspace')));
  });

  test('with Pyxis, srun gets the image and the mounts, names of variables, and the command as arguments', async (t) => {
    const runtime = standIn(t, 'srun');
    const { service, jobs } = await start(t, {
      container: { runtime: 'pyxis' },
      allow: { images: ['nvcr.io#nvidia/*'] },
    });
    await setSecret(service);
    const env = { V: 'a,b "c"', SLURM_CONF: '/tmp/evil.conf', ENROOT_REMAP_ROOT: 'y', PATH: '/tmp/evil' };
    const meta = {
      script: `a.sh 'x y' '$(id)'`,
      venv: { env },
      secrets: ['API_TOKEN'],
      cluster: { container: 'nvcr.io#nvidia/pytorch:24.01' },
    };
    const { id, job } = await run(service, { 'a.sh': 'echo "$V|$API_TOKEN|$1|$2"' }, meta);
    assert.equal(job.state, 'succeeded', await service.output(id, 'stderr'));
    assert.match(await service.output(id), /^a,b "c"\|\[redacted\]\|x y\|\$\(id\)$/m);
    const [call] = runtime.takeCalls();
    const folder = join(jobs, id);
    const mount = (name: string) => `${join(folder, name)}:${join(folder, name)}`;
    const { args = [] } = call ?? {};
    assert.ok(args.includes('--container-image=nvcr.io#nvidia/pytorch:24.01'));
    assert.ok(args.includes(`--container-mounts=${mount('workspace')},${mount('venv')}`));
    assert.ok(args.includes('--no-container-mount-home'));
    assert.deepEqual(args.slice(-4), ['bash', join(folder, 'workspace/a.sh'), 'x y', '$(id)']);
    const names =
      args
        .find((word) => word.startsWith('--container-env='))
        ?.slice(16)
        .split(',') ?? [];
    assert.ok(names.includes('V') && names.includes('API_TOKEN') && names.includes('FARWHARF_ARTIFACTS'));
    assert.deepEqual(
      names.filter((name) => /^(SLURM_CONF|ENROOT_.*|PATH)$/.test(name)),
      [],
    );
    assert.ok(!args.join(' ').includes(SECRET));
  });

  test('volumes are bound into a container under their own paths, and jobs without one have the folders themselves', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const volumes = [
      { name: 'data', folder: join(runtime.folder, 'data'), writable: false },
      { name: 'cache', folder: join(runtime.folder, 'cache'), writable: true },
    ];
    for (const { folder } of volumes) mkdirSync(folder);
    const { config, ...folders } = onCluster(cluster());
    const container = { runtime: 'apptainer' as const, image: runtime.image('a.sif') };
    const classes = [
      machineClass('in', { partition: 'cpu-small', container }),
      machineClass('out', { partition: 'cpu-small' }),
    ];
    const whole = { ...config, volumes, machine_classes: classes };
    const service = await startService(t, { ...folders, config: whole });
    const expected = `${volumes[0]?.folder} ${volumes[1]?.folder}\n`;
    for (const machine_class of ['in', 'out']) {
      const script = { 'a.sh': 'echo $FARWHARF_VOLUME_DATA $FARWHARF_VOLUME_CACHE' };
      const { id, job } = await run(service, script, { machine_class, volumes: ['data', 'cache'] });
      assert.equal(job.state, 'succeeded', job.reason ?? '');
      assert.equal(await service.output(id), expected);
    }
    const [call] = runtime.takeCalls();
    for (const [index, mode] of ['ro', 'rw'].entries()) {
      const path = volumes[index]?.folder;
      assert.ok(call?.args.includes(`${path}:${path}:${mode}`), call?.args.join(' '));
    }
    await service.stop();
    // On the nodes, an empty file system lies over the private folder.
    const unseen = { name: 'unseen', folder: join(cluster().privateFolder, 'volume'), writable: false };
    mkdirSync(unseen.folder);
    await using scratch = await Scratch.create();
    const file = { 'service.json': JSON.stringify({ ...whole, volumes: [...volumes, unseen] }) };
    const folder = await scratch.folder('etc', file);
    const args = ['serve', '--config', `${folder}/service.json`, '--data', onCluster(cluster()).data, '--check'];
    const { stdout, stderr } = await scratch.run(args, { env: { PATH: runtime.searchPath } });
    assert.match(stdout + stderr, /PROBLEM +machine class out: .*: small\d lacks the folder of the volume unseen\./);
  });

  test('an image that the class fixes cannot be replaced, one that it does not allow is refused, and so is what is no image', async (t) => {
    const runtime = standIn(t, 'apptainer');
    const image = runtime.image('fixed.sif');
    const { service } = await start(
      t,
      { container: { runtime: 'apptainer', image } },
      { container: { runtime: 'apptainer' }, allow: { images: ['/images/*', 'docker://debian:12'] } },
      {},
    );
    const refusalOf = async (container: unknown, machine: string): Promise<string> => {
      const response = await service.send(
        { 'a.sh': 'true' },
        { script: 'a.sh', machine_class: machine, cluster: { container } },
      );
      assert.equal(response.status, 400, String(container));
      return ((await response.json()) as { detail: string }).detail;
    };
    assert.match(
      await refusalOf('/images/a.sif', 'c0'),
      /c0 does not allow the container image .* It allows only .*fixed\.sif\./,
    );
    assert.match(
      await refusalOf('docker://debian:123', 'c1'),
      /c1 does not allow .* It allows \/images\/\*, docker:\/\/debian:12\./,
    );
    assert.match(await refusalOf('/images/a.sif', 'c2'), /c2 does not allow .* It allows none\./);
    const hostile = [
      '/images/../etc/x',
      '/images/a/../../b',
      'a.sif',
      './a.sif',
      '-h',
      '--bind=/:/',
      'instance://a',
      'file:///a',
      'docker-daemon:a',
      '/a b',
      '/a;id',
      '/a$(id)',
      "/a'b",
      '/a,b',
      '/a\nb',
      '',
      `/${'a'.repeat(2_000)}`,
      ['/a'],
    ];
    for (const one of hostile) assert.match(await refusalOf(one, 'c1'), /meta\.cluster\.container: /, String(one));
  });

  test('the real Apptainer starts a job in its image, with its own files and nothing else of the node', async (t) => {
    if (findProgram(['apptainer']) === undefined) return t.skip('NO APPTAINER: only the arguments for it are tested');
    const image = await shellImage(join(await temporaryFolder(t), 'image'));
    const { service } = await start(t, { container: { runtime: 'apptainer', image } });
    await setSecret(service);
    const script = {
      'a.sh': 'echo "$BASH|$V|${#API_TOKEN}"; [ -e /usr ] && echo outside; echo r > "$FARWHARF_ARTIFACTS/r"; echo $?',
    };
    const meta = { venv: { env: { V: '$(echo x)' } }, secrets: ['API_TOKEN'] };
    const { id, job } = await run(service, script, meta);
    assert.equal(job.state, 'succeeded', `${job.reason} ${await service.output(id, 'stderr')}`);
    assert.equal(await service.output(id), `/bin/bash|$(echo x)|${SECRET.length}\n0\n`);
  });

  test('farwharf serve --check says which nodes lack the runtime or an image', async (t) => {
    const runtime = standIn(t, 'apptainer', 'srun');
    const { config, data } = onCluster(cluster());
    const image = runtime.image('here.sif');
    const classes = [
      machineClass('good', { partition: 'cpu-small', container: { runtime: 'apptainer', image } }),
      machineClass('gone', { partition: 'cpu-small', container: { runtime: 'apptainer', image: '/images/gone.sif' } }),
      machineClass('some', {
        partition: 'cpu-small',
        container: { runtime: 'pyxis' },
        allow: { images: [image, '/images/other.sqsh', 'docker://debian:12', '/images/*'] },
      }),
    ];
    await using scratch = await Scratch.create();
    const folder = await scratch.folder('etc', {
      'service.json': JSON.stringify({ ...config, machine_classes: classes }),
    });
    const check = async (path: string): Promise<string> => {
      const args = ['serve', '--config', `${folder}/service.json`, '--data', data, '--check'];
      const { exit, stdout, stderr } = await scratch.run(args, { env: { PATH: path } });
      assert.equal(exit, 1);
      return stdout + stderr;
    };
    const text = await check(runtime.searchPath);
    assert.match(text, /ok +machine class good: its nodes have what its jobs need/);
    assert.match(text, /PROBLEM +machine class gone: .*: small\d lacks the image \/images\/gone\.sif\./);
    assert.match(text, /PROBLEM +machine class some: .*: small\d lacks the image \/images\/other\.sqsh\./);
    const bare = await check('/usr/bin:/bin');
    assert.match(bare, /PROBLEM +machine class good: .*: small\d lacks Apptainer 1\.1 or later\./);
    assert.match(bare, /PROBLEM +machine class some: .*: small\d lacks srun with the plugin Pyxis, the image/);
  });
});

test('a class cannot fix an image and let jobs choose one, nor name what Apptainer would look for among the files of a job', () => {
  const problemOf = (more: object): string =>
    slurmMachineClass
      .safeParse({ name: 'a', description: '', credits_per_minute: 1, cpus: 1, memory_gb: 1, ...more })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
      .join('; ') ?? '';
  const image = '/images/a.sif';
  const allow = { images: ['/images/*'] };
  assert.equal(problemOf({ container: { runtime: 'apptainer', image } }), '');
  assert.equal(problemOf({ container: { runtime: 'pyxis', image: 'nvcr.io#nvidia/a' } }), '');
  assert.match(
    problemOf({ container: { runtime: 'apptainer', image }, allow }),
    /^allow\.images needs a container without/,
  );
  assert.match(problemOf({ allow }), /^allow\.images needs/);
  assert.match(problemOf({ container: { runtime: 'apptainer' } }), /^container needs an image/);
  assert.match(problemOf({ container: { runtime: 'apptainer', image: 'nvcr.io#a' } }), /^container\.image must begin/);
  for (const pattern of ['*', 'a*', '/images/../*', '../*', '-*']) {
    assert.match(
      problemOf({ container: { runtime: 'pyxis' }, allow: { images: [pattern] } }),
      /must be an image/,
      pattern,
    );
  }
});
