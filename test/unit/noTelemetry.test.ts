import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Where a person's own choice of a model leads. */
const MODELS =
  /^(api\.(openai|anthropic|mistral|deepseek|groq|x|together|fireworks|cerebras)\.(com|ai|xyz)|openrouter\.ai|generativelanguage\.googleapis\.com|huggingface\.co|[\w-]+\.openai\.azure\.com|bedrock-runtime\.[\w-]+\.amazonaws\.com|aiplatform\.googleapis\.com)$/;
/** Named in comments, as sources of rules and figures. */
const DOCUMENTATION =
  /^(www\.(sqlite|w3|kernel|gnu)\.org|sqlite\.org|prometheus\.io|modelcontextprotocol\.io|webassembly\.github\.io|(developers|platform)\.openai\.com|platform\.claude\.com|console\.groq\.com|docs\.(x|mistral|vllm)\.ai|api-docs\.deepseek\.com|ai\.google\.dev|learn\.microsoft\.com|www\.tensorflow\.org|protobuf\.dev)$/;
const EXAMPLES = /^(127\.0\.0\.1|localhost|([\w-]+\.)?example\.(org|com)|(vscode|recorded)\.invalid)$/;

test('the code contains only addresses of model services, standards and documentation', () => {
  const hosts = trackedFiles(['src/**/*.ts']).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/https?:\/\/([\w-]+(?:\.[\w-]+)+)/g)].map(
      ([, host = '']) => host,
    ),
  );
  assert.ok(hosts.length > 20);
  const others = hosts.filter((host) => ![MODELS, DOCUMENTATION, EXAMPLES].some((known) => known.test(host)));
  assert.deepEqual(others, []);
});
