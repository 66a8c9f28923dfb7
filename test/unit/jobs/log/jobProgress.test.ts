import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProgramProgress, readProgress } from '../../../../src/jobs/log/programProgress.ts';

const lines: readonly [string, string, string | undefined][] = [
  ['tqdm', ' 62%|██████▏   | 62/100 [00:10<04:06,  6.20it/s]', '62 % · 4 min left'],
  ['tqdm with a label', 'Epoch 1/3:  7%|▋         | 7/100 [00:01<00:14,  6.5it/s]', '7 % · epoch 1 of 3 · 14 s left'],
  ['tqdm without a rate', '  0%|          | 0/100 [00:00<?, ?it/s]', '0 %'],
  ['tqdm in ASCII', ' 50%|#####     | 5/10 [00:05<00:05,  1.0s/it]', '50 % · 5.0 s left'],
  ['tqdm for days', '  1%|          | 1/100 [1:00:00<99:00:00, 3600.0s/it]', '1 % · 4 d 3 h left'],
  ['Keras', 'Epoch 2/5', 'epoch 2 of 5'],
  ['a batch in Keras', '40/100 ━━━━━━━━━━━━━━━━━━━━ 4s 66ms/step - loss: 0.31', '40 %'],
  ['a batch in an older Keras', '40/100 [===========>..................] - ETA: 4s - loss: 0.31', '40 % · 4.0 s left'],
  ['PyTorch examples', 'Train Epoch: 1 [640/60000 (1%)] Loss: 2.3', undefined],
  ['PyTorch with a count', 'Epoch [3/10], Step [100/600], Loss: 0.2', 'epoch 3 of 10'],
  ['pip', '     ━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━ 1.2/2.0 MB 3.1 MB/s eta 0:00:01', undefined],
  ['rich', 'Working... ━━━━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━  62% 0:00:04', '62 % · 4.0 s left'],
  ['wget', 'data.bin   62%[===========>        ]   1.20M  1.2MB/s    eta 1m 4s', '62 % · 1 min left'],
  ['curl', '######################                    62.1%', '62 %'],
  ['a percentage alone', '62%', '62 %'],
  ['an accuracy', 'validation accuracy: 62.1%', undefined],
  ['an accuracy in a sentence', 'reached 97 % after 3 epochs', undefined],
  ['a date', '2026/11/20 12:00:03 started', undefined],
  ['a path', '/data/1/2.csv', undefined],
  ['more than all', ' 162%|██████████| 162/100 [00:10<00:00]', undefined],
];
for (const [name, line, text] of lines) {
  test(`the progress in a line of ${name}: ${text ?? 'none'}`, () => {
    const progress = readProgress(line);
    assert.equal(progress && describeProgramProgress(progress), text);
  });
}

test('a hostile line is read in a moment', () => {
  for (const part of ['1/', '━ ', '62% ', '1d ', 'epoch ', '1:11'])
    assert.doesNotThrow(() => readProgress(part.repeat(1e5)));
});

test('a step is read in any of its words and forms', () => {
  const stepOf = (line: string): string | undefined => readProgress(line)?.step;
  for (const word of ['epoch', 'step', 'iter', 'iteration', 'batch', 'fold', 'trial', 'round']) {
    for (const line of [
      `${word} 2/5`,
      `${word.toUpperCase()} [2/5]`,
      `${word}s: 2 of 5`,
      `${word}: (2/5)`,
      `${word} #2 / 5`,
    ]) {
      assert.equal(stepOf(line), `${word} 2 of 5`, line);
    }
  }
  for (const line of [
    'epochal 2/5',
    'epoch 2',
    'epoch two/five',
    'epoch     2/5',
    'epoch 2/5x',
    'epoch 1234567890/5',
    'myepoch 2/5',
  ]) {
    assert.equal(stepOf(line), undefined, line);
  }
});

test('a percentage is progress beside a bar, an estimate, or at the start of the line', () => {
  const percentOf = (line: string): number | undefined => readProgress(line)?.percent;
  for (const [line, percent] of [
    ['====> 62%', 62],
    ['loss 3 █ 62.5 %', 62.5],
    ['.... 62%', 62],
    ['... 62%', undefined],
    ['62% eta 1s', 62],
    ['at 62 % <0:10', 62],
    ['62%', 62],
    ['62.125%', 62.125],
    ['Loading: 7%|', 7],
    ['a/b c.d-e: 7%|', 7],
    ['100%', 100],
    ['101%', undefined],
    ['0%', 0],
    ['62% of them', undefined],
    ['accuracy: 62%', undefined],
    ['3/4 ━━ x', 75],
    ['[ 3/4 ] eta 5s', 75],
    ['4/4 ━', 100],
    ['5/4 ━', undefined],
    ['3/4 done', undefined],
    ['x 3/4 ━', undefined],
  ] as const) {
    assert.equal(percentOf(line), percent, line);
  }
  assert.equal(percentOf(`${' '.repeat(3)}62%`), 62);
  assert.equal(percentOf(`${'x'.repeat(500)} █ 62%`), undefined, 'far into a line');
});

test('the time that is left is read in each of its forms', () => {
  const secondsOf = (line: string): number | undefined => readProgress(`50% ${line}`)?.secondsLeft;
  for (const [line, seconds] of [
    ['<0:09', 9],
    ['<01:02:03', 3_723],
    ['<2 days, 1:00:00', undefined],
    ['<2day, 1:00:00', 176_400],
    ['<2d 1:00:00', 176_400],
    ['eta 5s', 5],
    ['ETA: 1m 4s', 64],
    ['eta: 1h 2m 3s', 3_723],
    ['eta 1h 3s', 3_603],
    ['eta 90s', 90],
    ['etax 5s', undefined],
    ['beta 5s', undefined],
    ['━ 12 files 0:04', 4],
    ['━ 12 files 0:04 x', undefined],
    ['<x', undefined],
    ['eta 5', undefined],
  ] as const) {
    assert.equal(secondsOf(`|${line}`), seconds, line);
  }
  assert.equal(readProgress('<0:09'), undefined, 'an estimate alone is no progress');
});

test('progress is said in one order, and a percentage is rounded down', () => {
  assert.equal(
    describeProgramProgress({ percent: 99.9, step: 'epoch 1 of 3', secondsLeft: 61 }),
    '99 % · epoch 1 of 3 · 1 min left',
  );
  assert.equal(describeProgramProgress({ step: 'fold 1 of 2' }), 'fold 1 of 2');
  assert.equal(describeProgramProgress({ percent: 0 }), '0 %');
});
