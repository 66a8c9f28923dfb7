import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BatchJob, readBatchJob, startsIn } from '../../../../src/jobs/batch/batchJob.ts';
import { batchFindings, chooseMachineClass } from '../../../../src/jobs/batch/batchTerms.ts';

const HEAD = '#!/bin/bash\n';
const NOTHING = {
  partitions: undefined,
  resources: undefined,
  cpus: undefined,
  memoryGb: undefined,
  gpus: undefined,
  gpuType: undefined,
};
const CARD = {
  rate_card: [
    { machine_class: 'large', credits_per_minute: 4, description: '', cpus: 16, memory_gb: 64, gpus: 0 },
    { machine_class: 'small', credits_per_minute: 1, description: '', cpus: 2, memory_gb: 8, gpus: 0 },
    { machine_class: 'gpu', credits_per_minute: 9, description: 'NVIDIA A100', cpus: 8, memory_gb: 64, gpus: 2 },
    { machine_class: 'oldgpu', credits_per_minute: 5, description: 'NVIDIA P100', cpus: 8, memory_gb: 32, gpus: 2 },
  ],
};

function jobOf(...lines: readonly string[]): BatchJob {
  return readBatchJob(`${HEAD}${lines.join('\n')}\necho\n`);
}

function remarksOf(...lines: readonly string[]): readonly string[] {
  return jobOf(...lines).remarks.map(({ line, option }) => `${line} ${option}`);
}

function classOf(...lines: readonly string[]): string | undefined {
  return chooseMachineClass(CARD, jobOf(...lines).request).machineClass;
}

test('of machine classes without a price, the smallest that has enough is chosen, before any with a price', () => {
  const sizes = { big: [64, 0], gpu: [8, 2], small: [4, 0], tiny: [1, 0] } as const;
  const classes = Object.entries(sizes).map(([machine_class, [cpus, gpus]]) => ({ machine_class, cpus, gpus }));
  const cheap = { machine_class: 'cheap', cpus: 4, gpus: 0, credits_per_minute: 0.1 };
  const chosen = (features: readonly string[], ...lines: readonly string[]) =>
    chooseMachineClass({ features, rate_card: [cheap, ...classes] }, jobOf(...lines).request).machineClass;
  assert.equal(chosen(['unpriced'], '#SBATCH -c 4'), 'small');
  assert.equal(chosen(['unpriced'], '#SBATCH -c 5'), 'big');
  assert.equal(chosen(['unpriced'], '#SBATCH --gpus=1'), 'gpu');
  assert.equal(chosen([], '#SBATCH -c 4'), 'cheap', 'elsewhere, a price that is not listed is unknown');
});

test('time limits have every form of the manual', () => {
  const limits: [string, number | undefined][] = [
    ['90', 5400],
    ['1:30', 90],
    ['1:30:00', 5400],
    ['1-12', 129_600],
    ['1-12:30', 131_400],
    ['1-12:30:15', 131_415],
    ['UNLIMITED', undefined],
    ['0', undefined],
    ['1h', undefined],
    ['-5', undefined],
  ];
  for (const [text, seconds] of limits) assert.equal(jobOf(`#SBATCH --time=${text}`).terms.maxRuntime, seconds, text);
  assert.deepEqual(remarksOf('#SBATCH --time=1h'), ['2 --time=1h']);
});

test('options are long or short, with the value after =, a blank or at once, quoted, shortened, and several in a line', () => {
  const minutes = ['--time=10', '--time 10', '-t 10', '-t10', '--time="10"', "-t '10'", '--time=10 # note'];
  for (const option of minutes) assert.equal(jobOf(`#SBATCH ${option}`).terms.maxRuntime, 600, option);
  assert.equal(jobOf(String.raw`#SBATCH --job-name=my\ \"job\"`).title, 'my "job"');
  const job = jobOf('#SBATCH -A vision -t 5 -c4 --mem 8G', '#SBATCH --job-name="my job" -H');
  assert.equal(job.terms.project, 'vision');
  assert.equal(job.terms.maxRuntime, 300);
  assert.equal(job.title, 'my job');
  assert.deepEqual([job.request.cpus, job.request.memoryGb], [4, 8]);
  assert.deepEqual(
    job.remarks.map(({ option }) => option),
    ['--hold', '--job-name=my job'],
  );
});

