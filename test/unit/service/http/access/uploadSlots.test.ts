import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UploadSlots } from '../../../../../src/service/http/access/uploadSlots.ts';

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

test('an account has all uploads while nobody else needs one, and leaves half of them to others, those that received least', () => {
  const { shared, ended, open } = slots();
  for (let count = 1; count <= MOST; count += 1) {
    assert.equal(shared.refusal('a'), undefined, `upload ${count}`);
    open('a', `a${count}`).incoming.socket.bytesRead += 1_000 * (count % MOST);
  }
  assert.match(shared.refusal('a') ?? '', /receives 16 uploads at once \(all_uploads\), and that many are in progress/);
  for (let other = 1; other <= MOST / 2; other += 1) {
    assert.equal(shared.refusal(`other ${other}`), undefined);
    open(`other ${other}`);
  }
  assert.deepEqual(ended, ['a16', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']);
  assert.match(shared.refusal('other 9') ?? '', /that many are in progress/);
  assert.match(shared.refusal('a') ?? '', /that many are in progress/, 'what it left is not taken back');
});

test('accounts with several uploads share the half that others leave to them', () => {
  const { shared, ended, open } = slots();
  for (const account of ['a', 'a', 'b', 'c', 'a', 'b', 'd', 'c', 'd', 'a', 'a', 'a', 'a', 'a', 'b', 'a']) {
    assert.equal(shared.refusal(account), undefined);
    open(account);
  }
  for (let other = 1; other <= 8; other += 1) {
    assert.equal(shared.refusal(`other ${other}`), undefined);
    open(`other ${other}`);
  }
  assert.deepEqual(ended.toSorted(), [...Array<string>(7).fill('a'), 'b']);
  assert.match(shared.refusal('other 9') ?? '', /that many are in progress/);
});

test('uploads that were received completely do not give way', () => {
  const { shared, ended, open } = slots(4);
  for (let count = 1; count <= 4; count += 1) open('a', `a${count}`).incoming.complete = count !== 3;
  assert.equal(shared.refusal('b'), undefined);
  open('b');
  assert.deepEqual(ended, ['a3']);
  assert.match(shared.refusal('c') ?? '', /that many are in progress/);
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
