import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostAddress, machineHost, machineOfHost, resolveHost } from '../../../../src/jobs/service/host.ts';
import { resolveKey } from '../../../../src/jobs/service/hostKey.ts';
import { tempHome } from '../fixtures.ts';

const resolve = (remote?: string, env: NodeJS.ProcessEnv = {}): string =>
  resolveHost({ ...(remote !== undefined && { remote }), env });

test('the flag wins over the variable, which wins over the embedded service', () => {
  assert.equal(resolve(), 'local');
  assert.equal(resolve(undefined, { FARWHARF_REMOTE_HOST: 'https://a.example.org/' }), 'https://a.example.org');
  assert.equal(resolve('local', { FARWHARF_REMOTE_HOST: 'https://a.example.org/' }), 'local');
  assert.equal(resolve('https://B.example.org:443/api//', {}), 'https://b.example.org/api');
});

test('http is allowed only for this machine', () => {
  for (const host of ['localhost:8080', '127.0.0.1:9', '127.1.2.3', '[::1]:7']) {
    assert.equal(resolve(`http://${host}`), `http://${host}`);
  }
  for (const host of ['gpu.example.org', '127.0.0.1.evil.org', 'localhost.evil.org', '10.0.0.1', '[::2]']) {
    assert.throws(() => resolve(`http://${host}`), { code: 'bad-input', message: /unencrypted/ });
  }
});

test('a password in the address is refused and not repeated', () => {
  assert.throws(
    () => resolve('https://ada:hunter22@gpu.example.org'),
    (error: Error) => /FARWHARF_API_KEY/.test(error.message) && !/hunter22|ada:/.test(error.message),
  );
});

test('what is no address is said', () => {
  for (const odd of ['gpu.example.org', 'ftp://x', 'https://', 'https://x/?q=1', 'https://x/#a', 'file:///etc']) {
    assert.throws(() => resolve(odd), { code: 'bad-input' }, odd);
  }
});

test('the key comes from the environment, and its lack names the variable', () => {
  const home = '/nowhere';
  const env = { FARWHARF_REMOTE_HOST: 'https://X/', FARWHARF_API_KEY: ' k-1 ' };
  assert.equal(resolveKey('https://x', { home, env }), 'k-1');
  for (const none of [{}, { FARWHARF_API_KEY: ' ' }]) {
    assert.throws(() => resolveKey('https://x', { home, env: none }), {
      code: 'not-signed-in',
      message:
        'No key is set for https://x. Set FARWHARF_API_KEY to the key of your account, and FARWHARF_REMOTE_HOST=https://x; or sign in, if the service offers it:  farwharf login --remote https://x',
    });
  }
});

test('a key belongs to one address: another port, scheme, path or host gets none', () => {
  const home = '/nowhere';
  for (const other of ['https://x:8443', 'https://x/team', 'https://x.evil.org', 'http://localhost:1']) {
    for (const belongs of ['https://x', 'local', '', 'not an address']) {
      const env = { FARWHARF_REMOTE_HOST: belongs, FARWHARF_API_KEY: 'k-1' };
      assert.throws(
        () => resolveKey(other, { home, env }),
        { code: 'not-signed-in', message: /nothing was sent/ },
        other,
      );
    }
  }
});

test('the embedded service and machines never see the user’s key', async () => {
  const local = { url: 'http://127.0.0.1:1', key: 'its-own' };
  const options = {
    key: () => 'secret',
    connectLocal: () => Promise.resolve(local),
    connectMachine: (name: string) => Promise.resolve({ url: 'http://localhost', key: `of-${name}` }),
  };
  assert.deepEqual(await hostAddress('local', options), local);
  assert.deepEqual(await hostAddress('https://x', options), { url: 'https://x', key: 'secret' });
  assert.deepEqual(await hostAddress('ssh://box', options), { url: 'http://localhost', key: 'of-box' });
});

test('each address that cannot be used says what to enter instead', (t) => {
  const env = { FARWHARF_HOME: tempHome(t) };
  const refusalOf = (remote: string): string => {
    try {
      return resolve(remote, env);
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(
    refusalOf('ftp://x'),
    'The service address is not an https URL. Enter one like https://gpu.example.org, or the name of a connected machine.',
  );
  for (const address of ['https://me@x.org/a', 'https://:pw@x.org']) {
    assert.equal(
      refusalOf(address),
      'The service address must not contain a user name or password. Use https://x.org and put the key in FARWHARF_API_KEY.',
    );
  }
  for (const address of ['https://x.org/a?b=1', 'https://x.org/a#b']) {
    assert.equal(refusalOf(address), 'The service address must end with its path: https://x.org/a');
  }
  assert.equal(
    refusalOf('http://x.org:81/a'),
    'http://x.org:81 would send your key and files unencrypted, so nothing was sent. Use https://x.org:81. ' +
      'Without a certificate, connect the machine over SSH (farwharf connect), or forward a port of 127.0.0.1 to it.',
  );
  for (const name of ['box', 'ssh://box']) {
    assert.equal(
      refusalOf(name),
      'No machine named box is connected. Connect it with  farwharf connect box  or enter the https URL of a service.',
    );
  }
  assert.deepEqual(['', '  ', ' local '].map(refusalOf), ['local', 'local', 'local']);
});

test('the host of a machine has its name', () => {
  assert.equal(machineHost('box'), 'ssh://box');
  assert.deepEqual(['ssh://box', 'local', 'https://box', 'xssh://box'].map(machineOfHost), [
    'box',
    undefined,
    undefined,
    undefined,
  ]);
});