test('reading ends at the first command, and comments are no options', () => {
  const job = readBatchJob(
    `${HEAD}\n# a comment\n##SBATCH --time=1\n# SBATCH --time=2\n#SBATCHES\n  \n#SBATCH --time=3\nmodule load x\n#SBATCH --time=4\n`,
  );
  assert.equal(job.terms.maxRuntime, 180);
  assert.deepEqual(job.remarks, []);
  assert.equal(jobOf('#SBATCH -t 1', '#SBATCH -t 2').terms.maxRuntime, 120, 'the last one counts');
  assert.equal(readBatchJob(`${HEAD}#SBATCH -t 15`).terms.maxRuntime, 900, 'a last line without an end');
});

test('cores, memory and GPUs are added up for one machine', () => {
  assert.deepEqual(jobOf().request, NOTHING);
  const ofRequest = (...lines: readonly string[]) => {
    const { cpus, memoryGb, gpus, gpuType } = jobOf(...lines).request;
    return [cpus, memoryGb, gpus, gpuType];
  };
  assert.deepEqual(ofRequest('#SBATCH -n 4 -c 2 --mem-per-cpu=1500M'), [8, (1500 * 8) / 1024, undefined, undefined]);
  assert.deepEqual(ofRequest('#SBATCH --gres=gpu:a100:2(S:0-1)'), [undefined, undefined, 2, 'a100']);
  assert.deepEqual(ofRequest('#SBATCH --gres=gpu'), [undefined, undefined, 1, undefined]);
  assert.deepEqual(ofRequest('#SBATCH -G volta:3,kepler:1 --mem-per-gpu=2G'), [undefined, 8, 4, 'volta']);
  assert.deepEqual(ofRequest('#SBATCH --ntasks-per-node=2 --gpus-per-task=2'), [2, undefined, 4, undefined]);
  assert.deepEqual(remarksOf('#SBATCH -N 4', '#SBATCH --gres=lustre:1', '#SBATCH --mem=lots'), [
    '2 --nodes=4',
    '3 --gres=lustre:1',
    '4 --mem=lots',
  ]);
  assert.deepEqual(remarksOf('#SBATCH --nodes=1'), []);
});

test('the machine class is that of a partition, else the cheapest with enough of everything', () => {
  assert.equal(classOf(), undefined);
  assert.equal(classOf('#SBATCH -p gpu'), 'gpu');
  assert.equal(classOf('#SBATCH -p short,large,gpu -c 1'), 'large');
  assert.equal(classOf('#SBATCH -p short -c 1'), 'small');
  assert.equal(classOf('#SBATCH -c 4'), 'large');
  assert.equal(classOf('#SBATCH --mem=9G'), 'large');
  assert.equal(classOf('#SBATCH --gpus=1'), 'oldgpu');
  assert.equal(classOf('#SBATCH --gres=gpu:a100:1'), 'gpu');
  assert.equal(classOf('#SBATCH --gres=gpu:h100:1'), 'oldgpu');
  assert.equal(classOf('#SBATCH -c 64'), undefined);
  const remarks = (...lines: readonly string[]) =>
    chooseMachineClass(CARD, jobOf(...lines).request).remarks.map(({ line, option }) => `${line} ${option}`);
  assert.deepEqual(remarks('#SBATCH -p gpu'), []);
  assert.deepEqual(remarks('#SBATCH -p small', '#SBATCH -c 4'), ['3 --cpus-per-task=4']);
  assert.deepEqual(remarks('#SBATCH -p none', '#SBATCH -c 64 --mem 1G'), [
    '2 --partition=none',
    '3 --cpus-per-task=64 --mem=1G',
  ]);
  assert.deepEqual(remarks('#SBATCH --gres=gpu:h100:1'), ['2 --gres=gpu:h100:1']);
  const reasons = (option: string) =>
    chooseMachineClass(CARD, jobOf(`#SBATCH ${option}`).request).remarks[0]?.reason ?? '';
  assert.match(reasons('--gres=gpu:h100:1'), /^No machine class names GPUs of type h100\. The job gets oldgpu/);
  assert.match(reasons('--gres=gpu:h100:9'), /^No machine class is large enough/);
  assert.deepEqual(chooseMachineClass(undefined, jobOf('#SBATCH -p x').request).machineClass, undefined);
});

