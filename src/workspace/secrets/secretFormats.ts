interface Format {
  readonly name: string;
  readonly pattern: RegExp;
  /** Whether the token must contain upper case, lower case and digits. Otherwise the pattern would match ordinary names. */
  readonly isMixed?: true;
}

// Tokens of services that are used in code, each with a fixed prefix and length. No letter or digit may precede the prefix.
const FORMATS: readonly Format[] = [
  { name: 'AWS access key', pattern: /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/ },
  {
    name: 'AWS secret key',
    pattern: /aws_?secret_?access_?key["'\])]*\s*[:=]\s*["'`]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i,
  },
  { name: 'Bedrock key', pattern: /ABSK[A-Za-z0-9+/]{80,}|bedrock-api-key-[A-Za-z0-9+/]{80,}/ },
  {
    name: 'Bedrock token',
    pattern: /aws_bearer_token_bedrock["'\])]*\s*[:=]\s*["'`]?[A-Za-z0-9+/]{40}/i,
  },
  { name: 'GitHub token', pattern: /gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/ },
  { name: 'GitLab token', pattern: /gl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20}/ },
  {
    name: 'Slack token',
    pattern: /xox[a-z]-(?:\d{5,20}-){1,3}[A-Za-z0-9-]{20,}|xapp-\d-[A-Z0-9]{5,20}-\d{5,20}-[a-f0-9]{40,}/,
  },
  { name: 'Anthropic key', pattern: /sk-ant-[a-z]+\d{2}-[A-Za-z0-9_-]{80,}/ },
  { name: 'OpenRouter key', pattern: /sk-or-v1-[0-9a-f]{64}/ },
  {
    name: 'OpenAI key',
    pattern: /sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}/,
  },
  { name: 'model service key', pattern: /sk-(?:[0-9a-f]{32}|[A-Za-z0-9]{48})(?![\w-])/ }, // DeepSeek, and others like it
  { name: 'Groq key', pattern: /gsk_[A-Za-z0-9]{40,}/ },
  { name: 'xAI key', pattern: /xai-[A-Za-z0-9]{60,}/ },
  { name: 'Cerebras key', pattern: /csk-[A-Za-z0-9]{40,}/ },
  { name: 'Together key', pattern: /tgp_v1_[A-Za-z0-9_-]{40,}/ },
  { name: 'Farwharf API key', pattern: /fw_[A-Za-z0-9_-]{43}(?![\w-])/ },
  { name: 'Fireworks key', pattern: /fw_[A-Za-z0-9]{22,24}(?![\w-])/, isMixed: true },
  { name: 'Perplexity key', pattern: /pplx-[A-Za-z0-9]{40,}/ },
  { name: 'NVIDIA key', pattern: /nvapi-[A-Za-z0-9_-]{60,}/ },
  { name: 'LangSmith key', pattern: /lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}/ },
  { name: 'Hugging Face token', pattern: /hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/ },
  { name: 'Replicate token', pattern: /r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/ },
  { name: 'npm token', pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/ },
  { name: 'PyPI token', pattern: /pypi-AgE[A-Za-z0-9_-]{80,}/ },
  { name: 'Google API key', pattern: /AIza[A-Za-z0-9_-]{35}(?![\w-])/ },
  { name: 'Google access token', pattern: /ya29\.[A-Za-z0-9_-]{60,}/ },
  { name: 'Google client secret', pattern: /GOCSPX-[A-Za-z0-9_-]{28}/ },
  { name: 'Stripe key', pattern: /[sr]k_live_[A-Za-z0-9]{24,}/ },
  { name: 'SendGrid key', pattern: /SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/ },
  { name: 'DigitalOcean token', pattern: /do[opr]_v1_[0-9a-f]{64}/ },
  { name: 'Databricks token', pattern: /dapi[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { name: 'Docker token', pattern: /dckr_pat_[A-Za-z0-9_-]{27}/ },
  { name: 'Shopify token', pattern: /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/ },
  { name: 'Vault token', pattern: /hvs\.[A-Za-z0-9_-]{90,}/ },
  { name: 'age key', pattern: /AGE-SECRET-KEY-1[A-Z0-9]{58}/ },
  { name: 'Azure storage key', pattern: /DefaultEndpointsProtocol=[^\n]{0,80};AccountKey=[A-Za-z0-9+/]{86}==/ },
  {
    // Services whose keys have no prefix (Mistral, older ones of Together, Cohere, Weights & Biases).
    name: 'key of a service',
    pattern:
      /(?:openai|vertex|anthropic|gemini|google|mistral|deepseek|groq|xai|together|fireworks|openrouter|cerebras|cohere|wandb|voyage|perplexity|replicate|nvidia|huggingface)(?:_?ai)?_?api_?(?:key|token)["'\])]*\s*[:=]\s*["'`]?(?=[\w-]*\d[\w-]*\d)[\w-]{30,}/i,
  },
];

/** Changes with the formats, for what is stored about files that were searched for them. */
export const SECRET_FORMATS: string = FORMATS.map(({ name, pattern }) => `${name} ${pattern.source}`).join('\n');
/** The first three characters of each token that has a prefix. */
export const TOKEN_BEGINNINGS: readonly string[] =
  'AKI ASI ABS bed aws AWS ghp gho ghu ghs ghr git glp gld glr gls glc xox xap sk- gsk xai csk tgp fw_ ppl nva lsv hf_ r8_ npm pyp AIz ya2 GOC sk_ rk_ dop doo dor dap dck shp AGE Def'.split(
    ' ',
  );
// All repetitions are bounded, so that the time for a hostile file is proportional to its size.
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\{1,4}[nr]|[\s"',+]){1,8}(?:[\w-]{1,40}: [^\n]{0,200}\n\s{0,4}){0,4}[A-Za-z0-9+/=\s\\"',]{0,60}?[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s\\"',-]{40}/;
const PLACEHOLDER = /example|placeholder|changeme|redacted|xxxx|dummy|fake|your[_-]|0000000|1234567/i;
const FEWEST_DIFFERENT_CHARACTERS = 10;

/** The name of the token in a short text; undefined if there is none. Placeholders do not count. */
export function findToken(text: string): string | undefined {
  return FORMATS.find(({ pattern, isMixed }) => {
    const hit = pattern.exec(text);
    if (hit === null || /[A-Za-z0-9]/.test(text[hit.index - 1] ?? '')) return false;
    return isReal(hit[0]) && (isMixed !== true || /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/s.test(hit[0].slice(3)));
  })?.name;
}

/** Whether a text contains a private key, with real line ends or escaped ones as in JSON. */
export function hasPrivateKey(text: string): boolean {
  const hit = PRIVATE_KEY.exec(text)?.[0];
  return hit !== undefined && isReal(hit);
}

function isReal(hit: string): boolean {
  return !PLACEHOLDER.test(hit) && new Set(hit).size >= FEWEST_DIFFERENT_CHARACTERS;
}
