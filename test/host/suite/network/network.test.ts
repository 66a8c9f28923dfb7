import assert from 'node:assert/strict';
import { get } from 'node:https';
import * as vscode from 'vscode';
import { createNetworkFetch } from '../../../../src/core/network/networkFetch.ts';
import type * as chatModel from '../../../../src/extension/agents/chatModel.ts';
import { explain } from '../../../../src/extension/ui/errorText.ts';
import { RemoteClient } from '../../../../src/remote/client.ts';
import { ForwardProxy } from '../../../service/support/forwardProxy.ts';
import { emptyFolder, eventually, jobIn, prepareWorkspace, submit } from '../../support/inside.ts';
import { type Network, NETWORK_VARIABLE } from '../../support/network.ts';
import { SCRIPT } from '../../support/workspace.ts';

const network = JSON.parse(process.env[NETWORK_VARIABLE] ?? '') as Network;
const target = `CONNECT ${new URL(network.url).host}`;

async function setProxy(proxy: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration('http');
  await settings.update('proxy', proxy, vscode.ConfigurationTarget.Global);
  const option = 'systemCertificatesNode'; // VS Code 1.105 does not have it
  const isKnown = settings.inspect(option)?.defaultValue !== undefined;
  if (isKnown) await settings.update(option, true, vscode.ConfigurationTarget.Global);
}

/** Waits until VS Code itself asks the proxy, by a request that is none of ours. */
async function untilUsed(proxy: ForwardProxy): Promise<void> {
  await eventually(async () => {
    const asked = new Promise((resolve) => get(network.url, resolve).once('error', resolve));
    await asked;
    return proxy.requests.includes(target);
  }, 'a request of VS Code at the proxy');
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error);
  return error;
}

suite('behind a proxy', () => {
  suiteTeardown(() => setProxy(''));

  test('a job on this machine runs, and nothing of it goes through a proxy', async () => {
    await using proxy = await ForwardProxy.start({ tunnelTo: network.place });
    await setProxy(proxy.url());
    await untilUsed(proxy);
    await emptyFolder();
    const workspace = await prepareWorkspace('proxied');
    await submit({ script: SCRIPT });
    await jobIn('running');
    await workspace.open();
    await jobIn('succeeded');
    assert.deepEqual(
      proxy.requests.filter((line) => line !== target),
      [],
    );
  });

  test("a service is reached through VS Code's proxy, with the authority that the system trusts", async () => {
    await using proxy = await ForwardProxy.start({ tunnelTo: network.place, credentials: 'ada:pass' });
    await setProxy(proxy.url('ada:pass'));
    await untilUsed(proxy);
    await using client = new RemoteClient(network.url, network.key);
    const before = proxy.requests.length;
    assert.ok((await client.me()).credits !== undefined);
    assert.equal((await createNetworkFetch()(`${network.url}/healthz`)).status, 200);
    // One for each; VS Code itself can ask at any time.
    assert.ok(proxy.requests.length >= before + 2, proxy.requests.join('\n'));
    assert.ok(!proxy.received().includes(network.key));
  });

  test("questions to a model go through VS Code's proxy", async () => {
    await using proxy = await ForwardProxy.start({ tunnelTo: network.place });
    await setProxy(proxy.url());
    await untilUsed(proxy);
    const extension = vscode.extensions.getExtension('farwharf.farwharf');
    assert.ok(extension);
    const path = vscode.Uri.joinPath(extension.extensionUri, 'dist', 'chatModel.mjs').toString();
    const { askModel } = (await import(path)) as typeof chatModel;
    const before = proxy.requests.length;
    const transport = { fetch: createNetworkFetch(), signal: AbortSignal.timeout(10_000) };
    const asked = askModel({ baseUrl: network.url, model: 'small' }, [{ role: 'user', content: 'Hello' }], transport);
    assert.match((await rejection(asked)).message, /HTTP 404/); // the service at the end of the proxy has no models
    assert.ok(proxy.requests.length > before, proxy.requests.join('\n'));
  });

  for (const [status, advice] of [
    [407, /requires a user name and a password.*http\.proxy/],
    [403, /HTTP 403.*http\.noProxy/],
  ] as const) {
    test(`a proxy that refuses with ${status} is not taken for the service`, async () => {
      await using proxy = await ForwardProxy.start({ refusesWith: status });
      await setProxy(proxy.url());
      await untilUsed(proxy);
      await using client = new RemoteClient(network.url, network.key);
      assert.match(explain(await rejection(client.me())).sentence, advice);
    });
  }

  test('a dead proxy is named, with the setting to change', async () => {
    await setProxy(`http://ada:secret@${network.dead}`);
    await using client = new RemoteClient(network.url, network.key);
    const sentence = await eventually(async () => {
      const text = explain(await rejection(client.me())).sentence;
      return text.includes(network.dead) && text;
    }, 'an error that names the proxy');
    assert.match(sentence, new RegExp(`^The proxy ${network.dead} does not answer.*http\\.proxy`));
    assert.doesNotMatch(sentence, /secret/);
  });
});