test('an array is a list of tasks, and a wrong one ends the submit', () => {
  assert.deepEqual(jobOf('#SBATCH --array=1,3,5-7%2').array?.tasks, [1, 3, 5, 6, 7]);
  assert.equal(jobOf('#SBATCH --array=1,3,5-7%2').array?.concurrency, 2);
  assert.deepEqual(jobOf('#SBATCH -a 0-8:4').array?.tasks, [0, 4, 8]);
  for (const wrong of ['x', '5-1', '1-', '0-999999999', '1-5:0', '']) {
    const [remark] = jobOf(`#SBATCH --array="${wrong}"`).remarks;
    assert.equal(remark?.isFatal, true, wrong);
  }
});

test('what is not used is named with its line and the reason', () => {
  const lines = [
    '--output=%j.out',
    '-e err',
    '--mail-type=END',
    '-d afterok:1',
    '--nope=1',
    '--constraint=a',
    'stray',
    '-q',
  ];
  const job = jobOf(...lines.map((line) => `#SBATCH ${line}`));
  const findings = batchFindings({ source: 'job.sbatch', remarks: job.remarks, request: undefined }, undefined);
  const texts = findings.map(({ summary, detail }) => `${summary}. ${detail}`);
  assert.equal(findings.length, lines.length);
  assert.match(
    texts[0] ?? '',
    /^Line 2 of job\.sbatch, --output=%j\.out, is not used\. All output is in the job's log/,
  );
  assert.match(texts.join('\n'), /--mail-type=END.*--cluster mail/);
  assert.match(texts.join('\n'), /--nope=1.*not an option of sbatch/);
  assert.match(texts.join('\n'), /stray.*not an option of sbatch/);
  assert.match(texts.join('\n'), /-q, .*lacks its value/);
});

test('variables of --export are set, and those of the own machine are not read', () => {
  const job = jobOf('#SBATCH --export=ALL,SEED=1,MODE=a=b,HOME,FARWHARF_X=1');
  assert.deepEqual(job.environment, { SEED: '1', MODE: 'a=b' });
  assert.match(job.remarks[0]?.reason ?? '', /HOME, FARWHARF_X=1: They would be read from your environment/);
  assert.deepEqual(remarksOf('#SBATCH --export=NONE'), []);
});

test('hostile values are not used, and many of them stay readable', () => {
  const job = jobOf(
    '#SBATCH -A a\u001b[31mb',
    `#SBATCH --job-name=${'x'.repeat(5000)}`,
    '#SBATCH --export=A\u0007=1',
    '#SBATCH -t "unclosed',
  );
  assert.equal(job.terms.project, undefined);
  assert.deepEqual(job.environment, {});
  const many = jobOf(...Array.from({ length: 10_000 }, (_, index) => `#SBATCH --unknown${index}=\u001b]0;x\u0007`));
  assert.equal(many.remarks.length, 10_000);
  const findings = batchFindings(
    { source: 'j\u001b[2Jb', remarks: [...job.remarks, ...many.remarks], request: undefined },
    undefined,
  );
  assert.equal(findings.length, 21);
  assert.match(findings.at(-1)?.summary ?? '', /9,98\d more options/);
  // oxlint-disable-next-line no-control-regex -- what must not be there
  for (const { summary, detail } of findings) assert.doesNotMatch(summary + detail, /[\u0000-\u001f]/);
});

test('remarks are in the order of the lines, those about a machine class only while it is chosen, and errors always', () => {
  const remark = (line: number, isFatal = false) => ({ line, option: `--o${line}`, reason: 'no', isFatal });
  const choice = { machineClass: 'cpu', remarks: [remark(2)] };
  const shown = (lines: readonly ReturnType<typeof remark>[], machineClass: string | undefined): string[] =>
    batchFindings({ source: 'j', remarks: lines, request: undefined, choice }, machineClass).map(
      ({ severity, summary }) => `${severity} ${summary.split(',')[0]}`,
    );
  const remarks = [remark(3), remark(1)];
  assert.deepEqual(shown(remarks, 'cpu'), ['warning Line 1 of j', 'warning Line 2 of j', 'warning Line 3 of j']);
  assert.deepEqual(shown(remarks, 'gpu'), ['warning Line 1 of j', 'warning Line 3 of j']);
  assert.deepEqual(shown(remarks, undefined), ['warning Line 1 of j', 'warning Line 3 of j']);
  const many = Array.from({ length: 30 }, (_, index) => remark(index + 10, index === 29));
  const texts = shown(many, undefined);
  assert.equal(texts.length, 22);
  assert.deepEqual(texts.slice(-2), ['error Line 39 of j', 'warning 9 more options of j are not used']);
  const all = batchFindings({ source: 'j', remarks: many.slice(0, 21), request: undefined }, 'cpu');
  assert.deepEqual(
    [all[0], all[20]],
    [
      { type: 'batch', severity: 'warning', summary: 'Line 10 of j, --o10, is not used', detail: 'no' },
      {
        type: 'batch',
        severity: 'warning',
        summary: '1 more options of j are not used',
        detail: 'Only the first are listed.',
      },
    ],
  );
});

