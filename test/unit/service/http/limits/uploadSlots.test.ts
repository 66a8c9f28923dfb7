import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UploadSlots } from '../../../../../src/service/http/limits/uploadSlots.ts';

const MOST = 16;

/** Slots with a clock, and uploads that received some bytes. */
function slots(most = MOST) {
  const clock = { now: 1_000 };
  const shared = new UploadSlots(most, () => clock.now);
  const ended: string[] = [];
  const open = (accountId: string, name = accountId) => {
    const incoming = {
      complete: false,
      socket: { bytesRead: 500 },
      destroy: () => {
        ended.push(name);
        return incoming;
      },
    };
    return { incoming, close: shared.add(accountId, incoming as unknown as Parameters<UploadSlots['add']>[1]) };
  };
  return { clock, shared, ended, open };
}

test('four accounts with four slow uploads each leave slots to the others', () => {
  const { shared, open } = slots();
  for (let round = 0; round < 4; round += 1) {
    for (const account of ['a', 'b', 'c', 'd']) if (shared.refusal(account) === undefined) open(account);
  }
  assert.match(shared.refusal('a') ?? '', /^Half of the 16 uploads .* \(all_uploads\) are for accounts that have none/);
  for (let other = 1; other <= 8; other += 1) {
    assert.equal(shared.refusal(`other ${other}`), undefined);
    open(`other ${other}`);
  }
  assert.match(
    shared.refusal('other 9') ?? '',
    /receives 16 uploads at once \(all_uploads\), and that many are in progress/,
  );
});

test('an upload that ended leaves its slot', () => {
  const { shared, open } = slots(1);
  const { close } = open('a');
  assert.match(shared.refusal('b') ?? '', /receives 1 uploads at once/);
  assert.match(shared.refusal('a') ?? '', /receives 1 uploads at once/);
  close();
  assert.equal(shared.refusal('b'), undefined);
});

test('the slowest upload below 8 KB/s gives way to an account that has none, after half a minute', () => {
  const { clock, shared, ended, open } = slots(3);
  const uploads = ['fast', 'slow', 'slower'].map((name) => open(name).incoming);
  clock.now += 29_000;
  for (const [index, kilobytes] of [1_000, 20, 10].entries()) {
    const upload = uploads[index];
    if (upload !== undefined) upload.socket.bytesRead += kilobytes * 1_000;
  }
  assert.match(shared.refusal('waiting') ?? '', /that many are in progress/);
  clock.now += 2_000;
  assert.match(shared.refusal('slow') ?? '', /that many are in progress/, 'it has an upload already');
  assert.deepEqual(ended, []);
  assert.equal(shared.refusal('waiting'), undefined);
  open('waiting');
  assert.deepEqual(ended, ['slower']);
  assert.equal(shared.refusal('next'), undefined);
  open('next');
  assert.deepEqual(ended, ['slower', 'slow']);
  assert.match(shared.refusal('last') ?? '', /that many are in progress/);
});

test('an upload that was received completely is not ended while it is checked', () => {
  const { clock, shared, ended, open } = slots(1);
  open('checked').incoming.complete = true;
  clock.now += 600_000;
  assert.match(shared.refusal('b') ?? '', /that many are in progress/);
  assert.deepEqual(ended, []);
});
