// Makes the requests of `farwharf/agents` to the addresses in the arguments, in an environment of its own. Prints a JSON line for each.
import { messageOf } from '../../../src/core/errors.ts';
import { LLMClient } from '../../../src/agents/index.ts';
import { openEmbedder } from '../../../src/agents/rag/openEmbedder.ts';
import { readWebPage } from '../../../src/agents/rag/webPage.ts';

const [baseUrl = '', page] = process.argv.slice(2);
const service = { baseUrl, apiKey: 'the-key-of-the-model', model: 'm' };

async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
  let line: object;
  try {
    line = { name, result: await work() };
  } catch (error) {
    line = { name, error: messageOf(error) };
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await attempt('model', () => new LLMClient({ ...service, provider: 'openai' }).ask('hello'));
await attempt('embedding', async () => {
  const embedder = await openEmbedder({ ...service, provider: 'openai' });
  return (await embedder.embed(['hello'])).map((vector) => [...vector]);
});
if (page !== undefined) await attempt('page', () => readWebPage(page));