test('a long option is shortened where it is shown', () => {
  const remark = (length: number) => ({ line: 1, option: 'x'.repeat(length), reason: 'no' });
  const shown = (length: number): string | undefined =>
    batchFindings({ source: 'j', remarks: [remark(length)], request: undefined }, undefined)[0]?.summary;
  assert.equal(shown(100), `Line 1 of j, ${'x'.repeat(100)}, is not used`);
  assert.equal(shown(101), `Line 1 of j, ${'x'.repeat(100)}…, is not used`);
});

test('each option that is wrong or not used has its reason', () => {
  const reasons = (...lines: readonly string[]): readonly string[] =>
    jobOf(...lines.map((line) => `#SBATCH ${line}`)).remarks.map(({ reason }) => reason);
  const memory = 'Its value is not an amount of memory. Jobs have that of their machine class.';
  for (const [option, reason] of [
    ['--nope', 'It is not an option of sbatch, which would refuse the script.'],
    ['--time', 'It lacks its value, which would refuse the script.'],
    ['--time=1h', 'Every job has a time limit such as 1:30:00.'],
    ['--hold', 'A job starts as soon as its machine class has room.'],
    [`--account=${'x'.repeat(1_001)}`, 'Its value has more than 1000 characters.'],
    ['--account=a\u0085', 'Its value contains control characters.'],
    ['--ntasks=0', 'Its value is not a number above 0.'],
    ['--ntasks-per-node=x', 'Its value is not a number above 0.'],
    ['--cpus-per-task=x', 'Its value is not a number above 0.'],
    ['--gpus=x:y:1', 'Its value is not a number of GPUs.'],
    ['--gpus-per-node=', 'Its value is not a number of GPUs.'],
    ['--gpus-per-task=a:b:c', 'Its value is not a number of GPUs.'],
    ['--gres=lustre', 'GPUs are the only generic resources of machine classes.'],
    ['--mem=x', memory],
    ['--mem-per-cpu=x', memory],
    ['--mem-per-gpu=x', memory],
    ['--nodes=2', 'A job runs on one machine. The machine class is chosen for the tasks of one node.'],
    ['--array=x', 'Its value is not a list of tasks such as 1-10.'],
    ['--job-name=x', 'Jobs are listed by their script.'],
    ['--export=HOME', 'HOME: It would be read from your environment, which is not sent. Write NAME=value.'],
    ['--export=A,B', 'A, B: They would be read from your environment, which is not sent. Write NAME=value.'],
  ] as const) {
    assert.deepEqual(reasons(option), [reason], option);
  }
  assert.deepEqual(reasons('--nodes=x'), [
    'Its value is not a number above 0.',
    'A job runs on one machine. The machine class is chosen for the tasks of one node.',
  ]);
  assert.deepEqual(
    reasons(`--account=${'x'.repeat(1_000)}`, '--nodes=1', '--export=ALL,NIL,', '--job-name=x --array=1'),
    [],
  );
});

