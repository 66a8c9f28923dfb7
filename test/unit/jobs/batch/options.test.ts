import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longOption, REASONS, shortOption } from '../../../../src/jobs/batch/optionNames.ts';
import { readOptions } from '../../../../src/jobs/batch/options.ts';

const words = (...texts: readonly string[]) => texts.map((text, index) => ({ line: index + 1, text }));
const read = (...texts: readonly string[]): readonly string[] => {
  const { options, wrong } = readOptions(words(...texts));
  return [
    ...options.map(({ line, long, argument }) => `${line} ${long} ${argument}`),
    ...wrong.map(({ line, text, problem }) => `${line} ${text} ${problem}`),
  ];
};

test('a value follows at once, after = or as the next word, as its option wants', () => {
  assert.deepEqual(read('--time=5', '--time', '6', '-t7', '-t=8', '-t', '9', '--time='), [
    '1 time 5',
    '2 time 6',
    '4 time 7',
    '5 time 8',
    '6 time 9',
    '8 time ',
  ]);
  assert.deepEqual(read('--hold', '-H', '--nice', '--nice=5', '-k', '-ks', '--hold=x'), [
    '1 hold ',
    '2 hold ',
    '3 nice ',
    '4 nice 5',
    '5 no-kill ',
    '6 no-kill s',
    '7 hold x',
  ]);
  assert.deepEqual(read('--job-name=a=b', '--job-name=a\nb'), ['1 job-name a=b', '2 job-name a\nb']);
});

test('a word that sbatch would refuse is wrong, and the next one is read as if it were not there', () => {
  const no = 'is not an option of sbatch';
  assert.deepEqual(read('stray', '--nope=1', '-z', '--', '-', '--1', '---time=5', '-1', '--time=5', '--time'), [
    '9 time 5',
    `1 stray ${no}`,
    `2 --nope=1 ${no}`,
    `3 -z ${no}`,
    `4 -- ${no}`,
    `5 - ${no}`,
    `6 --1 ${no}`,
    `7 ---time=5 ${no}`,
    `8 -1 ${no}`,
    '10 --time lacks its value',
  ]);
});

test('a long name may be shortened as long as only one option begins like that', () => {
  assert.equal(longOption('time')?.long, 'time', 'the name itself, although time-min begins with it');
  assert.equal(longOption('time-')?.long, 'time-min');
  assert.equal(longOption('partit')?.long, 'partition');
  assert.equal(longOption('mem-per'), undefined);
  assert.equal(longOption('x'), undefined);
  assert.equal(longOption('ti'), undefined);
});

test('every option of sbatch has its value and its use', () => {
  const table: Readonly<Record<string, string>> = {
    setting:
      'account=A array=a chdir=D cpus-per-task=c export= gpus=G gpus-per-node= gpus-per-task= gres= job-name=J mem= mem-per-cpu= mem-per-gpu= ' +
      'nodes=N ntasks=n ntasks-per-node= partition=p time=t',
    mail: 'mail-type= mail-user=',
    order:
      'begin=b deadline= delay-boot= dependency=d hold:H kill-on-invalid-dep= nice? priority= requeue: no-requeue: time-min=',
    place:
      'clusters=M cluster-constraint= constraint=C contiguous: core-spec=S cores-per-socket= cpus-per-gpu= distribution=m exclude=x exclusive? ' +
      'extra-node-info=B gpu-bind= gpu-freq= gpus-per-socket= gres-flags= hint= mem-bind= mincpus= network= nodefile=F nodelist=w ' +
      'ntasks-per-core= ntasks-per-gpu= ntasks-per-socket= overcommit:O oversubscribe:s power= prefer= segment= sockets-per-node= spread-job: ' +
      'switches= thread-spec= threads-per-core= tmp= tres-bind= tres-per-task= use-min-nodes: wait-all-nodes=',
    cluster:
      'acctg-freq= bb= bbf= comment= cpu-freq= export-file= extra= get-user-env? gid= ignore-pbs: licenses=L mcs-label= no-kill?k parsable: ' +
      'profile= propagate? qos=q quiet:Q reboot: reservation= resv-ports? stepmgr: test-only: uid= verbose:v wait:W wckey=',
    output: 'error=e open-mode= output=o',
    container:
      'container= container-id= container-image= container-mounts= container-workdir= container-name= container-save= ' +
      'container-mount-home: no-container-mount-home: container-remap-root: no-container-remap-root: container-entrypoint: ' +
      'no-container-entrypoint: container-entrypoint-log: container-writable: container-readonly: container-env=',
    unsupported: 'help:h input=i signal= umask= usage: version:V wrap=',
  };
  const kinds: Readonly<Record<string, string>> = { '=': 'required', '?': 'optional', ':': 'none' };
  for (const [use, list] of Object.entries(table)) {
    for (const entry of list.split(' ')) {
      const [, long = '', mark = '', short = ''] = /^([\w-]+)([=?:])(\w?)$/.exec(entry) ?? [];
      const option = { long, short, value: kinds[mark], use };
      assert.deepEqual(longOption(long), option, entry);
      if (short !== '') assert.deepEqual(shortOption(short), option, entry);
    }
  }
  const letters = Object.values(table)
    .join(' ')
    .matchAll(/(?<=[=?:])\w/g)
    .map(([letter]) => letter)
    .toArray();
  for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') {
    assert.equal(shortOption(letter) !== undefined, letters.includes(letter), letter);
  }
});

test('each reason for which an option is not used is a sentence', () => {
  assert.deepEqual(REASONS, {
    mail: 'On a cluster, --cluster mail asks for a mail at the end. VS Code notifies you when a job fails, and farwharf watch waits for its end.',
    order: 'A job starts as soon as its machine class has room.',
    place: 'The machine class decides where a job runs.',
    cluster: 'The service decides how jobs enter a queue.',
    output: "All output is in the job's log, which farwharf watch shows.",
    container:
      'A job has the container of its machine class, or the one of --cluster container=IMAGE if the class allows that.',
    unsupported: 'Jobs have no such setting.',
  });
});

test('options of Pyxis are known, and their image is not mistaken for a word that sbatch would refuse', () => {
  assert.deepEqual(read('--container-image', 'nvcr.io#nvidia/pytorch:25.01-py3', '--container-mounts=/data:/data'), [
    '1 container-image nvcr.io#nvidia/pytorch:25.01-py3',
    '3 container-mounts /data:/data',
  ]);
  assert.equal(longOption('container-image')?.use, 'container');
});
