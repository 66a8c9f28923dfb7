import { fieldOf, tryParseJson } from '../../core/jsonFields.ts';

interface Format {
  readonly name: string;
  /** The first three characters of each token, if it has a prefix. */
  readonly begins?: string;
  readonly pattern: RegExp;
  /** Whether the token must contain upper case, lower case and digits. Otherwise the pattern would match ordinary names. */
  readonly isMixed?: true;
  /** What else must be true of a match. */
  readonly isReal?: (hit: string) => boolean;
}

// Tokens of services that are used in code, each with a fixed prefix and length. No letter or digit may precede the prefix.
const FORMATS: readonly Format[] = [
  { name: 'AWS access key', begins: 'AKI ASI', pattern: /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/ },
  {
    name: 'AWS secret key',
    pattern: /aws_?secret_?access_?key["'\])]*\s*[:=]\s*["'`]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i,
  },
  { name: 'Bedrock key', begins: 'ABS bed', pattern: /ABSK[A-Za-z0-9+/]{80,}|bedrock-api-key-[A-Za-z0-9+/]{80,}/ },
  {
    name: 'Bedrock token',
    pattern: /aws_bearer_token_bedrock["'\])]*\s*[:=]\s*["'`]?[A-Za-z0-9+/]{40}/i,
  },
  {
    name: 'GitHub token',
    begins: 'ghp gho ghu ghs ghr git',
    pattern: /gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/,
  },
  { name: 'GitLab token', begins: 'glp gld glr gls glc', pattern: /gl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20}/ },
  {
    name: 'Slack token',
    begins: 'xox xap',
    pattern: /xox[a-z]-(?:\d{5,20}-){1,3}[A-Za-z0-9-]{20,}|xapp-\d-[A-Z0-9]{5,20}-\d{5,20}-[a-f0-9]{40,}/,
  },
  { name: 'Anthropic key', begins: 'sk-', pattern: /sk-ant-[a-z]+\d{2}-[A-Za-z0-9_-]{80,}/ },
  { name: 'OpenRouter key', begins: 'sk-', pattern: /sk-or-v1-[0-9a-f]{64}/ },
  {
    name: 'OpenAI key',
    begins: 'sk-',
    pattern: /sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}/,
  },
  { name: 'model service key', begins: 'sk-', pattern: /sk-(?:[0-9a-f]{32}|[A-Za-z0-9]{48})(?![\w-])/ }, // DeepSeek, and others like it
  { name: 'Groq key', begins: 'gsk', pattern: /gsk_[A-Za-z0-9]{40,}/ },
  { name: 'xAI key', begins: 'xai', pattern: /xai-[A-Za-z0-9]{60,}/ },
  { name: 'Cerebras key', begins: 'csk', pattern: /csk-[A-Za-z0-9]{40,}/ },
  { name: 'Together key', begins: 'tgp', pattern: /tgp_v1_[A-Za-z0-9_-]{40,}/ },
  { name: 'Farwharf API key', begins: 'fw_', pattern: /fw_[A-Za-z0-9_-]{43}(?![\w-])/ },
  { name: 'Fireworks key', begins: 'fw_', pattern: /fw_[A-Za-z0-9]{22,24}(?![\w-])/, isMixed: true },
  { name: 'Perplexity key', begins: 'ppl', pattern: /pplx-[A-Za-z0-9]{40,}/ },
  { name: 'NVIDIA key', begins: 'nva', pattern: /nvapi-[A-Za-z0-9_-]{60,}/ },
  { name: 'LangSmith key', begins: 'lsv', pattern: /lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}/ },
  { name: 'Hugging Face token', begins: 'hf_', pattern: /hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/ },
  { name: 'Replicate token', begins: 'r8_', pattern: /r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/ },
  { name: 'npm token', begins: 'npm', pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/ },
  { name: 'PyPI token', begins: 'pyp', pattern: /pypi-AgE[A-Za-z0-9_-]{80,}/ },
  { name: 'Google API key', begins: 'AIz', pattern: /AIza[A-Za-z0-9_-]{35}(?![\w-])/ },
  { name: 'Google access token', pattern: /ya29\.[A-Za-z0-9_-]{60,}/ },
  { name: 'Google client secret', begins: 'GOC', pattern: /GOCSPX-[A-Za-z0-9_-]{28}/ },
  { name: 'Stripe key', begins: 'sk_ rk_', pattern: /[sr]k_live_[A-Za-z0-9]{24,}/ },
  { name: 'SendGrid key', pattern: /SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/ },
  { name: 'DigitalOcean token', begins: 'dop doo dor', pattern: /do[opr]_v1_[0-9a-f]{64}/ },
  { name: 'Databricks token', begins: 'dap', pattern: /dapi[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { name: 'Docker token', begins: 'dck', pattern: /dckr_pat_[A-Za-z0-9_-]{27}/ },
  { name: 'Shopify token', begins: 'shp', pattern: /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/ },
  { name: 'Vault token', pattern: /hv[sb]\.[A-Za-z0-9_-]{90,}/ },
  // Their prefixes and lengths are those of the rules of gitleaks, detect-secrets and trufflehog, and of the services' documentation.
  { name: 'Adafruit key', begins: 'aio', pattern: /aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])/ },
  { name: 'Airtable token', begins: 'pat', pattern: /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/ },
  { name: 'Alibaba key', begins: 'LTA', pattern: /LTAI[A-Za-z0-9]{20}(?![A-Za-z0-9])/, isMixed: true },
  {
    name: 'Atlassian token',
    begins: 'ATA ATC ATB',
    pattern: /ATATT3[A-Za-z0-9_=-]{150,}|ATCTT3[A-Za-z0-9_=-]{150,}|ATBB[A-Za-z0-9]{32}(?![A-Za-z0-9])/,
  },
  { name: 'Buildkite token', begins: 'bku bkp', pattern: /bk[up]a_[0-9a-f]{40}/ },
  { name: 'CircleCI token', begins: 'CCI', pattern: /CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}/ },
  { name: 'Clojars token', begins: 'CLO', pattern: /CLOJARS_[0-9a-z]{60}/ },
  {
    name: 'Discord bot token',
    begins: 'MTA MTE MTI MTM MTQ ODk OTA OTE Nzk',
    pattern: /[MNO][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38}/,
    isMixed: true,
  },
  { name: 'Doppler token', pattern: /dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}/ },
  { name: 'Dynatrace token', pattern: /dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}/ },
  { name: 'E2B key', begins: 'e2b', pattern: /e2b_[0-9a-f]{40}/ },
  { name: 'EasyPost key', begins: 'EZA EZT', pattern: /EZ[AT]K[A-Za-z0-9]{54}/ },
  { name: 'Figma token', begins: 'fig', pattern: /fig[dou]_[A-Za-z0-9_-]{40,}/ },
  { name: 'Fly.io token', begins: 'fo1 fm1 fm2', pattern: /fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{100,}/ },
  { name: 'Grafana token', begins: 'gls glc', pattern: /glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}/ },
  { name: 'HubSpot token', begins: 'pat', pattern: /pat-(?:na|eu)\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/ },
  { name: 'JFrog key', begins: 'AKC', pattern: /AKCp[A-Za-z0-9]{69}/ },
  { name: 'Jina key', begins: 'jin', pattern: /jina_[A-Za-z0-9_-]{60,}/ },
  { name: 'LangFuse key', begins: 'sk-', pattern: /sk-lf-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/ },
  { name: 'Linear key', begins: 'lin', pattern: /lin_(?:api|oauth)_[A-Za-z0-9]{40,}/ },
  { name: 'Mailgun key', begins: 'key', pattern: /key-[0-9a-f]{32}(?![A-Za-z0-9])/ },
  {
    name: 'New Relic key',
    begins: 'NRA NRI NRJ',
    pattern: /NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9-]{32}|NRJS-[0-9a-f]{19}/,
  },
  { name: 'Notion token', begins: 'ntn', pattern: /ntn_[A-Za-z0-9]{40,}/ },
  { name: '1Password token', begins: 'ops', pattern: /ops_eyJ[A-Za-z0-9+/=]{200,}/ },
  { name: 'OpenShift token', begins: 'sha', pattern: /sha256~[\w-]{43}(?![\w-])/, isMixed: true },
  { name: 'Pinecone key', begins: 'pcs', pattern: /pcsk_[A-Za-z0-9_]{60,}/ },
  { name: 'PlanetScale token', begins: 'psc', pattern: /pscale_(?:tkn|pw|oauth)_[\w=.-]{32,}/ },
  { name: 'Postman key', begins: 'PMA', pattern: /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/ },
  { name: 'Prefect key', begins: 'pnu pnb', pattern: /pn[ub]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/ },
  { name: 'Pulumi token', begins: 'pul', pattern: /pul-[0-9a-f]{40}/ },
  { name: 'RubyGems key', begins: 'rub', pattern: /rubygems_[0-9a-f]{48}/ },
  { name: 'RunPod key', begins: 'rpa', pattern: /rpa_[A-Z0-9]{40,}/ },
  { name: 'Brevo key', begins: 'xke', pattern: /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}/ },
  { name: 'Sentry token', begins: 'snt', pattern: /sntry[su]_[A-Za-z0-9_=+/]{64,}/ },
  { name: 'Shippo token', begins: 'shi', pattern: /shippo_live_[0-9a-f]{40}/ },
  { name: 'Square token', begins: 'sq0', pattern: /sq0(?:atp|csp)-[\w-]{22,}/ },
  { name: 'Supabase key', begins: 'sbp sb_', pattern: /sbp_[0-9a-f]{40}|sb_secret_[\w-]{30,}/ },
  { name: 'Tailscale key', begins: 'tsk', pattern: /tskey-[a-z]{2,10}-[A-Za-z0-9]{9,}-[A-Za-z0-9]{20,}/ },
  { name: 'Tavily key', begins: 'tvl', pattern: /tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}/ },
  { name: 'Telegram bot token', begins: 'AAE AAF AAG AAH', pattern: /\d{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])/ },
  { name: 'Terraform token', pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}/ },
  {
    name: 'Twilio key',
    begins: 'SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf',
    pattern: /SK[0-9a-f]{32}(?![A-Za-z0-9])/,
  },
  { name: 'Typeform token', begins: 'tfp', pattern: /tfp_[\w-]{40,}/ },
  { name: 'Azure client secret', pattern: /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/, isMixed: true },
  {
    name: 'signed token (JWT)',
    begins: 'eyJ eyA',
    pattern: /ey[A-Za-z0-9_-]{15,500}\.ey[A-Za-z0-9_-]{15,800}(?:\.[A-Za-z0-9_-]{20}|$)/,
    isReal: (hit) => hasField(hit, 'alg') && !EXAMPLE_TOKEN.test(hit),
  },
  {
    name: 'private key in base64',
    begins: 'LS0',
    pattern: /LS0tLS1CRUdJTi[A-Za-z0-9+/]{60}/,
    isReal: (hit) => Buffer.from(hit, 'base64').includes('PRIVATE KEY'),
  },
  { name: 'age key', begins: 'AGE', pattern: /AGE-SECRET-KEY-1[A-Z0-9]{58}/ },
  {
    name: 'Azure storage key',
    begins: 'Def',
    pattern: /DefaultEndpointsProtocol=[^\n]{0,80};AccountKey=[A-Za-z0-9+/]{86}==/,
  },
  {
    // Services whose keys have no prefix (Mistral, older ones of Together, Cohere, Weights & Biases).
    name: 'key of a service',
    pattern:
      /(?:openai|vertex|anthropic|gemini|google|mistral|deepseek|groq|xai|together|fireworks|openrouter|cerebras|cohere|wandb|voyage|perplexity|replicate|nvidia|huggingface)(?:_?ai)?_?api_?(?:key|token)["'\])]*\s*[:=]\s*["'`]?(?=[\w-]*\d[\w-]*\d)[\w-]{30,}/i,
  },
];