test('a job has what its options say, and nothing that they do not mention', () => {
  const empty = jobOf();
  assert.deepEqual(
    { ...empty, request: NOTHING },
    {
      terms: { maxRuntime: undefined, project: undefined },
      title: undefined,
      chdir: undefined,
      environment: {},
      array: undefined,
      cpusPerTask: undefined,
      tasks: undefined,
      request: NOTHING,
      remarks: [],
    },
  );
  const job = jobOf(
    '#SBATCH -A vision -t 5 -J name -D /data/in',
    '#SBATCH -n 3 -c 2 -p a,,b --mem=1G --gres=gpu:2',
    '#SBATCH --array=1-2%1 --export=A=1,B=',
  );
  assert.deepEqual(job, {
    terms: { maxRuntime: 300, project: 'vision' },
    title: 'name',
    chdir: { line: 2, option: '--chdir=/data/in', path: '/data/in' },
    environment: { A: '1', B: '' },
    array: { tasks: [1, 2], concurrency: 1, line: 4, option: '--array=1-2%1' },
    cpusPerTask: 2,
    tasks: 3,
    request: {
      partitions: { line: 3, option: '--partition=a,,b', names: ['a', 'b'] },
      resources: { line: 3, option: '--ntasks=3 --cpus-per-task=2 --mem=1G --gres=gpu:2' },
      cpus: 6,
      memoryGb: 1,
      gpus: 2,
      gpuType: undefined,
    },
    remarks: [],
  });
  assert.equal(jobOf('#SBATCH --account=""').terms.project, undefined);
  assert.deepEqual([jobOf('#SBATCH --ntasks-per-node=4').tasks, jobOf('#SBATCH -n x').tasks], [4, 1]);
});

test('the folder of a job is the one that is sent, however it is written', () => {
  const starts = (path: string, folder: string): boolean => startsIn({ line: 1, option: '', path }, folder);
  for (const [path, folder] of [
    ['.', '/data'],
    ['./', '/data'],
    ['a/..', '/data'],
    ['/data', '/data'],
    ['/data/', '/data/'],
    ['/data/x/../', '/data'],
  ] as const) {
    assert.equal(starts(path, folder), true, path);
  }
  for (const [path, folder] of [
    ['sub', '/data'],
    ['..', '/data'],
    ['/data/sub', '/data'],
    ['/dat', '/data'],
    ['', '/x'],
  ] as const) {
    assert.equal(starts(path, folder), false, path);
  }
});

test('a machine class is chosen by its price among those that are enough, and what it lacks is said', () => {
  const reasonsFor = (card: unknown, ...lines: readonly string[]): readonly string[] =>
    chooseMachineClass({ rate_card: card }, jobOf(...lines).request).remarks.map(({ reason }) => reason);
  const offers = 'Machine classes: small, large, oldgpu, gpu.';
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH -p none'), [
    `No machine class has the name of a partition. ${offers}`,
  ]);
  assert.deepEqual(reasonsFor([], '#SBATCH -p none'), [
    'No machine class has the name of a partition. The service lists no machine classes.',
  ]);
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH -c 64'), [
    `No machine class is large enough, so the job gets the default one. ${offers} Choose one if it needs more.`,
  ]);
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH -p small -c 4'), [
    'Machine class small has 2 cores, 8 GB. Choose another one if the job needs more.',
  ]);
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH --gres=gpu:h100:1'), [
    'No machine class names GPUs of type h100. The job gets oldgpu, with 8 cores, 32 GB, 2 GPUs.',
  ]);
  assert.deepEqual(reasonsFor(undefined, '#SBATCH -c 1'), [
    'No machine class is large enough, so the job gets the default one. The service lists no machine classes. Choose one if it needs more.',
  ]);
  const vague = [{ machine_class: 'vague', credits_per_minute: 1 }, { credits_per_minute: 0 }];
  assert.deepEqual(reasonsFor(vague, '#SBATCH --gres=gpu:h100:1'), [
    'No machine class names GPUs of type h100. The job gets vague, with unknown resources.',
  ]);
  assert.deepEqual(reasonsFor(vague, '#SBATCH --gpus=1'), [], 'a GPU of any type');
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH --gres=gpu:a100:1'), []);
  assert.deepEqual(reasonsFor(CARD.rate_card, '#SBATCH -p small'), [], 'nothing but the name');
  assert.deepEqual(reasonsFor([{ machine_class: 'a', memory_gb: 4 }], '#SBATCH -p a --mem=8G'), [
    'Machine class a has 4 GB. Choose another one if the job needs more.',
  ]);
  const unpriced = [{ machine_class: 'free' }, { machine_class: 'paid', credits_per_minute: 1, cpus: 4 }];
  assert.equal(chooseMachineClass({ rate_card: unpriced }, jobOf('#SBATCH -c 4').request).machineClass, 'paid');
  assert.equal(chooseMachineClass({ rate_card: unpriced }, jobOf('#SBATCH -c 5').request).machineClass, 'free');
});