// The subjects of the tokens in the documentation of JWT.
const EXAMPLE_TOKEN = /\.eyJzdWIiOiIxMjM0NTY3ODkwI|\.eyJpc3MiOiJqb2UiLA0K|\.eyJsb2dnZWRJbkFzIjoiYWRtaW4i/;

/** Whether the first part of a signed token has a field (RFC 7515, section 4). */
function hasField(token: string, field: string): boolean {
  const header = tryParseJson(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString());
  return fieldOf(header, field) !== undefined;
}

/** A secret whose place a fixed text marks. */
interface Marked {
  readonly name: string;
  readonly mark: string;
  /** Matches the text from the mark on. */
  readonly pattern: RegExp;
  readonly isReal: (groups: readonly string[]) => boolean;
}

const WEAK_PASSWORD =
  /^(?:(?:my|the|db|your|some)?[_-]?(?:pass(?:word|wd)?|pwd|secret|token|postgres|mysql|root|admin|user(?:name)?|test(?:ing)?|guest|redis|rabbit(?:mq)?|mongo|app|dev|local|foo|bar|baz|docker|airflow|minio|default|hunter2|letmein|changeit|x+|\*+)\d{0,4}!?)+$/i;
const TEMPLATE = /[${}<>()%[\]]|\*\*|\.\.\./;
const LOCAL_HOST = /^(?:localhost|127\.|0\.0\.0\.0|\[?::1|host\.docker\.internal|[a-z][a-z0-9_-]*(?::|\/|$))/i;
const EXAMPLE_HOST = /(?:^|[.@])(?:example|test|invalid|acme|foo|bar|host)(?:\.|:|\/|$)/i;

/** A password that is none of the usual examples, and for a machine of one's own not an ordinary word. */
function isPassword(user: string, password: string, host: string): boolean {
  if (password.length < 6 || password === user || WEAK_PASSWORD.test(password)) return false;
  if (TEMPLATE.test(password) || EXAMPLE_HOST.test(host) || !isReal(password, 4)) return false;
  return !LOCAL_HOST.test(host) || (/\d/.test(password) && /[A-Za-z]/.test(password) && password.length >= 10);
}

const MARKED: readonly Marked[] = [
  {
    name: 'password in an address',
    mark: '://',
    pattern: /^:\/\/([^\s:@/"'`<>,]{0,100}):([^\s@/"'`<>,]{1,200})@([^\s"'`<>,;)]{1,200})/,
    isReal: ([user = '', password = '', host = '']) => isPassword(decoded(user), decoded(password), host),
  },
  {
    name: 'webhook',
    mark: '://',
    pattern:
      /^:\/\/(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/[TA]\w{7,12}\/\w{8,20}\/(\w{18,100})|(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/([\w-]{60,100})|[\w-]{1,60}\.webhook\.office\.com\/webhookb2\/([\w@-]{70,200}\/\w{1,40}\/[0-9a-f]{32}))/i,
    isReal: (groups) => isReal(groups.join('')),
  },
  ...['PrivateKey', 'PresharedKey'].map((mark) => ({
    name: 'WireGuard key',
    mark,
    pattern: /^\w{10,12}["'\])]{0,3}\s{0,8}[:=]\s{0,8}["']?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)/,
    isReal: ([key = '']: readonly string[]) => isReal(key),
  })),
  {
    name: 'login of .netrc',
    mark: '\nmachine ',
    pattern: /^\nmachine\s{1,8}(\S{1,200})\s{1,20}login\s{1,8}(\S{1,200})\s{1,20}password\s{1,8}([^\s"'\\]{1,200})/,
    isReal: ([host = '', user = '', password = '']) => isPassword(user, password, host),
  },
  {
    name: 'cluster credentials',
    mark: '\ncurrent-context:',
    pattern: /^[^]*\nusers:[^]*/,
    isReal: ([all = '']) => USER_OF_CLUSTER.some((field) => isReal(field.exec(all)?.[1] ?? '')),
  },
];
// The key or the token of a user (Kubernetes, kubeconfig v1).
const USER_OF_CLUSTER = [
  /^\s{2,12}(?:token|password):\s{0,4}["']?([^\s"'<${]{12,})/m,
  /^\s{2,12}client-key-data:\s{0,4}["']?([A-Za-z0-9+/=]{40,})/m,
];

/** The texts that mark where secrets without a prefix are. A line feed stands for the beginning of a file too. */
export const SECRET_MARKS: readonly string[] = [...new Set(MARKED.map(({ mark }) => mark))];

/** The name of the secret in a text that begins with a mark; undefined if there is none. */
export function findMarked(mark: string, text: string): string | undefined {
  return MARKED.find((one) => {
    if (one.mark !== mark) return false;
    const hit = one.pattern.exec(text);
    return hit !== null && one.isReal(hit.length === 1 ? [...hit] : hit.slice(1).map((group) => group ?? ''));
  })?.name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Changes with the formats, for what is stored about files that were searched for them. */
export const SECRET_FORMATS: string = [
  ...FORMATS.map(({ name, pattern }) => `${name} ${pattern.source}`),
  ...MARKED.map(({ name, mark, pattern }) => `${name} ${JSON.stringify(mark)} ${pattern.source}`),
].join('\n');
/** The formats of tokens by the first three characters of each; those without a prefix under the empty text. */
const BY_BEGINNING = Map.groupBy(
  FORMATS.flatMap((format) => (format.begins ?? '').split(' ').map((beginning) => ({ beginning, format }))),
  ({ beginning }) => beginning,
);
/** The first three characters of each token that has a prefix. */
export const TOKEN_BEGINNINGS: readonly string[] = [...BY_BEGINNING.keys(), ...'aws AWS ya2'.split(' ')].filter(
  (beginning) => beginning !== '',
);
// All repetitions are bounded, so that the time for a hostile file is proportional to its size.
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\{1,4}[nr]|[\s"',+]){1,8}(?:[\w-]{1,40}: [^\n]{0,200}\n\s{0,4}){0,4}[A-Za-z0-9+/=\s\\"',]{0,60}?[A-Za-z0-9+/]{40}[A-Za-z0-9+/=\s\\"',-]{40}/;
const PLACEHOLDER = /example|placeholder|changeme|redacted|xxxx|dummy|fake|your[_-]|0000000|1234567/i;
const FEWEST_DIFFERENT_CHARACTERS = 10;

/**
 * The name of the token in a short text; undefined if there is none. Placeholders do not count.
 *
 * @param beginnings of the tokens that it may have. Those without a prefix are always looked for.
 */
export function findToken(text: string, beginnings: Iterable<string> = TOKEN_BEGINNINGS): string | undefined {
  for (const beginning of ['', ...beginnings]) {
    const match = BY_BEGINNING.get(beginning)?.find(({ format }) => hasToken(text, format));
    if (match !== undefined) return match.format.name;
  }
  return undefined;
}

function hasToken(text: string, { pattern, isMixed, isReal: check }: Format): boolean {
  const hit = pattern.exec(text);
  if (hit === null || /[A-Za-z0-9]/.test(text[hit.index - 1] ?? '')) return false;
  if (!isReal(hit[0]) || check?.(hit[0]) === false) return false;
  return isMixed !== true || /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/s.test(hit[0].slice(3));
}

/** Whether a text contains a private key, with real line ends or escaped ones as in JSON. */
export function hasPrivateKey(text: string): boolean {
  const hit = PRIVATE_KEY.exec(text)?.[0];
  return hit !== undefined && isReal(hit);
}

function isReal(hit: string, fewest = FEWEST_DIFFERENT_CHARACTERS): boolean {
  return !PLACEHOLDER.test(hit) && new Set(hit).size >= fewest;
}
